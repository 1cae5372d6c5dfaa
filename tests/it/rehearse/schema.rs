//! The JSON Schema of test files says the same as their reader.

use super::steps::WRONG;
use super::{TO_REVIEW, text_of};
use flowright::grammar::test_schema;
use flowright::parse;
use flowright::schema::Schema;
use flowright::source::{FileId, Source};

fn faults(text: &str) -> Vec<String> {
    let schema = Schema::compile(&test_schema()).unwrap();
    let source = Source::new(FileId::MAIN, "x.yaml", text);
    let mut found = Vec::new();
    let tree = parse::read(&source, &mut found);
    assert!(found.is_empty(), "{found:?}");
    schema.validate(&tree.to_json()).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn what_the_reader_takes_fits() {
    for text in [
        include_str!("../../../corpus/real/w04-plan-review-build-test/plan-review-build-test.test.yaml"),
        include_str!("../../../corpus/real/scheduled-report/scheduled-report.test.yaml"),
        &text_of(TO_REVIEW),
        &text_of(
            "  - retry:\n    refused: true\n  - cancel: { as: a, reason: b }\n  - abort: plan\n  - down: P1D\n",
        ),
        &text_of(
            "  - agent: a\n    judge: reject\n    feedback: b\n  - message: { to: a, text: b }\n  - pause: { as: a }\n",
        ),
        &text_of(
            "  - until: 2026-03-02T08:30:00.5+01:00\n  - reject: { step: a, feedback: b, gate: 2, revision: 1 }\n",
        ),
    ] {
        assert_eq!(faults(text), [""; 0], "{text}");
    }
}

#[test]
fn what_the_reader_refuses_does_not() {
    let mut count = 0;
    for (steps, rule, _) in WRONG.iter().filter(|(_, rule, _)| *rule != "duplicate-key") {
        assert_ne!(faults(&text_of(steps)), [""; 0], "{rule}: {steps}");
        count += 1;
    }
    assert!(count > 12);
    for text in [
        "kind: test\nversion: 1\n",
        "kind: test\nversion: 2\ncases: [{ name: a }]\n",
        "kind: test\nversion: 1\ncases: []\n",
    ] {
        assert_ne!(faults(text), [""; 0], "{text}");
    }
}
