//! One child process in a group of its own: bounded in time and output, and never left behind.

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

/// Bytes of each stream that are kept; what comes behind is read and dropped, and the cut is said.
pub const OUTPUT_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// How long pipes may stay open after the direct child has exited, before its group is killed.
const LINGER: Duration = Duration::from_secs(2);

/// What is run.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Program.
    pub program: &'a Path,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Variables set on top of the inherited ones; the operator's own `FLOWRIGHT_…` are never inherited.
    pub environment: Vec<(String, String)>,
    /// Working folder.
    pub folder: &'a Path,
    /// Bytes for its standard input.
    pub input: Vec<u8>,
    /// Killed after this.
    pub timeout: Duration,
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub output: Captured,
    /// Standard error.
    pub errors: Captured,
    /// Whether it was killed for its time.
    pub timed_out: bool,
}

/// Bytes of a stream.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// At most [`OUTPUT_LIMIT_BYTES`].
    pub bytes: Vec<u8>,
    /// How many bytes came in all.
    pub total: usize,
}

impl Captured {
    /// As text: broken UTF-8 stands as U+FFFD and what was lost is said at the end (B48).
    #[must_use]
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let broken = matches!(text, std::borrow::Cow::Owned(_));
        let mut text = text.into_owned();
        if self.total > self.bytes.len() {
            let dropped = self.total - self.bytes.len();
            text.push_str(&format!("\n[flowright: {dropped} more bytes were cut off]"));
        } else if broken {
            text.push_str("\n[flowright: bytes that are not UTF-8 were replaced by U+FFFD]");
        }
        text
    }
}

/// Kills the whole group when dropped: a cancelled call leaves nothing behind.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        // The group may be gone already; then there is nothing to do.
        let _ = self.0.start_kill();
    }
}

/// Runs it to its end.
///
/// # Errors
/// One sentence if it cannot be started.
pub async fn run(what: Run<'_>) -> Result<Finished, String> {
    let mut command = CommandWrap::with_new(what.program, |command| {
        command
            .args(&what.arguments)
            .current_dir(what.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("FLOWRIGHT_") {
                command.env_remove(&name);
            }
        }
        for (name, value) in &what.environment {
            command.env(name, value);
        }
    });
    command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    let child =
        command.spawn().map_err(|error| format!("{} cannot be started: {error}", what.program.display()))?;
    let mut group = Group(child);
    let stdin = group.0.stdin().take();
    let stdout = group.0.stdout().take();
    let stderr = group.0.stderr().take();
    let input = what.input;
    let feed = async move {
        if let Some(mut stdin) = stdin {
            // A tool that does not read its input is no fault.
            let _ = stdin.write_all(&input).await;
        }
    };
    let mut output = Captured::default();
    let mut errors = Captured::default();
    let mut code = None;
    let work = async {
        let pipes = async { tokio::join!(feed, drain(stdout, &mut output), drain(stderr, &mut errors)) };
        tokio::pin!(pipes);
        let status = tokio::select! {
            biased;
            _ = &mut pipes => group.0.inner_mut().wait().await,
            status = group.0.inner_mut().wait() => {
                // Grandchildren may hold the pipes open for ever (B51).
                let _ = tokio::time::timeout(LINGER, &mut pipes).await;
                status
            }
        };
        status.map(|status| status.code())
    };
    let timed_out = match tokio::time::timeout(what.timeout, work).await {
        Ok(Ok(status)) => {
            code = status;
            false
        }
        Ok(Err(error)) => return Err(format!("{} cannot be waited for: {error}", what.program.display())),
        Err(_) => true,
    };
    Ok(Finished { code, output, errors, timed_out })
}

async fn drain<R: AsyncRead + Unpin>(stream: Option<R>, into: &mut Captured) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        into.total += count;
        let room = OUTPUT_LIMIT_BYTES.saturating_sub(into.bytes.len());
        into.bytes.extend(buffer.iter().take(count.min(room)));
    }
}
