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
    /// Whether it had ended and something that it had started kept its output open, and was ended with its group.
    pub left_behind: bool,
}

/// Which of our own variables a child gets, beside those of [`Run::environment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherit<'a> {
    /// All but the operator's own `FLOWRIGHT_…`: for programs that the operator named.
    Operator,
    /// Those of [`PLAIN`] and those that the operator allows by name; a name that ends in `*` allows all that begin
    /// so. For everything that a definition brings: no key is among them (invariant 7).
    Allowed(&'a [String]),
    /// Those of [`BARE`] and those that the operator allows isolated programs by name.
    Isolated(&'a [String]),
}

/// Variables that isolated programs see.
pub const BARE: [&str; 5] = ["PATH", "HOME", "LANG", "LC_*", "TZ"];

/// Variables that every tool may see: none of them holds a secret.
pub const PLAIN: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_*",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SYSTEMROOT",
    "PATHEXT",
];
/// Names of further variables that tools may see, for the operator to set: `A,B,C_*`.
const ALLOW: &str = "FLOWRIGHT_TOOL_ENV";
/// What no tool sees, allowed or not.
const OWN: &str = "FLOWRIGHT_";

impl Inherit<'_> {
    /// Whether a variable of ours is passed on.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        if name.starts_with(OWN) {
            return false;
        }
        let fits = |allowed: &str| match allowed.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == allowed,
        };
        let any = |more: &[String], fits: &dyn Fn(&str) -> bool| more.iter().any(|allowed| fits(allowed));
        match self {
            Self::Operator => true,
            Self::Allowed(more) => PLAIN.iter().any(|plain| fits(plain)) || any(more, &fits),
            Self::Isolated(more) => BARE.iter().any(|bare| fits(bare)) || any(more, &fits),
        }
    }
}

/// What the operator allows tools to see beside [`PLAIN`].
#[must_use]
pub fn allowed_by_operator() -> Vec<String> {
    let names = std::env::var(ALLOW).unwrap_or_default();
    names.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
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
    /// As text: bytes that are no text (broken UTF-8, NUL) stand as U+FFFD, and what was lost is said at the end
    /// (B48). A character that the limit cut in two is not one that was broken.
    #[must_use]
    pub fn text(&self) -> String {
        let dropped = self.total.saturating_sub(self.bytes.len());
        let bytes = if dropped > 0 { whole(&self.bytes) } else { &self.bytes };
        let decoded = String::from_utf8_lossy(bytes);
        let mut broken = matches!(decoded, std::borrow::Cow::Owned(_));
        let mut text = decoded.into_owned();
        if text.contains('\0') {
            text = text.replace('\0', "\u{fffd}");
            broken = true;
        }
        if broken {
            text.push_str("\n[flowright: bytes that are no text were replaced by U+FFFD]");
        }
        if dropped > 0 {
            let dropped = self.total - bytes.len();
            text.push_str(&format!("\n[flowright: {dropped} more bytes were cut off]"));
        }
        text
    }
}

/// Bytes without the beginning of a character at their end.
fn whole(bytes: &[u8]) -> &[u8] {
    let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
    let inner = bytes.iter().rev().take(3).take_while(is_inner).count();
    let Some(at) = bytes.len().checked_sub(inner + 1) else { return bytes };
    let needed = match bytes.get(at) {
        Some(0xC2..=0xDF) => 1,
        Some(0xE0..=0xEF) => 2,
        Some(0xF0..=0xF4) => 3,
        Some(_) | None => return bytes,
    };
    if needed > inner { bytes.get(..at).unwrap_or(bytes) } else { bytes }
}

/// Kills the whole group when dropped: a cancelled call leaves nothing behind.
struct Group(Box<dyn ChildWrapper>);

impl Drop for Group {
    fn drop(&mut self) {
        // The group may be gone already; then there is nothing to do.
        let _ = self.0.start_kill();
    }
}

/// Runs a program that the operator named to its end.
///
/// # Errors
/// One sentence if it cannot be started.
pub async fn run(what: Run<'_>) -> Result<Finished, String> {
    run_with(what, Inherit::Operator).await
}

/// Runs it to its end with the variables that it may see.
///
/// # Errors
/// One sentence if it cannot be started.
pub async fn run_with(what: Run<'_>, inherit: Inherit<'_>) -> Result<Finished, String> {
    let mut command = CommandWrap::with_new(what.program, |command| {
        command
            .args(&what.arguments)
            .current_dir(what.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if !inherit.takes(&name.to_string_lossy()) {
                command.env_remove(&name);
            }
        }
        for (name, value) in &what.environment {
            command.env(name, value);
        }
    });
    command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    let child = command.spawn().map_err(|error| not_started(what.program, &error))?;
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
    let mut left_behind = false;
    let work = async {
        let pipes = async { tokio::join!(feed, drain(stdout, &mut output), drain(stderr, &mut errors)) };
        tokio::pin!(pipes);
        let status = tokio::select! {
            biased;
            _ = &mut pipes => group.0.inner_mut().wait().await,
            status = group.0.inner_mut().wait() => {
                // Grandchildren may hold the pipes open for ever (B51).
                left_behind = tokio::time::timeout(LINGER, &mut pipes).await.is_err();
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
    Ok(Finished { code, output, errors, timed_out, left_behind })
}

fn not_started(program: &Path, error: &std::io::Error) -> String {
    let program = program.display();
    if error.kind() == std::io::ErrorKind::ArgumentListTooLong {
        return format!("{program} cannot be started: the arguments are longer than a command line may be");
    }
    format!("{program} cannot be started: {error}")
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
