//! `flowright check`: finds what is wrong with files and folders, and mends what it can.
//!
//! `search` finds the documents, `judged` gives each its verdict, `print` shows them; nothing here knows a rule.

mod diff;
mod judged;
mod mend;
mod print;
mod projects;
mod search;
mod watch;

use super::{Exit, Failure};
use crate::host::clock::{Clock, RealClock};
use clap::ValueEnum;
use judged::Judged;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("mending").args(["fix", "diff"]).multiple(true))]
pub(super) struct Arguments {
    /// Workflow files, agent files, or folders that are searched for them; `-` reads a document from stdin. A folder
    /// search passes over hidden folders, `node_modules`, `target`, what `.gitignore` and `.ignore` name and what the
    /// settings exclude; a file that is named here is always checked
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How findings are printed [default: human on a terminal, else short]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Let warnings fail the check as errors do
    #[arg(long, value_name = "WHAT", value_enum)]
    deny: Option<Deny>,
    /// Of warnings and hints report only these rules; errors are always reported
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,
    /// Do not report these rules; errors are always reported
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Take no notice of .flowright.toml
    #[arg(long)]
    no_settings: bool,
    /// Mend what can be mended without a change of meaning; with `-` the mended text goes to stdout
    #[arg(long)]
    fix: bool,
    /// Apply fixes as well that may change the meaning; with --fix or --diff
    #[arg(long, requires = "mending")]
    unsafe_fixes: bool,
    /// Show what --fix would change, and change nothing; ends with 1 if there is something
    #[arg(long)]
    diff: bool,
    /// Check again whenever something changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["fix", "diff"])]
    watch: bool,
    /// Print how often each rule was broken instead of the findings
    #[arg(long)]
    statistics: bool,
    /// The name that a document read from stdin is taken to have; agents and settings are looked for from its folder
    #[arg(long, value_name = "PATH", default_value = "stdin.yaml")]
    stdin_filename: PathBuf,
    /// Print how many agent runs there can be between two waits
    #[arg(long)]
    explain_bounds: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// With the source around each place
    Human,
    /// A line each
    Short,
    /// Versioned JSON
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations for GitHub's log
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// JUnit's XML
    Junit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Warnings
    Warnings,
    /// Nothing, whatever the settings say
    Nothing,
}

/// Checks agent files as `check` does.
pub(super) fn agents(files: &[PathBuf], json: bool) -> Result<Exit, Failure> {
    for file in files {
        if !file.is_file() {
            return Err(Failure::usage(format!("{} is no file", file.display())));
        }
    }
    let mut words: Vec<std::ffi::OsString> = vec!["check".into()];
    if json {
        words.push("--json".into());
    }
    words.push("--".into());
    words.extend(files.iter().map(|file| file.clone().into_os_string()));
    let command = <Arguments as clap::Args>::augment_args(clap::Command::new("check"));
    let matches = command.try_get_matches_from(words).map_err(|error| Failure::usage(error.to_string()))?;
    let arguments = <Arguments as clap::FromArgMatches>::from_arg_matches(&matches)
        .map_err(|error| Failure::usage(error.to_string()))?;
    run(&arguments)
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if arguments.watch {
        return watch::run(arguments);
    }
    let as_of = RealClock.now();
    let mut plan = search::plan(arguments, projects::Projects::new(arguments)?)?;
    plan.must_hold_something(arguments)?;
    if arguments.diff {
        return Ok(mend::diff(&plan, arguments, as_of));
    }
    let fixed = arguments.fix.then(|| mend::mend(&mut plan, arguments, as_of));
    let judged = judged::all(&plan.jobs, arguments, as_of);
    let judged: Vec<&Judged> = judged.iter().collect();
    Ok(print::all(&plan, &judged, arguments, fixed))
}
