//! Code actions: a fix that is applied makes its finding vanish, one by one and all at once.

use super::client::{Client, range_of, rules};
use serde_json::{Value, json};

const FLOW: &str = "kind: workflow\r\nversion: 1\r\nname: a # ä😀\r\ninputs:\r\n  topic: { type: string }\r\nsteps:\r\n  - id: ask\r\n    qestion: Über ${{ inputs.topik }}?\r\n    choices:\r\n      go: { label: Los }\r\n      no: { label: Nein }\r\n";

fn actions(client: &mut Client, uri: &str, word: &str, only: Option<&str>) -> Vec<Value> {
    let range = range_of(client.text(uri), word);
    let only = only.map_or(Value::Null, |kind| json!([kind]));
    let params = json!({
        "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [], "only": only },
    });
    client.ask("textDocument/codeAction", params).as_array().unwrap().clone()
}

fn kinds(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["kind"].as_str().unwrap()).collect()
}

#[test]
fn a_fix_makes_its_finding_vanish() {
    let mut client = Client::new();
    let uri = client.open("a.yaml", FLOW);
    let before = client.findings(&uri);
    assert!(rules(&before).contains(&"unknown-input"), "{before:?}");
    let found = actions(&mut client, &uri, "topik", Some("quickfix"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["title"], "write `topic`");
    assert_eq!(found[0]["isPreferred"], true);
    assert_eq!(found[0]["diagnostics"][0]["code"], "unknown-input");
    let own = before.iter().find(|one| one["code"] == "unknown-input");
    assert_eq!(Some(&found[0]["diagnostics"][0]), own, "the client can tell which finding it mends");
    client.apply(&found[0]["edit"]);
    let after = client.findings(&uri);
    assert!(!rules(&after).contains(&"unknown-input"), "{after:?}");
    assert!(client.text(&uri).contains("${{ inputs.topic }}?\r\n"));
}

#[test]
fn all_safe_fixes_at_once() {
    let mut client = Client::new();
    let uri = client.open("a.yaml", FLOW);
    let before = client.findings(&uri).len();
    let found = actions(&mut client, &uri, "version", Some("source.fixAll"));
    assert_eq!(kinds(&found), ["source.fixAll.flowright"]);
    client.apply(&found[0]["edit"]);
    let after = client.findings(&uri);
    assert!(before >= 2 && after.is_empty(), "{before} {after:?}");
    assert!(actions(&mut client, &uri, "version", Some("source.fixAll")).is_empty());
}

#[test]
fn only_what_is_asked_for_is_offered() {
    let mut client = Client::new();
    let uri = client.open("a.yaml", FLOW);
    assert_eq!(kinds(&actions(&mut client, &uri, "topik", None)), ["quickfix", "source.fixAll.flowright"]);
    assert_eq!(
        kinds(&actions(&mut client, &uri, "topik", Some(""))),
        ["quickfix", "source.fixAll.flowright"]
    );
    assert_eq!(kinds(&actions(&mut client, &uri, "topik", Some("source"))), ["source.fixAll.flowright"]);
    assert!(actions(&mut client, &uri, "topik", Some("quick")).is_empty());
    assert!(actions(&mut client, &uri, "topik", Some("refactor")).is_empty());
    assert!(actions(&mut client, &uri, "version", Some("quickfix")).is_empty(), "nothing is wrong there");
    // A client that knows no versions gets the plain form.
    let mut capabilities = super::client::capabilities();
    capabilities["workspace"]["workspaceEdit"] = Value::Null;
    let mut client = Client::with(capabilities);
    let uri = client.open("a.yaml", FLOW);
    let found = actions(&mut client, &uri, "topik", Some("quickfix"));
    assert_eq!(found[0]["edit"]["changes"][&uri][0]["newText"], "topic");
}
