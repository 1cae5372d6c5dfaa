//! The documents tell the truth: the README shows what the binary prints, verbs and flags exist and are told of, links
//! lead to files, the table of the rooms is that of the tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WRITER: &str = r#"{
  "slug": "writer",
  "base": "workflow-agent@1",
  "modelUrl": "script:./replies.yaml",
  "modelName": "scripted",
  "systemPrompt": ["You write newsletters."]
}"#;

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn flowright(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
    let output = command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What stands in the fences of one kind.
fn fences(page: &str, kind: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), None);
    for line in page.lines() {
        match open.take() {
            None if line.trim() == format!("```{kind}") => open = Some((true, String::new())),
            None if line.trim().starts_with("```") => open = Some((false, String::new())),
            None => {}
            Some((ours, text)) if line.trim() == "```" => found.extend(ours.then_some(text)),
            Some((ours, text)) => open = Some((ours, text + line + "\n")),
        }
    }
    found
}

/// The pages for readers: the README, `docs` and the pages of other folders.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "editors/vscode/README.md", "fuzz/README.md", "corpus/json-schema/README.md"]
            .map(PathBuf::from)
            .into();
    for folder in ["docs", "docs/decisions", "docs/diagnostics"] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found.extend(path.extension().is_some_and(|ending| ending == "md").then_some(path));
        }
    }
    found
}

/// The commands of a help, and its long flags.
fn help(words: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = flowright(Path::new("."), &[words, &["--help"]].concat());
    let commands = text
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect();
    let flags = text
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'))
        .flat_map(|line| line.split_whitespace().take(2))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(str::to_owned)
        .collect();
    (commands, flags)
}

/// Each verb by its words, those of `session` too.
/// Verbs that have verbs of their own.
const GROUPS: [&str; 2] = ["session", "agent"];

fn verbs() -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = help(&[]).0.into_iter().map(|name| vec![name]).collect();
    for group in GROUPS {
        found.extend(help(&[group]).0.into_iter().map(|name| vec![group.to_owned(), name]));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

fn flags(verb: &[String]) -> BTreeSet<String> {
    help(&verb.iter().map(String::as_str).collect::<Vec<_>>()).1
}

#[test]
fn the_readme_shows_what_check_prints() {
    let folder = tempfile::tempdir().unwrap();
    let readme = read("README.md");
    let flow = &fences(&readme, "yaml")[0];
    std::fs::write(folder.path().join("publish.yaml"), flow).unwrap();
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    std::fs::write(folder.path().join("agents/writer.json"), WRITER).unwrap();
    let printed = flowright(folder.path(), &["check", "--format", "human", "publish.yaml"]);
    let shown = &fences(&readme, "console")[0];
    assert_eq!(*shown, format!("$ flowright check publish.yaml\n{printed}"));
}

/// What `check` says of a definition in a package with these agents, as lines.
fn findings(flow: &str, agents: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    for name in agents {
        let text = WRITER.replace("\"writer\"", &format!("\"{name}\""));
        std::fs::write(folder.path().join(format!("agents/{name}.json")), text).unwrap();
    }
    std::fs::write(folder.path().join("flow.yaml"), flow).unwrap();
    flowright(folder.path(), &["check", "--no-settings", "--format", "short", "flow.yaml"])
}

#[test]
fn whole_definitions_of_the_documents_have_no_findings() {
    let language = fences(&read("docs/language.md"), "yaml");
    assert_eq!(findings(&language[0], &["planner", "critic", "builder"]), "");
    assert_eq!(findings(&language[1], &["health-reporter"]), "");
    assert_eq!(findings(&fences(&read("README.md"), "yaml")[1], &["planner"]), "");
}

/// Each comment is needed, and none is refused.
#[test]
fn ignore_comments_of_the_documents_are_right() {
    let pages = ["README.md", "docs/checking.md"].map(|page| fences(&read(page), "yaml"));
    let inputs: Vec<_> = pages.iter().flatten().filter(|text| text.starts_with("inputs:")).collect();
    assert_eq!(inputs.len(), 2);
    for inputs in inputs {
        let flow =
            format!("kind: workflow\nversion: 1\nname: example\n{inputs}steps:\n  - stop: succeeded\n");
        assert_eq!(findings(&flow, &[]), "");
    }
}

#[test]
fn settings_of_the_documents_are_right() {
    for page in ["README.md", "docs/checking.md"] {
        let folder = tempfile::tempdir().unwrap();
        let settings = fences(&read(page), "toml").remove(0);
        assert!(settings.starts_with("[check]"), "{page}");
        std::fs::write(folder.path().join(".flowright.toml"), settings).unwrap();
        let flow = "kind: workflow\nversion: 1\nname: example\nsteps:\n  - stop: succeeded\n";
        std::fs::write(folder.path().join("flow.yaml"), flow).unwrap();
        assert_eq!(flowright(folder.path(), &["check", "--format", "short"]), "", "{page}");
    }
}

#[test]
fn the_tool_of_the_documents_is_that_of_the_corpus() {
    let shown = fences(&read("docs/tools.md"), "sh").remove(0);
    assert_eq!(shown, read("corpus/real/w04-plan-review-build-test/tools/record-change"));
}

#[test]
fn the_readme_names_every_verb_and_the_documents_every_flag() {
    let rows: Vec<String> =
        read("README.md").lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect();
    let all: String = pages().iter().map(|page| read(&page.display().to_string())).collect();
    let words: BTreeSet<&str> = all
        .split(|one: char| !one.is_alphanumeric() && one != '-')
        .filter(|word| word.starts_with("--"))
        .collect();
    let mut missing = Vec::new();
    for verb in verbs() {
        let name = verb.last().unwrap();
        let is_told = rows.iter().any(|row| {
            let first = row.split(" | ").next().unwrap();
            let group = GROUPS.iter().find(|group| first.contains(&format!("`{group} ")));
            let wanted = GROUPS.iter().find(|group| verb[0] == **group);
            group == wanted && first.split(['`', ' ']).any(|word| word == name)
        });
        if !is_told {
            missing.push(verb.join(" "));
        }
        let untold =
            flags(&verb).into_iter().filter(|flag| flag != "--help" && !words.contains(flag.as_str()));
        missing.extend(untold.map(|flag| format!("{} {flag}", verb.join(" "))));
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn commands_in_the_documents_can_be_given() {
    let known = verbs();
    let mut looked_at = 0;
    for page in pages() {
        for text in fences(&read(&page.display().to_string()), "console") {
            for line in text.lines().filter_map(|line| line.strip_prefix("$ flowright ")) {
                let line = line.split(" # ").next().unwrap();
                let words: Vec<&str> = line.split_whitespace().collect();
                let long = usize::from(GROUPS.contains(&words[0])) + 1;
                let verb = known.iter().find(|verb| **verb == words[..long]);
                let verb = verb.unwrap_or_else(|| panic!("{}: no such verb: {line}", page.display()));
                let flags = flags(verb);
                for flag in words.iter().filter(|word| word.starts_with("--")) {
                    assert!(flags.contains(*flag), "{}: no such flag `{flag}`: {line}", page.display());
                }
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 30, "{looked_at}");
}

#[test]
fn links_of_the_documents_lead_to_files() {
    let mut dead = Vec::new();
    let mut looked_at = 0;
    for page in pages() {
        let text = read(&page.display().to_string());
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            let path = target.split('#').next().unwrap();
            if path.is_empty() || target.contains(' ') || target.contains("://") {
                continue;
            }
            looked_at += 1;
            if !page.parent().unwrap().join(path).exists() {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert_eq!(dead, [""; 0]);
    assert!(looked_at > 100, "{looked_at}");
}

#[test]
fn the_architecture_page_names_every_room_of_the_tests() {
    let main = read("tests/it/main.rs");
    let rooms: BTreeSet<&str> =
        main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    let page = read("docs/architecture.md");
    let tests = page.split("## Tests").nth(1).unwrap().split("\n## ").next().unwrap();
    let told: BTreeSet<&str> = tests
        .lines()
        .filter(|line| line.starts_with("| `"))
        .flat_map(|line| line.split(" | ").next().unwrap().split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(told, rooms);
}
