//! Ignore comments: `# flowright: ignore[RULE] REASON` for a line, `ignore-file[RULE] REASON` for a file. They take
//! warnings and hints out of a verdict, never errors, and never without a reason.

use super::{Ignored, is_about_comments};
use crate::check::{bad_ignore, ignore_without_reason, ignored_error, unknown_rule, unused_ignore};
use crate::diagnostic::{Diagnostic, Edit, Fix, Rule, Severity};
use crate::parse::comment::{Comment, comments};
use crate::settings;
use crate::source::{FileId, Source, Sources, Span};
use std::ops::Range;

/// How a comment that speaks to Flowright begins.
const MARK: &str = "flowright:";

/// A comment that was understood.
struct Directive {
    comment: Comment,
    reason: String,
    /// 0-based line that it speaks of; the whole file without one.
    line: Option<usize>,
    rules: Vec<Named>,
}

struct Named {
    rule: &'static Rule,
    span: Span,
    is_used: bool,
}

/// Findings that count, with those about the comments themselves, and findings that comments ignore.
pub(super) fn apply(sources: &Sources, found: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Ignored>) {
    let mut counts = found;
    let mut ignored = Vec::new();
    for source in sources.iter() {
        // A quick look first: most files hold none.
        if !source.text().contains(MARK) {
            continue;
        }
        let mut about = Vec::new();
        let mut directives = directives(source, &mut about);
        let had_errors = counts.iter().any(|one| one.severity == Severity::Error);
        let mut left = Vec::new();
        for one in counts {
            match directives.iter_mut().find_map(|directive| directive.takes(source, &one)) {
                Some(reason) => ignored.push(Ignored { diagnostic: one, reason }),
                None => left.push(one),
            }
        }
        counts = left;
        about.extend(directives.iter().flat_map(|one| one.errors(source, &counts)));
        if !had_errors {
            about.extend(directives.iter().filter_map(|directive| directive.unused(source)));
        }
        // Of the comments of other files that file's own verdict speaks.
        if source.id() == FileId::MAIN {
            counts.append(&mut about);
        }
    }
    (counts, ignored)
}

impl Directive {
    fn speaks_of(&self, source: &Source, found: &Diagnostic) -> bool {
        let line = source.lines().line_of(found.span.range().start);
        found.span.file == source.id() && !is_about_comments(found) && self.line.is_none_or(|own| own == line)
    }

    /// The reason, if it ignores the finding.
    fn takes(&mut self, source: &Source, found: &Diagnostic) -> Option<String> {
        if !self.speaks_of(source, found) || found.severity == Severity::Error {
            return None;
        }
        let named = self.rules.iter_mut().find(|named| named.rule == found.rule)?;
        named.is_used = true;
        Some(self.reason.clone())
    }

    /// An error that it speaks of.
    fn errors(&self, source: &Source, found: &[Diagnostic]) -> Vec<Diagnostic> {
        let error = |named: &Named| {
            found.iter().find(|one| {
                one.severity == Severity::Error && one.rule == named.rule && self.speaks_of(source, one)
            })
        };
        let named = self.rules.iter().filter_map(|named| Some((named, error(named)?)));
        named
            .map(|(named, error)| {
                let message = format!("`{}` is an error here and cannot be ignored", named.rule.name);
                Diagnostic::new(&ignored_error::RULE, named.span, message)
                    .label(error.span, "the error")
                    .help("mend the error; comments ignore warnings and hints")
            })
            .collect()
    }

    fn unused(&self, source: &Source) -> Option<Diagnostic> {
        let (used, unused): (Vec<_>, Vec<_>) = self.rules.iter().partition(|named| named.is_used);
        let first = unused.first()?;
        let names: Vec<_> = unused.iter().map(|named| format!("`{}`", named.rule.name)).collect();
        let whole = if self.line.is_none() { "in the file" } else { "here" };
        let found = Diagnostic::new(
            &unused_ignore::RULE,
            first.span,
            format!("nothing is ignored: there is no {} {whole}", names.join(" and no ")),
        );
        let edit = if used.is_empty() {
            Edit { span: removal(source, &self.comment), text: String::new() }
        } else {
            let (first, last) = (self.rules.first()?, self.rules.last()?);
            let kept: Vec<_> = used.iter().map(|named| named.rule.name).collect();
            Edit { span: first.span.to(last.span), text: kept.join(", ") }
        };
        let title = if used.is_empty() { "remove the comment" } else { "leave the rule out" };
        Some(found.help(title).fix(Fix { title: title.to_owned(), safe: true, edits: vec![edit] }))
    }
}

fn directives(source: &Source, about: &mut Vec<Diagnostic>) -> Vec<Directive> {
    let all = comments(source);
    all.iter().filter_map(|comment| directive(source, &all, comment, about)).collect()
}

fn directive(
    source: &Source,
    all: &[Comment],
    comment: &Comment,
    about: &mut Vec<Diagnostic>,
) -> Option<Directive> {
    let body = comment.text.trim_start().strip_prefix(MARK)?;
    let offset = comment.text.len() - body.len();
    // What was written with escapes has no places of its own.
    let is_verbatim = source.slice(comment.inner) == comment.text;
    let place = |range: Range<usize>| {
        let start = comment.inner.range().start;
        if is_verbatim {
            Span::new(comment.span.file, start + range.start, start + range.end)
        } else {
            comment.inner
        }
    };
    let Some((is_file, open, close)) = shape(body) else {
        let found = Diagnostic::new(
            &bad_ignore::RULE,
            place(offset..offset + body.trim_end().len()),
            format!("`{}` is nothing that a comment can say", body.trim()),
        );
        about
            .push(found.help("write `flowright: ignore[RULE] REASON`, or `ignore-file` above the first key"));
        return None;
    };
    if is_file && !comment.is_on_top {
        let message = "a comment about the whole file stands above its first key";
        let span = place(offset..offset + close + 1);
        about
            .push(Diagnostic::new(&bad_ignore::RULE, span, message).help("move it up, or write `ignore[…]`"));
        return None;
    }
    let rules = rules(body, open..close, |range| place(offset + range.start..offset + range.end), about);
    let reason = body.get(close + 1..).unwrap_or_default();
    let reason = reason.trim().trim_start_matches([':', '-', '–', '—']).trim();
    if !reason.contains(char::is_alphanumeric) {
        let span = place(offset..offset + close + 1);
        let found = Diagnostic::new(&ignore_without_reason::RULE, span, "the comment gives no reason");
        about.push(found.note("ignores nothing").help("write behind the bracket why it may be ignored"));
        return None;
    }
    let line = (!is_file).then(|| target(source, all, comment));
    Some(Directive { comment: comment.clone(), reason: reason.to_owned(), line, rules })
}

/// Whether it is for the file, and where the brackets stand.
fn shape(body: &str) -> Option<(bool, usize, usize)> {
    let open = body.find('[')?;
    let is_file = match body.get(..open)?.trim() {
        "ignore" => false,
        "ignore-file" => true,
        _ => return None,
    };
    let close = open + body.get(open..)?.find(']')?;
    (!body.get(open + 1..close)?.trim().is_empty()).then_some((is_file, open, close))
}

fn rules(
    body: &str,
    brackets: Range<usize>,
    place: impl Fn(Range<usize>) -> Span,
    about: &mut Vec<Diagnostic>,
) -> Vec<Named> {
    let mut named = Vec::new();
    let mut at = brackets.start + 1;
    for part in body.get(at..brackets.end).unwrap_or_default().split(',') {
        let name = part.trim();
        let start = at + (part.len() - part.trim_start().len());
        at += part.len() + 1;
        let span = place(start..start + name.len());
        match settings::rule(name) {
            Ok(rule) => named.push(Named { rule, span, is_used: false }),
            Err(near) => {
                let found = Diagnostic::new(&unknown_rule::RULE, span, format!("there is no rule `{name}`"));
                about.push(match near {
                    Some(_) => found.suggest(name, near, span),
                    None => found.help("`flowright explain` lists the rules"),
                });
            }
        }
    }
    named
}

/// The line that a comment speaks of: its own, or the next that is neither blank nor a comment alone.
fn target(source: &Source, all: &[Comment], comment: &Comment) -> usize {
    let lines = source.lines();
    let own = lines.line_of(comment.span.range().start);
    if comment.is_behind {
        return own;
    }
    let is_comment = |line: usize| {
        all.iter().any(|other| !other.is_behind && lines.line_of(other.span.range().start) == line)
    };
    let is_blank = |line: usize| {
        let text = source.text().get(lines.start_of(line)..lines.start_of(line + 1)).unwrap_or_default();
        text.trim().is_empty()
    };
    let last = lines.count().saturating_sub(1);
    let first = lines.line_of(comment.span.range().end) + 1;
    (first..last).find(|line| !is_comment(*line) && !is_blank(*line)).unwrap_or(last)
}

/// What goes with a comment: its whole line if it stands alone, the blanks before it if not, the comma in JSON.
fn removal(source: &Source, comment: &Comment) -> Span {
    let text = source.text();
    let (mut start, mut end) = (comment.span.range().start, comment.span.range().end);
    let is_key = !source.slice(comment.span).starts_with('#');
    let before = text.get(..start).unwrap_or_default();
    if is_key {
        let behind = text.get(end..).unwrap_or_default();
        let gap = behind.len() - behind.trim_start().len();
        if behind.trim_start().starts_with(',') {
            end += gap + 1;
        } else if before.trim_end().ends_with(',') {
            start = before.trim_end().len() - 1;
            return Span::new(comment.span.file, start, end);
        }
    }
    let blank = before.trim_end_matches([' ', '\t']).len();
    let is_alone =
        blank == 0 || before.get(..blank).is_some_and(|head| head.ends_with(['\n', '\r', '\u{feff}']));
    let tail = text.get(end..).unwrap_or_default();
    let tail_blank = tail.len() - tail.trim_start_matches([' ', '\t']).len();
    let tail_text = tail.get(tail_blank..).unwrap_or_default();
    if is_alone && (tail_text.is_empty() || tail_text.starts_with(['\n', '\r'])) {
        let line_end = if tail_text.starts_with("\r\n") { 2 } else { tail_text.len().min(1) };
        return Span::new(comment.span.file, blank, end + tail_blank + line_end);
    }
    Span::new(comment.span.file, if is_key { start } else { blank }, end)
}
