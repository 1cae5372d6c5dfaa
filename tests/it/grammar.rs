//! The printed grammars: the one of bindings agrees with the reader, that of the language is whole.

mod ebnf;

use ebnf::{Expression, Grammar};
use flowright::diagnostic::Diagnostic;
use flowright::parse::binding;
use flowright::source::{FileId, Span};
use flowright::tree::{Style, Text};
use flowright::{ast, grammar};
use proptest::prelude::{ProptestConfig, any, proptest};
use std::collections::BTreeSet;

/// Characters of which near misses are made.
const NEAR: [&str; 22] = [
    "$", "{", "}", ".", "[", "]", "a", "0", "9", "_", "-", " ", "\n", "é", "²", "+", "(", "'", "漢",
    "\u{a0}", "${{", "}}",
];

/// The findings and bindings that the reader sees.
fn read(text: &str) -> (Vec<Diagnostic>, Vec<ast::Binding>) {
    let span = Span::new(FileId::MAIN, 0, text.len());
    let text = Text { value: text.to_owned(), style: Style::Double, runs: Vec::new(), span };
    let mut found = Vec::new();
    let template = binding::template(&text, &mut found);
    let bindings = template.parts.into_iter().filter_map(|part| match part {
        ast::Part::Binding(binding) => Some(binding),
        ast::Part::Text(_) => None,
    });
    let bindings = bindings.collect();
    (found, bindings)
}

/// Something that the grammar derives; a used-up list of choices takes the shortest way.
fn derive(
    grammar: &Grammar,
    expression: &Expression,
    dice: &mut impl FnMut(usize) -> usize,
    out: &mut String,
) {
    match expression {
        Expression::Terminal(text) => out.push_str(text),
        Expression::Symbol(name) => match grammar.rule(name) {
            Expression::Special(_) => {
                let samples: &[&str] = match name.as_str() {
                    "digit" => &["0", "7"],
                    "letter" => &["a", "Z", "é", "漢", "²"],
                    "blank" => &[" ", "\n", "\u{a0}"],
                    "character" => &["x", "$", "{", "}", " ", "é"],
                    other => panic!("no samples of `{other}`"),
                };
                out.push_str(samples[dice(samples.len())]);
            }
            other => derive(grammar, other, dice, out),
        },
        Expression::Special(_) => panic!("a special stands alone in its rule"),
        Expression::Sequence(all) => all.iter().for_each(|one| derive(grammar, one, dice, out)),
        Expression::Choice(all) => derive(grammar, &all[dice(all.len())], dice, out),
        Expression::Optional(one) => {
            if dice(2) == 1 {
                derive(grammar, one, dice, out);
            }
        }
        Expression::Repeated(one) => {
            for _ in 0..dice(4) {
                derive(grammar, one, dice, out);
            }
        }
    }
}

/// What stands alone for a character in the grammar of bindings.
fn special(name: &str, rest: &str) -> Option<usize> {
    let c = rest.chars().next()?;
    let fits = match name {
        "digit" => c.is_ascii_digit(),
        "letter" => c.is_alphanumeric() && !c.is_ascii_digit(),
        "blank" => c.is_whitespace(),
        "character" => !rest.starts_with("${{") && !rest.starts_with("$${{"),
        other => panic!("the recogniser does not know `{other}`"),
    };
    fits.then(|| c.len_utf8())
}

fn agree(grammar: &Grammar, text: &str) {
    let (found, _) = read(text);
    let accepted = grammar.accepts("text", text, &special);
    assert_eq!(found.is_empty(), accepted, "{text:?}: the reader says {found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reader_of_bindings_keeps_the_grammar(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let grammar = Grammar::read(grammar::BINDINGS);
        let mut at = 0;
        let mut dice = |sides: usize| {
            at += 1;
            bytes.get(at - 1).map_or(0, |byte| usize::from(*byte) % sides)
        };
        let mut text = String::new();
        derive(&grammar, grammar.rule("text"), &mut dice, &mut text);
        // Characters that follow the grammar one by one may together begin a binding.
        proptest::prop_assume!(grammar.accepts("text", &text, &special));
        assert!(read(&text).0.is_empty(), "{text:?} follows the grammar: {:?}", read(&text).0);
        agree(&grammar, &text);
        // A binding alone is read as one, and near misses are taken by both or by neither.
        let mut one = String::new();
        derive(&grammar, grammar.rule("binding"), &mut dice, &mut one);
        assert_eq!(read(&one).1.len(), 1, "{one:?}");
        for _ in 0..4 {
            let chars: Vec<char> = one.chars().collect();
            let (from, len) = (dice(chars.len() + 1), dice(3));
            let new = NEAR[dice(NEAR.len())];
            let tail = chars.iter().skip(from + len);
            let mutated: String = chars.iter().take(from).copied().chain(new.chars()).chain(tail.copied()).collect();
            agree(&grammar, &mutated);
        }
    }
}

#[test]
fn near_misses_of_bindings_by_name() {
    let grammar = Grammar::read(grammar::BINDINGS);
    for (text, fits) in [
        ("${{ inputs.a }}", true),
        ("${{inputs.a[0].b-c}}", true),
        ("x $${{ y ${{ a }}", true),
        ("$$${{ a + }}", true),
        ("${{ é_1.2x }}", true),
        ("${{}}", false),
        ("${{ a. }}", false),
        ("${{ a.0 }}", false),
        ("${{ a [0] }}", false),
        ("${{ a[ 0 ] }}", false),
        ("${{ -a }}", false),
        ("${{ a b }}", false),
        ("${{ a", false),
        ("${{ a ${{ b }}", false),
        ("${{ f() }}", false),
    ] {
        assert_eq!(read(text).0.is_empty(), fits, "{text}");
        assert_eq!(grammar.accepts("text", text, &special), fits, "{text}");
    }
}

#[test]
fn the_grammar_of_the_language_is_whole() {
    let printed = grammar::ebnf();
    let grammar = Grammar::read(&printed);
    let known: BTreeSet<&str> = grammar.names().collect();
    let mut used = BTreeSet::from(["document", "agent_file"]);
    for name in grammar.names() {
        grammar.rule(name).symbols(&mut used);
    }
    assert_eq!(used, known, "every symbol is defined, every rule is used");
    for context in grammar::CONTEXTS {
        let rule = [context.name.to_owned(), format!("{}_keys", context.name)];
        let rule = rule.iter().rfind(|name| known.contains(name.as_str())).unwrap();
        let mut terminals = BTreeSet::new();
        grammar.rule(rule).terminals(&mut terminals);
        for key in context.names() {
            assert!(terminals.contains(format!("{key}:").as_str()), "`{key}` of {rule}");
        }
    }
    assert!(printed.ends_with(grammar::BINDINGS));
}
