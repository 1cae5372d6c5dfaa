//! `--watch`: checks again what a change can have changed, until Ctrl-C.
//!
//! Events only wake it. Whether a verdict still holds is decided by what it was made of: the document, the settings and
//! every answer that the package has given. So an event that is missed or comes twice does no harm.

use super::super::{Exit, Failure, output};
use super::judged::{Judged, judge_with};
use super::projects::Projects;
use super::search::{Job, Plan, plan};
use super::{Arguments, print};
use crate::compile::{FileError, Files};
use crate::host::clock::{Clock, RealClock};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Changes come in swarms; this long without one is the end of a swarm.
const QUIET_MS: u64 = 50;
/// A swarm without an end is looked at nevertheless.
const LONGEST_SWARM_MS: u64 = 1000;

enum Wake {
    Changed,
    Interrupted,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if arguments.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::usage("stdin cannot be watched"));
    }
    let fault =
        |what: &str, error: &dyn std::fmt::Display| Failure::new(Exit::Fault, format!("{what}: {error}"));
    let (sender, wakes) = channel();
    interrupts(sender.clone()).map_err(|error| fault("Ctrl-C cannot be waited for", &error))?;
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading is no change; our own reading least of all. What went wrong is looked at as a change.
        if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
            // Nobody listens any more once the loop has ended.
            let _ = sender.send(Wake::Changed);
        }
    })
    .map_err(|error| fault("changes cannot be waited for", &error))?;
    let mut watch = Watch { watcher, folders: HashSet::new(), known: HashMap::new(), last: None };
    loop {
        let plan = plan(arguments, Projects::new(arguments)?)?;
        let is_other = watch.judge(&plan, arguments);
        // What is newly watched may have changed before it was: look again.
        if watch.follow(&plan) {
            continue;
        }
        if is_other {
            watch.show(&plan, arguments);
        }
        if wait(&wakes) {
            return Ok(Exit::Done);
        }
    }
}

/// Sends on what Ctrl-C says.
fn interrupts(sender: Sender<Wake>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    std::thread::spawn(move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            // Nobody listens any more once the loop has ended.
            let _ = sender.send(Wake::Interrupted);
        }
    });
    Ok(())
}

/// Waits for a change and the end of its swarm; true if it is to end.
fn wait(wakes: &Receiver<Wake>) -> bool {
    if !matches!(wakes.recv(), Ok(Wake::Changed)) {
        return true;
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(LONGEST_SWARM_MS) {
        match wakes.recv_timeout(Duration::from_millis(QUIET_MS)) {
            Ok(Wake::Changed) => {}
            Ok(Wake::Interrupted) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    false
}

struct Watch {
    watcher: RecommendedWatcher,
    folders: HashSet<PathBuf>,
    known: HashMap<PathBuf, Known>,
    /// What was shown last: the documents and what could not be read.
    last: Option<Shown>,
}

type Shown = (Vec<PathBuf>, Vec<(String, String)>, Vec<String>);

/// A verdict and all that it was made of.
struct Known {
    bytes: Vec<u8>,
    /// The folder and the text of the settings.
    settings: (PathBuf, String),
    answers: Answers,
    judged: Judged,
}

impl Watch {
    /// Judges what has no verdict that holds; true if there is something new to show.
    fn judge(&mut self, plan: &Plan, arguments: &Arguments) -> bool {
        let mut is_other = false;
        for job in &plan.jobs {
            let Some(path) = &job.path else { continue };
            if self.known.get(path).is_some_and(|known| known.holds(job)) {
                continue;
            }
            is_other = true;
            let files = Recorded { files: &job.package.folder, answers: RefCell::default() };
            let judged = judge_with(job, &files, arguments, RealClock.now());
            let answers = files.answers.into_inner();
            let settings = (job.settings.folder.clone(), job.settings.text.clone());
            let bytes = job.document.bytes.clone();
            self.known.insert(path.clone(), Known { bytes, settings, answers, judged });
        }
        let now = shown(plan);
        is_other |= self.last.as_ref() != Some(&now);
        self.known.retain(|path, _| now.0.contains(path));
        if is_other {
            // Shown only once everything is watched; until then there is something to show.
            self.last = None;
        }
        is_other
    }

    /// Watches all folders that matter; true if one is new.
    fn follow(&mut self, plan: &Plan) -> bool {
        let mut wanted: HashSet<PathBuf> = plan.folders.iter().cloned().collect();
        for job in &plan.jobs {
            wanted.insert(job.settings.folder.clone());
            wanted.extend(job.path.iter().filter_map(|path| folder_of(path)));
            let real = job.path.as_ref().and_then(|path| path.canonicalize().ok());
            wanted.extend(real.and_then(|path| folder_of(&path)));
            let known = job.path.as_ref().and_then(|path| self.known.get(path));
            let asked = known.into_iter().flat_map(|known| known.answers.keys());
            wanted.extend(asked.filter_map(|(_, path)| nearest_folder(&job.package.root, path)));
        }
        wanted.retain(|folder| folder.is_dir());
        let mut is_new = false;
        for folder in &wanted {
            if !self.folders.contains(folder) {
                // A folder that cannot be watched is checked with the others whenever something changes.
                let _ = self.watcher.watch(folder, RecursiveMode::NonRecursive);
                is_new = true;
            }
        }
        for gone in self.folders.difference(&wanted) {
            // It may be gone from the disk as well.
            let _ = self.watcher.unwatch(gone);
        }
        self.folders = wanted;
        is_new
    }

    fn show(&mut self, plan: &Plan, arguments: &Arguments) {
        if std::io::stdout().is_terminal() {
            output::print("\u{1b}[2J\u{1b}[3J\u{1b}[H");
        }
        let own = plan.jobs.iter().filter_map(|job| self.known.get(job.path.as_ref()?));
        let judged: Vec<&Judged> = own.map(|known| &known.judged).collect();
        print::all(plan, &judged, arguments, None);
        output::progress("watching; Ctrl-C ends it");
        self.last = Some(shown(plan));
    }
}

fn shown(plan: &Plan) -> Shown {
    let paths = plan.jobs.iter().filter_map(|job| job.path.clone()).collect();
    let settings = plan.projects.findings.iter().map(|(_, found)| format!("{found:?}")).collect();
    (paths, plan.unreadable.clone(), settings)
}

impl Known {
    fn holds(&self, job: &Job) -> bool {
        self.bytes == job.document.bytes
            && self.settings.0 == job.settings.folder
            && self.settings.1 == job.settings.text
            && self
                .answers
                .iter()
                .all(|((question, path), answer)| question.ask(&job.package.folder, path) == *answer)
    }
}

fn folder_of(path: &Path) -> Option<PathBuf> {
    std::path::absolute(path).ok()?.parent().map(Path::to_path_buf)
}

/// The folder of a file of a package, or the nearest above it that is there.
fn nearest_folder(root: &Path, package_path: &str) -> Option<PathBuf> {
    let path = root.join(package_path);
    path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_path_buf)
}

/// What a verdict has asked its package, and what it was told.
type Answers = BTreeMap<(Question, String), Answer>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Read,
    List,
    IsExecutable,
}

#[derive(PartialEq)]
enum Answer {
    Read(Result<Vec<u8>, FileError>),
    List(Vec<String>),
    IsExecutable(Option<bool>),
}

impl Question {
    fn ask(self, files: &dyn Files, path: &str) -> Answer {
        match self {
            Self::Read => Answer::Read(files.read(path)),
            Self::List => Answer::List(files.list(path)),
            Self::IsExecutable => Answer::IsExecutable(files.is_executable(path)),
        }
    }
}

/// A package that remembers what it was asked.
struct Recorded<'a> {
    files: &'a dyn Files,
    answers: RefCell<Answers>,
}

impl Recorded<'_> {
    fn keep(&self, question: Question, path: &str, answer: Answer) {
        self.answers.borrow_mut().insert((question, path.to_owned()), answer);
    }
}

impl Files for Recorded<'_> {
    fn read(&self, package_path: &str) -> Result<Vec<u8>, FileError> {
        let answer = self.files.read(package_path);
        self.keep(Question::Read, package_path, Answer::Read(answer.clone()));
        answer
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let answer = self.files.list(dir);
        // What it is asked about is what lies in the folder.
        self.keep(Question::List, dir, Answer::List(answer.clone()));
        answer
    }

    fn is_executable(&self, package_path: &str) -> Option<bool> {
        let answer = self.files.is_executable(package_path);
        self.keep(Question::IsExecutable, package_path, Answer::IsExecutable(answer));
        answer
    }

    fn shown(&self, package_path: &str) -> String {
        self.files.shown(package_path)
    }
}
