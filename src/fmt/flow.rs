//! `{}` and `[]`: on one line as they were, or an item a line. It decides by what the author did and by width.

use super::WIDTH;
use super::block::Printer;
use super::gap;
use super::scalar::{self, Place};
use crate::tree::{Entry, Node, Value};

impl Printer<'_> {
    /// Whether it was written on one line and still goes on one, `more` characters behind what is there.
    pub(super) fn fits(&self, node: &Node, more: usize) -> bool {
        let is_empty = match &node.value {
            Value::Map(entries) => entries.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => false,
        };
        if gap::is_broken(self.slice(node)) {
            return is_empty && !self.slice(node).contains('#');
        }
        let line = self.out.rsplit('\n').next().unwrap_or_default();
        line.chars().count() + more + self.flow_line(node).chars().count() <= WIDTH
    }

    /// A map or list in flow style; `base` is how deep its line stands.
    pub(super) fn flow(&mut self, node: &Node, base: usize) {
        if self.fits(node, 0) {
            let line = self.flow_line(node);
            self.push(&line);
            self.at = node.span.range().end;
            return;
        }
        let range = node.span.range();
        let is_bare = !self.is_flow(node);
        self.at = range.start + usize::from(!is_bare);
        match &node.value {
            Value::Map(entries) => {
                self.open("{");
                for (i, entry) in entries.iter().enumerate() {
                    self.flow_item(entry.key.span.range().start, base + 2);
                    self.flow_entry(entry, base + 2);
                    self.comma(i, entries.len());
                }
                self.close("}", range.end - usize::from(!is_bare), base);
            }
            Value::List(items) => {
                self.open("[");
                for (i, item) in items.iter().enumerate() {
                    self.flow_item(item.span.range().start, base + 2);
                    self.flow_value(item, base + 2);
                    self.comma(i, items.len());
                }
                self.close("]", range.end - usize::from(!is_bare), base);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {}
        }
        self.at = range.end;
    }

    fn flow_item(&mut self, start: usize, indent: usize) {
        let gap = self.gap(start, indent);
        self.line(indent, gap.blank);
    }

    fn comma(&mut self, i: usize, count: usize) {
        if i + 1 < count {
            self.push(",");
        }
    }

    fn close(&mut self, mark: &str, at: usize, base: usize) {
        self.gap(at, base + 2);
        self.line(base, false);
        self.push(mark);
    }

    fn flow_entry(&mut self, entry: &Entry, indent: usize) {
        let key = self.key(entry, Place::Flow);
        self.push(&key);
        let (with_colon, empty) = (self.has_colon(entry), entry.value.span.is_empty());
        self.at = entry.key.span.range().end;
        if with_colon {
            self.open(":");
            self.mark(':', indent + 2);
        }
        if !empty {
            let gap = self.gap(entry.value.span.range().start, indent + 2);
            let deeper = if gap.commented { 2 } else { 0 };
            if gap.commented {
                self.line(indent + 2, false);
            } else {
                self.push(" ");
            }
            self.flow_value(&entry.value, indent + deeper);
        }
    }

    fn flow_value(&mut self, node: &Node, indent: usize) {
        match &node.value {
            Value::Map(_) | Value::List(_) => self.flow(node, indent),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {
                let slice = self.slice(node);
                let written = if gap::is_broken(slice) {
                    scalar::several_lines(slice, indent + 2)
                } else {
                    self.flow_line(node)
                };
                self.push(&written);
                self.at = node.span.range().end;
            }
        }
    }

    /// Whether a colon stands behind the key.
    fn has_colon(&self, entry: &Entry) -> bool {
        if !entry.value.span.is_empty() {
            return true;
        }
        let end = entry.key.span.range().end;
        matches!(gap::next(self.text, end, self.text.len()).1, gap::Piece::Mark(_, ':'))
    }

    /// All of it on one line.
    fn flow_line(&self, node: &Node) -> String {
        match &node.value {
            Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
            Value::Map(entries) => {
                let entries: Vec<String> = entries.iter().map(|entry| self.entry_line(entry)).collect();
                format!("{{ {} }}", entries.join(", "))
            }
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.flow_line(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Text(text) => scalar::one_line(self.slice(node), &text.value, Place::Flow),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Hole => self.slice(node).to_owned(),
        }
    }

    fn entry_line(&self, entry: &Entry) -> String {
        let key = self.key(entry, Place::Flow);
        match (self.has_colon(entry), entry.value.span.is_empty()) {
            (true, false) => format!("{key}: {}", self.flow_line(&entry.value)),
            (true, true) => format!("{key}:"),
            (false, _) => key,
        }
    }
}
