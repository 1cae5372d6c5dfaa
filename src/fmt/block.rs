//! Documents, block maps and block lists. It goes through the tree and the text together: what stands between two
//! values is looked at once, in order, so no comment can be lost or overtaken.

use super::gap::{self, Piece};
use super::scalar::{self, Place};
use crate::tree::{Entry, Node, Value};

/// The document in the one layout, with `\n` as its line end.
pub(super) fn print(text: &str, tree: &Node) -> String {
    let mut printer =
        Printer { text, at: 0, out: String::new(), opened: false, kept: false, commented: false };
    printer.prologue(tree.span.range().start);
    match &tree.value {
        Value::Map(entries) if !printer.is_flow(tree) => printer.map(entries, 0, false, 0),
        Value::List(items) if !printer.is_flow(tree) => printer.list(items, 0, false, 0),
        Value::Map(_) | Value::List(_) => {
            let gap = printer.gap(tree.span.range().start, 0);
            printer.line(0, gap.blank);
            printer.flow(tree, 0);
        }
        // Nothing of ours is a single scalar; it stays as it is.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {
            return gap::lines(text).collect::<Vec<_>>().join("\n");
        }
    }
    printer.epilogue();
    printer.out.push('\n');
    printer.out
}

/// What was found between two values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// A comment was printed, so what follows needs a line of its own.
    pub(super) commented: bool,
    /// A blank line stands before what follows.
    pub(super) blank: bool,
    /// What follows stands on another line than what was before.
    pub(super) broken: bool,
}

pub(super) struct Printer<'a> {
    pub(super) text: &'a str,
    /// What of the text has been looked at.
    pub(super) at: usize,
    /// Lines without blanks at their ends; the last is open.
    pub(super) out: String,
    /// The last thing printed opens a level, and no blank line follows it.
    opened: bool,
    /// The last thing printed is a block scalar whose blank lines are part of it.
    kept: bool,
    /// The open line ends in a comment.
    commented: bool,
}

impl Printer<'_> {
    pub(super) fn slice(&self, node: &Node) -> &str {
        self.text.get(node.span.range()).unwrap_or_default()
    }

    pub(super) fn is_flow(&self, node: &Node) -> bool {
        // A block list may begin where its first item does, and that may be in flow style.
        let first = match &node.value {
            Value::Map(entries) => entries.first().map(|entry| entry.key.span),
            Value::List(items) => items.first().map(|item| item.span),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => return false,
        };
        self.slice(node).starts_with(['{', '[']) && first.is_none_or(|first| first.start > node.span.start)
    }

    /// Ends the line and begins the next, with a blank one between if asked for and fit.
    pub(super) fn line(&mut self, indent: usize, blank: bool) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if blank && !self.opened && !self.kept {
                self.out.push('\n');
            }
        }
        self.opened = false;
        self.kept = false;
        self.commented = false;
        self.out.push_str(&" ".repeat(indent));
    }

    /// Prints something that opens a level.
    pub(super) fn open(&mut self, mark: &str) {
        self.out.push_str(mark);
        self.opened = true;
    }

    /// Prints something that stands for itself.
    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.opened = false;
    }

    /// Prints the comments up to a place. Marks on the way say nothing that the tree does not.
    pub(super) fn gap(&mut self, upto: usize, indent: usize) -> Gap {
        let mut gap = Gap::default();
        loop {
            let (breaks, piece) = gap::next(self.text, self.at, upto);
            gap.broken |= breaks > 0;
            match piece {
                Piece::Comment(range) => {
                    self.comment(&range, breaks, indent);
                    gap = Gap { commented: true, blank: false, broken: true };
                }
                Piece::Mark(at, mark) => {
                    gap.blank |= breaks > 1;
                    self.at = at + mark.len_utf8();
                }
                Piece::End => {
                    gap.blank |= breaks > 1;
                    gap.commented |= self.commented;
                    self.at = self.at.max(upto);
                    return gap;
                }
            }
        }
    }

    /// Like [`Self::gap`], up to and with the next mark if it is this one.
    pub(super) fn mark(&mut self, wanted: char, indent: usize) -> Gap {
        let mut gap = Gap::default();
        loop {
            let (breaks, piece) = gap::next(self.text, self.at, self.text.len());
            match piece {
                Piece::Comment(range) => {
                    self.comment(&range, breaks, indent);
                    gap.commented = true;
                }
                Piece::Mark(at, mark) if mark == wanted => {
                    self.at = at + mark.len_utf8();
                    return Gap { blank: breaks > 1, broken: breaks > 0, ..gap };
                }
                Piece::Mark(..) | Piece::End => return gap,
            }
        }
    }

    fn comment(&mut self, range: &std::ops::Range<usize>, breaks: usize, indent: usize) {
        let comment = self.text.get(range.clone()).unwrap_or_default();
        if breaks == 0 && !self.out.is_empty() && !self.commented {
            // `value #word` looks like one text and is reported; what was not reported must not become so.
            let is_stuck = comment.chars().nth(1).is_some_and(|c| !c.is_whitespace() && c != '#');
            let gap = self.text.get(..range.start).unwrap_or_default();
            let is_close = gap.len() - gap.trim_end_matches([' ', '\t']).len() == 1;
            self.out.push_str(if is_stuck && is_close { " " } else { "  " });
        } else {
            self.line(indent, breaks > 1);
        }
        self.out.push_str(comment);
        self.commented = true;
        self.at = range.end;
    }

    /// Comments behind the last value of a level that stand at least as deep as the level does.
    fn tail(&mut self, column: usize, indent: usize) {
        while let (breaks, Piece::Comment(range)) = gap::next(self.text, self.at, self.text.len()) {
            if breaks > 0 && gap::column(self.text, range.start) < column {
                return;
            }
            self.comment(&range, breaks, indent);
        }
    }

    /// Comments, directives and the `---` before the document.
    fn prologue(&mut self, start: usize) {
        loop {
            let (breaks, piece) = gap::next(self.text, self.at, start);
            match piece {
                Piece::Comment(range) => self.comment(&range, breaks, 0),
                Piece::Mark(at, mark) => {
                    let rest = gap::line(self.text, at);
                    let written = if rest.starts_with("---") {
                        "---".to_owned()
                    } else if mark == '%' {
                        rest.trim_end().to_owned()
                    } else {
                        return;
                    };
                    self.line(0, breaks > 1);
                    self.open(&written);
                    self.at = at + written.len();
                }
                Piece::End => return,
            }
        }
    }

    fn epilogue(&mut self) {
        loop {
            self.tail(0, 0);
            let (breaks, Piece::Mark(at, mark)) = gap::next(self.text, self.at, self.text.len()) else {
                return;
            };
            if gap::line(self.text, at).starts_with("...") {
                self.line(0, breaks > 1);
                self.push("...");
                self.at = at + 3;
            } else {
                self.at = at + mark.len_utf8();
            }
        }
    }

    /// The entries of a block map that stood in `column`; the first goes behind what is there if `is_inline`.
    fn map(&mut self, entries: &[Entry], indent: usize, is_inline: bool, column: usize) {
        for (i, entry) in entries.iter().enumerate() {
            let gap = self.gap(entry.key.span.range().start, indent);
            if i > 0 || !is_inline || gap.commented {
                self.line(indent, gap.blank);
            }
            let key_column = gap::column(self.text, entry.key.span.range().start);
            let key = self.key(entry, Place::Block);
            self.out.push_str(&key);
            self.at = entry.key.span.range().end;
            self.open(":");
            self.mark(':', indent + 2);
            let is_cron = entry.key.value == "cron";
            self.value(&entry.value, indent, key_column + 1, is_cron);
        }
        self.tail(column, indent);
    }

    /// The items of a block list. Comments from column `below` on, and not before its dashes, are in it.
    fn list(&mut self, items: &[Node], indent: usize, is_inline: bool, below: usize) {
        let mut column = below;
        for (i, item) in items.iter().enumerate() {
            let gap = self.mark('-', indent);
            if i > 0 || !is_inline || gap.commented {
                self.line(indent, gap.blank);
            }
            self.open("-");
            let dash = gap::column(self.text, self.at.saturating_sub(1));
            column = column.max(dash);
            match &item.value {
                Value::Map(entries) if !self.is_flow(item) => {
                    let start = entries.first().map_or(self.at, |entry| entry.key.span.range().start);
                    let gap = self.before(start, indent + 2);
                    let column = gap::column(self.text, item.span.range().start);
                    self.map(entries, indent + 2, !gap.commented, column);
                }
                Value::List(items) if !self.is_flow(item) => {
                    let gap = self.before(item.span.range().start, indent + 2);
                    self.list(items, indent + 2, !gap.commented, dash + 1);
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Map(_)
                | Value::Hole => {
                    self.value(item, indent, dash + 1, false);
                }
            }
        }
        self.tail(column, indent);
    }

    /// Comments before a value that goes behind a dash, or under it if there are some.
    fn before(&mut self, start: usize, indent: usize) -> Gap {
        let gap = self.gap(start, indent);
        if !gap.commented {
            self.push(" ");
        }
        gap
    }

    /// What belongs to a key or dash at `indent`. Comments from column `below` on are under it.
    fn value(&mut self, node: &Node, indent: usize, below: usize, is_cron: bool) {
        let start = node.span.range().start;
        match &node.value {
            Value::Null if node.span.is_empty() => self.tail(below, indent + 2),
            Value::Map(entries) if !self.is_flow(node) => {
                self.map(entries, indent + 2, false, gap::column(self.text, start));
            }
            Value::List(items) if !self.is_flow(node) => {
                // A list may stand as deep as its key; comments there are about the next key.
                self.list(items, indent + 2, false, below);
            }
            Value::Map(_) | Value::List(_) => {
                let gap = self.gap(start, indent + 2);
                let is_item = self.out.ends_with('-');
                let broken = !self.fits(node, 1);
                if gap.commented || (broken && !is_item) {
                    self.line(indent + 2, false);
                } else {
                    self.push(" ");
                }
                self.flow(node, indent + 2);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {
                self.scalar(node, indent, is_cron);
            }
        }
    }

    fn scalar(&mut self, node: &Node, indent: usize, is_cron: bool) {
        let gap = self.gap(node.span.range().start, indent + 2);
        let is_block = scalar::is_block(node);
        let is_long = !is_block && gap::is_broken(self.slice(node));
        if gap.commented || (is_long && gap.broken) {
            self.line(indent + 2, false);
        } else {
            self.push(" ");
        }
        let mut kept = 0;
        let written = match scalar::text(node) {
            Some(text) if is_block => {
                let (written, breaks) = scalar::block(self.slice(node), text, indent + 2);
                kept = breaks;
                written
            }
            _ if is_long => scalar::several_lines(self.slice(node), indent + 2),
            Some(text) => {
                let place = if is_cron { Place::Cron } else { Place::Block };
                scalar::one_line(self.slice(node), &text.value, place)
            }
            None => self.slice(node).to_owned(),
        };
        self.push(&written);
        self.at = node.span.range().end;
        if kept > 0 {
            self.out.push_str(&"\n".repeat(kept));
            self.kept = true;
        }
    }

    /// A key on one line.
    pub(super) fn key(&self, entry: &Entry, place: Place) -> String {
        let written = self.text.get(entry.key.span.range()).unwrap_or_default();
        if gap::is_broken(written) || written.starts_with(['|', '>']) {
            // Only an explicit key or one in flow style can be that long.
            let quoted = serde_json::Value::String(entry.key.value.clone()).to_string();
            return scalar::one_line(&quoted, &entry.key.value, place);
        }
        scalar::one_line(written, &entry.key.value, place)
    }
}
