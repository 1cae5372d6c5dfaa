//! `optional-field`: a declared property that is not `required`.

use super::{bindings, types};
use crate::ast::Segment;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schema::{Schema, Walk};
use crate::source::Spanned;

/// A binding takes a part that need not be there.
pub static RULE: Rule = Rule {
    name: "optional-field",
    severity: Severity::Error,
    summary: "A binding takes a part that need not be there",
    page: include_str!("../../docs/diagnostics/optional-field.md"),
};

/// The finding at the first segment that need not be there.
#[must_use]
pub fn fault(schema: &Schema, rest: &[Spanned<Segment>]) -> Option<Diagnostic> {
    let first = (1..=rest.len()).find(|length| {
        let path = types::steps(rest.get(..*length).unwrap_or_default());
        matches!(schema.field(&path), Walk::Found { definite: false, .. })
    })?;
    let segment = rest.get(first - 1)?;
    let name = bindings::written(&segment.value);
    let found = Diagnostic::new(&RULE, segment.span, format!("`{name}` need not be there")).note("optional");
    Some(found.help(match &segment.value {
        Segment::Name(name) => format!("list `{name}` under `required` of its schema"),
        Segment::Index(index) => format!("demand so many items: `minItems: {}`", index.saturating_add(1)),
    }))
}
