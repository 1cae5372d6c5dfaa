//! Renaming of steps, inputs and local agent names.

use super::names::{self, Name, Saying};
use super::{Analysis, At, Document};
use crate::ast;
use crate::diagnostic::Edit;
use crate::resolve::{Resolved, agent_references, flow, resolve};
use crate::source::{Source, Span};

/// Characters of the longest id.
const MOST: usize = 64;
const NOTHING: &str = "only steps, inputs and local agent names can be renamed";

/// What would be renamed at a place, or why nothing can be (one sentence).
///
/// # Errors
/// If nothing that can be renamed stands there.
pub fn target(analysis: &Analysis, at: At) -> Result<Span, String> {
    found(analysis, at, &mut |found| Ok(names::inner(analysis.sources(), found.asked)))
}

/// The edits that rename what stands at a place.
///
/// # Errors
/// If nothing that can be renamed stands there, or the new name is not allowed or taken (one sentence).
pub fn rename(analysis: &Analysis, at: At, new_name: &str) -> Result<Vec<Edit>, String> {
    found(analysis, at, &mut |found| {
        let Document::Workflow(compiled) = &analysis.document else { return Err(NOTHING.to_owned()) };
        let ast = compiled.ast.as_ref().ok_or(NOTHING)?;
        allowed(&resolve(ast, &compiled.agents), found.name, new_name)?;
        let mut spans = found.places.clone();
        spans.sort();
        spans.dedup();
        spans
            .into_iter()
            .filter(|span| span.file == at.file)
            .map(|span| {
                let source = analysis.sources().get(span.file).ok_or(NOTHING)?;
                edit(source, names::inner(analysis.sources(), span), new_name, span)
            })
            .collect()
    })
}

struct Found<'a> {
    name: Name<'a>,
    asked: Span,
    places: Vec<Span>,
}

fn found<T>(
    analysis: &Analysis,
    at: At,
    f: &mut impl FnMut(&Found<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let mut result = Err(NOTHING.to_owned());
    names::sayings(analysis, at, &mut |all| {
        let touched = |one: &&Saying<'_>| one.span.file == at.file && one.span.touches(at.offset);
        let is_named =
            |one: &&Saying<'_>| matches!(one.name, Name::Step(_) | Name::Input(_) | Name::Local(_));
        let asked = all.iter().filter(touched).filter(is_named).min_by_key(|one| one.span.len());
        let Some(asked) = asked else { return };
        let same = || all.iter().filter(|one| one.name == asked.name);
        result = match same().filter(|one| one.declares).count() {
            0 => Err("nothing of this name is declared".to_owned()),
            1 => f(&Found {
                name: asked.name,
                asked: asked.span,
                places: same().map(|one| one.span).collect(),
            }),
            _ => Err("two steps have this id; give one of them another id first".to_owned()),
        };
    });
    result
}

/// Whether a name may be given.
fn allowed(resolved: &Resolved<'_>, name: Name<'_>, new: &str) -> Result<(), String> {
    let ast = resolved.ast;
    match name {
        Name::Step(old) => {
            if !is_kebab(new) {
                return Err(format!(
                    "`{new}` is no id: ids have lower-case letters, digits and single hyphens, begin with a letter, \
                     and have at most {MOST} characters"
                ));
            }
            let taken = resolved.flow.graph().node_weights().any(|node| node.name == new);
            refuse(taken && old != new, new, "a step or a place of the flow")
        }
        Name::Input(old) => {
            identifier(new)?;
            refuse(old != new && resolved.symbols.inputs.contains_key(new), new, "an input")
        }
        Name::Local(old) => {
            identifier(new)?;
            refuse(
                old != new && ast.agents.iter().any(|entry| entry.name.value == new),
                new,
                "a local agent",
            )?;
            refuse(old != new && is_written(ast, new), new, "an agent that is named without `agents`")
        }
        Name::Agent(_) | Name::Choice(..) | Name::Output(..) | Name::Field(_) | Name::Around(_) => {
            Err(NOTHING.to_owned())
        }
    }
}

fn refuse(taken: bool, new: &str, what: &str) -> Result<(), String> {
    if taken { Err(format!("`{new}` is already the name of {what}")) } else { Ok(()) }
}

/// Whether a reference would be caught by a local name.
fn is_written(ast: &ast::Workflow, name: &str) -> bool {
    let steps = flow::all_steps(&ast.steps);
    agent_references(ast, &steps).into_iter().skip(ast.agents.len()).any(|(written, _)| written == name)
}

fn is_kebab(name: &str) -> bool {
    name.len() <= MOST
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

fn identifier(name: &str) -> Result<(), String> {
    let fits = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits {
        return Ok(());
    }
    Err(format!(
        "`{name}` is no name: names have letters, digits, `_` and `-`, and begin with a letter or `_`"
    ))
}

/// The change at one place: quotes are kept, and set where YAML would read the new name as no text.
fn edit(source: &Source, inner: Span, new: &str, whole: Span) -> Result<Edit, String> {
    let written = source.slice(inner);
    if written.starts_with(['|', '>']) || written.contains(['\n', '\r']) {
        let line = source.position(inner.range().start).line;
        return Err(format!("the name is written as a block in line {line}; write it on one line first"));
    }
    let is_text_only = matches!(new.to_ascii_lowercase().as_str(), "true" | "false" | "null");
    let text = if is_text_only && inner == whole && is_scalar(source, inner) {
        format!("\"{new}\"")
    } else {
        new.to_owned()
    };
    Ok(Edit { span: inner, text })
}

/// Whether a place is a whole value and neither a key nor a part of a binding.
fn is_scalar(source: &Source, span: Span) -> bool {
    let before = source.text().get(..span.range().start).unwrap_or_default();
    let after = source.text().get(span.range().end..).unwrap_or_default();
    !before.ends_with('.') && !after.trim_start_matches([' ', '\t']).starts_with(':')
}
