//! The form of a schema: known keywords hold what they must, references stay inside, nothing is too deep or turns
//! in a circle. What passes here can be used: the library that judges values does not refuse it.

use super::keyword::{self, Shape};
use super::number::{self, Decimal};
use super::place::{self, Lost};
use super::{SchemaFault, circle, hint};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

pub(super) const DEPTH: usize = 32;
/// Characters of a number in a schema.
const NUMBER: usize = 1000;
pub(super) const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What is known of the form of a document.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// What is wrong.
    pub(super) faults: Vec<SchemaFault>,
    /// Addresses of the parts that are schemas.
    pub(super) schemas: HashSet<usize>,
    /// There are references or regular expressions.
    pub(super) is_intricate: bool,
    /// Regular expressions, each with its place and whether it is the name of it.
    expressions: Vec<(Vec<String>, bool, String)>,
}

impl Form {
    /// Reports every regular expression that is none. Each is tried alone, which is slow: only where something is
    /// known to be wrong.
    pub(super) fn try_expressions(&mut self) {
        for (pointer, is_name, text) in std::mem::take(&mut self.expressions) {
            if super::judge::is_expression(&text) {
                continue;
            }
            let what = hint::unbalanced(&text).map_or_else(String::new, |what| format!(": {what}"));
            let message = format!("`{}` is no regular expression{what}", super::violation::cut(&text, 80));
            self.faults.push(SchemaFault { pointer, is_name, message, meant: None });
        }
    }
}

/// The address of a part: parts of one document differ by it as long as the document stands still.
pub(super) fn address(part: &Value) -> usize {
    std::ptr::from_ref(part) as usize
}

pub(super) fn check(root: &Value) -> Form {
    let mut walk = Walk {
        root,
        form: Form::default(),
        path: Vec::new(),
        anchors: HashMap::new(),
        targets: Vec::new(),
        all: Vec::new(),
        has_references: false,
    };
    walk.schema(root);
    // What only references lead to is a schema too.
    while let Some((target, path)) = walk.targets.pop() {
        if !walk.form.schemas.contains(&address(target)) {
            walk.path = path;
            walk.schema(target);
        }
    }
    walk.form.is_intricate |= walk.has_references;
    let (mut form, all, has_references) = (walk.form, walk.all, walk.has_references);
    if form.faults.is_empty() && has_references {
        form.faults.extend(circle::find(root, &all));
    }
    form
}

struct Walk<'a> {
    root: &'a Value,
    form: Form,
    path: Vec<String>,
    anchors: HashMap<&'a str, String>,
    /// Where references lead, with the place.
    targets: Vec<(&'a Value, Vec<String>)>,
    /// Every schema, with the place.
    all: Vec<(&'a Value, Vec<String>)>,
    has_references: bool,
}

impl<'a> Walk<'a> {
    fn fault(&mut self, message: impl Into<String>) {
        self.fault_meant(message, None);
    }

    fn fault_meant(&mut self, message: impl Into<String>, meant: Option<&str>) {
        let meant = meant.map(str::to_owned);
        let (pointer, message) = (self.path.clone(), message.into());
        self.form.faults.push(SchemaFault { pointer, is_name: false, message, meant });
    }

    fn demand(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fault(message());
        }
    }

    fn at(&mut self, segment: &str, f: impl FnOnce(&mut Self)) {
        self.path.push(segment.to_owned());
        f(self);
        self.path.pop();
    }

    fn schema(&mut self, schema: &'a Value) {
        if self.path.len() > 2 * DEPTH {
            self.fault(format!("the schema is nested deeper than {DEPTH} levels"));
            return;
        }
        self.form.schemas.insert(address(schema));
        self.all.push((schema, self.path.clone()));
        match schema {
            Value::Bool(_) => {}
            Value::Object(map) => {
                for (key, value) in map {
                    if let Some(keyword) = keyword::find(key) {
                        self.at(key, |walk| walk.keyword(*keyword, value, map));
                    }
                }
            }
            Value::Null => {
                self.fault("a schema is an object, this is null; quote the word if a type was meant")
            }
            Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.fault("a schema is an object such as { type: string }");
            }
        }
    }

    fn keyword(&mut self, keyword: keyword::Keyword, value: &'a Value, around: &'a Map<String, Value>) {
        let key = keyword.name;
        match keyword.shape {
            Shape::Schema if key == "items" && value.is_array() => {
                self.fault("`items` is one schema for all items; a list of schemas is written `prefixItems`");
            }
            Shape::Schema => self.schema(value),
            Shape::SchemaMap => self.schema_map(key, value),
            Shape::PatternMap => self.pattern_map(key, value),
            Shape::SchemaList => self.schema_list(key, value),
            Shape::Types => self.types(value),
            Shape::Names => {
                if self.names(key, value) && key == "required" {
                    self.required(value, around);
                }
            }
            Shape::NameLists => self.name_lists(key, value),
            Shape::Values => self.values(key, value),
            Shape::List => self.demand(value.is_array(), || format!("`{key}` is a list")),
            Shape::Any => self.data(value),
            Shape::Count | Shape::Number | Shape::Positive => self.number(keyword, value),
            Shape::Boolean => self.demand(value.is_boolean(), || format!("`{key}` is true or false")),
            Shape::Pattern => self.pattern(value),
            Shape::Text => self.text(key, value, around),
            Shape::Reference => self.reference(value),
            Shape::Dialect => {
                let ours = value.as_str().map(|text| text.trim_end_matches('#')) == Some(DIALECT);
                self.demand(ours, || format!("schemas are draft 2020-12 ({DIALECT})"));
            }
            Shape::Anchor => self.anchor(value),
            Shape::Id => self.id(value),
            Shape::Refused(why) => self.fault(format!("`{key}` is not supported: {why}")),
        }
    }

    fn types(&mut self, value: &Value) {
        let one = |walk: &mut Self, value: &Value| match value.as_str() {
            Some(name) if TYPES.contains(&name) => {}
            Some(name) => match hint::nearest_type(name) {
                Some(near) => walk.fault_meant(format!("`{name}` is no type"), Some(near)),
                None => walk.fault(format!("`{name}` is no type; there is {}", TYPES.join(", "))),
            },
            None if value.is_null() => {
                walk.fault("this is an empty value, not the type `null`: quote it, \"null\"");
            }
            None => walk.fault(format!("a type is one of {}", TYPES.join(", "))),
        };
        let Some(items) = value.as_array() else { return one(self, value) };
        self.demand(!items.is_empty(), || "`type` lists no type, so nothing can fit".to_owned());
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| one(walk, item));
        }
        self.differ(items);
    }

    /// Reports texts that repeat.
    fn differ(&mut self, items: &[Value]) {
        let mut seen = HashSet::new();
        for (i, item) in items.iter().enumerate() {
            if let Some(name) = item.as_str().filter(|name| !seen.insert(*name)) {
                self.at(&i.to_string(), |walk| walk.fault(format!("`{name}` stands here twice")));
            }
        }
    }

    fn schema_map(&mut self, key: &str, value: &'a Value) {
        let Value::Object(map) = value else {
            self.fault(format!("`{key}` is a map of schemas"));
            return;
        };
        for (name, schema) in map {
            self.at(name, |walk| walk.schema(schema));
        }
    }

    fn pattern_map(&mut self, key: &str, value: &'a Value) {
        self.schema_map(key, value);
        for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
            self.at(name, |walk| walk.expression(name, true));
        }
    }

    fn schema_list(&mut self, key: &str, value: &'a Value) {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        self.demand(!items.is_empty(), || format!("`{key}` is a list of at least one schema"));
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| walk.schema(item));
        }
    }

    /// Whether it is a list of names.
    fn names(&mut self, key: &str, value: &Value) -> bool {
        let Value::Array(items) = value else {
            self.fault(format!("`{key}` is a list of property names"));
            return false;
        };
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| {
                walk.demand(item.is_string(), || "a property name is text".to_owned());
            });
        }
        self.differ(items);
        true
    }

    fn name_lists(&mut self, key: &str, value: &Value) {
        let Value::Object(map) = value else {
            self.fault(format!("`{key}` is a map from a property name to a list of property names"));
            return;
        };
        for (name, list) in map {
            self.at(name, |walk| {
                walk.names(key, list);
            });
        }
    }

    fn required(&mut self, value: &Value, around: &Map<String, Value>) {
        let closed = around.get("additionalProperties") == Some(&Value::Bool(false));
        let known = around.get("properties").and_then(Value::as_object);
        if !closed || around.contains_key("patternProperties") {
            return;
        }
        for (i, item) in value.as_array().into_iter().flatten().enumerate() {
            let Some(name) = item.as_str() else { continue };
            if known.is_none_or(|known| !known.contains_key(name)) {
                let is_required =
                    |known: &str| value.as_array().into_iter().flatten().any(|other| other == known);
                let names = known.into_iter().flat_map(|known| known.keys().map(String::as_str));
                let names = names.filter(|known| !is_required(known));
                let meant = keyword::near(name, names);
                self.at(&i.to_string(), |walk| {
                    walk.fault_meant(format!("`{name}` is required, but no such property is allowed"), meant);
                });
            }
        }
    }

    fn values(&mut self, key: &str, value: &Value) {
        let Some(items) = value.as_array() else {
            self.fault(format!("`{key}` is a list of values"));
            return;
        };
        self.demand(!items.is_empty(), || format!("`{key}` lists no value, so nothing can fit"));
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| {
                let twice = items.iter().take(i).any(|other| number::equal(other, item));
                walk.demand(!twice || i > 500, || format!("{item} stands here twice"));
                walk.data(item);
            });
        }
    }

    /// Numbers in data are compared by their digits, so there is an end to them.
    fn data(&mut self, value: &Value) {
        match value {
            Value::Number(number) => {
                let length = number.to_string().len();
                self.demand(length <= NUMBER, || {
                    format!("this number has {length} characters, at most {NUMBER} are read")
                });
            }
            Value::Array(items) => items.iter().for_each(|item| self.data(item)),
            Value::Object(map) => map.values().for_each(|item| self.data(item)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }

    fn number(&mut self, keyword: keyword::Keyword, value: &Value) {
        let key = keyword.name;
        let number = value.as_number().map(Decimal::of);
        let (holds, wanted) = if keyword.shape == Shape::Count {
            (number.is_some_and(|number| number.count().is_some()), "a whole number from 0")
        } else if keyword.shape == Shape::Positive {
            (number.is_some_and(|number| number.is_above_zero()), "a number above 0")
        } else {
            (number.is_some(), "a number")
        };
        self.demand(holds, || format!("`{key}` is {wanted}"));
        self.data(value);
    }

    fn pattern(&mut self, value: &Value) {
        match value.as_str() {
            Some(text) => self.expression(text, false),
            None => self.fault("`pattern` is a regular expression as text"),
        }
    }

    fn expression(&mut self, text: &str, is_name: bool) {
        self.form.is_intricate = true;
        self.form.expressions.push((self.path.clone(), is_name, text.to_owned()));
    }

    fn text(&mut self, key: &str, value: &Value, around: &Map<String, Value>) {
        self.demand(value.is_string(), || format!("`{key}` is text"));
        if key != "format" || value.as_str() != Some("artifact") {
            return;
        }
        let kind = around.get("type");
        let holds_text = |kind: &Value| kind.as_str().is_none_or(|name| name == "string");
        let fits = match kind {
            Some(Value::Array(names)) => names.iter().any(holds_text),
            Some(name) => holds_text(name),
            None => true,
        };
        self.demand(fits, || "an artifact is a reference, which is text: write `type: string`".to_owned());
    }

    fn anchor(&mut self, value: &'a Value) {
        let Some(name) = value.as_str().filter(|name| is_name(name)) else {
            self.fault("`$anchor` is a name: a letter or `_`, then letters, digits, `_`, `-` and `.`");
            return;
        };
        let here = place::pointer(&self.path);
        if let Some(first) = self.anchors.insert(name, here) {
            self.fault(format!("the anchor `{name}` stands at `{first}` too"));
        }
    }

    fn id(&mut self, value: &Value) {
        let outside = self.path.len() > 1;
        match value.as_str() {
            None => self.fault("`$id` is text"),
            Some(_) if outside => {
                self.fault(
                    "`$id` inside a schema would begin another document; only the outermost schema has one",
                );
            }
            Some(text) if text.trim_end_matches('#').contains('#') => {
                self.fault("`$id` names the whole document, so it has no `#`; a part is named by `$anchor`");
            }
            Some(_) => {}
        }
    }

    fn reference(&mut self, value: &Value) {
        let Some(text) = value.as_str() else {
            self.fault("`$ref` is text such as \"#/$defs/name\"");
            return;
        };
        match place::of_reference(self.root, text) {
            Err(Lost::Outside) => self.fault(format!(
                "`{text}` points out of the schema; only references such as \"#/$defs/name\" are followed"
            )),
            Err(Lost::Nothing) => self.fault(format!("`{text}` points to nothing")),
            Ok(path) => {
                if let Some(target) = place::at(self.root, &path) {
                    self.targets.push((target, path));
                    self.has_references = true;
                }
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
