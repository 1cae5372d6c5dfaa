//! What the front wing has to say, as plain data: [`Diagnostic`], [`Rule`], [`Severity`], [`Label`], [`Fix`].
//!
//! The wording is made where a fault is found; layout belongs to `report`. Nothing here prints.

use crate::source::Span;

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Never stops anything.
    Hint,
    /// Stops only with `--deny warnings`.
    Warning,
    /// The definition cannot be frozen.
    Error,
}

impl Severity {
    /// `error`, `warning`, `hint`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A rule: the kind of a defect. Its name states the defect and is also the name of its page.
#[derive(PartialEq, Eq, Hash)]
pub struct Rule {
    /// kebab-case, for ever.
    pub name: &'static str,
    /// How much it weighs unless the diagnostic says otherwise.
    pub severity: Severity,
    /// One sentence without a full stop, for lists.
    pub summary: &'static str,
    /// The page in `docs/diagnostics/`, which `explain` prints.
    pub page: &'static str,
}

impl std::fmt::Debug for Rule {
    /// The name alone: the page is long.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The kind of defect.
    pub rule: &'static Rule,
    /// Weight of this finding.
    pub severity: Severity,
    /// One sentence that names what is wrong with the author's own words in backticks; no full stop.
    pub message: String,
    /// The exact place.
    pub span: Span,
    /// What stands at the place, in a few words; may be empty.
    pub note: String,
    /// Further places that explain it, in this file or another.
    pub labels: Vec<Label>,
    /// What to do, one sentence.
    pub help: Option<String>,
    /// The key whose absence makes it a fault: where that stands in a line that could not be read, nothing is known.
    pub missing: Option<&'static str>,
    /// A change that mends it.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding of `rule` at `span`, with the rule's own weight.
    #[must_use]
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity,
            message: message.into(),
            span,
            note: String::new(),
            labels: Vec::new(),
            help: None,
            missing: None,
            fix: None,
        }
    }

    /// What stands at the place.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = text.into();
        self
    }

    /// A further place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// It is one only since this key is not there.
    #[must_use]
    pub fn missing(mut self, key: &'static str) -> Self {
        self.missing = Some(key);
        self
    }

    /// What to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The help "did you mean `nearest`?" with a fix that puts it in for `written`, if there is a near name. The
    /// fix is safe only where nothing but a slip of the hand can be meant.
    #[must_use]
    pub fn suggest(self, written: &str, nearest: Option<&str>, span: Span) -> Self {
        let Some(nearest) = nearest else { return self };
        let mut fix = Fix::replace(format!("write `{nearest}`"), span, nearest);
        fix.safe = is_slip(written, nearest);
        self.help(format!("did you mean `{nearest}`?")).fix(fix)
    }

    /// A change that mends it.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}

/// A further place and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// A few words.
    pub text: String,
}

/// A change that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, imperative.
    pub title: String,
    /// Whether it keeps the meaning that the author surely had.
    pub safe: bool,
    /// Replacements that do not overlap.
    pub edits: Vec<Edit>,
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes.
    pub span: Span,
    /// What comes.
    pub text: String,
}

impl Fix {
    /// A safe fix with one replacement.
    #[must_use]
    pub fn replace(title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self { title: title.into(), safe: true, edits: vec![Edit { span, text: text.into() }] }
    }
}

/// The name in `known` that is nearest to `written`, if it is near enough to be meant.
#[must_use]
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written_lower = written.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&written_lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            let len = name.chars().count().max(written.chars().count());
            // Names of one letter have nothing in common but their length.
            *distance <= (len / 3).clamp(1, 4) && (*distance == 0 || *distance < len)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Whether `written` can only be a slip of the hand for `meant`. Names that tell things apart by a number or by a
/// letter of their own, such as `plan-2` or `part-b`, and short words that are another word by one letter are not.
fn is_slip(written: &str, meant: &str) -> bool {
    let parts = |text: &str| text.split(['-', '_']).map(str::to_lowercase).collect::<Vec<_>>();
    let meant = meant.trim_matches('"');
    let (one, other) = (parts(written), parts(meant));
    if one.concat() == other.concat() {
        return true;
    }
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_letter = |(a, b): (&String, &String)| a != b && a.chars().count().max(b.chars().count()) < 3;
    if digits(written) != digits(meant) || (one.len() == other.len() && one.iter().zip(&other).any(is_letter))
    {
        return false;
    }
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let (one, other) = (sorted(written), sorted(meant));
    let len = one.len().max(other.len());
    match strsim::damerau_levenshtein(&written.to_lowercase(), &meant.to_lowercase()) {
        1 if one == other => len > 2,
        1 if one.len() != other.len() => len > 3,
        1 => len > 4,
        2 if one == other => len > 4,
        2 => len > 9,
        _ => false,
    }
}
