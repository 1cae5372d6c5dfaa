//! The manifest of a package: `package.toml`, or `plugin.json`, whose other keys belong to other tools.

use semver::Version;
use serde::Deserialize;

/// File names of manifests; the first that is there counts.
pub const NAMES: [&str; 2] = ["package.toml", "plugin.json"];
/// Characters of a name at most.
const NAME_CHARS: usize = 64;

/// What a package says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Lower-case letters, digits and `-`.
    pub name: String,
    /// A semantic version without build metadata, which would make two names of one version.
    pub version: Version,
    /// One line for people.
    pub description: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    name: String,
    version: String,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Plugin {
    name: String,
    version: String,
    description: Option<String>,
}

impl Manifest {
    /// Reads the manifest that is named `file`.
    ///
    /// # Errors
    /// One sentence without its subject, with the place where the text is wrong.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
        let (name, version, description) = if file == NAMES[1] {
            let read: Plugin =
                serde_json::from_str(text).map_err(|error| format!("cannot be read: {error}"))?;
            (read.name, read.version, read.description)
        } else {
            let read: Toml = toml::from_str(text).map_err(|error| {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                format!("cannot be read: line {line}: {}", error.message())
            })?;
            (read.name, read.version, read.description)
        };
        check_name(&name)?;
        let version = check_version(&version)?;
        let description = description.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if description.as_ref().is_some_and(|text| text.contains(char::is_control)) {
            return Err("has a `description` of more than one line".to_owned());
        }
        Ok(Self { name, version, description })
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Whether a text can be the name of a package.
///
/// # Errors
/// Why it cannot, as the end of a sentence.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if begins && !name.ends_with('-') && name.chars().all(is_plain) && name.len() <= NAME_CHARS {
        return Ok(());
    }
    Err(format!(
        "has the name `{}`; a name is up to {NAME_CHARS} lower-case letters, digits and `-`, a letter first",
        name.escape_debug()
    ))
}

/// Reads a version.
///
/// # Errors
/// Why it is none, as the end of a sentence.
pub fn check_version(text: &str) -> Result<Version, String> {
    let version = Version::parse(text)
        .map_err(|error| format!("has the version `{}`, which is none: {error}", text.escape_debug()))?;
    if version.build.is_empty() {
        Ok(version)
    } else {
        Err(format!("has the version `{text}`; what stands behind `+` would make two names of one version"))
    }
}
