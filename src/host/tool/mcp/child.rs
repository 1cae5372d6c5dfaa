//! The process of a tool server: in a group of its own, with few variables, its standard error read and its end told.

use super::short;
use crate::host::tool::paths;
use crate::host::tool::process::{Inherit, allowed_by_operator};
use indexmap::IndexMap;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

/// Bytes of the end of standard error that are kept.
const TAIL_BYTES: usize = 4096;
/// Characters of its last line that are shown.
const MOST_QUOTED: usize = 300;
/// How long a server that has closed its output may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// A running server. Its group is killed when this is dropped.
pub(super) struct Child {
    group: tokio::sync::Mutex<Group>,
    tail: Arc<Mutex<Vec<u8>>>,
    drained: tokio::sync::Mutex<JoinHandle<()>>,
}

/// Kills the whole group when dropped.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        // The group may be gone already; then there is nothing to do.
        let _ = self.0.start_kill();
    }
}

/// The streams that the protocol is spoken over.
pub(super) type Streams = (ChildStdout, ChildStdin);

impl Child {
    /// Starts a server.
    pub(super) fn start(
        root: &Path,
        executable: &str,
        args: &[String],
        env: &IndexMap<String, String>,
    ) -> Result<(Self, Streams), String> {
        let program = program(root, executable)?;
        let allowed = allowed_by_operator();
        let inherit = Inherit::Allowed(&allowed);
        let mut command = CommandWrap::with_new(&program, |command| {
            command.args(args).current_dir(root);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            for (name, _) in std::env::vars_os() {
                if !inherit.takes(&name.to_string_lossy()) {
                    command.env_remove(&name);
                }
            }
            command.envs(env);
        });
        command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
        let child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
        let mut group = Group(child);
        let streams = (group.0.stdout().take(), group.0.stdin().take(), group.0.stderr().take());
        let (Some(stdout), Some(stdin), Some(stderr)) = streams else {
            return Err("cannot be started: it has no standard streams".to_owned());
        };
        let tail = Arc::default();
        let drained = tokio::spawn(drain(stderr, Arc::clone(&tail)));
        let child =
            Self { group: tokio::sync::Mutex::new(group), tail, drained: tokio::sync::Mutex::new(drained) };
        Ok((child, (stdout, stdin)))
    }

    /// How a server that speaks no more has ended, as a sentence without its subject.
    pub(super) async fn ending(&self) -> String {
        let status = {
            let mut group = self.group.lock().await;
            match tokio::time::timeout(END_TIMEOUT, group.0.inner_mut().wait()).await {
                Ok(Ok(status)) => Some(status),
                Ok(Err(_)) | Err(_) => {
                    let _ = group.0.start_kill();
                    None
                }
            }
        };
        let ended = match status.map(|status| status.code()) {
            Some(Some(code)) => format!("ended with exit code {code}"),
            Some(None) => "was ended by a signal".to_owned(),
            None => "closed its output and was ended".to_owned(),
        };
        // What it had left running may hold the stream open.
        let mut drained = self.drained.lock().await;
        if !drained.is_finished() {
            let _ = tokio::time::timeout(END_TIMEOUT, &mut *drained).await;
        }
        match self.last_words() {
            Some(words) => format!("{ended}, its last words being `{words}`,"),
            None => ended,
        }
    }

    /// The last line of standard error.
    pub(super) fn last_words(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        let line: String = line.trim().chars().take(MOST_QUOTED).collect();
        Some(short(&line).replace('`', "'"))
    }
}

/// What is run: a program of the machine by its name, or a file of the package.
fn program(root: &Path, executable: &str) -> Result<PathBuf, String> {
    let is_package_path = executable.contains('/') && !Path::new(executable).is_absolute();
    if is_package_path {
        return paths::inside(root, executable).map_err(|fault| format!("cannot be started: {fault}"));
    }
    Ok(PathBuf::from(executable))
}

async fn drain(mut stderr: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(count) = stderr.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(buffer.iter().take(count));
        let over = tail.len().saturating_sub(TAIL_BYTES);
        tail.drain(..over);
    }
}
