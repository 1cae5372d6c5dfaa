//! `near-miss-name`: two ids, inputs, agents, outputs or choices whose names differ in letter case, `-` and `_`
//! only, or two ids that one letter tells apart and of which one is never read.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Spanned;
use std::collections::{HashMap, HashSet};

/// Two names can hardly be told apart.
pub static RULE: Rule = Rule {
    name: "near-miss-name",
    severity: Severity::Warning,
    summary: "Two names can hardly be told apart",
    page: include_str!("../../docs/diagnostics/near-miss-name.md"),
};

/// Letters of the shortest name that is compared letter by letter.
const SHORTEST: usize = 5;

/// Reports the second name of each such pair.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let ast = cx.resolved.ast;
    let ids: Vec<_> = cx.resolved.flow.steps().filter_map(|(_, step)| step.id.as_ref()).collect();
    alike(&ids, "ids", out);
    alike(&ast.inputs.iter().map(|input| &input.name).collect::<Vec<_>>(), "inputs", out);
    alike(&ast.outputs.iter().map(|output| &output.name).collect::<Vec<_>>(), "outputs", out);
    alike(&ast.agents.iter().map(|agent| &agent.name).collect::<Vec<_>>(), "agents", out);
    for (_, step) in cx.resolved.flow.steps() {
        if let StepKind::Question(question) = &step.kind {
            let values: Vec<_> = question.choices.iter().map(|choice| &choice.value).collect();
            alike(&values, "choices", out);
        }
    }
    one_letter(&ids, &read(cx), out);
}

/// Names that are the same without case, `-` and `_`.
fn alike(names: &[&Spanned<String>], what: &str, out: &mut Vec<Diagnostic>) {
    let mut first: HashMap<String, &Spanned<String>> = HashMap::new();
    for name in names {
        let before = first.entry(bare(&name.value)).or_insert(name);
        if before.value == name.value {
            continue;
        }
        let message = format!("the {what} `{}` and `{}` differ in `-`, `_` or case only", before.value, name.value);
        out.push(pair(name, before, message));
    }
}

/// Ids of which one is never read and one letter makes the other.
fn one_letter(ids: &[&Spanned<String>], read: &HashSet<&str>, out: &mut Vec<Diagnostic>) {
    // Two names that one letter tells apart have a form in common from which one letter is left out.
    let mut forms: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut said = HashSet::new();
    for (i, id) in ids.iter().enumerate().filter(|(_, id)| id.value.len() >= SHORTEST) {
        for form in shorter(&id.value) {
            let others = forms.entry(form).or_default();
            for j in others.iter().copied().filter(|j| *j != i) {
                let Some(other) = ids.get(j) else { continue };
                let unread = !read.contains(id.value.as_str()) || !read.contains(other.value.as_str());
                if unread && confusable(&id.value, &other.value) && said.insert(i) {
                    let message = format!("one letter tells the ids `{}` and `{}` apart", other.value, id.value);
                    let mut found = pair(id, other, message);
                    found.severity = Severity::Hint;
                    out.push(found);
                }
            }
            if others.len() < 8 && others.last() != Some(&i) {
                others.push(i);
            }
        }
    }
}

fn pair(name: &Spanned<String>, before: &Spanned<String>, message: String) -> Diagnostic {
    Diagnostic::new(&RULE, name.span, message)
        .label(before.span, "the other")
        .help("give one of the two a name that cannot be mistaken")
}

fn bare(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// A number for the name, and one for each name that is left without one of its letters; what shares a number is
/// compared in full. A part with a digit is never mistaken for another, so nothing is left out there.
fn shorter(name: &str) -> impl Iterator<Item = u64> {
    let number = |left_out: Option<usize>| {
        let letters = name.bytes().enumerate().filter(|(at, _)| Some(*at) != left_out);
        letters.fold(0xcbf2_9ce4_8422_2325, |sum: u64, (_, byte)| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let parts = name.split_inclusive('-').scan(0, |end, part| {
        let start = *end;
        *end += part.len();
        Some((start..*end, has_digit(part)))
    });
    let letters = parts.filter(|(_, is_numbered)| !is_numbered).flat_map(|(range, _)| range);
    std::iter::once(number(None)).chain(letters.map(move |at| number(Some(at))))
}

fn has_digit(part: &str) -> bool {
    part.bytes().any(|byte| byte.is_ascii_digit())
}

/// One edit apart, and not in a number or a short part such as `plan-a` and `plan-b`.
fn confusable(one: &str, other: &str) -> bool {
    let mut parts = one.split('-').zip(other.split('-')).filter(|(a, b)| a != b);
    let Some((a, b)) = parts.next() else { return false };
    let is_told_apart = one.split('-').count() == other.split('-').count()
        && a.len().min(b.len()) > 2
        && !has_digit(a)
        && !has_digit(b);
    // The dear part last: most pairs are numbered.
    is_told_apart && strsim::damerau_levenshtein(one, other) == 1 && bare(one) != bare(other)
}

/// Ids that something refers to.
fn read<'a>(cx: &Context<'a, '_>) -> HashSet<&'a str> {
    let mut found: HashSet<&str> = cx
        .uses
        .iter()
        .filter(|one| matches!(one.binding.root.value.as_str(), "steps" | "previous"))
        .filter_map(|one| one.binding.path.first().map(super::bindings::name_of))
        .collect();
    for guarantee in &cx.resolved.ast.guarantees {
        match guarantee {
            ast::Guarantee::Accepted { before, accepted, .. } => {
                found.extend([before.value.as_str(), accepted.value.as_str()]);
            }
            ast::Guarantee::Answered { before, answered, .. } => {
                found.extend([before.value.as_str(), answered.value.as_str()]);
            }
            ast::Guarantee::AgentRunsBetweenWaits { .. } => {}
        }
    }
    found
}
