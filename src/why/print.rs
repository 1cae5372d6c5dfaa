//! Answers as text for people and as data with a version. Every word of the author is made visible first.

use super::{Answer, Cycle, Leads, Route, Silence};
use crate::diagnostic::Diagnostic;
use crate::escape::visible;
use crate::source::{FileId, Sources, Span};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Version of the data.
const VERSION: u32 = 1;

/// An answer for people.
#[must_use]
pub fn text(answer: &Answer, sources: &Sources) -> String {
    let mut out =
        format!("{} ({}), {}\n", visible(&answer.name), answer.kind, whole_place(sources, answer.span));
    if let Some(leads) = &answer.leads {
        out.push_str("\nwhat leads to it\n");
        match leads {
            Leads::Start => out.push_str("  a session begins there\n"),
            Leads::Nothing => out.push_str("  nothing does\n"),
            Leads::Path(route) => path(route, sources, &mut out),
        }
    }
    if let Some(reaches) = &answer.reaches {
        out.push_str("\nwhat it can reach\n");
        reach(reaches, &mut out);
    }
    if let Some(silence) = &answer.silence {
        out.push_str("\nif nobody answers\n");
        silences(silence, sources, &mut out);
    }
    if let Some(cycles) = &answer.cycles {
        out.push_str("\nwhy it can run for ever\n");
        if cycles.is_empty() {
            out.push_str("  it cannot: no path leads back to it\n");
        }
        for cycle in cycles {
            round(cycle, sources, &mut out);
        }
    }
    out
}

fn reach(reaches: &[Route], out: &mut String) {
    if reaches.is_empty() {
        out.push_str("  nothing: a session rests there\n");
    }
    let steps: Vec<_> = reaches.iter().filter(|route| !route.rests).map(|route| visible(&route.to)).collect();
    // Writing into a String cannot fail, here and below.
    if !steps.is_empty() {
        let _ = writeln!(out, "  steps: {}", steps.join(", "));
    }
    for route in reaches.iter().filter(|route| route.rests) {
        let _ = writeln!(out, "  {}: {}", visible(&route.to), chain(route));
    }
}

fn silences(silence: &[Silence], sources: &Sources, out: &mut String) {
    if silence.is_empty() {
        out.push_str("  nobody is asked here\n");
    }
    for wait in silence {
        let _ = writeln!(out, "  {} ({})", visible(&wait.what), place(sources, wait.span));
        match &wait.ends {
            None => out.push_str("    it waits for ever: there is no deadline\n"),
            Some(outcome) => {
                let _ = writeln!(out, "    {} ({})", visible(&outcome.by), place(sources, outcome.span));
                if let Some(route) = &outcome.route {
                    let _ = writeln!(out, "    {}", chain(route));
                }
            }
        }
    }
}

fn round(cycle: &Cycle, sources: &Sources, out: &mut String) {
    let _ = writeln!(out, "  round the loop `{}`:", visible(&cycle.of));
    path(&cycle.route, sources, out);
    for (bound, span) in &cycle.bounds {
        let _ = writeln!(out, "  bounded: {} ({})", visible(bound), place(sources, *span));
    }
    match &cycle.unawaited {
        None => out.push_str("  every way round waits for a schedule or a person\n"),
        Some(route) if cycle.bounds.is_empty() => {
            let _ =
                writeln!(out, "  nothing bounds it, and this way round waits for nobody: {}", chain(route));
        }
        Some(route) => {
            let _ = writeln!(out, "  this way round waits for nobody: {}", chain(route));
        }
    }
}

fn path(route: &Route, sources: &Sources, out: &mut String) {
    for (i, leg) in route.legs.iter().enumerate() {
        let waits = if leg.awaits { ", after a wait" } else { "" };
        let (from, way) = (visible(&leg.from), visible(&leg.way));
        let _ = writeln!(out, "  {}. `{from}` {way}{waits} ({})", i + 1, place(sources, leg.span));
    }
    let _ = writeln!(out, "  → {}", visible(&route.to));
}

fn chain(route: &Route) -> String {
    let names = route.legs.iter().map(|leg| leg.from.as_str()).chain([route.to.as_str()]);
    names.map(visible).collect::<Vec<_>>().join(" → ")
}

/// `file:line:column`.
fn whole_place(sources: &Sources, span: Span) -> String {
    let Some(source) = sources.get(span.file) else { return String::new() };
    let at = source.position(span.range().start);
    format!("{}:{}:{}", visible(source.name()), at.line, at.column)
}

/// The line; of a file that is not the document also its name.
fn place(sources: &Sources, span: Span) -> String {
    match sources.get(span.file) {
        Some(source) if span.file == FileId::MAIN => {
            format!("line {}", source.position(span.range().start).line)
        }
        Some(_) | None => whole_place(sources, span),
    }
}

/// An answer for programs.
#[must_use]
pub fn json(answer: &Answer, sources: &Sources) -> Value {
    let mut out = json!({
        "version": VERSION,
        "step": { "name": answer.name, "kind": answer.kind, "place": place_json(sources, answer.span) },
    });
    let mut put = |key: &str, value: Option<Value>| {
        if let (Some(map), Some(value)) = (out.as_object_mut(), value) {
            map.insert(key.to_owned(), value);
        }
    };
    put(
        "leads",
        answer.leads.as_ref().map(|leads| match leads {
            Leads::Start => json!({ "is": "start" }),
            Leads::Nothing => json!({ "is": "nothing" }),
            Leads::Path(route) => json!({ "is": "path", "path": route_json(route, sources) }),
        }),
    );
    let routes = |routes: &[Route]| routes.iter().map(|route| route_json(route, sources)).collect::<Vec<_>>();
    put("reaches", answer.reaches.as_deref().map(|reaches| routes(reaches).into()));
    put(
        "nobody_answers",
        answer.silence.as_ref().map(|silence| {
            let waits = silence.iter().map(|wait| {
            let ends = wait.ends.as_ref().map(|ends| {
                json!({ "by": ends.by, "place": place_json(sources, ends.span),
                    "path": ends.route.as_ref().map(|route| route_json(route, sources)) })
            });
            json!({ "what": wait.what, "place": place_json(sources, wait.span), "for_ever": ends.is_none(),
                "ends": ends })
        });
            waits.collect::<Vec<_>>().into()
        }),
    );
    put(
        "forever",
        answer.cycles.as_ref().map(|cycles| {
            let cycles = cycles.iter().map(|cycle| {
                let bounds: Vec<_> = (cycle.bounds.iter())
                    .map(|(bound, span)| json!({ "bound": bound, "place": place_json(sources, *span) }))
                    .collect();
                json!({ "loop": cycle.of, "path": route_json(&cycle.route, sources), "bounds": bounds,
                "unawaited": cycle.unawaited.as_ref().map(|route| route_json(route, sources)) })
            });
            cycles.collect::<Vec<_>>().into()
        }),
    );
    out
}

fn route_json(route: &Route, sources: &Sources) -> Value {
    let legs: Vec<_> = (route.legs.iter())
        .map(|leg| {
            json!({ "from": leg.from, "way": leg.way, "awaits": leg.awaits, "place": place_json(sources, leg.span) })
        })
        .collect();
    json!({ "legs": legs, "to": route.to, "kind": route.kind, "rests": route.rests })
}

fn place_json(sources: &Sources, span: Span) -> Value {
    let Some(source) = sources.get(span.file) else { return Value::Null };
    let at = source.position(span.range().start);
    json!({ "file": source.name(), "line": at.line, "column": at.column, "start": span.start, "end": span.end })
}

/// The findings of a rule for people, with the path that each shows.
#[must_use]
pub fn findings_text(rule: &str, findings: &[&Diagnostic], sources: &Sources) -> String {
    if findings.is_empty() {
        return format!("there is no finding of `{}` here\n", visible(rule));
    }
    let mut out = String::new();
    for (i, found) in findings.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "{}: {}", whole_place(sources, found.span), visible(&found.message));
        if !found.note.is_empty() {
            let _ = writeln!(out, "  {}", visible(&found.note));
        }
        for label in &found.labels {
            let _ = writeln!(out, "  {} ({})", visible(&label.text), place(sources, label.span));
        }
        if let Some(help) = &found.help {
            let _ = writeln!(out, "  help: {}", visible(help));
        }
    }
    out
}

/// The findings of a rule for programs.
#[must_use]
pub fn findings_json(rule: &str, findings: &[&Diagnostic], sources: &Sources) -> Value {
    let findings: Vec<_> = (findings.iter())
        .map(|found| {
            let labels: Vec<_> = (found.labels.iter())
                .map(|label| json!({ "text": label.text, "place": place_json(sources, label.span) }))
                .collect();
            json!({ "message": found.message, "note": found.note, "place": place_json(sources, found.span),
                "labels": labels, "help": found.help })
        })
        .collect();
    json!({ "version": VERSION, "rule": rule, "findings": findings })
}
