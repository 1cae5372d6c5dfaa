//! Scalars of the language: texts, bindings, words, names, durations, numbers, respondents.

use super::{Fields, alternatives, shorten};
use crate::ast::Template;
use crate::diagnostic::{Diagnostic, Fix, nearest};
use crate::parse::{binding, rules, yaml};
use crate::source::Spanned;
use crate::time::Millis;
use crate::tree::{Node, Style, Value};
use std::ops::RangeInclusive;

impl Fields<'_> {
    /// Text in which no binding is read.
    pub(in crate::parse) fn text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
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
    pub(in crate::parse) fn no_binding(&mut self, node: &Node, what: &str) {
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
    pub(in crate::parse) fn template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let Some(text) = node.text() else {
            self.no_text(node, what);
            return None;
        };
        Some(binding::template(text, self.diagnostics))
    }

    /// Text with bindings that is not empty.
    pub(in crate::parse) fn some_template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let template = self.template(node, what)?;
        if node.text().is_some_and(|text| text.value.trim().is_empty()) {
            self.report(Diagnostic::new(&rules::BAD_VALUE, node.span, format!("`{what}` is empty")));
        }
        Some(template)
    }

    /// A scalar that is exactly one binding.
    pub(in crate::parse) fn sole_binding(&mut self, node: &Node, what: &str) -> Option<Template> {
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
    pub(in crate::parse) fn word(
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
        self.report(
            Diagnostic::new(&rules::BAD_VALUE, node.span, message).suggest(&written, near, node.span),
        );
        None
    }

    /// A kebab-case name.
    pub(in crate::parse) fn kebab(
        &mut self,
        node: &Node,
        what: &str,
        is_free: bool,
    ) -> Option<Spanned<String>> {
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
                    "`{written}` is no name: names have lower-case letters, digits and \
                     single hyphens, and begin with a letter"
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
    pub(in crate::parse) fn identifier(&mut self, name: &Spanned<String>, what: &str) {
        let text = &name.value;
        let fits = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !fits {
            let message = format!("`{}` cannot name {what}", shorten(text));
            let help = "names have letters from a to z, digits, `_` and `-`, and begin with a letter or `_`";
            self.report(Diagnostic::new(&rules::BAD_NAME, name.span, message).help(help));
        }
    }

    /// A duration.
    pub(in crate::parse) fn duration(&mut self, node: &Node, what: &str) -> Option<Spanned<Millis>> {
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
                let found = Diagnostic::new(&rules::BAD_DURATION, node.span, sentence);
                self.report(match Millis::meant(&text.value) {
                    Some(meant) => found.help(format!("write `{meant}`")).fix(Fix::replace(
                        format!("write `{meant}`"),
                        node.span,
                        meant,
                    )),
                    None => found,
                });
                None
            }
        }
    }

    /// A whole number in a range.
    pub(in crate::parse) fn number(
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
    pub(in crate::parse) fn respondents(&mut self, node: &Node) -> Option<Vec<Template>> {
        let Value::List(items) = &node.value else {
            let before = self.diagnostics.len();
            self.wrong(node, "`respondents`", "a list");
            if let (Some(text), Some(found)) = (node.text(), self.diagnostics.get_mut(before)) {
                let list = format!("[{}]", yaml::quoted(&text.value));
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
            // Whom a text names is judged by `invalid-respondent`.
            out.extend(self.template(item, "respondents"));
        }
        Some(out)
    }
}

fn to_kebab(text: &str) -> Option<String> {
    // What is left of `Größe` without the letters of its own is no name that anybody meant.
    if text.chars().any(|c| !c.is_ascii() && c.is_alphanumeric()) {
        return None;
    }
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
