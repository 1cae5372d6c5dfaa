//! What YAML and JSON have and the language refuses, and the limits: each fault once, none as a consequence.

use super::{mended, read, said};
use flowright::parse;
use flowright::source::FileId;

fn yaml(text: &str) -> Vec<String> {
    said(text, &read("x.yaml", text).1)
}

fn json(text: &str) -> Vec<String> {
    said(text, &read("x.json", text).1)
}

#[test]
fn yaml_features() {
    let cases: &[(&str, &[&str])] = &[
        ("a: &x 1\nb: *x\n", &["anchor-or-alias @ *x"]),
        ("a: &a+b |\n  x\nb: 1\n", &["anchor-or-alias @ &a+b"]),
        ("a: *nowhere\n", &["anchor-or-alias @ *nowhere"]),
        ("a: !!str 1\nb: !x\n", &["tag @ !!str", "tag @ !x"]),
        ("<<: {a: 1}\n", &["merge-key @ <<"]),
        ("\"<<\": 1\n", &[]),
        ("a: 1\n---\nb: 1\n", &["second-document @ ---"]),
        ("a: 1\nb: 2\na: 3\n", &["duplicate-key @ a"]),
        ("a: 1\n\"\\x61\": 3\n", &["duplicate-key @ \"\\x61\""]),
        ("x: {'a': 1, a: 3}\n", &["duplicate-key @ a"]),
        ("? [a]\n: 1\n", &["key-not-text @ [a]"]),
        ("a: .inf\nb: .NaN\n", &["number-not-json @ .inf", "number-not-json @ .NaN"]),
        ("", &["empty-document @ "]),
        ("# nothing\n", &["empty-document @ "]),
        ("a: x\u{1}y\n", &["control-character @ \u{1}"]),
        ("\u{feff}a: 1\r\nb: 2\r\n", &[]),
        ("x:\r\n  - z\r\n  y:\r\n", &["syntax-error @ y"]),
        ("a:\n\tb: 1\n", &["tab-indentation @ \t"]),
        ("a: x\n\tb: 1\n", &["tab-indentation @ \t"]),
    ];
    for (text, expected) in cases {
        assert_eq!(yaml(text), *expected, "{text:?}");
    }
}

/// B06: both places are named.
#[test]
fn a_duplicate_key_names_both_places() {
    let text = "with: {ref: NEW}\nx: 1\nwith: {ref: OLD}\n";
    let (tree, found) = read("x.yaml", text);
    assert_eq!((found[0].span.start, found[0].labels[0].span.start), (22, 0));
    assert_eq!(tree.get("with").unwrap().get("ref").unwrap().text().unwrap().value, "NEW");
}

#[test]
fn every_duplicate_of_a_large_map_is_found() {
    let text: String = (0..100).map(|i| format!("k{}: 1\n", i % 50)).collect();
    assert_eq!(yaml(&text).len(), 50);
}

/// B07, and the words of the core schema.
#[test]
fn scalars_mean_what_the_core_schema_says() {
    let text = "on: yes\nn: NO\n1: ~\na: [null, True, 007, +1, 0x1F, 0o17, .5, 1., -0, 1_000, 0x, '1', 1.5.2]\n\
                big: 2512292042121000001\nexp: 1e3\nhex: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF\n";
    let (tree, found) = read("x.yaml", text);
    assert!(found.is_empty(), "{found:?}");
    let expected = r#"{"on":"yes","n":"NO","1":null,"a":[null,true,7,1,31,15,0.5,1.0,-0,"1_000","0x","1","1.5.2"],"big":2512292042121000001,"exp":1e+3,"hex":87112285931760246646623899502532662132735}"#;
    assert_eq!(tree.to_json().to_string(), expected);
    // The tree keeps the form of an exponent; only serde_json writes it its own way.
    assert_eq!(tree.get("exp").unwrap().value, flowright::tree::Value::Number("1e3".into()));
}

#[test]
fn traps_have_a_fix_that_mends_them() {
    let cases: &[(&str, &str, &str)] = &[
        ("cron: */5 * * * *\n", "unquoted-cron @ */5 * * * *", "cron: \"*/5 * * * *\"\n"),
        ("cron: * * * * *\n", "unquoted-cron @ * * * * *", "cron: \"* * * * *\"\n"),
        ("cron: */5\n", "unquoted-cron @ */5", "cron: \"*/5\"\n"),
        ("cron: @hourly # c\n", "unquoted-cron @ @hourly", "cron: \"@hourly\" # c\n"),
        ("w: { a: ${{ x }}, b: 1 }\n", "unquoted-binding @ ${{ x }}", "w: { a: \"${{ x }}\", b: 1 }\n"),
        ("w: [hi ${{ x }}]\n", "unquoted-binding @ hi ${{ x }}", "w: [\"hi ${{ x }}\"]\n"),
        ("task: a: b\n", "colon-in-plain-text @ :", "task: \"a: b\"\n"),
        ("task: see ${{ x }} #1\n", "swallowed-comment @ #1", "task: \"see ${{ x }} #1\"\n"),
        ("task: see #${{ x }}\n", "swallowed-comment @ #${{ x }}", "task: \"see #${{ x }}\"\n"),
        ("task: fix issue #12 now\n", "swallowed-comment @ #12 now", "task: \"fix issue #12 now\"\n"),
        ("task: %x\n", "unquoted-indicator @ %x", "task: \"%x\"\n"),
    ];
    for (text, expected, right) in cases {
        let (_, found) = read("x.yaml", text);
        assert_eq!(said(text, &found), [*expected], "{text:?}");
        assert_eq!(mended(text, &found[0]), *right);
        assert_eq!(yaml(right), [""; 0], "{right:?}");
    }
}

#[test]
fn ordinary_comments_are_left_alone() {
    let text = "task: write the report # as agreed\nagents:   # local names\n  a: ./a.json #x\nhuman: Is it?   # person\n";
    assert_eq!(yaml(text), [""; 0]);
}

#[test]
fn all_faults_of_a_file_in_one_run() {
    let text = "a: \"x\nb: [1, 2\nc: y: z\nd: 'a' b\ne: &k 1\nf: { g: ${{ h }} }\ne: 2\n";
    let expected = [
        "syntax-error @ \"",
        "syntax-error @ [",
        "colon-in-plain-text @ :",
        "syntax-error @ b",
        "anchor-or-alias @ &k",
        "unquoted-binding @ ${{ h }}",
        "duplicate-key @ e",
    ];
    assert_eq!(yaml(text), expected);
}

#[test]
fn limits() {
    let deep = |n: usize| format!("a: {}{}\n", "[".repeat(n), "]".repeat(n));
    assert_eq!(yaml(&deep(31)), [""; 0]);
    assert_eq!(yaml(&deep(32)), ["too-deep @ ["]);
    let bombs =
        [deep(10_000), "- ".repeat(10_000), "? ".repeat(10_000), "[".repeat(10_000), "{a: ".repeat(10_000)];
    for bomb in bombs {
        assert_eq!(yaml(&bomb).len(), 1, "{:?}", yaml(&bomb));
        assert!(yaml(&bomb)[0].starts_with("too-deep"), "{:?}", yaml(&bomb));
    }
    assert_eq!(json(&"[".repeat(10_000)), ["too-deep @ ["]);
    assert_eq!(json(&"{\"a\":".repeat(10_000)), ["too-deep @ {"]);
    assert_eq!(yaml(&format!("a: {}\n", "x".repeat(64 * 1024))), [""; 0]);
    assert!(yaml(&format!("a: {}\nb: 1\n", "x".repeat(64 * 1024 + 1)))[0].starts_with("scalar-too-long"));
    assert_eq!(yaml(&format!("a: 1\n{}", "#\n".repeat(128 * 1024))), ["too-large @ "]);
}

/// B04: one finding at the alias, nothing grows.
#[test]
fn an_alias_bomb_is_one_finding() {
    let mut text = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, last) in "bcdefgh".chars().zip("abcdefg".chars()) {
        text.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{last}"); 9].join(",")));
    }
    assert_eq!(yaml(&text), ["anchor-or-alias @ *a"]);
}

#[test]
fn strict_json() {
    let cases: &[(&str, &[&str])] = &[
        ("{\"a\": [1, -0, 1.0, 1e2, 18446744073709551616, true, null]}", &[]),
        (
            "{\"a\": 1, /* c */ \"b\": [1,],}",
            &["syntax-error @ /* c */", "syntax-error @ ,", "syntax-error @ ,"],
        ),
        ("{\"a\": 1, \"\\u0061\": 2}", &["duplicate-key @ \"\\u0061\""]),
        ("{'a': 1}", &["syntax-error @ 'a'"]),
        ("{\"a\": yes}", &["syntax-error @ yes"]),
        ("{\"a\": 0x1f}", &["syntax-error @ 0x1f"]),
        ("{\"a\": 1", &["syntax-error @ {"]),
        ("{\"a\": 1]", &["syntax-error @ ]"]),
        ("{\"a\" 1}", &["syntax-error @ "]),
        ("[1 2]", &["syntax-error @ "]),
        ("[] []", &["syntax-error @ ["]),
        ("", &["empty-document @ "]),
        ("\"a\tb\"", &["syntax-error @ \t"]),
        ("\u{feff}{\"é\": \"\\ud83d\\ude00\"}", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text), *expected, "{text:?}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let fault = parse::decode(FileId::MAIN, b"a: 1\nb: \xff\n".to_vec()).unwrap_err();
    assert_eq!(fault.rule.name, "not-utf8");
    assert!(fault.message.contains("byte 8") && fault.message.contains("line 2"), "{}", fault.message);
    assert_eq!(parse::decode(FileId::MAIN, b"ok".to_vec()).unwrap(), "ok");
}
