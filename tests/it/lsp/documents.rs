//! Texts that are kept up to date: edits in the middle, units, line ends, what is ours and what is not.

use super::client::{Client, range_of, rules, under};
use serde_json::{Value, json};

const FLOW: &str = "kind: workflow\nversion: 1\nname: a\nsteps:\n  - id: ask\n    question: Grüße 😀 an ${{ inputs.wer }}?\n    choices:\n      go: { label: Los }\n      no: { label: Nein }\n";

/// What a server says of a text that it is given whole.
fn anew(text: &str) -> Vec<Value> {
    let mut client = Client::with(json!({}));
    let uri = client.open("a.yaml", text);
    client.findings(&uri)
}

#[test]
fn places_are_exact_behind_wide_characters() {
    for end in ["\n", "\r\n"] {
        let mut client = Client::new();
        let uri = client.open("a.yaml", &FLOW.replace('\n', end));
        let found = client.findings(&uri);
        assert_eq!(rules(&found), ["unknown-input"]);
        assert_eq!(under(client.text(&uri), &found[0]["range"]), "wer");
        assert_eq!(found[0]["range"]["start"], json!({ "line": 5, "character": 37 }));
    }
    let mut client = Client::with(json!({ "general": { "positionEncodings": ["utf-8"] } }));
    let uri = client.open("a.yaml", FLOW);
    let found = client.findings(&uri);
    assert_eq!(found[0]["range"]["start"], json!({ "line": 5, "character": 41 }), "bytes");
}

#[test]
fn edits_in_the_middle_lead_to_the_same_as_the_text_read_anew() {
    for end in ["\n", "\r\n"] {
        let mut client = Client::with(json!({}));
        let uri = client.open("a.yaml", &FLOW.replace('\n', end));
        assert_eq!(rules(&client.findings(&uri)), ["unknown-input"]);
        // Right behind the wide character, over a line's end, at the very start, several at once.
        client.swap(&uri, " an ${{", "é an ${{");
        let found = client.findings(&uri);
        assert_eq!(under(client.text(&uri), &found[0]["range"]), "wer");
        client.swap(
            &uri,
            &format!("steps:{end}"),
            &format!("inputs: {{ wer: {{ type: string }} }}{end}steps:{end}"),
        );
        assert!(client.findings(&uri).is_empty());
        let range = range_of(client.text(&uri), "😀é");
        let start = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
        let note = format!("# 😀{end}");
        client.edit(&uri, &[(range, "x"), (start, &note)]);
        assert!(client.findings(&uri).is_empty());
        client.swap(&uri, &format!("question: Grüße{}", " x"), "qestion: Grüße");
        let found = client.findings(&uri);
        assert_eq!(found, anew(client.text(&uri)));
        assert_eq!(rules(&found), ["no-step-kind"]);
    }
}

#[test]
fn a_change_whose_range_cannot_be_read_changes_nothing() {
    let mut client = Client::new();
    let uri = client.open("a.yaml", FLOW);
    let before = client.findings(&uri);
    client.notify(
        "textDocument/didChange",
        json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": [{ "range": { "start": { "line": -1 } }, "text": "x" }],
        }),
    );
    client.edit(&uri, &[]);
    assert_eq!(client.findings(&uri), before);
}

#[test]
fn ours_are_the_documents_that_check_takes_in_a_folder() {
    let mut client = Client::new();
    let compose = client.open("compose.yaml", "services:\n  web: { image: x }\n");
    assert!(client.findings(&compose).is_empty());
    let other = client.open("package.json", r#"{ "name": "x" }"#);
    assert!(client.findings(&other).is_empty());
    let agent =
        client.open("agents/a.json", r#"{ "slug": "a", "modelUrl": "http://127.0.0.1:1", "modlName": "x" }"#);
    assert!(rules(&client.findings(&agent)).contains(&"unknown-key"));
    let page = client.open("agents/b.agent.md", "---\nslug: b\nmodlName: x\n---\nYou work.\n");
    assert!(!client.findings(&page).is_empty());
    // It becomes ours while it is written, and no longer.
    client.rewrite(&compose, "kind: workflow\nversion: 1\n");
    assert!(!client.findings(&compose).is_empty());
    client.rewrite(&compose, "services: {}\n");
    assert!(client.findings(&compose).is_empty());
    // The editor was told that it is one of ours.
    let fresh = client.uri("new.flow.yaml");
    client.open_buffer(&fresh, "flowright", "version: 1\n");
    assert!(!client.findings(&fresh).is_empty());
    // What was never saved is judged as well.
    client.open_buffer("untitled:Untitled-1", "yaml", "kind: workflow\nversion: 1\nname: a\nstepz: []\n");
    assert!(rules(&client.findings("untitled:Untitled-1")).contains(&"unknown-key"));
}

#[test]
fn addresses_in_another_spelling_are_the_same_document() {
    let mut client = Client::new();
    let uri = client.write("with space/ä.yaml", FLOW);
    let spelled = uri.replace('ä', "%c3%a4").replace("file://", "file://localhost");
    client.open_buffer(&spelled, "yaml", FLOW);
    assert_eq!(rules(&client.findings(&spelled)), ["unknown-input"]);
    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
    client.ask("textDocument/hover", place);
}

#[test]
fn hostile_texts_are_answered() {
    let deep = format!("kind: workflow\nsteps: {}{}\n", "[".repeat(5000), "]".repeat(5000));
    for text in ["", "\u{feff}", "kind: workflow\n\0\n", "kind: workflow\nsteps: *x\n", "\r", deep.as_str()] {
        let mut client = Client::new();
        let uri = client.uri("a.flow.yaml");
        client.open_buffer(&uri, "flowright", text);
        client.findings(&uri);
        for method in
            ["hover", "completion", "definition", "documentSymbol", "foldingRange", "semanticTokens/full"]
        {
            let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 9, "character": 9 } });
            client.ask(&format!("textDocument/{method}"), place);
        }
    }
}
