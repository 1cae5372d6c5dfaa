//! Inlay notes: the next occurrence of a schedule, the bound of a loop.

use super::place::{self, Role};
use super::{Analysis, Document, Inlay, hover, words};
use crate::ast::{self, StepKind};
use crate::check::bound;
use crate::resolve::Resolved;
use crate::resolve::{flow, resolve};
use crate::schedule::Schedule;
use crate::source::{Source, Span};
use crate::tree::Node;
use std::collections::HashMap;

/// The notes within a range of the main document.
#[must_use]
pub fn inlays(analysis: &Analysis, within: Span) -> Vec<Inlay> {
    let Document::Workflow(compiled) = &analysis.document else { return Vec::new() };
    let (Some(ast), Some(tree), Some(source)) = (&compiled.ast, &compiled.tree, analysis.main()) else {
        return Vec::new();
    };
    let is_shown = |offset: usize| within.file == source.id() && within.touches(offset);
    let mut found = Vec::new();
    if let Some(entry) = tree.entries().iter().find(|entry| entry.key.value == "steps") {
        let offset = behind_colon(source, entry.key.span);
        if is_shown(offset) {
            found.extend(runs(&resolve(ast, &compiled.agents), offset));
        }
    }
    let loops = loop_keys(tree);
    for step in flow::all_steps(&ast.steps) {
        match &step.kind {
            StepKind::Cron(cron) => {
                let Some(expression) = &cron.expression else { continue };
                let offset = expression.span.range().end;
                let zone = cron.timezone.as_ref().or(ast.defaults.timezone.as_ref());
                if let Some(zone) = zone.filter(|_| is_shown(offset)) {
                    found.extend(next(analysis, &expression.value, &zone.value, offset));
                }
            }
            StepKind::Loop(a_loop) => {
                let Some(key) = loops.get(&step.span.start) else { continue };
                let offset = behind_colon(source, *key);
                if is_shown(offset) {
                    found.extend(bound_of(a_loop, offset));
                }
            }
            StepKind::Question(_)
            | StepKind::Agent(_)
            | StepKind::Switch(_)
            | StepKind::Pick(_)
            | StepKind::Stop(_)
            | StepKind::Hole => {}
        }
    }
    found.sort_by_key(|note| note.offset);
    found
}

/// Places of the keys `loop`, by the beginnings of their steps.
fn loop_keys(tree: &Node) -> HashMap<u32, Span> {
    let mut keys = HashMap::new();
    place::visit(tree, Role::Workflow, None, &mut |node, role, _| {
        let entry = node.entries().iter().find(|entry| role == Role::Step && entry.key.value == "loop");
        if let Some(entry) = entry {
            keys.insert(node.span.start, entry.key.span);
        }
    });
    keys
}

/// Behind the colon that follows a key on its line, else behind the key.
fn behind_colon(source: &Source, key: Span) -> usize {
    let end = key.range().end;
    let rest = source.text().get(end..).unwrap_or_default();
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let has_colon = rest.get(blanks..).is_some_and(|rest| rest.starts_with(':'));
    if has_colon { end + blanks + 1 } else { end }
}

fn next(analysis: &Analysis, expression: &str, zone: &str, offset: usize) -> Option<Inlay> {
    let schedule = Schedule::parse(expression, zone).ok()?;
    let label = match schedule.next_after(analysis.as_of) {
        Some(at) => format!("next: {}", words::local(&schedule, at)),
        None => "never again".to_owned(),
    };
    Some(Inlay { offset, label, tooltip: hover::schedule::occurrences(&schedule, analysis.as_of) })
}

fn bound_of(a_loop: &ast::Loop, offset: usize) -> Option<Inlay> {
    let mut label = match a_loop.repeat.as_ref()?.value {
        ast::Repeat::UntilStopped => "until stopped".to_owned(),
        ast::Repeat::Times(1) => "once".to_owned(),
        ast::Repeat::Times(times) => format!("at most {times} times"),
    };
    if let Some(deadline) = &a_loop.deadline {
        label.push_str(&format!(", at most {}", words::duration(deadline.value)));
    }
    Some(Inlay { offset, label, tooltip: String::new() })
}

/// The largest number of agent runs between two waits, where the whole flow is known.
fn runs(resolved: &Resolved<'_>, offset: usize) -> Option<Inlay> {
    let flow = &resolved.flow;
    let has_stage = flow.steps().any(|(_, step)| matches!(step.kind, StepKind::Agent(_)));
    let has_hole = flow.has_holes || flow.steps().any(|(_, step)| matches!(step.kind, StepKind::Hole));
    if !has_stage || has_hole {
        return None;
    }
    let (label, tooltip) = match bound::agent_runs(resolved).runs {
        Some(1) => ("at most 1 agent run between two waits".to_owned(), PROVED),
        Some(most) => (format!("at most {most} agent runs between two waits"), PROVED),
        None => ("agent runs without bound".to_owned(), UNBOUNDED),
    };
    Some(Inlay { offset, label, tooltip: tooltip.to_owned() })
}

const PROVED: &str =
    "Proved over every path: so often agents run at most before a schedule or a person is waited for.";
const UNBOUNDED: &str = "Some cycle runs agents and waits for nobody.";
