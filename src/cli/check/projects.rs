//! Settings for files: each `.flowright.toml` is read once, and flags are laid over it.

use super::super::Failure;
use super::{Arguments, Deny};
use crate::diagnostic::{Diagnostic, Rule};
use crate::settings::{self, Settings};
use crate::source::{FileId, Sources};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All settings of one run.
pub(super) struct Projects {
    flags: Flags,
    by_folder: HashMap<PathBuf, Arc<Settings>>,
    by_file: HashMap<PathBuf, Arc<Settings>>,
    /// What is wrong with the files, a file each.
    pub(super) findings: Vec<(Sources, Vec<Diagnostic>)>,
    /// Files that could not be read.
    pub(super) unreadable: Vec<(String, String)>,
}

struct Flags {
    deny: Option<Deny>,
    select: Option<Vec<&'static Rule>>,
    ignore: Vec<&'static Rule>,
    no_settings: bool,
}

impl Projects {
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let select = arguments.select.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
        let ignore = arguments.ignore.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(error) = ignore.iter().find(|rule| settings::is_always_an_error(rule)) {
            let message = format!("`{}` is an error and cannot be ignored", error.name);
            return Err(Failure::usage(message));
        }
        let flags = Flags {
            deny: arguments.deny,
            select: (!select.is_empty()).then_some(select),
            ignore,
            no_settings: arguments.no_settings,
        };
        Ok(Self {
            flags,
            by_folder: HashMap::new(),
            by_file: HashMap::new(),
            findings: Vec::new(),
            unreadable: Vec::new(),
        })
    }

    /// The settings that count for the files of a folder.
    pub(super) fn of(&mut self, folder: &Path) -> Arc<Settings> {
        if let Some(known) = self.by_folder.get(folder) {
            return Arc::clone(known);
        }
        let file = if self.flags.no_settings { None } else { settings::locate(folder) };
        let settings = match file {
            Some(file) => self.read(&file),
            None => Arc::new(self.flagged(Settings::of_folder(folder))),
        };
        self.by_folder.insert(folder.to_path_buf(), Arc::clone(&settings));
        settings
    }

    fn read(&mut self, file: &Path) -> Arc<Settings> {
        if let Some(known) = self.by_file.get(file) {
            return Arc::clone(known);
        }
        let folder = file.parent().unwrap_or(file);
        let name = shown(file);
        let mut settings = Settings::of_folder(folder);
        match std::fs::read(file) {
            Ok(bytes) => {
                let mut sources = Sources::default();
                let found = match crate::parse::decode(FileId::MAIN, bytes) {
                    Ok(text) => {
                        let source = sources.add(name, text);
                        let (own, found) = settings::read(&source, folder);
                        settings = own;
                        found
                    }
                    Err(found) => {
                        sources.add(name, "");
                        vec![*found]
                    }
                };
                self.findings.push((sources, found));
            }
            Err(error) => self.unreadable.push((name.clone(), format!("{name} cannot be read: {error}"))),
        }
        let settings = Arc::new(self.flagged(settings));
        self.by_file.insert(file.to_path_buf(), Arc::clone(&settings));
        settings
    }

    fn flagged(&self, mut settings: Settings) -> Settings {
        if let Some(deny) = self.flags.deny {
            settings.deny_warnings = deny == Deny::Warnings;
        }
        settings.ignore.extend(&self.flags.ignore);
        if let Some(select) = &self.flags.select {
            // What is ignored by a flag stays so.
            let kept = select.iter().filter(|rule| !self.flags.ignore.contains(rule));
            settings.select = Some(kept.copied().collect());
        }
        settings
    }
}

fn named(name: &str) -> Result<&'static Rule, Failure> {
    settings::rule(name.trim()).map_err(|near| {
        let hint = near.map_or_else(
            || "`flowright explain` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        Failure::usage(format!("there is no rule `{}`; {hint}", name.trim()))
    })
}

/// A path as people write it here: from the current folder if it lies below.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
