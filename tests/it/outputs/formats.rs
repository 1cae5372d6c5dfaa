//! What build servers read: SARIF against its published schema, annotations that nothing can be smuggled into.

use super::desk::{Desk, corpus, flow, judged};
use flowright::diagnostic::{Diagnostic, Fix, Rule, Severity};
use flowright::report::{self, Format, Look, Part, Report};
use flowright::source::{Sources, Span};
use serde_json::Value;

static RULE: Rule =
    Rule { name: "unknown-step", severity: Severity::Error, summary: "a reference to no step", page: "# p" };
static WARNING: Rule =
    Rule { name: "unused-input", severity: Severity::Warning, summary: "never read", page: "# p" };

const HOSTILE: &str = "x\u{1b}[2J\u{9b}31m\u{202e}\r\n::set-env name=A::b%0A::error::c,d:e <&\"'>]]> ##[group]y ##vso[task.setvariable]z \u{fffe}\u{7f}";

fn printed(format: Format, report: &Report<'_>) -> String {
    let mut out = Vec::new();
    report::write_all(format, report, &mut out, Look::default()).unwrap();
    String::from_utf8(out).unwrap()
}

fn part<'a>(sources: &'a Sources, diagnostics: &'a [Diagnostic]) -> Part<'a> {
    Part { sources, diagnostics, ignored: &[], denies_warnings: false, bound: None }
}

fn of_one(format: Format, sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    printed(
        format,
        &Report { parts: vec![part(sources, diagnostics)], checked: Some(1), ..Report::default() },
    )
}

fn hostile() -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let source = sources.add(HOSTILE, format!("::add-mask::x\n{HOSTILE}\n"));
    let span = Span::new(source.id(), 0, 3);
    let found = Diagnostic::new(&RULE, span, HOSTILE)
        .note(HOSTILE)
        .label(Span::new(source.id(), 15, 20), HOSTILE)
        .help(HOSTILE)
        .fix(Fix::replace(HOSTILE, span, HOSTILE));
    (sources, vec![found])
}

/// B79: a log is obeyed by what shows it; nothing of others gets there.
#[test]
fn b79_no_text_of_others_drives_a_terminal_or_a_log() {
    let (sources, found) = hostile();
    let report = Report {
        parts: vec![part(&sources, &found)],
        unreadable: vec![(HOSTILE, HOSTILE)],
        checked: Some(1),
        ..Report::default()
    };
    for format in Format::ALL {
        let text = printed(format, &report);
        let drives = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert_eq!(text.chars().find(|c| drives(*c)), None, "{format:?}: {text}");
        if matches!(format, Format::Human | Format::Short | Format::Github) {
            for line in text.lines() {
                assert!(!line.contains("##[") && !line.contains("##vso["), "{format:?}: {line}");
                let is_command = line.trim_start().starts_with("::");
                let is_ours = format == Format::Github && line.starts_with("::error ");
                assert!(!is_command || is_ours, "{format:?}: {line}");
            }
        }
    }
    assert_eq!(printed(Format::Github, &report).lines().count(), 2);
}

#[test]
fn github_annotations_are_escaped() {
    let mut sources = Sources::default();
    let source = sources.add("a,b:c%.yaml", "one\ntwo\n");
    let found = [Diagnostic::new(&WARNING, Span::new(source.id(), 4, 7), "100%: a, b\nc").help("do it")];
    assert_eq!(
        of_one(Format::Github, &sources, &found),
        "::warning file=a%2Cb%3Ac%25.yaml,line=2,endLine=2,col=1,endColumn=4,title=unused-input::100%25: a, b\\u{a}c%0Ahelp: do it\n"
    );
}

#[test]
fn gitlab_fingerprints_survive_moved_lines() {
    let of = |text: &str| -> Vec<(String, u64)> {
        let mut sources = Sources::default();
        let source = sources.add("flow.yaml", text);
        let found: Vec<_> = text
            .match_indices("plan")
            .map(|(at, _)| Diagnostic::new(&RULE, Span::new(source.id(), at, at + 4), "no such step"))
            .collect();
        let json: Value = serde_json::from_str(&of_one(Format::Gitlab, &sources, &found)).unwrap();
        json.as_array()
            .unwrap()
            .iter()
            .map(|one| {
                let line = one["location"]["lines"]["begin"].as_u64().unwrap();
                (one["fingerprint"].as_str().unwrap().to_owned(), line)
            })
            .collect()
    };
    let before = of("a: plan\nb: plan\na: plan\n");
    let after = of("# new\n\n  a: plan\nb: plan\n# more\na: plan\n");
    let prints =
        |all: &[(String, u64)]| -> Vec<String> { all.iter().map(|(print, _)| print.clone()).collect() };
    assert_eq!(prints(&before), prints(&after));
    assert_eq!(after.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [3, 4, 6]);
    let mut distinct = prints(&before);
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 3, "alike findings are numbered");
}

/// Names of the elements in order, if the text is well-formed XML.
fn elements(xml: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap();
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        for (amp, _) in text.match_indices('&') {
            assert!(["&amp;", "&lt;", "&gt;"].iter().any(|entity| text[amp..].starts_with(entity)), "{text}");
        }
        assert!(!text.contains("]]>"), "{text}");
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else {
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let name = tag.split([' ', '/']).next().unwrap().to_owned();
            all.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
    }
    assert_eq!((open.len(), rest.trim()), (0, ""));
    all
}

#[test]
fn junit_is_well_formed_and_counts() {
    let (sources, found) = hostile();
    let mut other = Sources::default();
    let source = other.add("b.yaml", "one\n");
    let warning = [Diagnostic::new(&WARNING, Span::new(source.id(), 0, 3), "a warning")];
    let mut clean = Sources::default();
    clean.add("c.yaml", "one\n");
    let mut report = Report {
        parts: vec![part(&sources, &found), part(&other, &warning), part(&clean, &[])],
        unreadable: vec![("d.yaml", "d.yaml cannot be read")],
        checked: Some(3),
        ..Report::default()
    };
    let xml = printed(Format::Junit, &report);
    let all = elements(&xml);
    let count = |xml: &str, name: &str| elements(xml).iter().filter(|one| *one == name).count();
    assert_eq!((count(&xml, "testsuite"), count(&xml, "testcase")), (4, 4), "{all:?}");
    assert_eq!((count(&xml, "failure"), count(&xml, "error"), count(&xml, "system-out")), (1, 1, 1));
    assert!(xml.contains("tests=\"4\" failures=\"1\" errors=\"1\">"), "{xml}");
    report.parts[1].denies_warnings = true;
    assert_eq!(count(&printed(Format::Junit, &report), "failure"), 2, "a warning fails where it is denied");
}

fn validator() -> jsonschema::Validator {
    let mut schema: Value = serde_json::from_str(include_str!("sarif/sarif-schema-2.1.0.json")).unwrap();
    // The published pattern of languages has a bracket too many, which only the engines of browsers put up with.
    for of in ["run", "toolComponent"] {
        let pattern = &mut schema["definitions"][of]["properties"]["language"]["pattern"];
        assert_eq!(*pattern, "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
        *pattern = "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}$".into();
    }
    jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap()
}

fn fits(validator: &jsonschema::Validator, text: &str) -> Value {
    let json: Value = serde_json::from_str(text).unwrap();
    let errors: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    json
}

/// Every document of the corpus, and the hostile one, against the schema that OASIS publishes.
#[test]
fn sarif_fits_the_published_schema() {
    let validator = validator();
    let mut broken: Value = serde_json::from_str("{\"version\":\"2.1.0\",\"runs\":[{}]}").unwrap();
    assert!(!validator.is_valid(&broken), "a run without a tool does not fit");
    broken["runs"][0] = serde_json::json!({ "tool": { "driver": { "name": "x" } }, "columnKind": "bytes" });
    assert!(!validator.is_valid(&broken));
    let verdicts: Vec<_> = corpus("corpus").iter().map(|path| judged(path)).collect();
    let (sources, found) = hostile();
    let ignored = [(found[0].clone(), "because".to_owned())];
    let mut parts: Vec<_> = verdicts.iter().map(|one| part(&one.sources, &one.diagnostics)).collect();
    parts.push(Part { ignored: &ignored, ..part(&sources, &found) });
    let report = Report {
        parts,
        unreadable: vec![("d e.yaml", "no")],
        checked: Some(9),
        exit_code: 2,
        ..Report::default()
    };
    let json = fits(&validator, &printed(Format::Sarif, &report));
    let run = &json["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert!(results.len() > 20);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    assert!(results.iter().any(|one| {
        one["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]["byteOffset"].is_u64()
    }));
    let path = results.iter().find(|one| one["ruleId"] == "unbounded-loop").unwrap();
    assert!(path["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap().len() > 1);
    assert_eq!(results.last().unwrap()["suppressions"][0]["justification"], "because");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let invocation = &run["invocations"][0];
    assert_eq!((&invocation["executionSuccessful"], &invocation["exitCode"]), (&false.into(), &2.into()));
    let empty = Report { checked: Some(0), ..Report::default() };
    assert_eq!(
        fits(&validator, &printed(Format::Sarif, &empty))["runs"][0]["results"],
        serde_json::json!([])
    );
}

/// B10: places count from 1, in Unicode characters, and the form says so; bytes count from 0.
#[test]
fn b10_places_and_their_units() {
    let mut sources = Sources::default();
    let source = sources.add("ordner 1/ä.yaml", "x: 1\n\u{1f600}é: plan\n");
    let at = source.text().find("plan").unwrap();
    let found = [Diagnostic::new(&RULE, Span::new(source.id(), at, at + 4), "no such step")];
    let json: Value = serde_json::from_str(&of_one(Format::Sarif, &sources, &found)).unwrap();
    let place = &json["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "ordner%201/%C3%A4.yaml");
    assert_eq!(
        place["region"],
        serde_json::json!({ "startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 9, "byteOffset": at, "byteLength": 4 })
    );
    assert!(of_one(Format::Short, &sources, &found).starts_with("ordner 1/ä.yaml:2:5: "));
    let json: Value = serde_json::from_str(&of_one(Format::Json, &sources, &found)).unwrap();
    assert_eq!(json["units"]["column"], "1-based, Unicode scalar values");
    assert_eq!(
        json["diagnostics"][0]["span"]["start"],
        serde_json::json!({ "byte": at, "line": 2, "column": 5 })
    );
}

/// The command line: each form is whole when several files are checked, and says what could not be read.
#[test]
fn each_form_is_one_document() {
    let desk = Desk::new();
    desk.file("a.yaml", flow("  a: { type: string }\n"));
    desk.file("b.yaml", flow("").replace("version: 1", "version: 1\ncolour: red"));
    desk.file("c.yaml", flow("  a: { type: string } # flowright: ignore[unused-input] read elsewhere\n"));
    let validator = validator();
    let sarif = desk.check(&[".", "gone.yaml", "--format", "sarif"]);
    assert_eq!(sarif.code, 2);
    let run = &fits(&validator, &sarif.out)["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 3, "the ignored one is there as well");
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 1);
    let json = desk.check(&[".", "gone.yaml", "--json"]).json();
    assert_eq!(json["summary"], serde_json::json!({ "errors": 1, "warnings": 1, "hints": 0, "files": 3 }));
    assert_eq!(json["unreadable"][0]["file"], "gone.yaml");
    assert_eq!(json["ignored"][0]["reason"], "read elsewhere");
    assert_eq!(desk.check(&[".", "--format", "github"]).out.lines().count(), 2);
    assert_eq!(desk.check(&[".", "--format", "gitlab"]).json().as_array().unwrap().len(), 2);
    assert_eq!(
        elements(&desk.check(&[".", "--format", "junit"]).out)
            .iter()
            .filter(|one| *one == "testsuite")
            .count(),
        3
    );
}
