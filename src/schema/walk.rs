//! Walking a schema: to a field, to the kinds that it allows, to whether one fits where another is wanted.

use super::step::{self, Place, Stepped};
use super::{Schema, form, judge, place};
use serde_json::{Value, json};
use std::sync::Arc;

/// One step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// `.name`
    Name(&'a str),
    /// `[0]`
    Index(u32),
}

/// Where a walk came to.
#[derive(Clone, Debug)]
pub enum Walk {
    /// There is a schema.
    Found {
        /// It, with the definitions that it refers to.
        schema: Schema,
        /// Whether each value of the outer schema surely has the field.
        definite: bool,
    },
    /// A name that is not declared.
    Unknown {
        /// Index of the step that failed.
        at: usize,
        /// Names that are declared there.
        known: Vec<String>,
    },
    /// A step into something that has no such parts.
    NotAContainer {
        /// Index of the step that failed.
        at: usize,
        /// What it is, in words.
        what: String,
    },
    /// The schema does not say (no properties declared at all, or alternatives).
    Open,
}

/// Kinds of JSON values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindSet(u8);

const NAMES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

impl KindSet {
    /// Every kind.
    pub const ANY: Self = Self(0x3f);

    pub(super) fn of(name: &str) -> Self {
        let name = if name == "integer" { "number" } else { name };
        Self(NAMES.iter().position(|known| *known == name).map_or(0, |bit| 1 << bit))
    }

    /// Kinds in either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Kinds in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether only scalars that a switch can look at are left.
    #[must_use]
    pub fn is_switchable(self) -> bool {
        self.and(Self(0b11_0001)).is_empty()
    }

    /// `a string or a number`.
    #[must_use]
    pub fn words(self) -> String {
        let names: Vec<_> = NAMES
            .iter()
            .enumerate()
            .filter(|(bit, _)| self.0 & (1 << bit) != 0)
            .map(|(_, name)| *name)
            .collect();
        if names.len() == NAMES.len() { "anything".to_owned() } else { names.join(" or ") }
    }
}

/// Whether values of one schema fit another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Some may.
    Maybe,
    /// None can, for this reason.
    No(String),
}

impl Schema {
    /// Walks to a field: through references, `allOf`, and all alternatives at once.
    #[must_use]
    pub fn field(&self, path: &[Step<'_>]) -> Walk {
        let root = self.document();
        let mut at = vec![Place { schema: self.json(), path: self.inner.at.clone() }];
        let mut definite = true;
        for (i, step) in path.iter().enumerate() {
            match step::all(root, &at, *step) {
                Stepped::To(next, sure) => {
                    at = next;
                    definite &= sure;
                }
                Stepped::Unknown(known) => return Walk::Unknown { at: i, known },
                Stepped::No(what) => return Walk::NotAContainer { at: i, what: what.words() },
                Stepped::Open => return Walk::Open,
            }
        }
        Walk::Found { schema: self.union(at), definite }
    }

    /// One schema of the places of this document where a value may be declared.
    fn union(&self, mut places: Vec<Place<'_>>) -> Self {
        if places.len() < 2
            && let Some(only) = places.pop()
        {
            return Self::part(&self.inner.root, only.path);
        }
        let schemas = form::check(self.document()).schemas;
        let parts: Vec<_> = places.iter().map(|place| judge::whole_reference(&place.path)).collect();
        let root = json!({
            "anyOf": parts.iter().map(|text| json!({ "$ref": text })).collect::<Vec<_>>(),
            "$defs": { "whole": judge::copy_of(self.document(), &schemas) },
        });
        Self::part(&Arc::new(root), Vec::new())
    }

    /// Kinds that it allows.
    #[must_use]
    pub fn kinds(&self) -> KindSet {
        kinds(self.document(), self.json())
    }

    /// All values that it allows, where it says so: `enum`, `const`, boolean, or alternatives that all do.
    #[must_use]
    pub fn enumeration(&self) -> Option<Vec<Value>> {
        let mut values = enumeration(self.document(), self.json(), 0)?;
        let kinds = self.kinds();
        values.retain(|value| !kind_of(value).and(kinds).is_empty());
        Some(values)
    }

    /// Whether values of `self` can fit `wanted`.
    #[must_use]
    pub fn fits(&self, wanted: &Schema) -> Fit {
        let (given, taken) = (self.kinds(), wanted.kinds());
        if given.and(taken).is_empty() {
            return Fit::No(format!("this is {}, {} is wanted", given.words(), taken.words()));
        }
        let values = self.enumeration();
        let only =
            |schema: &Schema, name: &str| schema.target().get("type").and_then(Value::as_str) == Some(name);
        let any_number = values.is_none() && self.target().get("multipleOf").is_none();
        if only(wanted, "integer") && only(self, "number") && any_number {
            return Fit::No("this is any number, an integer is wanted".to_owned());
        }
        if let Some(values) = values
            && values.iter().all(|value| !wanted.validate(value).is_empty())
        {
            return Fit::No("none of its values fits".to_owned());
        }
        Fit::Maybe
    }
}

/// Follows references; circles of nothing but references were refused by the form.
pub(super) fn follow<'a>(root: &'a Value, mut at: &'a Value) -> &'a Value {
    for _ in 0..64 {
        match at.get("$ref").and_then(Value::as_str).and_then(|text| place::target(root, text)) {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

/// Parts of a schema that are looked at for its kinds.
const PARTS: usize = 1000;
/// Values of an enumeration that are kept.
const VALUES: usize = 1000;

fn enumeration(root: &Value, at: &Value, depth: usize) -> Option<Vec<Value>> {
    if depth > 16 {
        return None;
    }
    let all = step::conjuncts(root, Place { schema: at, path: Vec::new() });
    for part in all.iter().map(|place| place.schema) {
        if let Some(Value::Array(values)) = part.get("enum") {
            return Some(values.clone());
        }
        if let Some(value) = part.get("const") {
            return Some(vec![value.clone()]);
        }
    }
    for part in all.iter().map(|place| place.schema) {
        if part.get("type").and_then(Value::as_str) == Some("boolean") {
            return Some(vec![true.into(), false.into()]);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = part.get(key) else { continue };
            let each: Option<Vec<_>> =
                branches.iter().map(|branch| enumeration(root, branch, depth + 1)).collect();
            let values: Vec<Value> = each.into_iter().flatten().flatten().collect();
            if !values.is_empty() && values.len() <= VALUES {
                return Some(values);
            }
        }
    }
    None
}

pub(super) fn kinds(root: &Value, at: &Value) -> KindSet {
    kinds_within(root, at, 0, &mut { PARTS })
}

fn kinds_within(root: &Value, at: &Value, depth: usize, left: &mut usize) -> KindSet {
    // Alternatives that refer back to themselves multiply: past the budget nothing is known.
    if depth > 16 || *left == 0 {
        return KindSet::ANY;
    }
    *left -= 1;
    let mut set = match at.get("type") {
        Some(Value::String(name)) => KindSet::of(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).fold(KindSet(0), |set, name| set.or(KindSet::of(name)))
        }
        _ => KindSet::ANY,
    };
    let values = at
        .get("enum")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .or_else(|| at.get("const").map(std::slice::from_ref));
    if let Some(values) = values {
        set = set.and(values.iter().fold(KindSet(0), |set, value| set.or(kind_of(value))));
    }
    if let Some(target) = at.get("$ref").and_then(Value::as_str).and_then(|text| place::target(root, text)) {
        set = set.and(kinds_within(root, target, depth + 1, left));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(parts)) = at.get(key) {
            set = set.and(
                parts.iter().fold(KindSet(0), |set, part| set.or(kinds_within(root, part, depth + 1, left))),
            );
        }
    }
    if let Some(Value::Array(parts)) = at.get("allOf") {
        set = parts.iter().fold(set, |set, part| set.and(kinds_within(root, part, depth + 1, left)));
    }
    set
}

fn kind_of(value: &Value) -> KindSet {
    KindSet::of(match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    })
}
