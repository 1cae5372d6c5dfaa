//! What stands at a place of a document by the table of the language: the way from the root of the tree down to a
//! byte, each level with the role that the grammar gives it. Looks at keys and shapes, never at meanings.

use crate::grammar::{self, Context, Key, Shape};
use crate::source::Span;
use crate::tree::{Entry, Node, Value};

/// What a node of the tree is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A whole workflow.
    Workflow,
    /// A whole agent file, perhaps in its wrapping.
    AgentFile,
    /// One step.
    Step,
    /// One gate.
    Gate,
    /// A label, or a map that is a choice.
    Choice,
    /// A JSON Schema.
    Schema,
    /// The value of a keyword of a schema that is no schema.
    Keyword,
    /// The value of `type` in a schema.
    SchemaType,
    /// The value of `required` in a schema.
    SchemaRequired,
    /// An item of `required`.
    RequiredName,
    /// A list of schemas.
    SchemaList,
    /// What a local name for an agent stands for.
    Reference,
    /// The value of a key of a context.
    Of(&'static Context, &'static Key),
    /// A value of a shape that has no key of its own: an item of a list, a value under a free name.
    Shaped(Shape),
    /// Something the grammar says nothing of.
    Free,
}

/// One level on the way down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<'t> {
    /// The value.
    pub(super) node: &'t Node,
    /// What it is expected to be.
    pub(super) role: Role,
    /// The entry that it is the value of.
    pub(super) entry: Option<&'t Entry>,
}

/// The way down to a place.
#[derive(Debug)]
pub(super) struct Way<'t> {
    /// From the root on; never empty.
    pub(super) levels: Vec<Level<'t>>,
    /// The place lies in the key of this entry of the last level, a map.
    pub(super) key: Option<&'t Entry>,
}

impl<'t> Way<'t> {
    /// Walks down to a byte; ends of values count as inside of them.
    pub(super) fn to(root: &'t Node, role: Role, offset: usize) -> Self {
        let mut way = Self { levels: vec![Level { node: root, role, entry: None }], key: None };
        while let Some(next) = way.step(offset) {
            way.levels.push(next);
        }
        way
    }

    /// The innermost level.
    pub(super) fn last(&self) -> Option<&Level<'t>> {
        self.levels.last()
    }

    /// The innermost level of a role that fits.
    pub(super) fn nearest(&self, fits: impl Fn(Role) -> bool) -> Option<&Level<'t>> {
        self.levels.iter().rev().find(|level| fits(level.role))
    }

    fn step(&mut self, offset: usize) -> Option<Level<'t>> {
        let at = *self.levels.last()?;
        match &at.node.value {
            Value::Map(entries) => {
                let touched = |span: Span| span.touches(offset) && !span.is_empty();
                if let Some(entry) = entries.iter().find(|entry| touched(entry.key.span)) {
                    self.key = Some(entry);
                    return None;
                }
                let entry = entries.iter().find(|entry| entry.value.span.touches(offset))?;
                let role = value_role(at.role, at.node, &entry.key.value);
                Some(Level { node: &entry.value, role, entry: Some(entry) })
            }
            Value::List(items) => {
                let item = items.iter().find(|item| item.span.touches(offset))?;
                Some(Level { node: item, role: item_role(at.role), entry: None })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => None,
        }
    }
}

/// Visits every node below `root`, itself first, with its role and the entry that it is the value of.
pub(super) fn visit<'t>(
    root: &'t Node,
    role: Role,
    entry: Option<&'t Entry>,
    f: &mut impl FnMut(&'t Node, Role, Option<&'t Entry>),
) {
    f(root, role, entry);
    match &root.value {
        Value::Map(entries) => {
            for entry in entries {
                visit(&entry.value, value_role(role, root, &entry.key.value), Some(entry), f);
            }
        }
        Value::List(items) => {
            for item in items {
                visit(item, item_role(role), None, f);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {}
    }
}

impl Role {
    /// What the shape of the value is, if a shape says it.
    pub(super) fn shape(self) -> Option<Shape> {
        match self {
            Self::Of(_, key) => Some(key.shape),
            Self::Shaped(shape) => Some(shape),
            Self::Workflow
            | Self::AgentFile
            | Self::Step
            | Self::Gate
            | Self::Choice
            | Self::Schema
            | Self::Keyword
            | Self::SchemaType
            | Self::SchemaRequired
            | Self::RequiredName
            | Self::SchemaList
            | Self::Reference
            | Self::Free => None,
        }
    }

    /// Whether this is the value of the key of this name in the context of this name.
    pub(super) fn is(self, context: &str, key: &str) -> bool {
        matches!(self, Self::Of(of, found) if of.name == context && found.name == key)
    }

    /// Whether the value is the id of a step.
    pub(super) fn names_step(self) -> bool {
        self.is("step", "id")
            || ["before", "accepted", "answered"].into_iter().any(|key| self.is("guarantee", key))
    }

    /// Whether the value names an agent.
    pub(super) fn is_agent(self) -> bool {
        self == Self::Reference || self.is("agent", "agent") || self.is("gate_agent", "agent")
    }

    /// Whether a list is expected.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::SchemaList | Self::SchemaRequired)
            || self.shape().is_some_and(|shape| {
                matches!(
                    shape,
                    Shape::Bindings
                        | Shape::Texts
                        | Shape::Words(_)
                        | Shape::List(_)
                        | Shape::Steps
                        | Shape::Gates
                )
            })
    }

    /// Whether texts of this role hold bindings.
    pub(super) fn takes_bindings(self) -> bool {
        self == Self::Choice
            || self.shape().is_some_and(|shape| {
                matches!(
                    shape,
                    Shape::Template | Shape::Binding | Shape::Bindings | Shape::Data | Shape::Respondents
                )
            })
    }
}

/// The contexts whose keys a map of this role takes; empty if its keys are free names.
pub(super) fn contexts(role: Role, node: &Node) -> Vec<&'static Context> {
    let named = |name: &str| grammar::CONTEXTS.iter().copied().find(|context| context.name == name);
    match role {
        Role::Workflow => vec![&grammar::DOCUMENT],
        Role::AgentFile => vec![&grammar::AGENT_FILE],
        Role::Step => std::iter::once(&grammar::STEP).chain(kind_of(node)).collect(),
        Role::Gate => match (node.get("human").is_some(), node.get("agent").is_some()) {
            (true, _) => vec![&grammar::GATE_HUMAN],
            (_, true) => vec![&grammar::GATE_AGENT],
            (false, false) => vec![&grammar::GATE_HUMAN, &grammar::GATE_AGENT],
        },
        Role::Choice => vec![&grammar::CHOICE],
        Role::Of(..) | Role::Shaped(_) => match role.shape() {
            Some(Shape::Map(name)) => named(name).into_iter().collect(),
            Some(Shape::Transition) => transition(node),
            Some(Shape::OnDeadline) if node.get("choose").is_some() => vec![&grammar::CHOOSE],
            Some(Shape::OnDeadline) => {
                let mut all = transition(node);
                if all.len() > 1 {
                    all.push(&grammar::CHOOSE);
                }
                all
            }
            Some(Shape::Disposition) => vec![&grammar::DISPOSITION],
            Some(_) | None => Vec::new(),
        },
        Role::Schema
        | Role::Keyword
        | Role::SchemaType
        | Role::SchemaRequired
        | Role::RequiredName
        | Role::SchemaList
        | Role::Reference
        | Role::Free => Vec::new(),
    }
}

fn transition(node: &Node) -> Vec<&'static Context> {
    match (node.get("stop").is_some(), node.get("steps").is_some()) {
        (true, _) => vec![&grammar::STOP_TRANSITION],
        (_, true) => vec![&grammar::STEPS_TRANSITION],
        (false, false) => vec![&grammar::STOP_TRANSITION, &grammar::STEPS_TRANSITION],
    }
}

/// The kind of a step by the kind key that it has.
pub(super) fn kind_of(node: &Node) -> Option<&'static Context> {
    node.entries()
        .iter()
        .find_map(|entry| grammar::KINDS.into_iter().find(|kind| kind.name == entry.key.value))
}

/// The key of a map by the grammar, with the context that has it.
pub(super) fn key_of(role: Role, node: &Node, name: &str) -> Option<(&'static Context, &'static Key)> {
    let found = contexts(role, node).into_iter().find_map(|context| Some((context, context.key(name)?)));
    // A step with several kind keys, or with keys of a kind that it does not say.
    found.or_else(|| {
        let kinds = grammar::KINDS.into_iter().filter(|_| role == Role::Step);
        kinds.into_iter().find_map(|kind| Some((kind, kind.key(name)?)))
    })
}

/// The role of the value of a key.
pub(super) fn value_role(role: Role, node: &Node, key: &str) -> Role {
    if let Some((context, found)) = key_of(role, node, key) {
        if let Shape::ByTag(kinds) = found.shape
            && let Some(tag) = node.get("tag").and_then(Node::text)
            && let Some((_, shape)) = kinds.iter().find(|(kind, _)| *kind == tag.value)
        {
            return Role::Shaped(*shape);
        }
        return if found.shape == Shape::Schema { Role::Schema } else { Role::Of(context, found) };
    }
    match role {
        Role::AgentFile if key == "contents" && node.get("tag").is_some() => Role::AgentFile,
        Role::Schema => keyword_role(key),
        Role::Of(..) | Role::Shaped(_) => match role.shape() {
            Some(Shape::Schemas) => Role::Schema,
            Some(Shape::BindingMap) => Role::Shaped(Shape::Binding),
            Some(Shape::Data) => Role::Shaped(Shape::Data),
            Some(Shape::TextMap) => Role::Reference,
            Some(Shape::Cases) => Role::Shaped(Shape::Transition),
            Some(Shape::Choices) => Role::Choice,
            Some(_) | None => Role::Free,
        },
        Role::Workflow
        | Role::AgentFile
        | Role::Step
        | Role::Gate
        | Role::Choice
        | Role::Keyword
        | Role::SchemaType
        | Role::SchemaRequired
        | Role::RequiredName
        | Role::SchemaList
        | Role::Reference
        | Role::Free => Role::Free,
    }
}

/// The role of the value of a keyword in a schema. Names of properties lead to schemas.
fn keyword_role(key: &str) -> Role {
    match key {
        "type" => Role::SchemaType,
        "required" => Role::SchemaRequired,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Role::Shaped(Shape::Schemas)
        }
        "items"
        | "additionalProperties"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Role::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Role::SchemaList,
        _ => Role::Keyword,
    }
}

/// The role of an item of a list.
pub(super) fn item_role(role: Role) -> Role {
    match role {
        Role::SchemaList => Role::Schema,
        Role::SchemaType => Role::SchemaType,
        Role::SchemaRequired => Role::RequiredName,
        Role::Of(..) | Role::Shaped(_) => match role.shape() {
            Some(Shape::Steps) => Role::Step,
            Some(Shape::Gates) => Role::Gate,
            Some(Shape::Bindings) => Role::Shaped(Shape::Binding),
            Some(Shape::Respondents) => Role::Shaped(Shape::Respondents),
            Some(Shape::Texts | Shape::TextOrTexts) => Role::Shaped(Shape::Text),
            Some(Shape::Words(words)) => Role::Shaped(Shape::Word(words)),
            Some(Shape::Data) => Role::Shaped(Shape::Data),
            Some(Shape::List(name)) => Role::Shaped(Shape::Map(name)),
            Some(_) | None => Role::Free,
        },
        Role::Workflow
        | Role::AgentFile
        | Role::Step
        | Role::Gate
        | Role::Choice
        | Role::Schema
        | Role::Keyword
        | Role::RequiredName
        | Role::Reference
        | Role::Free => Role::Free,
    }
}
