//! Secrets and characters that nobody sees, found and never shown (B36, B79).

use super::{compiled, told};
use flowright::report::{self, Format, Look};

fn printed(compiled: &flowright::compile::Compiled, format: Format) -> String {
    let mut out = Vec::new();
    report::write(format, &compiled.sources, &compiled.diagnostics, &mut out, Look::default()).unwrap();
    String::from_utf8(out).unwrap()
}

/// Put together here, so that no scanner takes this file for a leak.
fn secrets() -> Vec<(String, &'static str)> {
    let tail = |n: usize| "aB3dE5gH7jK9".chars().cycle().take(n).collect::<String>();
    vec![
        (format!("sk-{}", tail(40)), "a key of a model server"),
        (format!("gh{}_{}", 'p', tail(36)), "a GitHub token"),
        (format!("AK{}{}", "IA", "Q1W2E3R4T5Y6U7I8"), "an AWS key"),
        (format!("xox{}-{}", 'b', tail(30)), "a Slack token"),
        (format!("glpat{}{}", '-', tail(20)), "a GitLab token"),
    ]
}

#[test]
fn well_known_secrets_are_found_wherever_they_stand_and_shown_nowhere() {
    for (secret, kind) in secrets() {
        for place in [
            format!("    task: Use {secret} for it.\n"),
            format!("    task: Do it.\n    # was {secret}\n"),
            format!("    task: Do it.\n    with: {{ token: {secret} }}\n"),
            format!("    task: Do it.\n    completion: {secret}\n"),
        ] {
            let text =
                format!("kind: workflow\nversion: 1\nname: example\nsteps:\n  - agent: worker\n{place}");
            let compiled = compiled(&text);
            let found: Vec<_> =
                compiled.diagnostics.iter().filter(|found| found.rule.name == "plain-secret").collect();
            assert_eq!(found.len(), 1, "{place}: {:#?}", told(&compiled));
            assert_eq!(&text[found[0].span.range()], secret);
            assert!(found[0].message.starts_with(kind), "{}", found[0].message);
            assert!(found[0].message.ends_with(&format!("`{}…`", &secret[..4])), "{}", found[0].message);
            for format in [Format::Human, Format::Short, Format::Json] {
                let out = printed(&compiled, format);
                assert!(!out.contains(&secret[4..]), "{format:?} shows {kind}:\n{out}");
            }
        }
    }
}

#[test]
fn passwords_under_their_names_are_found_and_references_are_not() {
    let with = |with: &str| {
        let text = format!(
            "kind: workflow\nversion: 1\nname: example\ninputs: {{ key: {{ type: string }} }}\nsteps:\n  - agent: worker\n    \
             task: Do it ${{{{ inputs.key }}}}.\n    with: {with}\n"
        );
        let compiled = compiled(&text);
        let out = printed(&compiled, Format::Human);
        assert!(!out.contains("hunter2000"), "{out}");
        let rules: Vec<_> = compiled.diagnostics.iter().map(|found| found.rule.name).collect();
        rules
    };
    for found in [
        "{ password: hunter2000 }",
        "{ db: { api-key: hunter2000 } }",
        "{ all: [{ ACCESS_TOKEN: hunter2000 }] }",
        "{ url: \"postgres://me:hunter2000@db/x\" }",
    ] {
        assert_eq!(with(found), ["plain-secret"], "{found}");
    }
    for clean in [
        "{ password: \"${{ inputs.key }}\" }",
        "{ token: \"<your token>\" }",
        "{ secret: \"env:TOKEN\" }",
        "{ tokens: many-words-here }",
        "{ password: a word to think about }",
        "{ url: \"https://example.com/a@b\" }",
    ] {
        assert_eq!(with(clean), [""; 0], "{clean}");
    }
}

#[test]
fn the_body_of_a_private_key_is_not_shown() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
    let text = format!(
        "kind: workflow\nversion: 1\nname: example\nsteps:\n  - agent: worker\n    task: |\n      -----BEGIN {0} KEY-----\n      \
         {line}\n      -----END {0} KEY-----\n",
        "PRIVATE"
    );
    let compiled = compiled(&text);
    assert_eq!(compiled.diagnostics.len(), 1, "{:#?}", told(&compiled));
    assert_eq!(compiled.diagnostics[0].rule.name, "plain-secret");
    assert!(!printed(&compiled, Format::Human).contains(line));
}

#[test]
fn characters_that_nobody_sees_are_found_and_shown_escaped() {
    let with = |text: &str| {
        compiled(&format!(
            "kind: workflow\nversion: 1\nname: example\nsteps:\n  - question: {text}\n    choices: {{ go: Go, no: No }}\n"
        ))
    };
    for (c, severity) in [
        ('\u{202e}', "error"),
        ('\u{2066}', "error"),
        ('\u{200b}', "warning"),
        ('\u{e0041}', "warning"),
        ('\u{feff}', "warning"),
    ] {
        let compiled = with(&format!("Pay{c} it{c}?"));
        let told = told(&compiled);
        assert_eq!(compiled.diagnostics.len(), 1, "{told:#?}");
        let found = &compiled.diagnostics[0];
        assert_eq!((found.rule.name, found.severity.word()), ("hidden-character", severity));
        assert!(found.message.contains(&format!("U+{:04X}", u32::from(c))), "{}", found.message);
        assert!(found.message.contains("with 1 more"), "{}", found.message);
        let out = printed(&compiled, Format::Human);
        assert!(!out.contains(c) && out.contains(&format!("\\u{{{:x}}}", u32::from(c))), "{out}");
    }
    let rules: Vec<_> = with("Pay\u{9b}1m it?").diagnostics.iter().map(|found| found.rule.name).collect();
    assert_eq!(rules, ["control-character"]);
    // Joiners belong to scripts and pictures, an escape can be read, and a mark may begin a file.
    assert_eq!(told(&with("\"Pay \u{1f469}\u{200d}\u{1f680} it \\u202e?\"")), [""; 0]);
    let marked = compiled(
        "\u{feff}kind: workflow\nversion: 1\nname: example\nsteps:\n  - agent: worker\n    task: Do it.\n",
    );
    assert_eq!(told(&marked), [""; 0]);
}
