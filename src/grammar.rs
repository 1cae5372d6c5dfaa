//! The language as one table: for each kind of map its keys, what they hold, and a line of documentation.
//!
//! Hints for unknown keys, JSON Schema, the reference and the grammar file are printed from it. It reads no text
//! and checks nothing itself.

mod print;
mod schema;

pub use print::{ebnf, reference_markdown};
pub use schema::{agent_schema, json_schema, test_schema};

/// The grammar of bindings, which the reader of `${{ … }}` keeps; a test compares the two.
pub const BINDINGS: &str = include_str!("../grammar/binding.ebnf");

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text without bindings.
    Text,
    /// Text that may hold bindings.
    Template,
    /// Exactly one binding.
    Binding,
    /// A list of bindings.
    Bindings,
    /// A kebab-case name.
    Name,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Exactly this number.
    Exactly(u32),
    /// A whole number in a range, both ends included.
    Number(u32, u32),
    /// `90s`, `15m`, `2h30m`, `3d` or ISO 8601.
    Duration,
    /// A duration or `keep`.
    Retention,
    /// `until_stopped` or a number from 1 to 10000.
    Repeat,
    /// A JSON Schema.
    Schema,
    /// A map from names to JSON Schemas.
    Schemas,
    /// A map from names to bindings.
    BindingMap,
    /// A map from names to texts.
    TextMap,
    /// A map from names to any values; texts may hold bindings.
    Data,
    /// `owner`, `user:…` or `role:…`, one or more.
    Respondents,
    /// A list of texts.
    Texts,
    /// A list of these words.
    Words(&'static [&'static str]),
    /// A text or a list of texts.
    TextOrTexts,
    /// True or false.
    Bool,
    /// A number in a range, both ends included; its digits are kept.
    Decimal(u32, u32),
    /// Any value, kept as written.
    Any,
    /// A map of the context of this name.
    Map(&'static str),
    /// A list of maps of the context of this name.
    List(&'static str),
    /// A list of steps.
    Steps,
    /// `continue`, `break`, `next`, `hold`, `{stop}` or `{steps}`.
    Transition,
    /// A transition or `{choose}`.
    OnDeadline,
    /// A map from texts to transitions.
    Cases,
    /// A map from values to labels or choices.
    Choices,
    /// A list of gates.
    Gates,
    /// A disposition of a tool policy.
    Disposition,
    /// What the `tag` beside it says.
    ByTag(&'static [(&'static str, Shape)]),
}

/// Before the name of the key that another one stands for, in the documentation of that one.
pub const OTHERWISE: &str = "Another spelling of ";

/// One key of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether the map is an error without it.
    pub required: bool,
    /// One sentence without a full stop.
    pub doc: &'static str,
}

/// One kind of map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Its name in schemas and the reference.
    pub name: &'static str,
    /// With its article, for messages: `a question step`.
    pub title: &'static str,
    /// One sentence without a full stop.
    pub doc: &'static str,
    /// Its keys in the order of the reference.
    pub keys: &'static [Key],
}

impl Context {
    /// The key of this name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The other spelling of a key, if it has one.
    #[must_use]
    pub fn other_spelling(&self, name: &str) -> Option<&'static str> {
        let of = |key: &&Key| key.doc.strip_prefix(OTHERWISE).is_some_and(|of| of.trim_matches('`') == name);
        self.keys.iter().find(of).map(|key| key.name)
    }

    /// The names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.keys.iter().map(|key| key.name)
    }
}

macro_rules! contexts {
    ($list:ident [$($more:ident)*]; $($(#[doc = $doc:literal])* $id:ident $name:literal $title:literal {
        $($key:literal $shape:expr, $need:ident, $text:literal;)*
    })*) => {
        $($(#[doc = $doc])* pub static $id: Context = Context {
            name: $name,
            title: $title,
            doc: concat!($($doc),*),
            keys: &[$(Key { name: $key, shape: $shape, required: $crate::grammar::needed::$need, doc: $text }),*],
        };)*

        /// All of them, in the order of the reference.
        pub static $list: &[&Context] = &[$(&$id,)* $(&boxes::$more,)*];
    };
}

pub mod boxes;

mod needed {
    pub(super) const MUST: bool = true;
    pub(super) const MAY: bool = false;
}

/// The contexts of the step kinds, each named like its kind key.
pub static KINDS: [&Context; 7] = [&CRON, &QUESTION, &AGENT, &LOOP, &SWITCH, &PICK, &STOP];

const ENDS: Shape = Shape::Word(&["succeeded", "failed", "cancelled"]);
const FEEDBACK: Shape = Shape::Word(&["none", "optional", "required"]);
/// The largest bound of revisions and rounds.
pub const MAX_ROUNDS: u32 = 1000;
/// The largest counted `repeat`.
pub const MAX_REPEAT: u32 = 10_000;

contexts! {
    CONTEXTS [
        TOOLBOX TOOLBOX_CONTENTS SINGLE_TOOL MCP_SERVER MCP_PROGRAM MCP_HTTP OPENAPI_TOOLBOX OPENAPI_SERVER
        ENDPOINT_FILTER SECRET SECRET_SOURCE BUILTIN_TOOLBOX SQLITE_TOOLBOX SQLITE_VERSIONING SYSTEM_TOOLBOX
        DEVELOPER_TOOLBOX FILE_SANDBOX FILE_PREDICATE EXTRA_AGENT SKILL_SOURCE
    ];
    /// A workflow definition
    DOCUMENT "document" "the document" {
        "kind" Shape::Word(&["workflow"]), MUST, "Says that the document is a workflow";
        "version" Shape::Exactly(1), MUST, "Version of this language";
        "name" Shape::Name, MUST, "Name of the workflow, kebab-case, at most 64 characters";
        "title" Shape::Text, MAY, "Title for people";
        "description" Shape::Text, MAY, "What the workflow is for";
        "inputs" Shape::Schemas, MAY, "Values that a session starts with; required unless they have a default";
        "outputs" Shape::BindingMap, MAY, "Values that a session ends with";
        "agents" Shape::TextMap, MAY, "Local names for agent references";
        "defaults" Shape::Map("defaults"), MAY, "Defaults for the steps";
        "deadline" Shape::Duration, MAY, "How long a session may take";
        "retention" Shape::Retention, MAY, "How long finished children and candidates are kept; 90 days by default";
        "guarantees" Shape::List("guarantee"), MAY, "What must hold on every path";
        "steps" Shape::Steps, MUST, "What is done, in order";
    }
    /// Defaults for the steps
    DEFAULTS "defaults" "`defaults`" {
        "deadline" Shape::Duration, MAY, "Deadline of agent steps";
        "max_revisions" Shape::Number(1, MAX_ROUNDS), MAY, "Bound of candidates of reviewed agent steps";
        "respondents" Shape::Respondents, MAY, "Who may answer and decide";
        "timezone" Shape::Text, MAY, "IANA time zone of cron steps";
    }
    /// Something that must hold on every path; the compiler proves it or shows the path that breaks it
    GUARANTEE "guarantee" "a guarantee" {
        "before" Shape::Name, MAY, "The step that is guarded";
        "accepted" Shape::Name, MAY, "A reviewed step whose result must have been accepted";
        "by" Shape::Word(&["human"]), MAY, "Who must have accepted it";
        "answered" Shape::Name, MAY, "A question that must have been answered";
        "choice" Shape::Text, MAY, "The choice that must have been taken";
        "agent_runs_between_waits" Shape::Number(0, 1_000_000), MAY, "The most agent runs between two waits";
    }
    /// Keys that every step may have
    STEP "step" "a step" {
        "id" Shape::Name, MAY, "Name by which the step is referred to, unique in the document";
        "title" Shape::Text, MAY, "Title for people";
        "description" Shape::Text, MAY, "What the step is for";
    }
    /// Waits for the next occurrence of a schedule
    CRON "cron" "a cron step" {
        "cron" Shape::Text, MUST, "Five fields or a nickname such as `@hourly`, quoted";
        "timezone" Shape::Text, MAY, "IANA time zone; required here or in `defaults`";
        "missed" Shape::Word(&["skip"]), MAY, "What passed while nobody waited is never made up";
    }
    /// Asks a person for one of fixed choices
    QUESTION "question" "a question step" {
        "question" Shape::Template, MUST, "The text that is asked";
        "choices" Shape::Choices, MUST, "The values to choose from, each with its label";
        "feedback" FEEDBACK, MAY, "Whether choices take free text, for every choice that says nothing itself";
        "respondents" Shape::Respondents, MAY, "Who may answer; the owner by default";
        "deadline" Shape::Duration, MAY, "How long the question waits; for ever by default";
        "on_deadline" Shape::OnDeadline, MAY, "Where it goes when nobody answered in time; `hold` by default";
    }
    /// Runs an agent in a fresh child session
    AGENT "agent" "an agent step" {
        "agent" Shape::Text, MUST, "A local name, a package path, a bare name or `package/agent@1.2.0`";
        "task" Shape::Template, MUST, "What the agent is to do";
        "with" Shape::Data, MAY, "Named inputs of the agent";
        "result" Shape::Schema, MAY, "JSON Schema of the result object; any object without it";
        "completion" Shape::Word(&["one_shot", "reviewed"]), MAY, "Whether a result must pass the review";
        "review" Shape::Gates, MAY, "Gates that a candidate passes in order; required with `reviewed`";
        "max_revisions" Shape::Number(1, MAX_ROUNDS), MAY, "Bound of candidates, the first included; 5 by default";
        "deadline" Shape::Duration, MAY, "How long the agent may take; 24 hours by default";
        "on_blocked" Shape::Transition, MAY, "Where it goes when the agent says that it is blocked";
        "on_failed" Shape::Transition, MAY, "Where it goes when the agent failed";
        "on_deadline" Shape::Transition, MAY, "Where it goes when the deadline passed";
        "on_exhausted" Shape::Transition, MAY, "Where it goes when the bound of candidates or rounds is reached";
    }
    /// Repeats a list of steps
    LOOP "loop" "a loop step" {
        "loop" Shape::Map("loop_body"), MUST, "What is repeated and how often";
    }
    /// Branches on a value
    SWITCH "switch" "a switch step" {
        "switch" Shape::Binding, MUST, "The value to look at: a string, boolean or integer";
        "cases" Shape::Cases, MUST, "Where each value goes";
        "default" Shape::Transition, MAY, "Where every other value goes";
    }
    /// Takes the first of several values that is there
    PICK "pick" "a pick step" {
        "pick" Shape::Bindings, MUST, "The values in order; the last must surely be there";
    }
    /// Ends the session
    STOP "stop" "a stop step" {
        "stop" ENDS, MUST, "How the session ends";
        "reason" Shape::Template, MAY, "Why, for people";
    }
    /// What a loop repeats
    LOOP_BODY "loop_body" "`loop`" {
        "repeat" Shape::Repeat, MUST, "`until_stopped` or a number from 1 to 10000";
        "deadline" Shape::Duration, MAY, "How long the whole loop may take";
        "steps" Shape::Steps, MUST, "The steps of one iteration";
        "on_exhausted" Shape::Transition, MAY, "Where it goes after the last of a counted number";
        "on_deadline" Shape::Transition, MAY, "Where it goes when the deadline passed; `hold` by default";
    }
    /// One choice of a question
    CHOICE "choice" "a choice" {
        "label" Shape::Template, MUST, "What people read";
        "description" Shape::Text, MAY, "What the choice means";
        "feedback" FEEDBACK, MAY, "Whether the choice takes free text";
        "then" Shape::Transition, MAY, "Where it goes";
    }
    /// A person who judges a candidate
    GATE_HUMAN "gate_human" "a human gate" {
        "human" Shape::Template, MUST, "The question put";
        "respondents" Shape::Respondents, MAY, "Who may decide";
        "deadline" Shape::Duration, MAY, "How long the gate waits";
        "on_deadline" Shape::Transition, MAY, "Where it goes when nobody decided in time; `hold` by default";
        "on_abort" Shape::Transition, MAY, "Where it goes when the person gives up; `hold` by default";
    }
    /// An agent that judges a candidate
    GATE_AGENT "gate_agent" "an agent gate" {
        "agent" Shape::Text, MUST, "The reference of the judging agent";
        "task" Shape::Template, MUST, "What it is to judge";
        "with" Shape::Data, MAY, "Named inputs of the agent";
        "deadline" Shape::Duration, MAY, "How long it may take";
        "max_rounds" Shape::Number(1, MAX_ROUNDS), MAY, "Bound of rejections at this gate";
    }
    /// Ends the session as a transition
    STOP_TRANSITION "stop_transition" "a stop transition" {
        "stop" ENDS, MUST, "How the session ends";
        "reason" Shape::Template, MAY, "Why, for people";
    }
    /// A nested list as a transition
    STEPS_TRANSITION "steps_transition" "a nested list" {
        "steps" Shape::Steps, MUST, "The nested steps";
        "then" Shape::Transition, MAY, "Where it goes on; `continue` by default";
    }
    /// Takes a choice when nobody answered in time
    CHOOSE "choose" "a deadline's choice" {
        "choose" Shape::Text, MUST, "The choice that is taken without a person";
    }
    /// An agent description
    AGENT_FILE "agent_file" "an agent file" {
        "slug" Shape::Text, MUST, "Short name of the agent";
        "base" Shape::Text, MAY, "What the agent builds on; `workflow-agent@1` makes it usable in workflows";
        "announce" Shape::Text, MAY, "What the agent does, for people and for other agents";
        "flavor" Shape::Word(&[
            "OpenAIv1", "MistralV1", "KimiV1", "ClaudeV1", "openai-v1", "mistral-v1", "kimi-v1", "claude-v1",
        ]), MAY, "Protocol of the model server";
        "modelUrl" Shape::Text, MUST, "Base URL of the model server";
        "modelName" Shape::Text, MUST, "Name of the model";
        "apiKeyId" Shape::Text, MAY, "Which key of the key file is sent";
        "systemPrompt" Shape::TextOrTexts, MAY, "What the model is told first";
        "executionMode" Shape::Word(&["synchronous", "asynchronous"]), MAY, "Whether calls may run in the background";
        "toolCallPolicy" Shape::Map("policy"), MAY, "What happens to the calls of tools";
        "toolCallPolicyConfig" Shape::Map("policy"), MAY, "Another spelling of `toolCallPolicy`";
        "bashToolboxes" Shape::List("toolbox"), MAY, "Command-line tools";
        "toolDirectory" Shape::Text, MAY, "One folder of command-line tools";
        "repeatableTools" Shape::Texts, MAY, "Tools whose calls may run again after a crash";
        "maxToolCalls" Shape::Number(1, 1_000_000), MAY, "Bound of tool calls";
        "maxConcurrency" Shape::Number(1, 10_000), MAY, "Bound of calls at the same time";
        "asyncCallTimeoutSeconds" Shape::Number(1, 31_536_000), MAY, "How long a background call may take";
        "inputs" Shape::Schema, MAY, "JSON Schema of what `with` must bring";
        "toolChoice" Shape::Word(&["auto", "required", "none"]), MAY, "Sent to the model server as `tool_choice`";
        "temperature" Shape::Decimal(0, 2), MAY, "Sampling temperature, a number sent as written";
        "maxTokens" Shape::Number(1, u32::MAX), MAY, "Bound of the tokens of one answer";
        "mcpServers" Shape::List("mcp_server"), MAY, "Tool servers that speak MCP";
        "openApiToolboxes" Shape::List("openapi_toolbox"), MAY, "Tools described by OpenAPI documents";
        "builtinToolboxes" Shape::List("builtin_toolbox"), MAY, "Tools that are built in";
        "extraAgents" Shape::List("extra_agent"), MAY, "Agents that this one may call";
        "skillSources" Shape::List("skill_source"), MAY, "Where skills are found";
        "autoEnableSkills" Shape::Texts, MAY, "Skills that are on from the start";
        "asyncYieldStrategy" Shape::Any, MAY, "When a turn yields while calls run";
    }
    /// What happens to the calls of tools
    POLICY "policy" "a tool policy" {
        "default" Shape::Disposition, MAY, "For tools that no rule names; `runSync` without it";
        "rules" Shape::List("policy_rule"), MAY, "The first that names the tool decides";
    }
    /// What happens to the calls of one tool
    POLICY_RULE "policy_rule" "a policy rule" {
        "tool" Shape::Text, MUST, "Full name of the tool as the model sees it";
        "disposition" Shape::Disposition, MUST, "What happens to a call";
    }
    /// What happens to a call
    DISPOSITION "disposition" "a disposition" {
        "tag" Shape::Word(&["runSync", "runAsync", "defer", "deny", "runIsolated", "decorate"]), MUST, "Which";
        "reason" Shape::Text, MAY, "With `defer` and `deny`: why";
        "spec" Shape::Map("isolation"), MAY, "With `runIsolated`: where the call runs";
        "decorators" Shape::List("decorator"), MAY, "With `decorate`: what is applied, outermost first";
        "inner" Shape::Disposition, MAY, "With `decorate`: to what";
    }
    /// Where an isolated call runs
    ISOLATION "isolation" "an isolation" {
        "tag" Shape::Word(&["docker", "localProcess", "functionRunner"]), MUST, "Which";
        "image" Shape::Text, MAY, "With `docker`: the image";
        "path" Shape::Text, MAY, "With `localProcess`: a program of the package";
        "target" Shape::Text, MAY, "With `functionRunner`: its name";
    }
    /// What wraps a call
    DECORATOR "decorator" "a decorator" {
        "tag" Shape::Word(&["timeout", "retries", "cache", "label", "truncate"]), MUST, "Which";
        "seconds" Shape::Number(1, 31_536_000), MAY, "With `timeout`: after so many seconds the call is ended";
        "count" Shape::Number(0, 100), MAY, "With `retries`: a known failure is tried again so often";
        "key" Shape::Text, MAY, "With `cache`: instead of the full arguments";
        "label" Shape::Text, MAY, "With `label`: the text";
        "maxBytes" Shape::Number(1, u32::MAX), MAY, "With `truncate`: bytes that are kept";
    }
}

/// Words of other tools that people try here, and what they would be; each is refused on purpose.
pub static EXCLUDED: &[(&str, &str)] = &[
    ("script", "scripts"),
    ("run", "scripts"),
    ("shell", "scripts"),
    ("command", "scripts"),
    ("exec", "scripts"),
    ("code", "scripts"),
    ("python", "scripts"),
    ("parallel", "parallel branches"),
    ("fork", "parallel branches"),
    ("join", "parallel branches"),
    ("branches", "parallel branches"),
    ("foreach", "parallel branches"),
    ("for_each", "parallel branches"),
    ("map", "parallel branches"),
    ("matrix", "parallel branches"),
    ("needs", "graph of dependencies"),
    ("depends_on", "graph of dependencies"),
    ("on", "event triggers"),
    ("event", "event triggers"),
    ("events", "event triggers"),
    ("trigger", "event triggers"),
    ("triggers", "event triggers"),
    ("webhook", "event triggers"),
    ("signal", "event triggers"),
    ("if", "expressions"),
    ("when", "expressions"),
    ("unless", "expressions"),
    ("expr", "expressions"),
    ("expression", "expressions"),
    ("condition", "expressions"),
    ("set", "mutable variables"),
    ("vars", "mutable variables"),
    ("variables", "mutable variables"),
    ("env", "mutable variables"),
    ("assign", "mutable variables"),
    ("compensate", "compensation"),
    ("compensation", "compensation"),
    ("rollback", "compensation"),
    ("goto", "jumps"),
    ("include", "includes"),
    ("import", "includes"),
    ("extends", "includes"),
];
