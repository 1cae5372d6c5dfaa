//! What the rules look at, without their judgement: facts and schemas for what editors ask.

use crate::ast::Segment;
use crate::check::{Context, bindings, types};
use crate::schema::{Schema, Step, Walk};
use crate::source::Spanned;

/// The schemas of what a binding takes; several for a pick, none if nothing is known.
pub(super) fn schemas_of<'a>(cx: &Context<'a, '_>, one: &bindings::Use<'a>) -> Vec<Schema> {
    let taken = types::taken(cx, one);
    below(taken.whole, taken.rest)
}

/// The schemas of a part of a value.
pub(super) fn below(whole: types::Known, rest: &[Spanned<Segment>]) -> Vec<Schema> {
    let path = types::steps(rest);
    let mut found = Vec::new();
    flatten(whole, &path, &mut found);
    found
}

fn flatten(known: types::Known, path: &[Step<'_>], found: &mut Vec<Schema>) {
    match known {
        types::Known::Schema(schema) => {
            if let Walk::Found { schema, .. } = schema.field(path) {
                found.push(schema);
            }
        }
        types::Known::OneOf(all) => all.into_iter().for_each(|one| flatten(one, path, found)),
        types::Known::AnyObject | types::Known::Nothing => {}
    }
}
