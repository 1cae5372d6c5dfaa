//! Every path of a workflow: what each ends in, what never ends, what is never reached.

use super::{FLOW, package};
use flowright::compile::{MainDocument, compile};
use flowright::ir;
use flowright::rehearse::simulate::{BOUND, Simulated, simulate};

fn frozen(text: &str) -> ir::Workflow {
    let main = MainDocument { name: "x.yaml".into(), package_path: "x.yaml".into(), bytes: text.into() };
    let compiled = compile(main, &package(), crate::support::AS_OF);
    let said: Vec<_> = compiled.diagnostics.iter().map(|found| &found.message).collect();
    assert!(compiled.workflow.is_some(), "{said:?}");
    compiled.workflow.unwrap()
}

/// Simulates steps, written without indentation.
fn of(steps: &str) -> Simulated {
    simulate(&frozen(&format!("kind: workflow\nversion: 1\nname: x\nsteps:\n{steps}")), BOUND)
}

fn ends(simulated: &Simulated) -> Vec<(String, &'static str)> {
    simulated.ends.iter().map(|end| (end.path.step.clone(), end.status)).collect()
}

fn way(simulated: &Simulated, step: &str) -> Vec<String> {
    let end = simulated.ends.iter().find(|end| end.path.step == step);
    end.unwrap_or_else(|| panic!("{step}: {:?}", ends(simulated))).path.moves.clone()
}

#[test]
fn every_end_of_a_whole_workflow_is_reached_by_its_shortest_path() {
    let simulated = simulate(&frozen(FLOW), BOUND);
    assert!(simulated.is_complete && simulated.endless.is_empty() && simulated.gaps.is_empty());
    assert_eq!(simulated.unreached, [""; 0]);
    assert_eq!(
        way(&simulated, "end"),
        [
            "request: build",
            "plan: submits",
            "plan: gate 1 accepts",
            "plan: accepted",
            "build: submits passed"
        ]
    );
    let reasons: Vec<&str> = simulated.ends.iter().map(|end| end.reason.as_str()).collect();
    for reason in [
        "There was nothing.",
        "Nobody answered.",
        "Nobody decided.",
        "Given up.",
        "No plan was good enough.",
        "It cannot be built.",
        "The tests failed.",
    ] {
        assert!(reasons.contains(&reason), "{reason}: {reasons:?}");
    }
    // What no transition is written for is held.
    let held: Vec<&str> =
        simulated.ends.iter().filter(|end| end.is_held).map(|end| end.path.step.as_str()).collect();
    assert!(held.contains(&"plan") && held.contains(&"build"), "{held:?}");
}

#[test]
fn a_cycle_that_nothing_leaves_never_ends() {
    let simulated = of(
        "- loop:\n    repeat: until_stopped\n    steps:\n    - id: tick\n      cron: \"@hourly\"\n      timezone: UTC\n",
    );
    assert_eq!(ends(&simulated), []);
    let steps: Vec<&str> = simulated.endless.iter().map(|path| path.step.as_str()).collect();
    assert_eq!(steps, ["tick"]);
    assert!(simulated.states < 10, "{}", simulated.states);
}

#[test]
fn a_cycle_that_a_choice_leaves_ends() {
    let simulated =
        of("- loop:\n    repeat: until_stopped\n    steps:\n    - id: more\n      question: More?\n      \
         choices: { yes: { label: Yes, then: next }, no: { label: No, then: break } }\n");
    assert_eq!((ends(&simulated), simulated.endless.len()), (vec![("end".to_owned(), "completed")], 0));
    assert_eq!(way(&simulated, "end"), ["more: no"]);
}

/// The iterations of a counted loop are told apart, and those of one without end are not.
#[test]
fn a_counted_loop_is_exhausted() {
    let simulated = of("- loop:\n    repeat: 3\n    steps:\n    - id: more\n      question: More?\n      \
         choices: { yes: { label: Yes, then: next }, no: { label: No, then: break } }\n    \
         on_exhausted: { stop: failed }\n");
    assert_eq!(way(&simulated, "stop-1"), ["more: yes", "more: yes", "more: yes"]);
}

/// Branches that exclude each other: the second switch can go one way only, which no rule of `check` sees.
#[test]
fn an_end_that_data_shut_out_is_not_reached() {
    let steps = "- id: go\n  question: Go?\n  choices: { yes: { label: Yes }, no: { label: No, then: { stop: cancelled } } }\n\
                 - switch: ${{ steps.go.choice }}\n  cases: { yes: continue, no: { stop: failed } }\n";
    let simulated = of(steps);
    assert_eq!(simulated.unreached, ["stop-2"]);
    assert_eq!(way(&simulated, "stop-1"), ["go: no"]);
}

#[test]
fn deadlines_of_loops_and_sessions_pass_wherever_they_run() {
    let simulated = simulate(
        &frozen(
            "kind: workflow\nversion: 1\nname: x\ndeadline: 30d\nsteps:\n- id: rounds\n  loop:\n    repeat: 5\n    \
             deadline: 2d\n    on_deadline: { stop: cancelled, reason: Too late. }\n    steps:\n    - id: work\n      \
             agent: builder\n      task: Work.\n    - id: more\n      question: More?\n      deadline: 1d\n      \
             on_deadline: continue\n      choices: { yes: { label: Yes, then: next }, no: { label: No, then: break } }\n    \
             on_exhausted: continue\n",
        ),
        BOUND,
    );
    assert_eq!(way(&simulated, "stop-1"), ["work: submits", "rounds: its deadline passes"]);
    assert_eq!(way(&simulated, "session"), ["the deadline of the session passes"]);
    assert_eq!(simulated.unreached, [""; 0]);
}

#[test]
fn the_bound_is_held_and_said() {
    let simulated = simulate(&frozen(FLOW), 5);
    assert_eq!((simulated.states, simulated.is_complete), (5, false));
    assert_eq!((simulated.unreached.len(), simulated.endless.len()), (0, 0), "nothing is known of the rest");
}

#[test]
fn what_cannot_be_made_up_is_said() {
    let simulated =
        of("- id: build\n  agent: builder\n  task: Build.\n  result: { type: object, required: [id], \
         properties: { id: { type: string, pattern: \"^[0-9]{4}$\" } } }\n");
    assert_eq!(simulated.gaps, ["no result of `build` can be made up that fits its schema"]);
    assert!(!simulated.is_complete && simulated.unreached.is_empty() && simulated.endless.is_empty());
}

/// A schema that refers to itself many times over, and one that wants very much.
#[test]
fn values_are_made_up_within_bounds() {
    let many: Vec<String> = (0..40).map(|number| format!("p{number}")).collect();
    let properties: Vec<String> =
        many.iter().map(|name| format!("{name}: {{ $ref: \"#/$defs/it\" }}")).collect();
    let it = format!(
        "{{ type: object, required: [{}], properties: {{ {} }} }}",
        many.join(", "),
        properties.join(", ")
    );
    let simulated = of(&format!(
        "- id: build\n  agent: builder\n  task: Build.\n  result:\n    $ref: \"#/$defs/it\"\n    type: object\n    $defs: {{ it: {it} }}\n"
    ));
    assert_eq!(simulated.gaps, ["no result of `build` can be made up that fits its schema"]);
    let simulated = of(
        "- id: build\n  agent: builder\n  task: Build.\n  result: { type: object, required: [a, b], properties: { \
         a: { type: string, minLength: 20 }, b: { type: array, minItems: 3, items: { type: integer, minimum: 7 } } } }\n",
    );
    assert_eq!(simulated.gaps, [""; 0]);
    assert_eq!(way(&simulated, "end"), ["build: submits"]);
}

#[test]
fn the_same_workflow_gives_the_same_walk() {
    assert_eq!(simulate(&frozen(FLOW), BOUND), simulate(&frozen(FLOW), BOUND));
}

#[test]
fn the_verb_prints_ends_and_fails_where_something_never_ends() {
    let folder = tempfile::tempdir().unwrap();
    let run = |text: &str, more: &[&str]| {
        std::fs::write(folder.path().join("flow.yaml"), text).unwrap();
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_flowright"))
            .args(["simulate", "flow.yaml"])
            .args(more)
            .current_dir(folder.path())
            .output()
            .unwrap();
        (command.status.code(), String::from_utf8(command.stdout).unwrap())
    };
    let head = "kind: workflow\nversion: 1\nname: x\nsteps:\n";
    let (code, said) =
        run(&format!("{head}- question: Go?\n  choices: {{ a: A, b: {{ label: B, then: hold }} }}\n"), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        said,
        "x: 3 states, 2 moves; every path was walked\n\nends\n  end (completed)\n    question-1: a\n\nheld\n  \
         question-1: the choice holds here\n    question-1: b\n"
    );
    let forever = format!(
        "{head}- loop:\n    repeat: until_stopped\n    steps: [{{ cron: \"@daily\", timezone: UTC }}]\n"
    );
    let (code, said) = run(&forever, &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("\nnever ends\n  cron-1\n    at once\n"), "{said}");
    let (_, said) = run(&forever, &["--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["version"], &said["endless"][0]["step"]), (&1.into(), &"cron-1".into()));
}
