//! The reference and the grammar file as text, printed from the table.

use super::{BINDINGS, CONTEXTS, Context, DOCUMENT, KINDS, Key, STEP, Shape};

/// The reference of all keys as Markdown tables.
#[must_use]
pub fn reference_markdown() -> String {
    let mut out = String::from("# Reference of the keys\n");
    for context in CONTEXTS {
        out.push_str(&format!(
            "\n## `{}`\n\n{}.\n\n| key | holds | |\n|---|---|---|\n",
            context.name,
            context.doc.trim()
        ));
        for key in context.keys {
            let required = if key.required { "**required.** " } else { "" };
            out.push_str(&format!("| `{}` | {} | {required}{} |\n", key.name, holds(key.shape), key.doc));
        }
    }
    out
}

/// The grammar in EBNF: documents by their maps, bindings by their characters. Every symbol is defined.
#[must_use]
pub fn ebnf() -> String {
    let mut out = String::from(
        "(* Printed from the table of the language. The keys of a map stand in any order, each once; [ ] may be\n   \
         left out, { } repeats. How maps, lists and texts are written is YAML's or JSON's matter. *)\n\n",
    );
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    out.push_str(&rule(&DOCUMENT, "document"));
    out.push_str("steps = \"- \", step, { \"- \", step };\n");
    let step: Vec<String> = STEP.keys.iter().map(entry).collect();
    out.push_str(&format!("step = {},\n    ( {}_keys );\n", step.join(",\n    "), kinds.join("_keys | ")));
    for context in
        CONTEXTS.iter().filter(|context| context.name != DOCUMENT.name && context.name != STEP.name)
    {
        let is_kind = kinds.contains(&context.name);
        out.push_str(&rule(context, &format!("{}{}", context.name, if is_kind { "_keys" } else { "" })));
    }
    out.push_str(
        "gate = gate_human | gate_agent;\n\
         transition = \"continue\" | \"break\" | \"next\" | \"hold\" | stop_transition | steps_transition;\n\
         on_deadline = transition | choose;\n\
         choices = plain, \":\", ( template | choice ), { plain, \":\", ( template | choice ) };\n\
         cases = plain, \":\", transition, { plain, \":\", transition };\n\
         call = \"runSync\" | \"runAsync\" | \"defer\" | \"deny\" | disposition;\n\n\
         kebab = lower, { lower | digit }, { \"-\", ( lower | digit ), { lower | digit } };\n\
         identifier = ( ascii | \"_\" ), { ascii | digit | \"_\" | \"-\" };\n\
         number = digit, { digit };\n\
         decimal = ? a number of JSON ?;\n\
         duration = span, { span } | iso_duration;\n\
         span = number, ( \"d\" | \"h\" | \"m\" | \"s\" );\n\
         template = text;\n\
         plain = ? text in which no binding is read ?;\n\
         lower = ? one of a to z ?;\n\
         ascii = ? one of a to z and A to Z ?;\n\
         iso_duration = ? such as `PT2H` ?;\n\
         json_schema = ? a JSON Schema, draft 2020-12 ?;\n\
         data = ? any value; its texts are templates ?;\n\
         any = ? any value ?;\n\n",
    );
    out.push_str(BINDINGS);
    out
}

fn rule(context: &Context, name: &str) -> String {
    let entries: Vec<String> = context.keys.iter().map(entry).collect();
    format!("{name} = {};\n", entries.join(",\n    "))
}

fn entry(key: &Key) -> String {
    let body = format!("\"{}:\", {}", key.name, symbol(key.shape));
    if key.required { body } else { format!("[ {body} ]") }
}

fn symbol(shape: Shape) -> String {
    let list = |item: &str| format!("{{ \"- \", {item} }}");
    let map = |value: &str| format!("{{ identifier, \":\", {value} }}");
    match shape {
        Shape::Text => "plain".to_owned(),
        Shape::Template => "template".to_owned(),
        Shape::Binding => "binding".to_owned(),
        Shape::Bindings => list("binding"),
        Shape::Name => "kebab".to_owned(),
        Shape::Word([only]) => format!("\"{only}\""),
        Shape::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("( {} )", words.join(" | "))
        }
        Shape::Exactly(number) => format!("\"{number}\""),
        Shape::Number(..) => "number".to_owned(),
        Shape::Duration => "duration".to_owned(),
        Shape::Retention => "( duration | \"keep\" )".to_owned(),
        Shape::Repeat => "( number | \"until_stopped\" )".to_owned(),
        Shape::Schema => "json_schema".to_owned(),
        Shape::Schemas => map("json_schema"),
        Shape::BindingMap => map("binding"),
        Shape::TextMap => map("plain"),
        Shape::Data => map("data"),
        Shape::Respondents => list("template"),
        Shape::Texts => list("plain"),
        Shape::TextOrTexts => format!("( plain | {} )", list("plain")),
        Shape::Bool => "( \"true\" | \"false\" )".to_owned(),
        Shape::Decimal(..) => "decimal".to_owned(),
        Shape::Any => "any".to_owned(),
        Shape::Map(name) => name.to_owned(),
        Shape::List(name) => list(name),
        Shape::Steps => "steps".to_owned(),
        Shape::Transition => "transition".to_owned(),
        Shape::OnDeadline => "on_deadline".to_owned(),
        Shape::Cases => "cases".to_owned(),
        Shape::Choices => "choices".to_owned(),
        Shape::Gates => list("gate"),
        Shape::Disposition => "call".to_owned(),
        Shape::Words(words) => list(&symbol(Shape::Word(words))),
        Shape::ByTag(kinds) => {
            let mut all: Vec<String> = kinds.iter().map(|(_, shape)| symbol(*shape)).collect();
            all.sort();
            all.dedup();
            format!("( {} )", all.join(" | "))
        }
    }
}

/// What a key holds, in words for the reference.
pub(in crate::grammar) fn holds(shape: Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Template => "text with bindings".to_owned(),
        Shape::Binding => "one binding".to_owned(),
        Shape::Bindings => "list of bindings".to_owned(),
        Shape::Name => "kebab-case name".to_owned(),
        Shape::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" "),
        Shape::Exactly(number) => format!("`{number}`"),
        Shape::Number(from, to) => format!("number from {from} to {to}"),
        Shape::Duration => "duration".to_owned(),
        Shape::Retention => "duration or `keep`".to_owned(),
        Shape::Repeat => "`until_stopped` or a number".to_owned(),
        Shape::Schema => "JSON Schema".to_owned(),
        Shape::Schemas => "map of JSON Schemas".to_owned(),
        Shape::BindingMap => "map of bindings".to_owned(),
        Shape::TextMap => "map of texts".to_owned(),
        Shape::Data => "map of values with bindings".to_owned(),
        Shape::Respondents => "list of `owner`, `user:…`, `role:…`".to_owned(),
        Shape::Texts => "list of texts".to_owned(),
        Shape::TextOrTexts => "text or list of texts".to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Decimal(from, to) => format!("number from {from} to {to}, digits kept"),
        Shape::Any => "kept as written".to_owned(),
        Shape::Map(name) => format!("map `{name}`"),
        Shape::List(name) => format!("list of `{name}`"),
        Shape::Steps => "list of steps".to_owned(),
        Shape::Transition => "transition".to_owned(),
        Shape::OnDeadline => "transition or `{choose: value}`".to_owned(),
        Shape::Cases => "map of transitions".to_owned(),
        Shape::Choices => "map of labels or choices".to_owned(),
        Shape::Gates => "list of gates".to_owned(),
        Shape::Disposition => "disposition".to_owned(),
        Shape::Words(words) => format!("list of {}", holds(Shape::Word(words))),
        Shape::ByTag(kinds) => {
            let kind = |(tag, shape): &(&str, Shape)| format!("with `{tag}`: {}", holds(*shape));
            kinds.iter().map(kind).collect::<Vec<_>>().join("; ")
        }
    }
}
