//! Values that are made up for schemas: results of agents and inputs, one for each way that a switch can go by them.

use crate::ir::{self, EdgeKind, NodeKind, Root, Segment};
use crate::schema::Schema;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// A text that is made up.
const TEXT: &str = "owner";
/// How deep a value is made up.
const DEPTH: u32 = 12;
/// Parts of a value at most.
const PARTS: usize = 1000;
/// The longest text or list that is made up.
const LONGEST: usize = 1000;
/// Different values for one schema at most.
const MOST: usize = 64;

/// What was made up, and what could not be.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// By step: words for the label, and a result.
    results: IndexMap<String, Vec<(String, Value)>>,
    gaps: Vec<String>,
}

/// A place that a switch looks at, and the values of its cases.
struct Looked<'a> {
    rest: &'a [Segment],
    cases: Vec<String>,
}

impl Made {
    /// Results for every stage.
    pub(super) fn of(ir: &ir::Workflow) -> Self {
        let mut made = Self::default();
        for (_, node) in ir.graph().nodes() {
            let NodeKind::Agent(stage) = &node.kind else { continue };
            let schema = stage.result.clone().unwrap_or_else(|| json!({ "type": "object" }));
            let looked = looked(ir, |root| {
                matches!(root, Root::Step { node: name, output } | Root::Previous { node: name, output }
                    if *name == node.name && output == "result")
            });
            let all = variants(&schema, &looked);
            if all.is_empty() {
                made.miss(format!("no result of `{}` can be made up that fits its schema", node.name));
            }
            made.results.insert(node.name.clone(), all);
        }
        made
    }

    /// The results of a stage.
    pub(super) fn results(&self, node: &str) -> &[(String, Value)] {
        self.results.get(node).map(Vec::as_slice).unwrap_or_default()
    }

    /// Inputs of the workflow; a declared default is taken where no switch looks.
    pub(super) fn inputs(&mut self, ir: &ir::Workflow) -> Vec<IndexMap<String, Value>> {
        let mut all = vec![IndexMap::new()];
        for (name, input) in ir.inputs() {
            let looked = looked(ir, |root| matches!(root, Root::Input(other) if other == name));
            let mut values: Vec<Value> =
                variants(&input.schema, &looked).into_iter().map(|(_, value)| value).collect();
            if let (Some(default), true) = (&input.default, looked.is_empty()) {
                values = vec![default.clone()];
            }
            if values.is_empty() {
                self.miss(format!("no input `{name}` can be made up that fits its schema"));
            }
            let mut more = Vec::new();
            for known in &all {
                for value in &values {
                    let mut next: IndexMap<String, Value> = known.clone();
                    next.insert(name.clone(), value.clone());
                    more.push(next);
                }
            }
            more.truncate(MOST);
            all = more;
        }
        all
    }

    /// Notes what could not be made up.
    pub(super) fn miss(&mut self, sentence: String) {
        self.gaps.push(sentence);
    }

    pub(super) fn gaps(&self) -> Vec<String> {
        self.gaps.clone()
    }
}

/// The places of a value that switches look at.
fn looked(ir: &ir::Workflow, is_it: impl Fn(&Root) -> bool) -> Vec<Looked<'_>> {
    let mut all = Vec::new();
    for (_, node) in ir.graph().nodes() {
        let NodeKind::Switch { on } = &node.kind else { continue };
        if !is_it(&on.root) {
            continue;
        }
        let edges = ir.graph().leaving(&node.name);
        let cases = edges.into_iter().filter_map(|(edge, _)| match &edge.kind {
            EdgeKind::Case(text) => Some(text.clone()),
            EdgeKind::Next
            | EdgeKind::Choice(_)
            | EdgeKind::Default
            | EdgeKind::Body
            | EdgeKind::On(_)
            | EdgeKind::GateAborted(_)
            | EdgeKind::GateDeadline(_)
            | EdgeKind::Deadline
            | EdgeKind::Exhausted
            | EdgeKind::Resume => None,
        });
        all.push(Looked { rest: &on.rest, cases: cases.collect() });
    }
    all
}

/// Fitting values: the plain one, and one for each way of each switch. The words tell them apart.
fn variants(schema: &Value, looked: &[Looked<'_>]) -> Vec<(String, Value)> {
    let plain = Maker { root: schema, left: PARTS }.value(schema, DEPTH);
    let mut all = vec![(String::new(), plain)];
    for place in looked {
        let mut more = Vec::new();
        for (word, base) in &all {
            for case in place.cases.iter().map(Some).chain([None]) {
                let Some(case) = case else {
                    more.push((word.clone(), base.clone()));
                    continue;
                };
                let mut next = base.clone();
                if let Some(at) = reach(&mut next, place.rest) {
                    *at = of_kind(at, case);
                    more.push((format!("{word} {case}"), next));
                }
            }
        }
        more.truncate(MOST);
        all = more;
    }
    let compiled = Schema::compile(schema).ok();
    let fits = |value: &Value| compiled.as_ref().is_none_or(|schema| schema.validate(value).is_empty());
    let mut kept: Vec<(String, Value)> = Vec::new();
    // A plain value that equals one of the cases is that case: those with words come first.
    all.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    for (word, value) in all {
        if fits(&value) && !kept.iter().any(|(_, known)| *known == value) {
            kept.push((word, value));
        }
    }
    kept.sort_by(|one, other| one.0.cmp(&other.0));
    kept
}

/// The place in a value; objects on the way are made.
fn reach<'a>(value: &'a mut Value, rest: &[Segment]) -> Option<&'a mut Value> {
    let mut at = value;
    for segment in rest {
        at = match segment {
            Segment::Name(name) => at.as_object_mut()?.entry(name.clone()).or_insert(Value::Null),
            Segment::Index(index) => at.get_mut(*index as usize)?,
        };
    }
    Some(at)
}

/// The text of a case as a value of the kind that stands there.
fn of_kind(there: &Value, text: &str) -> Value {
    match there {
        Value::Bool(_) | Value::Number(_) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
        }
        Value::Null => match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::String(text.to_owned()),
        },
        Value::String(_) | Value::Array(_) | Value::Object(_) => Value::String(text.to_owned()),
    }
}

/// Makes values up, of so many parts at most: a schema may refer to itself many times over.
struct Maker<'a> {
    root: &'a Value,
    left: usize,
}

impl Maker<'_> {
    /// A value that fits most schemas; whether it fits is judged elsewhere.
    fn value(&mut self, schema: &Value, depth: u32) -> Value {
        let Some(left) = self.left.checked_sub(1) else { return Value::Null };
        self.left = left;
        let Some(map) = schema.as_object().filter(|_| depth > 0) else { return Value::Null };
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(target.trim_start_matches('#'));
            return target.map_or(Value::Null, |target| self.value(target, depth - 1));
        }
        let first = |key: &str| map.get(key).and_then(|list| list.get(0));
        if let Some(given) = map.get("const").or_else(|| first("enum")) {
            return given.clone();
        }
        if let Some(given) = map.get("default").or_else(|| first("examples")) {
            return given.clone();
        }
        if let Some(branch) = first("oneOf").or_else(|| first("anyOf")).or_else(|| first("allOf")) {
            return self.value(branch, depth - 1);
        }
        let kind = match map.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
            Some(Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_)) | None => "",
        };
        self.of_kind(kind, map, depth)
    }

    fn of_kind(&mut self, kind: &str, schema: &Map<String, Value>, depth: u32) -> Value {
        let number = |key: &str| {
            let number = schema.get(key).and_then(Value::as_u64).unwrap_or(0);
            usize::try_from(number).unwrap_or(usize::MAX).min(LONGEST)
        };
        match kind {
            // The one text that names a person wherever respondents are read from a value.
            "string" => Value::String(format!("{TEXT:x<0$}", number("minLength"))),
            "boolean" => Value::Bool(false),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
            "array" => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                let mut list = Vec::new();
                while list.len() < number("minItems") && self.left > 0 {
                    list.push(self.value(items, depth - 1));
                }
                Value::Array(list)
            }
            "null" => Value::Null,
            _ => self.object(schema, depth),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: u32) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let made = names.map(|name| {
            let schema = properties.and_then(|properties| properties.get(name));
            (name.to_owned(), schema.map_or(Value::Null, |schema| self.value(schema, depth - 1)))
        });
        Value::Object(made.collect())
    }
}
