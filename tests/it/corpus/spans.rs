//! Places are exact: the text under the span of a scalar, decoded by the rules of YAML written down here a second
//! time, is the value of the scalar; so for every scalar and binding of every file of the corpus, and of generated
//! documents of every style.

use super::cases;
use flowright::ast::{Part, Segment};
use flowright::parse::{self, binding};
use flowright::source::{FileId, Source, Span};
use flowright::tree::{Node, Style, Text, Value};
use proptest::prelude::*;
use std::fmt::Write as _;

/// What stands around a value: the indentation of the map or list that holds it, in columns.
type Indent = usize;

/// Looks at every scalar below a node; gives how many scalars and bindings there were.
fn check(source: &Source, node: &Node, around: Indent) -> (usize, usize) {
    match &node.value {
        Value::Text(text) => {
            assert_eq!(text.span, node.span);
            let decoded = decode(source, text.span, text.style, around);
            assert_eq!(decoded, text.value, "under {:?} of {}", source.slice(text.span), source.name());
            (1, bindings(source, text))
        }
        Value::Bool(_) | Value::Number(_) => {
            let written = source.slice(node.span);
            assert!(!written.is_empty() && !written.contains(char::is_whitespace), "{written:?}");
            (1, 0)
        }
        Value::Null | Value::Hole => (0, 0),
        Value::List(items) => {
            let column = column(source, node.span);
            items.iter().map(|item| check(source, item, column)).fold((0, 0), sum)
        }
        Value::Map(entries) => {
            let column = column(source, node.span);
            let all = entries.iter().filter(|entry| !entry.key.span.is_empty()).map(|entry| {
                let written = source.slice(entry.key.span);
                let style = match written.chars().next() {
                    Some('"') => Style::Double,
                    Some('\'') => Style::Single,
                    _ => Style::Plain,
                };
                assert_eq!(decode(source, entry.key.span, style, 0), entry.key.value, "the key {written:?}");
                sum((1, 0), check(source, &entry.value, column))
            });
            all.fold((0, 0), sum)
        }
    }
}

fn sum(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0 + b.0, a.1 + b.1)
}

fn column(source: &Source, span: Span) -> Indent {
    source.position(span.range().start).column as usize - 1
}

/// Every binding of a text begins and ends with its marks, and its names stand where they are said to stand.
fn bindings(source: &Source, text: &Text) -> usize {
    let template = binding::template(text, &mut Vec::new());
    let plain = |span: Span| {
        let part = match text.style {
            Style::Double => unescaped(source.slice(span)),
            Style::Single => source.slice(span).replace("''", "'"),
            Style::Plain | Style::Literal | Style::Folded => source.slice(span).to_owned(),
        };
        part.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut count = 0;
    for part in &template.parts {
        let Part::Binding(binding) = part else { continue };
        count += 1;
        let whole = plain(binding.span);
        assert!(whole.starts_with("${{") && whole.ends_with("}}"), "{whole:?}");
        let mut path = binding.root.value.clone();
        assert_eq!(plain(binding.root.span), binding.root.value);
        for segment in &binding.path {
            let (place, written) = match &segment.value {
                Segment::Name(name) => (name.clone(), format!(".{name}")),
                Segment::Index(index) => (format!("[{index}]"), format!("[{index}]")),
            };
            assert_eq!(plain(segment.span), place);
            path.push_str(&written);
        }
        let inner = whole.trim_start_matches("${{").trim_end_matches("}}").trim().to_owned();
        assert_eq!(inner, path);
    }
    count
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\n', '\r']) {
        lines.push(&rest[..at]);
        rest = if rest[at..].starts_with("\r\n") { &rest[at + 2..] } else { &rest[at + 1..] };
    }
    lines.push(rest);
    lines
}

fn decode(source: &Source, span: Span, style: Style, around: Indent) -> String {
    let written = source.slice(span);
    let inner = |quote: char| {
        assert!(written.len() >= 2 && written.starts_with(quote) && written.ends_with(quote), "{written:?}");
        &written[1..written.len() - 1]
    };
    match style {
        Style::Plain => {
            assert_eq!(written, written.trim(), "a plain scalar ends with its last character");
            folded(lines(written).iter().map(|line| line.trim_matches([' ', '\t'])))
        }
        Style::Single => {
            let lines = lines(inner('\''));
            let last = lines.len() - 1;
            folded(lines.iter().enumerate().map(|(i, line)| {
                let line = if i > 0 { line.trim_start_matches([' ', '\t']) } else { line };
                if i < last { line.trim_end_matches([' ', '\t']) } else { line }
            }))
            .replace("''", "'")
        }
        Style::Double => unescaped(inner('"')),
        Style::Literal | Style::Folded => block(source, span, style, around),
    }
}

fn folded<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for (i, line) in lines.enumerate() {
        if i > 0 && line.is_empty() {
            empty += 1;
            continue;
        }
        if i > 0 {
            out.push_str(&if empty == 0 { " ".to_owned() } else { "\n".repeat(empty) });
        }
        empty = 0;
        out.push_str(line);
    }
    // Only a quoted text ends with an empty line: the one that holds its closing quote.
    match empty {
        0 => {}
        1 => out.push(' '),
        more => out.push_str(&"\n".repeat(more - 1)),
    }
    out
}

/// The inner of a text in double quotes.
fn unescaped(inner: &str) -> String {
    let mut out = String::new();
    let mut kept = 0;
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let code = rest[1..].chars().next().unwrap();
            rest = &rest[1 + code.len_utf8()..];
            let digits = match code {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                _ => 0,
            };
            if matches!(code, '\n' | '\r') {
                rest = if code == '\r' { rest.strip_prefix('\n').unwrap_or(rest) } else { rest };
                rest = skip_lines(rest, &mut out, false);
            } else if digits > 0 {
                let mut unit = u32::from_str_radix(&rest[..digits], 16).unwrap();
                rest = &rest[digits..];
                if (0xd800..0xdc00).contains(&unit) {
                    let low = u32::from_str_radix(&rest[2..6], 16).unwrap();
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    rest = &rest[6..];
                }
                out.push(char::from_u32(unit).unwrap());
            } else {
                let from = "0abt\tnvfre \"/\\N_LP".chars().position(|known| known == code).unwrap();
                let to = "\0\u{7}\u{8}\t\t\n\u{b}\u{c}\r\u{1b} \"/\\\u{85}\u{a0}\u{2028}\u{2029}";
                out.push(to.chars().nth(from).unwrap());
            }
            kept = out.len();
        } else if matches!(c, '\n' | '\r') {
            while out.len() > kept && out.ends_with([' ', '\t']) {
                out.pop();
            }
            rest = &rest[1..];
            rest = if c == '\r' { rest.strip_prefix('\n').unwrap_or(rest) } else { rest };
            rest = skip_lines(rest, &mut out, true);
            kept = out.len();
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Passes the empty lines and the indentation behind a line break; a break that is not escaped folds.
fn skip_lines<'a>(mut rest: &'a str, out: &mut String, folds: bool) -> &'a str {
    let mut empty = 0;
    loop {
        let line = rest.trim_start_matches([' ', '\t']);
        if let Some(next) = line.strip_prefix("\r\n").or_else(|| line.strip_prefix(['\n', '\r'])) {
            empty += 1;
            rest = next;
            continue;
        }
        out.push_str(&if empty == 0 && folds { " ".to_owned() } else { "\n".repeat(empty) });
        return line;
    }
}

fn block(source: &Source, span: Span, style: Style, around: Indent) -> String {
    let written = source.slice(span);
    let header = lines(written)[0];
    let indicators = header[1..].split(' ').next().unwrap();
    assert!(header.starts_with(if style == Style::Literal { '|' } else { '>' }), "{header:?}");
    let all = &source.text()[span.range().start..];
    let mut content: Vec<&str> = lines(all).split_off(1);
    let explicit = indicators.chars().find(char::is_ascii_digit).and_then(|digit| digit.to_digit(10));
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let indent = match explicit {
        Some(digit) => around + digit as usize,
        None => content.iter().find(|line| !line.trim_matches(' ').is_empty()).map_or(0, |line| blanks(line)),
    };
    let belongs = |line: &&str| line.trim_matches(' ').is_empty() || blanks(line) >= indent.max(around + 1);
    let count = content.iter().take_while(|line| belongs(line)).count();
    // The last piece without a line break at the end of the file is no line.
    let ends_file = count == content.len();
    content.truncate(count);
    if ends_file
        && content
            .last()
            .is_some_and(|line| line.trim_matches(' ').len() <= blanks("") && blanks(line) <= indent)
    {
        content.pop();
    }
    let mut content: Vec<&str> =
        content.iter().map(|line| line.get(indent.min(blanks(line)).min(line.len())..).unwrap()).collect();
    let mut trailing = 0;
    while content.last().is_some_and(|line| line.is_empty()) {
        content.pop();
        trailing += 1;
    }
    let is_empty = content.is_empty();
    // The span ends with the last line that holds anything.
    if !is_empty {
        assert_eq!(lines(written).len() - 1, content.len(), "{written:?} ends with its last line");
    }
    let is_cut = trailing == 0 && ends_file && !all.ends_with(['\n', '\r']);
    let has_break = !is_empty && !is_cut;
    let mut out = if style == Style::Literal { content.join("\n") } else { fold_block(&content) };
    if indicators.contains('-') {
        return out;
    }
    if has_break {
        out.push('\n');
    }
    if indicators.contains('+') {
        out.push_str(&"\n".repeat(trailing));
    }
    out
}

fn fold_block(content: &[&str]) -> String {
    let mut out = String::new();
    let mut before: Option<&str> = None;
    let mut empty = 0;
    for line in content {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        let is_deep = |line: &str| line.starts_with([' ', '\t']);
        match before {
            None => out.push_str(&"\n".repeat(empty)),
            Some(before) if is_deep(before) || is_deep(line) => out.push_str(&"\n".repeat(empty + 1)),
            Some(_) => out.push_str(&if empty == 0 { " ".to_owned() } else { "\n".repeat(empty) }),
        }
        empty = 0;
        out.push_str(line);
        before = Some(line);
    }
    out
}

#[test]
fn every_scalar_and_binding_of_the_corpus_stands_where_it_is_said_to_stand() {
    let mut seen = (0, 0);
    for case in cases::of("bad").iter().chain(&cases::of("ok")) {
        let Ok(text) = String::from_utf8(case.bytes()) else { continue };
        // A control character is read as a blank, so its scalar is not what stands there.
        if case.name.starts_with("control-character")
            || case.file.ends_with(".md")
            || case.file.ends_with(".toml")
        {
            continue;
        }
        let source = Source::new(FileId::MAIN, case.file.as_str(), text);
        let tree = parse::read(&source, &mut Vec::new());
        seen = sum(seen, check(&source, &tree, 0));
    }
    assert!(seen.0 > 3000 && seen.1 > 80, "{seen:?} scalars and bindings were looked at");
}

#[test]
fn front_matter_stands_where_it_is_said_to_stand() {
    let mut seen = 0;
    for case in cases::of("bad").iter().chain(&cases::of("ok")).filter(|case| case.file.ends_with(".md")) {
        let source = Source::new(FileId::MAIN, case.file.as_str(), String::from_utf8(case.bytes()).unwrap());
        let agent = parse::agent::markdown(&source, &mut Vec::new());
        let texts = [&agent.slug, &agent.base, &agent.announce, &agent.model_url, &agent.model_name];
        for text in texts.into_iter().flatten().chain(&agent.system_prompt) {
            assert_eq!(source.slice(text.span), text.value, "{}", case.name);
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} texts were looked at");
}

/// A value and how each of its texts is to be written.
#[derive(Clone, Debug)]
enum Sketch {
    Text(String, u8),
    List(Vec<Sketch>),
    Map(Vec<(String, Sketch)>),
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "word",
        "é",
        "漢字",
        "😀",
        "it's",
        "\"so\"",
        "a:b",
        "c#d",
        "${{ inputs.a-b }}",
        "${{steps.x.result[0].y_z}}",
        "$${{ no }}",
        "\\",
        "{",
        "]",
        "-",
        "%",
        "x,y",
    ]);
    let gap = prop::sample::select(vec![" ", " ", " ", "  ", "\n", "\n\n", "\n  ", "\t", ": ", " #"]);
    prop::collection::vec((word, gap), 1..6).prop_map(|parts| {
        let mut out = String::new();
        let last = parts.len() - 1;
        for (i, (word, gap)) in parts.into_iter().enumerate() {
            out.push_str(word);
            if i < last {
                out.push_str(gap);
            }
        }
        out
    })
}

fn sketches() -> impl Strategy<Value = Sketch> {
    let leaf = (words(), any::<u8>()).prop_map(|(text, style)| Sketch::Text(text, style));
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Sketch::List),
            prop::collection::vec(("[a-zé漢]{1,6}", inner), 1..4).prop_map(|entries| {
                let name = |(i, (key, value)): (usize, (String, Sketch))| (format!("{key}{i}"), value);
                Sketch::Map(entries.into_iter().enumerate().map(name).collect())
            }),
        ]
    })
}

/// Whether the text may stand without quotes in every place.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next().unwrap();
    (first.is_alphanumeric() || first == '😀')
        && !text.contains(['\n', '\t', '{', ']', ',', '}', '['])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains("  ")
}

fn write_text(text: &str, style: u8, indent: usize, ending: &str, out: &mut String) {
    let deeper = format!("{ending}{}", " ".repeat(indent + 1));
    match style % 6 {
        0 if is_plain(text) => {
            // Folded at every third blank.
            let parts: Vec<&str> = text.split(' ').collect();
            for (i, part) in parts.iter().enumerate() {
                let next_is_safe = !part
                    .starts_with(['-', '#', '?', ':', '%', '&', '*', '!', '|', '>', '\'', '"', '@', '`']);
                let gap = if i % 3 == 2 && next_is_safe { deeper.as_str() } else { " " };
                out.push_str(if i > 0 { gap } else { "" });
                out.push_str(part);
            }
        }
        1 if !text.contains(['\n', '\t']) => {
            let _ = write!(out, "'{}'", text.replace('\'', "''"));
        }
        2 | 3 if !text.starts_with(' ') && !text.ends_with(['\n', ' ', '\t']) && !text.contains("\n\n\n") => {
            // A literal block; where the text begins with a blank line its indentation is said.
            let _ = write!(out, "|{}-{ending}", if style % 6 == 3 { "2" } else { "" });
            let blanks = " ".repeat(indent + 2);
            let lines: Vec<String> = text
                .split('\n')
                .map(|line| if line.is_empty() { String::new() } else { format!("{blanks}{line}") })
                .collect();
            out.push_str(&lines.join(ending));
        }
        4 if !text.contains(['\n', '\t']) && !text.contains("  ") => {
            let _ = write!(out, "> # folded{}", &deeper);
            // The value ends with a line break then; the reader of the sketch knows.
            out.push(' ');
            let gap = format!("{deeper} ");
            out.push_str(&text.split(' ').collect::<Vec<_>>().join(&gap));
        }
        _ => {
            out.push('"');
            for (i, c) in text.chars().enumerate() {
                match c {
                    '"' | '\\' => {
                        let _ = write!(out, "\\{c}");
                    }
                    '\n' => out.push_str("\\n"),
                    c if i % 7 == 3 => {
                        let _ = write!(out, "\\U{:08X}", u32::from(c));
                    }
                    c if i % 11 == 5 => {
                        let _ = write!(
                            out,
                            "\\{ending}{}{}",
                            " ".repeat(indent + 1),
                            if c == ' ' {
                                "\\ ".to_owned()
                            } else if c == '\t' {
                                "\\t".to_owned()
                            } else {
                                c.to_string()
                            }
                        );
                    }
                    c => out.push(c),
                }
            }
            out.push('"');
        }
    }
}

/// The text as it will be read: only a folded block adds the line break at its end.
fn read_back(text: &str, style: u8) -> String {
    let is_folded = style % 6 == 4 && !text.contains(['\n', '\t']) && !text.contains("  ");
    if is_folded { format!("{text}\n") } else { text.to_owned() }
}

fn write_sketch(sketch: &Sketch, indent: usize, ending: &str, out: &mut String) {
    match sketch {
        Sketch::Text(text, style) => {
            out.push(' ');
            write_text(text, *style, indent, ending, out);
            out.push_str(ending);
        }
        Sketch::List(items) => {
            out.push_str(ending);
            for item in items {
                let _ = write!(out, "{}-", " ".repeat(indent + 2));
                write_sketch(item, indent + 2, ending, out);
            }
        }
        Sketch::Map(entries) => {
            out.push_str(ending);
            for (key, value) in entries {
                let _ = write!(out, "{}{key}:", " ".repeat(indent + 2));
                write_sketch(value, indent + 2, ending, out);
            }
        }
    }
}

fn json(sketch: &Sketch) -> serde_json::Value {
    match sketch {
        Sketch::Text(text, style) => serde_json::Value::String(read_back(text, *style)),
        Sketch::List(items) => items.iter().map(json).collect(),
        Sketch::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_scalar_and_binding_of_a_generated_document(
        sketch in sketches(),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        mark in any::<bool>(),
    ) {
        let mut text = String::from(if mark { "\u{feff}" } else { "" });
        text.push_str("é漢:");
        write_sketch(&sketch, 0, ending, &mut text);
        let source = Source::new(FileId::MAIN, "x.yaml", text.as_str());
        let mut found = Vec::new();
        let tree = parse::read(&source, &mut found);
        found.retain(|found| found.severity == flowright::diagnostic::Severity::Error);
        prop_assert!(found.is_empty(), "{text}\n{found:?}");
        let expected = json(&sketch);
        prop_assert_eq!(tree.get("é漢").unwrap().to_json(), expected, "{}", text);
        check(&source, &tree, 0);
    }
}
