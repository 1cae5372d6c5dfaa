//! Pages of rules as files, so that an editor can open the page of a finding: written when first pointed to, never
//! read back. A folder that cannot be written to means that findings point nowhere, and nothing else.

use super::uri;
use crate::diagnostic::Rule;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

#[derive(Default)]
pub(super) struct Pages {
    folder: Option<PathBuf>,
    known: RefCell<HashMap<&'static str, Option<String>>>,
}

impl Pages {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, known: RefCell::default() }
    }

    /// The address of a rule's page.
    pub(super) fn address(&self, rule: &'static Rule) -> Option<String> {
        let write = || self.write(rule);
        self.known.borrow_mut().entry(rule.name).or_insert_with(write).clone()
    }

    fn write(&self, rule: &'static Rule) -> Option<String> {
        let path = self.folder.as_ref()?.join(format!("{}.md", rule.name));
        if std::fs::read(&path).ok().as_deref() != Some(rule.page.as_bytes()) {
            std::fs::create_dir_all(path.parent()?).ok()?;
            std::fs::write(&path, rule.page).ok()?;
        }
        Some(uri::of(&path))
    }
}
