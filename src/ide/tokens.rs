//! Semantic tokens: bindings, words of the language, agent references.

use super::place::{self, Role};
use super::{Analysis, Token, TokenKind, words};
use crate::ast::{Binding, Segment};
use crate::parse::binding;
use crate::source::{Source, Span};
use crate::tree::{Node, Text};

/// The tokens of the main document in its order; they do not overlap.
#[must_use]
pub fn tokens(analysis: &Analysis) -> Vec<Token> {
    let (Some((tree, role)), Some(source)) = (analysis.tree(), analysis.main()) else { return Vec::new() };
    let mut painter = Painter { source, found: Vec::new() };
    place::visit(tree, role, None, &mut |node, role, _| painter.node(node, role));
    let mut found = painter.found;
    found.sort_by_key(|token| token.span);
    let mut end = 0;
    found.retain(|token| {
        let is_free = token.span.start >= end;
        if is_free {
            end = token.span.end;
        }
        is_free
    });
    found
}

struct Painter<'a> {
    source: &'a Source,
    found: Vec<Token>,
}

impl Painter<'_> {
    fn add(&mut self, span: Span, kind: TokenKind) {
        let text = self.source.slice(span);
        if !text.is_empty() && !text.contains(['\n', '\r']) {
            self.found.push(Token { span, kind });
        }
    }

    fn node(&mut self, node: &Node, role: Role) {
        let Some(text) = node.text() else { return };
        if role.takes_bindings() || text.value.contains("${{") {
            for one in binding::template(text, &mut Vec::new()).bindings() {
                self.binding(one);
            }
        }
        let kind = if role.is_agent() {
            TokenKind::Agent
        } else if role.names_step() {
            TokenKind::Step
        } else if words::word(role, &text.value).is_some() {
            TokenKind::Word
        } else {
            return;
        };
        self.add(inside(text), kind);
    }

    fn binding(&mut self, one: &Binding) {
        const BRACKET: u32 = 3;
        const CLOSE: u32 = 2;
        let whole = self.source.slice(one.span);
        if whole.starts_with("${{") && whole.ends_with("}}") {
            let span = one.span;
            self.add(Span { end: span.start + BRACKET, ..span }, TokenKind::Bracket);
            self.add(Span { start: span.end - CLOSE, ..span }, TokenKind::Bracket);
        }
        self.add(one.root.span, TokenKind::Root);
        let has_steps = matches!(one.root.value.as_str(), "steps" | "previous");
        for (i, segment) in one.path.iter().enumerate() {
            let kind = match &segment.value {
                Segment::Index(_) => TokenKind::Number,
                Segment::Name(_) if i == 0 && has_steps => TokenKind::Step,
                Segment::Name(_) => TokenKind::Property,
            };
            self.add(segment.span, kind);
        }
    }
}

/// The place of the characters of a text, without quotes.
fn inside(text: &Text) -> Span {
    text.span_of(0..text.value.len())
}
