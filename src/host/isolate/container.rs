//! A container as runner, through the program of `docker` or one that takes the same words. The container has no
//! network, no rights, no writable files but a small `/tmp`, and does not outlive its call.

use super::envelope::Envelope;
use super::{judged, said};
use crate::host::perform::{Output, ToolRequest};
use crate::host::tool::bash::timeout_of;
use crate::host::tool::process::{Inherit, Run, run_with};
use crate::host::tool::toolbox::Kit;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Without another one in the operator's configuration.
const PROGRAM: &str = "docker";
/// How long the container program may take to say that it works.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);
/// What every container runs under, behind `run`.
pub const FLAGS: [&str; 22] = [
    "--rm",
    "--interactive",
    "--network",
    "none",
    "--read-only",
    "--tmpfs",
    "/tmp:rw,noexec,nosuid,nodev,size=64m",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    "--user",
    "65534:65534",
    "--pids-limit",
    "256",
    "--memory",
    "1g",
    "--memory-swap",
    "1g",
    "--cpus",
    "2",
    "--log-driver=none",
];

/// Whether the container program is there and answers.
///
/// # Errors
/// What is missing, in one sentence.
pub(super) async fn possible(kit: &Kit, image: &str) -> Result<(), String> {
    named(image)?;
    let program = program(kit)?;
    let run = Run {
        program: &program,
        arguments: ["version", "--format", "{{.Server.Version}}"].map(str::to_owned).to_vec(),
        environment: Vec::new(),
        folder: Path::new("/"),
        input: Vec::new(),
        timeout: VERSION_TIMEOUT,
    };
    let finished = run_with(run, Inherit::Operator).await?;
    if finished.timed_out {
        return Err(format!(
            "the container program {} did not answer within {} s",
            program.display(),
            VERSION_TIMEOUT.as_secs()
        ));
    }
    if finished.code == Some(0) {
        return Ok(());
    }
    Err(format!("the container program {} does not work{}", program.display(), said(&finished.errors)))
}

/// An image is named by its name: nothing that the container program would take for an option.
fn named(image: &str) -> Result<(), String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if image.starts_with(|c: char| c.is_ascii_alphanumeric()) && image.chars().all(is_name) {
        Ok(())
    } else {
        Err(format!("`{image}` is no name of an image"))
    }
}

/// Where the container program lies.
fn program(kit: &Kit) -> Result<PathBuf, String> {
    let name = kit.allowed.docker.as_deref().unwrap_or(PROGRAM);
    let path = Path::new(name);
    if path.components().count() > 1 {
        return if path.is_file() {
            Ok(path.to_path_buf())
        } else {
            Err(format!("the container program {name} is not there"))
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        format!(
            "the container program `{name}` is not on the PATH; install it, or name another as `docker` in the \
             configuration"
        )
    })
}

pub(super) async fn run(kit: &Kit, request: &ToolRequest, image: &str, envelope: &Envelope) -> Output {
    let program = match named(image).and_then(|()| program(kit)) {
        Ok(program) => program,
        Err(why) => return Output::Failed(why),
    };
    let name = format!("flowright-{}", envelope.token);
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(FLAGS.map(str::to_owned));
    arguments.extend(["--name".to_owned(), name.clone(), image.to_owned()]);
    let timeout = timeout_of(request);
    let run = Run {
        program: &program,
        arguments,
        environment: Vec::new(),
        folder: Path::new("/"),
        input: envelope.document.clone(),
        timeout,
    };
    let mut container = Container { program: program.clone(), name, running: true };
    match run_with(run, Inherit::Operator).await {
        Err(why) => {
            container.running = false;
            Output::Failed(why)
        }
        Ok(finished) => {
            container.running = finished.timed_out;
            judged(&format!("the container of `{image}`"), envelope, &finished, timeout)
        }
    }
}

/// A container that may still run: killing the program that started it does not end it.
struct Container {
    program: PathBuf,
    name: String,
    running: bool,
}

impl Drop for Container {
    fn drop(&mut self) {
        if !self.running {
            return;
        }
        let mut remove = std::process::Command::new(&self.program);
        remove.args(["rm", "--force", &self.name]);
        remove.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It is waited for: a container left running would go on with a call that was given up.
        let _ = remove.status();
    }
}
