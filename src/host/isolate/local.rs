//! A program of the package as runner: in a process group of its own, with few variables, a folder for its scratch
//! files, and behind Landlock where the operator asks for it.

use super::envelope::Envelope;
use super::judged;
use super::landlock::Profile;
use crate::host::perform::{Output, ToolRequest};
use crate::host::tool::bash::timeout_of;
use crate::host::tool::paths;
use crate::host::tool::process::{Inherit, Run, run_with};
use crate::host::tool::toolbox::{Kit, Walls};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The hidden verb that puts walls around itself and then becomes the program.
pub const CONFINED_VERB: &str = "confined";
/// Characters of a token in the name of a scratch folder.
const SHORT: usize = 12;

/// Whether the program is there, and the walls can be.
///
/// # Errors
/// What is missing, in one sentence.
pub(super) fn possible(kit: &Kit, root: &Path, path: &str) -> Result<(), String> {
    program(root, path)?;
    match &kit.allowed.walls {
        Some(walls) => Profile::of(walls, root, Path::new("/")).possible(),
        None => Ok(()),
    }
}

fn program(root: &Path, path: &str) -> Result<PathBuf, String> {
    let program = paths::inside(root, path).map_err(|why| format!("the runner cannot be used: {why}"))?;
    if is_executable(&program) {
        Ok(program)
    } else {
        Err(format!("the runner cannot be used: `{path}` is not an executable file"))
    }
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

pub(super) async fn run(kit: &Kit, request: &ToolRequest, path: &str, envelope: &Envelope) -> Output {
    let root = Path::new(&request.spec.root);
    let what = format!("the program `{path}`");
    let ready = program(root, path).and_then(|program| {
        let scratch = Scratch::new(&envelope.token)?;
        let started = started(kit.allowed.walls.as_ref(), root, &scratch.0, program)?;
        Ok((scratch, started))
    });
    let (scratch, (program, arguments)) = match ready {
        Ok(ready) => ready,
        Err(why) => return Output::Failed(why),
    };
    let timeout = timeout_of(request);
    let run = Run {
        program: &program,
        arguments,
        environment: vec![("TMPDIR".to_owned(), scratch.0.to_string_lossy().into_owned())],
        folder: root,
        input: envelope.document.clone(),
        timeout,
    };
    match run_with(run, Inherit::Isolated(&kit.allowed.environment)).await {
        Err(why) => Output::Failed(why),
        Ok(finished) => judged(&what, envelope, &finished, timeout),
    }
}

/// What is started: the program, or this program as the one that puts the walls up.
fn started(
    walls: Option<&Walls>,
    root: &Path,
    scratch: &Path,
    program: PathBuf,
) -> Result<(PathBuf, Vec<String>), String> {
    let Some(walls) = walls else { return Ok((program, Vec::new())) };
    let own = std::env::current_exe()
        .map_err(|error| format!("the walls cannot be put up: this program cannot be found: {error}"))?;
    let profile = Profile::of(walls, root, scratch);
    let profile =
        serde_json::to_string(&profile).map_err(|error| format!("the walls cannot be put up: {error}"))?;
    let program = program.to_str().ok_or("the walls cannot be put up: the program's path is no text")?;
    Ok((own, vec![CONFINED_VERB.to_owned(), profile, program.to_owned()]))
}

/// A folder of one call's own, for its owner alone; removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(token: &str) -> Result<Self, String> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let token: String = token.chars().filter(char::is_ascii_alphanumeric).take(SHORT).collect();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("flowright-{token}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        make(&path).map_err(|error| format!("the folder {} cannot be made: {error}", path.display()))?;
        Ok(Self(path))
    }
}

#[cfg(unix)]
fn make(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever clears temporary files; the call is not the worse for it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
