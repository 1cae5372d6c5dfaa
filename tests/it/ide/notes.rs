//! Inlay notes.

use super::{HEAD, analysed};
use flowright::ide::inlay::inlays;
use flowright::source::{FileId, Span};

/// Each note with the text of its line before it.
fn noted(name: &str, text: &str, lines: std::ops::Range<usize>) -> Vec<String> {
    let analysis = analysed(name, text);
    let source = analysis.sources().iter().next().unwrap().clone();
    let start = source.lines().start_of(lines.start);
    let end =
        if lines.end >= source.lines().count() { text.len() } else { source.lines().start_of(lines.end) };
    let notes = inlays(&analysis, Span::new(FileId::MAIN, start, end));
    let line = |offset: usize| {
        let start = source.lines().start_of(source.lines().line_of(offset));
        text[start..offset].trim_start().to_owned()
    };
    notes.iter().map(|note| format!("{} «{}»", line(note.offset), note.label)).collect()
}

const FLOW: &str = "steps:
  - loop:
      repeat: until_stopped
      steps:
        - cron: \"0 9 * * *\"
          timezone: America/New_York
        - agent: planner
          task: x
        - loop:
            repeat: 3
            deadline: 90m
            steps:
              - agent: planner
                task: x
";

#[test]
fn the_next_occurrence_the_bounds_of_loops_and_of_agent_runs() {
    let text = format!("{HEAD}{FLOW}");
    assert_eq!(
        noted("workflow.yaml", &text, 0..99),
        [
            "steps: «at most 4 agent runs between two waits»",
            "- loop: «until stopped»",
            "- cron: \"0 9 * * *\" «next: Mon 2025-12-01 09:00 -05:00»",
            "- loop: «at most 3 times, at most 1 hour 30 minutes»",
        ]
    );
    assert_eq!(
        noted("workflow.yaml", &text, 6..9),
        ["- cron: \"0 9 * * *\" «next: Mon 2025-12-01 09:00 -05:00»"]
    );
    assert_eq!(noted("workflow.yaml", &text.replace('\n', "\r\n"), 0..99).len(), 4);
}

#[test]
fn documents_in_json_unbounded_and_half_written_ones() {
    let json =
        "{\"kind\":\"workflow\",\"steps\" : [{\"loop\":{\"repeat\":1,\"steps\":[{\"agent\":\"a\"}]}}]}";
    assert_eq!(
        noted("workflow.json", json, 0..9),
        [
            "{\"kind\":\"workflow\",\"steps\" : «at most 1 agent run between two waits»",
            "{\"kind\":\"workflow\",\"steps\" : [{\"loop\": «once»"
        ]
    );
    let free =
        format!("{HEAD}steps:\n  - loop:\n      repeat: until_stopped\n      steps: [{{ agent: a }}]\n");
    assert_eq!(noted("workflow.yaml", &free, 0..9)[0], "steps: «agent runs without bound»");
    let half = format!("{HEAD}steps:\n  - agent: a\n  - id: b\n  - cron: \"0 9\"\n");
    assert_eq!(noted("workflow.yaml", &half, 0..9), [] as [&str; 0], "a step without a kind may be anything");
}
