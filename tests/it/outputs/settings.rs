//! `.flowright.toml`: what it moves, what is wrong with it, which one counts, and that flags win.

use super::desk::{Desk, flow};
use flowright::diagnostic::Diagnostic;
use flowright::settings::{Settings, read};
use flowright::source::{FileId, Source};
use std::path::Path;

const UNUSED: &str = "  a: { type: string }\n";

fn settings(text: &str) -> (Settings, Vec<Diagnostic>, Source) {
    let source = Source::new(FileId::MAIN, ".flowright.toml", text);
    let (settings, found) = read(&source, Path::new("/p"));
    (settings, found, source)
}

/// `rule:text at the place` of each finding.
fn faults(text: &str) -> Vec<String> {
    let (_, found, source) = settings(text);
    found.iter().map(|one| format!("{}:{}", one.rule.name, source.slice(one.span))).collect()
}

#[test]
fn each_fault_has_its_place() {
    assert_eq!(faults("[check]\ndeny = \"warnings\"\nformat = \"sarif\"\n"), [""; 0]);
    assert_eq!(faults("[chek]\n"), ["unknown-setting:chek"]);
    assert_eq!(faults("[check]\nexlude = []\n"), ["unknown-setting:exlude"]);
    assert_eq!(faults("[check]\ndeny = 1\n"), ["bad-setting:1"]);
    assert_eq!(faults("[check]\ndeny = \"errors\"\n"), ["bad-setting:\"errors\""]);
    assert_eq!(faults("[check]\nignore = \"unused-input\"\n"), ["bad-setting:\"unused-input\""]);
    assert_eq!(
        faults("[check]\nignore = [\"unusd-input\", 3]\n"),
        ["unknown-rule:\"unusd-input\"", "bad-setting:3"]
    );
    assert_eq!(faults("[check]\nignore = [\"unknown-step\"]\n"), ["ignored-error:\"unknown-step\""]);
    assert_eq!(
        faults(
            "[check.severity]\nunknown-step = \"hint\"\nunknown-key = \"error\"\nunused-inptu = \"off\"\nunused-agent = \"loud\"\n"
        ),
        ["ignored-error:unknown-step", "unknown-rule:unused-inptu", "bad-setting:\"loud\""]
    );
    assert_eq!(faults("[[check.paths]]\nignore = []\n"), ["bad-setting:[[check.paths]]"]);
    assert_eq!(faults("[check]\nexclude = [\"a{\"]\n").len(), 1);
    assert_eq!(
        faults("\u{feff}[check]\nexlude = []\n"),
        ["unknown-setting:exlude"],
        "a byte order mark moves nothing"
    );
    let (kept, found, _) = settings("[check]\ndeny = \"warnings\"\nformat = \n");
    assert!(kept.deny_warnings, "what is sound has its effect");
    assert_eq!(found[0].rule.name, "bad-setting");
}

#[test]
fn a_near_name_is_offered() {
    let (_, found, source) = settings("[check]\nignore = [\"unusd-input\"]\n");
    let edit = &found[0].fix.as_ref().unwrap().edits[0];
    assert_eq!((source.slice(edit.span), edit.text.as_str()), ("unusd-input", "unused-input"));
}

#[test]
fn they_move_warnings_and_nothing_else() {
    let desk = Desk::new();
    desk.file("flow.yaml", flow(UNUSED));
    for (text, code, out) in [
        ("", 0, "flow.yaml:5:3: warning[unused-input]: the input `a` is never read\n"),
        (
            "[check]\ndeny = \"warnings\"\n",
            1,
            "flow.yaml:5:3: warning[unused-input]: the input `a` is never read\n",
        ),
        ("[check]\nignore = [\"unused-input\"]\n", 0, ""),
        ("[check.severity]\nunused-input = \"off\"\n", 0, ""),
        (
            "[check.severity]\nunused-input = \"hint\"\n",
            0,
            "flow.yaml:5:3: hint[unused-input]: the input `a` is never read\n",
        ),
        (
            "[check.severity]\nunused-input = \"error\"\n",
            1,
            "flow.yaml:5:3: error[unused-input]: the input `a` is never read\n",
        ),
        ("[[check.paths]]\nfiles = [\"*.yaml\"]\nignore = [\"unused-input\"]\n", 0, ""),
        (
            "[[check.paths]]\nfiles = [\"other/\"]\nignore = [\"unused-input\"]\n",
            0,
            "flow.yaml:5:3: warning[unused-input]: the input `a` is never read\n",
        ),
    ] {
        desk.file(".flowright.toml", text);
        let outcome = desk.check(&["flow.yaml"]);
        assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "{text}{}", outcome.err);
    }
}

#[test]
fn a_raised_warning_stops_the_freezing_too() {
    let desk = Desk::new();
    desk.file("flow.yaml", flow(UNUSED));
    let compile = |desk: &Desk| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_flowright"));
        let output = command.args(["compile", "flow.yaml"]).current_dir(desk.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(compile(&desk).0, 0);
    desk.file(".flowright.toml", "[check.severity]\nunused-input = \"error\"\n");
    let (code, err) = compile(&desk);
    assert_eq!(code, 1);
    assert!(err.contains("flow.yaml has 1 error and does not run"), "{err}");
}

#[test]
fn flags_win() {
    let desk = Desk::new();
    desk.file("flow.yaml", flow(UNUSED));
    desk.file(
        ".flowright.toml",
        "[check]\ndeny = \"warnings\"\nformat = \"json\"\nignore = [\"unused-input\"]\n",
    );
    assert_eq!(desk.check(&["flow.yaml"]).json()["summary"]["warnings"], 0);
    let outcome = desk.check(&["flow.yaml", "--select", "unused-input", "--format", "short"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (1, 1), "{}", outcome.out);
    let outcome = desk.check(&["flow.yaml", "--select", "unused-input", "--deny", "nothing"]);
    assert_eq!((outcome.code, &outcome.json()["summary"]["warnings"]), (0, &1.into()));
    let outcome = desk.check(&["flow.yaml", "--no-settings"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 1));
    let outcome = desk.check(&["flow.yaml", "--no-settings", "--ignore", "unused-input"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""));
    for (flag, rule, words) in [
        ("--ignore", "unknown-step", "is an error and cannot be ignored"),
        ("--ignore", "unusd-input", "did you mean `unused-input`?"),
        ("--select", "unusd-input", "did you mean `unused-input`?"),
    ] {
        let outcome = desk.check(&["flow.yaml", flag, rule]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.err.contains(words), "{}", outcome.err);
    }
}

#[test]
fn errors_stay_whatever_is_selected() {
    let desk = Desk::new();
    desk.file("flow.yaml", flow(UNUSED).replace("version: 1", "version: 1\ncolour: red"));
    let outcome = desk.check(&["flow.yaml", "--select", "unused-agent"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (1, 1), "{}", outcome.out);
    assert!(outcome.out.contains("error[unknown-key]"));
}

#[test]
fn the_nearest_counts_and_the_repository_is_the_end() {
    let desk = Desk::new();
    desk.file(".flowright.toml", "[check]\nignore = [\"unused-input\"]\n");
    desk.file("one/flow.yaml", flow(UNUSED));
    desk.file("two/.flowright.toml", "");
    desk.file("two/flow.yaml", flow(UNUSED));
    desk.file("three/.git/HEAD", "");
    desk.file("three/deep/flow.yaml", flow(UNUSED));
    desk.file("four/package.toml", "");
    desk.file("four/flow.yaml", flow(UNUSED));
    let outcome = desk.check(&["--format", "short"]);
    let files: Vec<_> = outcome.out.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(files, ["four/flow.yaml", "three/deep/flow.yaml", "two/flow.yaml"]);
}

#[test]
fn what_is_wrong_with_them_is_told_once_and_fails() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(""));
    desk.file("b.yaml", flow(""));
    desk.file(".flowright.toml", "[check]\nignore = [\"unknown-step\"]\n");
    let outcome = desk.check(&["."]);
    assert_eq!(outcome.code, 1);
    assert_eq!(
        outcome.out,
        ".flowright.toml:2:11: error[ignored-error]: `unknown-step` is an error and cannot be ignored\n"
    );
}

#[test]
fn excluded_files_are_passed_over_unless_named() {
    let desk = Desk::new();
    desk.file(".flowright.toml", "[check]\nexclude = [\"vendor/\", \"*.gen.yaml\", \"!kept.gen.yaml\"]\n");
    for name in ["a.yaml", "vendor/deep/b.yaml", "c.gen.yaml", "kept.gen.yaml"] {
        desk.file(name, flow(UNUSED));
    }
    let names = |words: &[&str]| -> Vec<String> {
        let outcome = desk.check(words);
        outcome.out.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["."]), ["a.yaml", "kept.gen.yaml"]);
    assert_eq!(names(&["vendor/deep/b.yaml"]), ["vendor/deep/b.yaml"]);
}

/// An agent's file has its own path, also where a workflow's verdict tells of it.
#[test]
fn rules_for_paths_reach_agents_through_workflows() {
    let desk = Desk::new();
    desk.file("pkg/package.toml", "");
    desk.file(
        "pkg/agents/worker.json",
        "{ \"slug\": \"worker\", \"modelUrl\": \"http://localhost:1/v1\", \"modelName\": \"m\", \"systemPrompt\": \"x\", \"colour\": 1 }\n",
    );
    let flow = "kind: workflow\nversion: 1\nname: example\nsteps:\n  - agent: worker\n    task: Work.\n";
    desk.file("pkg/flows/flow.yaml", flow);
    let colours = |desk: &Desk, path: &str| desk.check(&[path]).out.matches("worker.json:1:").count();
    let before = desk.check(&["pkg/flows/flow.yaml"]);
    assert!(
        before.out.contains("pkg/agents/worker.json:1:") && before.out.contains("[unknown-key]"),
        "{}",
        before.out
    );
    let alone = desk.check(&["pkg/agents/worker.json"]).out.matches("[unknown-key]").count();
    assert_eq!(desk.check(&["."]).out.matches("[unknown-key]").count(), alone, "told once");
    let count = colours(&desk, "pkg/flows/flow.yaml");
    desk.file("pkg/.flowright.toml", "[[check.paths]]\nfiles = [\"agents/\"]\nignore = [\"unknown-key\"]\n");
    assert_eq!(colours(&desk, "pkg/flows/flow.yaml"), count - 1);
}

/// Which rules settings may move is kept by hand: whatever is found and is no error must be among them. Every example of
/// every page is tried.
#[test]
fn what_is_no_error_can_be_moved() {
    let mut seen = 0;
    for rule in flowright::settings::rules() {
        for (info, name) in [("```yaml\n", "a.yaml"), ("```json\n", "a.json"), ("```md\n", "a.agent.md")] {
            for block in rule.page.split(info).skip(1) {
                let verdict = super::desk::of_text(name, block.split("```\n").next().unwrap());
                for found in verdict.diagnostics {
                    if found.severity != flowright::diagnostic::Severity::Error {
                        seen += 1;
                        let rule = found.rule;
                        assert!(!flowright::settings::is_always_an_error(rule), "{}", rule.name);
                    }
                }
            }
        }
    }
    assert!(seen > 10, "{seen}");
}
