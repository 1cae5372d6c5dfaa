//! Ignore comments: what they take out, what they may not, and what is said of them.

use super::desk::{Desk, flow, of_text, said};
use flowright::diagnostic::Severity;

fn yaml(inputs: &str) -> Vec<String> {
    said(&of_text("flow.yaml", &flow(inputs)))
}

#[test]
fn a_comment_speaks_of_its_own_line_or_of_the_next() {
    assert_eq!(yaml("  a: { type: string }\n"), ["unused-input@5"]);
    assert_eq!(yaml("  a: { type: string } # flowright: ignore[unused-input] read elsewhere\n"), [""; 0]);
    assert_eq!(yaml("  # flowright: ignore[unused-input] read elsewhere\n  a: { type: string }\n"), [""; 0]);
    assert_eq!(yaml("  # flowright: ignore[unused-input] why\n\n  # note\n  a: { type: string }\n"), [""; 0]);
    let two =
        "  # flowright: ignore[unused-input] read elsewhere\n  a: { type: string }\n  b: { type: string }\n";
    assert_eq!(yaml(two), ["unused-input@7"], "only one line is spoken of");
}

#[test]
fn the_reason_is_kept() {
    let verdict = of_text(
        "flow.yaml",
        &flow("  a: { type: string } # flowright: ignore[unused-input]: read elsewhere\n"),
    );
    assert_eq!(verdict.ignored.len(), 1);
    assert_eq!(verdict.ignored[0].reason, "read elsewhere");
    assert!(verdict.workflow().is_some());
}

#[test]
fn without_a_reason_nothing_is_ignored() {
    let found = yaml("  a: { type: string } # flowright: ignore[unused-input] --\n");
    assert_eq!(found, ["unused-input@5", "ignore-without-reason@5"]);
}

#[test]
fn a_whole_file_above_its_first_key() {
    let text = flow("  a: { type: string }\n  b: { type: string }\n");
    let on_top = format!("# flowright: ignore-file[unused-input] a template\n{text}");
    assert_eq!(said(&of_text("flow.yaml", &on_top)), [""; 0]);
    let below = format!("{text}# flowright: ignore-file[unused-input] a template\n");
    assert_eq!(said(&of_text("flow.yaml", &below)), ["unused-input@5", "unused-input@6", "bad-ignore@11"]);
}

#[test]
fn an_error_stays() {
    let text = flow("  a: { type: string }\n").replace(
        "    question",
        "    # flowright: ignore[unknown-key] it works\n    colour: red\n    question",
    );
    let verdict = of_text("flow.yaml", &text);
    let found = said(&verdict);
    assert!(
        found.contains(&"ignored-error@8".to_owned()) && found.contains(&"unknown-key@9".to_owned()),
        "{found:?}"
    );
    let about = verdict.diagnostics.iter().find(|one| one.rule.name == "ignored-error").unwrap();
    assert_eq!(about.severity, Severity::Error);
    assert!(verdict.workflow().is_none());
}

#[test]
fn names_are_checked_and_the_nearest_is_offered() {
    let verdict = of_text(
        "flow.yaml",
        &flow("  a: { type: string } # flowright: ignore[unusd-input] read elsewhere\n"),
    );
    assert_eq!(said(&verdict), ["unused-input@5", "unknown-rule@5"]);
    let fix = verdict.diagnostics[1].fix.as_ref().unwrap();
    let source = verdict.sources.iter().next().unwrap();
    assert_eq!(
        (source.slice(fix.edits[0].span), fix.edits[0].text.as_str()),
        ("unusd-input", "unused-input")
    );
}

#[test]
fn what_cannot_be_read_is_told() {
    for wrong in ["ignore unused-input because", "ignore[] because", "ignored[unused-input] x", ""] {
        let found = yaml(&format!("  a: {{ type: string }} # flowright: {wrong}\n"));
        assert_eq!(found, ["unused-input@5", "bad-ignore@5"], "{wrong}");
    }
}

#[test]
fn a_text_is_no_comment() {
    let inputs = "  a:\n    type: string\n    description: |\n      x\n      # flowright: ignore[unused-input] no comment\n    default: \"# flowright: ignore[x]\"\n";
    assert_eq!(yaml(inputs), ["unused-input@5"]);
}

#[test]
fn an_unused_comment_is_removed_by_its_fix() {
    let desk = Desk::new();
    let text = flow("  a: { type: string } # flowright: ignore[unused-input, loose-schema] read elsewhere\n")
        .replace("    question", "    # flowright: ignore[unused-agent] old\n    question")
        .replace(
            "choices: { \"yes\": Go on, \"no\": Stay }",
            "choices: { \"yes\": Go on, \"no\": Stay } # flowright: ignore[unused-agent] old",
        );
    desk.file("flow.yaml", text.replace('\n', "\r\n"));
    let outcome = desk.check(&["flow.yaml"]);
    assert_eq!(outcome.code, 0);
    assert_eq!(outcome.out.matches("warning[unused-ignore]").count(), 3, "{}", outcome.out);
    let outcome = desk.check(&["flow.yaml", "--fix", "--format", "human"]);
    assert!(outcome.out.ends_with("3 fixed, 0 left\n"), "{}", outcome.out);
    let expected = flow("  a: { type: string } # flowright: ignore[unused-input] read elsewhere\n");
    assert_eq!(desk.text("flow.yaml"), expected.replace('\n', "\r\n"));
}

#[test]
fn agent_files_take_comments_too() {
    let keys = "slug: worker\nmodelUrl: http://localhost:11434/v1\nmodelName: m\nannounce: a\n";
    let plain = format!("---\n{keys}colour: red\n---\nYou work.\n# flowright: ignore[x] prose\n");
    let before = said(&of_text("worker.agent.md", &plain));
    assert!(before.iter().any(|one| one == "unknown-key@6"), "{before:?}");
    let with = plain.replace("colour", "# flowright: ignore[unknown-key] another tool reads it\ncolour");
    let after = said(&of_text("worker.agent.md", &with));
    assert!(!after.iter().any(|one| one.starts_with("unknown-key")), "{after:?}");
    assert!(!after.iter().any(|one| one.starts_with("unused-ignore")), "{after:?}");
}

#[test]
fn in_json_keys_that_begin_with_dashes_are_comments() {
    let json = |comment: &str| {
        format!(
            "{{\n  \"slug\": \"worker\",\n  \"modelUrl\": \"http://localhost:11434/v1\",\n  \"modelName\": \"m\",\n  \
             \"systemPrompt\": \"flowright: ignore[unknown-key] no comment\",\n{comment}  \"colour\": \"red\"\n}}\n"
        )
    };
    let before = said(&of_text("worker.json", &json("")));
    assert!(before.iter().any(|one| one == "unknown-key@6"), "{before:?}");
    let verdict = of_text(
        "worker.json",
        &json("  \"--why\": \"flowright: ignore[unknown-key] another tool reads it\",\n"),
    );
    assert!(!said(&verdict).iter().any(|one| one.starts_with("unknown-key")), "{:?}", said(&verdict));
    assert_eq!(verdict.ignored.len(), 1);
    // One that ignores nothing goes with its comma.
    let unused = json("  \"--why\": \"flowright: ignore[unused-input] another tool reads it\",\n");
    let verdict = of_text("worker.json", &unused);
    let found = verdict.diagnostics.iter().find(|one| one.rule.name == "unused-ignore").unwrap();
    let edit = &found.fix.as_ref().unwrap().edits[0];
    let mut text = unused.clone();
    text.replace_range(edit.span.range(), &edit.text);
    assert_eq!(text, json(""));
}

/// A comment behind a syntax error is still a comment, and the reader sees the same with and without comments.
#[test]
fn comments_are_found_behind_a_fault() {
    let text =
        flow("  a: { type: string } # flowright: ignore[unused-input] read elsewhere\n") + "  - id: a: b\n";
    let found = said(&of_text("flow.yaml", &text));
    assert!(found.iter().all(|one| !one.starts_with("unused")), "{found:?}");
    assert!(found.iter().any(|one| one.ends_with("@10")), "{found:?}");
}
