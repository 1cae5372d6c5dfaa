//! What is told of findings: everything that the compile says, in the protocol's words, and about every file.

use super::client::{Client, capabilities, rules, under, uri};
use crate::support::AS_OF;
use flowright::compile::{self, Folder, MainDocument};
use flowright::settings;
use flowright::verdict::{self, Under};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const AGENT: &str = "{\n  \"slug\": \"worker\", \"base\": \"workflow-agent@1\",\n  \"modelUrl\": \"http://127.0.0.1:9\", \"modelName\": \"x\",\n  \"systemPrompt\": [\"You work.\"]\n}\n";
const FLOW: &str = "kind: workflow\nversion: 1\nname: a\ninputs:\n  topic: { type: string }\nsteps:\n  - id: write\n    agent: worker\n    task: Write about ${{ inputs.topic }}.\n";

#[test]
fn a_finding_says_all_that_is_known() {
    let mut client = Client::new();
    client.write("agents/worker.json", AGENT);
    let uri = client.open("a.yaml", &FLOW.replace("worker\n", "worker\n    deadlin: 2h\n"));
    let found = client.findings(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    let found = &found[0];
    assert_eq!(
        (&found["code"], &found["severity"], &found["source"]),
        (&json!("unknown-key"), &json!(1), &json!("flowright"))
    );
    assert_eq!(found["message"], "`deadlin` is no key of an agent step\nhelp: did you mean `deadline`?");
    assert_eq!(under(client.text(&uri), &found["range"]), "deadlin");
    let page = found["codeDescription"]["href"].as_str().unwrap();
    assert!(page.ends_with("/pages%20of%20rules/unknown-key.md"), "{page}");
    let page = page.strip_prefix("file://").unwrap().replace("%20", " ");
    let rule = flowright::parse::rules::ALL.iter().find(|rule| rule.name == "unknown-key").unwrap();
    assert_eq!(std::fs::read_to_string(page).unwrap(), rule.page);
}

#[test]
fn further_places_are_places() {
    let text = std::fs::read_to_string("corpus/bad/four-faults.yaml").unwrap();
    let mut client = Client::new();
    let uri = client.open("four-faults.yaml", &text);
    let found = client.findings(&uri);
    let round = found.iter().find(|one| one["code"] == "unbounded-loop").unwrap();
    let related = round["relatedInformation"].as_array().unwrap();
    assert!(related.len() >= 3, "{round}");
    for one in related {
        assert_eq!(one["location"]["uri"], json!(uri));
        assert!(!under(&text, &one["location"]["range"]).is_empty());
    }
    // A client without a place for them reads them.
    let mut plain = Client::with(json!({}));
    let uri = plain.open("four-faults.yaml", &text);
    let found = plain.findings(&uri);
    let round = found.iter().find(|one| one["code"] == "unbounded-loop").unwrap();
    assert_eq!(round.get("relatedInformation"), None);
    assert_eq!(round.get("codeDescription"), None);
    assert!(round["message"].as_str().unwrap().contains("goes on (line 15)"), "{round}");
}

#[test]
fn what_is_not_needed_is_marked() {
    let mut client = Client::new();
    client.write("agents/worker.json", AGENT);
    let uri = client.open("a.yaml", &FLOW.replace("${{ inputs.topic }}", "anything"));
    let found = client.findings(&uri);
    assert_eq!(rules(&found), ["unused-input"]);
    assert_eq!(found[0]["tags"], json!([1]));
    let mut without = capabilities();
    without["textDocument"]["publishDiagnostics"]["tagSupport"] = Value::Null;
    let mut client = Client::with(without);
    client.write("agents/worker.json", AGENT);
    let uri = client.open("a.yaml", &FLOW.replace("${{ inputs.topic }}", "anything"));
    assert_eq!(client.findings(&uri)[0].get("tags"), None);
}

#[test]
fn an_agent_that_is_open_counts_as_the_editor_has_it() {
    let mut client = Client::new();
    let flow = client.open("a.yaml", FLOW);
    assert_eq!(rules(&client.findings(&flow)), ["missing-agent"]);
    // An agent that was never saved is found.
    let agent = client.uri("agents/worker.json");
    client.open_buffer(&agent, "json", AGENT);
    assert!(client.findings(&agent).is_empty());
    assert!(client.findings_until(&flow, |params| params["version"] == 1).is_empty());
    // Its faults are told of it, once, and what they mean for the workflow of the workflow.
    client.swap(&agent, ", \"base\": \"workflow-agent@1\"", "");
    let of_flow = client.findings_until(&flow, |_| true);
    assert_eq!(rules(&of_flow), ["agent-without-base"]);
    client.swap(&agent, "modelName", "modlName");
    let of_agent = client.findings(&agent);
    assert_eq!(rules(&of_agent).iter().filter(|rule| **rule == "unknown-key").count(), 1, "{of_agent:?}");
    // Closed without a save, the disk counts again, and there is nothing there.
    client.close(&agent);
    assert!(client.findings_until(&agent, |_| true).is_empty());
    let is_missing = |params: &Value| params["diagnostics"][0]["code"] == "missing-agent";
    assert_eq!(client.findings_until(&flow, is_missing).len(), 1);
    // It comes by another way.
    client.write("agents/worker.json", AGENT);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": agent, "type": 1 }] }));
    assert!(client.findings_until(&flow, |_| true).is_empty());
}

#[test]
fn faults_of_a_file_that_is_not_open_are_told_of_it() {
    let mut client = Client::new();
    let agent = client.write("agents/worker.json", &AGENT.replace("modelName", "modlName"));
    let flow = client.open("a.yaml", FLOW);
    let found = client.findings_until(&agent, |params| params.get("version").is_none());
    assert!(rules(&found).contains(&"unknown-key"), "{found:?}");
    client.findings(&flow);
    // Opened, it is told with its version; the same is not said twice.
    let text = std::fs::read_to_string(client.folder.join("agents/worker.json")).unwrap();
    client.open_buffer(&agent, "json", &text);
    let own = client.findings(&agent);
    assert_eq!(rules(&own).iter().filter(|rule| **rule == "unknown-key").count(), 1, "{own:?}");
    client.close(&agent);
    client.findings_until(&agent, |params| params.get("version").is_none());
    // Without the workflow nobody knows of it.
    client.close(&flow);
    assert!(client.findings_until(&agent, |_| true).is_empty());
    assert!(client.findings_until(&flow, |_| true).is_empty());
}

#[test]
fn a_package_root_that_appears_is_seen() {
    let mut client = Client::new();
    client.write("agents/worker.json", AGENT);
    let flow = client.open("flows/a.yaml", FLOW);
    assert_eq!(rules(&client.findings(&flow)), ["missing-agent"]);
    let manifest = client.write("package.toml", "");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": manifest, "type": 1 }] }));
    assert!(client.findings_until(&flow, |_| true).is_empty());
}

fn definitions(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            definitions(&path, found);
        } else if verdict::kind::may_be_ours(&path.display().to_string()) {
            found.push(path);
        }
    }
}

/// The editor and the command line give one verdict: every file of the corpus, every rule, every place.
#[test]
fn the_whole_corpus_is_judged_as_on_the_command_line() {
    let mut files = Vec::new();
    definitions(&std::path::absolute("corpus").unwrap(), &mut files);
    let mut client = Client::start(std::path::absolute(".").unwrap(), json!({}));
    let mut count = 0;
    for path in &files {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let name = path.display().to_string();
        let root = compile::package_root(path);
        let package_path = path.strip_prefix(&root).unwrap().display().to_string();
        let main = MainDocument { name: name.clone(), package_path, bytes: text.clone().into_bytes() };
        let settings = settings::of(path.parent().unwrap());
        let place = settings::path_from(&settings.folder, path);
        let under = Under { settings: &settings, path: &place };
        let expected = match verdict::kind(&name, text.as_bytes()) {
            None => Vec::new(),
            Some(_) => {
                let files = Folder::new(&root).shown_under(format!("{}/", root.display()));
                let verdict = verdict::judge(main, &files, under, AS_OF);
                places(&verdict.sources, &verdict.diagnostics)
            }
        };
        let uri = uri(path);
        client.open_buffer(&uri, "yaml", &text);
        let told: Vec<_> = client
            .findings(&uri)
            .iter()
            .map(|found| {
                let start = &found["range"]["start"];
                let number = |name: &str| u32::try_from(start[name].as_u64().unwrap()).unwrap();
                (found["code"].as_str().unwrap().to_owned(), number("line"), number("character"))
            })
            .collect();
        assert_eq!(told, expected, "{name}");
        count += told.len();
        client.close(&uri);
    }
    assert!(count > 20, "the corpus has faults");
}

fn places(
    sources: &flowright::source::Sources,
    found: &[flowright::diagnostic::Diagnostic],
) -> Vec<(String, u32, u32)> {
    let main = sources.get(flowright::source::FileId::MAIN).unwrap();
    let here = found.iter().filter(|one| one.span.file == main.id());
    here.map(|one| {
        let (line, column) = main.lines().utf16_position(main.text(), one.span.range().start);
        (one.rule.name.to_owned(), line, column)
    })
    .collect()
}

/// A test file is told what is wrong with its form; nothing of a workflow is offered in it.
#[test]
fn a_test_file_has_findings_and_no_more() {
    let mut client = Client::new();
    let uri = client.open("a.test.yaml", "kind: test\nversion: 1\ncases:\n  - name: one\n    step: []\n");
    let found = client.findings(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "unknown-key");
    assert_eq!(under(client.text(&uri), &found[0]["range"]), "step");
    let document = json!({ "uri": uri });
    let at = json!({ "textDocument": document, "position": { "line": 1, "character": 0 } });
    let offered = client.ask("textDocument/completion", at.clone());
    assert!(offered.is_null() || offered["items"] == json!([]) || offered == json!([]), "{offered}");
    assert_eq!(client.ask("textDocument/hover", at), Value::Null);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let asked = json!({ "textDocument": document, "options": options });
    assert_eq!(client.ask("textDocument/formatting", asked), Value::Null);
}
