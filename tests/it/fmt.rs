//! The formatter: one layout, nothing lost, the same meaning.

mod command;
mod layouts;
mod mutants;
mod samples;

use crate::support::AS_OF;
use flowright::compile::{MainDocument, compile, compile_agent};
use flowright::fmt::{Refusal, format};

pub(crate) fn formatted(name: &str, text: &str) -> String {
    let once = format(name, text).unwrap_or_else(|refusal| panic!("{refusal:?}\n{text}"));
    let twice = format(name, &once).unwrap_or_else(|refusal| panic!("{refusal:?}\n{once}"));
    assert_eq!(twice, once, "formatting again changes it; it was\n{text}");
    once
}

/// Digest and findings of a text.
pub(crate) fn verdict(name: &str, text: &str) -> (Option<String>, Vec<String>) {
    let main = MainDocument {
        name: name.to_owned(),
        package_path: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let (digest, found) = if name.ends_with(".md") || text.contains("\"slug\"") {
        let compiled = compile_agent(main);
        (compiled.agent.map(|agent| agent.digest().to_string()), compiled.diagnostics)
    } else {
        let compiled = compile(main, &crate::pages::package(), AS_OF);
        (compiled.workflow.map(|workflow| workflow.digest().to_string()), compiled.diagnostics)
    };
    (digest, found.into_iter().map(|found| found.rule.name.to_owned()).collect())
}

fn yaml(text: &str) -> String {
    formatted("x.yaml", text)
}

fn becomes(text: &str, wanted: &str) {
    assert_eq!(yaml(text), wanted, "from\n{text}");
}

#[test]
fn indentation_lists_and_blanks() {
    becomes(
        "\n\nkind:   workflow   \nversion:\t1\n\n\n\nsteps:\n\n-   id: a\n    cron: '0 9 * * *'\n-\n     id: b\n     stop:\n         succeeded\n",
        "kind: workflow\nversion: 1\n\nsteps:\n  - id: a\n    cron: \"0 9 * * *\"\n  - id: b\n    stop: succeeded\n",
    );
    becomes("a:\n- - x\n  -   y\n-\n  - z\n", "a:\n  - - x\n    - y\n  - - z\n");
    becomes("a:\nb: ~\nc:\n  -\n  - x\n  -\n", "a:\nb: ~\nc:\n  -\n  - x\n  -\n");
    becomes("--- # first\n\n? a\n: b\n...\n", "---  # first\na: b\n...\n");
}

#[test]
fn comments_stay_where_they_belong() {
    becomes(
        "# head\n\n\n# about kind\nkind: workflow # why\nsteps: # all of them\n  # first\n- id: a   # its name\n  # more of a\n\n  # and the end of a\n# before b\n- # dash\n  id: b\n# the end\n",
        "# head\n\n# about kind\nkind: workflow  # why\nsteps:  # all of them\n  # first\n  - id: a  # its name\n    # more of a\n\n    # and the end of a\n  # before b\n  -  # dash\n    id: b\n# the end\n",
    );
    becomes("a:\n    # nothing yet\nb: 1\n", "a:\n  # nothing yet\nb: 1\n");
    becomes("a: # about\n    1\n", "a:  # about\n  1\n");
    becomes(
        "a: [ # one\n  1, # two\n  # three\n  2 # four\n  ] # five\n",
        "a:\n  [  # one\n    1,  # two\n    # three\n    2  # four\n  ]  # five\n",
    );
    becomes("a: {\n  # none\n}\n", "a:\n  {\n    # none\n  }\n");
    becomes(
        "a: | # text\n      x # no comment\n   # comment\nb: 1\n",
        "a: |  # text\n  x # no comment\n# comment\nb: 1\n",
    );
}

#[test]
fn quotes_only_where_they_are_needed() {
    for (written, wanted) in [
        ("\"plan\"", "plan"),
        ("'plan it, now'", "plan it, now"),
        ("'yes'", "\"yes\""),
        ("\"No\"", "\"No\""),
        ("'4h'", "\"4h\""),
        ("\"true\"", "\"true\""),
        ("'role:lead'", "\"role:lead\""),
        ("'a # b'", "\"a # b\""),
        ("'a: b'", "\"a: b\""),
        ("'* x'", "\"* x\""),
        ("'say \"x\"'", "'say \"x\"'"),
        ("'it''s'", "it's"),
        ("\"a\\tb\"", "\"a\\tb\""),
        ("\"\"", "\"\""),
        ("' a'", "\" a\""),
        ("'${{ inputs.x }}'", "\"${{ inputs.x }}\""),
        ("${{ inputs.x }}", "${{ inputs.x }}"),
        ("0x1F", "0x1F"),
        ("1.50", "1.50"),
    ] {
        becomes(&format!("a: {written}\n"), &format!("a: {wanted}\n"));
    }
    becomes("a: ['x, y', \"${{ inputs.x }}\", 'ok']\n", "a: [\"x, y\", \"${{ inputs.x }}\", ok]\n");
    becomes("cron: 0 9 * * 1\n", "cron: \"0 9 * * 1\"\n");
    becomes("cron: 'daily'\n\"cases\": {'yes': next}\n", "cron: \"daily\"\ncases: { \"yes\": next }\n");
}

#[test]
fn long_and_broken_flow_gets_a_line_an_item() {
    becomes("a: {x: 1,y: [ 1,2 ],}\nb: { }\nc: [\n]\n", "a: { x: 1, y: [1, 2] }\nb: {}\nc: []\n");
    becomes(
        "a: {x: 1,\n\n\n y: {z: [1,\n2]}}\n",
        "a:\n  {\n    x: 1,\n\n    y: {\n      z: [\n        1,\n        2\n      ]\n    }\n  }\n",
    );
    let long = "abcdefghi, ".repeat(12);
    let lines = "    abcdefghi,\n".repeat(12);
    let wanted = format!("a:\n  [\n{}\n  ]\n", lines.trim_end().trim_end_matches(','));
    becomes(&format!("a: [{}]\n", long.trim_end().trim_end_matches(',')), &wanted);
    becomes("- {a: 1,\n  b}\n", "- {\n    a: 1,\n    b\n  }\n");
    becomes("{\"a\": 1, \"b\": [c: d]}\n", "{ a: 1, b: [{ c: d }] }\n");
}

#[test]
fn the_content_of_texts_stays() {
    becomes(
        "a:\n    b: |\n            one\n              two  \n\n\n            three\n\n\n    c: >-\n       x\n       y\n",
        "a:\n  b: |\n    one\n      two  \n\n\n    three\n\n  c: >-\n    x\n    y\n",
    );
    becomes("a: |+\n   x\n\n\nb: 1\n", "a: |+\n  x\n\n\nb: 1\n");
    becomes("a: |+\n   x\n\n\n", "a: |+\n  x\n\n\n");
    becomes("a: |4-\n      x\n     y\nb: 1\n", "a: |2-\n    x\n   y\nb: 1\n");
    becomes("- |1\n   x\n  y\n", "- |2\n    x\n   y\n");
    becomes("a: one\n      two\n\n      three\n", "a: one\n  two\n\n  three\n");
    becomes("a:\n      one\n      two\n", "a:\n  one\n  two\n");
    becomes("a: \"one \\\n      two\\ \n\n    three\"\n", "a: \"one \\\n  two\\ \n\n  three\"\n");
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    assert_eq!(
        yaml("\u{feff}a:   1\r\n\r\n\r\n\r\nb: |\r\n     x\r\n     y\r\n"),
        "\u{feff}a: 1\r\n\r\nb: |\r\n  x\r\n  y\r\n"
    );
    assert_eq!(formatted("x.json", "{\r\n\"a\":1}"), "{\r\n  \"a\": 1\r\n}\r\n");
}

#[test]
fn agents_in_json_keep_every_byte_of_their_values() {
    let text = "{ \"--note\":\"x\", \"slug\":\"a\",\n\n\n\n\"temperature\":0.20,\"n\":1E+3, \"systemPrompt\":[\"a \\u0041\" ,\n\"b\"],\n\"d\":{ \"tag\":\"defer\" } , \"e\":[ ],\"f\":[1,2,{\"g\":null}]}";
    let wanted = "{\n  \"--note\": \"x\",\n  \"slug\": \"a\",\n\n  \"temperature\": 0.20,\n  \"n\": 1E+3,\n  \"systemPrompt\": [\n    \"a \\u0041\",\n    \"b\"\n  ],\n  \"d\": { \"tag\": \"defer\" },\n  \"e\": [],\n  \"f\": [1, 2, { \"g\": null }]\n}\n";
    assert_eq!(formatted("agents/a.json", text), wanted);
}

#[test]
fn front_matter_alone_is_formatted() {
    let text = "---\nslug:   a\nmodelUrl: 'x'\n---\n\n\nYou   are  \n- a";
    assert_eq!(formatted("a.agent.md", text), "---\nslug: a\nmodelUrl: x\n---\n\n\nYou   are  \n- a");
    assert!(
        matches!(format("a.agent.md", "no front"), Err(Refusal::Unreadable(found)) if found[0].rule.name == "no-front-matter")
    );
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    for text in ["a: [1\nb: 2\n", "a: &x 1\n", "a: 1\na: 2\n", "a: !t 1\n", "a: 1\n---\nb: 2\n", ""] {
        assert!(matches!(format("x.yaml", text), Err(Refusal::Unreadable(_))), "{text}");
    }
    assert!(matches!(format("x.json", "{\"a\": 1,}"), Err(Refusal::Unreadable(_))));
    let Err(Refusal::Unreadable(found)) = format("x.yaml", "\u{feff}a: &x 1\n") else { panic!() };
    assert_eq!(found[0].span.range(), 6..8, "places count in the whole file");
}
