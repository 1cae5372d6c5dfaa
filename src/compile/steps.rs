//! Every step of a definition, nested lists included, to be changed before names are bound. It changes nothing itself.

use crate::ast::{GateKind, OnDeadline, Step, StepKind, Transition};
use crate::source::Spanned;

/// Calls for each step.
pub(super) fn each(steps: &mut [Step], f: &mut dyn FnMut(&mut Step)) {
    for step in steps {
        f(step);
        nested(&mut step.kind, &mut |list| each(list, f));
    }
}

/// Calls for each list of steps directly inside a step.
fn nested(kind: &mut StepKind, f: &mut dyn FnMut(&mut [Step])) {
    match kind {
        StepKind::Question(question) => {
            for choice in &mut question.choices {
                within(choice.then.as_mut(), f);
            }
            if let Some(Spanned { value: OnDeadline::Transition(transition), .. }) = &mut question.on_deadline
            {
                list_of(transition, f);
            }
        }
        StepKind::Agent(stage) => {
            for gate in &mut stage.review {
                if let GateKind::Human { on_deadline, on_abort, .. } = &mut gate.kind {
                    within(on_deadline.as_mut(), f);
                    within(on_abort.as_mut(), f);
                }
            }
            let ways = [
                &mut stage.on_blocked,
                &mut stage.on_failed,
                &mut stage.on_deadline,
                &mut stage.on_exhausted,
            ];
            ways.into_iter().for_each(|way| within(way.as_mut(), f));
        }
        StepKind::Loop(a_loop) => {
            f(&mut a_loop.steps);
            within(a_loop.on_exhausted.as_mut(), f);
            within(a_loop.on_deadline.as_mut(), f);
        }
        StepKind::Switch(switch) => {
            switch.cases.iter_mut().for_each(|case| list_of(&mut case.then.value, f));
            within(switch.default.as_mut(), f);
        }
        StepKind::Cron(_) | StepKind::Pick(_) | StepKind::Stop(_) | StepKind::Hole => {}
    }
}

fn within(way: Option<&mut Spanned<Transition>>, f: &mut dyn FnMut(&mut [Step])) {
    if let Some(way) = way {
        list_of(&mut way.value, f);
    }
}

fn list_of(transition: &mut Transition, f: &mut dyn FnMut(&mut [Step])) {
    if let Transition::Steps { steps, then } = transition {
        f(steps);
        if let Some(then) = then {
            list_of(&mut then.value, f);
        }
    }
}
