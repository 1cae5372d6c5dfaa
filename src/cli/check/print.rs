//! Verdicts to stdout in the form that was asked for, what could not be read to stderr, and how the process ends.

use super::super::{Exit, output};
use super::judged::Judged;
use super::mend::Fixed;
use super::search::Plan;
use super::{Arguments, Format};
use crate::compile;
use crate::report::{self, Report};
use clap::ValueEnum;
use serde_json::json;
use std::io::IsTerminal;

/// Prints everything and says how the process ends.
pub(super) fn all(plan: &Plan, judged: &[&Judged], arguments: &Arguments, fixed: Option<Fixed>) -> Exit {
    let faults = fixed.as_ref().map(|fixed| fixed.faults.as_slice()).unwrap_or_default();
    let settings = &plan.projects.findings;
    let settings_fail = settings.iter().any(|(_, found)| compile::has_errors(found));
    let exit = if !faults.is_empty() {
        Exit::Fault
    } else if !plan.unreadable.is_empty() {
        Exit::Usage
    } else if settings_fail || judged.iter().any(|one| one.fails()) {
        Exit::Findings
    } else {
        Exit::Done
    };
    let own = settings.iter().filter(|(_, found)| !found.is_empty()).map(|(sources, diagnostics)| {
        let denies_warnings = false;
        report::Part { sources, diagnostics, ignored: &[], denies_warnings, bound: None }
    });
    let report = Report {
        parts: own.chain(judged.iter().map(|one| one.part())).collect(),
        unreadable: plan.unreadable.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect(),
        checked: Some(judged.len()),
        fixed: fixed.as_ref().map(|fixed| fixed.count),
        exit_code: exit.code(),
    };
    let format = format(plan, arguments);
    let text = if arguments.statistics { statistics(&report, format) } else { written(&report, format) };
    let printed_text = fixed.as_ref().and_then(|fixed| fixed.stdin.as_deref());
    match printed_text {
        // Stdout belongs to the mended text.
        Some(mended) => {
            output::print(mended);
            eprint!("{text}");
        }
        None => output::print(&text),
    }
    for (_, why) in &plan.unreadable {
        output::note(why);
    }
    for fault in faults {
        output::note(fault);
    }
    if fixed.is_some() && format != report::Format::Human {
        output::note(&report.mended());
    }
    exit
}

fn written(report: &Report<'_>, format: report::Format) -> String {
    let look = report::Look { color: output::color(), width: output::width() };
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = report::write_all(format, report, &mut text, look);
    String::from_utf8_lossy(&text).into_owned()
}

/// A line a rule, the most frequent first; `*` marks rules with safe fixes.
fn statistics(report: &Report<'_>, format: report::Format) -> String {
    let all = report.by_rule();
    if format == report::Format::Json {
        let rules: Vec<_> = all
            .iter()
            .map(|(rule, count, fixes)| {
                json!({ "rule": rule.name, "severity": rule.severity.word(), "count": count, "safe_fixes": fixes })
            })
            .collect();
        let text = serde_json::to_string_pretty(&json!({ "version": 1, "statistics": rules }));
        return text.unwrap_or_default() + "\n";
    }
    all.iter()
        .map(|(rule, count, fixes)| {
            let mark = if *fixes > 0 { '*' } else { ' ' };
            format!("{count:>6} {mark} {:<28} {}\n", rule.name, rule.summary)
        })
        .collect()
}

/// A flag wins over the settings, and these over what stdout is.
pub(super) fn format(plan: &Plan, arguments: &Arguments) -> report::Format {
    if arguments.json {
        return report::Format::Json;
    }
    let set = plan.jobs.first().and_then(|job| job.settings.format.as_deref());
    let set = set.and_then(|name| Format::from_str(name, false).ok());
    match arguments.format.or(set) {
        Some(Format::Human) => report::Format::Human,
        Some(Format::Short) => report::Format::Short,
        Some(Format::Json) => report::Format::Json,
        Some(Format::Sarif) => report::Format::Sarif,
        Some(Format::Github) => report::Format::Github,
        Some(Format::Gitlab) => report::Format::Gitlab,
        Some(Format::Junit) => report::Format::Junit,
        // What is watched is looked at, and each round has its end.
        None if arguments.watch || std::io::stdout().is_terminal() => report::Format::Human,
        None => report::Format::Short,
    }
}
