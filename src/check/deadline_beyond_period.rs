//! `deadline-beyond-period`: a deadline that is longer than the cron period around it, so occurrences are missed.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::NodeIndex;
use crate::schedule::Schedule;
use crate::time::{Millis, Timestamp};
use std::collections::HashMap;

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
    let periods = periods(cx);
    for (index, step) in flow.steps() {
        let around = flow.node(index).map(|node| node.scope.as_slice()).unwrap_or_default();
        let driving = around.iter().filter_map(|a_loop| periods.get(a_loop));
        let Some((period, cron_step)) = driving.min_by_key(|(period, _)| *period) else { continue };
        for deadline in step.kind.deadlines().filter(|deadline| deadline.value > *period) {
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

/// The shortest period of the cron steps right inside of each loop, and the step that has it.
fn periods<'a>(cx: &Context<'a, '_>) -> HashMap<NodeIndex, (Millis, &'a ast::Step)> {
    let flow = &cx.resolved.flow;
    let defaults = &cx.resolved.ast.defaults;
    let mut found: HashMap<NodeIndex, (Millis, &'a ast::Step)> = HashMap::new();
    for (index, step) in flow.steps() {
        let StepKind::Cron(cron) = &step.kind else { continue };
        let Some(around) = flow.node(index).and_then(|node| node.scope.last()) else { continue };
        let zone = cron.timezone.as_ref().or(defaults.timezone.as_ref()).map_or("UTC", |zone| &zone.value);
        let schedule = cron.expression.as_ref().and_then(|text| Schedule::parse(&text.value, zone).ok());
        let Some(period) = schedule.and_then(|schedule| schedule.shortest_period_ms(FROM)) else { continue };
        let best = found.entry(*around).or_insert((period, step));
        if period < best.0 {
            *best = (period, step);
        }
    }
    found
}
