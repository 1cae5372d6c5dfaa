//! Agent files, JSON or Markdown with front matter, into [`ast::Agent`] (section 6). Starts no tool and asks no
//! model; whether an agent fits a workflow is judged elsewhere.

mod boxes;
mod builtin;
mod policy;
mod predicate;

use super::fields::Fields;
use super::{json as json_reader, rules, schema, yaml};
use crate::ast::Agent;
use crate::ast::toolbox::{OpenApiServer, Toolboxes};
use crate::diagnostic::{Diagnostic, Severity};
use crate::grammar::{self, Shape};
use crate::source::{Source, Span, Spanned};
use crate::tree::{Entry, Node, Value};

/// Reads an agent by the ending of its file's name: `.md` as Markdown with front matter, everything else as JSON.
pub fn agent(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Agent {
    let is_markdown = source.name().to_ascii_lowercase().ends_with(".md");
    if is_markdown {
        return markdown(source, diagnostics);
    }
    json(source, diagnostics)
}

/// Whether a text that is named as YAML is no JSON either.
fn is_yaml(source: &Source) -> bool {
    let name = source.name().to_ascii_lowercase();
    (name.ends_with(".yaml") || name.ends_with(".yml"))
        && !source.text().trim_start_matches('\u{feff}').trim_start().starts_with('{')
}

/// Reads an agent file in JSON, bare or wrapped in a `tag`.
pub fn json(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Agent {
    if is_yaml(source) {
        let message = "an agent is written in JSON or as Markdown with front matter, not as YAML alone";
        let found = Diagnostic::new(&rules::NO_FRONT_MATTER, Span::new(source.id(), 0, 0), message);
        let help =
            "name the file `NAME.agent.md`, put its keys between two lines of `---` and the prompt below";
        diagnostics.push(found.help(help));
        return empty(source, Span::new(source.id(), 0, source.text().len()));
    }
    let tree = json_reader::read(source, diagnostics);
    let mut reader = Reader { fields: Fields { source, diagnostics }, strict: Severity::Warning };
    let body = reader.unwrap(&tree);
    reader.agent(body, None)
}

/// Reads an agent in Markdown: the keys as YAML between two lines of `---`, then the prompt.
pub fn markdown(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Agent {
    let text = source.text();
    let Some((front_end, body_start)) = front_matter(text) else {
        let is_open =
            text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == "---");
        let message = if is_open {
            "the front matter is not closed by a second line of `---`"
        } else {
            "the file does not begin with front matter between two lines of `---`"
        };
        let found = Diagnostic::new(&rules::NO_FRONT_MATTER, Span::new(source.id(), 0, 0), message);
        diagnostics.push(found.help("write the keys of the agent between `---` and `---`, then the prompt"));
        return empty(source, Span::new(source.id(), 0, text.len()));
    };
    let tree = yaml::read_part(source, text.get(..front_end).unwrap_or_default(), diagnostics);
    let rest = text.get(body_start..).unwrap_or_default();
    let start = body_start + (rest.len() - rest.trim_start_matches(['\n', '\r']).len());
    let prompt = text.get(start..).unwrap_or_default().trim_end();
    let span = Span::new(source.id(), start, start + prompt.len());
    let prompt = (!prompt.trim().is_empty()).then(|| Spanned::new(prompt.to_owned(), span));
    let mut reader = Reader { fields: Fields { source, diagnostics }, strict: Severity::Warning };
    reader.agent(&tree, prompt)
}

/// Reads the service of an OpenAPI toolbox that stands in a file of its own.
pub fn openapi_server(
    source: &Source,
    strict: Severity,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<OpenApiServer> {
    let tree = json_reader::read(source, diagnostics);
    Reader { fields: Fields { source, diagnostics }, strict }.openapi_server(&tree)
}

/// The keys of an agent in Markdown as a tree, for editors; what is wrong with them [`markdown`] says.
#[must_use]
pub fn front_matter_tree(source: &Source) -> Option<Node> {
    let (end, _) = front_matter(source.text())?;
    Some(yaml::read_part(source, source.text().get(..end).unwrap_or_default(), &mut Vec::new()))
}

/// Where the YAML of the front matter ends; 0 without one.
pub(in crate::parse) fn front_end(text: &str) -> usize {
    front_matter(text).map_or(0, |(end, _)| end)
}

/// End of the front matter's YAML, and the beginning of what follows its closing line.
#[must_use]
pub fn front_matter(text: &str) -> Option<(usize, usize)> {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut at = bom;
    for (i, line) in text.get(bom..)?.split_inclusive('\n').enumerate() {
        let is_fence = line.trim_end() == "---";
        if i == 0 && !is_fence {
            return None;
        }
        if i > 0 && is_fence {
            return Some((at, at + line.len()));
        }
        at += line.len();
    }
    None
}

fn empty(source: &Source, span: Span) -> Agent {
    Agent {
        file: source.id(),
        span,
        slug: None,
        base: None,
        announce: None,
        flavor: None,
        model_url: None,
        model_name: None,
        api_key_id: None,
        system_prompt: Vec::new(),
        asynchronous: None,
        policy: None,
        bash_toolboxes: Vec::new(),
        toolboxes: Toolboxes::default(),
        repeatable_tools: Vec::new(),
        max_tool_calls: None,
        max_concurrency: None,
        call_timeout_seconds: None,
        inputs: None,
        tool_choice: None,
        temperature: None,
        max_tokens: None,
        later: Vec::new(),
    }
}

/// Keys whose values are kept as they were written.
const KEPT: [&str; 4] = ["toolChoice", "temperature", "maxTokens", "asyncYieldStrategy"];

/// Whether an entry is a comment.
fn is_comment(entry: &Entry) -> bool {
    entry.key.value.starts_with("--")
}

struct Reader<'a> {
    fields: Fields<'a>,
    /// What an unknown key weighs.
    strict: Severity,
}

impl Reader<'_> {
    /// The description inside `{"tag": …, "contents": …}`, or the tree itself.
    fn unwrap<'t>(&mut self, tree: &'t Node) -> &'t Node {
        const TAG: &str = "OpenAIAgentDescription";
        let (Some(tag), Some(contents)) = (tree.get("tag"), tree.get("contents")) else { return tree };
        if tag.text().is_none_or(|text| text.value != TAG) {
            let message = format!("`{}` is no kind of agent; it is `{TAG}`", self.fields.written(tag));
            self.fields.report(Diagnostic::new(&rules::BAD_VALUE, tag.span, message));
        }
        contents
    }

    fn agent(&mut self, node: &Node, prompt: Option<Spanned<String>>) -> Agent {
        let mut agent = empty(self.fields.source, node.span);
        let context = &grammar::AGENT_FILE;
        if !self.fields.map(node, context.title) {
            return agent;
        }
        let text = |reader: &mut Self, key: &str| node.get(key).and_then(|value| reader.text(value, key));
        agent.base = text(self, "base");
        if node.get("base").is_some() {
            self.strict = Severity::Error;
        }
        self.keys(node, context);
        agent.slug = text(self, "slug");
        agent.announce = text(self, "announce");
        agent.model_url = text(self, "modelUrl");
        agent.model_name = text(self, "modelName");
        agent.api_key_id = text(self, "apiKeyId");
        agent.flavor = self.flavor(node);
        agent.system_prompt =
            node.get("systemPrompt").map(|node| self.texts(node, "systemPrompt")).unwrap_or_default();
        agent.system_prompt.extend(prompt);
        if agent.system_prompt.is_empty() && node.get("systemPrompt").is_none() {
            self.fields.missing(node, "systemPrompt", context.title);
        }
        agent.asynchronous = node.get("executionMode").and_then(|node| {
            let mode = self.fields.word(node, "executionMode", &["synchronous", "asynchronous"])?;
            Some(mode.map(|mode| mode == "asynchronous"))
        });
        agent.policy = self.policy_of(node);
        agent.bash_toolboxes = self.bash_toolboxes(node);
        agent.toolboxes = self.toolboxes(node);
        agent.repeatable_tools =
            node.get("repeatableTools").map(|node| self.list(node, "repeatableTools")).unwrap_or_default();
        let number = |reader: &mut Self, key: &'static str| {
            let Shape::Number(from, to) = context.key(key)?.shape else { return None };
            node.get(key).and_then(|value| reader.number(value, key, from..=to))
        };
        agent.max_tool_calls = number(self, "maxToolCalls");
        agent.max_concurrency = number(self, "maxConcurrency");
        agent.call_timeout_seconds = number(self, "asyncCallTimeoutSeconds");
        agent.inputs = node
            .get("inputs")
            .filter(|node| {
                let is_map = self.fields.map_or(
                    node,
                    "`inputs`",
                    "write a JSON Schema such as `{\"type\": \"object\"}`",
                );
                if is_map {
                    schema::look(&mut self.fields, node);
                }
                is_map
            })
            .cloned();
        self.model(node, &mut agent);
        let kept = node.entries().iter().filter(|entry| KEPT.contains(&entry.key.value.as_str()));
        agent.later = kept.cloned().collect();
        agent
    }

    /// What is sent to the model server with each request, and lists of things that are only kept.
    fn model(&mut self, node: &Node, agent: &mut Agent) {
        let context = &grammar::AGENT_FILE;
        let written = |key: &str| node.get(key).filter(|value| value.value != Value::Null);
        if let (Some(value), Some(Shape::Word(words))) =
            (written("toolChoice"), context.key("toolChoice").map(|key| key.shape))
        {
            agent.tool_choice =
                self.fields.word(value, "toolChoice", words).map(|word| word.map(str::to_owned));
        }
        if let (Some(value), Some(Shape::Decimal(from, to))) =
            (written("temperature"), context.key("temperature").map(|key| key.shape))
        {
            agent.temperature = self.decimal(value, "temperature", from, to);
        }
        if let (Some(value), Some(Shape::Number(from, to))) =
            (written("maxTokens"), context.key("maxTokens").map(|key| key.shape))
        {
            agent.max_tokens = self.number(value, "maxTokens", from..=to);
        }
    }

    /// A number whose digits are kept; both ends are included.
    fn decimal(&mut self, node: &Node, what: &str, from: u32, to: u32) -> Option<Spanned<String>> {
        let Value::Number(digits) = &node.value else {
            self.fields.wrong(node, &format!("`{what}`"), "a number");
            return None;
        };
        let value: f64 = digits.parse().unwrap_or(f64::NAN);
        if (f64::from(from)..=f64::from(to)).contains(&value) {
            return Some(Spanned::new(digits.clone(), node.span));
        }
        let message = format!("`{what}` is `{digits}`; it must be a number from {from} to {to}");
        self.fields.report(Diagnostic::new(&rules::NUMBER_OUT_OF_RANGE, node.span, message));
        None
    }

    /// Unknown and missing keys; comments are neither.
    fn keys(&mut self, node: &Node, context: &'static grammar::Context) {
        for entry in node.entries() {
            let is_known = context.key(&entry.key.value).is_some();
            if context.name == grammar::AGENT_FILE.name && boxes::is_foreign(&entry.key.value) {
                self.foreign(entry);
            } else if !is_known && !is_comment(entry) && !super::is_hole_entry(entry) {
                self.fields.unknown_key(node, entry, context.names(), context.title, self.strict);
            }
        }
        for key in context.keys {
            let other = context.other_spelling(key.name);
            let both = node.entry(key.name).zip(other.and_then(|other| node.entry(other)));
            if let Some((one, other)) = both {
                self.twice(one, other);
            }
        }
        let is_there = |key: &str| node.get(key).is_some();
        let is_missing = |key: &&grammar::Key| {
            key.required && !is_there(key.name) && !context.other_spelling(key.name).is_some_and(is_there)
        };
        for key in context.keys.iter().filter(is_missing) {
            if !Fields::has_near_miss(node, key.name, &[context]) {
                self.fields.missing(node, key.name, context.title);
            }
        }
    }

    /// Two spellings of one key stand in one map.
    fn twice(&mut self, one: &Entry, other: &Entry) {
        let message =
            format!("`{}` is another spelling of `{}`; both are written", other.key.value, one.key.value);
        let found = Diagnostic::new(&rules::DUPLICATE_KEY, other.key.span, message);
        self.fields.report(found.label(one.key.span, "the first").help("keep one of the two"));
    }

    /// Text of an agent file; null counts as not written.
    fn text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        if node.value == Value::Null {
            return None;
        }
        match node.text() {
            Some(text) => Some(Spanned::new(text.value.clone(), text.span)),
            None => {
                self.fields.wrong(node, &format!("`{what}`"), "text");
                None
            }
        }
    }

    fn number(
        &mut self,
        node: &Node,
        what: &str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Option<Spanned<u32>> {
        if node.value == Value::Null { None } else { self.fields.number(node, what, range) }
    }

    fn flavor(&mut self, node: &Node) -> Option<Spanned<String>> {
        let node = node.get("flavor").filter(|node| node.value != Value::Null)?;
        let Shape::Word(words) = grammar::AGENT_FILE.key("flavor")?.shape else { return None };
        self.fields.word(node, "flavor", words).map(|word| word.map(str::to_owned))
    }

    /// A text or a list of texts.
    fn texts(&mut self, node: &Node, what: &str) -> Vec<Spanned<String>> {
        match &node.value {
            Value::List(_) => self.list(node, what),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Map(_)
            | Value::Hole => self.text(node, what).into_iter().collect(),
        }
    }

    fn list(&mut self, node: &Node, what: &str) -> Vec<Spanned<String>> {
        if node.value == Value::Null {
            return Vec::new();
        }
        let items = self.fields.items(node, &format!("`{what}`"));
        items.iter().filter_map(|item| self.text(item, what)).collect()
    }
}
