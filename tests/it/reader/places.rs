//! Where the characters of scalars stand: whatever a run covers is byte for byte in the source.

use super::read;
use flowright::tree::{Style, Text};
use proptest::prelude::*;

fn check(source: &str, text: &Text, expected: &str) {
    assert_eq!(text.value, expected, "the value of {source:?}");
    let mut covered = 0;
    for (i, run) in text.runs.iter().enumerate() {
        assert_eq!(run.value_start as usize, covered, "runs touch in {source:?}: {:?}", text.runs);
        let next = text.runs.get(i + 1).map_or(text.value.len(), |next| next.value_start as usize);
        let (start, len) = (run.value_start as usize, run.len as usize);
        let at = run.source_start as usize;
        assert!(at >= text.span.range().start && at + len <= source.len(), "a run lies in the source");
        assert_eq!(
            &text.value.as_bytes()[start..start + len],
            &source.as_bytes()[at..at + len],
            "in {source:?}"
        );
        assert!(len == 0 || len == next - start, "a run is verbatim as a whole or stands for something");
        covered = next;
    }
    assert_eq!(covered, text.value.len(), "every character has a place in {source:?}");
}

fn scalar(source: &str) -> Text {
    let (tree, found) = read("x.yaml", source);
    assert!(found.is_empty(), "{source:?}: {found:?}");
    let node =
        tree.get("k").or_else(|| tree.get("l").and_then(|list| list.get("k"))).expect("the key is there");
    node.text().unwrap_or_else(|| panic!("{source:?} is no text: {node:?}")).clone()
}

/// Lines without anything special at their ends.
fn words() -> impl Strategy<Value = String> {
    "[a-zé漢😀]{1,6}( [a-zé漢😀]{1,5}){0,3}"
}

proptest! {
    #[test]
    fn double_quoted(value in "[ -~é漢😀\n\t\u{85}\u{2028}]{0,40}", outer in "( {2}){0,1}") {
        let mut escaped = String::new();
        for c in value.chars() {
            match c {
                '"' => escaped.push_str("\\\""),
                '\\' => escaped.push_str("\\\\"),
                '\n' => escaped.push_str("\\n"),
                '\t' => escaped.push_str("\\t"),
                '\u{85}' => escaped.push_str("\\N"),
                '😀' => escaped.push_str("\\U0001F600"),
                '漢' => escaped.push_str("\\u6f22"),
                c => escaped.push(c),
            }
        }
        let source = if outer.is_empty() { format!("é: 1\nk: \"{escaped}\"\n") } else { format!("l:\n{outer}k: \"{escaped}\" # c\n") };
        check(&source, &scalar(&source), &value);
        let json = format!("{{ \"k\": {} }}", serde_json::to_string(&value).unwrap());
        let (tree, found) = read("x.json", &json);
        prop_assert!(found.is_empty());
        check(&json, tree.get("k").unwrap().text().unwrap(), &value);
    }

    #[test]
    fn single_quoted(value in "[ -~é漢😀]{0,40}") {
        let source = format!("k: '{}'\n", value.replace('\'', "''"));
        check(&source, &scalar(&source), &value);
    }

    #[test]
    fn folded_over_lines(
        lines in prop::collection::vec(words(), 1..5),
        gaps in prop::collection::vec(0usize..3, 5),
        style in 0usize..3,
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        indent in 1usize..6,
    ) {
        let quote = ["", "'", "\""][style];
        let mut source = format!("k: {quote}");
        let mut value = String::new();
        for (i, line) in lines.iter().enumerate() {
            if i > 0 {
                source.push_str(if style > 0 { "  " } else { "" });
                source.push_str(&ending.repeat(1 + gaps[i]));
                source.push_str(&" ".repeat(indent));
                value.push_str(&if gaps[i] == 0 { " ".to_owned() } else { "\n".repeat(gaps[i]) });
            }
            source.push_str(line);
            value.push_str(line);
        }
        source.push_str(quote);
        source.push_str(ending);
        prop_assume!(!matches!(value.as_str(), "null" | "true" | "false"));
        check(&source, &scalar(&source), &value);
    }

    #[test]
    fn literal_blocks(
        lines in prop::collection::vec("( {0,3}[a-zé漢#:]{1,5}[ ]{0,2}|)", 1..7),
        indent in 1usize..5,
        explicit in any::<bool>(),
        chomp in prop::sample::select(vec!["", "-", "+"]),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        last_break in any::<bool>(),
    ) {
        prop_assume!(lines.iter().any(|line| !line.is_empty()));
        let first_spaced = lines.iter().find(|line| !line.is_empty()).is_some_and(|line| line.starts_with(' '));
        let indicator = if explicit || first_spaced { indent.to_string() } else { String::new() };
        let mut source = format!("l:\n  k: |{indicator}{chomp} # note{ending}");
        for (i, line) in lines.iter().enumerate() {
            if !line.is_empty() {
                source.push_str(&" ".repeat(2 + indent));
                source.push_str(line);
            }
            if i + 1 < lines.len() || last_break { source.push_str(ending); }
        }
        let mut value = lines.join("\n");
        if lines.last().is_some_and(|line| !line.is_empty()) || last_break { value.push('\n'); }
        let body = value.trim_end_matches('\n');
        let value = match chomp { "-" => body.to_owned(), "+" => value.clone(), _ => format!("{body}\n") };
        check(&source, &scalar(&source), &value);
    }

    #[test]
    fn any_text_is_read_without_harm(text in "[ -~é\n\t\r:#&*!|>'\"{}\\[\\],-]{0,80}") {
        for name in ["x.yaml", "x.json"] {
            let (tree, found) = read(name, &text);
            for found in &found {
                prop_assert!(text.get(found.span.range()).is_some(), "{:?} in {:?}", found, text);
            }
            every_text(&tree, &mut |scalar| {
                for run in &scalar.runs {
                    let (value, source) = (run.value_start as usize, run.source_start as usize);
                    let len = run.len as usize;
                    assert_eq!(&scalar.value.as_bytes()[value..value + len], &text.as_bytes()[source..source + len]);
                }
                assert!(!scalar.runs.is_empty() || scalar.value.is_empty(), "{text:?}: {scalar:?}");
            });
        }
    }
}

fn every_text(node: &flowright::tree::Node, f: &mut impl FnMut(&Text)) {
    match &node.value {
        flowright::tree::Value::Text(text) => f(text),
        flowright::tree::Value::List(items) => items.iter().for_each(|item| every_text(item, f)),
        flowright::tree::Value::Map(entries) => entries.iter().for_each(|entry| every_text(&entry.value, f)),
        _ => {}
    }
}

#[test]
fn folded_blocks() {
    let cases = [
        ("k: >\n  one\n  two\n\n  three\n", "one two\nthree\n"),
        ("k: >-\n  one\n    more\n  two\n", "one\n  more\ntwo"),
        ("k: >2\n    one\n  two\n", "  one\ntwo\n"),
        ("k: >+\n\n  one\n\n\n", "\none\n\n\n"),
        ("k: >\r\n  one\r\n  two\r\n", "one two\n"),
        ("k: >\n  one\n  two", "one two\n"),
        ("k: |\n\n\n", ""),
        ("k: |+\n\n\n", "\n\n"),
    ];
    for (source, value) in cases {
        check(source, &scalar(source), value);
    }
}

#[test]
fn escaped_line_breaks() {
    let source = "k: \"one \\\n   two\\\n  \\ three \n\n  four\"\n";
    check(source, &scalar(source), "one two three\nfour");
}

/// B12: a place in a text of several lines is the place in the file.
#[test]
fn a_binding_in_a_text_of_several_lines_is_pointed_at() {
    for source in [
        "k: |\n    one\n    two é\n    x ${{ a + b }} y\n",
        "k: >\n    one\n    two\n    x ${{ a + b }} y\n",
        "k: |2\n    one\n  x ${{ a + b }} y\n",
        "k: \"one\n  two \\u00e9 x ${{ a + b }} y\"\n",
        "k: 'it''s ${{ a + b }}'\r\n",
        "k: one\n  two ${{ a + b }}\n",
    ] {
        let text = scalar(source);
        let mut found = Vec::new();
        flowright::parse::binding::template(&text, &mut found);
        assert_eq!(super::said(source, &found), ["expression-in-binding @ ${{ a + b }}"], "{source:?}");
    }
}

#[test]
fn styles_are_known() {
    let styles =
        ["x", "'x'", "\"x\"", "|\n  x", ">\n  x"].map(|value| scalar(&format!("k: {value}\n")).style);
    assert_eq!(styles, [Style::Plain, Style::Single, Style::Double, Style::Literal, Style::Folded]);
    let source = "k: | # c\n  x\n\nz: 1\n";
    assert_eq!(&source[scalar(source).span.range()], "| # c\n  x");
}
