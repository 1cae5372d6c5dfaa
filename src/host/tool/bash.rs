//! Bash tools: executables that answer `describe` with JSON and `run ARG…` with their result on standard output.

pub mod arguments;
pub mod describe;
pub mod result;

use super::paths;
use super::process::{Inherit, Run, allowed_by_operator, run_with};
use crate::host::perform::{Output, ToolRequest, ToolSpec};
use crate::ir;
use describe::Described;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// A found tool.
#[derive(Clone, Debug)]
pub struct BashTool {
    path: PathBuf,
    described: Described,
}

const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Tools that are asked to describe themselves at one time.
const ASKED_AT_ONCE: usize = 4;
/// Before the name of a bash tool.
const PREFIX: &str = "bash_";

impl BashTool {
    /// Name as the model sees it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{PREFIX}{}", self.described.slug)
    }

    /// What the model is told.
    #[must_use]
    pub fn spec(&self) -> ToolSpec {
        self.described.spec(PREFIX)
    }
}

/// Descriptions by file: a tool is asked again only once its file has changed.
#[derive(Debug, Default)]
pub struct Shelf {
    known: Mutex<HashMap<PathBuf, (Stamp, Described)>>,
}

/// What tells one state of a file from another: when it was written and changed, its length, and which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
    file: (u64, u64, i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let about = std::fs::metadata(path).ok()?;
        Some(Self { modified: about.modified().ok()?, length: about.len(), file: identity(&about) })
    }
}

#[cfg(unix)]
fn identity(about: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (about.dev(), about.ino(), about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_about: &std::fs::Metadata) -> (u64, u64, i64, i64) {
    (0, 0, 0, 0)
}

impl Shelf {
    /// All tools of an agent, in the order of its toolboxes and of file names. A file that cannot be described is left
    /// out and named in the second list with its reason.
    pub async fn find(&self, agent: &ir::Agent, root: &Path) -> (Vec<BashTool>, Vec<String>) {
        let (mut files, mut faults) = (Vec::new(), Vec::new());
        for toolbox in &agent.bash_toolboxes {
            match in_toolbox(toolbox, root) {
                Ok(found) => files.extend(found),
                Err(fault) => faults.push(fault),
            }
        }
        let (tools, more) = self.described_all(files, root).await;
        faults.extend(more);
        (tools, faults)
    }

    /// The tools among some files, in order.
    pub async fn described_all(&self, files: Vec<PathBuf>, root: &Path) -> (Vec<BashTool>, Vec<String>) {
        let asked = files.into_iter().map(|path| async move {
            let described = self.described(&path, root).await;
            (path, described)
        });
        let described: Vec<_> = futures_util::stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await;
        let mut tools: Vec<BashTool> = Vec::new();
        let mut faults = Vec::new();
        for (path, described) in described {
            match described {
                Ok(described) if tools.iter().any(|tool| tool.described.slug == described.slug) => {
                    let slug = described.slug;
                    faults.push(format!("{}: a tool named `{slug}` is there already", path.display()));
                }
                Ok(described) => tools.push(BashTool { path, described }),
                Err(error) => faults.push(error),
            }
        }
        (tools, faults)
    }

    /// A tool that could not describe itself is asked anew each time.
    async fn described(&self, path: &Path, root: &Path) -> Result<Described, String> {
        let stamp = Stamp::of(path);
        if let Some((known, described)) = self.shelf().get(path)
            && Some(*known) == stamp
        {
            return Ok(described.clone());
        }
        let described = ask(path, root).await?;
        if let Some(stamp) = stamp {
            self.shelf().insert(path.to_path_buf(), (stamp, described.clone()));
        }
        Ok(described)
    }

    fn shelf(&self) -> MutexGuard<'_, HashMap<PathBuf, (Stamp, Described)>> {
        // Entries are put in whole, so a panic elsewhere leaves nothing half made.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of a toolbox that may be tools.
fn in_toolbox(toolbox: &ir::BashToolbox, root: &Path) -> Result<Vec<PathBuf>, String> {
    if toolbox.single {
        let path = paths::inside(root, &toolbox.path)?;
        if is_executable(&path) {
            return Ok(vec![path]);
        }
        return Err(format!("the tool {} is not executable", toolbox.path));
    }
    let folder =
        paths::inside(root, &toolbox.path).map_err(|why| format!("a tool folder cannot be read: {why}"))?;
    executables(&folder, toolbox.basename_filter.as_deref())
        .map_err(|error| format!("the tool folder {} cannot be read: {error}", folder.display()))
}

/// The executable files of a folder, by name.
///
/// # Errors
/// Why it cannot be read.
pub fn executables(folder: &Path, filter: Option<&str>) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') || filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        if is_executable(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

async fn ask(path: &Path, root: &Path) -> Result<Described, String> {
    let what = Run {
        program: path,
        arguments: vec!["describe".to_owned()],
        environment: Vec::new(),
        folder: root,
        input: Vec::new(),
        timeout: DESCRIBE_TIMEOUT,
    };
    let finished = run_with(what, Inherit::Allowed(&allowed_by_operator())).await?;
    if finished.timed_out {
        return Err(format!("{} describe did not end in {} s", path.display(), DESCRIBE_TIMEOUT.as_secs()));
    }
    if finished.code != Some(0) {
        let said = result::short(&finished.errors.text());
        return Err(format!("{} describe failed: {said}", path.display()));
    }
    describe::read(&finished.output.bytes).map_err(|why| format!("{} describe {why}", path.display()))
}

/// Runs one call. Every fault is a result for the model.
pub async fn call(tool: &BashTool, request: &ToolRequest) -> Output {
    let arguments = match arguments::parse(&request.call.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return Output::Failed(error),
    };
    let placed = match arguments::place(&tool.described.arguments, &arguments, &request.call.arguments) {
        Ok(placed) => placed,
        Err(error) => return Output::Failed(error),
    };
    let mut environment = placed.environment;
    let session = request.spec.session.0.clone();
    environment.push(("AGENT_SESSION_ID".to_owned(), session.clone()));
    environment.push(("AGENT_CONVERSATION_ID".to_owned(), session));
    environment.push(("AGENT_TURN_ID".to_owned(), request.reply.to_string()));
    environment.push(("AGENT_AGENT_ID".to_owned(), request.agent.slug.clone()));
    environment.push(("IDEMPOTENCY_KEY".to_owned(), request.call.id.clone()));
    let timeout = timeout_of(request);
    let mut words = vec!["run".to_owned()];
    words.extend(placed.words);
    let what = Run {
        program: &tool.path,
        arguments: words,
        environment,
        folder: Path::new(&request.spec.root),
        input: placed.input,
        timeout,
    };
    match run_with(what, Inherit::Allowed(&allowed_by_operator())).await {
        Err(error) => Output::Failed(error),
        Ok(finished) => result::of(&tool.described, &finished, timeout),
    }
}

/// How long a call may take: its own `timeout`, else that of the agent.
#[must_use]
pub fn timeout_of(request: &ToolRequest) -> Duration {
    let own = request.decorators.iter().find_map(|decorator| match decorator {
        ir::Decorator::Timeout { seconds } => Some(*seconds),
        ir::Decorator::Retries { .. }
        | ir::Decorator::Cache { .. }
        | ir::Decorator::Label { .. }
        | ir::Decorator::Truncate { .. } => None,
    });
    Duration::from_secs(u64::from(own.unwrap_or(request.agent.call_timeout_seconds)))
}
