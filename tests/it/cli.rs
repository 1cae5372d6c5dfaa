//! The command line as a process: streams, exit codes, JSON, hostile input, two processes at once.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const W04: &str = "corpus/real/w04-plan-review-build-test/plan-review-build-test.yaml";
const REPORT: &str = "corpus/real/scheduled-report/scheduled-report.yaml";

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn command(&self, user: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
        command
            .args(words)
            .env_remove("NO_COLOR")
            .env("USER", user)
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("XDG_DATA_HOME", self.folder.path().join("data"))
            .env("FLOWRIGHT_DB", self.folder.path().join("flowright.db"))
            .env("FLOWRIGHT_TOOL_ENV", "CHANGES_FILE")
            .env("CHANGES_FILE", self.folder.path().join("changes"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        parts(self.command("ada", words).output().unwrap())
    }

    fn json(&self, words: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(words);
        (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}\n{out}\n{err}")))
    }

    fn file(&self, name: &str, text: &[u8]) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A session of W04 whose plan waits for its review.
    fn reviewed(&self) -> String {
        let (code, started) = self.json(&["run", W04, "--json"]);
        assert_eq!(code, 3);
        let id = started["session"]["id"].as_str().unwrap().to_owned();
        let (code, shown) = self.json(&[
            "session",
            "answer",
            &id,
            "build",
            "--feedback",
            "a dark mode",
            "--resume",
            "--json",
        ]);
        assert_eq!((code, &shown["session"]["status"]), (3, &Value::from("awaiting_review")));
        id
    }
}

fn parts(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn the_whole_way_by_the_command_line() {
    let desk = Desk::new();
    let id = desk.reviewed();
    let (code, shown) = desk.json(&["session", "show", &id, "--json"]);
    assert_eq!(code, 0);
    assert_eq!(shown["version"], 1);
    assert_eq!(shown["session"]["waiting"]["revision"], 1);
    let digest = shown["session"]["waiting"]["digest"].as_str().unwrap().to_owned();

    let (code, _) = desk.json(&[
        "session",
        "reject",
        &id,
        "--revision",
        "1",
        "--feedback",
        "migrate",
        "--resume",
        "--json",
    ]);
    assert_eq!(code, 3);
    // The digest of revision 1 names nothing that is under review any more.
    let (code, refused) = desk.json(&["session", "accept", &id, "--digest", &digest, "--json"]);
    assert_eq!((code, &refused["error"]["code"]), (4, &Value::from("stale")));
    let (code, done) = desk.json(&["session", "accept", &id, "--revision", "2", "--resume", "--json"]);
    assert_eq!((code, &done["session"]["status"]), (0, &Value::from("completed")));
    assert_eq!(done["session"]["ending"]["outputs"]["revision"], "r-4711");
    assert_eq!(std::fs::read_to_string(desk.folder.path().join("changes")).unwrap(), "Add dark mode\n");

    let (code, listed) = desk.json(&["session", "list", "--json"]);
    assert_eq!((code, listed["sessions"].as_array().unwrap().len()), (0, 1));
    let (_, all) = desk.json(&["session", "list", "--all", "--kind", "agent", "--json"]);
    assert_eq!(all["sessions"].as_array().unwrap().len(), 3);
    let (code, log, _) = desk.run(&["session", "log", &id]);
    assert_eq!(code, 0);
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    // A beginning of the id is enough.
    assert_eq!(desk.run(&["session", "show", &id[..13]]).0, 0);
}

#[test]
fn step_by_step_to_the_same_end() {
    let desk = Desk::new();
    let (code, started) = desk.json(&["run", W04, "--detach", "--json"]);
    assert_eq!((code, &started["session"]["status"]), (0, &Value::from("awaiting_answer")));
    let id = started["session"]["id"].as_str().unwrap().to_owned();
    desk.json(&["session", "answer", &id, "build", "--feedback", "x", "--json"]);
    let mut steps = 0;
    loop {
        let (_, shown) = desk.json(&["session", "step", &id, "--json"]);
        steps += 1;
        match shown["session"]["status"].as_str().unwrap() {
            "agent_running" => assert!(steps < 20),
            "awaiting_review" => break,
            other => panic!("{other}"),
        }
    }
    assert_eq!(steps, 2, "one question to the model a step: the refused submission and the valid one");
}

#[test]
fn a_stranger_decides_nothing() {
    let desk = Desk::new();
    let id = desk.reviewed();
    let (code, out, err) = parts(
        desk.command("eve", &["session", "accept", &id, "--revision", "1", "--json"]).output().unwrap(),
    );
    assert_eq!(code, 4);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["error"]["code"], "not_allowed");
    assert!(err.contains("`eve` may not decide this"));
    // A role of the operator's configuration gives nothing that the gate does not ask for.
    desk.file("config/flowright/config.json", br#"{"roles":{"eve":["lead"]}}"#);
    assert_eq!(
        desk.command("eve", &["session", "accept", &id, "--revision", "1"]).output().unwrap().status.code(),
        Some(4)
    );
}

/// A decision about another invocation than the one under review is late; the same one twice is one decision.
#[test]
fn a_decision_that_names_its_invocation_and_gate() {
    let desk = Desk::new();
    let id = desk.reviewed();
    let (_, shown) = desk.json(&["session", "show", &id, "--json"]);
    let invocation = shown["session"]["waiting"]["invocation"].as_str().unwrap().to_owned();
    let accept = |invocation: &str, gate: &str| {
        let words = [
            "session",
            "accept",
            &id,
            "--revision",
            "1",
            "--invocation",
            invocation,
            "--gate",
            gate,
            "--json",
        ];
        desk.json(&words)
    };
    for (invocation, gate) in [("plan/9/1", "1"), (invocation.as_str(), "2")] {
        let (code, refused) = accept(invocation, gate);
        assert_eq!((code, &refused["error"]["code"]), (4, &Value::from("stale")), "{invocation} {gate}");
    }
    let (code, first) = accept(&invocation, "1");
    assert_eq!(code, 0);
    let (code, again) = accept(&invocation, "1");
    assert_eq!(
        (code, &again["session"]["version"]),
        (0, &first["session"]["version"]),
        "nothing is recorded twice"
    );
    let (code, nothing) = desk.json(&["session", "dismiss", &id, "--mark", "1", "--json"]);
    assert_eq!((code, &nothing["error"]["code"]), (4, &Value::from("not_waiting")));
}

/// B34: two processes decide at once; exactly one is recorded, the other is told so.
#[test]
fn b34_two_processes_decide_at_once() {
    let desk = Desk::new();
    for round in 0..10 {
        let id = desk.reviewed();
        let words = |verb: &'static str| -> Vec<&str> {
            match verb {
                "accept" => vec!["session", "accept", &id, "--revision", "1"],
                _ => vec!["session", "abort", &id, "--revision", "1"],
            }
        };
        let spawn = |verb: &'static str| {
            desk.command("ada", &words(verb)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let (mut one, mut two) = (spawn("accept"), spawn("abort"));
        let codes = [one.wait().unwrap().code(), two.wait().unwrap().code()];
        let mut sorted = codes;
        sorted.sort_unstable();
        assert_eq!(sorted, [Some(0), Some(4)], "round {round}: {codes:?}");
        let (_, log, _) = desk.run(&["session", "log", &id]);
        let recorded = log
            .lines()
            .filter(|line| line.contains("\"accepted\":{") || line.contains("\"aborted\":{"))
            .count();
        assert_eq!(recorded, 1);
    }
}

/// B70: two processes resume one session at the same moment; its one effect happens once.
#[test]
fn b70_two_processes_resume_one_session() {
    let desk = Desk::new();
    let rounds = std::env::var("FLOWRIGHT_DEEP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    for round in 1..=rounds.unwrap_or(5) {
        let id = desk.reviewed();
        desk.json(&["session", "reject", &id, "--revision", "1", "--feedback", "x", "--resume", "--json"]);
        desk.json(&["session", "accept", &id, "--revision", "2", "--json"]);
        let spawn = || {
            desk.command("ada", &["session", "resume", &id])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let (one, two) = (spawn(), spawn());
        let both = [parts(one.wait_with_output().unwrap()), parts(two.wait_with_output().unwrap())];
        let codes = both.each_ref().map(|(code, _, _)| *code);
        if !(codes.iter().all(|code| [0, 4].contains(code)) && codes.contains(&0)) {
            let (_, shown) = desk.json(&["session", "show", &id, "--json"]);
            let mut logs = desk.run(&["session", "log", &id]).1;
            for child in shown["session"]["children"].as_array().unwrap() {
                logs.push_str(&desk.run(&["session", "log", child["id"].as_str().unwrap()]).1);
            }
            panic!("{both:?}\n{logs}");
        }
        let changes = std::fs::read_to_string(desk.folder.path().join("changes")).unwrap();
        assert_eq!(changes.lines().count(), round);
        let (_, shown) = desk.json(&["session", "show", &id, "--json"]);
        assert_eq!(shown["session"]["status"], "completed");
        assert_eq!(shown["session"]["children"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn four_faults_in_every_format() {
    let desk = Desk::new();
    let (code, short, _) = desk.run(&["check", "corpus/bad/four-faults.yaml", "--format", "short"]);
    assert_eq!(code, 1);
    let rules: Vec<_> = ["unknown-key", "unknown-step", "unbounded-loop", "missing-agent"]
        .iter()
        .filter(|rule| short.contains(&format!("error[{rule}]")))
        .collect();
    assert_eq!((rules.len(), short.lines().count()), (4, 4), "{short}");
    let (_, json) = desk.json(&["check", "corpus/bad/four-faults.yaml", "--json"]);
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), short.lines().count());
    let (code, human, _) = desk.run(&["check", "corpus/bad/four-faults.yaml", "--format", "human"]);
    assert_eq!(code, 1);
    assert!(human.contains("did you mean `draft`?"), "{human}");
    // Several files: all of them are named, one count at the end.
    let (_, two, _) = desk.run(&["check", "corpus/bad/four-faults.yaml", W04, "--format", "human"]);
    assert!(two.contains("4 errors in 1 file · 2 files checked\n"), "{two}");
}

/// B04 and depth: one finding each, whatever verb reads the file.
#[test]
fn b04_bombs_give_one_finding() {
    let desk = Desk::new();
    let mut bomb = format!("a: &a [{}]\n", ["x"; 9].join(", "));
    for (name, before) in ('b'..='h').zip('a'..) {
        bomb.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(", ")));
    }
    let cases = [
        ("bomb.yaml", bomb),
        ("flow.yaml", format!("a: {}", "[".repeat(10_000))),
        ("block.yaml", "- ".repeat(10_000)),
        ("deep.json", "[".repeat(10_000)),
    ];
    for (name, text) in cases {
        let path = desk.file(name, text.as_bytes());
        let (code, short, err) = desk.run(&["check", "--format", "short", &path]);
        assert_eq!((code, short.lines().count()), (1, 1), "{name}: {short}{err}");
        for verb in ["graph", "compile", "run"] {
            assert_eq!(desk.run(&[verb, &path]).0, 1, "{verb} {name}");
        }
    }
}

#[test]
fn wrong_use_is_one_sentence_and_exit_2() {
    let desk = Desk::new();
    let binary = desk.file("bytes.yaml", b"kind: \xff\xfe\n");
    let empty = desk.file("empty.yaml", b"");
    let nothing = desk.file("nowhere/readme.txt", b"hello");
    let folder = Path::new(&nothing).parent().unwrap().display().to_string();
    let cases: [(&[&str], i32); 12] = [
        (&["check", "no-such-file.yaml"], 2),
        (&["check", &folder], 2),
        (&["check", &binary], 1),
        (&["check", &empty], 1),
        (&["explain", "no-such-rule"], 2),
        (&["run", W04, "--input", "repository"], 2),
        (&["run", W04, "--input", "repositry=x"], 2),
        (&["run", REPORT, "--inputs-file", "no-such.json"], 2),
        (&["session", "show", "0000"], 2),
        (&["session", "show", "zzzzzzzz"], 2),
        (&["session", "accept", "00000000"], 2),
        (&["nonsense"], 2),
    ];
    for (words, expected) in cases {
        let (code, out, err) = desk.run(words);
        assert_eq!(code, expected, "{words:?}: {out}{err}");
        assert!(!(out.clone() + &err).contains("panicked"), "{words:?}: {err}");
        assert!(!(out + &err).trim().is_empty(), "{words:?}");
    }
    let (_, _, err) = desk.run(&["run", W04, "--input", "repositry=x"]);
    assert!(err.contains("did you mean `repository`?"), "{err}");
}

/// B79: what others wrote does not drive the terminal.
#[test]
fn b79_untrusted_text_is_made_visible() {
    let desk = Desk::new();
    let flow = "kind: workflow\nversion: 1\nname: hostile\nsteps:\n  - id: ask\n    question: \"clear \\e[2J and \\u202E bidi\"\n    choices: { yes: \"\\e]52;c;x\\a\" }\n";
    let path = desk.file("hostile.yaml", flow.as_bytes());
    let (code, out, err) = desk.run(&["run", &path]);
    assert_eq!(code, 3, "{out}{err}");
    for text in [&out, &desk.run(&["graph", &path]).1, &desk.run(&["session", "list"]).1] {
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
    }
    let (_, json) = desk.json(&["session", "list", "--json"]);
    assert_eq!(json["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn frozen_definitions_run_and_altered_ones_do_not() {
    let desk = Desk::new();
    let frozen = desk.folder.path().join("frozen.json").display().to_string();
    assert_eq!(desk.run(&["compile", W04, "-o", &frozen]).0, 0);
    let root = Path::new(W04).parent().unwrap().display().to_string();
    assert_eq!(desk.run(&["run", &frozen, "--root", &root]).0, 3);
    let text = std::fs::read_to_string(&frozen).unwrap();
    std::fs::write(&frozen, text.replace("Is this the plan", "Is that the plan")).unwrap();
    let (code, _, err) = desk.run(&["run", &frozen]);
    assert_eq!(code, 2);
    assert!(err.contains("was changed after it was written"), "{err}");
}

#[test]
fn a_schedule_is_a_wait_for_something_outside() {
    let desk = Desk::new();
    let (code, shown) = desk.json(&["run", REPORT, "--json"]);
    assert_eq!((code, &shown["session"]["status"]), (3, &Value::from("waiting_for_schedule")));
    let id = shown["session"]["id"].as_str().unwrap();
    let (code, cancelled) = desk.json(&["session", "cancel", id, "--reason", "enough", "--json"]);
    assert_eq!((code, &cancelled["session"]["status"]), (0, &Value::from("cancelled")));
    assert_eq!(desk.run(&["session", "cancel", id]).0, 4);
}

#[test]
fn every_rule_is_explained() {
    let desk = Desk::new();
    let (code, listed) = desk.json(&["explain", "--json"]);
    assert_eq!(code, 0);
    let rules = listed["rules"].as_array().unwrap();
    assert!(rules.len() >= 15);
    for rule in rules.iter().take(5) {
        let name = rule["name"].as_str().unwrap();
        let (code, page, _) = desk.run(&["explain", name]);
        assert_eq!(code, 0);
        assert!(page.starts_with(&format!("# {name}")), "{page}");
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// B55: the tool has its effect and then its caller is killed. Nothing is run again before a person has decided.
#[test]
fn b55_killed_inside_a_call_that_may_not_be_repeated() {
    let desk = Desk::new();
    let package = desk.folder.path().join("package");
    copy_folder(Path::new(W04).parent().unwrap(), &package);
    let tool = package.join("tools/record-change");
    let script = std::fs::read_to_string(&tool).unwrap();
    let deadly = script.replace("    echo \"r-4711\"", "    kill -9 $PPID; sleep 5");
    assert_ne!(script, deadly);
    std::fs::write(&tool, deadly).unwrap();
    let flow = package.join("plan-review-build-test.yaml").display().to_string();
    let (_, started) = desk.json(&["run", &flow, "--json"]);
    let id = started["session"]["id"].as_str().unwrap().to_owned();
    desk.json(&["session", "answer", &id, "build", "--feedback", "x", "--resume", "--json"]);
    let (code, out, _) = desk.run(&["session", "accept", &id, "--revision", "1", "--resume", "--json"]);
    assert_eq!((code, out.as_str()), (-1, ""), "the process died of the signal");
    let effects = || std::fs::read_to_string(desk.folder.path().join("changes")).unwrap().lines().count();
    assert_eq!(effects(), 1);

    for _ in 0..2 {
        let (code, shown) = desk.json(&["session", "resume", &id, "--json"]);
        assert_eq!(code, 3);
        assert!(
            shown["session"]["attention"]["reason"].as_str().unwrap().contains("needs attention"),
            "{shown}"
        );
        assert_eq!(effects(), 1);
    }
    let (_, shown) = desk.json(&["session", "show", &id, "--json"]);
    let child = shown["session"]["attention"]["session"].as_str().unwrap().to_owned();
    let (_, agent) = desk.json(&["session", "show", &child, "--json"]);
    let turns = agent["session"]["turns"].as_array().unwrap();
    let mut calls = turns.iter().flat_map(|turn| turn["calls"].as_array().into_iter().flatten());
    let call = calls.find(|call| call["state"] == "unknown").unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(desk.run(&["session", "resolve", &child, &call]).0, 2, "how it is settled must be said");
    assert_eq!(desk.run(&["session", "resolve", &child, &call, "--completed", "r-4711"]).0, 0);
    let (code, done) = desk.json(&["session", "resume", &id, "--json"]);
    assert_eq!((code, &done["session"]["status"]), (0, &Value::from("completed")));
    assert_eq!(done["session"]["ending"]["outputs"]["revision"], "r-4711");
    assert_eq!(effects(), 1);
}

/// Generated files are what the binary prints.
#[test]
fn generated_files_are_printed_by_the_binary() {
    let desk = Desk::new();
    for (name, path) in [
        ("workflow", "schemas/workflow.schema.json"),
        ("agent", "schemas/agent.schema.json"),
        ("test", "schemas/test.schema.json"),
        ("bindings", "grammar/binding.ebnf"),
        ("grammar", "grammar/flowright.ebnf"),
        ("reference", "docs/reference.md"),
        ("rules", "docs/rules.md"),
    ] {
        let (code, printed, _) = desk.run(&["schema", name]);
        assert_eq!(code, 0);
        assert!(
            std::fs::read_to_string(path).unwrap() == printed,
            "print {path} anew with `flowright schema {name}`"
        );
    }
}

#[test]
fn an_unknown_rule_is_answered_with_what_may_have_been_meant() {
    let desk = Desk::new();
    for (name, hint) in [
        ("unused-inputs", "did you mean `unused-input`?"),
        ("cron", "there are `cron-never-occurs`, `invalid-cron`, `odd-cron`, `unquoted-cron`"),
        ("zzz", "`flowright explain --list` lists them"),
    ] {
        let (code, printed, told) = desk.run(&["explain", name]);
        assert_eq!((code, printed.as_str()), (2, ""), "{name}");
        assert_eq!(told.trim_end(), format!("flowright: there is no rule `{name}`; {hint}"));
    }
}

#[test]
fn all_rules_are_listed_with_or_without_the_flag() {
    let desk = Desk::new();
    let (code, listed, _) = desk.run(&["explain", "--list"]);
    assert_eq!(code, 0);
    assert!(listed.lines().any(|line| line.split_whitespace().take(2).eq(["unused-input", "warning"])));
    assert_eq!(listed, desk.run(&["explain"]).1);
    assert_eq!(desk.run(&["explain", "--list", "unused-input"]).0, 2);
}
