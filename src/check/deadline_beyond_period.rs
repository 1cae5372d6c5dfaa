//! `deadline-beyond-period`: a deadline that is longer than the cron period around it, so occurrences are missed.

use super::Context;
use crate::ast::StepKind;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schedule::Schedule;
use crate::source::Spanned;
use crate::time::{Millis, Timestamp};

/// A deadline is longer than the cron period around it.
pub static RULE: Rule = Rule {
    name: "deadline-beyond-period",
    severity: Severity::Warning,
    summary: "A deadline is longer than the cron period around it",
    page: include_str!("../../docs/diagnostics/deadline-beyond-period.md"),
};

/// Where periods are measured from: any day serves, and a fixed one keeps findings the same for ever (2026-01-01).
const FROM: Timestamp = Timestamp(1_767_225_600_000);

/// Reports written deadlines of questions and stages in a loop that a cron step drives.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    let defaults = &cx.resolved.ast.defaults;
    for (index, cron_step) in flow.steps() {
        let StepKind::Cron(cron) = &cron_step.kind else { continue };
        let Some(around) = flow.node(index).and_then(|node| node.scope.last()) else { continue };
        let zone = cron.timezone.as_ref().or(defaults.timezone.as_ref()).map_or("UTC", |zone| &zone.value);
        let expression = cron.expression.as_ref().and_then(|text| Schedule::parse(&text.value, zone).ok());
        let Some(period) = expression.and_then(|schedule| schedule.shortest_period_ms(FROM)) else { continue };
        for (other, step) in flow.steps() {
            if !flow.node(other).is_some_and(|node| node.scope.contains(around)) {
                continue;
            }
            for deadline in deadlines(&step.kind).into_iter().filter(|deadline| deadline.value > period) {
                let message = format!(
                    "the deadline of `{}` is longer than the period of the schedule: {} is more than {period}",
                    step.name, deadline.value
                );
                out.push(
                    Diagnostic::new(&RULE, deadline.span, message)
                        .label(cron_step.head, format!("every {period} at the shortest"))
                        .help("occurrences that pass meanwhile are skipped; shorten the deadline if that is not meant"),
                );
            }
        }
    }
}

fn deadlines(kind: &StepKind) -> Vec<&Spanned<Millis>> {
    match kind {
        StepKind::Question(question) => question.deadline.iter().collect(),
        StepKind::Agent(stage) => {
            stage.deadline.iter().chain(stage.review.iter().filter_map(|gate| gate.deadline.as_ref())).collect()
        }
        StepKind::Cron(_)
        | StepKind::Loop(_)
        | StepKind::Switch(_)
        | StepKind::Pick(_)
        | StepKind::Stop(_)
        | StepKind::Hole => Vec::new(),
    }
}
