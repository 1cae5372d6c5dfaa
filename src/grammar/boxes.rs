//! The maps of toolboxes, the part of the table that agent files bring. Both spellings of a key are listed, and one
//! says that it is another spelling of the other.

use super::{Context, Key, Shape};

/// What a system toolbox may be asked.
pub const SYSTEM: &[&str] = &[
    "date",
    "operating-system",
    "running-user",
    "hostname",
    "working-directory",
    "process-info",
    "uptime",
    "env-vars",
    "list-directory",
    "attach-file",
];
/// What a developer toolbox may do.
pub const DEVELOPER: &[&str] =
    &["read-file-range", "write-file-range", "patch-file", "list-directory", "help"];

const ACCESS: Shape = Shape::Word(&["read-only", "read-write"]);
const SQLITE_ACCESS: Shape = Shape::Word(&["SqliteReadOnly", "SqliteReadWrite", "SqliteNoVersioning"]);
const ALWAYS: Shape = Shape::Word(&["always"]);
const TOOLBOX_TAGS: Shape = Shape::Word(&["FileSystemDirectory", "SingleTool"]);
const TOOLBOX_KINDS: Shape = Shape::ByTag(&[
    ("FileSystemDirectory", Shape::Map("toolbox_contents")),
    ("SingleTool", Shape::Map("single_tool")),
]);
const MCP_SERVER_TAGS: Shape = Shape::Word(&["McpSimpleBinary", "McpHttp"]);
const MCP_SERVER_KINDS: Shape =
    Shape::ByTag(&[("McpSimpleBinary", Shape::Map("mcp_program")), ("McpHttp", Shape::Map("mcp_http"))]);
const OPENAPI_TOOLBOX_TAGS: Shape = Shape::Word(&["OpenAPIServer", "OpenAPIServerOnDisk"]);
const OPENAPI_TOOLBOX_KINDS: Shape =
    Shape::ByTag(&[("OpenAPIServer", Shape::Map("openapi_server")), ("OpenAPIServerOnDisk", Shape::Text)]);
const ENDPOINT_FILTER_TAGS: Shape = Shape::Word(&[
    "PathPrefix",
    "PathSuffix",
    "PathContains",
    "PathEqual",
    "MethodEquals",
    "OperationIdEquals",
    "And",
    "Or",
    "Any",
    "All",
    "Not",
    "AlwaysTrue",
    "AlwaysFalse",
]);
const ENDPOINT_FILTER_KINDS: Shape = Shape::ByTag(&[
    ("PathPrefix", Shape::Text),
    ("PathSuffix", Shape::Text),
    ("PathContains", Shape::Text),
    ("PathEqual", Shape::Text),
    ("MethodEquals", Shape::Text),
    ("OperationIdEquals", Shape::Text),
    ("And", Shape::List("endpoint_filter")),
    ("Or", Shape::List("endpoint_filter")),
    ("Any", Shape::List("endpoint_filter")),
    ("All", Shape::List("endpoint_filter")),
    ("Not", Shape::Map("endpoint_filter")),
]);
const BUILTIN_TOOLBOX_TAGS: Shape = Shape::Word(&["SqliteToolbox", "SystemToolbox", "DeveloperToolbox"]);
const BUILTIN_TOOLBOX_KINDS: Shape = Shape::ByTag(&[
    ("SqliteToolbox", Shape::Map("sqlite_toolbox")),
    ("SystemToolbox", Shape::Map("system_toolbox")),
    ("DeveloperToolbox", Shape::Map("developer_toolbox")),
]);
const FILE_PREDICATE_TAGS: Shape = Shape::Word(&[
    "FileExactly",
    "DirectoryExactly",
    "DirectoryRecursive",
    "DirectoryShallow",
    "ChildOf",
    "FilePattern",
    "FileExtension",
    "FileSizeLessThan",
    "And",
    "Or",
    "Any",
    "All",
    "Not",
    "AlwaysAllow",
    "AlwaysDeny",
]);
const FILE_PREDICATE_KINDS: Shape = Shape::ByTag(&[
    ("FileExactly", Shape::Text),
    ("DirectoryExactly", Shape::Text),
    ("DirectoryRecursive", Shape::Text),
    ("DirectoryShallow", Shape::Text),
    ("ChildOf", Shape::Text),
    ("FilePattern", Shape::Text),
    ("FileExtension", Shape::Texts),
    ("FileSizeLessThan", Shape::Number(1, u32::MAX)),
    ("And", Shape::List("file_predicate")),
    ("Or", Shape::List("file_predicate")),
    ("Any", Shape::List("file_predicate")),
    ("All", Shape::List("file_predicate")),
    ("Not", Shape::Map("file_predicate")),
]);
const SKILL_SOURCE_TAGS: Shape = Shape::Word(&["SkillDirectory", "SkillSingle"]);
const SKILL_SOURCE_KINDS: Shape =
    Shape::ByTag(&[("SkillDirectory", Shape::Text), ("SkillSingle", Shape::Text)]);

contexts! {
    BOXES [];
    /// An item of `bashToolboxes`
    TOOLBOX "toolbox" "a toolbox" {
        "tag" TOOLBOX_TAGS, MUST, "Which kind";
        "contents" TOOLBOX_KINDS, MUST, "The folder or the tool";
    }
    /// A folder of command-line tools
    TOOLBOX_CONTENTS "toolbox_contents" "the `contents` of a toolbox" {
        "Path" Shape::Text, MUST, "The folder, a package path";
        "BasenameFilter" Shape::Text, MAY, "Only files whose name contains this";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "path" Shape::Text, MAY, "Another spelling of `Path`";
        "basenameFilter" Shape::Text, MAY, "Another spelling of `BasenameFilter`";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// One command-line tool
    SINGLE_TOOL "single_tool" "the `contents` of a single tool" {
        "Path" Shape::Text, MUST, "The executable file, a package path";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "path" Shape::Text, MAY, "Another spelling of `Path`";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// An item of `mcpServers`
    MCP_SERVER "mcp_server" "a tool server" {
        "tag" MCP_SERVER_TAGS, MUST, "Which kind";
        "contents" MCP_SERVER_KINDS, MUST, "How it is reached";
    }
    /// A program that speaks MCP over its standard streams
    MCP_PROGRAM "mcp_program" "the `contents` of a tool server" {
        "name" Shape::Text, MUST, "Name of the server; its tools are `mcp_NAME_TOOL`";
        "executable" Shape::Text, MUST, "A program of the machine, or a package path with a `/`";
        "args" Shape::Texts, MAY, "Its arguments";
        "env" Shape::TextMap, MAY, "Variables of its environment";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// A URL that speaks MCP over streamable HTTP
    MCP_HTTP "mcp_http" "the `contents` of a tool server" {
        "name" Shape::Text, MUST, "Name of the server; its tools are `mcp_NAME_TOOL`";
        "url" Shape::Text, MUST, "Where it is";
        "headers" Shape::TextMap, MAY, "Sent with every request";
        "apiKeyId" Shape::Text, MAY, "Which key of the key file is sent as bearer token";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// An item of `openApiToolboxes`
    OPENAPI_TOOLBOX "openapi_toolbox" "an OpenAPI toolbox" {
        "tag" OPENAPI_TOOLBOX_TAGS, MUST, "Which kind";
        "contents" OPENAPI_TOOLBOX_KINDS, MUST, "The service, or the package path of a file that holds it";
    }
    /// A service that an OpenAPI document describes; its tools are `openapi_OPERATION`
    OPENAPI_SERVER "openapi_server" "the `contents` of an OpenAPI toolbox" {
        "SpecUrl" Shape::Text, MUST, "The document: a package path, or a URL with `http:`, `https:` or `file:`";
        "BaseUrl" Shape::Text, MAY, "Where calls go; the first server of the document without it";
        "Headers" Shape::TextMap, MAY, "Sent with every request";
        "ApiKeyId" Shape::Text, MAY, "Which key of the key file is sent as bearer token";
        "Token" Shape::Text, MAY, "Refused: a token does not belong into a file; see `ApiKeyId`";
        "Filter" Shape::Map("endpoint_filter"), MAY, "Which operations are offered; all without it";
        "Secrets" Shape::List("secret"), MAY, "Keys of the key file that are sent as bearer token";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "specUrl" Shape::Text, MAY, "Another spelling of `SpecUrl`";
        "baseUrl" Shape::Text, MAY, "Another spelling of `BaseUrl`";
        "headers" Shape::TextMap, MAY, "Another spelling of `Headers`";
        "apiKeyId" Shape::Text, MAY, "Another spelling of `ApiKeyId`";
        "token" Shape::Text, MAY, "Another spelling of `Token`";
        "filter" Shape::Map("endpoint_filter"), MAY, "Another spelling of `Filter`";
        "secrets" Shape::List("secret"), MAY, "Another spelling of `Secrets`";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// Which operations of a service are offered
    ENDPOINT_FILTER "endpoint_filter" "a filter of operations" {
        "tag" ENDPOINT_FILTER_TAGS, MUST, "Which kind";
        "contents" ENDPOINT_FILTER_KINDS, MAY, "What is compared with, or the filters that are joined";
    }
    /// A key that is sent with every request of a service
    SECRET "secret" "a secret" {
        "source" Shape::Map("secret_source"), MUST, "Where it comes from";
        "decoder" Shape::Any, MAY, "How it is written; `Clear` alone is known";
        "serializer" Shape::Any, MUST, "How it is sent: as bearer token in `Authorization`";
    }
    /// Where a key comes from
    SECRET_SOURCE "secret_source" "a source of secrets" {
        "tag" Shape::Word(&["ApiKey"]), MUST, "Which kind";
        "contents" Shape::Text, MUST, "Which key of the key file";
    }
    /// An item of `builtinToolboxes`
    BUILTIN_TOOLBOX "builtin_toolbox" "a built-in toolbox" {
        "tag" BUILTIN_TOOLBOX_TAGS, MUST, "Which kind";
        "contents" BUILTIN_TOOLBOX_KINDS, MUST, "What it holds";
    }
    /// Queries on an SQLite file: the tool `sqlite_NAME_query`
    SQLITE_TOOLBOX "sqlite_toolbox" "the `contents` of an SQLite toolbox" {
        "Name" Shape::Text, MUST, "Name of the toolbox, part of the names of its tools";
        "Description" Shape::Text, MAY, "What it is for, told to the model";
        "Versioning" Shape::Map("sqlite_versioning"), MAY, "The file, and whether statements may write";
        "Path" Shape::Text, MAY, "The file, a package path; without `Versioning`";
        "Access" ACCESS, MAY, "Whether statements may write; `read-only` without it";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "name" Shape::Text, MAY, "Another spelling of `Name`";
        "description" Shape::Text, MAY, "Another spelling of `Description`";
        "versioning" Shape::Map("sqlite_versioning"), MAY, "Another spelling of `Versioning`";
        "path" Shape::Text, MAY, "Another spelling of `Path`";
        "access" ACCESS, MAY, "Another spelling of `Access`";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// The file of an SQLite toolbox
    SQLITE_VERSIONING "sqlite_versioning" "`Versioning`" {
        "tag" SQLITE_ACCESS, MUST, "Whether statements may write; `SqliteNoVersioning` is `SqliteReadWrite`";
        "path" Shape::Text, MUST, "The file, a package path";
    }
    /// Facts about the machine: the tool `system_NAME_system_info`
    SYSTEM_TOOLBOX "system_toolbox" "the `contents` of a system toolbox" {
        "Name" Shape::Text, MUST, "Name of the toolbox, part of the names of its tools";
        "Description" Shape::Text, MAY, "What it is for, told to the model";
        "Capabilities" Shape::Words(SYSTEM), MUST, "What may be asked";
        "EnvVarFilter" Shape::Text, MAY, "With `env-vars`: only variables whose name contains this";
        "FileSandbox" Shape::Map("file_sandbox"), MAY, "With `list-directory`, `attach-file`: which files; else none";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "name" Shape::Text, MAY, "Another spelling of `Name`";
        "description" Shape::Text, MAY, "Another spelling of `Description`";
        "capabilities" Shape::Words(SYSTEM), MAY, "Another spelling of `Capabilities`";
        "envVarFilter" Shape::Text, MAY, "Another spelling of `EnvVarFilter`";
        "fileSandbox" Shape::Map("file_sandbox"), MAY, "Another spelling of `FileSandbox`";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// Files of the package: the tool `developer_NAME_developer_tools`
    DEVELOPER_TOOLBOX "developer_toolbox" "the `contents` of a developer toolbox" {
        "Name" Shape::Text, MUST, "Name of the toolbox, part of the names of its tools";
        "Description" Shape::Text, MAY, "What it is for, told to the model";
        "Capabilities" Shape::Words(DEVELOPER), MUST, "What may be done";
        "FileSandbox" Shape::Map("file_sandbox"), MAY, "Which files; none without it";
        "Activation" ALWAYS, MAY, "When its tools are there: always";
        "name" Shape::Text, MAY, "Another spelling of `Name`";
        "description" Shape::Text, MAY, "Another spelling of `Description`";
        "capabilities" Shape::Words(DEVELOPER), MAY, "Another spelling of `Capabilities`";
        "fileSandbox" Shape::Map("file_sandbox"), MAY, "Another spelling of `FileSandbox`";
        "activation" ALWAYS, MAY, "Another spelling of `Activation`";
    }
    /// Which files a toolbox may touch
    FILE_SANDBOX "file_sandbox" "`FileSandbox`" {
        "fsbPredicate" Shape::Map("file_predicate"), MUST, "Which files";
        "fsbMaxFileSize" Shape::Number(1, u32::MAX), MAY, "Bytes of the largest file that is touched; else 10 MiB";
        "fsbName" Shape::Text, MAY, "For people";
        "predicate" Shape::Map("file_predicate"), MAY, "Another spelling of `fsbPredicate`";
        "maxFileSize" Shape::Number(1, u32::MAX), MAY, "Another spelling of `fsbMaxFileSize`";
        "name" Shape::Text, MAY, "Another spelling of `fsbName`";
    }
    /// Which files are meant
    FILE_PREDICATE "file_predicate" "a file predicate" {
        "tag" FILE_PREDICATE_TAGS, MUST, "Which kind";
        "contents" FILE_PREDICATE_KINDS, MAY, "What is compared with (paths are package paths), or what is joined";
    }
    /// An agent that may be called: the tool `prompt_agent_SLUG`
    EXTRA_AGENT "extra_agent" "an extra agent" {
        "slug" Shape::Text, MUST, "Name under which it is called";
        "path" Shape::Text, MUST, "Its file, a package path";
    }
    /// Where skills are found
    SKILL_SOURCE "skill_source" "a source of skills" {
        "tag" SKILL_SOURCE_TAGS, MUST, "Which kind";
        "contents" SKILL_SOURCE_KINDS, MUST, "A folder of skill folders, or one skill folder: a package path";
    }
}
