//! Readers of single keys and values, shared by workflows and agents: each gives a value or one finding.

use super::{binding, rules};
use crate::ast::Template;
use crate::diagnostic::{Diagnostic, Fix, Severity, nearest};
use crate::grammar::{self, Context};
use crate::source::{Source, Span, Spanned};
use crate::time::Millis;
use crate::tree::{Entry, Node, Style, Value};
use std::ops::RangeInclusive;

/// Where values are read from and findings go.
pub(super) struct Fields<'a> {
    pub(super) source: &'a Source,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

impl Fields<'_> {
    /// The value as its author wrote it, shortened to one line for a message.
    pub(super) fn written(&self, node: &Node) -> String {
        shorten(self.source.slice(node.span).trim())
    }

    pub(super) fn report(&mut self, found: Diagnostic) {
        self.diagnostics.push(found);
    }

    /// Whether part of a map or list was lost in reading, so that nothing is known to be missing.
    pub(super) fn is_cut(node: &Node) -> bool {
        match &node.value {
            Value::Map(entries) => entries.iter().any(super::is_hole_entry),
            Value::List(items) => items.iter().any(|item| item.value == Value::Hole),
            Value::Hole => true,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
        }
    }

    /// A short place to point at for a whole map: its first key.
    pub(super) fn head_of(&self, node: &Node) -> Span {
        let first = node.entries().iter().find(|entry| !super::is_hole_entry(entry));
        first
            .map_or(Span { end: node.span.end.min(node.span.start + 1), ..node.span }, |entry| entry.key.span)
    }

    /// The finding that `what` should be `expected`.
    pub(super) fn wrong(&mut self, node: &Node, what: &str, expected: &str) {
        if node.value == Value::Hole {
            return;
        }
        let message = if node.value == Value::Null && node.span.is_empty() {
            format!("{what} has no value; {expected} is expected")
        } else {
            format!("{what} must be {expected}, not {}", node.kind())
        };
        self.report(Diagnostic::new(&rules::WRONG_SHAPE, node.span, message));
    }

    /// Whether the node is a map; says so if not.
    pub(super) fn map(&mut self, node: &Node, what: &str) -> bool {
        let is_map = matches!(node.value, Value::Map(_));
        if !is_map {
            self.wrong(node, what, "a map");
        }
        is_map
    }

    /// The same with a hint.
    pub(super) fn map_or(&mut self, node: &Node, what: &str, help: &str) -> bool {
        let before = self.diagnostics.len();
        let is_map = self.map(node, what);
        if let Some(found) = self.diagnostics.get_mut(before) {
            found.help = Some(help.to_owned());
        }
        is_map
    }

    /// The entries of a map of free names, marks of lost parts left out.
    pub(super) fn entries<'t>(&mut self, node: &'t Node, what: &str) -> Vec<&'t Entry> {
        if !self.map(node, what) {
            return Vec::new();
        }
        node.entries().iter().filter(|entry| !super::is_hole_entry(entry)).collect()
    }

    /// The items of a list.
    pub(super) fn items<'t>(&mut self, node: &'t Node, what: &str) -> &'t [Node] {
        if let Value::List(items) = &node.value {
            return items;
        }
        self.wrong(node, what, "a list");
        &[]
    }

    /// Unknown and missing keys of a map that takes the keys of these contexts.
    pub(super) fn keys(&mut self, node: &Node, contexts: &[&'static Context]) {
        let title = contexts.last().map_or("this map", |context| context.title);
        for entry in node.entries() {
            if !super::is_hole_entry(entry) && !contexts.iter().any(|c| c.key(&entry.key.value).is_some()) {
                let names = contexts.iter().flat_map(|context| context.names());
                self.unknown_key(node, entry, names, title, Severity::Error);
            }
        }
        for key in contexts.iter().flat_map(|context| context.keys).filter(|key| key.required) {
            if node.get(key.name).is_none() && !Self::has_near_miss(node, key.name, contexts) {
                self.missing(node, key.name, title);
            }
        }
    }

    /// Whether an unknown key is so near that it surely was meant: then the key is misspelt and not missing.
    fn has_near_miss(node: &Node, name: &str, contexts: &[&'static Context]) -> bool {
        let known = |key: &str| contexts.iter().any(|context| context.key(key).is_some());
        let mut unknown = node.entries().iter().filter(|entry| !known(&entry.key.value));
        unknown.any(|entry| {
            let names = contexts.iter().flat_map(|context| context.names());
            nearest(&entry.key.value, names.filter(|name| node.get(name).is_none())) == Some(name)
        })
    }

    /// Unknown keys of a map that takes only `own` of the keys of these contexts.
    pub(super) fn keys_of(&mut self, node: &Node, own: &[&'static str], all: &[&Context], title: &str) {
        for entry in node.entries() {
            let key = entry.key.value.as_str();
            if super::is_hole_entry(entry) || own.contains(&key) {
                continue;
            }
            if all.iter().any(|context| context.key(key).is_some()) {
                let message = format!("`{key}` does not belong to {title}");
                let found = Diagnostic::new(&rules::UNKNOWN_KEY, entry.key.span, message);
                self.report(found.help(format!("its keys are {}", listed(own.iter().copied()))));
            } else {
                self.unknown_key(node, entry, own.iter().copied(), title, Severity::Error);
            }
        }
    }

    pub(super) fn unknown_key(
        &mut self,
        node: &Node,
        entry: &Entry,
        names: impl Iterator<Item = &'static str> + Clone,
        title: &str,
        severity: Severity,
    ) {
        let (key, span) = (entry.key.value.as_str(), entry.key.span);
        let free = names.clone().filter(|name| node.get(name).is_none());
        let near = nearest(key, free);
        let excluded = grammar::EXCLUDED.iter().find(|(word, _)| *word == key);
        if let (Some((_, what)), Severity::Error) = (excluded, severity)
            && near.is_none_or(|near| strsim::damerau_levenshtein(near, key) > 1)
        {
            let message = format!("`{key}` is not supported: the language has no {what}");
            let help = "a workflow is a sequence of cron, question, agent, loop, switch, pick and stop steps; \
                        computation belongs into agents and their tools";
            self.report(Diagnostic::new(&rules::UNSUPPORTED_CONSTRUCT, span, message).help(help));
            return;
        }
        let mut found = Diagnostic::new(&rules::UNKNOWN_KEY, span, format!("`{key}` is no key of {title}"));
        found.severity = severity;
        let of_kind = grammar::KINDS.iter().find(|kind| kind.key(key).is_some());
        found = match (near, of_kind) {
            (Some(near), _) => found.suggest(Some(near), span),
            (None, _) if title == grammar::LOOP.title && grammar::LOOP_BODY.key(key).is_some() => {
                found.help(format!("write `{key}` inside `loop:`, one level deeper"))
            }
            (None, Some(kind)) if severity == Severity::Error => {
                found.help(format!("`{key}` belongs to {}; here are {}", kind.title, listed(names)))
            }
            (None, _) => found.help(format!("its keys are {}", listed(names))),
        };
        self.report(found);
    }

    /// The finding that a key is missing, unless part of the map was lost.
    pub(super) fn missing(&mut self, node: &Node, key: &str, title: &str) {
        if !Self::is_cut(node) {
            let message = format!("{title} needs the key `{key}`");
            self.report(Diagnostic::new(&rules::MISSING_KEY, self.head_of(node), message));
        }
    }

    /// The value of a key that must be there.
    pub(super) fn needed<'t>(&mut self, node: &'t Node, key: &str) -> Option<&'t Node> {
        let value = node.get(key);
        if value.is_none() {
            self.missing(node, key, "this");
        }
        value
    }

    /// Text in which no binding is read.
    pub(super) fn text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let Some(text) = node.text() else {
            self.no_text(node, what);
            return None;
        };
        self.no_binding(node, what);
        Some(Spanned::new(text.value.clone(), text.span))
    }

    fn no_text(&mut self, node: &Node, what: &str) {
        let before = self.diagnostics.len();
        self.wrong(node, &format!("`{what}`"), "text");
        let is_scalar = matches!(node.value, Value::Bool(_) | Value::Number(_) | Value::Null);
        if let Some(found) = self.diagnostics.get_mut(before).filter(|_| is_scalar && !node.span.is_empty()) {
            let quoted = format!("\"{}\"", self.source.slice(node.span));
            found.help = Some("quote it if it is meant as text".to_owned());
            found.fix = Some(Fix::replace("quote it", node.span, quoted));
        }
    }

    /// Reports each text of a value in which a binding stands although none is read there.
    pub(super) fn no_binding(&mut self, node: &Node, what: &str) {
        let Some(text) = node.text().filter(|text| text.value.contains("${{")) else { return };
        let Some(at) = binding::position(&text.value) else { return };
        let end = text
            .value
            .get(at..)
            .and_then(|rest| rest.find("}}"))
            .map_or(text.value.len(), |len| at + len + 2);
        let span = text.span_of(at..end);
        let message = format!("no binding is read in `{what}`");
        let help = "bindings stand in question, human, task, with, switch, pick, outputs, reason, label and \
                    respondents; `$${{` writes the characters themselves";
        self.report(Diagnostic::new(&rules::BINDING_NOT_ALLOWED, span, message).help(help));
    }

    /// Text with bindings.
    pub(super) fn template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let Some(text) = node.text() else {
            self.no_text(node, what);
            return None;
        };
        Some(binding::template(text, self.diagnostics))
    }

    /// Text with bindings that is not empty.
    pub(super) fn some_template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let template = self.template(node, what)?;
        if node.text().is_some_and(|text| text.value.trim().is_empty()) {
            self.report(Diagnostic::new(&rules::BAD_VALUE, node.span, format!("`{what}` is empty")));
        }
        Some(template)
    }

    /// A scalar that is exactly one binding.
    pub(super) fn sole_binding(&mut self, node: &Node, what: &str) -> Option<Template> {
        let before = self.diagnostics.len();
        let template = match node.text() {
            Some(text) => Some(binding::template(text, self.diagnostics)),
            None => None,
        };
        if template.as_ref().is_some_and(|template| template.sole_binding().is_some()) {
            return template;
        }
        if self.diagnostics.len() == before && node.value != Value::Hole {
            let message = format!("`{what}` must be exactly one binding");
            let mut found = Diagnostic::new(&rules::BINDING_EXPECTED, node.span, message)
                .help("write `${{ path }}`, for example `${{ steps.plan.result }}`");
            let path = node.text().filter(|text| text.style != Style::Literal && text.style != Style::Folded);
            if let Some(text) = path.filter(|text| looks_like_path(&text.value)) {
                let wrapped = format!("${{{{ {} }}}}", text.value);
                found = found.fix(Fix::replace(format!("write `{wrapped}`"), node.span, wrapped.clone()));
            }
            self.report(found);
        }
        None
    }

    /// One of some words.
    pub(super) fn word(
        &mut self,
        node: &Node,
        what: &str,
        words: &[&'static str],
    ) -> Option<Spanned<&'static str>> {
        let written = match &node.value {
            Value::Text(text) => text.value.clone(),
            Value::Bool(_) | Value::Number(_) => self.source.slice(node.span).to_owned(),
            Value::Null | Value::List(_) | Value::Map(_) | Value::Hole => {
                self.wrong(node, &format!("`{what}`"), &alternatives(words));
                return None;
            }
        };
        if let Some(word) = words.iter().find(|word| **word == written) {
            return Some(Spanned::new(word, node.span));
        }
        let message =
            format!("`{}` is no value of `{what}`; it is {}", shorten(&written), alternatives(words));
        let near = nearest(&written, words.iter().copied());
        self.report(Diagnostic::new(&rules::BAD_VALUE, node.span, message).suggest(near, node.span));
        None
    }

    /// A kebab-case name.
    pub(super) fn kebab(&mut self, node: &Node, what: &str, is_free: bool) -> Option<Spanned<String>> {
        const MOST: usize = 64;
        let text = self.text(node, what)?;
        let is_kebab = text.value.starts_with(|c: char| c.is_ascii_lowercase())
            && text.value.split('-').all(|part| {
                !part.is_empty()
                    && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            });
        if is_kebab && text.value.len() <= MOST {
            return Some(text);
        }
        if !text.value.contains("${{") {
            let written = shorten(&text.value);
            let message = if is_kebab {
                format!("`{written}` has more than {MOST} characters")
            } else {
                format!(
                    "`{written}` is no name: names have lower-case letters, digits and single hyphens, and begin with a letter"
                )
            };
            let mut found = Diagnostic::new(&rules::BAD_NAME, text.span, message);
            let better = to_kebab(&text.value);
            if let Some(better) = better.filter(|better| better.len() <= MOST && !is_kebab) {
                let mut fix = Fix::replace(format!("write `{better}`"), text.span, better.as_str());
                fix.safe = is_free;
                found = found.help(format!("write `{better}`")).fix(fix);
            }
            self.report(found);
        }
        Some(text)
    }

    /// Whether a name can be written in the path of a binding.
    pub(super) fn identifier(&mut self, name: &Spanned<String>, what: &str) {
        let text = &name.value;
        let fits = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !fits {
            let message = format!("`{}` cannot name {what}", shorten(text));
            let help = "names have letters, digits, `_` and `-`, and begin with a letter or `_`";
            self.report(Diagnostic::new(&rules::BAD_NAME, name.span, message).help(help));
        }
    }

    /// A duration.
    pub(super) fn duration(&mut self, node: &Node, what: &str) -> Option<Spanned<Millis>> {
        let text = match &node.value {
            Value::Text(text) => text,
            Value::Number(digits) => {
                let message = format!("`{what}` is `{digits}` without a unit");
                let help = format!("write `{digits}s`, `{digits}m`, `{digits}h` or `{digits}d`");
                self.report(Diagnostic::new(&rules::BAD_DURATION, node.span, message).help(help));
                return None;
            }
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Hole => {
                self.wrong(node, &format!("`{what}`"), "a duration such as `15m`");
                return None;
            }
        };
        if text.value.contains("${{") {
            self.no_binding(node, what);
            return None;
        }
        match Millis::parse(&text.value) {
            Ok(duration) => Some(Spanned::new(duration, node.span)),
            Err(sentence) => {
                self.report(Diagnostic::new(&rules::BAD_DURATION, node.span, sentence));
                None
            }
        }
    }

    /// A whole number in a range.
    pub(super) fn number(
        &mut self,
        node: &Node,
        what: &str,
        range: RangeInclusive<u32>,
    ) -> Option<Spanned<u32>> {
        let Value::Number(digits) = &node.value else {
            self.wrong(node, &format!("`{what}`"), "a whole number");
            return None;
        };
        match digits.parse::<u32>() {
            Ok(number) if range.contains(&number) => Some(Spanned::new(number, node.span)),
            _ => {
                let message = format!(
                    "`{what}` is `{digits}`; it must be a whole number from {} to {}",
                    range.start(),
                    range.end()
                );
                self.report(Diagnostic::new(&rules::NUMBER_OUT_OF_RANGE, node.span, message));
                None
            }
        }
    }

    /// Who may answer or decide.
    pub(super) fn respondents(&mut self, node: &Node) -> Option<Vec<Template>> {
        let Value::List(items) = &node.value else {
            let before = self.diagnostics.len();
            self.wrong(node, "`respondents`", "a list");
            if let (Some(text), Some(found)) = (node.text(), self.diagnostics.get_mut(before)) {
                let list = format!("[{}]", super::yaml::quoted(&text.value));
                found.fix = Some(Fix::replace("make it a list", node.span, list));
            }
            return None;
        };
        if items.is_empty() {
            let message = "`respondents` is empty, so nobody could answer";
            self.report(Diagnostic::new(&rules::BAD_VALUE, node.span, message).help("write `[owner]`"));
        }
        let mut out = Vec::new();
        for item in items {
            let Some(template) = self.template(item, "respondents") else { continue };
            if let Some(name) =
                template.literal().filter(|_| !item.text().is_some_and(|text| text.value.contains("${{")))
            {
                let rest = name.strip_prefix("user:").or_else(|| name.strip_prefix("role:"));
                if name != "owner" && !rest.is_some_and(|rest| !rest.trim().is_empty()) {
                    let message = format!(
                        "`{}` is no respondent; write `owner`, `user:name` or `role:name`",
                        shorten(name)
                    );
                    let near = nearest(name, ["owner"]);
                    self.report(
                        Diagnostic::new(&rules::BAD_VALUE, item.span, message).suggest(near, item.span),
                    );
                }
            }
            out.push(template);
        }
        Some(out)
    }
}

fn to_kebab(text: &str) -> Option<String> {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && out.ends_with(|last: char| last.is_ascii_lowercase()) {
                out.push('-');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_end_matches('-');
    out.starts_with(|c: char| c.is_ascii_lowercase()).then(|| out.to_owned())
}

fn looks_like_path(text: &str) -> bool {
    ["inputs.", "steps.", "session.", "loop.", "candidate.", "previous."]
        .into_iter()
        .any(|root| text.starts_with(root))
        && !text.contains(char::is_whitespace)
}

/// At most forty characters of the first line.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn alternatives(words: &[&'static str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [first @ .., last] => format!("{} or `{last}`", listed(first.iter().copied())),
    }
}
