//! Which of several alternatives was meant by a value that fits none of them. It never changes a verdict.

use super::Violation;
use super::judge::Judge;
use super::violation::{self, joined, keyword_of, pointer_of, shown, tell};
use jsonschema::ValidationError;
use serde_json::Value;

/// What one alternative says against the value.
struct Branch<'a, 'e> {
    number: usize,
    errors: &'a [ValidationError<'e>],
    /// It wants another kind of JSON.
    is_of_other_kind: bool,
    /// Names of the properties whose fixed value is another one: what tells alternatives apart.
    differs_at: Vec<Vec<String>>,
}

/// Tells what keeps a value from fitting the alternative that was meant; of all, if that cannot be seen.
pub(super) fn alternatives(
    judge: &Judge,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    out: &mut Vec<Violation>,
) {
    let here = pointer_of(error);
    let branches: Vec<_> =
        context.iter().enumerate().map(|(i, errors)| look(judge, &here, i + 1, errors)).collect();
    let of_kind: Vec<_> = branches.iter().filter(|branch| !branch.is_of_other_kind).collect();
    if of_kind.is_empty() {
        let mut kinds: Vec<String> = Vec::new();
        for (keyword, held) in context.iter().flatten().map(|error| keyword_of(judge, error)) {
            if let (true, Some(held)) = (keyword == "type", held) {
                let words = violation::types(held);
                if !kinds.contains(&words) {
                    kinds.push(words);
                }
            }
        }
        out.push(violation::violation(here, joined(&kinds, "or"), shown(error.instance())));
        return;
    }
    let meant: Vec<_> = of_kind.iter().filter(|branch| branch.differs_at.is_empty()).collect();
    match (of_kind.as_slice(), meant.as_slice()) {
        ([only], _) => say(judge, only, out),
        (_, [only]) => say(judge, only, out),
        (all, []) => discriminated(judge, &here, error.instance(), all, out),
        (_, several) => best(judge, &here, error.instance(), several, context.len(), out),
    }
}

fn look<'a, 'e>(
    judge: &Judge,
    here: &[String],
    number: usize,
    errors: &'a [ValidationError<'e>],
) -> Branch<'a, 'e> {
    let mut branch = Branch { number, errors, is_of_other_kind: false, differs_at: Vec::new() };
    for error in errors {
        let pointer = pointer_of(error);
        let (keyword, _) = keyword_of(judge, error);
        branch.is_of_other_kind |= pointer == here && keyword == "type";
        if matches!(keyword.as_str(), "const" | "enum") && pointer.len() == here.len() + 1 {
            branch.differs_at.push(pointer);
        }
    }
    branch
}

fn say(judge: &Judge, branch: &Branch<'_, '_>, out: &mut Vec<Violation>) {
    for error in branch.errors {
        tell(judge, error, out);
    }
}

/// Every alternative wants another fixed value: at the same property, it is one of those values.
fn discriminated(
    judge: &Judge,
    here: &[String],
    value: &Value,
    branches: &[&Branch<'_, '_>],
    out: &mut Vec<Violation>,
) {
    let shared = branches.first().into_iter().flat_map(|first| &first.differs_at);
    let shared =
        shared.into_iter().find(|pointer| branches.iter().all(|branch| branch.differs_at.contains(pointer)));
    let Some(pointer) = shared else {
        let refs: Vec<_> = branches.iter().collect();
        return best(judge, here, value, &refs, branches.len(), out);
    };
    let mut values: Vec<Value> = Vec::new();
    let mut found = &Value::Null;
    for error in
        branches.iter().flat_map(|branch| branch.errors).filter(|error| pointer_of(error) == *pointer)
    {
        found = error.instance();
        match keyword_of(judge, error) {
            (keyword, Some(Value::Array(all))) if keyword == "enum" => values.extend(all.iter().cloned()),
            (keyword, Some(one)) if keyword == "const" => values.push(one.clone()),
            (_, _) => {}
        }
    }
    values.dedup();
    out.push(violation::violation(pointer.clone(), violation::one_of(&values, found), shown(found)));
}

/// The alternative with the fewest and deepest objections; all in one sentence where each has one about the value.
fn best(
    judge: &Judge,
    here: &[String],
    value: &Value,
    branches: &[&&Branch<'_, '_>],
    count: usize,
    out: &mut Vec<Violation>,
) {
    let told: Vec<Vec<Violation>> = branches
        .iter()
        .map(|branch| {
            let mut told = Vec::new();
            say(judge, branch, &mut told);
            told
        })
        .collect();
    if told.iter().all(|told| matches!(told.as_slice(), [only] if only.pointer == here)) {
        let mut wanted: Vec<String> = Vec::new();
        for violation in told.iter().flatten() {
            if !wanted.contains(&violation.expected) {
                wanted.push(violation.expected.clone());
            }
        }
        wanted.truncate(8);
        out.push(violation::violation(here.to_vec(), joined(&wanted, "or"), shown(value)));
        return;
    }
    let depth = |told: &[Violation]| told.iter().map(|violation| violation.pointer.len()).max().unwrap_or(0);
    let nearest = branches.iter().zip(&told).min_by_key(|(_, told)| (told.len(), usize::MAX - depth(told)));
    if let Some((branch, told)) = nearest {
        let which = format!("by alternative {} of {count}, which is nearest", branch.number);
        out.extend(told.iter().map(|one| {
            violation::violation(
                one.pointer.clone(),
                format!("{} ({which})", one.expected),
                one.found.clone(),
            )
        }));
    }
}
