//! Toolboxes: folders of command-line tools, tool servers, services, other agents, skills. What is built in stands
//! in [`super::builtin`]. Opens no file and starts nothing.

use super::Reader;
use crate::ast::BashToolbox;
use crate::ast::toolbox::{
    ExtraAgent, McpReach, McpServer, OpenApi, OpenApiServer, Pair, SkillSource, Toolboxes,
};
use crate::diagnostic::{Diagnostic, nearest};
use crate::grammar::{Context, Shape, boxes};
use crate::parse::rules;
use crate::source::{Span, Spanned};
use crate::tree::{Entry, Node, Value};

/// Keys whose items [`Toolboxes`] holds.
const KEYS: [&str; 6] =
    ["mcpServers", "openApiToolboxes", "builtinToolboxes", "extraAgents", "skillSources", "autoEnableSkills"];
/// Keys of other tools that bring toolboxes of kinds that are not supported.
const FOREIGN: [&str; 1] = ["postgrestToolboxes"];
/// Characters of the longest name of a toolbox: with what stands around it, a tool's name has 64 at most.
const MOST_NAME: usize = 32;

/// Whether an agent's key is of another tool, and brings what is not supported.
pub(super) fn is_foreign(key: &str) -> bool {
    FOREIGN.contains(&key)
}

impl Reader<'_> {
    pub(super) fn foreign(&mut self, entry: &Entry) {
        let message = format!("toolboxes of `{}` are not supported", entry.key.value);
        let help =
            "describe the service by its OpenAPI document under `openApiToolboxes`, or write a bash tool";
        self.unsupported(entry.key.span, message, help);
    }

    /// Something that other tools know and this one does not.
    pub(super) fn unsupported(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let mut found = Diagnostic::new(&rules::UNSUPPORTED_TOOLBOX, span, message).help(help);
        found.severity = self.strict;
        self.fields.report(found);
    }

    /// Command-line tools: folders and single ones.
    pub(super) fn bash_toolboxes(&mut self, node: &Node) -> Vec<BashToolbox> {
        let mut out = Vec::new();
        for entry in node.entries() {
            match entry.key.value.as_str() {
                "toolDirectory" => {
                    if let Some(path) = self.text(&entry.value, "toolDirectory") {
                        let span = entry.value.span;
                        out.push(BashToolbox { span, is_single: false, path, basename_filter: None });
                    }
                }
                "bashToolboxes" => {
                    for item in self.items(node, "bashToolboxes") {
                        out.extend(self.bash_toolbox(item));
                    }
                }
                _ => {}
            }
        }
        out
    }

    fn bash_toolbox(&mut self, node: &Node) -> Option<BashToolbox> {
        let (kind, contents) = self.kind(node, &boxes::TOOLBOX)?;
        let is_single = kind == "SingleTool";
        let context = if is_single { &boxes::SINGLE_TOOL } else { &boxes::TOOLBOX_CONTENTS };
        let contents = contents?;
        self.contents(contents, context)?;
        let path = self.text_of(contents, context, "Path")?;
        let basename_filter =
            if is_single { None } else { self.text_of(contents, context, "BasenameFilter") };
        Some(BashToolbox { span: node.span, is_single, path, basename_filter })
    }

    /// Everything else that an agent may call.
    pub(super) fn toolboxes(&mut self, node: &Node) -> Toolboxes {
        let mut out = Toolboxes {
            mcp: self.each(node, "mcpServers", Self::mcp_server),
            openapi: self.each(node, "openApiToolboxes", Self::openapi),
            builtin: self.each(node, "builtinToolboxes", Self::builtin),
            agents: self.each(node, "extraAgents", Self::extra_agent),
            skills: self.each(node, "skillSources", Self::skill_source),
            ..Toolboxes::default()
        };
        if let Some(node) = node.get("autoEnableSkills") {
            out.enabled_skills = self.list(node, "autoEnableSkills");
        }
        let own = |entry: &&Entry| KEYS.contains(&entry.key.value.as_str());
        out.written = node.entries().iter().filter(own).cloned().collect();
        let written = |key: &str| self.count(node, key);
        out.is_cut = written("mcpServers") > out.mcp.len()
            || written("openApiToolboxes") > out.openapi.len()
            || written("builtinToolboxes") > out.builtin.len()
            || written("extraAgents") > out.agents.len()
            || written("skillSources") > out.skills.len()
            || FOREIGN.iter().any(|key| node.get(key).is_some());
        out
    }

    /// What is read of each item of a list; an item that cannot be read has been reported.
    fn each<T>(&mut self, node: &Node, key: &str, read: impl Fn(&mut Self, &Node) -> Option<T>) -> Vec<T> {
        self.items(node, key).iter().filter_map(|item| read(self, item)).collect()
    }

    fn items<'t>(&mut self, node: &'t Node, key: &str) -> &'t [Node] {
        match node.get(key) {
            Some(list) if list.value != Value::Null => self.fields.items(list, &format!("`{key}`")),
            _ => &[],
        }
    }

    fn count(&self, node: &Node, key: &str) -> usize {
        match node.get(key).map(|node| &node.value) {
            Some(Value::List(items)) => items.len(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_)) | None => 0,
            Some(Value::Map(_) | Value::Hole) => 1,
        }
    }

    /// The kind of a tagged map, and its contents. A kind that is not known is named.
    pub(super) fn kind<'t>(
        &mut self,
        node: &'t Node,
        context: &'static Context,
    ) -> Option<(&'static str, Option<&'t Node>)> {
        if !self.fields.map(node, context.title) {
            return None;
        }
        self.keys(node, context);
        let tag = node.get("tag")?;
        let Some(Shape::Word(tags)) = context.key("tag").map(|key| key.shape) else { return None };
        let Some(text) = tag.text() else {
            self.fields.wrong(tag, "`tag`", "text");
            return None;
        };
        let written = text.value.as_str();
        if let Some(tag) = tags.iter().find(|tag| **tag == written) {
            return Some((tag, node.get("contents")));
        }
        let all: Vec<_> = tags.iter().map(|tag| format!("`{tag}`")).collect();
        let message = format!("`{written}` is no supported kind of {}", without_article(context.title));
        let mut found = Diagnostic::new(&rules::UNSUPPORTED_TOOLBOX, tag.span, message)
            .help(format!("the kinds are {}", all.join(", ")));
        if let Some(near) = nearest(written, tags.iter().copied()) {
            found = found.suggest(written, Some(&format!("\"{near}\"")), tag.span);
        }
        found.severity = self.strict;
        self.fields.report(found);
        None
    }

    /// Whether contents are a map; its unknown and missing keys are reported, and an activation that is none here.
    pub(super) fn contents(&mut self, node: &Node, context: &'static Context) -> Option<()> {
        if !self.fields.map(node, context.title) {
            return None;
        }
        self.keys(node, context);
        if context.key("Activation").is_some()
            && let Some(activation) = self.value_of(node, context, "Activation")
            && activation.text().is_none_or(|text| text.value != "always")
        {
            let message = "tools that are activated on demand are not supported; they are always there";
            self.unsupported(activation.span, message, "remove it, or write `\"always\"`");
        }
        Some(())
    }

    /// Text that must be there; null is not.
    pub(super) fn sure_text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        if node.value == Value::Null {
            self.fields.wrong(node, &format!("`{what}`"), "text");
        }
        self.text(node, what)
    }

    /// The value of a key in either spelling; null counts as not written.
    pub(super) fn value_of<'t>(
        &self,
        node: &'t Node,
        context: &Context,
        key: &'static str,
    ) -> Option<&'t Node> {
        let value = node.get(key).or_else(|| node.get(context.other_spelling(key)?))?;
        (value.value != Value::Null).then_some(value)
    }

    /// The text of a key in either spelling.
    pub(super) fn text_of(
        &mut self,
        node: &Node,
        context: &Context,
        key: &'static str,
    ) -> Option<Spanned<String>> {
        let value = self.value_of(node, context, key)?;
        self.text(value, key)
    }

    /// The name of a toolbox, which becomes part of names of tools.
    pub(super) fn box_name(
        &mut self,
        node: &Node,
        context: &Context,
        key: &'static str,
    ) -> Option<Spanned<String>> {
        let name = self.text_of(node, context, key)?;
        self.name_of_tools(name, "a toolbox")
    }

    fn name_of_tools(&mut self, name: Spanned<String>, what: &str) -> Option<Spanned<String>> {
        let text = &name.value;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !text.is_empty() && text.len() <= MOST_NAME && text.chars().all(fits) {
            return Some(name);
        }
        let message = format!("`{text}` cannot name {what}: it becomes part of names of tools");
        let help = format!("write 1 to {MOST_NAME} letters from a to z, digits, `-` and `_`");
        let mut found = Diagnostic::new(&rules::BAD_NAME, name.span, message).help(help);
        found.severity = self.strict;
        self.fields.report(found);
        None
    }

    fn pairs(&mut self, node: &Node, context: &Context, key: &'static str) -> Vec<Pair> {
        let Some(value) = self.value_of(node, context, key) else { return Vec::new() };
        let entries = self.fields.entries(value, &format!("`{key}`"));
        let named = entries.into_iter().filter(|entry| !super::is_comment(entry));
        named
            .filter_map(|entry| Some((entry.key.clone(), self.text(&entry.value, &entry.key.value)?)))
            .collect()
    }

    fn mcp_server(&mut self, node: &Node) -> Option<McpServer> {
        let (kind, contents) = self.kind(node, &boxes::MCP_SERVER)?;
        let is_program = kind == "McpSimpleBinary";
        let context = if is_program { &boxes::MCP_PROGRAM } else { &boxes::MCP_HTTP };
        let contents = contents?;
        self.contents(contents, context)?;
        let name = self.box_name(contents, context, "name");
        let reach = if is_program {
            let args = self.value_of(contents, context, "args");
            let args = args.map(|node| self.list(node, "args")).unwrap_or_default();
            let env = self.pairs(contents, context, "env");
            McpReach::Program { executable: self.text_of(contents, context, "executable")?, args, env }
        } else {
            let headers = self.pairs(contents, context, "headers");
            let api_key_id = self.text_of(contents, context, "apiKeyId");
            McpReach::Http { url: self.text_of(contents, context, "url")?, headers, api_key_id }
        };
        Some(McpServer { span: node.span, name: name?, reach })
    }

    fn openapi(&mut self, node: &Node) -> Option<OpenApi> {
        let (kind, contents) = self.kind(node, &boxes::OPENAPI_TOOLBOX)?;
        if kind == "OpenAPIServerOnDisk" {
            let on_disk = Some(self.sure_text(contents?, "contents")?);
            return Some(OpenApi { span: node.span, on_disk, server: None });
        }
        let server = Some(self.openapi_server(contents?)?);
        Some(OpenApi { span: node.span, on_disk: None, server })
    }

    /// The service of an OpenAPI toolbox.
    pub(super) fn openapi_server(&mut self, node: &Node) -> Option<OpenApiServer> {
        let context = &boxes::OPENAPI_SERVER;
        self.contents(node, context)?;
        let headers = self.pairs(node, context, "Headers");
        let mut api_key_id = self.text_of(node, context, "ApiKeyId");
        if let Some(token) = self.value_of(node, context, "Token") {
            let message = "a `Token` is not taken: what an agent file says is stored with every session";
            self.unsupported(token.span, message, "put it into the key file and name it with `ApiKeyId`");
        }
        if let Some(secrets) = self.value_of(node, context, "Secrets") {
            for secret in self.fields.items(secrets, "`Secrets`") {
                api_key_id = api_key_id.or(self.secret(secret));
            }
        }
        let filter =
            self.value_of(node, context, "Filter").map(|node| self.endpoint_filter(node).ok_or(node.span));
        // A filter that cannot be read offers nothing: everything would be more than was meant.
        let filter =
            filter.map(|read| read.unwrap_or_else(|_| crate::ast::toolbox::EndpointFilter::Any(Vec::new())));
        let base_url = self.text_of(node, context, "BaseUrl");
        let spec = self.text_of(node, context, "SpecUrl")?;
        Some(OpenApiServer { spec, base_url, headers, api_key_id, filter })
    }

    /// A key of the key file that is sent as bearer token; every other secret is named.
    fn secret(&mut self, node: &Node) -> Option<Spanned<String>> {
        if !self.fields.map(node, boxes::SECRET.title) {
            return None;
        }
        self.keys(node, &boxes::SECRET);
        let source = node.get("source")?;
        let (_, key) = self.kind(source, &boxes::SECRET_SOURCE)?;
        let decoder = node.get("decoder").and_then(|node| node.get("tag")).and_then(Node::text);
        let serializer = node.get("serializer")?.to_json();
        let bearer = serde_json::json!({
            "tag": "Header", "contents": ["Authorization", "Bearer {{secret}}"],
        });
        if serializer != bearer || decoder.is_some_and(|tag| tag.value != "Clear") {
            let message = "a secret is sent as bearer token alone, and as it stands in the key file";
            let help = "write it into the key file as it is sent, and name it with `ApiKeyId`";
            self.unsupported(node.span, message, help);
            return None;
        }
        self.sure_text(key?, "contents")
    }

    fn extra_agent(&mut self, node: &Node) -> Option<ExtraAgent> {
        let context = &boxes::EXTRA_AGENT;
        if !self.fields.map(node, context.title) {
            return None;
        }
        self.keys(node, context);
        let slug = self.text_of(node, context, "slug");
        let slug = slug.and_then(|slug| self.name_of_tools(slug, "an agent that is called"));
        let path = self.text_of(node, context, "path")?;
        Some(ExtraAgent { span: node.span, slug: slug?, path })
    }

    fn skill_source(&mut self, node: &Node) -> Option<SkillSource> {
        let (kind, contents) = self.kind(node, &boxes::SKILL_SOURCE)?;
        let path = self.sure_text(contents?, "contents")?;
        Some(SkillSource { path, is_single: kind == "SkillSingle" })
    }
}

fn without_article(title: &str) -> &str {
    title.strip_prefix("a ").or_else(|| title.strip_prefix("an ")).unwrap_or(title)
}
