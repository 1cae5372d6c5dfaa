//! A frozen agent: everything that decides how it talks, what it may call and how its calls are treated.

use super::Digest;
use super::toolbox::Toolboxes;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// One agent, frozen. Paths are package paths (relative to the package root, with `/`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its short name.
    pub slug: String,
    /// `workflow-agent@1`, or none for a conversational agent.
    pub base: Option<String>,
    /// One line for people.
    pub announce: Option<String>,
    /// Package path of the file it was read from.
    pub file: String,
    /// `OpenAIv1`, `ClaudeV1` … as written.
    pub flavor: Option<String>,
    /// Base URL of the model server, or `script:<package path>` for the scripted model.
    pub model_url: Option<String>,
    /// Name of the model there.
    pub model_name: Option<String>,
    /// Which key of the operator's key file to use.
    pub api_key_id: Option<String>,
    /// Prompt paragraphs in order.
    pub system_prompt: Vec<String>,
    /// Whether a turn yields while calls run in the background.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
    /// Tool-call policy.
    pub policy: Policy,
    /// Folders of bash tools.
    pub bash_toolboxes: Vec<BashToolbox>,
    /// Everything else that it may call.
    #[serde(default, skip_serializing_if = "Toolboxes::is_empty")]
    pub toolboxes: Toolboxes,
    /// Tools whose interrupted calls may run again.
    pub repeatable_tools: Vec<String>,
    /// Calls of one turn that run side by side at most.
    pub max_concurrency: u32,
    /// Tool calls of one session at most.
    pub max_tool_calls: Option<u32>,
    /// Seconds after which a call without a timeout of its own is killed.
    pub call_timeout_seconds: u32,
    /// JSON Schema of what `with` must bring.
    pub inputs: Option<Value>,
    /// `auto`, `required`, `none`, sent to the model where given.
    pub tool_choice: Option<String>,
    /// Sampling temperature where given, digits as written.
    pub temperature: Option<Number>,
    /// Bound of one reply in tokens where given.
    pub max_tokens: Option<u32>,
    /// Parts of the description that this version keeps but does not act on, as written.
    pub later: Value,
}

impl Agent {
    /// Digest of the frozen agent.
    #[must_use]
    pub fn digest(&self) -> Digest {
        // INVARIANT: all map keys are text, so this cannot fail.
        Digest::of_json(&serde_json::to_value(self).unwrap_or(Value::Null))
    }

    /// Digest of the agent but for what was frozen of the agents that it may call: two agents that call one another
    /// can each hold that of the other.
    #[must_use]
    pub fn own_digest(&self) -> Digest {
        let mut own = self.clone();
        for extra in &mut own.toolboxes.agents {
            extra.agent = None;
            extra.announce = None;
        }
        own.digest()
    }
}

/// Bash tools: a folder of them, or one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BashToolbox {
    /// Package path of the folder, or of the tool.
    pub path: String,
    /// Only files whose name contains this.
    pub basename_filter: Option<String>,
    /// Whether the path names one tool and no folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single: bool,
}

/// What happens to each tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Where no rule fits.
    pub default: Disposition,
    /// The first rule with the exact tool name wins.
    pub rules: Vec<PolicyRule>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRule {
    /// Full name as the model sees it.
    pub tool: String,
    /// What happens.
    pub disposition: Disposition,
}

/// What a policy says of a call. Written as the agent file writes it: an object with `tag`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    /// Run now and wait.
    RunSync,
    /// Run in the background; the turn yields.
    RunAsync,
    /// Wait for an outside result.
    Defer {
        /// For whoever completes it.
        reason: Option<String>,
    },
    /// Refuse.
    Deny {
        /// Told to the model.
        reason: Option<String>,
    },
    /// Run in isolation.
    RunIsolated {
        /// Where.
        spec: Isolation,
    },
    /// Another one under decorators, outermost first.
    Decorate {
        /// What is applied.
        decorators: Vec<Decorator>,
        /// To what.
        inner: Box<Disposition>,
    },
}

/// Where an isolated call runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Isolation {
    /// A container.
    Docker {
        /// Image name.
        image: String,
    },
    /// A program of the package.
    LocalProcess {
        /// Package path.
        path: String,
    },
    /// A URL that the operator allows.
    FunctionRunner {
        /// Its name.
        target: String,
    },
}

/// What wraps a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Decorator {
    /// Killed after so many seconds.
    Timeout {
        /// Whole seconds.
        seconds: u32,
    },
    /// Known failures are tried again.
    Retries {
        /// At most so many times.
        count: u32,
    },
    /// Equal calls of one session share a result.
    Cache {
        /// Instead of the full arguments.
        key: Option<String>,
    },
    /// Shown with the call.
    Label {
        /// The text.
        label: String,
    },
    /// A longer result is cut, visibly.
    Truncate {
        /// Bytes kept.
        max_bytes: u64,
    },
}
