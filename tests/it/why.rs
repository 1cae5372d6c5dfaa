//! Answers as paths: what leads to a step, what it can reach, what happens if nobody answers, what bounds a cycle.

use crate::pages::package;
use crate::support::AS_OF;
use flowright::compile::{Compiled, MainDocument, compile};
use flowright::resolve::resolve;
use flowright::why::{self, Answer, Leads, Questions, Route};

const FLOW: &str = "kind: workflow
version: 1
name: release
deadline: 30d
steps:
  - id: request
    question: What?
    choices:
      go: Go
      drop: { label: Drop, then: { stop: cancelled } }
    deadline: 3d
    on_deadline: { choose: drop }
  - id: tries
    loop:
      repeat: 4
      on_exhausted: hold
      steps:
        - id: build
          agent: worker
          task: Build.
          completion: reviewed
          review:
            - agent: critic
              task: Judge.
            - human: Good?
              deadline: 2d
              on_deadline: next
            - human: Really?
        - id: judge
          question: Ship?
          choices:
            ship: { label: Ship, then: break }
            again: { label: Again, then: next }
  - id: publish
    agent: writer
    task: Publish.
";

fn compiled(text: &str) -> Compiled {
    let main = MainDocument {
        name: "flow.yaml".into(),
        package_path: "flow.yaml".into(),
        bytes: text.to_owned().into_bytes(),
    };
    compile(main, &package(), AS_OF)
}

fn answer(text: &str, name: &str) -> Answer {
    let compiled = compiled(text);
    let resolved = resolve(compiled.ast.as_ref().unwrap(), &compiled.agents);
    why::answer(&resolved, name, Questions::ALL).unwrap_or_else(|| panic!("{name}"))
}

fn chain(route: &Route) -> String {
    let legs = route.legs.iter().map(|leg| format!("{} {}", leg.from, leg.way));
    legs.chain([route.to.clone()]).collect::<Vec<_>>().join(" / ")
}

#[test]
fn what_leads_to_a_step_is_a_shortest_path_with_its_conditions() {
    assert_eq!(answer(FLOW, "request").leads, Some(Leads::Start));
    let Some(Leads::Path(route)) = answer(FLOW, "publish").leads else { panic!() };
    assert_eq!(
        chain(&route),
        "request is answered `go` / tries begins an iteration / build goes on / judge is answered `ship` / publish"
    );
    assert_eq!(route.legs.iter().map(|leg| leg.awaits).collect::<Vec<_>>(), [true, false, true, true]);
    let text = FLOW.replace("deadline: 30d", "deadline: 30d\ntitle: x");
    assert_eq!(answer(&text, "hold").kind, "hold");
}

#[test]
fn what_a_step_can_reach_is_all_of_it_and_where_sessions_rest() {
    let reaches = answer(FLOW, "tries").reaches.unwrap();
    let names: Vec<&str> = reaches.iter().map(|route| route.to.as_str()).collect();
    let (steps, rests): (Vec<_>, Vec<_>) =
        names.iter().copied().partition(|name| !["hold", "end", "stop-1"].contains(name));
    assert_eq!(steps, ["build", "tries", "judge", "publish"], "by distance");
    assert_eq!(rests, ["hold", "end"]);
    assert!(!names.contains(&"request"), "nothing leads back");
    let end = reaches.iter().find(|route| route.to == "end").unwrap();
    assert_eq!(
        chain(end),
        "tries begins an iteration / build goes on / judge is answered `ship` / publish goes on / end"
    );
}

#[test]
fn if_nobody_answers_the_deadline_tells_or_the_one_around_it() {
    let [request] = <[_; 1]>::try_from(answer(FLOW, "request").silence.unwrap()).unwrap();
    let ends = request.ends.unwrap();
    assert_eq!(ends.by, "after 3d `drop` is chosen by itself");
    assert_eq!(chain(&ends.route.unwrap()), "request is answered `drop` / stop-1");

    let [first, second] = <[_; 2]>::try_from(answer(FLOW, "build").silence.unwrap()).unwrap();
    let ends = first.ends.unwrap();
    assert_eq!(
        (first.what.as_str(), ends.by.as_str()),
        ("gate 2 waits for a person", "after 2d nobody has decided in time")
    );
    let route = ends.route.unwrap();
    assert!(chain(&route).starts_with("build finds nobody at gate 2 in time / tries"), "{}", chain(&route));
    assert_eq!(second.ends.unwrap().by, "the session's deadline of 30d ends it as failed");

    let without = FLOW.replace("deadline: 30d\n", "");
    let silence = answer(&without, "judge").silence.unwrap();
    assert_eq!(silence[0].ends, None, "it waits for ever");
    let inside = without.replace("      repeat: 4\n", "      repeat: 4\n      deadline: 9d\n");
    let silence = answer(&inside, "judge").silence.unwrap();
    let ends = silence[0].ends.clone().unwrap();
    assert_eq!(ends.by, "the deadline of 9d of the loop `tries` passes");
    assert_eq!(chain(&ends.route.unwrap()), "tries passes its deadline / hold");
    // Of two deadlines around it the shorter one passes first.
    for (of_loop, first) in
        [("9d", "the deadline of 9d of the loop"), ("40d", "the session's deadline of 30d")]
    {
        let both =
            FLOW.replace("      repeat: 4\n", &format!("      repeat: 4\n      deadline: {of_loop}\n"));
        let ends = answer(&both, "judge").silence.unwrap()[0].ends.clone().unwrap();
        assert!(ends.by.starts_with(first), "{}", ends.by);
    }
    assert_eq!(answer(FLOW, "publish").silence.unwrap(), [], "nobody is asked there");
}

#[test]
fn a_cycle_is_told_with_its_bounds_and_a_way_round_that_waits_for_nobody() {
    let [cycle] = <[_; 1]>::try_from(answer(FLOW, "judge").cycles.unwrap()).unwrap();
    assert_eq!(cycle.of, "tries");
    assert_eq!(
        chain(&cycle.route),
        "tries begins an iteration / build goes on / judge is answered `again` / tries"
    );
    let bounds: Vec<&str> = cycle.bounds.iter().map(|(bound, _)| bound.as_str()).collect();
    assert_eq!(bounds, ["`tries` repeats at most 4 times", "the session has a deadline of 30d"]);
    assert_eq!(cycle.unawaited, None);

    let [cycle] = <[_; 1]>::try_from(answer(FLOW, "build").cycles.unwrap()).unwrap();
    assert_eq!(
        chain(&cycle.unawaited.unwrap()),
        "tries begins an iteration / build finds nobody at gate 2 in time / tries"
    );
    assert_eq!(answer(FLOW, "publish").cycles.unwrap(), []);
    let inner = FLOW.replace("task: Build.", "task: Build it.");
    assert_eq!(answer(&inner, "tries").cycles.unwrap().len(), 1, "the head of a loop runs round it too");
}

/// The flow is there as soon as the text can be read: a definition with errors is asked about all the same.
#[test]
fn a_definition_with_errors_is_answered_too() {
    let text = FLOW
        .replace("      repeat: 4\n      on_exhausted: hold\n", "      repeat: until_stopped\n")
        .replace("deadline: 30d\n", "");
    let compiled = compiled(&text);
    assert!(compiled.workflow.is_none());
    let found = why::findings(&compiled.diagnostics, "unbounded-loop");
    assert_eq!(found.len(), 1);
    insta::assert_snapshot!(why::findings_text("unbounded-loop", &found, &compiled.sources));
    let [cycle] = <[_; 1]>::try_from(answer(&text, "build").cycles.unwrap()).unwrap();
    assert_eq!(cycle.bounds, []);
    assert!(cycle.unawaited.is_some());
    let none =
        why::findings_text("bad-name", &why::findings(&compiled.diagnostics, "bad-name"), &compiled.sources);
    assert_eq!(none, "there is no finding of `bad-name` here\n");
}

#[test]
fn the_text_for_people() {
    let compiled = compiled(FLOW);
    let resolved = resolve(compiled.ast.as_ref().unwrap(), &compiled.agents);
    let build = why::answer(&resolved, "build", Questions::ALL).unwrap();
    insta::assert_snapshot!(why::text(&build, &compiled.sources));
    let only = Questions { reach: false, nobody_answers: true, forever: false };
    let silence = why::text(&why::answer(&resolved, "build", only).unwrap(), &compiled.sources);
    assert!(
        silence.contains("if nobody answers")
            && !silence.contains("leads")
            && !silence.contains("for ever\n")
    );
}

#[test]
fn the_data_for_programs() {
    let compiled = compiled(FLOW);
    let resolved = resolve(compiled.ast.as_ref().unwrap(), &compiled.agents);
    let data = why::json(&why::answer(&resolved, "judge", Questions::ALL).unwrap(), &compiled.sources);
    assert_eq!(data["version"], 1);
    assert_eq!(data["leads"]["path"]["legs"][0]["place"]["line"], 6);
    let ends: Vec<_> =
        data["reaches"].as_array().unwrap().iter().filter(|route| route["rests"] == true).collect();
    assert_eq!(ends.len(), 2);
    assert_eq!(data["nobody_answers"][0]["for_ever"], false);
    assert_eq!(data["forever"][0]["bounds"][0]["bound"], "`tries` repeats at most 4 times");
    assert_eq!(data["forever"][0]["unawaited"], serde_json::Value::Null);
}

#[test]
fn what_was_proved_is_told_by_the_guarantees_themselves() {
    let text = FLOW.replace(
        "deadline: 30d\n",
        "deadline: 30d\nguarantees:\n  - { before: publish, answered: judge, choice: ship }\n",
    );
    let text = text.replace("      on_exhausted: hold\n", "      on_exhausted: { stop: failed }\n");
    let compiled = compiled(&text);
    let workflow = compiled.workflow.as_ref().unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    let proved = why::proved(compiled.ast.as_ref().unwrap(), workflow);
    assert!(
        proved.contains(&"`publish` is never reached before `judge` was answered `ship`".to_owned()),
        "{proved:?}"
    );
    assert!(proved.iter().any(|line| line.contains("agent runs between two waits")), "{proved:?}");
}
