//! What is printed from the table of the language agrees with what is read.

use super::{read, workflow, workflows};
use flowright::grammar;

fn accepts(schema: &jsonschema::Validator, text: &str) -> bool {
    schema.is_valid(&read("x.yaml", text).0.to_json())
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let schema = jsonschema::draft202012::new(&grammar::json_schema()).expect("it is a schema");
    for text in [workflows::PLAN, workflows::REPORT] {
        assert!(accepts(&schema, text));
    }
    let head = "kind: workflow\nversion: 1\nname: a\nsteps:\n";
    let cases = [
        "  - { agent: x, task: t }\n",
        "  - { agent: x }\n",
        "  - { agent: x, task: t, choices: {} }\n",
        "  - { agnet: x, task: t }\n",
        "  - { stop: failed, reason: r }\n",
        "  - { stop: faild }\n",
        "  - { agent: x, task: t, on_failed: next }\n",
        "  - { agent: x, task: t, on_failed: nxt }\n",
        "  - { agent: x, task: t, on_failed: { steps: [{ stop: failed }], then: next } }\n",
        "  - { agent: x, task: t, deadline: 2h30m }\n",
        "  - { agent: x, task: t, deadline: P1DT2H }\n",
        "  - { agent: x, task: t, deadline: 2x }\n",
        "  - { agent: x, task: t, max_revisions: 0 }\n",
        "  - { question: q, choices: { a: A, b: { label: B, feedback: required, then: hold } } }\n",
        "  - { question: q, choices: { a: { feedback: required } } }\n",
        "  - { question: q, choices: { a: A }, on_deadline: { choose: a } }\n",
        "  - { pick: ['${{ a }}'] }\n",
        "  - { pick: [a] }\n",
        "  - { loop: { repeat: 3, steps: [{ stop: failed }] } }\n",
        "  - { loop: { repeat: 3 } }\n",
        "  - { cron: '* * * * *', missed: catch-up }\n",
    ];
    for steps in cases {
        let text = format!("{head}{steps}");
        assert_eq!(accepts(&schema, &text), workflow(&text).1.is_empty(), "{steps}: {:?}", workflow(&text).1);
    }
}

#[test]
fn every_key_is_in_the_reference_and_the_grammar() {
    let (reference, ebnf) = (grammar::reference_markdown(), grammar::ebnf());
    for key in grammar::CONTEXTS.iter().flat_map(|context| context.keys) {
        assert!(reference.contains(&format!("| `{}` |", key.name)), "{}", key.name);
        assert!(ebnf.contains(&format!("\"{}:\"", key.name)), "{}", key.name);
    }
}

/// A name that stands for itself in the table resolves in it.
#[test]
fn contexts_that_are_referred_to_exist() {
    for key in grammar::CONTEXTS.iter().flat_map(|context| context.keys) {
        if let grammar::Shape::Map(name) | grammar::Shape::List(name) = key.shape {
            assert!(grammar::CONTEXTS.iter().any(|context| context.name == name), "{name}");
        }
    }
}
