//! The characters around a place: which word is replaced, how it is quoted, and the texts that are tried with a mark in
//! its stead. Looks at one line and knows nothing of the language but `${{`.

use crate::ide::place::Role;
use crate::ide::{Completion, CompletionKind};
use crate::parse;
use crate::source::{FileId, Source, Span};

/// Stands for what is being written.
pub(super) const MARK: &str = "flowright-mark";
/// Stands for a binding that is being written: one that can be read everywhere.
pub(super) const BINDING: &str = "${{ session.id }}";
const OPEN: &str = "${{";
const CLOSE: &str = "}}";

/// A text with a mark in it.
#[derive(Debug)]
pub(super) struct Try {
    pub(super) text: String,
    /// Where the mark begins.
    pub(super) mark: usize,
    word: Word,
}

/// The word that is replaced.
#[derive(Clone, Copy, Debug)]
struct Word {
    start: usize,
    end: usize,
    /// The quote that it stands behind, and whether one closes it.
    quote: Option<(char, bool)>,
    has_colon: bool,
    is_json: bool,
    /// What must stand before the word for YAML to see it.
    lead: &'static str,
}

/// A binding that is being written.
#[derive(Debug)]
pub(super) struct Open {
    /// The path up to the place, blanks before it left out.
    pub(super) path: String,
    /// The name that is being written, in the source.
    pub(super) word: (usize, usize),
    /// Texts with another binding in its stead, and where that begins.
    pub(super) tries: Vec<(String, usize)>,
}

/// Whether a text is read as JSON: workflows by their ending, agents unless they are Markdown.
pub(super) fn is_json(source: &Source, root: Role) -> bool {
    let is_markdown = source.name().to_ascii_lowercase().ends_with(".md");
    parse::is_json(source.name()) || (root == Role::AgentFile && !is_markdown)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The line around a place: where it begins, and its text.
fn line(text: &str, offset: usize) -> (usize, &str) {
    let breaks = ['\n', '\r'];
    let start = text.get(..offset).and_then(|before| before.rfind(breaks)).map_or(0, |at| at + 1);
    let rest = text.get(start..).unwrap_or_default();
    (start, rest.get(..rest.find(breaks).unwrap_or(rest.len())).unwrap_or_default())
}

/// The unclosed or closed binding around a place.
pub(super) fn binding(source: &Source, offset: usize) -> Option<Open> {
    let text = source.text();
    let (line_start, whole) = line(text, offset);
    let before = whole.get(..offset - line_start)?;
    let open = before.rfind(OPEN)?;
    let path = before.get(open + OPEN.len()..)?.trim_start();
    let is_escaped = before.get(..open)?.ends_with('$');
    let is_path = path.chars().all(|c| is_name(c) || matches!(c, '.' | '[' | ']'));
    if is_escaped || !is_path {
        return None;
    }
    let word_start = offset - path.len() + path.rfind(['.', '[', ']']).map_or(0, |at| at + 1);
    let after = text.get(offset..line_start + whole.len())?;
    let word_end = offset + after.find(|c| !is_name(c)).unwrap_or(after.len());
    let rest = text.get(word_end..line_start + whole.len())?;
    let next = rest.find(OPEN).unwrap_or(rest.len());
    let closed = rest.get(..next)?.find(CLOSE).map(|at| word_end + at + CLOSE.len());
    let line_end = line_start + whole.len();
    let (head, tail) = (text.get(..line_start + open)?, text.get(closed.unwrap_or(word_end)..)?);
    let texts = ["@", "\"@\"", "@\"", "@'"].into_iter().map(|form| filled(head, form, BINDING, tail));
    let closers = closers(before.get(..open)?);
    let cut = text.get(line_end..)?;
    let closing = ["\"@\"", "@\""].into_iter().filter(|_| !closers.is_empty());
    let closing = closing.map(|form| filled(head, &format!("{form}{closers}"), BINDING, cut));
    Some(Open { path: path.to_owned(), word: (word_start, word_end), tries: texts.chain(closing).collect() })
}

/// A text with something in the place of a word, and where that begins.
fn filled(head: &str, form: &str, mark: &str, tail: &str) -> (String, usize) {
    let at = head.len() + form.find('@').unwrap_or(0);
    (format!("{head}{}{tail}", form.replace('@', mark)), at)
}

/// What closes the brackets that are open at the end of a line's part. With it the rest of a line that cannot be read
/// may be left out.
fn closers(before: &str) -> String {
    let mut open = Vec::new();
    for piece in before.split(OPEN) {
        let own = piece.rsplit_once(CLOSE).map_or(piece, |(_, own)| own);
        for c in own.chars() {
            match c {
                '{' => open.push('}'),
                '[' => open.push(']'),
                '}' | ']' => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.into_iter().rev().collect()
}

/// The texts to try, the likeliest first.
pub(super) fn tries(source: &Source, offset: usize, is_json: bool) -> Vec<Try> {
    let text = source.text();
    let found = if is_json { json(text, offset) } else { yaml(text, offset) };
    let (word, forms) = found.unwrap_or_else(|| (Word::none(), Vec::new()));
    let (Some(head), Some(tail)) = (text.get(..word.start), text.get(word.end..)) else { return Vec::new() };
    let mut tried: Vec<(String, usize)> = forms.iter().map(|form| filled(head, form, MARK, tail)).collect();
    let (line_start, whole) = line(text, offset);
    let closers = head.get(line_start..).map(closers).filter(|closers| !is_json && !closers.is_empty());
    if let (Some(closers), Some(cut)) = (closers, text.get(line_start + whole.len()..)) {
        tried.extend(forms.iter().map(|form| filled(head, &format!("{form}{closers}"), MARK, cut)));
    }
    tried.into_iter().map(|(text, mark)| Try { text, mark, word }).collect()
}

impl Word {
    fn none() -> Self {
        Self { start: 0, end: 0, quote: None, has_colon: false, is_json: false, lead: "" }
    }
}

type Found = Option<(Word, Vec<String>)>;

fn yaml(text: &str, offset: usize) -> Found {
    let (line_start, whole) = line(text, offset);
    let (before, after) = whole.split_at_checked(offset - line_start)?;
    let is_blank = |text: &str| text.chars().all(char::is_whitespace);
    // In a comment, or in the indentation before something else, nothing can be written.
    if before.trim_start().starts_with('#')
        || (is_blank(before) && after.starts_with(' ') && !is_blank(after))
    {
        return None;
    }
    let is_stop = |c: char| c.is_whitespace() || "{[,\"']}".contains(c);
    let start = before.rfind(is_stop).map_or(0, |at| at + before.get(at..).map_or(1, first_len));
    let quote = before.get(..start)?.chars().next_back().filter(|c| matches!(c, '"' | '\''));
    let end = match quote {
        Some(quote) => after.find(|c: char| c == quote || c.is_whitespace()).unwrap_or(after.len()),
        None => word_len(after),
    };
    let rest = after.get(end..)?;
    let closed = quote.is_some_and(|quote| rest.starts_with(quote));
    let behind = if closed { rest.get(1..)? } else { rest };
    let has_colon = behind.trim_start_matches([' ', '\t']).starts_with(':');
    let mut word = Word {
        start: line_start + start,
        end: offset + end,
        quote: quote.map(|quote| (quote, closed)),
        has_colon,
        is_json: false,
        lead: "",
    };
    let written = before.get(start..)?;
    let indent = before.get(..start)?;
    if let Some((quote, closed)) = word.quote {
        let close = if closed { String::new() } else { quote.to_string() };
        return Some((word, vec![format!("@{close}"), format!("@{quote}:")]));
    }
    let is_dash = written == "-" && indent.chars().all(|c| c == ' ' || c == '-');
    if is_dash || written.ends_with(':') {
        word.start = offset;
        word.end = offset;
        word.lead = " ";
        let forms = if is_dash { vec![" @:", " @"] } else { vec![" @"] };
        return Some((word, forms.into_iter().map(str::to_owned).collect()));
    }
    let is_first = indent.chars().all(|c| c == ' ' || c == '-' || c == '\u{feff}');
    let forms = match (has_colon, is_first) {
        (true, _) => vec!["@"],
        (false, true) => vec!["@:", "@"],
        (false, false) => vec!["@", "@:"],
    };
    Some((word, forms.into_iter().map(str::to_owned).collect()))
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// How far a plain word goes on: to a blank, a bracket, or a colon that makes a key of it.
fn word_len(after: &str) -> usize {
    let mut chars = after.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let is_colon = c == ':' && next.is_none_or(char::is_whitespace);
        if c.is_whitespace() || ",]}{[\"'".contains(c) || is_colon {
            return at;
        }
    }
    after.len()
}

fn json(text: &str, offset: usize) -> Found {
    let (line_start, whole) = line(text, offset);
    let (before, after) = whole.split_at_checked(offset - line_start)?;
    let open = open_quote(before);
    let (start, end, quote) = match open {
        Some(open) => {
            let end = after.find('"').unwrap_or_else(|| word_len(after));
            let closed = after.get(end..)?.starts_with('"');
            (open + 1, end, Some(('"', closed)))
        }
        None => {
            let start =
                before.rfind(|c| !is_name(c)).map_or(0, |at| at + before.get(at..).map_or(1, first_len));
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            (start, end, None)
        }
    };
    let (start, end) = (line_start + start, offset + end);
    let closed = quote.is_some_and(|(_, closed)| closed);
    let behind = text.get(end + usize::from(closed)..)?.trim_start();
    let has_colon = behind.starts_with(':');
    let ahead = text.get(..start - usize::from(quote.is_some()))?.trim_end();
    let word = Word { start, end, quote, has_colon, is_json: true, lead: "" };
    let comma_before = if ahead.ends_with(['{', '[', ',', ':']) || ahead.is_empty() { "" } else { "," };
    let comma_after = if behind.is_empty() || behind.starts_with([',', ']', '}', ':']) { "" } else { "," };
    let forms = match quote {
        // What closes the text stands behind the word and goes on closing it.
        Some((_, true)) if has_colon => vec!["@".to_owned()],
        Some((_, true)) => vec!["@".to_owned(), "@\": \"".to_owned()],
        Some((_, false)) => vec![format!("@\"{comma_after}"), format!("@\": null{comma_after}")],
        None => vec![
            format!("{comma_before}\"@\"{comma_after}"),
            format!("{comma_before}\"@\": null{comma_after}"),
        ],
    };
    Some((word, forms))
}

/// Where the text begins that is open at the end of a line's part.
fn open_quote(before: &str) -> Option<usize> {
    let mut open = None;
    let mut escaped = false;
    for (at, c) in before.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if open.is_some() => escaped = true,
            '"' if open.is_some() => open = None,
            '"' => open = Some(at),
            _ => {}
        }
    }
    open
}

impl Try {
    /// What writes words at the place of this try.
    pub(super) fn writer(&self, file: FileId, in_flow: bool) -> Writer {
        Writer { file, word: self.word, in_flow, lead: self.word.lead }
    }
}

/// Writes words into the place, quoted as they must be there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    file: FileId,
    word: Word,
    in_flow: bool,
    lead: &'static str,
}

/// What is shown of a completion.
pub(super) struct Shown<'a> {
    pub(super) label: &'a str,
    pub(super) kind: CompletionKind,
    pub(super) detail: String,
    pub(super) doc: String,
}

impl Writer {
    /// Whether block YAML is written, where an item of a list can begin on the line.
    pub(super) fn is_block(&self) -> bool {
        !self.word.is_json && !self.in_flow && self.word.quote.is_none()
    }

    /// The same behind a dash, as an item of a list.
    pub(super) fn item(self) -> Self {
        Self { lead: if self.lead.is_empty() { "- " } else { " - " }, ..self }
    }

    /// A text as a value.
    pub(super) fn text(&self, shown: Shown<'_>, value: &str) -> Completion {
        let text = match self.word.quote {
            Some((quote, closed)) => {
                let value = escaped(value, quote);
                if closed { value } else { format!("{value}{quote}") }
            }
            None if self.word.is_json || needs_quotes(value, self.in_flow) => {
                format!("\"{}\"", escaped(value, '"'))
            }
            None => value.to_owned(),
        };
        self.done(shown, self.word.end, &text)
    }

    /// A value that is no text, in either form; nothing inside of quotes.
    pub(super) fn raw(&self, shown: Shown<'_>, yaml: &str, json: &str) -> Option<Completion> {
        let text = if self.word.is_json { json } else { yaml };
        self.word.quote.is_none().then(|| self.done(shown, self.word.end, text))
    }

    /// A key, with its colon if it has none yet.
    pub(super) fn key(&self, shown: Shown<'_>, key: &str) -> Completion {
        let colon = if self.word.has_colon { "" } else { ": " };
        let (end, text) = match self.word.quote {
            Some((quote, true)) if self.word.has_colon => (self.word.end, escaped(key, quote)),
            Some((quote, closed)) => {
                (self.word.end + usize::from(closed), format!("{}{quote}{colon}", escaped(key, quote)))
            }
            None if self.word.is_json || needs_quotes(key, self.in_flow) => {
                (self.word.end, format!("\"{}\"{colon}", escaped(key, '"')))
            }
            None => (self.word.end, format!("{key}{colon}")),
        };
        self.done(shown, end, &text)
    }

    fn done(&self, shown: Shown<'_>, end: usize, text: &str) -> Completion {
        Completion {
            label: shown.label.to_owned(),
            kind: shown.kind,
            detail: shown.detail,
            doc: shown.doc,
            span: Span::new(self.file, self.word.start, end),
            text: format!("{}{text}", self.lead),
        }
    }
}

fn escaped(value: &str, quote: char) -> String {
    if quote == '\'' { value.replace('\'', "''") } else { value.replace('\\', "\\\\").replace('"', "\\\"") }
}

/// Whether YAML would read a plain scalar as something else than this text.
fn needs_quotes(value: &str, in_flow: bool) -> bool {
    let begins_badly = value.starts_with(|c: char| "*@&!%[]{}`|>#,'\"?:- ".contains(c) || c.is_whitespace());
    let is_special = matches!(value.to_ascii_lowercase().as_str(), "" | "true" | "false" | "null" | "~");
    let is_number = value.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "+-._".contains(c));
    let holds = value.contains(": ") || value.contains(" #") || value.ends_with([':', ' ']);
    let breaks_flow = in_flow && value.contains([',', '[', ']', '{', '}']);
    begins_badly || is_special || is_number || holds || breaks_flow || value.contains(['\n', '\r', '\t'])
}
