//! JSON in the one layout: two spaces a level, a line for each member of what was written over several lines. It
//! moves blanks only; every other byte stays, digits and escapes among them.

use super::WIDTH;
use super::gap;

/// The document with `\n` as its line end. `text` has been read as JSON without a fault.
pub(super) fn print(text: &str) -> String {
    let mut printer = Printer { text, at: 0, out: String::new() };
    let blank = printer.skip();
    debug_assert!(blank <= text.len(), "blanks are part of the text");
    printer.value(0, true);
    printer.out.push('\n');
    printer.out
}

struct Printer<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Printer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes over blanks; says how many line breaks were among them.
    fn skip(&mut self) -> usize {
        let rest = self.rest();
        let blanks = rest.get(..rest.len() - rest.trim_start().len()).unwrap_or_default();
        self.at += blanks.len();
        gap::lines(blanks).count().saturating_sub(1)
    }

    /// The next token as it stands: a text, a number, a word or a mark.
    fn token(&mut self) -> &'a str {
        let rest = self.rest();
        let len = match rest.chars().next() {
            Some('"') => text_len(rest),
            Some('{' | '}' | '[' | ']' | ',' | ':') => 1,
            _ => rest
                .find(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '"'))
                .unwrap_or(rest.len()),
        };
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    fn value(&mut self, indent: usize, is_root: bool) {
        let Some(open @ ('{' | '[')) = self.peek() else {
            let token = self.token();
            self.out.push_str(token);
            return;
        };
        let start = self.at;
        let (line, has_break, is_empty) = self.on_one_line();
        let used = self.out.rsplit('\n').next().unwrap_or_default().chars().count();
        let fits = !has_break && !is_root && used + line.chars().count() <= WIDTH;
        if fits || is_empty {
            self.out.push_str(&line);
            return;
        }
        self.at = start;
        self.members(open, indent);
    }

    fn members(&mut self, open: char, indent: usize) {
        let close = if open == '{' { '}' } else { ']' };
        self.at += 1;
        self.out.push(open);
        let mut is_first = true;
        loop {
            let breaks = self.skip();
            match self.peek() {
                None => return,
                Some(c) if c == close => break,
                Some(',') => {
                    self.at += 1;
                    self.out.push(',');
                    continue;
                }
                Some(_) => {}
            }
            self.out.push('\n');
            if breaks > 1 && !is_first {
                self.out.push('\n');
            }
            is_first = false;
            self.out.push_str(&" ".repeat(indent + 2));
            if open == '{' {
                let key = self.token();
                self.out.push_str(key);
                self.skip();
                self.at += 1;
                self.skip();
                self.out.push_str(": ");
            }
            self.value(indent + 2, false);
        }
        self.at += 1;
        self.out.push('\n');
        self.out.push_str(&" ".repeat(indent));
        self.out.push(close);
    }

    /// The value at hand on one line, and goes behind it; whether it had a line break, and whether it is empty.
    fn on_one_line(&mut self) -> (String, bool, bool) {
        let mut out = String::new();
        let (mut depth, mut has_break, mut tokens) = (0_usize, false, 0);
        let mut last = "";
        loop {
            has_break |= self.skip() > 0;
            let token = self.token();
            tokens += 1;
            match (last, token) {
                ("{", "}") | ("", _) => {}
                ("{", _) | (_, "}") | ("," | ":", _) => out.push(' '),
                _ => {}
            }
            out.push_str(token);
            match token {
                "{" | "[" => depth += 1,
                "}" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            last = token;
            if depth == 0 || token.is_empty() {
                return (out, has_break, tokens == 2);
            }
        }
    }
}

/// Bytes of the text in quotes that `rest` begins with.
fn text_len(rest: &str) -> usize {
    let mut is_escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return i + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    rest.len()
}
