//! `${{ path }}` in scalars (section 4): a text into a [`Template`]. Knows the grammar of paths, not what they name.

use super::rules;
use crate::ast::{Binding, Part, Segment, Template};
use crate::diagnostic::{Diagnostic, Fix, Rule};
use crate::source::Spanned;
use crate::tree::Text;
use std::ops::Range;

const OPEN: &str = "${{";
const CLOSE: &str = "}}";

/// Whether a text holds something that would be read as a binding.
#[must_use]
pub fn is_in(text: &str) -> bool {
    find(text, 0).is_some()
}

/// Where the first binding of a text begins.
#[must_use]
pub fn position(text: &str) -> Option<usize> {
    find(text, 0)
}

/// The bindings of a text. One that cannot be read is reported and left out.
pub fn template(text: &Text, diagnostics: &mut Vec<Diagnostic>) -> Template {
    let value = text.value.as_str();
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some((open, is_escape)) = next_mark(value, at) {
        if is_escape {
            literal.push_str(value.get(at..open).unwrap_or_default());
            literal.push_str(OPEN);
            at = open + 1 + OPEN.len();
            continue;
        }
        literal.push_str(value.get(at..open).unwrap_or_default());
        let inner = open + OPEN.len();
        let next = find(value, inner).unwrap_or(value.len());
        let Some(close) = value.get(inner..next).and_then(|rest| rest.find(CLOSE)) else {
            diagnostics.push(unclosed(text, open..next));
            at = next;
            continue;
        };
        let end = inner + close + CLOSE.len();
        match (Path { text, diagnostics, at: inner, end: inner + close, whole: open..end }).read() {
            Some(binding) => {
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(Part::Binding(binding));
            }
            None => debug_assert!(!diagnostics.is_empty(), "a binding is only left out with a finding"),
        }
        at = end;
    }
    literal.push_str(value.get(at..).unwrap_or_default());
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Template { span: text.span, parts }
}

/// The next `${{`, and whether it is escaped; then the place is that of the first `$`.
fn next_mark(value: &str, from: usize) -> Option<(usize, bool)> {
    let open = from + value.get(from..)?.find(OPEN)?;
    let escaped = open > from && value.as_bytes().get(open - 1) == Some(&b'$');
    Some(if escaped { (open - 1, true) } else { (open, false) })
}

/// The next `${{` that is not escaped.
fn find(value: &str, mut from: usize) -> Option<usize> {
    loop {
        match next_mark(value, from)? {
            (open, false) => return Some(open),
            (open, true) => from = open + 1 + OPEN.len(),
        }
    }
}

fn unclosed(text: &Text, range: Range<usize>) -> Diagnostic {
    let span = text.span_of(range.start..range.start + OPEN.len());
    Diagnostic::new(&rules::UNCLOSED_BINDING, span, "the binding that begins here is not closed by `}}`")
        .help("write `${{ path }}`; `$${{` writes the characters themselves")
}

struct Path<'a> {
    text: &'a Text,
    diagnostics: &'a mut Vec<Diagnostic>,
    at: usize,
    /// Where the closing braces begin.
    end: usize,
    whole: Range<usize>,
}

impl Path<'_> {
    fn read(mut self) -> Option<Binding> {
        let inner = self.text.value.get(self.at..self.end).unwrap_or_default();
        if inner.trim().is_empty() {
            let example = "name a value, such as `${{ inputs.topic }}` or `${{ steps.plan.result }}`";
            return self.fail(
                &rules::EMPTY_BINDING,
                self.whole.clone(),
                "the binding names nothing",
                example,
            );
        }
        self.blanks();
        let start = self.at;
        let name = self.word();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return self.no_path(start);
        }
        let root = Spanned::new(name, self.text.span_of(start..self.at));
        let mut path = Vec::new();
        loop {
            let start = self.at;
            match self.peek() {
                None => break,
                Some('.') => path.push(self.name(start)?),
                Some('[') => path.push(self.index(start)?),
                Some(c) if c.is_whitespace() => {
                    self.blanks();
                    if self.peek().is_some() {
                        return self.no_path(self.at);
                    }
                }
                Some(_) => return self.no_path(self.at),
            }
        }
        Some(Binding { span: self.text.span_of(self.whole.clone()), root, path })
    }

    fn peek(&self) -> Option<char> {
        self.text.value.get(self.at..self.end)?.chars().next()
    }

    fn blanks(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_whitespace()) {
            self.at += c.len_utf8();
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
            self.at += c.len_utf8();
        }
        self.text.value.get(start..self.at).unwrap_or_default().to_owned()
    }

    fn name(&mut self, dot: usize) -> Option<Spanned<Segment>> {
        self.at += 1;
        let start = self.at;
        let name = self.word();
        if name.is_empty() {
            let message = "a name is missing behind this `.`";
            self.report(
                &rules::MALFORMED_BINDING,
                dot..dot + 1,
                message,
                "write `.name`, or `[0]` for a list item",
            );
            return None;
        }
        let span = self.text.span_of(start..self.at);
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("`.{name}` is no name; an item of a list is written `[{name}]`");
            let place = self.text.span_of(dot..self.at);
            let fix = Fix::replace(format!("write `[{name}]`"), place, format!("[{name}]"));
            self.diagnostics.push(Diagnostic::new(&rules::MALFORMED_BINDING, place, message).fix(fix));
            return None;
        }
        Some(Spanned::new(Segment::Name(name), span))
    }

    fn index(&mut self, bracket: usize) -> Option<Spanned<Segment>> {
        let inner = self.text.value.get(bracket + 1..self.end).unwrap_or_default();
        let Some(close) = inner.find(']') else {
            let message = "this `[` is not closed";
            self.report(
                &rules::MALFORMED_BINDING,
                bracket..bracket + 1,
                message,
                "write `[0]` for the first item",
            );
            return None;
        };
        let digits = inner.get(..close).unwrap_or_default();
        self.at = bracket + 1 + close + 1;
        let range = bracket..self.at;
        match digits.parse() {
            Ok(index) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(Spanned::new(Segment::Index(index), self.text.span_of(range)))
            }
            _ => {
                let message = format!("`[{digits}]` is no position in a list");
                let help = "write a number from 0, such as `[0]`; a property is written `.name`";
                self.report(&rules::MALFORMED_BINDING, range, &message, help);
                None
            }
        }
    }

    /// Something that is no path: an operator, a call, a literal, or a stray character.
    fn no_path(&mut self, at: usize) -> Option<Binding> {
        let inner = self.text.value.get(self.whole.start + OPEN.len()..self.end).unwrap_or_default().trim();
        let rest = self.text.value.get(at..self.end).unwrap_or_default();
        let piece = rest.trim_end();
        let c = piece.chars().next().unwrap_or(' ');
        let range = at..at + piece.len();
        if c == '(' {
            let message = format!("`{inner}` calls a function; a binding is only a path to a value");
            let help = "bindings have no functions; let an agent compute the value and name its result";
            return self.fail(&rules::EXPRESSION_IN_BINDING, self.whole.clone(), &message, help);
        }
        let word =
            |word: &str| piece.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace));
        let is_operator = "+-*/%<>=!&|?:,~^\"'`{".contains(c) || c.is_ascii_digit();
        if is_operator || ["and", "or", "not", "in", "is", "if"].into_iter().any(word) {
            let message = format!("`{inner}` is an expression; a binding is only a path to a value");
            let help =
                "bindings have no operators, functions or literals; branch with `switch`, join with `pick`";
            return self.fail(&rules::EXPRESSION_IN_BINDING, self.whole.clone(), &message, help);
        }
        let message = format!("`{piece}` cannot stand in the path of a binding");
        self.fail(
            &rules::MALFORMED_BINDING,
            range,
            &message,
            "a path is names joined by `.`, and `[0]` for a list item",
        )
    }

    fn report(&mut self, rule: &'static Rule, range: Range<usize>, message: &str, help: &str) {
        let span = self.text.span_of(range);
        self.diagnostics.push(Diagnostic::new(rule, span, message).help(help));
    }

    fn fail(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        message: &str,
        help: &str,
    ) -> Option<Binding> {
        self.report(rule, range, message, help);
        None
    }
}
