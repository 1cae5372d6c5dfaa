//! From the paths of the command line to documents: each file once, in order. Nothing is judged here.

use super::super::definition::{self, Package};
use super::super::{Failure, walk};
use super::Arguments;
use super::projects::Projects;
use crate::cli::walk::Met;
use crate::compile::MainDocument;
use crate::settings::{self, Settings};
use crate::verdict;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A document and all that its verdict depends on but the files of its package.
pub(super) struct Job {
    /// Where it lies; what was read from stdin lies nowhere.
    pub(super) path: Option<PathBuf>,
    pub(super) document: MainDocument,
    pub(super) package: Arc<Package>,
    pub(super) settings: Arc<Settings>,
    /// Its path from the folder of the settings.
    pub(super) place: String,
}

/// What is to be checked.
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    pub(super) unreadable: Vec<(String, String)>,
    /// Folders that were searched.
    pub(super) folders: Vec<PathBuf>,
    pub(super) projects: Projects,
    /// One path is looked at.
    is_single: bool,
    seen: HashSet<PathBuf>,
    packages: HashMap<PathBuf, Arc<Package>>,
}

/// Bytes of the largest file that is looked into. The reader's own limit is far below and gives a finding.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

pub(super) fn plan(arguments: &Arguments, projects: Projects) -> Result<Plan, Failure> {
    let mut plan = Plan {
        jobs: Vec::new(),
        unreadable: Vec::new(),
        folders: Vec::new(),
        projects,
        is_single: arguments.paths.len() == 1,
        seen: HashSet::new(),
        packages: HashMap::new(),
    };
    for path in &arguments.paths {
        if path.as_os_str() == "-" {
            plan.add(&arguments.stdin_filename, definition::stdin()?, false);
        } else if path.is_dir() {
            plan.search(path);
        } else if plan.is_new(path) {
            match read(path) {
                Ok(bytes) => plan.add(path, bytes, true),
                Err(why) => plan.unreadable.push((name(path), why)),
            }
        }
    }
    plan.unreadable.append(&mut plan.projects.unreadable);
    Ok(plan)
}

impl Plan {
    /// A run over nothing is a mistake, and no success.
    pub(super) fn must_hold_something(&self, arguments: &Arguments) -> Result<(), Failure> {
        if !self.jobs.is_empty() || !self.unreadable.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        Err(Failure::usage(format!("there is no workflow and no agent in {}", names.join(", "))))
    }

    fn is_new(&mut self, path: &Path) -> bool {
        // One search meets no file twice, for it follows no links.
        self.is_single || path.canonicalize().map_or(true, |real| self.seen.insert(real))
    }

    fn add(&mut self, path: &Path, bytes: Vec<u8>, is_file: bool) {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let settings = self.projects.of(absolute.parent().unwrap_or(&absolute));
        let place = settings::path_from(&settings.folder, &absolute);
        // As it was typed: that decides how its files are shown.
        let beside = path.parent().unwrap_or(path).to_path_buf();
        let package = self.packages.entry(beside).or_insert_with(|| Arc::new(definition::package(path)));
        let package = Arc::clone(package);
        let document = definition::document(path, bytes, &package);
        let path = is_file.then(|| path.to_path_buf());
        self.jobs.push(Job { path, document, package, settings, place });
    }

    fn search(&mut self, folder: &Path) {
        for met in walk::all(folder) {
            match met {
                Ok(Met::File(path)) => self.found(&path),
                Ok(Met::Folder(path)) => self.folders.extend(std::path::absolute(path)),
                Err(why) => self.unreadable.push((name(folder), why)),
            }
        }
    }

    /// A file that a search has come upon.
    fn found(&mut self, path: &Path) {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let settings = self.projects.of(absolute.parent().unwrap_or(&absolute));
        if settings.excludes(&settings::path_from(&settings.folder, &absolute), false) {
            return;
        }
        match read(path) {
            Ok(bytes) if verdict::kind(&path.to_string_lossy(), &bytes).is_none() => {}
            Ok(bytes) => {
                if self.is_new(path) {
                    self.add(path, bytes, true);
                }
            }
            Err(why) => self.unreadable.push((name(path), why)),
        }
    }
}

/// A path as it is shown.
pub(super) fn name(path: &Path) -> String {
    let shown = path.display().to_string();
    shown.strip_prefix("./").map(str::to_owned).unwrap_or(shown)
}

/// The bytes of a file, or one sentence.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let outcome =
        std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    match outcome {
        Err(error) => Err(format!("{} cannot be read: {error}", name(path))),
        Ok(_) if bytes.len() as u64 > MOST_BYTES => {
            Err(format!("{} is not looked into: it is larger than 16 MiB", name(path)))
        }
        Ok(_) => Ok(bytes),
    }
}
