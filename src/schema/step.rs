//! One step of a walk into a value: through references, `allOf`, and all alternatives at once.

use super::form::address;
use super::number::Decimal;
use super::place;
use super::walk::{KindSet, Step, kinds};
use serde_json::Value;
use std::collections::HashSet;

/// Schemas that are looked at for one step.
const MOST: usize = 200;

/// A schema and where it stands in its document.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) schema: &'a Value,
    pub(super) path: Vec<String>,
}

/// Where a step leads.
#[derive(Debug)]
pub(super) enum Stepped<'a> {
    /// To one of these; whether it is surely there.
    To(Vec<Place<'a>>, bool),
    /// A name that is not declared, and those that are.
    Unknown(Vec<String>),
    /// There are no parts in this.
    No(KindSet),
    /// The schema does not say.
    Open,
}

/// A step from any of several places.
pub(super) fn all<'a>(root: &'a Value, places: &[Place<'a>], step: Step<'_>) -> Stepped<'a> {
    let mut left = MOST;
    join(places.iter().map(|place| one(root, place, step, &mut left)).collect())
}

/// The schemas that all judge the value of this one: it, what it refers to, and their `allOf`.
pub(super) fn conjuncts<'a>(root: &'a Value, place: Place<'a>) -> Vec<Place<'a>> {
    let mut seen = HashSet::new();
    let mut open = vec![place];
    let mut found = Vec::new();
    while let Some(place) = open.pop() {
        if !seen.insert(address(place.schema)) || seen.len() > MOST {
            continue;
        }
        let reference = place.schema.get("$ref").and_then(Value::as_str);
        if let Some(path) = reference.and_then(|text| place::of_reference(root, text).ok())
            && let Some(schema) = place::at(root, &path)
        {
            open.push(Place { schema, path });
        }
        open.extend(branches(&place, "allOf"));
        found.push(place);
    }
    found
}

fn branches<'a>(place: &Place<'a>, key: &str) -> Vec<Place<'a>> {
    let parts = place.schema.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    parts.map(|(i, schema)| Place { schema, path: below(place, &[key, &i.to_string()]) }).collect()
}

fn below(place: &Place<'_>, more: &[&str]) -> Vec<String> {
    place.path.iter().cloned().chain(more.iter().map(|segment| (*segment).to_owned())).collect()
}

/// What several alternatives say together.
fn join(all: Vec<Stepped<'_>>) -> Stepped<'_> {
    let mut to: Vec<Place<'_>> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let (mut sure, mut is_open, mut lacks) = (true, false, false);
    let mut kinds: Option<KindSet> = None;
    for one in all {
        match one {
            Stepped::To(places, definite) => {
                sure &= definite;
                for place in places {
                    if !to.iter().any(|other| other.schema == place.schema) {
                        to.push(place);
                    }
                }
            }
            Stepped::Unknown(names) => {
                lacks = true;
                known.extend(names.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>());
            }
            Stepped::No(set) => kinds = Some(kinds.map_or(set, |kinds| kinds.or(set))),
            Stepped::Open => is_open = true,
        }
    }
    if is_open {
        return Stepped::Open;
    }
    if !to.is_empty() {
        // Some alternatives have it and others not: it is optional.
        return Stepped::To(to, sure && !lacks && kinds.is_none());
    }
    match kinds {
        Some(kinds) if !lacks => Stepped::No(kinds),
        Some(_) | None => Stepped::Unknown(known),
    }
}

fn one<'a>(root: &'a Value, place: &Place<'a>, step: Step<'_>, left: &mut usize) -> Stepped<'a> {
    if *left == 0 {
        return Stepped::Open;
    }
    *left -= 1;
    let kinds = kinds(root, place.schema);
    let container = match step {
        Step::Name(_) => "object",
        Step::Index(_) => "array",
    };
    if kinds.and(KindSet::of(container)).is_empty() {
        return Stepped::No(kinds);
    }
    let all = conjuncts(root, place.clone());
    // Where no kind is said, a container is meant; where another kind is allowed beside it, nothing is sure.
    let is_container = kinds == KindSet::of(container) || kinds == KindSet::ANY;
    let sure = is_container && is_required(root, &all, step, 0);
    let declared: Vec<_> = all.iter().filter_map(|place| declared(place, step)).collect();
    if !declared.is_empty() {
        return Stepped::To(most_telling(declared), sure);
    }
    for key in ["oneOf", "anyOf"] {
        let inner: Vec<_> =
            all.iter().map(|place| branches(place, key)).find(|inner| !inner.is_empty()).unwrap_or_default();
        if !inner.is_empty() {
            let stepped = join(inner.iter().map(|place| one(root, place, step, left)).collect());
            return match stepped {
                Stepped::To(places, definite) => Stepped::To(places, definite || sure),
                other @ (Stepped::Unknown(_) | Stepped::No(_) | Stepped::Open) => other,
            };
        }
    }
    match step {
        Step::Name(_) => undeclared(&all),
        Step::Index(_) => Stepped::Open,
    }
}

/// What a schema does not declare: unknown where it declares other names or forbids them, else it does not say.
fn undeclared<'a>(all: &[Place<'_>]) -> Stepped<'a> {
    let has = |key: &str| all.iter().any(|place| place.schema.get(key).is_some());
    if ["if", "patternProperties", "dependentSchemas"].iter().any(|key| has(key)) {
        return Stepped::Open;
    }
    let shut = Some(&Value::Bool(false));
    let is_closed = all.iter().any(|place| place.schema.get("additionalProperties") == shut);
    if !is_closed && !has("properties") {
        return Stepped::Open;
    }
    let names = all.iter().filter_map(|place| place.schema.get("properties").and_then(Value::as_object));
    Stepped::Unknown(names.flat_map(|map| map.keys().cloned()).collect())
}

fn declared<'a>(place: &Place<'a>, step: Step<'_>) -> Option<Place<'a>> {
    match step {
        Step::Name(name) => {
            let schema = place.schema.get("properties")?.get(name)?;
            Some(Place { schema, path: below(place, &["properties", name]) })
        }
        Step::Index(index) => {
            let text = index.to_string();
            let prefix = place.schema.get("prefixItems").and_then(|items| items.get(index as usize));
            if let Some(schema) = prefix {
                return Some(Place { schema, path: below(place, &["prefixItems", &text]) });
            }
            let schema = place.schema.get("items")?;
            Some(Place { schema, path: below(place, &["items"]) })
        }
    }
}

/// Of several declarations of one value, the one that says most.
fn most_telling(declared: Vec<Place<'_>>) -> Vec<Place<'_>> {
    let has = |place: &&Place<'_>, keys: &[&str]| keys.iter().any(|key| place.schema.get(*key).is_some());
    let closed = declared.iter().find(|place| has(place, &["enum", "const"]));
    let deep =
        || declared.iter().find(|place| has(place, &["properties", "items", "$ref", "anyOf", "oneOf"]));
    closed.or_else(deep).or(declared.first()).cloned().into_iter().collect()
}

/// Whether the schemas together want the part: one of them, or every alternative of one.
fn is_required(root: &Value, all: &[Place<'_>], step: Step<'_>, depth: usize) -> bool {
    if depth > 4 {
        return false;
    }
    all.iter().any(|place| {
        is_sure(place.schema, step)
            || ["oneOf", "anyOf"].iter().any(|key| {
                let inner = branches(place, key);
                let each = |branch: Place<'_>| is_required(root, &conjuncts(root, branch), step, depth + 1);
                !inner.is_empty() && inner.into_iter().all(each)
            })
    })
}

fn is_sure(schema: &Value, step: Step<'_>) -> bool {
    match step {
        Step::Name(name) => {
            let required = schema.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
        }
        Step::Index(index) => {
            let least = schema
                .get("minItems")
                .and_then(Value::as_number)
                .and_then(|least| Decimal::of(least).count());
            least.is_some_and(|least| u64::from(index) < least)
        }
    }
}
