//! Steps of cases and expectations, on a workflow in memory.

use super::{FLOW, TO_REVIEW, fails, findings, package, passes, play, play_in};
use flowright::compile::Memory;

#[test]
fn a_case_runs_to_its_end() {
    passes(&format!(
        "{TO_REVIEW}  - expect: {{ status: awaiting_review, waits_for: plan, revision: 1, asks: Is this the plan? }}
  - accept: plan
  - expect: {{ waits_for: builder, task: Build it., given: {{ plan: p1 }} }}
  - agent: build
    submit: {{ result: {{ change: c-1, tests: passed }} }}
  expect:
    status: completed
    visits: [request, plan, build, verdict]
    outputs: {{ change: c-1 }}
"
    ));
}

#[test]
fn evaluators_and_people_reject_and_the_same_agent_corrects() {
    passes(
        "  - answer: { choice: build, feedback: a mode }
  - agent: planner
    submit: { result: { plan: p1 } }
  - expect: { waits_for: critic, status: agent_running }
  - agent: critic
    judge: reject
    feedback: Name the risks.
  - agent: plan
    submit: { result: { plan: p2 } }
  - agent: critic
    judge: accept
  - expect: { revision: 2 }
  - message: { to: planner, text: Think of the costs as well. }
  - reject: { step: plan, as: lea, feedback: Name the costs. }
  - agent: planner
    submit: { result: { plan: p3 } }
  - agent: critic
    judge: accept
  - accept: { step: plan, revision: 2 }
    refused: true
  - accept: { step: plan, revision: 3, gate: 2, as: lea }
  - expect: { given: { plan: p3 } }
",
    );
}

#[test]
fn rounds_run_out() {
    passes(
        "  - answer: { choice: build, feedback: a mode }
  - agent: planner
    submit: { result: { plan: p1 } }
  - agent: critic
    judge: reject
    feedback: No.
  - agent: planner
    submit: { result: { plan: p2 } }
  - agent: critic
    judge: reject
    feedback: No.
  expect: { status: failed, reason: No plan was good enough., outputs: { change: null } }
",
    );
}

#[test]
fn people_give_up_and_cancel() {
    passes(&format!(
        "{TO_REVIEW}  - abort: {{ step: plan, reason: Enough. }}
  expect: {{ status: cancelled, reason: Given up., never: [build] }}
"
    ));
    passes("  - cancel: { reason: Not today. }\n  expect: { status: cancelled, reason: Not today. }\n");
}

#[test]
fn an_agent_is_blocked_fails_crashes_and_is_silent() {
    let asked = "  - answer: { choice: build, feedback: a mode }\n";
    for (what, reason) in [
        ("block: I need a key.", "the stage ended blocked: I need a key."),
        ("fail: It cannot be done.", "the stage ended failed: It cannot be done."),
        ("crash: the server is down", "the server is down"),
        ("say: Done.\n  - agent: planner\n    say: I said so.", "also after a reminder"),
    ] {
        passes(&format!(
            "{asked}  - agent: planner\n    {what}\n  - expect: {{ status: needs_attention, reason: \"{reason}\" }}
  - retry\n  - expect: {{ waits_for: planner, status: agent_running }}\n"
        ));
    }
}

#[test]
fn a_submission_that_does_not_fit_is_refused_and_corrected() {
    passes(
        "  - answer: { choice: build, feedback: a mode }
  - agent: planner
    submit: { result: { plans: p1 } }
    refused: expected the property `plan`
  - agent: planner
    submit: { result: { plan: p1 } }
  - expect: { waits_for: critic }
",
    );
    fails(
        "  - answer: { choice: build, feedback: a mode }\n  - agent: planner\n    submit: { result: {} }\n",
        "refused-step",
        "submit",
        "the submission is refused: /result: expected the property `plan`, found an empty object",
    );
}

#[test]
fn the_clock_moves_when_told() {
    passes(
        "  - advance: 23h\n  - expect: { status: waiting }\n  - advance: 1h\n  expect: { status: failed, reason: Nobody answered. }\n",
    );
    passes(&format!(
        "{TO_REVIEW}  - expect: {{ wakes_at: 2026-01-07T09:00:00Z }}
  - until: 2026-01-07T09:00:00Z
  expect: {{ status: failed, reason: Nobody decided. }}
"
    ));
    passes("  - down: 2d\n  expect: { status: failed }\n");
    fails(
        "  - until: 2025-01-01T00:00:00Z\n",
        "refused-step",
        "until: 2025-01-01T00:00:00Z",
        "the clock shows 2026-01-05T09:00:00Z and never goes back",
    );
}

#[test]
fn a_session_is_paused_and_goes_on() {
    passes(
        "  - pause\n  - expect: { status: paused }\n  - resume: { as: eve }\n    refused: may not decide this\n  - resume:\n  - expect: { status: waiting }\n",
    );
}

#[test]
fn steps_that_nobody_waits_for_are_findings_with_the_reason() {
    fails("  - accept: plan\n", "refused-step", "plan", "`plan` waits for no decision");
    fails(
        "  - agent: builder\n    fail: x\n",
        "refused-step",
        "builder",
        "`builder` is not at work; no agent is",
    );
    fails(
        "  - answer: { choice: build, feedback: a mode }\n  - agent: critic\n    judge: accept\n",
        "refused-step",
        "critic",
        "`critic` is not at work; `planner` works at `plan`",
    );
    fails(
        "  - answer: { choice: build, feedback: a mode }\n  - agent: planner\n    judge: accept\n",
        "refused-step",
        "judge",
        "this agent judges nothing; it produces a result with `submit`",
    );
    fails(
        "  - answer: { choice: bild, feedback: a mode }\n",
        "refused-step",
        "bild",
        "`bild` is no choice of this question; did you mean `build`?",
    );
    fails(
        &format!("{TO_REVIEW}  - accept: {{ step: plan, as: eve }}\n"),
        "refused-step",
        "eve",
        "`eve` may not decide this; asked is owner, role:lead",
    );
    fails("  - retry\n", "refused-step", "retry", "nothing here needs attention");
    fails(
        "  - message: { to: planner, text: x }\n",
        "refused-step",
        "planner",
        "no agent `planner` is there to hear it",
    );
}

#[test]
fn what_follows_a_refused_step_is_not_played() {
    let found = findings(&play("  - retry\n  - accept: plan\n  - expect: { status: completed }\n"));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_step_that_was_to_be_refused() {
    fails(
        "  - pause\n  - resume:\n    refused: true\n",
        "failed-expectation",
        "true",
        "this step was to be refused, and it was taken",
    );
    fails(
        "  - retry:\n    refused: too late\n",
        "failed-expectation",
        "too late",
        "the step is refused for another reason than `too late`: nothing here needs attention",
    );
}

#[test]
fn each_expectation_that_fails_is_one_finding_at_its_place() {
    for (expected, place, message) in [
        ("status: completed", "completed", "expected status `completed`, found `awaiting_answer`"),
        ("waits_for: plan", "plan", "expected a wait for `plan`, found `request`"),
        ("visits: [request, plan]", "[request, plan]", "expected visits `request, plan`, found `request`"),
        ("never: [request]", "request", "`request` was to be visited never, and was"),
        ("outputs: { change: x }", "change", "expected the output `change`, but the session has not ended"),
        ("reason: late", "late", "expected `late` in reason, but there is none"),
        ("asks: Why", "Why", "expected `Why` in what is asked, found `What shall we build for here?`"),
        ("task: x", "x", "expected `x` in the task of the agent at work, but there is none"),
        ("given: { plan: x }", "plan", "expected `plan` to be given to an agent, but none is at work"),
        ("revision: 1", "1", "expected revision `1`, found `0`"),
        (
            "wakes_at: 2026-01-07T00:00:00Z",
            "2026-01-07T00:00:00Z",
            "expected wakes_at `2026-01-07T00:00:00Z`, found `2026-01-06T09:00:00Z`",
        ),
    ] {
        fails(&format!("  - expect: {{ {expected} }}\n"), "failed-expectation", place, message);
    }
    let end = "  - answer: { choice: nothing }\n  expect: { outputs: { change: c-1 } }\n";
    fails(end, "failed-expectation", "c-1", "expected the output `change` as `\"c-1\"`, found `null`");
    let given = "  - answer: { choice: build, feedback: a mode }\n  - expect: { given: { request: b } }\n";
    fails(given, "failed-expectation", "b", "expected `request` given as `\"b\"`, found `\"a mode\"`");
}

#[test]
fn a_finding_tells_where_the_session_stands() {
    let played = play("  - answer: { choice: build, feedback: a mode }\n  expect: { status: completed }\n");
    let help = played.diagnostics[0].help.clone().unwrap();
    assert_eq!(
        help,
        "in `the case` the session is `agent_running` (an agent works at `plan`); visited: request → plan"
    );
}

#[test]
fn the_same_case_gives_the_same_events() {
    let steps = format!("{TO_REVIEW}  - reject: {{ step: plan, feedback: Again. }}\n  - advance: 5h\n");
    let (one, other) = (play(&steps), play(&steps));
    assert!(one.cases[0].events.len() > 20, "{}", one.cases[0].events.len());
    assert_eq!(one.cases[0].events, other.cases[0].events);
}

#[test]
fn inputs_start_and_owner_are_those_of_the_case() {
    let text = "kind: test
version: 1
inputs: { repository: here }
start_at: 2026-02-01T00:00:00Z
cases:
- name: low
  steps: [{ expect: { asks: here, wakes_at: 2026-02-02T00:00:00Z } }]
- name: other
  inputs: { repository: there, risk: high }
  start_at: 2026-03-01T00:00:00Z
  steps: [{ expect: { asks: there, wakes_at: 2026-03-02T00:00:00Z } }]
- name: misfit
  inputs: { risk: middling }
";
    let played = play_in(&package(), "flow.test.yaml", text);
    let found = findings(&played);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1.as_str()), ("refused-step", "misfit"));
    assert!(found[0].2.starts_with("the session cannot be started: "), "{}", found[0].2);
    assert_eq!(played.cases.iter().filter(|case| case.passed()).count(), 2);
}

/// Names of the workflow are looked up before anything is played.
#[test]
fn names_that_the_workflow_does_not_have() {
    for (steps, place, near) in [
        ("  - agent: planer\n    fail: x\n", "planer", "planner"),
        ("  - accept: plann\n", "plann", "plan"),
        ("  - answer: { step: reqest, choice: build }\n", "reqest", "request"),
        ("  - pause\n  expect: { outputs: { chnge: x } }\n", "chnge", "change"),
        ("  - pause\n  expect: { never: [biuld] }\n", "biuld", "build"),
        ("  - pause\n  inputs: { rsik: low }\n", "rsik", "risk"),
        ("  - expect: { waits_for: critc }\n", "critc", "critic"),
    ] {
        let played = play(steps);
        let found = findings(&played);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].0, found[0].1.as_str()), ("bad-value", place), "{found:?}");
        assert_eq!(played.diagnostics[0].help.as_deref(), Some(format!("did you mean `{near}`?").as_str()));
        assert!(played.cases.is_empty());
    }
}

/// Steps, the rule that they break, the place.
pub(super) const WRONG: &[(&str, &str, &str)] = &[
    ("  - agnt: planner\n", "unknown-key", "agnt"),
    ("  - pauze\n", "bad-value", "pauze"),
    ("  - agent: planner\n", "missing-key", "agent"),
    ("  - agent: planner\n    submit: { outcome: x }\n", "unknown-key", "outcome"),
    ("  - agent: planner\n    say: a\n    fail: b\n", "several-step-kinds", "fail"),
    ("  - accept: plan\n    abort: plan\n", "several-step-kinds", "abort"),
    ("  - reject: { step: plan }\n", "missing-key", "step"),
    ("  - answer: { step: request }\n", "missing-key", "step"),
    ("  - advance: 3\n", "bad-duration", "3"),
    ("  - until: tomorrow\n", "bad-value", "tomorrow"),
    ("  - expect: { status: done }\n", "bad-value", "done"),
    ("  - expect: { wait_for: plan }\n", "unknown-key", "wait_for"),
    ("  - expect: {}\n", "bad-value", "{}"),
    ("  - 3\n", "wrong-shape", "3"),
    ("  - retry:\n    refused: false\n", "wrong-shape", "false"),
    ("  - {}\n", "no-step-kind", "{"),
    ("  - pause\n  name: again\n", "duplicate-key", "name"),
];

#[test]
fn wrong_shapes_are_findings_at_their_places() {
    for (steps, rule, place) in WRONG {
        let played = play(steps);
        let found = findings(&played);
        assert_eq!(found.len(), 1, "{steps}: {found:?}");
        assert_eq!((found[0].0, found[0].1.as_str()), (*rule, *place), "{found:?}");
        assert!(played.cases.is_empty());
    }
}

#[test]
fn the_document_has_its_keys() {
    let names = |text: &str| {
        let found = findings(&play_in(&package(), "flow.test.yaml", text));
        found.into_iter().map(|(rule, place, _)| (rule, place)).collect::<Vec<_>>()
    };
    assert_eq!(names("kind: test\nversion: 1\ncases: []\n"), [("bad-value", "[]".to_owned())]);
    assert_eq!(names("kind: test\nversion: 1\n"), [("missing-key", "kind".to_owned())]);
    assert_eq!(names("kind: tests\nversion: 1\ncases: [{ name: a }]\n"), [("bad-value", "tests".to_owned())]);
    assert_eq!(
        names("kind: test\nversion: 2\ncases: [{ name: a }]\n"),
        [("number-out-of-range", "2".to_owned())]
    );
    assert_eq!(
        names("kind: test\nversion: 1\ncases: [{ name: a }, { name: a }]\n"),
        [("bad-value", "a".to_owned())]
    );
    assert_eq!(names("kind: test\nversion: 1\ncases: [{ nam: a }]\n"), [("unknown-key", "nam".to_owned())]);
    assert_eq!(names("kind: test\nversion: 1\ncase: [{ name: a }]\n"), [("unknown-key", "case".to_owned())]);
}

#[test]
fn a_workflow_that_is_not_there_or_has_errors() {
    let text = "kind: test\nversion: 1\nworkflow: ./other.yaml\ncases: [{ name: a }]\n";
    let found = findings(&play_in(&package(), "flow.test.yaml", text));
    assert_eq!(found[0].0, "unusable-workflow");
    assert_eq!(
        (found[0].1.as_str(), found[0].2.as_str()),
        ("./other.yaml", "there is no workflow `other.yaml`")
    );

    let broken = FLOW.replace("agent: builder", "agent: bilder");
    let found = findings(&play_in(&package().with("other.yaml", broken), "flow.test.yaml", text));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].2.starts_with("the workflow `other.yaml` has errors: "), "{}", found[0].2);

    let out = "kind: test\nversion: 1\nworkflow: ../../x.yaml\ncases: [{ name: a }]\n";
    let found = findings(&play_in(&package(), "flow.test.yaml", out));
    assert_eq!((found[0].0, found[0].1.as_str()), ("unusable-workflow", "../../x.yaml"));

    let beside = "kind: test\nversion: 1\ncases: [{ name: a }]\n";
    let found = findings(&play_in(&Memory::new(), "tests/flow.test.yaml", beside));
    assert_eq!(found[0].2, "there is no workflow `tests/flow.yaml`");
}

#[test]
fn coverage_counts_steps_and_edges_that_need_no_hold() {
    let played = play("  - answer: { choice: nothing }\n");
    let coverage = played.coverage.unwrap();
    let seen: Vec<_> = coverage.edges.iter().filter(|(_, seen)| *seen).map(|(way, _)| way.label()).collect();
    assert_eq!(seen, ["request → stop-1 (nothing)"]);
    let visited: Vec<_> =
        coverage.steps.iter().filter(|(_, seen)| *seen).map(|(name, _)| name.as_str()).collect();
    assert_eq!(visited, ["request", "stop-1"]);
    assert!(coverage.edges.iter().all(|(way, _)| way.to != "hold"));
    assert!(coverage.percent() < 20, "{}", coverage.percent());
}

#[test]
fn hostile_files_do_not_panic() {
    for text in [
        "",
        "[",
        "kind: test",
        "kind: test\nversion: 1\ncases: 3\n",
        "- a",
        "\u{0}",
        "kind: [test]\nversion: {}\ncases: [[], 1, {steps: 3, expect: [], name: {}}]\nworkflow: 3\npeople: []\ninputs: 1\nowner: [x]\n",
    ] {
        let played = play_in(&package(), "flow.test.yaml", text);
        assert!(!played.diagnostics.is_empty(), "{text}");
        assert!(played.cases.is_empty());
    }
}
