//! Agent files.

use super::{said, source};
use flowright::ast::{Agent, Decorator, Disposition, Isolation};
use flowright::diagnostic::Severity;
use flowright::parse;

const PLANNER: &str = r#"{
  "slug": "planner",
  "base": "workflow-agent@1",
  "announce": "Writes implementation plans.",
  "flavor": "OpenAIv1",
  "modelUrl": "http://localhost:11434/v1",
  "modelName": "qwen3:4b",
  "apiKeyId": "local",
  "systemPrompt": ["You plan features.", "You never write code."],
  "executionMode": "asynchronous",
  "toolCallPolicy": {
    "default": "runSync",
    "rules": [
      { "tool": "bash_command", "disposition": { "tag": "defer", "reason": "approval required" } },
      { "tool": "bash_build", "disposition": { "tag": "decorate", "decorators": [{ "tag": "timeout", "seconds": 600 }], "inner": { "tag": "runIsolated", "spec": { "tag": "localProcess", "path": "./workers/build" } } } }
    ]
  },
  "bashToolboxes": [{ "tag": "FileSystemDirectory", "contents": { "Path": "./tools" } }],
  "mcpServers": [{ "tag": "McpSimpleBinary", "contents": { "name": "files", "executable": "mcp-server-filesystem", "args": ["."] } }]
}
"#;

fn agent(name: &str, text: &str) -> (Agent, Vec<String>) {
    let mut found = Vec::new();
    let agent = parse::agent::agent(&source(name, text), &mut found);
    (agent, said(text, &found))
}

#[test]
fn the_example_bare_and_wrapped() {
    let wrapped = format!("{{\"tag\": \"OpenAIAgentDescription\", \"contents\": {PLANNER}}}");
    for text in [PLANNER, wrapped.as_str()] {
        let (agent, found) = agent("a.json", text);
        assert_eq!(found, [""; 0]);
        assert_eq!(agent.slug.unwrap().value, "planner");
        assert_eq!(agent.system_prompt.len(), 2);
        assert!(agent.asynchronous.unwrap().value);
        assert_eq!(agent.bash_toolboxes[0].path.value, "./tools");
        assert_eq!(agent.toolboxes.mcp[0].name.value, "files");
        let policy = agent.policy.unwrap();
        assert_eq!(policy.default.unwrap().value, Disposition::RunSync);
        let Disposition::Decorate { decorators, inner } = &policy.rules[1].disposition.value else {
            panic!("{:?}", policy.rules[1].disposition);
        };
        assert_eq!(*decorators, [Decorator::Timeout { seconds: 600 }]);
        let Disposition::RunIsolated(Isolation::LocalProcess { path }) = inner.as_ref() else {
            panic!("{inner:?}");
        };
        assert_eq!(
            (path.value.as_str(), &text[path.span.range()]),
            ("./workers/build", "\"./workers/build\"")
        );
    }
}

#[test]
fn other_spellings() {
    let text = r#"{"slug": "a", "modelUrl": "u", "modelName": "m", "systemPrompt": "p", "--note": 1, "apiKeyId": null,
        "flavor": "openai-v1", "toolCallPolicyConfig": {"default": {"tag": "runAsync"}},
        "toolDirectory": "./t", "bashToolboxes": [{"tag": "FileSystemDirectory", "contents": {"path": "./u"}}]}"#;
    let (agent, found) = agent("a.json", text);
    assert_eq!(found, [""; 0]);
    assert_eq!(agent.policy.unwrap().default.unwrap().value, Disposition::RunAsync);
    assert_eq!(
        agent.bash_toolboxes.iter().map(|b| b.path.value.as_str()).collect::<Vec<_>>(),
        ["./t", "./u"]
    );
}

#[test]
fn unknown_keys_are_errors_with_a_base_and_warnings_without() {
    for (base, severity) in [("", Severity::Warning), ("\"base\": \"workflow-agent@1\",", Severity::Error)] {
        let text = format!(
            r#"{{"slug": "a", {base} "modelUrl": "u", "modelName": "m", "systemPrompt": "p", "modleName": "x"}}"#
        );
        let mut found = Vec::new();
        parse::agent::json(&source("a.json", &text), &mut found);
        assert_eq!(said(&text, &found), ["unknown-key @ \"modleName\""]);
        assert_eq!(found[0].severity, severity);
    }
}

#[test]
fn policies_that_cannot_be_read() {
    let text = r#"{"slug": "a", "modelUrl": "u", "modelName": "m", "systemPrompt": "p", "toolCallPolicy": {
        "default": "runSink", "rules": [
        {"tool": "a", "disposition": "decorate"},
        {"tool": "b", "disposition": {"tag": "runIsolated", "spec": {"tag": "docker"}}},
        {"tool": "c", "disposition": {"tag": "decorate", "decorators": [{"tag": "timeout", "seconds": 0}], "inner": "runSync"}},
        {"tool": "d"}]}}"#;
    let expected = [
        "bad-value @ \"runSink\"",
        "bad-value @ \"decorate\"",
        "missing-key @ \"tag\"",
        "number-out-of-range @ 0",
        "missing-key @ \"tool\"",
    ];
    assert_eq!(agent("a.json", text).1, expected);
}

#[test]
fn markdown_has_exact_places() {
    let text = "---\r\nslug: a\r\nmodelUrl: u\r\nmodelName: m\r\nbase: workflow-agent@1\r\nanounce: é\r\n---\r\n\r\nYou é.\r\n\r\nMore.\r\n";
    let (agent, found) = agent("a.agent.md", text);
    assert_eq!(found, ["unknown-key @ anounce"]);
    let prompt = &agent.system_prompt[0];
    assert_eq!(
        (prompt.value.as_str(), &text[prompt.span.range()]),
        ("You é.\r\n\r\nMore.", "You é.\r\n\r\nMore.")
    );
    assert_eq!(&text[agent.slug.unwrap().span.range()], "a");
}

#[test]
fn markdown_without_front_matter() {
    assert_eq!(agent("a.agent.md", "You.\n").1, ["no-front-matter @ "]);
    assert_eq!(agent("a.agent.md", "---\nslug: a\n").1, ["no-front-matter @ "]);
}
