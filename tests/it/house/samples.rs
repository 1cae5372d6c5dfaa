//! Each rule of the house on small samples: what it finds, and what it leaves alone.

use super::lex::{code, functions, tokens};
use super::rules;
use std::fmt::Write as _;

#[track_caller]
fn finds(faults: &[String], wanted: &[&str]) {
    assert_eq!(faults.len(), wanted.len(), "{faults:#?}");
    for (fault, part) in faults.iter().zip(wanted) {
        assert!(fault.contains(part), "`{fault}` does not say `{part}`");
    }
}

#[test]
fn code_is_told_from_text() {
    for (given, kept) in [
        ("a // b \" c\nd", "a           \nd"),
        ("a /* b /* c */ d */ e", "a                     e"),
        ("f(\"a \\\" // b\", c)", "f(             , c)"),
        ("f(r#\"a \" b\"#, c)", "f(           , c)"),
        ("f(br\"\\\", c)", "f(     , c)"),
        ("let a = '\"'; b", "let a =    ; b"),
        ("let a = '\\''; b", "let a =     ; b"),
        ("let a = '\\\\'; b", "let a =     ; b"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("let a = b'{'; c", "let a = b   ; c"),
        ("let r#type = 1;", "let r#type = 1;"),
        ("let ä = \"ö\"; b", "let ä =     ; b"),
        ("\"open", "     "),
    ] {
        let clean = code(given);
        assert_eq!(
            clean.split_whitespace().collect::<Vec<_>>(),
            kept.split_whitespace().collect::<Vec<_>>(),
            "{given}"
        );
        assert_eq!(clean.len(), given.len(), "{given}");
        assert_eq!(clean.lines().count(), given.lines().count(), "{given}");
    }
}

#[test]
fn functions_are_found_whatever_stands_in_their_heads() {
    let text = "trait T { fn none(&self) -> [u8; 3]; fn some(&self) -> [u8; 2] { [0; 2] } }\n\
                fn outer<'a>(f: fn(u8) -> u8, s: &'a str) where (): Sized { fn inner() {} \"}\"; }";
    let clean = code(text);
    let tokens = tokens(&clean);
    let names: Vec<_> = functions(&tokens).iter().map(|function| function.name).collect();
    assert_eq!(names, ["some", "outer", "inner"]);
}

#[test]
fn floors_are_held() {
    finds(&rules::floors("src/parse/yaml.rs", "use crate::check::Rule;"), &["imports `check` of floor 4"]);
    finds(&rules::floors("src/parse.rs", "fn f() { crate::cli::main() }"), &["imports `cli`"]);
    finds(
        &rules::floors("src/check.rs", "use crate::{ast::{self, Step}, host, store::Store};"),
        &["imports `host`", "imports `store`"],
    );
    finds(&rules::floors("src/report/mod.rs", "use super::check::ALL;"), &["imports `check`"]);
    finds(&rules::floors("src/report/human.rs", "use super::super::check::ALL;"), &["imports `check`"]);
    finds(&rules::floors("src/report/human.rs", "use super::check::ALL;"), &[]);
    finds(&rules::floors("src/a/b.rs", ""), &["stands on no floor"]);
    finds(&rules::floors("src/ir.rs", "use crate::elsewhere::X;"), &["`elsewhere` stands on no floor"]);
    finds(
        &rules::floors("src/parse.rs", "mod t { use super::super::cli; use super::check; }"),
        &["imports `cli`"],
    );
    finds(&rules::floors("src/main.rs", "fn main() { flowright::host::x() }"), &["`cli`"]);
    finds(&rules::floors("src/time.rs", "use crate::tree;"), &["imports `tree`"]);
    finds(&rules::floors("src/ast.rs", "use crate::ir;"), &["imports `ir` of floor 2"]);
    finds(&rules::floors("src/host/run.rs", "use crate::compile;"), &["floor 5", "meet only at `ir`"]);
    finds(&rules::floors("src/engine/agent.rs", "use crate::ast;"), &["meet only at `ir`"]);
    for (path, text) in [
        ("src/main.rs", "fn main() { flowright::cli::main() }"),
        ("src/lib.rs", "pub mod cli; use crate::cli::X;"),
        ("src/tree.rs", "use crate::source::Span;"),
        (
            "src/parse/yaml/build.rs",
            "use crate::parse::x; use super::y; use super::super::z; use crate::ast;",
        ),
        ("src/check/x.rs", "// crate::cli\nconst A: &str = \"crate::cli\"; pub(crate) fn f() {}"),
        ("src/check.rs", "macro_rules! m { () => { $crate::ast::Step } } use crate::{ast, ir::{Node, cli}};"),
        ("src/parse/x.rs", "mod tests { use super::super::check; }"),
        ("src/host/model/script.rs", "use crate::parse::yaml;"),
    ] {
        finds(&rules::floors(path, text), &[]);
    }
}

#[test]
fn lengths_are_held() {
    let lines = |count: usize| {
        (0..count).fold(String::new(), |mut all, i| {
            writeln!(all, "    let a{i} = 1;").unwrap();
            all
        })
    };
    finds(&rules::file_length("src/a.rs", &lines(401)), &["401 lines"]);
    finds(&rules::file_length("src/a.rs", &lines(400)), &[]);
    finds(&rules::file_length("src/ast.rs", &lines(401)), &[]);
    let table = format!("pub static T: &[u8] = &[\n{}];\n", "    1,\n".repeat(300));
    finds(&rules::file_length("src/a.rs", &format!("{table}{}", lines(400))), &[]);
    finds(&rules::file_length("src/a.rs", &format!("{table}{}", lines(401))), &["401 lines"]);
    let tests = format!("#[cfg(test)]\nmod tests {{\n    static T: [u8; 1] = [1];\n{}}}\n", lines(300));
    finds(&rules::file_length("src/a.rs", &format!("{}{tests}", lines(400))), &[]);
    finds(&rules::file_length("src/a.rs", &format!("{}{tests}", lines(401))), &["401 lines"]);

    let function = |body: &str| format!("fn f() {{\n{body}}}\n");
    finds(&rules::function_length("src/a.rs", &function(&lines(68))), &[]);
    finds(&rules::function_length("src/a.rs", &function(&lines(69))), &["`f` has 71 lines"]);
    finds(
        &rules::function_length("src/a.rs", &function(&format!("\"}}\"; // }}\n{}", lines(68)))),
        &["71 lines"],
    );
    let arms = "        A(_) => { 1 }\n".repeat(80);
    finds(&rules::function_length("src/a.rs", &function(&format!("    match x {{\n{arms}    }}\n"))), &[]);
    let before = format!("    x.n += 1;\n    match x {{\n{arms}    }}\n");
    finds(&rules::function_length("src/a.rs", &function(&before)), &[]);
    let much = format!("{}    match x {{\n{arms}    }}\n", lines(68));
    finds(&rules::function_length("src/a.rs", &function(&much)), &["`f`"]);
    let wild = format!("    match x {{\n{arms}        _ => 2,\n    }}\n");
    finds(&rules::function_length("src/a.rs", &function(&wild)), &["85 lines"]);
    let after = format!("    match x {{\n{arms}    }}\n    g();\n");
    finds(&rules::function_length("src/a.rs", &function(&after)), &["85 lines"]);
    let tests = format!("#[cfg(test)]\n#[allow(x)]\npub(crate) mod t {{\nfn f() {{\n{}}}\n}}\n", lines(90));
    finds(&rules::function_length("src/a.rs", &tests), &[]);

    finds(
        &rules::columns("a", &format!("{}\n{}\n", "ä".repeat(120), "a".repeat(121))),
        &["a:2: 121 columns"],
    );
}

#[test]
fn openings_are_held() {
    finds(&rules::opening("a", "//! What it is.\n"), &[]);
    for text in ["", "//!\n", "// no\n", "use a;\n//! late\n"] {
        finds(&rules::opening("a", text), &["does not open"]);
    }
}

#[test]
fn walls_are_held() {
    finds(
        &rules::walls("src/report/json.rs", "use miette::Report;"),
        &["`miette` belongs into src/report/human.rs"],
    );
    finds(&rules::walls("src/report/json.rs", "impl miette::Diagnostic for A {}"), &["miette"]);
    finds(&rules::walls("src/report/json.rs", "use {::miette as m, b};"), &["miette"]);
    finds(&rules::walls("src/engine/a.rs", "use tokio::sync;"), &["tokio"]);
    finds(&rules::walls("src/store/memory.rs", "extern crate rusqlite;"), &["rusqlite"]);
    finds(&rules::walls("src/store/sqlite3.rs", "use rusqlite::Row;"), &["rusqlite"]);
    finds(&rules::walls("src/report/human/x.rs", "use miette::Report;"), &["miette"]);
    finds(&rules::walls("src/cliff.rs", "#[derive(clap::Args)] struct A;"), &["clap"]);
    for (path, text) in [
        ("src/report/human.rs", "use miette::Report;"),
        ("src/cli/run.rs", "#[derive(clap::Args)] struct A;"),
        ("src/store/sqlite/read.rs", "use rusqlite::Row;"),
        ("src/host/model/openai.rs", "fn f(c: &reqwest::Client) {}"),
        (
            "src/report/json.rs",
            "// miette::Report\nlet a = \"use miette\"; let miette = 1; a.miette(); b::miette::c;",
        ),
    ] {
        finds(&rules::walls(path, text), &[]);
    }
}

#[test]
fn clocks_are_held() {
    let calls = [
        "std::time::SystemTime::now()",
        "Instant::now()",
        "chrono::Utc::now()",
        "uuid::Uuid::now_v7()",
        "Uuid::new_v4()",
        "rand::random::<u8>()",
    ];
    for call in calls {
        let text = format!("fn f() {{ {call}; }}");
        finds(&rules::clocks("src/engine/agent.rs", &text), &["clock and randomness come from the host"]);
        for path in ["src/host/clock.rs", "src/cli.rs", "src/lsp/a.rs", "src/web.rs"] {
            finds(&rules::clocks(path, &text), &[]);
        }
    }
    finds(&rules::clocks("src/ir.rs", "// Utc::now()\nlet now = state.now; operand::x();"), &[]);
}

#[test]
fn imports_are_held() {
    finds(&rules::imports("src/a.rs", "use super::*;"), &["a glob import"]);
    finds(&rules::imports("src/a.rs", "use crate::{a::{b, *}, c};"), &["a glob import"]);
    finds(&rules::imports("src/a.rs", "pub use crate::ast::Step;"), &["a re-export of `crate`"]);
    finds(&rules::imports("src/a.rs", "pub(crate) use petgraph::Graph;"), &["a re-export of `petgraph`"]);
    finds(
        &rules::imports(
            "src/a.rs",
            "mod b;\npub use b::C;\npub use self::b::D;\nuse crate::x::Y; let a = b * c;",
        ),
        &[],
    );
    finds(&rules::imports("src/a.rs", "#[cfg(test)] mod tests { use super::*; }"), &["a glob import"]);
    finds(&rules::imports("src/a.rs", "fn f() -> impl Fn() + use<'a> { a * b; }"), &[]);
}

#[test]
fn unfinished_work_is_found() {
    finds(&rules::unfinished("a", &format!("fn f() {{ {}!() }}", "todo")), &["`todo!`"]);
    finds(&rules::unfinished("a", "fn f() { unimplemented!(\"x\") }"), &["`unimplemented!`"]);
    finds(&rules::unfinished("a", "#[ignore = \"slow\"]\nfn f() {}"), &["an ignored test"]);
    finds(&rules::unfinished("a", &format!("// {}: later", concat!("FIX", "ME"))), &[concat!("FIX", "ME")]);
    finds(
        &rules::unfinished("a", "let a = \"#[ignore] todo!\"; // the word todo! in a comment, ~XXXX~"),
        &[],
    );
}

#[test]
fn lints_are_held() {
    finds(
        &rules::lints("src/a.rs", "#[allow(clippy::unwrap_used)]\nfn f() {}"),
        &["allows `clippy::unwrap_used`"],
    );
    finds(
        &rules::lints("src/a.rs", "#![allow(dead_code, clippy::panic, reason = \"x\")]"),
        &["clippy::panic"],
    );
    finds(
        &rules::lints("src/a.rs", "#[cfg_attr(x, expect(clippy::string_slice))] fn f() {}"),
        &["string_slice"],
    );
    finds(&rules::lints("src/a.rs", "#[cfg(test)]\nmod tests { #![allow(clippy::unwrap_used)] }"), &[]);
    finds(&rules::lints("src/a.rs", "#[allow(clippy::too_many_lines)]\nfn f() { a.expect(\"b\"); }"), &[]);
}

#[test]
fn rules_are_found_in_both_forms() {
    let one = "pub static RULE: Rule = Rule {\n    name: \"odd-cron\",\n    severity: Severity::Hint,\n};";
    assert_eq!(rules::rules_defined(one), ["odd-cron"]);
    assert_eq!(rules::rules_defined(&one.replace(": Rule", ": diagnostic::Rule")), ["odd-cron"]);
    let table = "macro_rules! rules { () => { pub static $id: Rule = Rule { name: $name }; } }\n\
                 rules! {\n    A Error \"a-b\" \"Says; something\";\n    // B Error \"no\" \"x\";\n    C Hint \"c\" \"x\";\n}";
    assert_eq!(rules::rules_defined(table), ["a-b", "c"]);
    assert_eq!(rules::rules_defined("// static A: Rule = Rule { name: \"x\" };"), [""; 0]);
}

#[test]
fn workplaces_are_found() {
    let folder = |name: &str| format!("/{name}/");
    for (line, what) in [
        (format!("see {}project", folder("work")), "absolute path"),
        (format!("\"{}me/x\"", folder("home")), "absolute path"),
        (format!("path={}x", folder("root")), "absolute path"),
        (format!("file://{}x", folder("work")), "absolute path"),
        (format!("https://crates{}/x", ".io"), "names"),
        (format!("registry.npm{}org", "js."), "names"),
    ] {
        finds(&rules::workplace("a", &line), &[what]);
    }
    for line in
        ["tests/work/x", "$HOME/work/x", "${dir}/home/x", "the /working day", "~/work/x", "crates are good"]
    {
        finds(&rules::workplace("a", line), &[]);
    }
}
