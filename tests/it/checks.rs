//! What a compile says of whole definitions.

mod paths;
mod several;
mod texts;
mod work;

use crate::pages::package;
use crate::support::AS_OF;
use flowright::compile::{Compiled, MainDocument, compile};
use flowright::diagnostic::Severity;
use flowright::ir;

fn compiled(text: &str) -> Compiled {
    compiled_in(text, &package())
}

fn compiled_in(text: &str, files: &dyn flowright::compile::Files) -> Compiled {
    let name = "example.yaml".to_owned();
    let main = MainDocument { name: name.clone(), package_path: name, bytes: text.as_bytes().to_vec() };
    compile(main, files, AS_OF)
}

fn corpus(name: &str) -> String {
    let path = format!("{}/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// One line a finding: `line:column rule [text] message | help`.
fn told(compiled: &Compiled) -> Vec<String> {
    let tell = |found: &flowright::diagnostic::Diagnostic| {
        let source = compiled.sources.get(found.span.file).unwrap();
        let at = source.position(found.span.start as usize);
        let text = source.slice(found.span);
        let help = found.help.as_deref().unwrap_or("");
        format!("{}:{} {} [{text}] {} | {help}", at.line, at.column, found.rule.name, found.message)
    };
    compiled.diagnostics.iter().map(tell).collect()
}

fn frozen(text: &str) -> ir::Workflow {
    let compiled = compiled(text);
    let told = told(&compiled);
    compiled.workflow.unwrap_or_else(|| panic!("{told:#?}"))
}

#[test]
fn the_scheduled_example_gives_no_finding_at_all() {
    let compiled = compiled(&corpus("ok/scheduled-report.yaml"));
    assert_eq!(told(&compiled), Vec::<String>::new());
}

#[test]
fn four_faults_give_four_findings_and_no_consequences() {
    let compiled = compiled(&corpus("bad/four-faults.yaml"));
    assert_eq!(
        told(&compiled),
        [
            "10:5 unknown-key [deadlin] `deadlin` is no key of an agent step | did you mean `deadline`?",
            "11:9 unbounded-loop [polish] the loop `polish` can run for ever without waiting for anything | give the loop a number of \
             iterations or a deadline, or let each path round it wait for a cron step or a person",
            "17:41 unknown-step [darft] no step has the id `darft` | did you mean `draft`?",
            "19:18 missing-agent [citric] no agent `citric` is found | did you mean `critic`?",
        ]
    );
    let cycle: Vec<_> = compiled.diagnostics[1].labels.iter().map(|label| label.text.as_str()).collect();
    assert_eq!(cycle, ["1. `polish` begins an iteration", "2. `improve` goes on", "3. `judge` goes on"]);
    assert!(compiled.workflow.is_none());
}

const TWO_STEPS: &str = "kind: workflow
version: 1
name: two-steps
steps:
  - id: first
    agent: worker
    task: Do the first thing.
    deadline: 1h
  - id: second
    agent: worker
    task: Do the second thing.
";

#[test]
fn comments_and_the_order_of_keys_do_not_change_the_digest() {
    let other = "# a comment
name: two-steps
version: 1
kind: workflow
steps:
- deadline: 1h   # another
  task: \"Do the first thing.\"
  agent: worker
  id: first

- { task: Do the second thing., agent: worker, id: second }
";
    assert_eq!(frozen(TWO_STEPS).digest(), frozen(other).digest());
}

#[test]
fn the_order_of_cases_and_of_transition_keys_does_not_change_the_digest() {
    let with = |cases: &str, on: &str| {
        format!(
            "kind: workflow\nversion: 1\nname: cases\ninputs:\n  risk: {{ type: string, enum: [low, high] }}\nsteps:\n  \
             - switch: ${{{{ inputs.risk }}}}\n    cases: {cases}\n  - agent: worker\n    task: Work.\n{on}"
        )
    };
    let one = with(
        "{ low: continue, high: { stop: failed } }",
        "    on_failed: { stop: failed }\n    on_blocked: { stop: cancelled }\n",
    );
    let other = with(
        "{ high: { stop: failed }, low: continue }",
        "    on_blocked: { stop: cancelled }\n    on_failed: { stop: failed }\n",
    );
    assert_eq!(frozen(&one).digest(), frozen(&other).digest());
}

#[test]
fn the_order_of_steps_changes_the_digest() {
    let (head, steps) = TWO_STEPS.split_once("steps:\n").unwrap();
    let (first, second) = steps.split_once("  - id: second").unwrap();
    let swapped = format!("{head}steps:\n  - id: second{second}{first}");
    assert_ne!(frozen(TWO_STEPS).digest(), frozen(&swapped).digest());
}

#[test]
fn an_agent_file_counts_to_the_digest() {
    let name = "example.yaml".to_owned();
    let main = MainDocument { name: name.clone(), package_path: name, bytes: TWO_STEPS.as_bytes().to_vec() };
    let changed = package().with(
        "agents/worker.json",
        r#"{ "slug": "worker", "base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "other",
             "modelUrl": "http://localhost:11434/v1", "systemPrompt": ["You work."] }"#,
    );
    let other = compile(main, &changed, AS_OF).workflow.unwrap();
    assert_ne!(frozen(TWO_STEPS).digest(), other.digest());
}

#[test]
fn frozen_bytes_read_back_give_the_same_digest() {
    for name in ["ok/plan-and-implement.yaml", "ok/scheduled-report.yaml"] {
        let workflow = frozen(&corpus(name));
        let bytes = workflow.to_bytes();
        let again = ir::Workflow::from_bytes(&bytes).unwrap();
        assert_eq!(again.digest(), workflow.digest());
        assert_eq!(again.to_bytes(), bytes);
    }
}

#[test]
fn altered_frozen_bytes_are_refused() {
    let text = String::from_utf8(frozen(TWO_STEPS).to_bytes()).unwrap();
    let altered = text.replace("Do the second thing", "Do another thing");
    assert_ne!(text, altered);
    let error = ir::Workflow::from_bytes(altered.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("was changed"), "{error}");
}

#[test]
fn files_outside_of_the_package_are_refused() {
    use flowright::compile::{FileError, Files, Folder, package_root};
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("package");
    std::fs::create_dir_all(root.join("flows/deep")).unwrap();
    std::fs::write(root.join("package.toml"), "").unwrap();
    std::fs::write(root.join("inside.json"), "{}").unwrap();
    std::fs::write(outer.path().join("secret.json"), "{}").unwrap();
    let files = Folder::new(&root);
    assert_eq!(files.read("./inside.json").unwrap(), b"{}");
    assert_eq!(files.read("none.json"), Err(FileError::Missing));
    let absolute = outer.path().join("secret.json");
    for path in
        ["../secret.json", "flows/../../secret.json", absolute.to_str().unwrap(), "C:/secret.json", "."]
    {
        assert!(matches!(files.read(path), Err(FileError::Outside(_))), "{path}");
    }
    assert_eq!(package_root(&root.join("flows/deep/x.yaml")), root);
    assert_eq!(package_root(&outer.path().join("x.yaml")), outer.path());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outer.path().join("secret.json"), root.join("link.json")).unwrap();
        assert!(matches!(files.read("link.json"), Err(FileError::Outside(_))));
        std::os::unix::fs::symlink(root.join("inside.json"), root.join("own.json")).unwrap();
        assert_eq!(files.read("own.json").unwrap(), b"{}");
    }
}

#[test]
fn a_repeated_id_is_said_once_and_bindings_to_it_are_passed_over() {
    let text =
        TWO_STEPS.replace("id: second", "id: first").replace("second thing", "${{ steps.first.nothing }}");
    assert_eq!(
        told(&compiled(&text)),
        [
            "9:9 duplicate-id [first] the id `first` is used by two steps | give one of the two steps another id; \
          ids are unique in the whole document"
        ]
    );
}

#[test]
fn findings_in_agent_files_stand_in_those_files() {
    let name = "example.yaml".to_owned();
    let main = MainDocument { name: name.clone(), package_path: name, bytes: TWO_STEPS.as_bytes().to_vec() };
    let broken = package().with(
        "agents/worker.json",
        r#"{ "slug": "worker", "base": "workflow-agent@2", "flavor": "OpenAIv1", "modelName": "m",
             "modelUrl": "http://localhost:11434/v1", "systemPrompt": ["You work."] }"#,
    );
    let compiled = compile(main, &broken, AS_OF);
    assert_eq!(compiled.diagnostics.len(), 1, "{:#?}", compiled.diagnostics);
    let found = &compiled.diagnostics[0];
    let source = compiled.sources.get(found.span.file).unwrap();
    assert_eq!((found.rule.name, source.name()), ("unknown-base", "agents/worker.json"));
    assert!(source.slice(found.span).contains("workflow-agent@2"));
}

#[test]
fn a_definition_that_lost_any_of_its_lines_is_still_judged() {
    for name in ["ok/plan-and-implement.yaml", "ok/scheduled-report.yaml", "bad/four-faults.yaml"] {
        let whole = corpus(name);
        let lines: Vec<_> = whole.lines().collect();
        for lost in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(i, _)| *i != lost).map(|(_, line)| *line);
            let text = kept.collect::<Vec<_>>().join("\n");
            let compiled = compiled(&text);
            assert_eq!(
                compiled.workflow.is_none(),
                flowright::compile::has_errors(&compiled.diagnostics),
                "{name} without line {}",
                lost + 1
            );
            for found in &compiled.diagnostics {
                let source = compiled.sources.get(found.span.file).unwrap();
                assert!(
                    source.text().get(found.span.range()).is_some(),
                    "{}: {:?}",
                    found.rule.name,
                    found.span
                );
            }
        }
    }
}

#[test]
fn picks_of_picks_are_judged_in_time() {
    let mut text =
        "kind: workflow\nversion: 1\nname: picks\ninputs:\n  topic: { type: string }\nsteps:\n".to_owned();
    let mut from = "inputs.topic".to_owned();
    for i in 0..40 {
        let entries = vec![format!("\"${{{{ {from} }}}}\""); 20].join(", ");
        text.push_str(&format!("  - id: p{i}\n    pick: [{entries}]\n"));
        from = format!("steps.p{i}.value");
    }
    text.push_str(&format!("  - agent: worker\n    task: Tell ${{{{ {from}.part }}}}\n"));
    let compiled = compiled(&text);
    let errors = compiled.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    assert_eq!(errors, 1, "{:#?}", told(&compiled));
}
