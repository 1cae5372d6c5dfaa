//! The rules of the house, each a function over a path and a text that names what is wrong. Nothing here reads a file.

use super::lex::{close, code, functions, stand, tables, test_modules, tokens};

/// The rooms of `src` by floor, those that are yet to come included. `docs/architecture.md` says the same.
pub(super) const FLOORS: &[(u8, &[&str])] = &[
    (0, &["escape", "secret", "source", "time"]),
    (1, &["tree", "grammar", "schedule", "schema"]),
    (2, &["ast", "diagnostic", "ir"]),
    (3, &["engine", "package", "parse", "preview", "report", "resolve"]),
    (4, &["check", "exchange", "lower", "package", "store"]),
    (5, &["compile", "fmt", "host", "import", "settings"]),
    (6, &["ide", "mcp_server", "rehearse", "verdict", "web", "why"]),
    (7, &["lsp"]),
    (8, &["cli"]),
];

/// Rooms behind `ir` and what they never see, each with the files that do and why that is right.
const BACK_WING: &[&str] = &["engine", "store", "host"];
const FRONT_WING: &[&str] = &["ast", "parse", "resolve", "check", "lower", "compile", "report", "import"];
/// Files of the host that read a text with a reader of the front wing, and no more of it: scripts, service documents.
const READERS: &[&str] = &["src/host/model/script.rs", "src/host/tool/openapi/document.rs"];

/// A crate or the like, and the paths that may name it.
const WALLS: &[(&str, &[&str])] = &[
    ("miette", &["src/report/human.rs"]),
    ("clap", &["src/cli.rs", "src/cli/"]),
    ("rusqlite", &["src/store/sqlite.rs", "src/store/sqlite/", "src/host/tool/sqlite.rs"]),
    ("reqwest", &["src/host.rs", "src/host/"]),
    ("process_wrap", &["src/host.rs", "src/host/"]),
    ("lsp_server", &["src/lsp.rs", "src/lsp/"]),
    ("gen_lsp_types", &["src/lsp.rs", "src/lsp/"]),
    ("notify", &["src/cli.rs", "src/cli/"]),
    ("dagre", &["src/preview.rs", "src/preview/"]),
    ("granit_parser", &["src/parse/yaml.rs", "src/parse/yaml/"]),
    ("jsonc_parser", &["src/parse/json.rs", "src/parse/json/"]),
    (
        "tokio",
        &["src/host.rs", "src/host/", "src/lsp", "src/web", "src/mcp_server", "src/cli.rs", "src/cli/"],
    ),
];

const CLOCKS: &[&str] = &["src/host.rs", "src/host/", "src/lsp", "src/web", "src/cli.rs", "src/cli/"];

/// Files of plain data types and nothing else: as long as the data has kinds.
const PLAIN_DATA: &[&str] = &["src/ast.rs", "src/ir.rs", "src/engine/agent/event.rs"];

const MOST_FILE_LINES: usize = 400;
const MOST_FUNCTION_LINES: usize = 70;
const MOST_COLUMNS: usize = 120;

/// The lints that hold the house; to allow one in `src` is to leave it.
const CORE_LINTS: &[&str] = &[
    "unwrap_used",
    "expect_used",
    "panic",
    "indexing_slicing",
    "string_slice",
    "wildcard_enum_match_arm",
    "dbg_macro",
    "todo",
    "unimplemented",
    "wildcard_imports",
];

/// Whether the path lies in one of the places: a file, or everything that begins so.
fn is_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path == *place || (!place.ends_with(".rs") && path.starts_with(place)))
}

fn at(path: &str, line: usize, what: &str) -> String {
    format!("{path}:{line}: {what}")
}

/// Floor of a room.
pub(super) fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, rooms)| rooms.contains(&room)).map(|(floor, _)| *floor)
}

/// The room of a file, and how deep its module lies under the crate: `src/a/b.rs` is 2 deep in `a`.
fn place(path: &str) -> Option<(&str, usize)> {
    let inside = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let parts: Vec<&str> = inside.split('/').collect();
    Some((parts[0], parts.len()))
}

/// The rooms that a file names, each with its line: `crate::x`, `crate::{x::y, z}`, `super::…::x`.
pub(super) fn rooms_named(path: &str, text: &str) -> Vec<(String, usize)> {
    let Some((_, depth)) = place(path) else { return Vec::new() };
    let code = code(text);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    let mut inline_ends: Vec<usize> = Vec::new();
    for index in 0..tokens.len() {
        inline_ends.retain(|end| *end > index);
        if tokens[index].text == "mod"
            && tokens.get(index + 2).is_some_and(|token| token.text == "{")
            && let Some(end) = close(&tokens, index + 2)
        {
            inline_ends.push(end);
        }
        let continues = index > 0 && tokens[index - 1].text == "::";
        let mut next = match tokens[index].text {
            "crate" => index + 1,
            "super" if !continues => {
                let mut steps = 1;
                let mut next = index + 1;
                while stand(&tokens, next, &["::", "super"]) {
                    steps += 1;
                    next += 2;
                }
                if steps < depth + inline_ends.len() {
                    continue;
                }
                next
            }
            _ => continue,
        };
        if tokens.get(next).is_none_or(|token| token.text != "::") {
            continue;
        }
        next += 1;
        let Some(first) = tokens.get(next) else { continue };
        if first.text != "{" {
            found.push((first.text.to_owned(), first.line));
            continue;
        }
        let end = close(&tokens, next).unwrap_or(tokens.len());
        next += 1;
        while next < end {
            found.push((tokens[next].text.to_owned(), tokens[next].line));
            while next < end && tokens[next].text != "," {
                next = if tokens[next].text == "{" { close(&tokens, next).unwrap_or(end) } else { next + 1 };
            }
            next += 1;
        }
    }
    found
}

/// A room imports only rooms below it, and the two wings meet only at `ir`.
pub(super) fn floors(path: &str, text: &str) -> Vec<String> {
    let Some((room, _)) = place(path) else { return Vec::new() };
    if room == "lib" {
        return Vec::new();
    }
    if room == "main" {
        let code = code(text);
        let tokens = tokens(&code);
        let named = (0..tokens.len()).filter(|i| stand(&tokens, *i, &["flowright", "::"]));
        return named
            .filter(|i| !stand(&tokens, i + 2, &["cli"]))
            .map(|i| at(path, tokens[i].line, "main hands on to `cli` and imports nothing else"))
            .collect();
    }
    let Some(own_floor) = floor(room) else {
        return vec![at(
            path,
            1,
            &format!("`{room}` stands on no floor: give it one in docs and in the house rules"),
        )];
    };
    let mut faults = Vec::new();
    for (named, line) in rooms_named(path, text) {
        if named == room || named == "self" {
            continue;
        }
        let Some(other_floor) = floor(&named) else {
            faults.push(at(path, line, &format!("`{named}` stands on no floor")));
            continue;
        };
        if other_floor >= own_floor {
            faults.push(at(
                path,
                line,
                &format!("`{room}` on floor {own_floor} imports `{named}` of floor {other_floor}"),
            ));
        }
        let reads = READERS.contains(&path) && named == "parse";
        if BACK_WING.contains(&room) && FRONT_WING.contains(&named.as_str()) && !reads {
            faults.push(at(
                path,
                line,
                &format!("`{room}` never sees `{named}`: the wings meet only at `ir`"),
            ));
        }
    }
    faults
}

/// The line ranges of tests and tables, none inside another.
fn lines_aside(text: &str) -> Vec<(usize, usize)> {
    let code = code(text);
    let tokens = tokens(&code);
    let tests = test_modules(&tokens);
    let mut aside = tests.clone();
    for (start, end) in tables(&tokens) {
        if !tests.iter().any(|(a, b)| *a <= start && start <= *b) {
            aside.push((start, end));
        }
    }
    aside.into_iter().map(|(start, end)| (tokens[start].line, tokens[end].line)).collect()
}

/// At most 400 lines; tests and tables do not count.
pub(super) fn file_length(path: &str, text: &str) -> Vec<String> {
    let uncounted: usize = lines_aside(text).iter().map(|(start, end)| end - start + 1).sum();
    let lines = text.lines().count() - uncounted;
    if lines <= MOST_FILE_LINES || PLAIN_DATA.contains(&path) {
        return Vec::new();
    }
    vec![at(path, 1, &format!("{lines} lines, tests and tables aside; at most {MOST_FILE_LINES}"))]
}

/// At most 70 lines; tests and the arms of an exhaustive match that is the body's value do not count.
pub(super) fn function_length(path: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let tests = test_modules(&tokens);
    let mut faults = Vec::new();
    for function in functions(&tokens) {
        let span = |start: usize, end: usize| tokens[end].line - tokens[start].line + 1;
        let arms = function.exhaustive_match(&tokens).map_or(0, |(open, end)| span(open, end) - 1);
        let lines = span(function.start, function.end) - arms;
        let in_tests = tests.iter().any(|(start, end)| *start <= function.start && function.start <= *end);
        if lines > MOST_FUNCTION_LINES && !in_tests {
            let what = format!("`{}` has {lines} lines; at most {MOST_FUNCTION_LINES}", function.name);
            faults.push(at(path, tokens[function.start].line, &what));
        }
    }
    faults
}

/// At most 120 characters; tests and tables do not count.
pub(super) fn columns(path: &str, text: &str) -> Vec<String> {
    let aside = lines_aside(text);
    let counts = |line: usize| !aside.iter().any(|(start, end)| *start <= line && line <= *end);
    let widths = text.lines().enumerate().map(|(i, line)| (i + 1, line.chars().count()));
    widths
        .filter(|(line, width)| *width > MOST_COLUMNS && counts(*line))
        .map(|(line, width)| at(path, line, &format!("{width} columns; at most {MOST_COLUMNS}")))
        .collect()
}

/// Every file opens with what it is.
pub(super) fn opening(path: &str, text: &str) -> Vec<String> {
    let says = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|rest| !rest.trim().is_empty());
    if says { Vec::new() } else { vec![at(path, 1, "does not open with `//!` and what it is")] }
}

/// Some crates are known to one room only.
pub(super) fn walls(path: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let mut faults = Vec::new();
    for (name, places) in WALLS {
        if is_in(path, places) {
            continue;
        }
        for index in 0..tokens.len() {
            let before = index.checked_sub(1).map_or("", |i| tokens[i].text);
            let after = tokens.get(index + 1).map_or("", |token| token.text);
            let is_path = (after == "::" && before != "::") || matches!(before, "use" | "crate");
            let rooted = before == "::" && index.checked_sub(2).is_none_or(|i| !is_name(tokens[i].text));
            if tokens[index].text == *name && (is_path || rooted) {
                faults.push(at(
                    path,
                    tokens[index].line,
                    &format!("`{name}` belongs into {}", places.join(", ")),
                ));
            }
        }
    }
    faults
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Clocks and randomness come from outside.
pub(super) fn clocks(path: &str, text: &str) -> Vec<String> {
    if is_in(path, CLOCKS) {
        return Vec::new();
    }
    let code = code(text);
    let tokens = tokens(&code);
    let asks = |i: usize| {
        let clock =
            ["SystemTime", "Instant", "Utc", "Local"].iter().any(|c| stand(&tokens, i, &[c, "::", "now"]));
        let uuid = ["now_v7", "new_v4", "now_v1", "now_v6"].contains(&tokens[i].text);
        let random = ["rand", "fastrand", "getrandom"].iter().any(|name| stand(&tokens, i, &[name, "::"]));
        clock || uuid || random
    };
    (0..tokens.len())
        .filter(|i| asks(*i))
        .map(|i| {
            at(
                path,
                tokens[i].line,
                &format!("`{}`: clock and randomness come from the host", tokens[i].text),
            )
        })
        .collect()
}

/// No glob imports, and no re-exports but of the parts of a room that is a file and a folder.
pub(super) fn imports(path: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let mut own: Vec<&str> = Vec::new();
    for i in 0..tokens.len() {
        if tokens[i].text == "mod" && tokens.get(i + 2).is_some_and(|token| token.text == ";") {
            own.push(tokens[i + 1].text);
        }
    }
    let mut faults = Vec::new();
    for i in 0..tokens.len() {
        // `use<'a>` is a bound, not an import.
        if tokens[i].text != "use" || stand(&tokens, i + 1, &["<"]) {
            continue;
        }
        let end = (i..tokens.len()).find(|j| tokens[*j].text == ";").unwrap_or(tokens.len());
        if tokens[i..end].iter().any(|token| token.text == "*") {
            faults.push(at(path, tokens[i].line, "a glob import"));
        }
        let public = i > 0
            && (tokens[i - 1].text == "pub" || (tokens[i - 1].text == ")" && is_restricted(&tokens[..i])));
        let first = if stand(&tokens, i + 1, &["self", "::"]) { i + 3 } else { i + 1 };
        if public && !own.contains(&tokens[first].text) {
            faults.push(at(path, tokens[i].line, &format!("a re-export of `{}`", tokens[first].text)));
        }
    }
    faults
}

/// Whether the tokens end with `pub(…)`.
fn is_restricted(before: &[super::lex::Token<'_>]) -> bool {
    let open = before.iter().rposition(|token| token.text == "(");
    open.and_then(|open| open.checked_sub(1)).is_some_and(|i| before[i].text == "pub")
}

/// Nothing unfinished, nothing skipped.
pub(super) fn unfinished(path: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let tokens = tokens(&code);
    let mut faults = Vec::new();
    for i in 0..tokens.len() {
        for name in ["todo", "unimplemented"] {
            if stand(&tokens, i, &[name, "!"]) {
                faults.push(at(path, tokens[i].line, &format!("`{name}!`")));
            }
        }
        if stand(&tokens, i, &["#", "[", "ignore"]) {
            faults.push(at(path, tokens[i].line, "an ignored test"));
        }
    }
    let marks = [concat!("FIX", "ME"), concat!("TO", "DO:")];
    for (index, line) in text.lines().enumerate() {
        if let Some(mark) = marks.iter().find(|mark| line.contains(**mark)) {
            faults.push(at(path, index + 1, mark));
        }
    }
    faults
}

/// The core lints are allowed nowhere in `src` but in its tests.
pub(super) fn lints(path: &str, text: &str) -> Vec<String> {
    // Tokens and faults of the readers of JSON and YAML are other crates' enums; clippy lints those too.
    let exempt = [
        ("src/parse/json/build.rs", "wildcard_enum_match_arm"),
        ("src/parse/json/mend.rs", "wildcard_enum_match_arm"),
        ("src/parse/yaml/mend.rs", "wildcard_enum_match_arm"),
    ];
    let code = code(text);
    let tokens = tokens(&code);
    let tests = test_modules(&tokens);
    let mut faults = Vec::new();
    for i in 0..tokens.len() {
        if !matches!(tokens[i].text, "allow" | "expect") || !stand(&tokens, i + 1, &["("]) {
            continue;
        }
        let end = close(&tokens, i + 1).unwrap_or(tokens.len());
        for j in i..end {
            let lint = tokens.get(j + 2).map_or("", |token| token.text);
            let named = stand(&tokens, j, &["clippy", "::"]) && CORE_LINTS.contains(&lint);
            let in_tests = tests.iter().any(|(start, end)| *start <= j && j <= *end);
            if named && !in_tests && !exempt.contains(&(path, lint)) {
                faults.push(at(path, tokens[j].line, &format!("allows `clippy::{lint}`")));
            }
        }
    }
    faults
}

/// The names of the rules that a file of `src` defines: `static X: Rule = Rule { name: "…"`, or a line of a `rules!`
/// table.
pub(super) fn rules_defined(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let clean = code(text);
    let words = tokens(&clean);
    let lines: Vec<&str> = text.lines().collect();
    let quoted = |line: usize| Some(lines.get(line - 1)?.split('"').nth(1)?.to_owned());
    for i in 0..words.len() {
        // A literal is blank in the cleaned text: its line is read from the text itself.
        let forms: [&[&str]; 2] = [&[":", "Rule", "="], &[":", "diagnostic", "::", "Rule", "="]];
        if words[i].text == "static" && forms.iter().any(|form| stand(&words, i + 2, form)) {
            let name = (i..words.len()).find(|j| stand(&words, *j, &["name", ":"]));
            found.extend(name.and_then(|j| quoted(words[j].line)));
        }
        if stand(&words, i, &["rules", "!", "{"]) {
            let end = close(&words, i + 2).unwrap_or(words.len());
            let lines = words[i + 3..end].iter().filter(|word| word.text == ";");
            found.extend(lines.filter_map(|word| quoted(word.line)));
        }
    }
    found.retain(|name| !name.starts_with('$'));
    found
}

/// Nothing names a workplace or a registry: a clone works anywhere.
pub(super) fn workplace(path: &str, text: &str) -> Vec<String> {
    let folders = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let hosts = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("npm", "js."),
        concat!("python", "hosted"),
    ];
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for folder in folders {
            let absolute = line.match_indices(folder).any(|(i, _)| {
                let before = line[..i].chars().next_back();
                // `a/work/b`, `$HOME/work/` and `~/work/` are no absolute paths.
                before.is_none_or(|c| !(c.is_alphanumeric() || "_-.~}*".contains(c)))
            });
            if absolute {
                faults.push(at(path, index + 1, &format!("an absolute path under `{folder}`")));
            }
        }
        faults.extend(
            hosts
                .iter()
                .filter(|host| line.contains(**host))
                .map(|host| at(path, index + 1, &format!("names `{host}`"))),
        );
    }
    faults
}
