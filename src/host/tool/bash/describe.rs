//! What a bash tool says of itself, read strictly: a description that is not understood is a fault and not a guess.
//! Runs nothing.

use crate::host::perform::{Output, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Characters of the longest slug: with `bash_` before it, a tool's name has 64 at most.
const MOST_SLUG: usize = 59;

/// One tool as it describes itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its name without `bash_`.
    pub slug: String,
    /// For the model.
    pub description: String,
    /// In order.
    pub arguments: Vec<Argument>,
    /// What the model gets where it prints nothing.
    pub empty: Option<Output>,
    /// How what it prints is read.
    pub prints: Prints,
    /// Whether an interrupted call may run again.
    pub repeatable: bool,
}

/// How what a tool prints is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prints {
    /// As text.
    Text,
    /// As one JSON value.
    Json,
    /// As a response object: text, JSON, media or a mix of them.
    Response,
    /// As a file of this MIME type, in base64 or as its bytes.
    Media(String),
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// For the model.
    pub description: String,
    /// What it holds.
    pub kind: Kind,
    /// Whether it may be left out.
    pub optional: bool,
    /// How it is given.
    pub mode: Mode,
}

/// What an argument holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// A list, given as JSON.
    Array,
    /// A map, given as JSON.
    Object,
}

/// How an argument is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As a word.
    Positional,
    /// As two words, `--name value`.
    DashDashSpace,
    /// As one word, `--name=value`.
    DashDashEqual,
    /// On standard input.
    Stdin,
    /// As a variable.
    Env,
}

#[derive(Deserialize)]
struct Raw {
    slug: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    args: Vec<RawArgument>,
    #[serde(default, rename = "empty-result")]
    empty_result: Option<Value>,
    #[serde(default)]
    repeatable: bool,
    #[serde(default)]
    output: Option<String>,
    #[serde(default, rename = "output-media-type")]
    media_type: Option<String>,
}

#[derive(Deserialize)]
struct RawArgument {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    backing_type: Option<String>,
    #[serde(default)]
    arity: Option<String>,
    #[serde(default)]
    mode: Option<String>,
}

/// Reads what a tool printed when it was asked to describe itself.
///
/// # Errors
/// What is wrong with it, to stand behind the name of the tool.
pub fn read(printed: &[u8]) -> Result<Described, String> {
    let raw: Raw =
        serde_json::from_slice(printed).map_err(|error| format!("printed no description: {error}"))?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if raw.slug.is_empty() || raw.slug.len() > MOST_SLUG || !raw.slug.chars().all(fits) {
        return Err(format!(
            "gives itself the name `{}`; a name has 1 to {MOST_SLUG} letters from a to z, digits, `-` and `_`",
            raw.slug
        ));
    }
    let prints = match (raw.media_type, raw.output.as_deref()) {
        (Some(mime), None) if mime.contains('/') => Prints::Media(mime),
        (Some(mime), None) => {
            return Err(format!("declares output of the type `{mime}`, which is no MIME type"));
        }
        (Some(_), Some(_)) => {
            return Err("declares `output` and `output-media-type`; one of them is enough".to_owned());
        }
        (None, None | Some("text")) => Prints::Text,
        (None, Some("json")) => Prints::Json,
        (None, Some("response")) => Prints::Response,
        (None, Some(other)) => {
            return Err(format!("declares the output `{other}`; it is `text`, `json` or `response`"));
        }
    };
    let mut arguments: Vec<Argument> = Vec::new();
    for raw in raw.args {
        let argument = argument(raw)?;
        if arguments.iter().any(|other| other.name == argument.name) {
            return Err(format!("declares the argument `{}` twice", argument.name));
        }
        arguments.push(argument);
    }
    Ok(Described {
        slug: raw.slug,
        description: raw.description,
        arguments,
        empty: raw.empty_result.map(empty),
        prints,
        repeatable: raw.repeatable,
    })
}

/// `empty-result` in its forms: a text, `{"tag": "AddMessage", "contents": …}`, `{"tag": "DoNothing"}`, or any JSON.
fn empty(written: Value) -> Output {
    match (written.get("tag").and_then(Value::as_str), written.get("contents")) {
        (Some("DoNothing"), _) => return Output::Text(String::new()),
        (Some("AddMessage"), Some(Value::String(text))) => return Output::Text(text.clone()),
        _ => {}
    }
    match written {
        Value::String(text) => Output::Text(text),
        Value::Null => Output::Text(String::new()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Output::Json(written),
    }
}

fn argument(raw: RawArgument) -> Result<Argument, String> {
    let name = raw.name;
    if name.is_empty() || name.contains(['\0', '=']) || name.chars().any(char::is_whitespace) {
        return Err(format!(
            "declares an argument named `{}`, which no program can be given",
            name.escape_debug()
        ));
    }
    let mode = match raw.mode.as_deref() {
        None | Some("positional") => Mode::Positional,
        Some("dashdashspace") => Mode::DashDashSpace,
        Some("dashdashequal") => Mode::DashDashEqual,
        Some("stdin") => Mode::Stdin,
        Some("env") => Mode::Env,
        Some(other) => {
            let modes = "`positional`, `dashdashspace`, `dashdashequal`, `stdin` or `env`";
            return Err(format!("declares the mode `{other}` for `{name}`; it is {modes}"));
        }
    };
    let is_ours = |name: &str| {
        ["FLOWRIGHT_", "AGENT_"].iter().any(|start| name.starts_with(start)) || name == "IDEMPOTENCY_KEY"
    };
    if mode == Mode::Env && is_ours(&name) {
        return Err(format!(
            "wants the argument `{name}` as a variable, and that variable is set by Flowright"
        ));
    }
    let kind = match raw.backing_type.or(raw.kind).unwrap_or_default().to_ascii_lowercase().as_str() {
        "int" | "integer" => Kind::Integer,
        "number" | "float" | "double" => Kind::Number,
        "bool" | "boolean" => Kind::Bool,
        "array" | "list" => Kind::Array,
        "object" | "map" | "dict" => Kind::Object,
        _ => Kind::Text,
    };
    let optional = raw.arity.as_deref() == Some("optional");
    Ok(Argument { name, description: raw.description, kind, optional, mode })
}

impl Kind {
    fn schema(self) -> Map<String, Value> {
        let name = match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Bool => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        };
        let mut schema = Map::new();
        schema.insert("type".to_owned(), name.into());
        if self == Self::Array {
            // Some servers take no list that does not say what is in it.
            schema.insert("items".to_owned(), Value::Object(Map::new()));
        }
        schema
    }
}

impl Described {
    /// What the model is told, under the name that begins with `prefix`.
    #[must_use]
    pub fn spec(&self, prefix: &str) -> ToolSpec {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for argument in &self.arguments {
            let mut schema = argument.kind.schema();
            schema.insert("description".to_owned(), argument.description.clone().into());
            properties.insert(argument.name.clone(), Value::Object(schema));
            if !argument.optional {
                required.push(Value::from(argument.name.clone()));
            }
        }
        ToolSpec {
            name: format!("{prefix}{}", self.slug),
            description: self.description.clone(),
            parameters: serde_json::json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            repeatable: self.repeatable,
        }
    }
}
