//! `flowright fmt`: files in one layout. A file is written only if it compiles to the same digest and findings.

use super::{Exit, Failure, definition, output, replace, walk};
use crate::compile;
use crate::diagnostic::Diagnostic;
use crate::fmt::{self, Refusal};
use crate::host::clock::{Clock, RealClock};
use crate::settings::{self, Settings};
use crate::source::{FileId, Sources};
use crate::verdict;
use crate::{parse, report};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflow files, agent files, or folders that are searched for them; `-` formats stdin to stdout
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// Write nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// Write nothing; print what would change, and exit with 1 if something would
    #[arg(long)]
    diff: bool,
    /// The name that a text read from stdin is taken to have: its ending says how it is read
    #[arg(long, value_name = "PATH", default_value = "stdin.yaml")]
    stdin_filename: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut done = Done::default();
    for path in &arguments.paths {
        if path.as_os_str() == "-" {
            done.stdin(arguments)?;
        } else if path.is_dir() {
            for file in walk::files(path) {
                let file = file.map_err(Failure::usage)?;
                if done.excludes(&file) {
                    continue;
                }
                let bytes = definition::read(&file)?;
                let kind = verdict::kind(&file.to_string_lossy(), &bytes);
                if kind.is_some_and(|kind| kind != verdict::Kind::Test) {
                    done.file(&file, bytes, arguments)?;
                }
            }
        } else {
            let bytes = definition::read(path)?;
            if verdict::kind(&path.to_string_lossy(), &bytes) == Some(verdict::Kind::Test) {
                let path = path.display();
                return Err(Failure::usage(format!("{path} is a test file, which has no layout of its own")));
            }
            done.file(path, bytes, arguments)?;
        }
    }
    if done.files == 0 {
        let names: Vec<_> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::usage(format!("there is no workflow and no agent in {}", names.join(", "))));
    }
    Ok(done.finish(arguments))
}

/// What has been done so far.
#[derive(Default)]
struct Done {
    files: usize,
    changed: usize,
    left: usize,
    is_stdin: bool,
    /// Settings by folder.
    settings: HashMap<PathBuf, Settings>,
}

impl Done {
    /// Whether the settings keep a file out of searches.
    fn excludes(&mut self, file: &Path) -> bool {
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        let folder = absolute.parent().unwrap_or(&absolute);
        let settings = self.settings.entry(folder.to_path_buf()).or_insert_with(|| settings::of(folder));
        settings.excludes(&settings::path_from(&settings.folder, &absolute), false)
    }

    fn stdin(&mut self, arguments: &Arguments) -> Result<(), Failure> {
        let bytes = definition::stdin()?;
        self.files += 1;
        self.is_stdin = true;
        let path = &arguments.stdin_filename;
        let Some((old, new)) = self.format(path, bytes) else { return Ok(()) };
        self.changed += usize::from(old != new);
        if !arguments.check && !arguments.diff {
            output::print(&new);
        } else if old != new {
            show(path, &old, &new, arguments);
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, bytes: Vec<u8>, arguments: &Arguments) -> Result<(), Failure> {
        self.files += 1;
        let Some((old, new)) = self.format(path, bytes) else { return Ok(()) };
        if old == new {
            return Ok(());
        }
        self.changed += 1;
        if arguments.check || arguments.diff {
            show(path, &old, &new, arguments);
            return Ok(());
        }
        replace::replace(path, old.as_bytes(), new.as_bytes()).map_err(|why| {
            Failure::new(Exit::Fault, format!("{} cannot be written: {why}", path.display()))
        })?;
        output::line(&format!("formatted {}", path.display()));
        Ok(())
    }

    /// The text and its new form; `None` if it is left alone, which has been said.
    fn format(&mut self, path: &Path, bytes: Vec<u8>) -> Option<(String, String)> {
        let name = path.display().to_string();
        let mut sources = Sources::default();
        let old = match parse::decode(FileId::MAIN, bytes) {
            Ok(old) => old,
            Err(found) => {
                sources.add(&name, "");
                self.leave(&sources, &[*found]);
                return None;
            }
        };
        let why = match fmt::format(&name, &old) {
            Ok(new) if new == old => return Some((old, new)),
            Ok(new) => match difference(path, &old, &new) {
                None => return Some((old, new)),
                Some(why) => why,
            },
            Err(Refusal::Different(why)) => why,
            Err(Refusal::Unreadable(found)) => {
                sources.add(&name, old);
                self.leave(&sources, &found);
                return None;
            }
        };
        self.left += 1;
        eprintln!("flowright: {name} is left as it is: {why}; this is a fault of the formatter");
        None
    }

    fn leave(&mut self, sources: &Sources, found: &[Diagnostic]) {
        self.left += 1;
        let look = report::Look { color: output::color(), width: output::width() };
        let mut text = Vec::new();
        // Writing into memory cannot fail.
        let _ = report::write(report::Format::Human, sources, found, &mut text, look);
        eprint!("{}", String::from_utf8_lossy(&text));
    }

    fn finish(&self, arguments: &Arguments) -> Exit {
        let only_shows = arguments.check || arguments.diff;
        if !self.is_stdin {
            let files = |n: usize| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
            let word = if only_shows { "not formatted" } else { "formatted" };
            let mut words = vec![format!("{} {word}", files(self.changed))];
            words.push(format!("{} unchanged", files(self.files - self.changed - self.left)));
            if self.left > 0 {
                words.push(format!("{} left alone", files(self.left)));
            }
            eprintln!("{}", words.join(" · "));
        }
        let fails = self.left > 0 || (only_shows && self.changed > 0);
        if fails { Exit::Findings } else { Exit::Done }
    }
}

fn show(path: &Path, old: &str, new: &str, arguments: &Arguments) {
    let name = path.display().to_string();
    if !arguments.diff {
        output::line(&output::visible(&name));
        return;
    }
    let diff = similar::TextDiff::from_lines(old, new);
    let mut text = diff.unified_diff();
    output::print(&output::visible(&text.header(&name, &name).to_string()));
}

/// What the new text compiles to otherwise than the old one.
fn difference(path: &Path, old: &str, new: &str) -> Option<&'static str> {
    let (old, new) = (Verdict::of(path, old), Verdict::of(path, new));
    if old.digest != new.digest {
        return Some("its digest would change");
    }
    (old.findings != new.findings).then_some("its findings would change")
}

struct Verdict {
    digest: Option<String>,
    /// Rules and messages, places aside. A message may cite the text, so quotes and blanks do not count.
    findings: Vec<(&'static str, String)>,
}

impl Verdict {
    fn of(path: &Path, text: &str) -> Self {
        let bytes = text.as_bytes().to_vec();
        let is_agent = verdict::kind(&path.to_string_lossy(), &bytes) == Some(verdict::Kind::Agent);
        let package = definition::package(path);
        let main = definition::document(path, bytes, &package);
        let (digest, found) = if is_agent {
            let compiled = compile::compile_agent(main);
            (compiled.agent.map(|agent| agent.digest().to_string()), compiled.diagnostics)
        } else {
            let compiled = compile::compile(main, &package.folder, RealClock.now());
            (compiled.workflow.map(|workflow| workflow.digest().to_string()), compiled.diagnostics)
        };
        let plain = |message: &str| {
            message.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect::<String>()
        };
        let mut findings: Vec<_> =
            found.iter().map(|found| (found.rule.name, plain(&found.message))).collect();
        findings.sort();
        Self { digest, findings }
    }
}
