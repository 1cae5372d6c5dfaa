//! Several faults in one file: each is said once, and nothing is said of what follows from it.

use super::{compiled, compiled_in};
use crate::pages::package;
use flowright::compile::Compiled;

fn rules(compiled: &Compiled) -> Vec<String> {
    let tell = |found: &flowright::diagnostic::Diagnostic| {
        let source = compiled.sources.get(found.span.file).unwrap();
        let line = source.position(found.span.start as usize).line;
        format!("{}:{line} {} [{}]", source.name(), found.rule.name, source.slice(found.span))
    };
    compiled.diagnostics.iter().map(tell).collect()
}

#[test]
fn of_names() {
    let text = "kind: workflow
version: 1
name: example
inputs:
  topic: { type: string }
  spare: { type: string }
agents:
  reader: ./agents/worker.json
  idle: ./agents/critic.json
steps:
  - id: draft
    agent: raeder
    task: Write about ${{ inputs.topik }}.
  - id: result
    question: Is it ${{ steps.darft.summary }}?
    choices: { yes: Yes, Yes: Yes indeed }
    on_deadline: { steps: [{ agent: worker, task: Do it. }], then: { stop: failed } }
  - pick: [\"${{ inputs.topic }}\"]
";
    assert_eq!(
        rules(&compiled(text)),
        [
            "example.yaml:6 unused-input [spare]",
            "example.yaml:9 unused-agent [idle]",
            "example.yaml:12 missing-agent [raeder]",
            "example.yaml:13 unknown-input [topik]",
            "example.yaml:15 unknown-step [darft]",
            "example.yaml:16 near-miss-name [Yes]",
            "example.yaml:17 idle-key [{ steps: [{ agent: worker, task: Do it. }], then: { stop: failed } }]",
            "example.yaml:18 unused-pick [pick]",
        ]
    );
}

#[test]
fn of_an_agent_and_its_tools() {
    let hands = r##"{ "slug": "hand", "base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "m",
  "modelUrl": "localhost", "systemPrompt": ["You work."], "temperature": "hot", "toolChoice": "always",
  "executionMode": "synchronous",
  "toolCallPolicy": { "default": "deny", "rules": [
    { "tool": "bash_build", "disposition": "defer" },
    { "tool": "bash_build", "disposition": "runSync" },
    { "tool": "bash_tset", "disposition": "runSync" },
    { "tool": "bash_test", "disposition": "deny" },
    { "tool": "bash_push", "disposition": { "tag": "runIsolated", "spec": { "tag": "localProcess", "path": "./gone" } } }
  ] },
  "repeatableTools": ["bash_biuld"],
  "bashToolboxes": [{ "tag": "FileSystemDirectory", "contents": { "Path": "./tools" } },
    { "tag": "FileSystemDirectory", "contents": { "Path": "../out" } }] }
"##;
    let tool = |slug: &str| format!("#!/bin/sh\necho '{{\"slug\": \"{slug}\", \"args\": []}}'\n");
    let files = package()
        .with("agents/hands.json", hands)
        .with("tools/build", tool("build"))
        .with("tools/test", tool("test"))
        .with("tools/push", tool("push"))
        .with("tools/README.md", "No tool.");
    let text = "kind: workflow\nversion: 1\nname: example\nsteps:\n  - agent: hands\n    task: Work.\n";
    assert_eq!(
        rules(&compiled_in(text, &files)),
        [
            "agents/hands.json:1 slug-unlike-file [\"hand\"]",
            "agents/hands.json:2 bad-model-url [\"localhost\"]",
            "agents/hands.json:2 wrong-shape [\"hot\"]",
            "agents/hands.json:2 bad-value [\"always\"]",
            "agents/hands.json:5 unanswerable-deferral [\"defer\"]",
            "agents/hands.json:6 shadowed-policy-rule [\"bash_build\"]",
            "agents/hands.json:7 unknown-tool [\"bash_tset\"]",
            "agents/hands.json:8 idle-policy-rule [\"bash_test\"]",
            "agents/hands.json:9 isolation-without-runner [\"./gone\"]",
            "agents/hands.json:11 unknown-tool [\"bash_biuld\"]",
            "agents/hands.json:13 refused-path [\"../out\"]",
        ]
    );
}

#[test]
fn a_tool_is_unknown_only_where_all_tools_are_known() {
    let agent = |base: &str, more: &str, tool: &str| {
        format!(
            r#"{{ "slug": "hands", {base} "flavor": "OpenAIv1", "modelName": "m", "modelUrl": "http://localhost/v1",
  "systemPrompt": ["You work."], {more} "toolCallPolicy": {{ "default": "deny", "rules": [{{ "tool": "{tool}", "disposition": "runSync" }}] }},
  "bashToolboxes": [{{ "tag": "FileSystemDirectory", "contents": {{ "Path": "./tools" }} }}] }}"#
        )
    };
    let judge = |agent: String, tool: &str| {
        let files = flowright::compile::Memory::new().with("tools/build.sh", tool);
        let main = flowright::compile::MainDocument {
            name: "hands.json".into(),
            package_path: "hands.json".into(),
            bytes: agent.into_bytes(),
        };
        let compiled = flowright::compile::compile_agent_in(main, &files);
        let found = compiled.diagnostics.iter();
        found.map(|found| format!("{} {}", found.severity.word(), found.rule.name)).collect::<Vec<_>>()
    };
    let shown = "#!/bin/sh\necho '{ \"slug\": \"build\" }'\n";
    let escaped = "#!/bin/sh\necho \"{ \\\"slug\\\": \\\"build\\\" }\"\n";
    let dark = "#!/bin/sh\nexec describe-me\n";
    let base = "\"base\": \"workflow-agent@1\",";
    let mcp = r#""mcpServers": [{ "tag": "McpOfLater", "contents": {} }],"#;
    assert_eq!(judge(agent(base, "", "bash_deploy"), shown), ["error unknown-tool"]);
    assert_eq!(judge(agent("", "", "bash_deploy"), shown), ["warning unknown-tool"]);
    assert_eq!(
        judge(agent("", mcp, "bash_deploy"), shown),
        ["warning unsupported-toolbox", "warning unknown-tool"]
    );
    assert_eq!(judge(agent("", mcp, "files_read"), shown), ["warning unsupported-toolbox"]);
    assert_eq!(judge(agent(base, "", "files_read"), shown), ["error unknown-tool"]);
    assert_eq!(judge(agent(base, "", "bash_build"), escaped), [""; 0]);
    assert_eq!(judge(agent(base, "", "bash_build"), dark), [""; 0]);
    assert_eq!(judge(agent(base, "", "bash_biuld"), dark), ["hint unknown-tool"]);
    assert_eq!(judge(agent(base, "", "bash_deploy"), dark), [""; 0]);
}

#[test]
fn of_json_text() {
    let source = |text: &str| {
        let source = flowright::source::Source::new(flowright::source::FileId::MAIN, "a.json", text);
        let mut found = Vec::new();
        let tree = flowright::parse::read(&source, &mut found);
        let said: Vec<_> =
            found.iter().map(|found| format!("{} [{}]", found.message, &text[found.span.range()])).collect();
        (tree.to_json().to_string(), said)
    };
    let (tree, said) = source(
        "{\"a\": 'x', \"b\": @y, \"c\": 01, \"d\" 4 \"e\": [1 2,, 3,], f: None, \"g\": , 7: 8, \"h\": 9}",
    );
    assert_eq!(tree, r#"{"a":"x","b":null,"c":null,"d":4,"e":[1,2,3],"f":null,"g":null,"":null,"h":9}"#);
    assert_eq!(
        said,
        [
            "JSON texts stand in double quotes ['x']",
            "`@y` is no JSON value [@y]",
            "`01` is no JSON value [01]",
            "a colon is missing here []",
            "a comma is missing here []",
            "a comma is missing here []",
            "a value is expected here, not a comma [,]",
            "JSON has no comma before a closing bracket [,]",
            "the key `f` is not quoted [f]",
            "`None` is no JSON value [None]",
            "a value is missing before this [,]",
            "a key must be text in double quotes [7]",
        ]
    );
    let (tree, said) =
        source("{\n \"a\": \"open,\n \"b\": \"\\q\",\n \"c\": \"two\nlines\",\n \"d\": 1 /* end\n }");
    assert_eq!(tree, r#"{"a":null,"b":null,"c":"two\nlines","d":1,"":null}"#);
    assert_eq!(
        said,
        [
            "the text that begins here is not closed [\"]",
            "this is no JSON text: invalid escape [\\q]",
            "a line break inside a JSON text must be written `\\n` [\n]",
            "JSON has no comments [/* end\n }]",
        ]
    );
}

#[test]
fn places_in_json_text_are_whole_characters() {
    for text in ["''é!", "é\"", "{é!\ré", "{\"a\": \"\\é\", é: é é, '漢\n", "[é\u{a0}é, /* é"] {
        let source = flowright::source::Source::new(flowright::source::FileId::MAIN, "a.json", text);
        let mut found = Vec::new();
        flowright::parse::read(&source, &mut found);
        assert!(!found.is_empty());
        for found in found {
            assert!(text.get(found.span.range()).is_some(), "{text:?}: {found:#?}");
        }
    }
}

#[test]
fn of_json_text_are_bounded() {
    let text = format!("[{}1]", "'x,\n".repeat(1000));
    let source = flowright::source::Source::new(flowright::source::FileId::MAIN, "a.json", text);
    let mut found = Vec::new();
    flowright::parse::read(&source, &mut found);
    assert!((2..60).contains(&found.len()), "{} findings", found.len());
}

#[test]
fn b15_a_misspelt_key_beside_two_kinds_is_named_too() {
    let text = "kind: workflow\nversion: 1\nname: example\nsteps:\n  - agent: worker\n    cron: \"0 * * * *\"\n    \
                complation: one_shot\n";
    assert_eq!(
        rules(&compiled(text)),
        ["example.yaml:6 several-step-kinds [cron]", "example.yaml:7 unknown-key [complation]"]
    );
}

#[test]
fn b07_words_of_yaml_1_1_where_true_or_false_is_meant() {
    let text = "kind: workflow\nversion: 1\nname: example\ninputs: { fast: { type: boolean } }\nsteps:\n  \
                - switch: ${{ inputs.fast }}\n    cases: { yes: continue, no: { stop: failed } }\n  \
                - question: Again?\n    choices: { no: No, yes: Yes }\n";
    let compiled = compiled(text);
    assert_eq!(
        rules(&compiled),
        ["example.yaml:7 impossible-case [yes]", "example.yaml:7 impossible-case [no]"]
    );
    let fixes: Vec<_> =
        compiled.diagnostics.iter().map(|found| found.fix.as_ref().unwrap().edits[0].text.as_str()).collect();
    assert_eq!(fixes, ["true", "false"]);
}
