//! What the rules cost: edges of the flow that are looked at, for definitions of growing size.

use flowright::diagnostic::Diagnostic;
use flowright::resolve::{Agents, resolve};
use flowright::source::{FileId, Source};
use flowright::{check, parse};

/// Edges of a definition, and edges that all rules together look at.
fn work(steps: &str) -> (u64, u64) {
    let text = format!("kind: workflow\nversion: 1\nname: example\nsteps:\n{steps}");
    let source = Source::new(FileId::MAIN, "example.yaml", text);
    let mut found: Vec<Diagnostic> = Vec::new();
    let tree = parse::read(&source, &mut found);
    let ast = parse::workflow::workflow(&source, &tree, &mut found);
    assert!(found.is_empty(), "{found:#?}");
    let agents = Agents::default();
    let resolved = resolve(&ast, &agents);
    let edges = resolved.flow.graph().edge_count() as u64;
    check::check(&resolved, crate::support::AS_OF, &mut found);
    (edges, resolved.flow.work())
}

/// Doubling the size at most doubles the work, with a little to spare.
fn grows_with_its_size(shape: impl Fn(usize) -> String) {
    let (small_edges, small) = work(&shape(60));
    let (edges, large) = work(&shape(240));
    assert!(edges > 3 * small_edges, "the shape does not grow: {small_edges} and {edges} edges");
    let (per_edge_small, per_edge) = (small as f64 / small_edges as f64, large as f64 / edges as f64);
    assert!(
        per_edge < 1.5 * per_edge_small,
        "{per_edge_small:.1} looks at an edge for {small_edges} edges, {per_edge:.1} for {edges}"
    );
    assert!(per_edge < 250.0, "{per_edge:.1} looks at each of {edges} edges");
}

fn question(indent: &str, i: usize) -> String {
    format!(
        "{indent}- id: ask{i}x\n{indent}  question: Go on?\n{indent}  choices: {{ go: Go on, no: {{ label: No, then: \
         {{ stop: failed }} }} }}\n"
    )
}

#[test]
fn approvals_behind_one_of_many_schedules() {
    grows_with_its_size(|n| {
        let cron = |_| "  - cron: \"0 0 1 1 *\"\n    timezone: UTC\n".to_owned();
        let crons: String = (0..n).map(cron).collect();
        crons + &(0..n).map(|i| question("  ", i)).collect::<String>()
    });
}

#[test]
fn nested_loops_with_stages_and_questions() {
    grows_with_its_size(|n| {
        let mut text = String::new();
        for i in 0..n / 12 {
            let mut indent = "  ".to_owned();
            for depth in 0..6 {
                text.push_str(&format!(
                    "{indent}- loop:\n{indent}    repeat: {}\n{indent}    steps:\n",
                    if depth % 2 == 0 { "3" } else { "until_stopped" }
                ));
                indent.push_str("      ");
                text.push_str(&question(&indent, 10 * i + depth));
            }
            text.push_str(&format!(
                "{indent}- agent: worker\n{indent}  task: Work.\n{indent}  on_failed: break\n"
            ));
        }
        text
    });
}

#[test]
fn loops_in_a_row_that_wait_for_nobody() {
    grows_with_its_size(|n| {
        let one = |_| {
            "  - loop:\n      repeat: until_stopped\n      steps:\n        - agent: worker\n          task: Work.\n          \
             on_failed: break\n"
                .to_owned()
        };
        (0..n).map(one).collect()
    });
}

#[test]
fn switches_on_the_choice_of_a_question() {
    grows_with_its_size(|n| {
        let mut text = String::new();
        for i in 0..n {
            text.push_str(&format!(
                "  - id: ask{i}x\n    question: Which?\n    choices: {{ a: A, b: B, c: C }}\n  - switch: ${{{{ steps.ask{i}x.choice }}}}\n    \
                 cases: {{ a: continue, b: continue, c: continue }}\n"
            ));
        }
        text
    });
}
