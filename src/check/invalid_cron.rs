//! `invalid-cron`: a cron expression that is not of the form, at the field that is wrong.

use super::{Context, clock_change, cron_never_occurs, odd_cron, unknown_timezone};
use crate::ast::StepKind;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schedule::{Schedule, ScheduleError, is_zone};
use crate::source::{Span, Spanned};
use std::ops::Range;

/// A cron expression cannot be read.
pub static RULE: Rule = Rule {
    name: "invalid-cron",
    severity: Severity::Error,
    summary: "A cron expression cannot be read",
    page: include_str!("../../docs/diagnostics/invalid-cron.md"),
};

/// Reads every expression and zone; the other findings about them are called from here.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let default = cx.resolved.ast.defaults.timezone.as_ref();
    if let Some(zone) = default {
        unknown_timezone::check(zone, out);
    }
    for (_, step) in cx.resolved.flow.steps() {
        let StepKind::Cron(cron) = &step.kind else { continue };
        if let Some(zone) = &cron.timezone {
            unknown_timezone::check(zone, out);
        }
        let Some(expression) = &cron.expression else { continue };
        let zone = cron.timezone.as_ref().or(default).map_or("UTC", |zone| zone.value.as_str());
        // A wrong zone is reported at the zone and says nothing of the expression.
        let zone = if is_zone(zone) { zone } else { "UTC" };
        match Schedule::parse(&expression.value, zone) {
            Ok(schedule) => {
                odd_cron::check(expression, &schedule, out);
                clock_change::check(expression, &schedule, cx.as_of, out);
            }
            Err(ScheduleError::Expression { range, message }) => {
                let found = Diagnostic::new(&RULE, within(expression, range), message);
                out.push(found.help("five fields: minute, hour, day of month, month, day of week"));
            }
            Err(ScheduleError::Never { message }) => out.push(cron_never_occurs::fault(expression.span, message)),
            Err(ScheduleError::Zone { .. }) => {}
        }
    }
}

/// The place of a part of a scalar that is written on one line without escapes; else the whole scalar.
pub(super) fn within(scalar: &Spanned<String>, range: Range<usize>) -> Span {
    let quotes = match scalar.span.len().checked_sub(scalar.value.len()) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return scalar.span,
    };
    if range.is_empty() && range.start >= scalar.value.len() {
        return scalar.span;
    }
    let start = scalar.span.start as usize + quotes;
    Span::new(scalar.span.file, start + range.start, start + range.end)
}
