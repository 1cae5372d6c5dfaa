//! Bash tools: executables that answer `describe` with JSON and `run ARG…` with their result on standard output.

use super::process::{Run, run};
use crate::host::perform::{Output, ToolRequest, ToolSpec};
use crate::ir;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// One tool as it describes itself.
#[derive(Clone, Debug, Deserialize)]
struct Described {
    slug: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    args: Vec<Argument>,
    #[serde(default, rename = "empty-result")]
    empty_result: Option<Value>,
    #[serde(default)]
    repeatable: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct Argument {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    backing_type: Option<String>,
    #[serde(default)]
    arity: Option<String>,
    #[serde(default)]
    mode: Option<String>,
}

impl Argument {
    fn is_optional(&self) -> bool {
        self.arity.as_deref() == Some("optional")
    }

    /// The JSON Schema type of what the model must give.
    fn schema_type(&self) -> &'static str {
        match self.backing_type.as_deref().or(self.kind.as_deref()).unwrap_or("string") {
            "int" | "integer" => "integer",
            "number" | "float" | "double" => "number",
            "bool" | "boolean" => "boolean",
            _ => "string",
        }
    }
}

/// A found tool.
#[derive(Clone, Debug)]
pub struct BashTool {
    path: PathBuf,
    described: Described,
}

const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
const REFUSED_LENGTH_BYTES: usize = 2000;

impl BashTool {
    /// Name as the model sees it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("bash_{}", self.described.slug)
    }

    /// What the model is told.
    #[must_use]
    pub fn spec(&self) -> ToolSpec {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for argument in &self.described.args {
            let mut schema = Map::new();
            schema.insert("type".to_owned(), argument.schema_type().into());
            schema.insert("description".to_owned(), argument.description.clone().into());
            properties.insert(argument.name.clone(), Value::Object(schema));
            if !argument.is_optional() {
                required.push(Value::from(argument.name.clone()));
            }
        }
        ToolSpec {
            name: self.name(),
            description: self.described.description.clone(),
            parameters: serde_json::json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            repeatable: self.described.repeatable,
        }
    }
}

/// Descriptions by file: a tool is asked again only once its file has changed.
#[derive(Debug, Default)]
pub struct Shelf {
    known: Mutex<HashMap<PathBuf, (Stamp, Described)>>,
}

/// What tells one state of a file from another: when it was written, and its length.
type Stamp = (SystemTime, u64);

impl Shelf {
    /// All tools of an agent, in the order of its toolboxes and of file names. A file that cannot be described is left
    /// out and named in the second list with its reason.
    pub async fn find(&self, agent: &ir::Agent, root: &Path) -> (Vec<BashTool>, Vec<String>) {
        let mut tools: Vec<BashTool> = Vec::new();
        let mut faults = Vec::new();
        for toolbox in &agent.bash_toolboxes {
            let folder = root.join(&toolbox.path);
            let files = match executables(&folder, toolbox.basename_filter.as_deref()) {
                Ok(files) => files,
                Err(error) => {
                    faults.push(format!("the tool folder {} cannot be read: {error}", folder.display()));
                    continue;
                }
            };
            for path in files {
                match self.described(&path, root).await {
                    Ok(described) if tools.iter().any(|tool| tool.described.slug == described.slug) => {
                        let slug = described.slug;
                        faults.push(format!("{}: a tool named `{slug}` is there already", path.display()));
                    }
                    Ok(described) => tools.push(BashTool { path, described }),
                    Err(error) => faults.push(error),
                }
            }
        }
        (tools, faults)
    }

    /// A tool that could not describe itself is asked anew each time.
    async fn described(&self, path: &Path, root: &Path) -> Result<Described, String> {
        let stamp = std::fs::metadata(path).and_then(|meta| Ok((meta.modified()?, meta.len()))).ok();
        if let Some((known, described)) = self.shelf().get(path)
            && Some(*known) == stamp
        {
            return Ok(described.clone());
        }
        let described = describe(path, root).await?;
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

fn executables(folder: &Path, filter: Option<&str>) -> std::io::Result<Vec<PathBuf>> {
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

async fn describe(path: &Path, root: &Path) -> Result<Described, String> {
    let finished = run(Run {
        program: path,
        arguments: vec!["describe".to_owned()],
        environment: Vec::new(),
        folder: root,
        input: Vec::new(),
        timeout: DESCRIBE_TIMEOUT,
    })
    .await?;
    if finished.timed_out {
        return Err(format!("{} describe did not end in {} s", path.display(), DESCRIBE_TIMEOUT.as_secs()));
    }
    if finished.code != Some(0) {
        return Err(format!("{} describe failed: {}", path.display(), short(&finished.errors.text())));
    }
    let described: Described = serde_json::from_slice(&finished.output.bytes)
        .map_err(|error| format!("{} describe printed no description: {error}", path.display()))?;
    if described.slug.is_empty()
        || !described.slug.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    {
        return Err(format!("{} describes itself with a name that no model may call", path.display()));
    }
    Ok(described)
}

/// Runs one call. Every fault is a result for the model.
pub async fn call(tool: &BashTool, request: &ToolRequest) -> Output {
    let arguments = match parse_arguments(&request.call.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return Output::Failed(error),
    };
    let placed = match place(&tool.described.args, &arguments) {
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
    let finished = run(Run {
        program: &tool.path,
        arguments: words,
        environment,
        folder: Path::new(&request.spec.root),
        input: placed.input,
        timeout,
    })
    .await;
    match finished {
        Err(error) => Output::Failed(error),
        Ok(finished) if finished.timed_out => Output::Failed(format!(
            "the tool was killed after {} s; it may have had part of its effect. It printed so far: {}",
            timeout.as_secs(),
            short(&finished.output.text())
        )),
        Ok(finished) if finished.code != Some(0) => {
            let code =
                finished.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            let said = format!("{}{}", finished.errors.text(), finished.output.text());
            Output::Failed(format!("the tool ended with {code}: {}", short(&said)))
        }
        Ok(finished) if finished.output.bytes.is_empty() => match &tool.described.empty_result {
            Some(Value::String(text)) => Output::Text(text.clone()),
            Some(value) => Output::Json(value.clone()),
            None => Output::Text(String::new()),
        },
        Ok(finished) => Output::Text(finished.output.text()),
    }
}

fn timeout_of(request: &ToolRequest) -> Duration {
    let own = request.decorators.iter().find_map(|decorator| match decorator {
        ir::Decorator::Timeout { seconds } => Some(*seconds),
        ir::Decorator::Retries { .. }
        | ir::Decorator::Cache { .. }
        | ir::Decorator::Label { .. }
        | ir::Decorator::Truncate { .. } => None,
    });
    Duration::from_secs(u64::from(own.unwrap_or(request.agent.call_timeout_seconds)))
}

fn parse_arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("the arguments must be a JSON object".to_owned()),
        Err(error) => Err(format!("the arguments are no JSON: {error}")),
    }
}

#[derive(Default)]
struct Placed {
    words: Vec<String>,
    input: Vec<u8>,
    environment: Vec<(String, String)>,
}

/// Brings arguments to where the tool wants them, in the order that it declares.
fn place(declared: &[Argument], given: &Map<String, Value>) -> Result<Placed, String> {
    if let Some(unknown) = given.keys().find(|name| declared.iter().all(|argument| argument.name != **name)) {
        let known: Vec<_> = declared.iter().map(|argument| argument.name.as_str()).collect();
        return Err(format!("there is no argument `{unknown}`; the tool takes: {}", known.join(", ")));
    }
    let mut placed = Placed::default();
    for argument in declared {
        let value = match given.get(&argument.name) {
            None | Some(Value::Null) if argument.is_optional() => continue,
            None | Some(Value::Null) => return Err(format!("the argument `{}` is missing", argument.name)),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        if value.contains('\0') && argument.mode.as_deref() != Some("stdin") {
            return Err(format!("the argument `{}` holds a NUL character", argument.name));
        }
        match argument.mode.as_deref().unwrap_or("positional") {
            "dashdashspace" => placed.words.extend([format!("--{}", argument.name), value]),
            "dashdashequal" => placed.words.push(format!("--{}={value}", argument.name)),
            "stdin" => placed.input.extend(value.into_bytes()),
            "env" => placed.environment.push((argument.name.clone(), value)),
            _ => placed.words.push(value),
        }
    }
    Ok(placed)
}

fn short(text: &str) -> String {
    let text = text.trim();
    if text.len() <= REFUSED_LENGTH_BYTES {
        return text.to_owned();
    }
    let cut: String = text.chars().take(REFUSED_LENGTH_BYTES).collect();
    format!("{cut} … [cut]")
}
