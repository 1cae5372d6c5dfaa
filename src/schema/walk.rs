//! Walking a schema: to a field, to the kinds that it allows, to whether one fits where another is wanted.

use super::Schema;
use serde_json::Value;

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

    fn of(name: &str) -> Self {
        let name = if name == "integer" { "number" } else { name };
        Self(NAMES.iter().position(|known| *known == name).map_or(0, |bit| 1 << bit))
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
    /// Walks to a field.
    #[must_use]
    pub fn field(&self, path: &[Step<'_>]) -> Walk {
        let root = self.json();
        let mut at = root;
        let mut definite = true;
        for (i, step) in path.iter().enumerate() {
            at = follow(root, at);
            if has_alternatives(at) {
                return Walk::Open;
            }
            match step_into(at, *step) {
                Stepped::To(next, sure) => {
                    at = next;
                    definite &= sure;
                }
                Stepped::Unknown(known) => return Walk::Unknown { at: i, known },
                Stepped::No(what) => return Walk::NotAContainer { at: i, what },
                Stepped::Open => return Walk::Open,
            }
        }
        Walk::Found { schema: self.sub(follow(root, at)), definite }
    }

    /// A part as a schema of its own that still finds its definitions.
    fn sub(&self, part: &Value) -> Schema {
        let mut json = part.clone();
        if let (Value::Object(map), Value::Object(root)) = (&mut json, self.json()) {
            for key in ["$defs", "definitions"] {
                if let (Some(defs), false) = (root.get(key), map.contains_key(key)) {
                    map.insert(key.to_owned(), defs.clone());
                }
            }
        }
        Schema { inner: std::sync::Arc::new(super::Inner { json, validator: std::sync::OnceLock::new() }) }
    }

    /// Kinds that it allows.
    #[must_use]
    pub fn kinds(&self) -> KindSet {
        kinds(self.json(), self.json())
    }

    /// All values that it allows, where it says so: `enum`, `const`, boolean.
    #[must_use]
    pub fn enumeration(&self) -> Option<Vec<Value>> {
        let at = follow(self.json(), self.json());
        if let Some(Value::Array(values)) = at.get("enum") {
            return Some(values.clone());
        }
        if let Some(value) = at.get("const") {
            return Some(vec![value.clone()]);
        }
        (at.get("type") == Some(&Value::String("boolean".to_owned())))
            .then(|| vec![true.into(), false.into()])
    }

    /// Whether values of `self` can fit `wanted`.
    #[must_use]
    pub fn fits(&self, wanted: &Schema) -> Fit {
        let (given, taken) = (self.kinds(), wanted.kinds());
        if given.and(taken).is_empty() {
            return Fit::No(format!("this is {}, {} is wanted", given.words(), taken.words()));
        }
        let whole = |schema: &Schema| {
            follow(schema.json(), schema.json()).get("type").and_then(Value::as_str) == Some("integer")
        };
        let fraction = |schema: &Schema| {
            follow(schema.json(), schema.json()).get("type").and_then(Value::as_str) == Some("number")
        };
        if whole(wanted) && fraction(self) {
            return Fit::No("this is any number, an integer is wanted".to_owned());
        }
        if let Some(values) = self.enumeration()
            && values.iter().all(|value| !wanted.validate(value).is_empty())
        {
            return Fit::No("none of its values fits".to_owned());
        }
        Fit::Maybe
    }
}

enum Stepped<'a> {
    To(&'a Value, bool),
    Unknown(Vec<String>),
    No(String),
    Open,
}

fn step_into<'a>(at: &'a Value, step: Step<'_>) -> Stepped<'a> {
    let kinds = kinds(at, at);
    match step {
        Step::Name(name) => {
            if kinds.and(KindSet::of("object")).is_empty() {
                return Stepped::No(kinds.words());
            }
            let Some(properties) = at.get("properties").and_then(Value::as_object) else {
                let closed = at.get("additionalProperties") == Some(&Value::Bool(false));
                return if closed { Stepped::Unknown(Vec::new()) } else { Stepped::Open };
            };
            let required = at.get("required").and_then(Value::as_array);
            let sure = required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)));
            match properties.get(name) {
                Some(next) => Stepped::To(next, sure),
                None => Stepped::Unknown(properties.keys().cloned().collect()),
            }
        }
        Step::Index(index) => {
            if kinds.and(KindSet::of("array")).is_empty() {
                return Stepped::No(kinds.words());
            }
            let least = at.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let sure = u64::from(index) < least;
            let prefix =
                at.get("prefixItems").and_then(Value::as_array).and_then(|items| items.get(index as usize));
            match prefix.or_else(|| at.get("items")) {
                Some(next) => Stepped::To(next, sure),
                None => Stepped::Open,
            }
        }
    }
}

/// Follows local references; circles of nothing but references were refused by the form.
fn follow<'a>(root: &'a Value, mut at: &'a Value) -> &'a Value {
    for _ in 0..64 {
        let next =
            at.get("$ref").and_then(Value::as_str).and_then(|text| root.pointer(text.strip_prefix('#')?));
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

fn has_alternatives(at: &Value) -> bool {
    ["anyOf", "oneOf", "allOf", "if", "patternProperties"].iter().any(|key| at.get(key).is_some())
}

/// Parts of a schema that are looked at for its kinds.
const PARTS: usize = 1000;

fn kinds(root: &Value, at: &Value) -> KindSet {
    kinds_within(root, at, 0, &mut { PARTS })
}

fn kinds_within(root: &Value, at: &Value, depth: usize, left: &mut usize) -> KindSet {
    // Alternatives that refer back to themselves multiply: past the budget nothing is known.
    if depth > 16 || *left == 0 {
        return KindSet::ANY;
    }
    *left -= 1;
    let at = follow(root, at);
    let mut set = match at.get("type") {
        Some(Value::String(name)) => KindSet::of(name),
        Some(Value::Array(names)) => {
            KindSet(names.iter().filter_map(Value::as_str).fold(0, |set, name| set | KindSet::of(name).0))
        }
        _ => KindSet::ANY,
    };
    let values = at
        .get("enum")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .or_else(|| at.get("const").map(std::slice::from_ref));
    if let Some(values) = values {
        set = set.and(KindSet(values.iter().fold(0, |set, value| set | kind_of(value).0)));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(parts)) = at.get(key) {
            set = set.and(KindSet(
                parts.iter().fold(0, |set, part| set | kinds_within(root, part, depth + 1, left).0),
            ));
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
