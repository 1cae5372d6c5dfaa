//! The outline and what can be folded.

use super::{HEAD, analysed};
use flowright::ide::outline::{folds, outline};
use flowright::ide::{Analysis, Entry, EntryKind};

fn shown(analysis: &Analysis, entries: &[Entry], depth: usize, out: &mut Vec<String>) {
    let source = analysis.sources().iter().next().unwrap();
    for entry in entries {
        assert!(
            entry.span.start <= entry.name_span.start && entry.name_span.end <= entry.span.end,
            "{entry:?}"
        );
        let name = source.slice(entry.name_span);
        out.push(format!(
            "{}{:?} {} ({}) @ {name}",
            "  ".repeat(depth),
            entry.kind,
            entry.name,
            entry.detail
        ));
        shown(analysis, &entry.children, depth + 1, out);
    }
}

fn all(name: &str, text: &str) -> Vec<String> {
    let analysis = analysed(name, text);
    let mut out = Vec::new();
    shown(&analysis, &outline(&analysis), 0, &mut out);
    out
}

const FLOW: &str = "steps:
  - id: go
    question: Go?
    choices:
      yes: Yes
      no: { label: No, then: { steps: [{ stop: failed }] } }
  - loop:
      repeat: 3
      steps:
        - cron: \"@hourly\"
          timezone: UTC
        - agent: planner
          title: Größe
          task: |
            Plan
            it.

          review:
            - human: Ok?
outputs:
  a: ${{ inputs.x }}
inputs:
  x: { type: string }
agents:
  mine: ./agents/planner.json
";

#[test]
fn entries_in_the_order_of_the_document() {
    assert_eq!(
        all("workflow.yaml", &format!("{HEAD}{FLOW}")),
        [
            "Question go (question · Go?) @ go",
            "  Stop stop-1 (stop) @ stop",
            "Loop loop-1 (loop) @ loop",
            "  Cron cron-1 (cron · @hourly) @ cron",
            "  Stage agent-1 (agent · Größe) @ agent",
            "    Gate gate 1 (human · Ok?) @ Ok?",
            "Output a (output) @ a",
            "Input x (string) @ x",
            "Agent mine (./agents/planner.json) @ mine",
        ]
    );
}

#[test]
fn agent_files_and_half_documents() {
    assert_eq!(
        all("agents/planner.json", super::PLANNER),
        [
            "Agent planner (Writes plans.) @ \"planner\"",
            "  Input depth (integer) @ \"depth\"",
            "  Input feature (string) @ \"feature\"",
        ]
    );
    assert_eq!(
        all("workflow.yaml", &format!("{HEAD}steps:\n  - id: a\n  - {{ ")),
        ["Stage a (step) @ a", "Stage step-2 (step) @ "]
    );
    assert_eq!(all("workflow.yaml", ""), [] as [&str; 0]);
}

#[test]
fn entries_are_of_the_kinds_of_the_language() {
    let analysis =
        analysed("workflow.yaml", &format!("{HEAD}steps:\n  - {{ switch: x }}\n  - {{ pick: [] }}\n"));
    let kinds: Vec<_> = outline(&analysis).iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Branch, EntryKind::Branch]);
}

/// First and last line of every fold, from 1.
fn folded(name: &str, text: &str) -> Vec<(u32, u32)> {
    let analysis = analysed(name, text);
    let source = analysis.sources().iter().next().unwrap().clone();
    let lines = |offset: u32| source.position(offset as usize).line;
    folds(&analysis).into_iter().map(|span| (lines(span.start), lines(span.end))).collect()
}

#[test]
fn folds_go_from_the_key_to_the_last_line_that_is_written() {
    let text = format!("{HEAD}{FLOW}");
    let wanted = [
        (1, 28),
        (4, 22),
        (5, 9),
        (7, 9),
        (10, 22),
        (12, 22),
        (13, 14),
        (15, 22),
        (17, 19),
        (21, 22),
        (23, 24),
        (25, 26),
        (27, 28),
    ];
    assert_eq!(folded("workflow.yaml", &text), wanted);
    assert_eq!(folded("workflow.yaml", &text.replace('\n', "\r\n")), wanted);
    assert_eq!(folded("workflow.json", "{\n\"steps\": [\n{ \"id\":\n\"a\" }\n] }"), [(1, 5), (2, 5), (3, 4)]);
}
