//! The text of `.flowright.toml` into [`Settings`], with a finding at the place of each thing that is wrong. What is
//! wrong has no effect, everything else has.

use super::{ForPaths, Globs, Settings, is_always_an_error, rule};
use crate::check::{bad_setting, ignored_error, unknown_rule, unknown_setting};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::{FileId, Source, Span};
use ignore::gitignore::GitignoreBuilder;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

type Value<'a> = Spanned<DeValue<'a>>;

const TOP: [&str; 1] = ["check"];
const CHECK: [&str; 6] = ["deny", "format", "ignore", "exclude", "severity", "paths"];
const PATHS: [&str; 2] = ["files", "ignore"];

/// The ways in which findings are printed.
const FORMATS: [&str; 7] = ["human", "short", "json", "sarif", "github", "gitlab", "junit"];

/// Reads settings that stand in `folder`.
#[must_use]
pub fn read(source: &Source, folder: &Path) -> (Settings, Vec<Diagnostic>) {
    let text = source.text();
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { file: source.id(), bom, found: Vec::new() };
    let mut settings = Settings::of_folder(folder);
    text.clone_into(&mut settings.text);
    let (document, errors) = DeTable::parse_recoverable(text.get(bom..).unwrap_or_default());
    for error in errors {
        let place = reader.span(error.span().unwrap_or_default());
        let what = error.message().replace('\n', ", ");
        reader.found.push(Diagnostic::new(&bad_setting::RULE, place, format!("this is no TOML: {what}")));
    }
    for (key, value) in document.get_ref() {
        if reader.known(key, &TOP, "the top level") {
            reader.check(value, &mut settings);
        }
    }
    let mut found = reader.found;
    found.sort_by_key(|one| (one.span.start, one.span.end));
    (settings, found)
}

struct Reader {
    file: FileId,
    bom: usize,
    found: Vec<Diagnostic>,
}

impl Reader {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, self.bom + range.start, self.bom + range.end)
    }

    fn known(&mut self, key: &Spanned<DeString<'_>>, known: &[&'static str], of: &str) -> bool {
        let name: &str = key.get_ref();
        let is_known = known.contains(&name);
        if !is_known {
            let span = self.span(key.span());
            let message = format!("`{name}` is no setting of {of}");
            let found = Diagnostic::new(&unknown_setting::RULE, span, message);
            let near = nearest(name, known.iter().copied());
            self.found.push(match near {
                Some(_) => found.suggest(name, near, span),
                None => found.help(format!("what can be set: `{}`", known.join("`, `"))),
            });
        }
        is_known
    }

    fn wrong(&mut self, value: &Value<'_>, message: String) {
        let span = self.span(value.span());
        self.found.push(Diagnostic::new(&bad_setting::RULE, span, message));
    }

    fn table<'v, 'a>(&mut self, value: &'v Value<'a>, what: &str) -> Option<&'v DeTable<'a>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong(value, format!("{what} is a table, not {}", kind(value)));
        }
        table
    }

    fn check(&mut self, value: &Value<'_>, settings: &mut Settings) {
        let Some(table) = self.table(value, "`check`") else { return };
        for (key, value) in table {
            if !self.known(key, &CHECK, "`check`") {
                continue;
            }
            let name: &str = key.get_ref();
            match name {
                "deny" => {
                    settings.deny_warnings =
                        self.word(value, name, &["warnings", "nothing"]) == Some("warnings")
                }
                "format" => settings.format = self.word(value, name, &FORMATS).map(str::to_owned),
                "ignore" => settings.ignore = self.rules(value, name),
                "exclude" => settings.exclude = self.globs(value, name),
                "severity" => self.severities(value, settings),
                _ => self.paths(value, settings),
            }
        }
    }

    fn word<'w>(&mut self, value: &Value<'_>, what: &str, words: &[&'w str]) -> Option<&'w str> {
        let written = value.get_ref().as_str();
        let known = written.and_then(|text| words.iter().find(|word| **word == text)).copied();
        if known.is_none() {
            let said = written.map_or_else(|| kind(value).to_owned(), |text| format!("`{text}`"));
            let span = self.span(value.span());
            let message = format!("`{what}` is one of `{}`, not {said}", words.join("`, `"));
            let mut found = Diagnostic::new(&bad_setting::RULE, span, message);
            if let Some(near) = written.and_then(|text| nearest(text, words.iter().copied())) {
                let fix =
                    crate::diagnostic::Fix::replace(format!("write `{near}`"), span, format!("\"{near}\""));
                found = found.help(format!("did you mean `{near}`?")).fix(fix);
            }
            self.found.push(found);
        }
        known
    }

    fn texts<'v>(&mut self, value: &'v Value<'_>, what: &str) -> Vec<(&'v str, Span)> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(value, format!("`{what}` is a list of texts, not {}", kind(value)));
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str() {
                Some(text) => texts.push((text, self.span(item.span()))),
                None => self.wrong(item, format!("`{what}` holds texts, not {}", kind(item))),
            }
        }
        texts
    }

    fn rules(&mut self, value: &Value<'_>, what: &str) -> Vec<&'static Rule> {
        let texts = self.texts(value, what);
        let rules = texts.into_iter().filter_map(|(name, span)| self.movable(name, span, "ignored", true));
        rules.collect()
    }

    /// A rule that settings may move.
    fn movable(&mut self, name: &str, span: Span, done: &str, is_quoted: bool) -> Option<&'static Rule> {
        match rule(name) {
            Ok(rule) if is_always_an_error(rule) => {
                let message = format!("`{name}` is an error and cannot be {done}");
                let found = Diagnostic::new(&ignored_error::RULE, span, message);
                self.found.push(found.help("settings move warnings and hints only"));
                None
            }
            Ok(rule) => Some(rule),
            Err(near) => {
                let found = Diagnostic::new(&unknown_rule::RULE, span, format!("there is no rule `{name}`"));
                let inner = if is_quoted && span.len() > 2 {
                    Span { start: span.start + 1, end: span.end - 1, ..span }
                } else {
                    span
                };
                self.found.push(match near {
                    Some(_) => found.suggest(name, near, inner),
                    None => found.help("`flowright explain` lists the rules"),
                });
                None
            }
        }
    }

    fn severities(&mut self, value: &Value<'_>, settings: &mut Settings) {
        let Some(table) = self.table(value, "`severity`") else { return };
        for (key, value) in table {
            let word = self.word(value, key.get_ref(), &["error", "warning", "hint", "off"]);
            let weight = match word {
                Some("error") => Some(Severity::Error),
                Some("warning") => Some(Severity::Warning),
                Some("hint") => Some(Severity::Hint),
                Some(_) => None,
                None => continue,
            };
            let is_error = rule(key.get_ref()).is_ok_and(|rule| rule.severity == Severity::Error);
            if is_error && weight == Some(Severity::Error) {
                continue;
            }
            let done = if weight.is_none() { "turned off" } else { "made to weigh less" };
            if let Some(rule) = self.movable(key.get_ref(), self.span(key.span()), done, false) {
                settings.severity.insert(rule.name, weight);
            }
        }
    }

    fn paths(&mut self, value: &Value<'_>, settings: &mut Settings) {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(
                value,
                format!("`paths` is written `[[check.paths]]`, a list of tables, not {}", kind(value)),
            );
            return;
        };
        for item in items.iter() {
            let Some(table) = self.table(item, "an entry of `paths`") else { continue };
            let mut one = ForPaths { files: Globs::default(), ignore: Vec::new() };
            for (key, value) in table {
                if !self.known(key, &PATHS, "`check.paths`") {
                    continue;
                }
                if key.get_ref() == "files" {
                    one.files = self.globs(value, "files");
                } else {
                    one.ignore = self.rules(value, "ignore");
                }
            }
            if !table.keys().any(|key| key.get_ref() == "files") {
                self.wrong(item, "an entry of `paths` needs `files`".to_owned());
            }
            settings.paths.push(one);
        }
    }

    fn globs(&mut self, value: &Value<'_>, what: &str) -> Globs {
        let mut builder = GitignoreBuilder::new("");
        for (glob, span) in self.texts(value, what) {
            if let Err(error) = builder.add_line(None, glob) {
                let message = format!("`{glob}` is no pattern: {error}");
                self.found.push(Diagnostic::new(&bad_setting::RULE, span, message));
            }
        }
        Globs(builder.build().ok())
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
