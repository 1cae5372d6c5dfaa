//! What a file is.

use flowright::verdict::{Kind, kind};

#[test]
fn workflows_say_so_at_the_margin() {
    for text in [
        "kind: workflow\n",
        "\u{feff}kind: workflow\r\nversion: 1\r\n",
        "# first\n---\nname: x\n\"kind\": 'workflow' # yes\n",
        "{kind: workflow, version: 1}",
        "kind: workflw\n",
        "version: 1\nkind: workflow\nsteps: [",
    ] {
        assert_eq!(kind("a.yaml", text.as_bytes()), Some(Kind::Workflow), "{text}");
    }
    for text in ["{\"kind\": \"workflow\"}", "{\"a\": {\"kind\": 1}, \"kind\":\"workflow\", \"steps\": ["] {
        assert_eq!(kind("a.json", text.as_bytes()), Some(Kind::Workflow), "{text}");
    }
}

#[test]
fn agents_are_told_by_their_keys() {
    for text in [
        "{\"slug\": \"a\", \"modelUrl\": \"http://x\"}",
        "{\"slug\": \"a\", \"base\": \"workflow-agent@1\", \"systemPrompt\": [\"kind: workflow\"]}",
        "{\"tag\": \"OpenAIAgentDescription\", \"contents\": {}}",
        "{\"systemPrompt\": \"say \\\"kind\\\": \\\"workflow\\\"\", \"slug\": \"a\", \"modelUrl\": \"b\"",
    ] {
        assert_eq!(kind("a.json", text.as_bytes()), Some(Kind::Agent), "{text}");
    }
    assert_eq!(kind("a.agent.md", b""), Some(Kind::Agent));
    assert_eq!(kind("a.yml", b"slug: a\nmodelUrl: http://x\n"), Some(Kind::Agent));
}

#[test]
fn what_others_write_is_neither() {
    for (name, text) in [
        ("a.yaml", "kind: Workflow\napiVersion: argoproj.io/v1alpha1\n"),
        ("a.yaml", "kind: workflow\napiVersion: x/v1\n"),
        ("a.yaml", "on:\n  kind: workflow\n"),
        ("a.yaml", "text: |\n  kind: workflow\n"),
        ("a.json", "{\"schema\": {\"kind\": \"workflow\"}}"),
        ("a.json", "[{\"kind\": \"workflow\"}]"),
        ("a.json", "{\"slug\": \"post\"}"),
        ("a.json", ""),
        ("a.yaml", "kind: deployment\n"),
    ] {
        assert_eq!(kind(name, text.as_bytes()), None, "{text}");
    }
}
