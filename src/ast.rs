//! What the author wrote: spans on everything, holes allowed.
//!
//! `parse` builds it and never fails; a part that could not be read is `None`, a `Hole`, or left out, and has been
//! reported. Nothing here is resolved: names are text, schemas are trees, schedules are text.

pub mod rehearsal;
pub mod toolbox;

use crate::source::{FileId, Span, Spanned};
use crate::time::Millis;
use crate::tree;

/// A whole definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    /// The document.
    pub span: Span,
    /// `name`, if it could be read.
    pub name: Option<Spanned<String>>,
    /// `title`.
    pub title: Option<Spanned<String>>,
    /// `description`.
    pub description: Option<Spanned<String>>,
    /// `inputs`, in written order.
    pub inputs: Vec<Input>,
    /// `outputs`, in written order.
    pub outputs: Vec<Output>,
    /// `agents`: local names.
    pub agents: Vec<AgentName>,
    /// `defaults`.
    pub defaults: Defaults,
    /// `deadline` of the session.
    pub deadline: Option<Spanned<Millis>>,
    /// `retention`; `None` inside means `keep`.
    pub retention: Option<Spanned<Option<Millis>>>,
    /// `guarantees`.
    pub guarantees: Vec<Guarantee>,
    /// `steps`.
    pub steps: Vec<Step>,
}

/// One declared input.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: Spanned<String>,
    /// Its JSON Schema as written, `default` included.
    pub schema: tree::Node,
}

/// One declared output.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: Spanned<String>,
    /// Where its value comes from.
    pub value: Template,
}

/// A local name for an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentName {
    /// The name.
    pub name: Spanned<String>,
    /// The reference it stands for, as written.
    pub reference: Spanned<String>,
}

/// `defaults` for the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {
    /// Deadline of agent steps.
    pub deadline: Option<Spanned<Millis>>,
    /// Bound of candidates.
    pub max_revisions: Option<Spanned<u32>>,
    /// Who may answer and decide.
    pub respondents: Option<Vec<Template>>,
    /// IANA zone of cron steps.
    pub timezone: Option<Spanned<String>>,
}

/// What the author wants proved.
#[derive(Clone, Debug, PartialEq)]
pub enum Guarantee {
    /// No path reaches `before` without an accepted review of `accepted` (by a person if `by_human`).
    Accepted {
        /// The whole entry.
        span: Span,
        /// Step that is guarded.
        before: Spanned<String>,
        /// Reviewed step.
        accepted: Spanned<String>,
        /// `by: human`.
        by_human: bool,
    },
    /// No path reaches `before` without the answer `choice` to `answered`.
    Answered {
        /// The whole entry.
        span: Span,
        /// Step that is guarded.
        before: Spanned<String>,
        /// Question.
        answered: Spanned<String>,
        /// The choice that must have been taken.
        choice: Spanned<String>,
    },
    /// At most this many agent runs between two waits.
    AgentRunsBetweenWaits {
        /// The whole entry.
        span: Span,
        /// The bound.
        most: Spanned<u32>,
    },
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The whole mapping.
    pub span: Span,
    /// Short place to point at: the id, else the kind key.
    pub head: Span,
    /// `id`, if written.
    pub id: Option<Spanned<String>>,
    /// `<kind>-<n>` counted in document order over the whole document, or the id: unique unless ids repeat.
    pub name: String,
    /// `title`.
    pub title: Option<Spanned<String>>,
    /// `description`.
    pub description: Option<Spanned<String>>,
    /// What it does.
    pub kind: StepKind,
}

/// The step kinds of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// Waits for the next occurrence.
    Cron(Cron),
    /// Asks a person.
    Question(Question),
    /// Runs an agent.
    Agent(AgentStep),
    /// Repeats.
    Loop(Loop),
    /// Branches on a value.
    Switch(Switch),
    /// The first of several values.
    Pick(Pick),
    /// Ends the session.
    Stop(Stop),
    /// No kind key, several, or an unreadable one; already reported.
    Hole,
}

impl StepKind {
    /// The cron step, if it is one.
    #[must_use]
    pub fn as_cron(&self) -> Option<&Cron> {
        if let Self::Cron(cron) = self { Some(cron) } else { None }
    }

    /// The question, if it is one.
    #[must_use]
    pub fn as_question(&self) -> Option<&Question> {
        if let Self::Question(question) = self { Some(question) } else { None }
    }

    /// The agent step, if it is one.
    #[must_use]
    pub fn as_agent(&self) -> Option<&AgentStep> {
        if let Self::Agent(stage) = self { Some(stage) } else { None }
    }

    /// The loop, if it is one.
    #[must_use]
    pub fn as_loop(&self) -> Option<&Loop> {
        if let Self::Loop(written) = self { Some(written) } else { None }
    }

    /// How long a question, a stage and each of its gates may wait.
    pub fn deadlines(&self) -> impl Iterator<Item = &Spanned<Millis>> {
        let question = self.as_question().and_then(|question| question.deadline.as_ref());
        let stage = self.as_agent();
        let own = stage.and_then(|stage| stage.deadline.as_ref());
        let gates =
            stage.into_iter().flat_map(|stage| &stage.review).filter_map(|gate| gate.deadline.as_ref());
        question.into_iter().chain(own).chain(gates)
    }
}

/// `cron`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cron {
    /// The expression as a scalar.
    pub expression: Option<Spanned<String>>,
    /// `timezone` of the step itself.
    pub timezone: Option<Spanned<String>>,
}

/// `question`.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The text asked.
    pub text: Template,
    /// `choices`, in written order.
    pub choices: Vec<Choice>,
    /// Where `choices` is written (the step's head if it is missing).
    pub choices_span: Span,
    /// `respondents`; `None` means the default.
    pub respondents: Option<Vec<Template>>,
    /// `deadline`.
    pub deadline: Option<Spanned<Millis>>,
    /// `on_deadline`.
    pub on_deadline: Option<Spanned<OnDeadline>>,
}

/// What a question or a gate does when nobody answers in time.
#[derive(Clone, Debug, PartialEq)]
pub enum OnDeadline {
    /// Goes there.
    Transition(Transition),
    /// Takes this choice as if answered, without a person.
    Choose(Spanned<String>),
}

/// One choice of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value that is stored.
    pub value: Spanned<String>,
    /// What people read.
    pub label: Template,
    /// What it means, for people.
    pub description: Option<Spanned<String>>,
    /// `feedback`, the step's default already applied.
    pub feedback: Feedback,
    /// `then`.
    pub then: Option<Spanned<Transition>>,
}

/// Whether a choice takes free text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// Refused.
    #[default]
    None,
    /// Taken.
    Optional,
    /// Demanded.
    Required,
}

/// `agent`.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStep {
    /// The reference as written; `None` if unreadable.
    pub agent: Option<Spanned<String>>,
    /// `task`.
    pub task: Option<Template>,
    /// `with`.
    pub with: Vec<Argument>,
    /// `result`: the JSON Schema as written.
    pub result: Option<tree::Node>,
    /// `completion: reviewed`.
    pub reviewed: bool,
    /// Where `completion` is written.
    pub completion_span: Option<Span>,
    /// `review`.
    pub review: Vec<Gate>,
    /// Where `review` is written.
    pub review_span: Option<Span>,
    /// `max_revisions`.
    pub max_revisions: Option<Spanned<u32>>,
    /// `deadline`.
    pub deadline: Option<Spanned<Millis>>,
    /// `on_blocked`.
    pub on_blocked: Option<Spanned<Transition>>,
    /// `on_failed`.
    pub on_failed: Option<Spanned<Transition>>,
    /// `on_deadline`.
    pub on_deadline: Option<Spanned<Transition>>,
    /// `on_exhausted`.
    pub on_exhausted: Option<Spanned<Transition>>,
}

/// One entry of `with`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: Spanned<String>,
    /// Its value.
    pub value: Data,
}

/// A JSON value whose texts may hold bindings.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A text, possibly with bindings.
    Template(Template),
    /// A literal that is no text.
    Literal(tree::Node),
    /// A list.
    List(Span, Vec<Data>),
    /// A map.
    Map(Span, Vec<Argument>),
}

/// One gate of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The whole mapping.
    pub span: Span,
    /// Who judges.
    pub kind: GateKind,
    /// `deadline`.
    pub deadline: Option<Spanned<Millis>>,
}

/// Who judges at a gate.
#[derive(Clone, Debug, PartialEq)]
pub enum GateKind {
    /// A person.
    Human {
        /// The question put.
        text: Template,
        /// `respondents`; `None` means the default.
        respondents: Option<Vec<Template>>,
        /// `on_deadline`.
        on_deadline: Option<Spanned<Transition>>,
        /// `on_abort`.
        on_abort: Option<Spanned<Transition>>,
    },
    /// An agent.
    Agent {
        /// The reference as written.
        agent: Option<Spanned<String>>,
        /// `task`.
        task: Option<Template>,
        /// `with`.
        with: Vec<Argument>,
        /// `max_rounds`.
        max_rounds: Option<Spanned<u32>>,
    },
    /// Neither or both; already reported.
    Hole,
}

/// `loop`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// `repeat`; `None` if unreadable.
    pub repeat: Option<Spanned<Repeat>>,
    /// `deadline`.
    pub deadline: Option<Spanned<Millis>>,
    /// The body.
    pub steps: Vec<Step>,
    /// `on_exhausted`.
    pub on_exhausted: Option<Spanned<Transition>>,
    /// `on_deadline`.
    pub on_deadline: Option<Spanned<Transition>>,
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Until something leaves it.
    UntilStopped,
    /// 1 to 10000 times.
    Times(u32),
}

/// `switch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// What is looked at; exactly one binding, else already reported.
    pub on: Template,
    /// `cases`: literal and where it goes.
    pub cases: Vec<Case>,
    /// Where `cases` is written.
    pub cases_span: Span,
    /// `default`.
    pub default: Option<Spanned<Transition>>,
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The literal as its key text; compared with the JSON text of the value (strings without their quotes).
    pub value: Spanned<String>,
    /// Where it goes.
    pub then: Spanned<Transition>,
}

/// `pick`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// Exactly one binding each, in order.
    pub from: Vec<Template>,
}

/// `stop`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// How the session ends; `None` if unreadable.
    pub status: Option<Spanned<StopStatus>>,
    /// `reason`.
    pub reason: Option<Template>,
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopStatus {
    /// Well.
    Succeeded,
    /// Not.
    Failed,
    /// Given up.
    Cancelled,
}

/// Where a definition goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    /// The next step of the list.
    Continue,
    /// Out of the innermost loop.
    Break,
    /// The next iteration of the innermost loop.
    Next,
    /// Needs attention.
    Hold,
    /// Ends the session.
    Stop(Stop),
    /// A nested list, and where it goes on.
    Steps {
        /// The nested list.
        steps: Vec<Step>,
        /// Where it goes on; `None` means `continue`.
        then: Option<Box<Spanned<Transition>>>,
    },
    /// Unreadable; already reported.
    Hole,
}

/// A text with bindings in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The whole scalar.
    pub span: Span,
    /// Texts and bindings in order; no two texts touch; empty for the empty text.
    pub parts: Vec<Part>,
}

impl Template {
    /// The binding, if the scalar is exactly one.
    #[must_use]
    pub fn sole_binding(&self) -> Option<&Binding> {
        match self.parts.as_slice() {
            [Part::Binding(binding)] => Some(binding),
            _ => None,
        }
    }

    /// All bindings in order.
    pub fn bindings(&self) -> impl Iterator<Item = &Binding> {
        self.parts.iter().filter_map(|part| match part {
            Part::Binding(binding) => Some(binding),
            Part::Text(_) => None,
        })
    }

    /// The text, if there is no binding in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Characters as they are (`$${{` already undone).
    Text(String),
    /// A binding.
    Binding(Binding),
}

/// `${{ path }}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// From `${{` to `}}`.
    pub span: Span,
    /// The first name: `inputs`, `steps`, `loop`, `session`, `candidate`, `previous`, or whatever was written.
    pub root: Spanned<String>,
    /// What follows, in order.
    pub path: Vec<Spanned<Segment>>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// `.name`
    Name(String),
    /// `[0]`
    Index(u32),
}

/// An agent file, JSON or Markdown with front matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// The file it stands in.
    pub file: FileId,
    /// The whole description.
    pub span: Span,
    /// `slug`.
    pub slug: Option<Spanned<String>>,
    /// `base`, as written.
    pub base: Option<Spanned<String>>,
    /// `announce`.
    pub announce: Option<Spanned<String>>,
    /// `flavor`.
    pub flavor: Option<Spanned<String>>,
    /// `modelUrl`.
    pub model_url: Option<Spanned<String>>,
    /// `modelName`.
    pub model_name: Option<Spanned<String>>,
    /// `apiKeyId`.
    pub api_key_id: Option<Spanned<String>>,
    /// `systemPrompt`, one or many; the body of a Markdown agent comes last.
    pub system_prompt: Vec<Spanned<String>>,
    /// `executionMode: asynchronous`.
    pub asynchronous: Option<Spanned<bool>>,
    /// `toolCallPolicy` or `toolCallPolicyConfig`.
    pub policy: Option<Policy>,
    /// `bashToolboxes` and `toolDirectory`, in order.
    pub bash_toolboxes: Vec<BashToolbox>,
    /// Everything else that it may call.
    pub toolboxes: toolbox::Toolboxes,
    /// `repeatableTools`.
    pub repeatable_tools: Vec<Spanned<String>>,
    /// `maxToolCalls`.
    pub max_tool_calls: Option<Spanned<u32>>,
    /// `maxConcurrency`.
    pub max_concurrency: Option<Spanned<u32>>,
    /// `asyncCallTimeoutSeconds`.
    pub call_timeout_seconds: Option<Spanned<u32>>,
    /// `inputs`: the JSON Schema of what `with` must bring.
    pub inputs: Option<tree::Node>,
    /// `toolChoice`.
    pub tool_choice: Option<Spanned<String>>,
    /// `temperature`, its digits as written.
    pub temperature: Option<Spanned<String>>,
    /// `maxTokens`.
    pub max_tokens: Option<Spanned<u32>>,
    /// Keys that are kept as written.
    pub later: Vec<tree::Entry>,
}

/// A tool-call policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The whole value.
    pub span: Span,
    /// `default`.
    pub default: Option<Spanned<Disposition>>,
    /// `rules`, first match wins.
    pub rules: Vec<PolicyRule>,
}

/// One rule of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRule {
    /// The whole mapping.
    pub span: Span,
    /// Exact tool name as the model sees it.
    pub tool: Spanned<String>,
    /// What happens to a call.
    pub disposition: Spanned<Disposition>,
}

/// What a policy says of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Disposition {
    /// Run now and wait.
    RunSync,
    /// Run in the background.
    RunAsync,
    /// Wait for an outside result.
    Defer {
        /// Shown to whoever must complete it.
        reason: Option<String>,
    },
    /// Refuse.
    Deny {
        /// Told to the model.
        reason: Option<String>,
    },
    /// Run in isolation.
    RunIsolated(Isolation),
    /// Another disposition under decorators, outermost first.
    Decorate {
        /// What is applied.
        decorators: Vec<Decorator>,
        /// To what.
        inner: Box<Disposition>,
    },
    /// Unreadable; already reported.
    Hole,
}

/// Where an isolated call runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// A container image.
    Docker {
        /// Image name.
        image: Spanned<String>,
    },
    /// A program of the package.
    LocalProcess {
        /// Package path.
        path: Spanned<String>,
    },
    /// A URL that the operator allows.
    FunctionRunner {
        /// Its name.
        target: Spanned<String>,
    },
}

/// What wraps a call.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Equal calls share one result.
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

/// Bash tools: a folder of them, or one.
#[derive(Clone, Debug, PartialEq)]
pub struct BashToolbox {
    /// The whole entry.
    pub span: Span,
    /// Whether the path names one tool and no folder.
    pub is_single: bool,
    /// Folder or tool, a package path.
    pub path: Spanned<String>,
    /// Only files whose name contains this.
    pub basename_filter: Option<Spanned<String>>,
}
