//! What a project wants of its checks: `.flowright.toml`, read into [`Settings`], and which file counts for a path.
//!
//! Settings move warnings and hints only; an error stays one. Flags of the command line win over them. Nothing here
//! looks at a definition.

mod read;

use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::{FileId, Source};
use crate::{check, parse};
use ignore::gitignore::Gitignore;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use read::read;

/// The name of the file.
pub const FILE: &str = ".flowright.toml";

/// What the settings and flags say.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The folder of the file; paths in it count from there.
    pub folder: PathBuf,
    /// What the file says, so that it can be told whether it has changed.
    pub text: String,
    /// Whether warnings fail a check as errors do.
    pub deny_warnings: bool,
    /// How findings are printed.
    pub format: Option<String>,
    /// Rules that are not reported.
    pub ignore: Vec<&'static Rule>,
    /// The weight of rules; `None` is not reported.
    pub severity: BTreeMap<&'static str, Option<Severity>>,
    /// If any, then of warnings and hints only these are reported, whatever else the settings say.
    pub select: Option<Vec<&'static Rule>>,
    exclude: Globs,
    paths: Vec<ForPaths>,
}

/// Rules that are not reported in some files.
#[derive(Clone, Debug)]
struct ForPaths {
    files: Globs,
    ignore: Vec<&'static Rule>,
}

/// Patterns as in `.gitignore`.
#[derive(Clone, Debug, Default)]
struct Globs(Option<Gitignore>);

impl Globs {
    fn hold(&self, path: &str, is_folder: bool) -> bool {
        let is_inside = !path.is_empty() && !path.starts_with("..") && !path.starts_with('/');
        let Some(globs) = self.0.as_ref().filter(|_| is_inside) else { return false };
        globs.matched_path_or_any_parents(path, is_folder).is_ignore()
    }
}

impl Settings {
    /// Nothing set, for the files of a folder.
    #[must_use]
    pub fn of_folder(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), ..Self::default() }
    }

    /// Whether a folder search passes over a path, given from the folder of the settings, with `/`.
    #[must_use]
    pub fn excludes(&self, path: &str, is_folder: bool) -> bool {
        self.exclude.hold(path, is_folder)
    }

    /// The finding as it counts in a file, `None` if it is not reported there. Errors are never changed.
    #[must_use]
    pub fn apply(&self, mut found: Diagnostic, path: &str) -> Option<Diagnostic> {
        if found.severity == Severity::Error {
            return Some(found);
        }
        let weight = self.severity.get(found.rule.name).copied();
        if let Some(select) = &self.select {
            if !select.contains(&found.rule) {
                return None;
            }
        } else if weight == Some(None) || self.ignores(found.rule, path) {
            return None;
        }
        if let Some(Some(weight)) = weight {
            found.severity = weight;
        }
        Some(found)
    }

    fn ignores(&self, rule: &'static Rule, path: &str) -> bool {
        let here = self.paths.iter().filter(|one| one.ignore.contains(&rule));
        self.ignore.contains(&rule) || here.into_iter().any(|one| one.files.hold(path, false))
    }
}

/// Rules that are errors, but of which some findings weigh less: in an agent that names no base, say. These findings
/// can be moved; what is an error stays one.
const SOMETIMES_LIGHTER: [&str; 3] = ["unknown-key", "swallowed-comment", "unknown-tool"];

/// Whether a rule gives nothing but errors, so that settings cannot move it.
#[must_use]
pub fn is_always_an_error(rule: &Rule) -> bool {
    rule.severity == Severity::Error && !SOMETIMES_LIGHTER.contains(&rule.name)
}

/// All rules, in no order.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    parse::rules::ALL.iter().chain(check::ALL).copied()
}

/// The rule of a name.
///
/// # Errors
/// The nearest name, if one is near.
pub fn rule(name: &str) -> Result<&'static Rule, Option<&'static str>> {
    rules().find(|rule| rule.name == name).ok_or_else(|| nearest(name, rules().map(|rule| rule.name)))
}

/// The settings that count for the files of a folder, for whoever does not report what is wrong with them: without a
/// file that can be read they are the usual ones.
#[must_use]
pub fn of(folder: &Path) -> Settings {
    let text = locate(folder).and_then(|file| Some((std::fs::read_to_string(&file).ok()?, file)));
    let Some((text, file)) = text else { return Settings::of_folder(folder) };
    let source = Source::new(FileId::MAIN, FILE, text);
    read(&source, file.parent().unwrap_or(folder)).0
}

/// The settings that count for a file: the nearest upward. The search ends at the root of the repository; outside of
/// one at the root of the package; without either at the root of the file system.
#[must_use]
pub fn locate(folder: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let repository = absolute.ancestors().find(|dir| dir.join(".git").exists());
    let package = || absolute.ancestors().find(|dir| check_manifest(dir));
    let last = repository.or_else(package);
    for dir in absolute.ancestors() {
        let file = dir.join(FILE);
        if file.is_file() {
            return Some(file);
        }
        if Some(dir) == last {
            break;
        }
    }
    None
}

fn check_manifest(dir: &Path) -> bool {
    ["package.toml", "plugin.json"].iter().any(|name| dir.join(name).is_file())
}

/// A path from the folder of the settings, with `/` and without `.` and `..`; both must be absolute.
#[must_use]
pub fn path_from(folder: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
