//! Toolboxes of a frozen agent other than folders of bash tools: what they are, never how they run.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Everything that an agent may call besides bash tools, in the order in which it is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Toolboxes {
    /// What is built in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub builtin: Vec<Builtin>,
    /// What OpenAPI documents describe.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub openapi: Vec<OpenApi>,
    /// Servers that speak MCP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
    /// Agents that this one may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<ExtraAgent>,
    /// Folders with skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillSource>,
    /// Names of skills that are on from the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enabled_skills: Vec<String>,
}

impl Toolboxes {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A server that speaks MCP; its tools are named `mcp_<name>_<tool>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpServer {
    /// A program that speaks over its standard streams.
    Program {
        /// Name of the box.
        name: String,
        /// Program name, or a path: relative ones with a `/` are package paths.
        executable: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables added to its environment.
        env: IndexMap<String, String>,
    },
    /// A URL that speaks streamable HTTP.
    Http {
        /// Name of the box.
        name: String,
        /// Where.
        url: String,
        /// Sent with every request.
        headers: IndexMap<String, String>,
        /// Which key of the operator's key file is sent as bearer token.
        api_key_id: Option<String>,
    },
}

impl McpServer {
    /// Name of the box.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Program { name, .. } | Self::Http { name, .. } => name,
        }
    }
}

/// A service that an OpenAPI document describes; its tools are named `openapi_<operation>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenApi {
    /// Package path, `file:` or `http(s):` URL of the document.
    pub spec: String,
    /// Base URL of the calls; without it the first server of the document.
    pub base_url: Option<String>,
    /// Sent with every request.
    pub headers: IndexMap<String, String>,
    /// Which key of the operator's key file is sent as bearer token.
    pub api_key_id: Option<String>,
    /// Which operations are offered; all without it.
    pub filter: Option<EndpointFilter>,
}

/// Which operations of a document are offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointFilter {
    /// Those whose path begins so.
    PathPrefix(String),
    /// Those whose path ends so.
    PathSuffix(String),
    /// Those whose path holds this.
    PathContains(String),
    /// Those with exactly this path.
    PathExactly(String),
    /// Those with one of these methods, in capitals.
    Methods(Vec<String>),
    /// Those with one of these operation ids.
    Operations(Vec<String>),
    /// Those that fit one of these.
    Any(Vec<EndpointFilter>),
    /// Those that fit all of these.
    All(Vec<EndpointFilter>),
    /// Those that do not fit.
    Not(Box<EndpointFilter>),
}

/// A toolbox that is built in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// Queries on an SQLite file: `sqlite_<name>_query`.
    Sqlite {
        /// Name of the box.
        name: String,
        /// What the data is, for the model.
        description: String,
        /// Package path of the file.
        path: String,
        /// Whether statements may write.
        writable: bool,
    },
    /// Facts about this machine: `system_<name>_system_info`.
    System {
        /// Name of the box.
        name: String,
        /// For the model.
        description: String,
        /// `date`, `operating-system`, `running-user`, `hostname`, `working-directory` …
        capabilities: Vec<String>,
        /// With `env-vars`: only variables whose name contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env_filter: Option<String>,
        /// With `list-directory` and `attach-file`: which files; none without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<FilePredicate>,
        /// The largest file that is attached.
        max_file_bytes: u64,
    },
    /// Reading, writing and patching files in a sandbox: `developer_<name>_developer_tools`.
    Developer {
        /// Name of the box.
        name: String,
        /// For the model.
        description: String,
        /// `read-file-range`, `write-file-range`, `patch-file`, `list-directory`, `help` …
        capabilities: Vec<String>,
        /// Which files; none without it.
        sandbox: Option<FilePredicate>,
        /// The largest file that is read or written.
        max_file_bytes: u64,
    },
}

/// Which files a toolbox may touch. Paths are package paths without `.`; the package itself is the empty path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilePredicate {
    /// Everything below a folder.
    DirectoryRecursive(String),
    /// The files of a folder, not of those below it.
    DirectoryFlat(String),
    /// One file.
    FileExactly(String),
    /// One folder itself, not what lies in it.
    DirectoryExactly(String),
    /// Files with this ending, without its dot.
    Extension(String),
    /// Files whose name fits, with `*`, `?` and `[…]`.
    NamePattern(String),
    /// Files of fewer bytes.
    SizeBelow(u64),
    /// Those that fit one of these.
    Any(Vec<FilePredicate>),
    /// Those that fit all of these.
    All(Vec<FilePredicate>),
    /// Those that do not fit.
    Not(Box<FilePredicate>),
}

/// An agent that may be called: the tool `prompt_agent_<slug>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraAgent {
    /// Name under which it is called.
    pub slug: String,
    /// Package path of its file.
    pub path: String,
    /// Its [`own_digest`](super::Agent::own_digest), where its file could be read when this one was frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<super::Digest>,
    /// What it does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announce: Option<String>,
}

/// Where skills are found: folders with a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillSource {
    /// A folder of skill folders, a package path.
    Directory(String),
    /// One skill folder, a package path.
    Single(String),
}
