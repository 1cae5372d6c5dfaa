//! `${{ path }}` in texts.

use super::{read, said};
use flowright::ast::{Part, Segment};
use flowright::parse::binding;

fn parts(value: &str) -> (Vec<String>, Vec<String>) {
    let source = format!("k: '{value}'\n");
    let (tree, _) = read("x.yaml", &source);
    let mut found = Vec::new();
    let template = binding::template(tree.get("k").unwrap().text().unwrap(), &mut found);
    let parts = template.parts.iter().map(|part| match part {
        Part::Text(text) => format!("\"{text}\""),
        Part::Binding(binding) => {
            assert!(
                source[binding.span.range()].starts_with("${{")
                    && source[binding.span.range()].ends_with("}}")
            );
            assert_eq!(source[binding.root.span.range()], binding.root.value);
            let path = binding.path.iter().map(|segment| match &segment.value {
                Segment::Name(name) => {
                    assert_eq!(source[segment.span.range()], *name);
                    format!(".{name}")
                }
                Segment::Index(i) => format!("[{i}]"),
            });
            format!("{}{}", binding.root.value, path.collect::<String>())
        }
    });
    (parts.collect(), said(&source, &found))
}

#[test]
fn paths() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        ("plain", &["\"plain\""]),
        ("${{inputs.a}}", &["inputs.a"]),
        ("${{ steps.a-b.result.x_y[0][12].z }}", &["steps.a-b.result.x_y[0][12].z"]),
        ("a ${{ x }} b ${{ y }}${{ z }}", &["\"a \"", "x", "\" b \"", "y", "z"]),
        ("$${{ x }} and ${{ y }}", &["\"${{ x }} and \"", "y"]),
        ("$ {{ x }} ${x} $$", &["\"$ {{ x }} ${x} $$\""]),
    ];
    for (text, expected) in cases {
        assert_eq!(parts(text), (expected.iter().map(|s| (*s).to_owned()).collect(), vec![]), "{text}");
    }
}

#[test]
fn faults() {
    let cases: &[(&str, &str)] = &[
        ("a ${{ x", "unclosed-binding @ ${{"),
        ("${{ x ${{ y }}", "unclosed-binding @ ${{"),
        ("${{   }}", "empty-binding @ ${{   }}"),
        ("${{ a == b }}", "expression-in-binding @ ${{ a == b }}"),
        ("${{ a or b }}", "expression-in-binding @ ${{ a or b }}"),
        ("${{ len(a) }}", "expression-in-binding @ ${{ len(a) }}"),
        ("${{ 5 }}", "expression-in-binding @ ${{ 5 }}"),
        ("${{ a..b }}", "malformed-binding @ ."),
        ("${{ a.0 }}", "malformed-binding @ .0"),
        ("${{ a[x] }}", "malformed-binding @ [x]"),
        ("${{ a[0 }}", "malformed-binding @ ["),
        ("${{ a b }}", "malformed-binding @ b"),
        ("${{ a[99999999999] }}", "malformed-binding @ [99999999999]"),
    ];
    for (text, expected) in cases {
        assert_eq!(parts(text).1, [*expected], "{text}");
    }
}
