//! `--fix` and `--diff`: what mends, what stays as it was, and what is never written.

use super::desk::{Desk, Outcome, corpus, document, flow};
use crate::support::AS_OF;
use flowright::compile::MainDocument;
use flowright::diagnostic::Severity;
use flowright::settings::Settings;
use flowright::source::FileId;
use flowright::verdict::mend::{Level, mend};
use flowright::verdict::{self, Under, Verdict};

const WRONG: &str = "# a comment\nkind: workflow\nversion: 1\nname: example   # kept\nsteps:\n  - id: go\n    question: \"Go on?\"\n    choises:\n        go: \"Go on\"   # four blanks\n        stay: Stay\n";

fn judge(main: &MainDocument, files: &dyn flowright::compile::Files) -> Verdict {
    verdict::judge(main.clone(), files, Under { settings: &Settings::default(), path: "x" }, AS_OF)
}

fn errors(verdict: &Verdict) -> usize {
    verdict.count(Severity::Error)
}

/// Every safe fix of the corpus, each alone: its finding is gone, and there are not more errors than before. (What a
/// finding has hidden may come to light in its place: a key that is misspelt is not judged by what it holds.)
#[test]
fn every_safe_fix_of_the_corpus_mends_and_breaks_nothing() {
    let mut tried = 0;
    let mut faults = Vec::new();
    for path in corpus("corpus") {
        let (main, files) = document(&path);
        let Ok(text) = String::from_utf8(main.bytes.clone()) else { continue };
        let before = judge(&main, &files);
        for found in &before.diagnostics {
            let Some(fix) = found.fix.as_ref().filter(|fix| fix.safe) else { continue };
            if fix.edits.iter().any(|edit| edit.span.file != FileId::MAIN) {
                continue;
            }
            tried += 1;
            let mut edits = fix.edits.clone();
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
            let mut mended = text.clone();
            for edit in edits {
                mended.replace_range(edit.span.range(), &edit.text);
            }
            let after = judge(&MainDocument { bytes: mended.into_bytes(), ..main.clone() }, &files);
            let count = |verdict: &Verdict| {
                let alike = |one: &&flowright::diagnostic::Diagnostic| {
                    one.rule == found.rule && one.message == found.message
                };
                verdict.diagnostics.iter().filter(alike).count()
            };
            if count(&after) >= count(&before) {
                faults.push(format!(
                    "{}: {} is still there: {}",
                    path.display(),
                    found.rule.name,
                    found.message
                ));
            }
            if errors(&after) > errors(&before) {
                faults.push(format!("{}: the fix of `{}` brings an error", path.display(), found.message));
            }
        }
    }
    assert!(tried >= 8, "{tried}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Mending ends, and mending what is mended changes nothing.
#[test]
fn mending_twice_is_mending_once() {
    let settings = Settings::default();
    let under = Under { settings: &settings, path: "x" };
    for level in [Level::Safe, Level::Unsafe] {
        for path in corpus("corpus") {
            let (main, files) = document(&path);
            let once = mend(&main, &files, under, AS_OF, level);
            let Some(_) = once.before else { continue };
            let again = MainDocument { bytes: once.text.clone().into_bytes(), ..main.clone() };
            let twice = mend(&again, &files, under, AS_OF, level);
            assert_eq!((twice.count(), twice.text == once.text), (0, true), "{}", path.display());
        }
    }
}

#[test]
fn comments_and_layout_stay() {
    let desk = Desk::new();
    desk.file("flow.yaml", WRONG);
    let outcome = desk.check(&["flow.yaml", "--fix", "--format", "human"]);
    assert_eq!(outcome.code, 0, "{}", outcome.out);
    assert_eq!(desk.text("flow.yaml"), WRONG.replace("choises", "choices"));
    assert_eq!(outcome.out, "no findings · 1 file checked\n1 fixed, 0 left\n");
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    let desk = Desk::new();
    let text = format!("\u{feff}{}", WRONG.replace('\n', "\r\n"));
    desk.file("flow.yaml", &text);
    assert_eq!(desk.check(&["flow.yaml", "--fix"]).code, 0);
    assert_eq!(desk.text("flow.yaml"), text.replace("choises", "choices"));
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay_and_read_only_files_are_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    let real = desk.file("real/flow.yaml", WRONG);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, desk.path().join("link.yaml")).unwrap();
    assert_eq!(desk.check(&["link.yaml", "--fix"]).code, 0);
    assert!(std::fs::symlink_metadata(desk.path().join("link.yaml")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(desk.text("real/flow.yaml").contains("choices"));
    assert_eq!(std::fs::read_dir(desk.path().join("real")).unwrap().count(), 1, "nothing is left beside it");

    let locked = desk.file("locked.yaml", WRONG);
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o440)).unwrap();
    let outcome = desk.check(&["locked.yaml", "real/flow.yaml", "--fix"]);
    assert_eq!(outcome.code, 70);
    assert!(outcome.err.contains("locked.yaml cannot be mended: it is read-only"), "{}", outcome.err);
    assert_eq!(desk.text("locked.yaml"), WRONG);
}

#[test]
fn stdin_comes_out_mended() {
    let desk = Desk::new();
    let outcome = desk.check_stdin(&["--fix", "-"], WRONG.as_bytes());
    assert_eq!((outcome.code, outcome.out), (0, WRONG.replace("choises", "choices")));
    assert_eq!(outcome.err, "flowright: 1 fixed, 0 left\n");
    // What cannot be mended comes out as it was, and what is wrong goes to stderr.
    let text = flow("").replace("Go on?", "Go ${{ steps.nowhere.choice }}?");
    let outcome = desk.check_stdin(&["-", "--fix"], text.as_bytes());
    assert_eq!((outcome.code, outcome.out), (1, text));
    assert!(outcome.err.contains("error[unknown-step]"), "{}", outcome.err);
}

#[test]
fn a_diff_changes_nothing_and_can_be_applied() {
    let desk = Desk::new();
    desk.file("flow.yaml", WRONG);
    let outcome = desk.check(&["flow.yaml", "--diff"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(desk.text("flow.yaml"), WRONG);
    let lines: Vec<_> = outcome.out.lines().collect();
    assert_eq!(lines[..3], ["--- a/flow.yaml", "+++ b/flow.yaml", "@@ -5,6 +5,6 @@"]);
    assert!(lines.contains(&"-    choises:") && lines.contains(&"+    choices:"));
    assert_eq!(outcome.err, "flowright: would mend 1 finding in 1 file\n");
    desk.check(&["flow.yaml", "--fix"]);
    let Outcome { code, out, .. } = desk.check(&["flow.yaml", "--diff"]);
    assert_eq!((code, out.as_str()), (0, ""));
}

#[test]
fn what_may_change_the_meaning_waits_to_be_asked_for() {
    let desk = Desk::new();
    let text = flow("").replace("question: Go on?", "question: Go on #1 of it");
    desk.file("flow.yaml", &text);
    let before = desk.check(&["flow.yaml", "--json"]).json();
    let fix = &before["diagnostics"][0]["fix"];
    assert_eq!(
        (&fix["safe"], &before["diagnostics"][0]["rule"]),
        (&false.into(), &"swallowed-comment".into())
    );
    let outcome = desk.check(&["flow.yaml", "--fix", "--format", "human"]);
    assert!(outcome.out.ends_with("0 fixed, 1 left (1 fix needs --unsafe-fixes)\n"), "{}", outcome.out);
    assert_eq!(desk.text("flow.yaml"), text);
    assert_eq!(desk.check(&["flow.yaml", "--unsafe-fixes"]).code, 2, "alone it means nothing");
    let outcome = desk.check(&["flow.yaml", "--fix", "--unsafe-fixes", "--format", "human"]);
    assert!(outcome.out.ends_with("1 fixed, 0 left\n"), "{}", outcome.out);
    assert_eq!(desk.text("flow.yaml"), text.replace("Go on #1 of it", "\"Go on #1 of it\""));
}

#[test]
fn agents_are_mended_too() {
    let desk = Desk::new();
    let agent = "{\n  \"slug\": \"worker\",\n  \"base\": \"workflow-agent@1\",\n  \"modelUrl\": \"http://localhost:1/v1\",\n  \"modelNam\": \"m\",\n  \"apiKeyId\": \"k\",\n  \"systemPrompt\": \"x\",\n}\n";
    desk.file("agents/worker.json", agent);
    let outcome = desk.check(&[".", "--fix", "--format", "human"]);
    let expected = agent.replace("modelNam", "modelName").replace("\"x\",", "\"x\"");
    assert_eq!(desk.text("agents/worker.json"), expected, "{}", outcome.out);
}

/// A fix that would bring an error is not applied: two misspelt keys that both mean the same one.
#[test]
fn no_fix_brings_an_error() {
    let desk = Desk::new();
    let text = WRONG.replace("    choises:", "    choicess: { a: A }\n    choises:");
    desk.file("flow.yaml", &text);
    let outcome = desk.check(&["flow.yaml", "--fix"]);
    assert_eq!(outcome.code, 1);
    let mended = desk.text("flow.yaml");
    assert_eq!(
        mended,
        text.replace("choicess", "choices"),
        "the first is mended, the second would stand twice"
    );
    assert!(outcome.out.contains("`choises`") && !outcome.out.contains("duplicate-key"), "{}", outcome.out);
}

/// What may be another name as well is shown and not put in: names told apart by a number, by a letter of their own,
/// by most of their letters, and words that are another word by one letter.
#[test]
fn only_a_slip_of_the_hand_is_mended_without_asking() {
    let desk = Desk::new();
    let steps = |plan: &str, input: &str, required: &str, zone: &str, task: &str, key: &str| {
        format!(
            "kind: workflow\nversion: 1\nname: example\ninputs:\n  a: {{ type: string }}\n  size: {{ type: string }}\n\
             steps:\n  - id: at\n    cron: \"0 9 * * *\"\n    timezone: {zone}\n  - id: plan\n    agent: worker\n    \
             task: Do ${{{{ inputs.{input} }}}} of ${{{{ inputs.size }}}}\n    result:\n      type: object\n      \
             additionalProperties: false\n      required: [v1, {required}]\n      properties: {{ v1: {{ type: string }}, \
             verdict: {{ type: string }} }}\n  - id: part-b\n    agent: worker\n    {task}: ${{{{ steps.{plan}.summary \
             }}}}\n    {key}: 3\n"
        )
    };
    let agent = r#"{"slug": "worker", "base": "workflow-agent@1", "modelUrl": "http://localhost:1/v1", "modelName": "m", "apiKeyId": "k", "systemPrompt": "x"}"#;
    desk.file("agents/worker.json", agent);
    desk.file("unsure.yaml", steps("plan2", "b", "v3", "Europe/Berlin", "task", "retries"));
    desk.check(&["unsure.yaml", "--fix"]);
    assert_eq!(desk.text("unsure.yaml"), steps("plan2", "b", "v3", "Europe/Berlin", "task", "retries"));
    // The one who asks gets the near name, but never the same one twice.
    desk.check(&["unsure.yaml", "--fix", "--unsafe-fixes"]);
    assert!(desk.text("unsure.yaml").contains("steps.plan.summary"), "{}", desk.text("unsure.yaml"));
    assert!(desk.text("unsure.yaml").contains("required: [v1, v3]"), "{}", desk.text("unsure.yaml"));
    assert!(desk.text("unsure.yaml").contains("inputs.b"), "{}", desk.text("unsure.yaml"));
    desk.file("slips.yaml", steps("plna", "sizes", "verdcit", "Europe/Berln", "taks", "deadlin"));
    desk.check(&["slips.yaml", "--fix"]);
    assert_eq!(
        desk.text("slips.yaml"),
        steps("plan", "size", "verdict", "Europe/Berlin", "task", "deadline")
    );
}

#[test]
fn a_name_in_other_letters_is_not_cut_down() {
    let desk = Desk::new();
    let text = flow("").replace("name: example", "name: Größe-app");
    desk.file("flow.yaml", &text);
    let outcome = desk.check(&["flow.yaml", "--fix", "--unsafe-fixes"]);
    assert!(outcome.out.contains("bad-name"), "{}", outcome.out);
    assert_eq!(desk.text("flow.yaml"), text);
}
