//! The how-to is a transcript: what the demonstration prints, and what its commands print one by one.

use super::Desk;
use std::collections::HashMap;

/// A text with its ids named in the order in which they come up.
fn named(text: &str) -> String {
    let mut names: HashMap<String, &str> = HashMap::new();
    let mut out = String::new();
    for piece in text.split_inclusive(|c: char| !(c.is_ascii_hexdigit() || c == '-')) {
        let word = piece.trim_end_matches(|c: char| !(c.is_ascii_hexdigit() || c == '-'));
        if word.len() == 36 && word.matches('-').count() == 4 {
            let next = ["SESSION", "TOKEN-A", "TOKEN-B", "MORE"][names.len().min(3)];
            out += names.entry(word.to_owned()).or_insert(next);
            out += &piece[word.len()..];
        } else {
            out += piece;
        }
    }
    out
}

fn transcript() -> String {
    let page = std::fs::read_to_string("docs/how-to/durable-agents.md").unwrap();
    let (_, rest) = page.split_once("```text\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// R59, R60, R26.
#[test]
fn the_demonstration_prints_the_transcript() {
    let desk = Desk::new();
    let (code, out, err) = desk.run(&["demo", "durable"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(named(&out).trim_end(), transcript().trim_end());
}

/// Every command of the page, given one by one in the folder that the demonstration leaves.
#[test]
fn every_command_of_the_page_does_what_it_shows() {
    let desk = Desk::new();
    let (code, _, err) = desk.run(&["demo", "durable", "--keep", "durable-demo"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = desk.run(&["demo", "durable", "--keep", "durable-demo"]);
    assert_eq!(code, 4);
    assert!(err.contains("is there already; nothing was written"), "{err}");
    let page = transcript();
    let mut ids: HashMap<&str, String> = HashMap::new();
    let mut steps = page.split("$ ").skip(1);
    let mut given = 0;
    for step in &mut steps {
        let (line, shown) = step.split_once('\n').unwrap();
        let mut line = line.to_owned();
        for (name, id) in &ids {
            line = line.replace(name, id);
        }
        let program = env!("CARGO_BIN_EXE_flowright");
        let script = line.replacen("flowright ", &format!("{program} "), 1);
        let mut shell = desk.command(&[]);
        let env: Vec<_> = shell.get_envs().filter_map(|(k, v)| Some((k.to_owned(), v?.to_owned()))).collect();
        shell = std::process::Command::new("sh");
        let output =
            shell.args(["-c", &script]).envs(env).current_dir(desk.path("durable-demo")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        if given == 0 {
            ids.insert("SESSION", text.split_whitespace().nth(1).unwrap().to_owned());
        }
        if given == 1 {
            let tokens: Vec<&str> = text
                .lines()
                .filter_map(|l| l.strip_prefix("deferred: ")?.split_whitespace().next())
                .collect();
            ids.insert("TOKEN-A", tokens[0].to_owned());
            ids.insert("TOKEN-B", tokens[1].to_owned());
        }
        let mut told = text;
        for (name, id) in &ids {
            told = told.replace(id.as_str(), name);
        }
        let waits = shown.contains("(exit code 3");
        let shown = shown.replace("(exit code 3: it waits for something outside)\n", "");
        assert_eq!(told.trim_end(), shown.trim_end(), "{line}");
        assert_eq!(output.status.code(), Some(if waits { 3 } else { 0 }), "{line}");
        given += 1;
    }
    assert_eq!(given, 8);
}
