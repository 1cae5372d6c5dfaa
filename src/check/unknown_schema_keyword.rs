//! `unknown-schema-keyword`: a word in a schema that is none of its keywords and is surely meant for one. JSON Schema
//! passes over unknown words in silence, so the rule that was meant does not hold.

use super::invalid_schema;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schema::keyword::{self, Shape};
use crate::source::Spanned;
use crate::tree::{Node, Value};

/// A schema has a word that is no keyword.
pub static RULE: Rule = Rule {
    name: "unknown-schema-keyword",
    severity: Severity::Warning,
    summary: "A schema has a word that is no keyword",
    page: include_str!("../../docs/diagnostics/unknown-schema-keyword.md"),
};

/// Words of other languages, and what to write in a schema.
const FOREIGN: [(&str, &str); 6] = [
    ("nullable", "list `\"null\"` among the types: `type: [string, \"null\"]`"),
    ("optional", "leave the property out of `required`"),
    ("values", "list the values under `enum`"),
    ("default_value", "write `default`"),
    ("id", "write `$id`, or `title` for people"),
    ("discriminator", "give the property a `const` in each alternative of `oneOf`"),
];

/// Looks at one schema and at those within it.
pub fn check_schema(schema: &Node, out: &mut Vec<Diagnostic>) {
    each_schema(schema, &mut |schema| {
        for entry in schema.entries() {
            if keyword::find(&entry.key.value).is_none() {
                out.extend(fault(&entry.key, schema));
            }
        }
    });
}

fn fault(key: &Spanned<String>, schema: &Node) -> Option<Diagnostic> {
    let name = key.value.as_str();
    if name.starts_with("x-") || name.is_empty() {
        return None;
    }
    let found = Diagnostic::new(&RULE, key.span, format!("`{name}` is no keyword of JSON Schema and says nothing"));
    if let Some((_, instead)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
        return Some(found.help(*instead));
    }
    let near = keyword::nearest(name)?;
    if schema.get(near).is_some() {
        return Some(found.help(format!("did you mean `{near}`, which stands here too?")));
    }
    Some(found.suggest(name, Some(near), invalid_schema::inner(key)))
}

/// Calls for a schema and every schema inside it.
pub(super) fn each_schema<'a>(schema: &'a Node, f: &mut dyn FnMut(&'a Node)) {
    f(schema);
    for entry in schema.entries() {
        let Some(keyword) = keyword::find(&entry.key.value) else { continue };
        match (keyword.shape, &entry.value.value) {
            (Shape::Schema, _) => each_schema(&entry.value, f),
            (Shape::SchemaMap | Shape::PatternMap, Value::Map(entries)) => {
                entries.iter().for_each(|entry| each_schema(&entry.value, f));
            }
            (Shape::SchemaList, Value::List(items)) => items.iter().for_each(|item| each_schema(item, f)),
            (_, _) => {}
        }
    }
}
