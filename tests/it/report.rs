//! Reports: exact places, harmless text, and costs that follow what is shown.

use flowright::diagnostic::{Diagnostic, Fix, Rule, Severity};
use flowright::report::{self, Format, Look};
use flowright::source::{Source, Sources, Span};

static UNKNOWN_STEP: Rule =
    Rule { name: "unknown-step", severity: Severity::Error, summary: "a reference to no step", page: "" };
static UNUSED_AGENT: Rule = Rule {
    name: "unused-agent",
    severity: Severity::Warning,
    summary: "an agent that no step uses",
    page: "",
};
static LONG_WAIT: Rule =
    Rule { name: "long-wait", severity: Severity::Hint, summary: "a wait without an end", page: "" };

/// What a terminal would obey or hide.
fn drives(c: char) -> bool {
    let range = |first: u32, last: u32| (first..=last).contains(&u32::from(c));
    (c != '\n' && (range(0, 0x1f) || range(0x7f, 0x9f)))
        || range(0x202a, 0x202e)
        || range(0x2066, 0x2069)
        || range(0xe0000, 0xe007f)
}

/// The place of `needle` in the source.
fn at(source: &Source, needle: &str) -> Span {
    let start = source.text().find(needle).unwrap();
    Span::new(source.id(), start, start + needle.len())
}

fn rendered(format: Format, sources: &Sources, diagnostics: &[Diagnostic], look: Look) -> String {
    let mut out = Vec::new();
    report::write(format, sources, diagnostics, &mut out, look).unwrap();
    String::from_utf8(out).unwrap()
}

fn human(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    rendered(Format::Human, sources, diagnostics, Look::default())
}

/// The characters over the underline below the only marked line, and the text that stands over them.
fn under(report: &str) -> String {
    let lines: Vec<&str> = report.lines().collect();
    let mark = lines.iter().position(|line| line.contains('┬') || line.contains('▲')).unwrap();
    let run: Vec<usize> =
        lines[mark].chars().enumerate().filter(|(_, c)| "─┬▲".contains(*c)).map(|(i, _)| i).collect();
    // Columns are columns of the screen: wide characters take two.
    let mut column = 0;
    let mut covered = String::new();
    for c in lines[mark - 1].chars() {
        if run.contains(&column) {
            covered.push(c);
        }
        if ('\u{300}'..='\u{36f}').contains(&c) {
            continue;
        }
        column += if ('\u{1100}'..='\u{ffdc}').contains(&c) && !('\u{2000}'..='\u{2fff}').contains(&c) {
            2
        } else {
            1
        };
    }
    covered
}

fn one(text: &str, needle: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add("flow.yaml", text);
    human(
        &sources,
        &[Diagnostic::new(&UNKNOWN_STEP, at(&source, needle), "there is no such step").note("here")],
    )
}

fn everything() -> (Sources, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let flow = sources.add(
        "flow.yaml",
        "kind: workflow\nversion: 1\nname: build\nagents:\n  coder: ./agents/coder.json\nsteps:\n  - id: plan\n    \
         agent: planer\n    task: Plan it.\n  - question: Go on?\n    choices:\n      yes: Go on\n",
    );
    let agent =
        sources.add("agents/coder.json", "{\n  \"slug\": \"coder\",\n  \"base\": \"workflow-agent@1\"\n}\n");
    let planer = at(&flow, "planer");
    let found = vec![
        Diagnostic::new(&LONG_WAIT, at(&flow, "question"), "this question waits for ever"),
        Diagnostic::new(&UNUSED_AGENT, at(&flow, "coder"), "no step uses the agent `coder`")
            .label(at(&agent, "\"coder\""), "it is defined here")
            .help("take it out or use it"),
        Diagnostic::new(&UNKNOWN_STEP, planer, "there is no agent `planer`")
            .note("not declared")
            .label(at(&flow, "agents:"), "the agents are declared here")
            .suggest("planer", Some("planner"), planer),
    ];
    (sources, found)
}

#[test]
fn for_people() {
    let (sources, found) = everything();
    insta::assert_snapshot!(human(&sources, &found));
}

#[test]
fn for_people_in_colour() {
    let (sources, found) = everything();
    let look = Look { color: true, width: 100 };
    let text = rendered(Format::Human, &sources, &found, look);
    insta::assert_snapshot!(text.replace('\u{1b}', "ESC"));
}

#[test]
fn for_grep() {
    let (sources, found) = everything();
    insta::assert_snapshot!(rendered(Format::Short, &sources, &found, Look::default()));
}

#[test]
fn for_programs() {
    let (sources, found) = everything();
    insta::assert_snapshot!(rendered(Format::Json, &sources, &found, Look::default()));
}

#[test]
fn a_summary_counts_what_there_is() {
    let (_, found) = everything();
    assert_eq!(report::summary(&found), "1 error, 1 warning, 1 hint in 1 file");
    assert_eq!(report::summary(&[]), "no problems found");
    let twice = [found[2].clone(), found[2].clone()];
    assert_eq!(report::summary(&twice), "2 errors in 1 file");
}

#[test]
fn the_underline_is_exact_behind_wide_characters_and_tabs() {
    assert_eq!(under(&one("a: plan\n", "plan")), "plan");
    assert_eq!(under(&one("äöü: plän # x\n", "plän")), "plän");
    assert_eq!(under(&one("標題: 計画 x\n", "計画")), "計画");
    assert_eq!(under(&one("標題: 計画 plan\n", "plan")), "plan");
    assert_eq!(under(&one("a:\tb:\tplan\n", "plan")), "plan");
    assert_eq!(under(&one("\u{feff}name: plan\n", "plan")), "plan");
    assert_eq!(under(&one("e\u{301}: plan\n", "plan")), "plan", "combining marks take no column");
}

#[test]
fn the_underline_is_exact_behind_escaped_characters() {
    let report = one("a: \u{202e}\u{1b}[31m\u{e0041}x plan y\n", "plan");
    assert!(report.contains("a: \\u{202e}\\u{1b}[31m\\u{e0041}x plan y"), "{report}");
    assert_eq!(under(&report), "plan");
    let report = one("a: x\u{1b}y z\n", "x\u{1b}y");
    assert_eq!(under(&report), "x\\u{1b}y", "an escaped character is covered as it is shown");
}

#[test]
fn carriage_returns_are_line_ends_once() {
    let report = one("a: 1\r\nb: 2\r\nc: plan\r\nd: 4\r\n", "plan");
    assert!(report.contains("flow.yaml:3:4"), "{report}");
    assert!(report.contains(" 2 │ b: 2\n") && report.contains(" 3 │ c: plan\n"), "{report}");
    assert!(report.contains(" 4 │ d: 4\n") && !report.contains(" 5 │"), "{report}");
    assert_eq!(under(&report), "plan");
    let report = one("a: 1\rb: plan\rc: 3", "plan");
    assert!(report.contains("flow.yaml:2:4") && report.contains(" 2 │ b: plan\n"), "{report}");
}

#[test]
fn places_at_every_edge_are_drawn() {
    for text in ["", "\n", "a", "a\n", "\r\n\r\n", "ä\u{1b}計\r\n\tb", "a\n\n\nb\n\n"] {
        let mut sources = Sources::default();
        let source = sources.add("flow.yaml", text);
        for start in 0..=text.len() + 2 {
            for end in start..=text.len() + 2 {
                let span = Span::new(source.id(), start, end);
                let finding = Diagnostic::new(&UNKNOWN_STEP, span, "m").note("n").label(span.at_start(), "l");
                for format in [Format::Human, Format::Short, Format::Json] {
                    let report = rendered(format, &sources, std::slice::from_ref(&finding), Look::default());
                    assert!(
                        report.contains("unknown-step") && !report.contains("Failed to read"),
                        "{report}"
                    );
                }
            }
        }
    }
    let nowhere = Diagnostic::new(&UNKNOWN_STEP, Span::default(), "a place in no file");
    assert!(human(&Sources::default(), &[nowhere]).contains("a place in no file"));
}

#[test]
fn any_two_places_are_drawn_without_a_crash() {
    let text = "a: [1, 2]\nbc: |\n  ä\n  計\n\nd: \u{1b}e\n";
    let mut sources = Sources::default();
    let source = sources.add("flow.yaml", text);
    for a in 0..text.len() {
        for b in a..=text.len() {
            for (c, d) in [(0, 0), (3, 9), (10, 30), (text.len(), text.len()), (5, 6)] {
                let span = Span::new(source.id(), a, b);
                let label = Span::new(source.id(), c, d);
                let finding = Diagnostic::new(&UNKNOWN_STEP, span, "m").note("n").label(label, "other place");
                let report = human(&sources, &[finding]);
                assert!(report.contains("other place") && !report.contains("Failed to read"), "{report}");
            }
        }
    }
}

#[test]
fn untrusted_text_drives_no_terminal() {
    let hostile = "x\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}\u{e0061}\u{7f}\u{85}\u{2028}\ty\r\nz";
    let mut sources = Sources::default();
    let source = sources.add(format!("{hostile}.yaml"), format!("{hostile}: 1\n"));
    let span = Span::new(source.id(), 0, 1);
    let finding = Diagnostic::new(&UNKNOWN_STEP, span, hostile)
        .note(hostile)
        .label(Span::new(source.id(), 3, 5), hostile)
        .help(hostile)
        .fix(Fix::replace(hostile, span, hostile));
    for format in [Format::Human, Format::Short, Format::Json] {
        let report = rendered(format, &sources, std::slice::from_ref(&finding), Look::default());
        let driving = report.chars().find(|c| drives(*c));
        assert_eq!(driving, None, "{report}");
        if format == Format::Short {
            assert_eq!(report.lines().count(), 1);
        }
        if format == Format::Json {
            let json: serde_json::Value = serde_json::from_str(&report).unwrap();
            assert_eq!(json["diagnostics"][0]["message"], hostile, "data keep their characters");
            assert_eq!(json["diagnostics"][0]["fix"]["edits"][0]["text"], hostile);
        }
    }
}

#[test]
fn labels_that_overlap_the_place_do_not_move_its_underline() {
    let mut sources = Sources::default();
    let source = sources.add("flow.yaml", "then: { stop: nope, reason: x }\n");
    let finding = Diagnostic::new(&UNKNOWN_STEP, at(&source, "nope"), "there is no ending `nope`")
        .label(at(&source, "{ stop: nope, reason: x }"), "in this transition")
        .label(at(&source, "ope"), "inside it");
    insta::assert_snapshot!(human(&sources, &[finding]));
}

#[test]
fn lines_of_two_files_are_never_one_excerpt() {
    let mut sources = Sources::default();
    let one = sources.add("one.yaml", "a1\na2\na3");
    let two = sources.add("two.yaml", "b1\nb2\nb3\nb4\nb5\n");
    // The first excerpt ends with line 3, the second begins with line 4.
    let finding = Diagnostic::new(&UNKNOWN_STEP, at(&one, "a3"), "m").label(at(&two, "b5"), "here");
    let report = human(&sources, &[finding]);
    assert!(report.contains("[one.yaml:3:1]") && report.contains("[two.yaml:5:1]"), "{report}");
    assert_eq!(report.matches(" 4 │ b4").count(), 1, "{report}");
}

#[test]
fn long_lines_and_tall_places_are_cut() {
    let mut sources = Sources::default();
    let long = format!("{}plan{}\n", "x".repeat(5000), "y".repeat(5000));
    let tall: String = (0..100).map(|i| format!("line {i}\n")).collect();
    let long = sources.add("long.yaml", long);
    let tall = sources.add("tall.yaml", tall);
    let whole = Span::new(tall.id(), 0, tall.text().len());
    let over = Span::new(long.id(), 4000, 9000);
    let found = [
        Diagnostic::new(&UNKNOWN_STEP, at(&long, "plan"), "far out").note("here"),
        Diagnostic::new(&UNKNOWN_STEP, over, "far over").note("both ends"),
        Diagnostic::new(&UNKNOWN_STEP, whole, "all of it").note("from here on"),
    ];
    insta::assert_snapshot!(human(&sources, &found));
}

/// Not a timing: with a scan from the start for each report this reads two gigabytes and the suite stands still.
#[test]
fn a_thousand_reports_at_the_end_of_a_large_file() {
    let mut sources = Sources::default();
    let source = sources.add("large.yaml", "key: some value that fills the line\n".repeat(30_000));
    let end = source.text().len();
    let found: Vec<Diagnostic> = (1..=1000)
        .map(|i| Diagnostic::new(&UNKNOWN_STEP, Span::new(source.id(), end - 36 * i, end - 36 * i + 3), "m"))
        .collect();
    let report = human(&sources, &found);
    assert_eq!(report.matches("error[unknown-step]: m").count(), 1000);
    assert!(report.ends_with("1000 errors in 1 file\n"));
}
