//! What was surely meant by a part of a schema that is wrong. It judges nothing.

use super::form::TYPES;

/// What is open in a regular expression that cannot be read, where that can be seen.
pub(super) fn unbalanced(text: &str) -> Option<String> {
    let mut open: Vec<char> = Vec::new();
    let mut escaped = false;
    for c in text.chars() {
        let in_class = open.last() == Some(&'[');
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' if !in_class => open.push(c),
            ']' if in_class => {
                open.pop();
            }
            '(' if !in_class => open.push(c),
            ')' if !in_class && open.pop().is_none() => return Some("a `)` closes nothing".to_owned()),
            _ => {}
        }
    }
    if escaped {
        return Some("nothing follows the last `\\`".to_owned());
    }
    open.last().map(|c| format!("a `{c}` is not closed"))
}

/// The type that was meant by a word of another language, or misspelt.
pub(super) fn nearest_type(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let other = [
        ("str", "string"),
        ("text", "string"),
        ("int", "integer"),
        ("bool", "boolean"),
        ("list", "array"),
        ("map", "object"),
        ("dict", "object"),
        ("float", "number"),
        ("double", "number"),
    ];
    let known = other.iter().find(|(short, _)| *short == lower).map(|(_, name)| *name);
    known.or_else(|| TYPES.iter().copied().find(|known| strsim::damerau_levenshtein(&lower, known) <= 2))
}
