//! The cases of `corpus/bad` and `corpus/ok`. A case is a dropped file; nothing here knows one by name.
//!
//! `FLOWRIGHT_BLESS=1` writes the listings of `corpus/bad` anew; they are to be read before they are kept.

pub(crate) mod cases;
mod lines;
mod listing;
mod print;
mod spans;
mod stable;
mod yaml_suite;

use cases::{Case, Findings};
use flowright::source::FileId;
use flowright::{check, parse};
use std::collections::BTreeSet;
use std::path::Path;

/// Rules that no case can show, each with the reason. Empty, and to be kept so.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("failed-expectation", "found by rehearsals: the room `rehearse`"),
    ("refused-step", "found by rehearsals: the room `rehearse`"),
    ("unusable-workflow", "found by rehearsals: the room `rehearse`"),
];

#[test]
fn every_bad_case_says_exactly_what_is_expected() {
    let bless = std::env::var_os("FLOWRIGHT_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for case in cases::of("bad") {
        let actual = listing::print(&case.compile());
        let path = case.expectation();
        if bless {
            std::fs::write(&path, &actual).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- found\n{actual}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_bad_case_has_findings() {
    let cases = cases::of("bad");
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    for case in cases {
        assert!(!case.compile().diagnostics.is_empty(), "{} has no finding", case.name);
    }
}

#[test]
fn every_listing_belongs_to_a_case() {
    let known: BTreeSet<_> = cases::of("bad").iter().map(Case::expectation).collect();
    let folder = cases::folder("bad");
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let stray: Vec<_> = all
        .filter(|path| path.extension().is_some_and(|ending| ending == "expected"))
        .filter(|path| !known.contains(path))
        .collect();
    assert!(stray.is_empty(), "{stray:?}");
}

#[test]
fn every_rule_occurs_in_a_bad_case() {
    let shown: BTreeSet<&str> = cases::of("bad")
        .iter()
        .flat_map(|case| case.compile().diagnostics)
        .map(|found| found.rule.name)
        .collect();
    let excused = |name: &str| NOT_SHOWN.iter().any(|(rule, _)| *rule == name);
    let all = check::ALL.iter().chain(parse::rules::ALL).map(|rule| rule.name);
    let missing: Vec<_> = all.filter(|name| !shown.contains(name) && !excused(name)).collect();
    assert!(missing.is_empty(), "no case in corpus/bad shows {missing:?}");
    let stale: Vec<_> = NOT_SHOWN.iter().filter(|(rule, _)| shown.contains(rule)).collect();
    assert!(stale.is_empty(), "these are shown and need no excuse: {stale:?}");
}

/// The frozen workflows of `corpus/ok`, for rooms that draw or run them.
pub(crate) fn ok_workflows() -> Vec<(String, flowright::ir::Workflow)> {
    let cases = cases::of("ok");
    cases.into_iter().filter_map(|case| Some((case.name.clone(), case.compile().workflow?))).collect()
}

/// Nothing is said, and everything is frozen. That it can be drawn is shown in the room `preview`.
#[test]
fn every_ok_case_compiles_in_silence() {
    let cases = cases::of("ok");
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    let said: Vec<_> = cases.iter().map(|case| (&case.name, listing::print(&case.compile()))).collect();
    let said: Vec<_> = said
        .iter()
        .filter(|(_, said)| !said.is_empty())
        .map(|(name, said)| format!("{name}\n{said}"))
        .collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
    for case in cases {
        let Findings { workflow, is_agent, .. } = case.compile();
        let Some(workflow) = workflow else {
            assert!(is_agent, "{} was not frozen", case.name);
            continue;
        };
        let again = flowright::ir::Workflow::from_bytes(&workflow.to_bytes()).unwrap();
        assert_eq!(again.digest(), workflow.digest(), "{}", case.name);
    }
}

/// The same case from memory and from the disk: the verdict does not depend on the way in (B03).
#[test]
fn a_package_in_memory_gets_the_same_verdict() {
    for case in cases::of("bad").iter().chain(&cases::of("ok")) {
        if case.has_links() {
            continue;
        }
        let (disk, memory) = (case.compile(), case.compile_in_memory());
        assert_eq!(listing::print(&disk), listing::print(&memory), "{}", case.name);
    }
}

#[test]
fn names_of_field_cases_are_those_of_the_list() {
    // A name that begins with `b` and digits names a field case; those are numbered from B01 to B79.
    for case in cases::of("bad").iter().chain(&cases::of("ok")) {
        let Some(number) = case.name.strip_prefix('b').and_then(|rest| rest.get(..2)?.parse::<u32>().ok())
        else {
            continue;
        };
        assert!((1..=79).contains(&number), "{}", case.name);
        assert_eq!(case.name.as_bytes().get(3), Some(&b'-'), "{}", case.name);
    }
    assert!(Path::new("corpus/bad").is_dir(), "tests run at the root of the crate");
}

/// A fix takes its finding away and breaks nothing that could be read before.
#[test]
fn every_fix_mends_its_finding() {
    let mut applied = 0;
    for case in cases::of("bad") {
        let before = case.compile();
        for found in &before.diagnostics {
            let Some(fix) = found.fix.as_ref().filter(|_| found.span.file == FileId::MAIN) else { continue };
            let mut document = case.document();
            let mut text = String::from_utf8(document.bytes).unwrap();
            let mut edits = fix.edits.clone();
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
            for edit in &edits {
                text.replace_range(edit.span.range(), &edit.text);
            }
            document.bytes = text.clone().into_bytes();
            let after = case.compile_document(document, &flowright::compile::Folder::new(&case.root));
            let count = |all: &Findings| {
                all.diagnostics
                    .iter()
                    .filter(|one| (one.rule, &one.message) == (found.rule, &found.message))
                    .count()
            };
            let syntax =
                |all: &Findings| all.diagnostics.iter().filter(|one| one.rule.name == "syntax-error").count();
            assert!(count(&after) < count(&before), "{}: {found:?} is still there:\n{text}", case.name);
            assert!(syntax(&after) <= syntax(&before), "{}: {found:?} breaks the text:\n{text}", case.name);
            applied += 1;
        }
    }
    assert!(applied > 40, "{applied} fixes were applied");
}
