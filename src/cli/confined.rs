//! The hidden verb that puts the walls of isolation around its own process and then becomes the program.

use super::{Exit, Failure};
use crate::host::isolate::landlock::Profile;
use std::path::PathBuf;

/// Words of `flowright confined`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The walls, as JSON.
    profile: String,
    /// The program, which gets no words.
    program: PathBuf,
}

/// Becomes the program, or says why not. Walls that cannot be put up let nothing run.
pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let profile: Profile = serde_json::from_str(&arguments.profile)
        .map_err(|error| Failure::usage(format!("these walls cannot be read: {error}")))?;
    profile.confine().map_err(|why| Failure::new(Exit::Refused, why))?;
    Err(become_program(&arguments.program))
}

#[cfg(unix)]
fn become_program(program: &std::path::Path) -> Failure {
    use std::os::unix::process::CommandExt as _;
    let error = std::process::Command::new(program).exec();
    Failure::new(Exit::Findings, format!("{} cannot be started: {error}", program.display()))
}

#[cfg(not(unix))]
fn become_program(program: &std::path::Path) -> Failure {
    Failure::new(Exit::Refused, format!("{} cannot be confined on this system", program.display()))
}
