//! The operations of a document: their names, what the model is told, and where each argument goes. Sends nothing.

use super::document::Document;
use super::filter::{Endpoint, fits};
use super::schema::Inliner;
use crate::escape;
use crate::host::perform::ToolSpec;
use crate::ir::toolbox::EndpointFilter;
use serde_json::{Map, Value, json};

/// What is offered of one document at most.
const MOST_OPERATIONS: usize = 500;
/// Of a description so much is told.
const MOST_DESCRIPTION_CHARS: usize = 2_000;
const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch"];
/// Headers that are not the model's to set; some would change where a request ends.
const OWN_HEADERS: &[&str] = &[
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "idempotency-key",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// What the model is told.
    pub spec: ToolSpec,
    /// In capitals.
    pub method: String,
    /// With `{name}` where parameters go.
    pub path: String,
    /// What goes into path, query and headers.
    pub parameters: Vec<Parameter>,
    /// What is sent as body.
    pub body: Option<Body>,
}

/// Where an argument goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the argument.
    pub argument: String,
    /// Name on the wire.
    pub name: String,
    /// Where it goes.
    pub place: Place,
    /// Whether it must be given.
    pub is_required: bool,
    /// How lists and maps are written.
    pub style: Style,
    /// Whether the items of lists and maps stand apart.
    pub explode: bool,
}

/// Part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// Behind the `?`.
    Query,
    /// A header.
    Header,
}

/// How lists and maps are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Joined by this text, or apart.
    Joined(&'static str),
    /// `name[key]=value`.
    Deep,
    /// As one JSON text.
    Json,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Name of the argument.
    pub argument: String,
    /// Whether it must be given.
    pub is_required: bool,
    /// How it is written.
    pub form: Form,
    /// Its MIME type.
    pub mime: String,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// `a=1&b=2`.
    Fields,
    /// Text as it is.
    Text,
}

/// The operations that a filter lets through, and why others are left out.
#[must_use]
pub fn all(document: &Document, filter: Option<&EndpointFilter>) -> (Vec<Operation>, Vec<String>) {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let Some(Value::Object(paths)) = document.get("paths") else { return (found, faults) };
    for (path, item) in paths.iter().filter(|(path, _)| path.starts_with('/')) {
        let item = match document.followed(item) {
            Ok(item) => item,
            Err(why) => {
                faults.push(format!("the operations of `{}` are left out: {why}", escape::visible(path)));
                continue;
            }
        };
        for method in METHODS {
            let Some(written) = item.get(method) else { continue };
            let id = written.get("operationId").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
            let id = id.map_or_else(|| made_id(method, path), str::to_owned);
            let endpoint = Endpoint { method: &method.to_ascii_uppercase(), path, operation: &id };
            if !filter.is_none_or(|filter| fits(filter, endpoint)) {
                continue;
            }
            if found.len() == MOST_OPERATIONS {
                faults.push(format!(
                    "more than {MOST_OPERATIONS} operations are offered; a `Filter` makes them fewer"
                ));
                return (found, faults);
            }
            match operation(document, item, written, endpoint) {
                Ok((operation, broken)) => {
                    faults.extend(
                        broken.map(|why| format!("`{}` is told in part: {why}", operation.spec.name)),
                    );
                    found.push(operation);
                }
                Err(why) => {
                    faults.push(format!("the operation `{}` is left out: {why}", escape::visible(&id)))
                }
            }
        }
    }
    (found, faults)
}

/// `get /pets/{petId}` is `get_pets_petId`.
fn made_id(method: &str, path: &str) -> String {
    let parts = path.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|part| !part.is_empty());
    std::iter::once(method).chain(parts).collect::<Vec<_>>().join("_")
}

fn operation(
    document: &Document,
    item: &Value,
    written: &Value,
    of: Endpoint<'_>,
) -> Result<(Operation, Option<String>), String> {
    let mut inliner = Inliner::new(document);
    let mut schema = Asked::default();
    let mut parameters: Vec<Parameter> = Vec::new();
    for parameter in declared(document, item, written)? {
        if let Some(parameter) = taken(document, parameter, &mut inliner, &mut schema)? {
            parameters.push(parameter);
        }
    }
    for name in placeholders(of.path) {
        if !parameters.iter().any(|parameter| parameter.place == Place::Path && parameter.name == name) {
            return Err(format!(
                "it does not describe the parameter `{}` of its path",
                escape::visible(name)
            ));
        }
    }
    let body = match written.get("requestBody") {
        Some(body) => body_of(document, document.followed(body)?, &mut inliner, &mut schema)?,
        None => None,
    };
    let clean = |c: char| if c.is_whitespace() || escape::is_hidden(c) { '_' } else { c };
    let spec = ToolSpec {
        name: format!("openapi_{}", of.operation.trim().chars().map(clean).collect::<String>()),
        description: described(written, of),
        parameters: schema.done(),
        repeatable: matches!(of.method, "GET" | "HEAD"),
    };
    let operation =
        Operation { spec, method: of.method.to_owned(), path: of.path.to_owned(), parameters, body };
    Ok((operation, inliner.broken))
}

/// The parameters of an operation with those of its path that it does not have itself.
fn declared<'a>(
    document: &'a Document,
    item: &'a Value,
    written: &'a Value,
) -> Result<Vec<&'a Value>, String> {
    let mut all: Vec<&Value> = Vec::new();
    for list in
        [written, item].iter().filter_map(|holder| holder.get("parameters")).filter_map(Value::as_array)
    {
        let before = all.len();
        for parameter in list {
            let parameter = document.followed(parameter)?;
            let same = |other: &&Value| ["name", "in"].iter().all(|key| other.get(key) == parameter.get(key));
            if !all.iter().take(before).any(same) {
                all.push(parameter);
            }
        }
    }
    Ok(all)
}

/// Where a parameter goes; none for one that is not the model's to give.
fn taken(
    document: &Document,
    written: &Value,
    inliner: &mut Inliner<'_>,
    asked: &mut Asked,
) -> Result<Option<Parameter>, String> {
    let text = |key: &str| written.get(key).and_then(Value::as_str);
    let name = text("name").ok_or("one of its parameters has no name")?;
    let place = match text("in") {
        Some("path") => Place::Path,
        Some("query") => Place::Query,
        Some("header") if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) => return Ok(None),
        Some("header") => Place::Header,
        _ => Place::Query,
    };
    let is_required = place == Place::Path || written.get("required") == Some(&Value::Bool(true));
    let shown = escape::visible(name);
    match text("in") {
        Some("path" | "query" | "header") => {}
        Some(_) if !is_required => return Ok(None),
        Some(other) => {
            return Err(format!("`{shown}` goes into `{}`, which is not sent", escape::visible(other)));
        }
        None => return Err(format!("it does not say where `{shown}` goes")),
    }
    let content =
        written.get("content").and_then(Value::as_object).and_then(|content| content.values().next());
    let style = match (content, text("style"), place) {
        (Some(_), _, _) => Style::Json,
        (None, None | Some("form" | "simple"), _) => Style::Joined(","),
        (None, Some("spaceDelimited"), Place::Query) => Style::Joined(" "),
        (None, Some("pipeDelimited"), Place::Query) => Style::Joined("|"),
        (None, Some("deepObject"), Place::Query) => Style::Deep,
        (None, Some(other), _) => {
            return Err(format!(
                "`{shown}` has the style `{}`, which is not written",
                escape::visible(other)
            ));
        }
    };
    let is_apart = place == Place::Query && matches!(text("style"), None | Some("form" | "deepObject"));
    let explode = written.get("explode").and_then(Value::as_bool).unwrap_or(is_apart);
    let schema = content.map_or(Some(written), |content| document.followed(content).ok());
    let schema =
        schema.and_then(|holder| holder.get("schema")).map_or_else(|| json!({}), |s| inliner.schema(s));
    let other = match place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
    };
    let argument = asked.add(name, other, schema, text("description"), is_required);
    let name = name.to_owned();
    Ok(Some(Parameter { argument, name, place, is_required, style, explode }))
}

fn body_of(
    document: &Document,
    written: &Value,
    inliner: &mut Inliner<'_>,
    asked: &mut Asked,
) -> Result<Option<Body>, String> {
    let is_required = written.get("required") == Some(&Value::Bool(true));
    let Some(Value::Object(content)) = written.get("content") else { return Ok(None) };
    let known = |wanted: Form| {
        content.iter().find(move |(mime, _)| form(mime) == Some(wanted)).map(|at| (wanted, at))
    };
    let Some((form, (mime, media))) = [Form::Json, Form::Fields, Form::Text].into_iter().find_map(known)
    else {
        if !is_required {
            return Ok(None);
        }
        let kinds: Vec<&str> = content.keys().map(String::as_str).collect();
        return Err(format!(
            "its body is of a kind that is not written: {}",
            escape::visible(&kinds.join(", "))
        ));
    };
    let media = document.followed(media)?;
    let schema = match (media.get("schema"), form) {
        (Some(schema), _) => inliner.schema(schema),
        (None, Form::Json) => json!({}),
        (None, Form::Fields) => json!({ "type": "object" }),
        (None, Form::Text) => json!({ "type": "string" }),
    };
    let about = written.get("description").and_then(Value::as_str).or(Some("The body of the request"));
    let argument = asked.add("body", "request", schema, about, is_required);
    let mime = if mime.contains('*') { "application/json".to_owned() } else { mime.clone() };
    Ok(Some(Body { argument, is_required, form, mime }))
}

fn form(mime: &str) -> Option<Form> {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" | "*/*" | "application/*" => Some(Form::Json),
        "application/x-www-form-urlencoded" => Some(Form::Fields),
        kind if kind.ends_with("+json") => Some(Form::Json),
        kind if kind.starts_with("text/") && !kind.contains('*') => Some(Form::Text),
        _ => None,
    }
}

/// The names in braces of a path.
pub fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

fn described(written: &Value, of: Endpoint<'_>) -> String {
    let text =
        |key: &str| written.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let mut parts = Vec::new();
    parts.extend(text("summary"));
    parts.extend(text("description").filter(|about| Some(*about) != text("summary")));
    let call = format!("{} {}", of.method, of.path);
    parts.push(&call);
    let whole = parts.join("\n\n");
    let kept: String = whole.chars().take(MOST_DESCRIPTION_CHARS).collect();
    escape::visible_lines(&kept).into_owned()
}

/// The schema of the arguments, as it comes together.
#[derive(Debug, Default)]
struct Asked {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Asked {
    /// Takes an argument in; one whose name is taken gets another in front.
    fn add(
        &mut self,
        name: &str,
        other: &str,
        schema: Value,
        about: Option<&str>,
        is_required: bool,
    ) -> String {
        let mut argument = name.to_owned();
        while self.properties.contains_key(&argument) {
            argument = format!("{other}_{argument}");
        }
        let mut schema = match schema {
            Value::Object(map) => map,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        if let Some(about) = about.filter(|_| !schema.contains_key("description")) {
            schema.insert("description".to_owned(), escape::visible_lines(about).into_owned().into());
        }
        self.properties.insert(argument.clone(), Value::Object(schema));
        if is_required {
            self.required.push(argument.clone().into());
        }
        argument
    }

    fn done(self) -> Value {
        json!({ "type": "object", "required": self.required, "additionalProperties": false,
            "properties": self.properties })
    }
}
