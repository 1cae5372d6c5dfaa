//! Declarations and uses of what stands at a place, across the workflow and its agent files.

use super::names::{self, Name};
use super::{Analysis, At, Symbol};
use crate::source::Span;

/// What the name at a place stands for.
#[must_use]
pub fn symbol(analysis: &Analysis, at: At) -> Option<Symbol> {
    let mut symbol = None;
    names::sayings(analysis, at, &mut |all| {
        let touched = all.iter().filter(|one| one.span.file == at.file && one.span.touches(at.offset));
        let Some(asked) = touched.map(|one| one.span).min_by_key(|span| span.len()) else { return };
        let meant: Vec<Name<'_>> = all.iter().filter(|one| one.span == asked).map(|one| one.name).collect();
        let places = |declares: bool| {
            let fitting = all.iter().filter(|one| one.declares == declares && meant.contains(&one.name));
            let mut spans: Vec<Span> =
                fitting.map(|one| names::inner(analysis.sources(), one.span)).collect();
            spans.sort();
            spans.dedup();
            spans
        };
        let declared = places(true);
        let used = places(false).into_iter().filter(|span| !declared.contains(span)).collect();
        symbol =
            Some(Symbol { asked: names::inner_at(analysis.sources(), asked, at.offset), declared, used });
    });
    symbol
}
