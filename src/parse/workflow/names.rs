//! Names of steps that have no id: `<kind>-<n>`, counted over all steps of the kind in document order. A name that
//! an author gave as an id is never given again.

use crate::ast::{GateKind, OnDeadline, Step, StepKind, Transition};
use crate::source::Spanned;
use std::collections::{HashMap, HashSet};

/// Names all steps of a document.
pub(super) fn give(steps: &mut [Step]) {
    let mut all = Vec::new();
    let mut taken = HashSet::new();
    each(steps, &mut |step| {
        all.push((step.span.start, word(&step.kind), step.id.is_some()));
        if let Some(id) = &step.id {
            taken.insert(id.value.clone());
        }
    });
    all.sort_by_key(|(start, ..)| *start);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut names: HashMap<u32, String> = HashMap::new();
    for (start, kind, has_id) in all {
        let count = counts.entry(kind).or_default();
        *count += 1;
        if has_id {
            continue;
        }
        let free = (*count..).map(|n| format!("{kind}-{n}")).find(|name| !taken.contains(name));
        let name = free.unwrap_or_default();
        taken.insert(name.clone());
        names.insert(start, name);
    }
    each(steps, &mut |step| {
        step.name = match &step.id {
            Some(id) => id.value.clone(),
            None => names.get(&step.span.start).cloned().unwrap_or_default(),
        };
    });
}

fn word(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Cron(_) => "cron",
        StepKind::Question(_) => "question",
        StepKind::Agent(_) => "agent",
        StepKind::Loop(_) => "loop",
        StepKind::Switch(_) => "switch",
        StepKind::Pick(_) => "pick",
        StepKind::Stop(_) => "stop",
        StepKind::Hole => "step",
    }
}

/// Every step, nested ones included. The depth is bounded by the reader.
fn each(steps: &mut [Step], f: &mut impl FnMut(&mut Step)) {
    for step in steps {
        f(step);
        match &mut step.kind {
            StepKind::Question(question) => {
                for choice in &mut question.choices {
                    within(&mut choice.then, f);
                }
                if let Some(Spanned { value: OnDeadline::Transition(transition), .. }) =
                    &mut question.on_deadline
                {
                    transition_steps(transition, f);
                }
            }
            StepKind::Agent(agent) => {
                for gate in &mut agent.review {
                    if let GateKind::Human { on_deadline, on_abort, .. } = &mut gate.kind {
                        within(on_deadline, f);
                        within(on_abort, f);
                    }
                }
                let paths = [
                    &mut agent.on_blocked,
                    &mut agent.on_failed,
                    &mut agent.on_deadline,
                    &mut agent.on_exhausted,
                ];
                for path in paths {
                    within(path, f);
                }
            }
            StepKind::Loop(body) => {
                each(&mut body.steps, f);
                within(&mut body.on_exhausted, f);
                within(&mut body.on_deadline, f);
            }
            StepKind::Switch(switch) => {
                for case in &mut switch.cases {
                    transition_steps(&mut case.then.value, f);
                }
                within(&mut switch.default, f);
            }
            StepKind::Cron(_) | StepKind::Pick(_) | StepKind::Stop(_) | StepKind::Hole => {}
        }
    }
}

fn within(transition: &mut Option<Spanned<Transition>>, f: &mut impl FnMut(&mut Step)) {
    if let Some(transition) = transition {
        transition_steps(&mut transition.value, f);
    }
}

fn transition_steps(transition: &mut Transition, f: &mut impl FnMut(&mut Step)) {
    match transition {
        Transition::Steps { steps, then } => {
            each(steps, f);
            if let Some(then) = then {
                transition_steps(&mut then.value, f);
            }
        }
        Transition::Continue
        | Transition::Break
        | Transition::Next
        | Transition::Hold
        | Transition::Stop(_)
        | Transition::Hole => {}
    }
}
