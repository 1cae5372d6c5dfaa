//! The toolboxes of an agent file as they were written, with spans on everything. Starts and judges nothing.

use crate::source::{Span, Spanned};
use crate::tree;

/// What an agent may call besides command-line tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Toolboxes {
    /// `mcpServers`.
    pub mcp: Vec<McpServer>,
    /// `openApiToolboxes`.
    pub openapi: Vec<OpenApi>,
    /// `builtinToolboxes`.
    pub builtin: Vec<Builtin>,
    /// `extraAgents`.
    pub agents: Vec<ExtraAgent>,
    /// `skillSources`.
    pub skills: Vec<SkillSource>,
    /// `autoEnableSkills`.
    pub enabled_skills: Vec<Spanned<String>>,
    /// Whether one of them could not be read, so that not all names of tools are known.
    pub is_cut: bool,
    /// The keys with their values as written, for those who look at texts.
    pub written: Vec<tree::Entry>,
}

/// A name and a text.
pub type Pair = (Spanned<String>, Spanned<String>);

/// An item of `mcpServers`.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// The whole item.
    pub span: Span,
    /// Its name.
    pub name: Spanned<String>,
    /// How it is reached.
    pub reach: McpReach,
}

/// How a tool server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum McpReach {
    /// `McpSimpleBinary`.
    Program {
        /// Program name or path.
        executable: Spanned<String>,
        /// Arguments.
        args: Vec<Spanned<String>>,
        /// Variables.
        env: Vec<Pair>,
    },
    /// `McpHttp`.
    Http {
        /// Where.
        url: Spanned<String>,
        /// Headers.
        headers: Vec<Pair>,
        /// Key of the key file.
        api_key_id: Option<Spanned<String>>,
    },
}

/// An item of `openApiToolboxes`.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenApi {
    /// The whole item.
    pub span: Span,
    /// The file that holds the server, a package path.
    pub on_disk: Option<Spanned<String>>,
    /// The server; of one on disk, once its file has been read.
    pub server: Option<OpenApiServer>,
}

/// A service that an OpenAPI document describes.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenApiServer {
    /// Package path or URL of the document.
    pub spec: Spanned<String>,
    /// Where calls go.
    pub base_url: Option<Spanned<String>>,
    /// Headers.
    pub headers: Vec<Pair>,
    /// Key of the key file.
    pub api_key_id: Option<Spanned<String>>,
    /// Which operations.
    pub filter: Option<EndpointFilter>,
}

/// Which operations of a service are offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointFilter {
    /// The path begins so.
    PathPrefix(String),
    /// The path ends so.
    PathSuffix(String),
    /// The path holds this.
    PathContains(String),
    /// The path is this.
    PathEqual(String),
    /// The method is this.
    Method(String),
    /// The operation id is this.
    Operation(String),
    /// One of these fits.
    Any(Vec<EndpointFilter>),
    /// All of these fit.
    All(Vec<EndpointFilter>),
    /// This does not fit.
    Not(Box<EndpointFilter>),
}

/// An item of `builtinToolboxes`.
#[derive(Clone, Debug, PartialEq)]
pub struct Builtin {
    /// The whole item.
    pub span: Span,
    /// Its name.
    pub name: Spanned<String>,
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// What it is.
    pub kind: BuiltinKind,
}

/// What a built-in toolbox is.
#[derive(Clone, Debug, PartialEq)]
pub enum BuiltinKind {
    /// `SqliteToolbox`.
    Sqlite {
        /// The file, a package path.
        path: Spanned<String>,
        /// Whether statements may write.
        is_writable: bool,
    },
    /// `SystemToolbox`.
    System {
        /// The list and its words.
        capabilities: Spanned<Vec<Spanned<String>>>,
        /// Only variables whose name contains this.
        env_filter: Option<Spanned<String>>,
        /// Which files.
        sandbox: Option<Sandbox>,
    },
    /// `DeveloperToolbox`.
    Developer {
        /// The list and its words.
        capabilities: Spanned<Vec<Spanned<String>>>,
        /// Which files.
        sandbox: Option<Sandbox>,
    },
}

/// `FileSandbox`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sandbox {
    /// The whole map.
    pub span: Span,
    /// Which files.
    pub predicate: FilePredicate,
    /// The largest file.
    pub max_file_bytes: Option<Spanned<u32>>,
}

/// Which files a toolbox may touch.
#[derive(Clone, Debug, PartialEq)]
pub enum FilePredicate {
    /// One file.
    FileExactly(Spanned<String>),
    /// One folder itself.
    DirectoryExactly(Spanned<String>),
    /// A folder and everything below it.
    DirectoryRecursive(Spanned<String>),
    /// Everything below a folder.
    ChildOf(Spanned<String>),
    /// What lies directly in a folder.
    DirectoryShallow(Spanned<String>),
    /// Files whose name fits `*`, `?` and `[…]`.
    Pattern(Spanned<String>),
    /// Files with one of these endings, written without the dot.
    Extension(Vec<Spanned<String>>),
    /// Files of fewer bytes.
    SizeBelow(u32),
    /// One of these fits.
    Any(Vec<FilePredicate>),
    /// All of these fit.
    All(Vec<FilePredicate>),
    /// This does not fit.
    Not(Box<FilePredicate>),
}

impl FilePredicate {
    /// Calls `f` with each path in it.
    pub fn each_path<'a>(&'a self, f: &mut impl FnMut(&'a Spanned<String>)) {
        match self {
            Self::FileExactly(path)
            | Self::DirectoryExactly(path)
            | Self::DirectoryRecursive(path)
            | Self::ChildOf(path)
            | Self::DirectoryShallow(path) => f(path),
            Self::Pattern(_) | Self::Extension(_) | Self::SizeBelow(_) => {}
            Self::Any(parts) | Self::All(parts) => parts.iter().for_each(|part| part.each_path(f)),
            Self::Not(part) => part.each_path(f),
        }
    }
}

/// An item of `extraAgents`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraAgent {
    /// The whole item.
    pub span: Span,
    /// Name under which it is called.
    pub slug: Spanned<String>,
    /// Its file, a package path.
    pub path: Spanned<String>,
}

/// An item of `skillSources`.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillSource {
    /// Folder of skill folders, or one skill folder.
    pub path: Spanned<String>,
    /// Whether it is one skill folder.
    pub is_single: bool,
}
