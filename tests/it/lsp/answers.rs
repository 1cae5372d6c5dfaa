//! Answers about places and documents: what `ide` knows, at the right place, in the client's words.

use super::client::{Client, capabilities, range_of, rules, under};
use serde_json::{Value, json};

const AGENT: &str = "{\n  \"slug\": \"writer\",\n  \"base\": \"workflow-agent@1\",\n  \"modelUrl\": \"http://127.0.0.1:9\",\n  \"modelName\": \"x\",\n  \"systemPrompt\": [\"You write.\"]\n}\n";
const FLOW: &str = "kind: workflow\nversion: 1\nname: a\ninputs:\n  topic: { type: string, description: Thema 😀 }\nagents:\n  author: ./agents/writer.json\nsteps:\n  - id: morning\n    cron: \"0 9 * * 1-5\"\n    timezone: Europe/Berlin\n  - id: draft\n    agent: author\n    task: Grüße 😀, ${{ inputs.topic }}.\n    result:\n      type: object\n      required: [summary]\n      properties:\n        summary: { type: string }\n  - id: publish\n    agent: author\n    task: 😀 ${{ steps.draft.result.summary }} and ${{ inputs.topic }}.\n";

fn opened(capabilities: Value, end: &str) -> (Client, String) {
    let mut client = Client::with(capabilities);
    client.write("package.toml", "");
    client.write("agents/writer.json", AGENT);
    let uri = client.open("a.flow.yaml", &FLOW.replace('\n', end));
    assert_eq!(client.findings(&uri), Vec::<Value>::new());
    (client, uri)
}

fn everything() -> Value {
    json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } })
}

#[test]
fn hover_is_about_what_stands_there() {
    for end in ["\n", "\r\n"] {
        let (mut client, uri) = opened(capabilities(), end);
        let hover = client.ask_at("textDocument/hover", &uri, "summary }}", json!({}));
        assert_eq!(hover["contents"]["kind"], "markdown");
        assert!(hover["contents"]["value"].as_str().unwrap().contains("string"), "{hover}");
        assert!(under(client.text(&uri), &hover["range"]).contains("summary"), "{hover}");
        let hover = client.ask_at("textDocument/hover", &uri, "timezone", json!({}));
        assert_eq!(under(client.text(&uri), &hover["range"]), "timezone");
    }
    let mut plain = capabilities();
    plain["textDocument"]["hover"] = json!({ "contentFormat": ["plaintext"] });
    let (mut client, uri) = opened(plain, "\n");
    let hover = client.ask_at("textDocument/hover", &uri, "timezone", json!({}));
    assert_eq!(hover["contents"]["kind"], "plaintext");
}

#[test]
fn a_binding_leads_to_its_step_and_a_name_to_its_file() {
    let (mut client, uri) = opened(capabilities(), "\n");
    let found = client.ask_at("textDocument/definition", &uri, "draft.result", json!({}));
    assert_eq!(found[0]["targetUri"], json!(uri));
    assert_eq!(found[0]["targetSelectionRange"], range_inside(FLOW, "id: draft", "draft"));
    assert_eq!(under(FLOW, &found[0]["originSelectionRange"]), "draft");
    let found = client.ask_at("textDocument/definition", &uri, "./agents/writer.json", json!({}));
    assert_eq!(found[0]["targetUri"], json!(client.uri("agents/writer.json")));
    let nothing = client.ask_at("textDocument/definition", &uri, "version", json!({}));
    assert_eq!(nothing, Value::Null);
    let mut plain = capabilities();
    plain["textDocument"]["definition"] = Value::Null;
    let (mut client, uri) = opened(plain, "\n");
    let found = client.ask_at("textDocument/definition", &uri, "draft.result", json!({}));
    assert_eq!(found[0]["range"], range_inside(FLOW, "id: draft", "draft"));
}

/// The range of a word within the first place that holds a longer one.
fn range_inside(text: &str, around: &str, word: &str) -> Value {
    let mut range = range_of(text, around);
    let skip = around.find(word).unwrap() as u64;
    let start = range["start"]["character"].as_u64().unwrap() + skip;
    range["start"]["character"] = json!(start);
    range["end"]["character"] = json!(start + word.len() as u64);
    range
}

#[test]
fn references_are_all_and_only_those() {
    let (mut client, uri) = opened(capabilities(), "\n");
    for (declared, count) in [(true, 3), (false, 2)] {
        let more = json!({ "context": { "includeDeclaration": declared } });
        let found = client.ask_at("textDocument/references", &uri, "topic }}.", more);
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), count, "{found:?}");
        for one in found {
            assert_eq!(under(FLOW, &one["range"]), "topic");
        }
    }
}

#[test]
fn an_agent_file_knows_the_workflows_that_are_open() {
    let (mut client, uri) = opened(capabilities(), "\n");
    let agent = client.uri("agents/writer.json");
    client.open_buffer(&agent, "json", AGENT);
    let more = json!({ "context": { "includeDeclaration": false } });
    let found = client.ask_at("textDocument/references", &agent, "writer\"", more);
    let uris: Vec<_> = found.as_array().into_iter().flatten().map(|one| one["uri"].clone()).collect();
    assert!(uris.contains(&json!(uri)), "{found}");
}

#[test]
fn a_renamed_step_is_renamed_everywhere_and_nothing_breaks() {
    for end in ["\n", "\r\n"] {
        let (mut client, uri) = opened(capabilities(), end);
        let asked = client.ask_at("textDocument/prepareRename", &uri, "draft.result", json!({}));
        assert_eq!(asked["placeholder"], "draft");
        let edit =
            client.ask_at("textDocument/rename", &uri, "draft.result", json!({ "newName": "outline" }));
        client.apply(&edit);
        assert_eq!(client.findings(&uri), Vec::<Value>::new());
        assert!(!client.text(&uri).contains("draft"), "{}", client.text(&uri));
        assert_eq!(client.text(&uri).matches("outline").count(), 2);
        let edit = client.ask_at("textDocument/rename", &uri, "topic }}", json!({ "newName": "subject" }));
        client.apply(&edit);
        assert_eq!(client.findings(&uri), Vec::<Value>::new());
        assert_eq!(client.text(&uri).matches("subject").count(), 3);
        assert_eq!(client.text(&uri).matches("\r\n").count(), if end == "\r\n" { 22 } else { 0 });
    }
}

#[test]
fn what_cannot_be_renamed_is_refused_in_one_sentence() {
    let (mut client, uri) = opened(capabilities(), "\n");
    let request_failed = -32803;
    let place = client.place(&uri, "version", json!({}));
    let (code, why) = client.refused("textDocument/prepareRename", place);
    assert_eq!(code, request_failed);
    assert!(!why.is_empty());
    for name in ["publish", "Not A Name", ""] {
        let place = client.place(&uri, "draft.result", json!({ "newName": name }));
        assert_eq!(client.refused("textDocument/rename", place).0, request_failed, "{name}");
    }
}

#[test]
fn a_completion_that_is_taken_is_sound() {
    let (mut client, uri) = opened(capabilities(), "\n");
    client.swap(&uri, "😀 ${{ steps.draft.result.summary }}", "😀 ${{ steps.dr }}");
    let mut place = client.place(&uri, "dr }}", json!({}));
    let column = place["position"]["character"].as_u64().unwrap();
    place["position"]["character"] = json!(column + 2);
    let list = client.ask("textDocument/completion", place);
    let items = list["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["label"] == "draft").unwrap_or_else(|| panic!("{list}"));
    let edit = &item["textEdit"];
    assert_eq!(under(client.text(&uri), &edit["range"]), "dr");
    client.edit(&uri, &[(edit["range"].clone(), edit["newText"].as_str().unwrap())]);
    assert!(client.text(&uri).contains("${{ steps.draft }}"), "{}", client.text(&uri));
    let ranks: Vec<_> = items.iter().map(|item| item["sortText"].as_str().unwrap()).collect();
    assert!(ranks.is_sorted(), "the best come first");
}

#[test]
fn the_outline_is_a_tree_or_a_list() {
    let (mut client, uri) = opened(capabilities(), "\n");
    let asked = json!({ "textDocument": { "uri": uri } });
    let tree = client.ask("textDocument/documentSymbol", asked.clone());
    let mut names = Vec::new();
    walk(&tree, &mut |symbol| {
        let (outer, inner) = (&symbol["range"], &symbol["selectionRange"]);
        assert!(
            at(&outer["start"]) <= at(&inner["start"]) && at(&inner["end"]) <= at(&outer["end"]),
            "{symbol}"
        );
        names.push(symbol["name"].as_str().unwrap().to_owned());
    });
    for name in ["topic", "author", "morning", "draft", "publish"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let mut plain = capabilities();
    plain["textDocument"]["documentSymbol"] = Value::Null;
    let (mut client, uri) = opened(plain, "\n");
    let list = client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let flat: Vec<_> = list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(flat, names);
    assert_eq!(list[0]["location"]["uri"], json!(uri));
}

fn walk(symbols: &Value, visit: &mut impl FnMut(&Value)) {
    for symbol in symbols.as_array().into_iter().flatten() {
        visit(symbol);
        walk(&symbol["children"], visit);
    }
}

fn at(position: &Value) -> (u64, u64) {
    (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap())
}

#[test]
fn folds_are_of_two_lines_or_more_and_at_most_as_many_as_wanted() {
    let (mut client, uri) = opened(capabilities(), "\n");
    let folds = client.ask("textDocument/foldingRange", json!({ "textDocument": { "uri": uri } }));
    let folds: Vec<_> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["startLine"].as_u64(), one["endLine"].as_u64()))
        .collect();
    assert!(folds.iter().all(|(start, end)| start < end), "{folds:?}");
    let result = FLOW.lines().position(|line| line == "    result:").unwrap() as u64;
    assert!(folds.iter().any(|(start, _)| *start == Some(result) || *start == Some(result + 1)), "{folds:?}");
    let mut few = capabilities();
    few["textDocument"]["foldingRange"] = json!({ "rangeLimit": 2 });
    let (mut client, uri) = opened(few, "\n");
    let folds = client.ask("textDocument/foldingRange", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(folds.as_array().unwrap().len(), 2);
}

/// Tokens as words with their kind.
fn tokens(client: &Client, text: &str, answer: &Value) -> Vec<(String, String)> {
    let legend = client.greeting["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let numbers: Vec<u64> =
        answer["data"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect();
    let (mut line, mut column) = (0, 0);
    numbers
        .chunks(5)
        .map(|token| {
            column = if token[0] == 0 { column + token[1] } else { token[1] };
            line += token[0];
            let position = |column| json!({ "line": line, "character": column });
            let range = json!({ "start": position(column), "end": position(column + token[2]) });
            let kind = legend[usize::try_from(token[3]).unwrap()].as_str().unwrap().to_owned();
            (under(text, &range), kind)
        })
        .collect()
}

#[test]
fn tokens_are_the_words_they_cover() {
    for end in ["\n", "\r\n"] {
        let (mut client, uri) = opened(capabilities(), end);
        let answer =
            client.ask("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": uri } }));
        let text = client.text(&uri).to_owned();
        let all = tokens(&client, &text, &answer);
        let brackets = all.iter().filter(|(word, _)| word == "${{").count();
        assert_eq!(brackets, 3, "{all:?}");
        let is = |word: &str, kind: &str| all.contains(&(word.to_owned(), kind.to_owned()));
        assert!(is("steps", "variable") && is("draft", "function") && is("summary", "property"), "{all:?}");
        let line = text.lines().position(|line| line.contains("steps.draft")).unwrap();
        let range =
            json!({ "start": { "line": line, "character": 0 }, "end": { "line": line + 1, "character": 0 } });
        let asked = json!({ "textDocument": { "uri": uri }, "range": range });
        let part = client.ask("textDocument/semanticTokens/range", asked);
        let part = tokens(&client, &text, &part);
        assert!(!part.is_empty() && part.len() < all.len());
        assert_eq!(part, all[all.len() - part.len()..]);
    }
}

#[test]
fn notes_stand_beside_what_they_are_about() {
    let (mut client, uri) = opened(capabilities(), "\n");
    let asked = json!({ "textDocument": { "uri": uri }, "range": everything() });
    let notes = client.ask("textDocument/inlayHint", asked);
    let line = FLOW.lines().position(|line| line.contains("cron:")).unwrap();
    let of_cron = notes.as_array().unwrap().iter().find(|note| note["position"]["line"] == json!(line));
    let of_cron = of_cron.unwrap_or_else(|| panic!("{notes}"));
    assert!(of_cron["label"].as_str().unwrap().contains("2025-12-01"), "{of_cron}");
    let first = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    let none =
        client.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": first }));
    assert!(!none.as_array().unwrap().contains(of_cron));
}

#[test]
fn formatting_changes_lines_that_differ_and_refuses_what_it_cannot_read() {
    let (mut client, uri) = opened(capabilities(), "\r\n");
    client.swap(&uri, "name: a\r\n", "name:    a\r\n");
    let asked = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = client.ask("textDocument/formatting", asked.clone());
    assert!(edits.to_string().contains("name: a\\r\\n"), "{edits}");
    let changes = edits.as_array().unwrap().iter().rev();
    let changes: Vec<_> =
        changes.map(|edit| (edit["range"].clone(), edit["newText"].as_str().unwrap())).collect();
    client.edit(&uri, &changes);
    assert_eq!(client.ask("textDocument/formatting", asked.clone()), json!([]), "what is laid out stays");
    assert_eq!(client.findings(&uri), Vec::<Value>::new());
    client.swap(&uri, "name: a", "name: [a");
    let (code, why) = client.refused("textDocument/formatting", asked);
    assert_eq!((code, why.as_str()), (-32803, "what cannot be read is not formatted; mend its errors first"));
}

#[test]
fn settings_and_comments_count_as_on_the_command_line() {
    let mut client = Client::new();
    client.write("package.toml", "");
    client.write("agents/writer.json", AGENT);
    let text = FLOW.replace("${{ inputs.topic }}", "anything");
    let uri = client.open("a.flow.yaml", &text);
    assert_eq!(rules(&client.findings(&uri)), ["unused-input"]);
    client.swap(
        &uri,
        "  topic:",
        "  # flowright: ignore[unused-input] it is read by a program beside this\n  topic:",
    );
    assert_eq!(client.findings(&uri), Vec::<Value>::new());
    client.rewrite(&uri, &text);
    assert_eq!(client.findings(&uri).len(), 1);
    // Settings that were never saved count, and their faults are told of them.
    let settings = client.uri(".flowright.toml");
    client.write(".flowright.toml", "");
    client.open_buffer(&settings, "toml", "[check]\nignore = [\"unused-input\"]\n");
    let is_empty = |params: &Value| params["diagnostics"] == json!([]);
    client.findings_until(&uri, is_empty);
    client.rewrite(&settings, "[check]\nignore = [\"unused-inputs\"]\n");
    let found = client.findings_until(&settings, |params| params["diagnostics"] != json!([]));
    assert_eq!(under(client.text(&settings), &found[0]["range"]).trim_matches('"'), "unused-inputs");
    client.findings_until(&uri, |params| !is_empty(params));
}
