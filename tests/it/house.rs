//! The walls of the house: floors, sizes, where crates may be named, pages of rules, what no file may hold.
//!
//! Each check is a function over (path, text), so that samples below prove that it can fail.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Top modules and their floors. A module imports only lower floors and its own room.
const FLOORS: [(&str, u32); 27] = [
    ("escape", 0),
    ("grammar", 1),
    ("schedule", 1),
    ("schema", 1),
    ("secret", 0),
    ("source", 0),
    ("time", 0),
    ("tree", 1),
    ("ast", 2),
    ("diagnostic", 2),
    ("ir", 2),
    ("engine", 3),
    ("parse", 3),
    ("preview", 3),
    ("report", 3),
    ("resolve", 3),
    ("check", 4),
    ("lower", 4),
    ("store", 4),
    ("compile", 5),
    ("host", 5),
    ("fmt", 5),
    ("settings", 5),
    ("ide", 6),
    ("verdict", 6),
    ("lsp", 7),
    ("cli", 8),
];

/// Crates and calls, and where alone they may stand.
const PLACES: [(&str, &[&str]); 14] = [
    ("lsp_server", &["src/lsp"]),
    ("gen_lsp_types", &["src/lsp"]),
    ("notify::", &["src/cli"]),
    ("dagre::", &["src/preview"]),
    ("miette", &["src/report/human.rs"]),
    ("clap", &["src/cli"]),
    ("rusqlite", &["src/store/sqlite"]),
    ("reqwest", &["src/host"]),
    ("process_wrap", &["src/host"]),
    ("granit_parser", &["src/parse/yaml"]),
    ("jsonc_parser", &["src/parse/json"]),
    ("Utc::now(", &["src/host", "src/cli"]),
    ("SystemTime::now(", &["src/host", "src/cli"]),
    ("Uuid::", &["src/host", "src/cli"]),
];

const WORDS_THAT_NO_SOURCE_HOLDS: [&str; 7] = [
    "todo!(",
    "unimplemented!(",
    "FIXME",
    "#[ignore",
    "unsafe {",
    "allow(clippy::unwrap",
    "allow(clippy::wildcard",
];

/// Files that are one table, or plain data types and nothing else.
const TABLES: [&str; 3] = ["src/ast.rs", "src/ir.rs", "src/grammar.rs"];

const MOST_LINES: usize = 400;
const MOST_FUNCTION_LINES: usize = 70;
const MOST_COLUMNS: usize = 120;

fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".cache") || path.ends_with("node_modules") {
                // Installed peers are not ours.
                continue;
            }
            if path.is_dir() {
                walk(&path, ending, found);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new(folder), ending, &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// The code of a source: comments and the tests at its end left out.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    text[..end].lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn floor_of(module: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

fn room_of(path: &str) -> String {
    let inside = path.trim_start_matches("src/");
    inside.split(['/', '.']).next().unwrap().to_owned()
}

/// Names behind `crate::`, also inside `use crate::{a, b::c};`.
fn imported(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let parts: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => {
                let mut depth = 0;
                group
                    .split(|c| {
                        depth += i32::from(c == '{') - i32::from(c == '}');
                        c == ',' && depth <= 0
                    })
                    .collect()
            }
            None => vec![rest],
        };
        for part in parts {
            let name: String = part.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !name.is_empty() && name != "self" {
                found.push(name);
            }
        }
    }
    found
}

fn floors(path: &str, text: &str) -> Vec<String> {
    let room = room_of(path);
    if matches!(room.as_str(), "lib" | "main") {
        return Vec::new();
    }
    let Some(own) = floor_of(&room) else { return vec![format!("{path}: the room `{room}` has no floor")] };
    let mut faults = Vec::new();
    for (number, line) in code(text) {
        for name in imported(line) {
            match floor_of(&name) {
                _ if name == room => {}
                Some(floor) if floor < own => {}
                Some(floor) => faults
                    .push(format!("{path}:{}: floor {own} imports `{name}` of floor {floor}", number + 1)),
                None => faults.push(format!("{path}:{}: `{name}` is no room", number + 1)),
            }
        }
    }
    faults
}

fn placements(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in code(text) {
        for (word, allowed) in PLACES {
            let named = line.match_indices(word).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"' || c == '`')
            });
            if named && !allowed.iter().any(|place| path.starts_with(place)) {
                faults.push(format!("{path}:{}: `{word}` belongs into {}", number + 1, allowed.join(", ")));
            }
        }
        if line.trim_start().starts_with("use ") && line.contains("::*") && !line.contains("super::*") {
            faults.push(format!("{path}:{}: a glob import", number + 1));
        }
        // Tokens of another crate are matched there, with a reason given.
        if path == "src/parse/json.rs" && line.contains("allow(clippy::wildcard") {
            continue;
        }
        if let Some(word) = WORDS_THAT_NO_SOURCE_HOLDS.iter().find(|word| line.contains(**word)) {
            faults.push(format!("{path}:{}: `{word}`", number + 1));
        }
    }
    faults
}

fn sizes(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = code(text).count();
    if lines > MOST_LINES && !TABLES.contains(&path) {
        faults.push(format!("{path}: {lines} lines of code"));
    }
    if !text.starts_with("//!") {
        faults.push(format!("{path}: does not say at its head what it is"));
    }
    for (number, line) in text.lines().enumerate() {
        if line.chars().count() > MOST_COLUMNS {
            faults.push(format!("{path}:{}: {} columns", number + 1, line.chars().count()));
        }
    }
    faults.extend(long_functions(path, text));
    faults
}

/// Functions are found by the indentation of rustfmt: from `fn` to the brace at the same depth.
fn long_functions(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut faults = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let head = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(super) ");
        let head =
            head.trim_start_matches("pub(crate) ").trim_start_matches("async ").trim_start_matches("const ");
        if !head.starts_with("fn ") {
            continue;
        }
        let opens = lines[start..]
            .iter()
            .find(|line| line.ends_with('{') || line.ends_with(';') || line.ends_with('}'));
        if opens.is_none_or(|line| !line.ends_with('{')) {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        let Some(length) = lines[start..].iter().position(|line| *line == closing) else { continue };
        let body = &lines[start..start + length];
        if length + 1 > MOST_FUNCTION_LINES && !is_one_match(body, indent) {
            faults.push(format!("{path}:{}: a function of {} lines", start + 1, length + 1));
        }
    }
    faults
}

/// A function that is a few lines and then one exhaustive match over many cases.
fn is_one_match(body: &[&str], indent: usize) -> bool {
    let open = format!("{}match ", " ".repeat(indent + 4));
    let close = format!("{}}}", " ".repeat(indent + 4));
    body.iter().position(|line| line.starts_with(&open)).is_some_and(|start| {
        let inside = body[start..].iter().position(|line| line.starts_with(&close)).unwrap_or(0);
        body.len() - inside <= 20
    })
}

fn names_of_the_workplace(path: &str, text: &str) -> Vec<String> {
    let hosts = [
        ["crates", ".io"].concat(),
        ["pypi", ".org"].concat(),
        ["npmjs", ".org"].concat(),
        ["npmjs", ".com"].concat(),
    ];
    let folders = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["/ho", "me/"].concat()];
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if hosts.iter().chain(&folders).any(|word| line.contains(word.as_str())) {
            faults.push(format!("{path}:{}: {line}", number + 1));
        }
    }
    faults
}

fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn floors_hold() {
    let sources = files("src", ".rs");
    assert!(sources.len() > 50);
    assert_none(sources.iter().flat_map(|(path, text)| floors(path, text)).collect());
    let rooms: BTreeSet<_> = sources
        .iter()
        .map(|(path, _)| room_of(path))
        .filter(|room| room != "lib" && room != "main")
        .collect();
    let known: BTreeSet<_> = FLOORS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(rooms, known, "the table of floors names every room and no other");
}

#[test]
fn crates_and_calls_stand_where_they_belong() {
    assert_none(files("src", ".rs").iter().flat_map(|(path, text)| placements(path, text)).collect());
}

#[test]
fn files_and_functions_stay_small() {
    assert_none(files("src", ".rs").iter().flat_map(|(path, text)| sizes(path, text)).collect());
}

#[test]
fn every_rule_has_its_page() {
    let mut rules: Vec<_> = flowright::parse::rules::ALL
        .iter()
        .chain(flowright::check::ALL)
        .map(|rule| rule.name.to_owned())
        .collect();
    rules.sort();
    let count = rules.len();
    rules.dedup();
    assert_eq!(rules.len(), count, "a rule's name is its own");
    let pages: Vec<_> = files("docs/diagnostics", ".md")
        .iter()
        .map(|(path, _)| Path::new(path).file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(rules, pages);
    let checks = files("src/check", ".rs");
    let declared = checks.iter().filter(|(_, text)| text.contains("pub static RULE: Rule")).count();
    assert_eq!(declared, flowright::check::ALL.len(), "every rule is in the table");
}

#[test]
fn the_project_speaks_of_itself_alone() {
    let folders = ["src", "tests", "docs", "corpus", "benches", ".ci", "grammar", "schemas"];
    let endings = [".rs", ".md", ".yaml", ".json", ".sh", ".py", "run", "demo", "whole-process", "install"];
    let mut faults = Vec::new();
    for folder in folders.iter().filter(|folder| Path::new(folder).is_dir()) {
        for ending in endings {
            let found = files(folder, ending);
            let own = found
                .iter()
                .filter(|(path, _)| !path.contains("/.cache/") && !path.contains("/node_modules/"));
            faults.extend(own.flat_map(|(path, text)| names_of_the_workplace(path, text)));
        }
    }
    assert_none(faults);
}

#[test]
fn each_check_can_fail() {
    assert_eq!(floors("src/parse/x.rs", "use crate::store::Store;\n").len(), 1);
    assert_eq!(floors("src/engine/x.rs", "use crate::{ir, host::run};\n").len(), 1);
    assert_eq!(floors("src/engine/x.rs", "// crate::host\nuse crate::ir::Node;\n"), Vec::<String>::new());
    assert_eq!(floors("src/newroom.rs", "").len(), 1);
    assert_eq!(placements("src/cli/x.rs", "use rusqlite::Connection;\n").len(), 1);
    assert_eq!(placements("src/engine/x.rs", "let x = Utc::now();\n").len(), 1);
    assert_eq!(placements("src/engine/x.rs", "use super::event::*;\n").len(), 1);
    assert_eq!(placements("src/engine/x.rs", "todo!()\n").len(), 1);
    assert_eq!(sizes("src/x.rs", &format!("//! x\n{}", "let x = 1;\n".repeat(401))).len(), 1);
    assert_eq!(sizes("src/x.rs", &format!("//! {}\n", "x".repeat(120))).len(), 1);
    assert_eq!(sizes("src/x.rs", "fn x() {}\n").len(), 1);
    let long = format!("//! x\nfn x() {{\n{}}}\n", "    let x = 1;\n".repeat(70));
    assert_eq!(sizes("src/x.rs", &long).len(), 1);
    assert_eq!(names_of_the_workplace("x", &["see /wo", "rk/main"].concat()).len(), 1);
}
