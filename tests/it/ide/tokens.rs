//! Semantic tokens.

use super::{HEAD, analysed};
use flowright::ide::tokens::tokens;

fn painted(name: &str, text: &str) -> Vec<String> {
    let analysis = analysed(name, text);
    let source = analysis.sources().iter().next().unwrap();
    tokens(&analysis)
        .into_iter()
        .map(|token| format!("{:?} {}", token.kind, source.slice(token.span)))
        .collect()
}

#[test]
fn bindings_words_and_references() {
    let text = "agents: { mine: ./agents/planner.json }
steps:
  - id: go
    question: \"Größe 🦀 ${{ inputs.topic }}?\"
    feedback: required
  - agent: 'mine'
    task: >
      Do ${{ steps.go.choice }}
      and ${{steps.x.result.y[12]}} now
    with: { n: [\"${{ session.id }}\"] }
    completion: one_shot
    on_failed: hold
";
    assert_eq!(
        painted("workflow.yaml", &format!("{HEAD}{text}")),
        [
            "Word workflow",
            "Agent ./agents/planner.json",
            "Step go",
            "Bracket ${{",
            "Root inputs",
            "Property topic",
            "Bracket }}",
            "Word required",
            "Agent mine",
            "Bracket ${{",
            "Root steps",
            "Step go",
            "Property choice",
            "Bracket }}",
            "Bracket ${{",
            "Root steps",
            "Step x",
            "Property result",
            "Property y",
            "Number [12]",
            "Bracket }}",
            "Bracket ${{",
            "Root session",
            "Property id",
            "Bracket }}",
            "Word one_shot",
            "Word hold",
        ]
    );
}

#[test]
fn half_bindings_json_and_agents() {
    let half = format!("{HEAD}steps:\n  - agent: a\n    task: ${{{{ steps.\n  - stop: failed\n");
    assert_eq!(painted("workflow.yaml", &half), ["Word workflow", "Agent a", "Word failed"]);
    let json = "{\"kind\":\"workflow\",\r\n\"steps\":[{\"switch\":\"${{ steps.a.choice }}\"}]}";
    assert_eq!(
        painted("workflow.json", json),
        ["Word workflow", "Bracket ${{", "Root steps", "Step a", "Property choice", "Bracket }}"]
    );
    let agent =
        "{ \"toolCallPolicy\": { \"default\": { \"tag\": \"defer\" } }, \"executionMode\": \"synchronous\" }";
    assert_eq!(painted("agents/a.json", agent), ["Word defer", "Word synchronous"]);
}
