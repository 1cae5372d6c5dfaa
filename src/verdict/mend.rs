//! Applies the fixes of findings to a document until nothing more can be mended. A fix counts only if its finding is
//! gone afterwards and there are not more errors than before. Nothing is written here.

use super::{Under, Verdict, judge};
use crate::compile::{Files, MainDocument};
use crate::diagnostic::{Diagnostic, Edit, Rule, Severity};
use crate::parse::rules;
use crate::source::{FileId, Span};
use crate::time::Timestamp;
use std::collections::{BTreeMap, HashSet};

/// Passes over one document. A fix may make room for another; it does not do so for ever.
const MOST_ROUNDS: usize = 32;

/// Which fixes are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Those that keep what the author surely meant.
    Safe,
    /// All.
    Unsafe,
}

/// A mended document.
#[derive(Debug)]
pub struct Mended {
    /// The document before; `None` if its bytes are no text.
    pub before: Option<String>,
    /// The document now.
    pub text: String,
    /// Findings that were mended, by rule.
    pub fixed: BTreeMap<&'static str, usize>,
    /// What is left.
    pub verdict: Verdict,
}

impl Mended {
    /// How many findings were mended.
    #[must_use]
    pub fn count(&self) -> usize {
        self.fixed.values().sum()
    }

    /// Whether the document is another one now.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.before.as_ref().is_some_and(|before| *before != self.text)
    }
}

/// Rules about the text itself. While one is broken, what stands there is not judged; mending it brings to light what
/// it hid, and that is no fault of the fix.
const ABOUT_THE_TEXT: [&Rule; 16] = [
    &rules::CONTROL_CHARACTER,
    &rules::SYNTAX_ERROR,
    &rules::TAB_INDENTATION,
    &rules::SECOND_DOCUMENT,
    &rules::ANCHOR_OR_ALIAS,
    &rules::TAG,
    &rules::MERGE_KEY,
    &rules::DUPLICATE_KEY,
    &rules::KEY_NOT_TEXT,
    &rules::NUMBER_NOT_JSON,
    &rules::SWALLOWED_COMMENT,
    &rules::COLON_IN_PLAIN_TEXT,
    &rules::UNQUOTED_CRON,
    &rules::UNQUOTED_BINDING,
    &rules::UNQUOTED_INDICATOR,
    &rules::SCALAR_TOO_LONG,
];

/// Mends a document.
#[must_use]
pub fn mend(
    main: &MainDocument,
    files: &dyn Files,
    under: Under<'_>,
    as_of: Timestamp,
    level: Level,
) -> Mended {
    let judge_text = |text: &str| {
        let document = MainDocument { bytes: text.as_bytes().to_vec(), ..main.clone() };
        judge(document, files, under, as_of)
    };
    let Ok(before) = String::from_utf8(main.bytes.clone()) else {
        let verdict = judge(main.clone(), files, under, as_of);
        return Mended { before: None, text: String::new(), fixed: BTreeMap::new(), verdict };
    };
    let mut now = Mended {
        verdict: judge_text(&before),
        text: before.clone(),
        before: Some(before),
        fixed: BTreeMap::new(),
    };
    let mut refused = HashSet::new();
    for _ in 0..MOST_ROUNDS {
        let candidates = candidates(&now.verdict, level, &refused);
        let chosen = compatible(&candidates);
        if chosen.is_empty() {
            break;
        }
        // All at once; if that does not go well, one after another.
        if let Some(next) = attempt(&now, &chosen, judge_text) {
            now = next;
            continue;
        }
        let one = candidates.iter().find_map(|one| {
            let next = attempt(&now, &[*one], judge_text);
            if next.is_none() {
                refused.insert(key(one));
            }
            next
        });
        match one {
            Some(next) => now = next,
            None => break,
        }
    }
    now
}

/// What a finding is called whose place has moved.
type Key = (&'static str, String);

fn key(found: &Diagnostic) -> Key {
    (found.rule.name, found.message.clone())
}

/// Findings with a fix of this document that may be applied, in the order of their places.
fn candidates<'v>(verdict: &'v Verdict, level: Level, refused: &HashSet<Key>) -> Vec<&'v Diagnostic> {
    let edits = |found: &'v Diagnostic| {
        let fix = found.fix.as_ref().filter(|fix| fix.safe || level == Level::Unsafe)?;
        let is_here = fix.edits.iter().all(|edit| edit.span.file == FileId::MAIN);
        (is_here && !fix.edits.is_empty()).then_some(&fix.edits)
    };
    let first =
        |found: &'v Diagnostic| edits(found).and_then(|edits| edits.iter().map(|edit| edit.span).min());
    let usable = verdict.diagnostics.iter().filter(|found| edits(found).is_some());
    let mut all: Vec<_> = usable.filter(|found| !refused.contains(&key(found))).collect();
    all.sort_by_key(|found| (first(found), found.rule.name, key(found)));
    all
}

/// As many of them as do not touch each other, the first first.
fn compatible<'v>(candidates: &[&'v Diagnostic]) -> Vec<&'v Diagnostic> {
    let mut taken: Vec<Span> = Vec::new();
    let mut chosen = Vec::new();
    for found in candidates {
        let spans: Vec<Span> = edits(found).map(|edit| edit.span).collect();
        let touches = |one: &Span| taken.iter().any(|other| one.start <= other.end && other.start <= one.end);
        if !spans.iter().any(touches) {
            taken.extend(spans);
            chosen.push(*found);
        }
    }
    chosen
}

fn edits(found: &Diagnostic) -> impl Iterator<Item = &Edit> {
    found.fix.iter().flat_map(|fix| &fix.edits)
}

/// The document with these fixes, if they do what they promise.
fn attempt(now: &Mended, chosen: &[&Diagnostic], judge: impl Fn(&str) -> Verdict) -> Option<Mended> {
    let text = replaced(&now.text, chosen)?;
    let verdict = judge(&text);
    let (before, after) = (counted(&now.verdict, |_| true), counted(&verdict, |_| true));
    let mut promised: BTreeMap<Key, usize> = BTreeMap::new();
    for found in chosen {
        *promised.entry(key(found)).or_default() += 1;
    }
    let is_gone = promised.iter().all(|(key, count)| {
        after.get(key).copied().unwrap_or(0) + count <= before.get(key).copied().unwrap_or(0)
    });
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    let about_text = |found: &Diagnostic| is_error(found) && ABOUT_THE_TEXT.contains(&found.rule);
    let total = |verdict: &Verdict| verdict.diagnostics.iter().filter(|found| is_error(found)).count();
    // What a finding has hidden may take its place, but there is never more that is wrong than before.
    let reveals = chosen.iter().any(|found| ABOUT_THE_TEXT.contains(&found.rule));
    let is_readable = counted(&verdict, about_text)
        .iter()
        .all(|(key, count)| *count <= before.get(key).copied().unwrap_or(0));
    let is_sound = is_readable && (reveals || total(&verdict) <= total(&now.verdict));
    if !is_gone || !is_sound {
        return None;
    }
    let mut fixed = now.fixed.clone();
    for found in chosen {
        *fixed.entry(found.rule.name).or_default() += 1;
    }
    Some(Mended { before: now.before.clone(), text, fixed, verdict })
}

fn counted(verdict: &Verdict, counts: impl Fn(&Diagnostic) -> bool) -> BTreeMap<Key, usize> {
    let mut all = BTreeMap::new();
    for found in verdict.diagnostics.iter().filter(|found| counts(found)) {
        *all.entry(key(found)).or_default() += 1;
    }
    all
}

/// The text with the edits of these findings; line ends become those of the text.
fn replaced(text: &str, chosen: &[&Diagnostic]) -> Option<String> {
    let mut all: Vec<&Edit> = chosen.iter().flat_map(|found| edits(found)).collect();
    all.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let has_returns = text.contains("\r\n");
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in all {
        let range = edit.span.range();
        out.push_str(text.get(at..range.start)?);
        text.get(range.clone())?;
        if has_returns && edit.text.contains('\n') {
            out.push_str(&edit.text.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            out.push_str(&edit.text);
        }
        at = range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
