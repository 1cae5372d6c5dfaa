//! The tests that hold the house: floors, lengths, walls, pages of rules. The rules themselves are functions over a
//! path and a text (`house/rules.rs`); small samples prove that each can fail.

mod lex;
mod rules;
mod samples;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Rule = fn(&str, &str) -> Vec<String>;

/// What is older than the rule it breaks. The list only shrinks: an entry that is no longer true fails too.
const OWED: &[(&str, &str)] = &[("imports", "src/resolve/flow.rs")];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files under a folder of the project with one of the endings, as `/`-separated relative paths, sorted.
fn files(under: &str, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), &root().join(under), &mut found);
    found.retain(|path| endings.iter().any(|ending| path.ends_with(ending)));
    found.sort();
    found
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let generated = matches!(name.as_str(), ".git" | "target" | ".cache" | ".flowright" | "node_modules");
        if path.is_symlink() || generated {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every finding, less what is owed; and an owed place that has been put right is a finding too.
fn hold(name: &str, rule: Rule, paths: &[String]) {
    assert!(!paths.is_empty(), "{name}: no files to look at");
    let mut faults = Vec::new();
    let mut paid: BTreeSet<&str> =
        OWED.iter().filter(|(rule, _)| *rule == name).map(|(_, path)| *path).collect();
    for path in paths {
        let found = rule(path, &text(path));
        if found.is_empty() || !paid.remove(path.as_str()) {
            faults.extend(found);
        }
    }
    faults.extend(paid.iter().map(|path| format!("{path}: put right; take it off the list of what is owed")));
    assert!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n"));
}

fn sources() -> Vec<String> {
    files("src", &[".rs"])
}

fn all_rust() -> Vec<String> {
    [files("src", &[".rs"]), files("tests", &[".rs"]), files("benches", &[".rs"])].concat()
}

#[test]
fn a_room_imports_only_rooms_below_it() {
    hold("floors", rules::floors, &sources());
}

/// The page for readers and the table of the test say the same of every room that is there.
#[test]
fn the_floors_are_those_of_the_architecture_page() {
    let page = text("docs/architecture.md");
    let mut written: BTreeMap<&str, u8> = BTreeMap::new();
    let mut floor = None;
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if !cells[1].is_empty() {
            floor = cells[1].parse().ok();
        }
        let room = cells[2].strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        if let (Some(floor), Some(room)) = (floor, room) {
            written.insert(room, floor);
        }
    }
    let rooms: BTreeSet<String> = sources()
        .iter()
        .map(|path| path["src/".len()..].split(['/', '.']).next().unwrap().to_owned())
        .filter(|room| room != "lib" && room != "main")
        .collect();
    assert!(rooms.len() > 10, "{rooms:?}");
    for room in &rooms {
        assert_eq!(
            written.get(room.as_str()).copied(),
            rules::floor(room),
            "`{room}`: docs/architecture.md, house rules"
        );
    }
    let gone: Vec<_> = written.keys().filter(|room| !rooms.contains(**room)).collect();
    assert_eq!(gone, [&""; 0], "rooms of docs/architecture.md that are not there");
}

#[test]
fn files_are_short() {
    hold("file-length", rules::file_length, &sources());
}

#[test]
fn functions_are_short() {
    hold("function-length", rules::function_length, &sources());
}

#[test]
fn lines_are_short() {
    hold("columns", rules::columns, &sources());
}

#[test]
fn every_file_says_what_it_is() {
    hold("opening", rules::opening, &all_rust());
}

#[test]
fn some_crates_are_known_to_one_room() {
    hold("walls", rules::walls, &sources());
}

#[test]
fn clocks_and_randomness_come_from_the_host() {
    hold("clocks", rules::clocks, &sources());
}

#[test]
fn imports_say_where_a_name_lives() {
    hold("imports", rules::imports, &sources());
}

#[test]
fn nothing_is_unfinished() {
    hold("unfinished", rules::unfinished, &all_rust());
}

#[test]
fn no_file_allows_a_core_lint() {
    hold("lints", rules::lints, &sources());
}

/// One name joins a rule, its page and its place in a table of rules.
#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let mut defined: BTreeMap<String, String> = BTreeMap::new();
    for path in sources() {
        for name in rules::rules_defined(&text(&path)) {
            if let Some(other) = defined.insert(name.clone(), path.clone()) {
                panic!("`{name}` is defined in {other} and in {path}");
            }
        }
    }
    let defined: BTreeSet<String> = defined.into_keys().collect();
    let pages = files("docs/diagnostics", &[".md"]);
    let pages: BTreeSet<String> = pages
        .iter()
        .map(|path| Path::new(path).file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|stem| stem != "README" && stem != "index")
        .collect();
    let tabled: BTreeSet<String> = flowright::check::ALL
        .iter()
        .chain(flowright::parse::rules::ALL)
        .map(|rule| rule.name.to_owned())
        .collect();
    assert_eq!(defined, pages, "rules of the source, pages of docs/diagnostics");
    assert_eq!(defined, tabled, "rules of the source, rules of the tables that `explain` prints");
}

/// The files that git tracks, or would; where there is no git (an unpacked archive), all files.
fn tracked() -> Vec<String> {
    let listed = std::process::Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    match listed {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout)
            .unwrap()
            .split_terminator('\0')
            .filter(|path| root().join(path).is_file())
            .map(ToOwned::to_owned)
            .collect(),
        _ => files(".", &[""]),
    }
}

#[test]
fn nothing_names_a_workplace_or_a_registry() {
    let paths = tracked();
    let locks = ["Cargo.lock", "package-lock.json"];
    let mut faults = Vec::new();
    for path in paths.iter().filter(|path| !locks.iter().any(|lock| path.ends_with(lock))) {
        let Ok(text) = std::fs::read_to_string(root().join(path)) else { continue }; // no text, no name
        faults.extend(rules::workplace(path, &text));
    }
    assert!(paths.iter().any(|path| path == "Cargo.toml"), "the list of files is not that of the project");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
