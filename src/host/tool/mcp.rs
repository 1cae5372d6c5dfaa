//! Tools of servers that speak MCP: one box a server, reached at its first use, kept, and reached anew once it is dead.

mod child;
mod reach;
mod result;

use super::bash::{arguments, timeout_of};
use super::toolbox::{Kit, Listing, Place, Toolbox};
use crate::escape;
use crate::host::perform::{Doing, Output, ToolRequest, ToolSpec};
use crate::ir::toolbox::McpServer;
use reach::Reached;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long a server may take until it is ready, and to list its tools.
const READY_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a server that let a call time out may take to show that it is still there.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// So long a failure to reach a server stands: one step of an agent asks for the tools more than once.
const FAILURE_STANDS: Duration = Duration::from_secs(2);
/// Of what a server says about a failure so much is shown.
const MOST_SAID: usize = 2000;

/// The tools of one server.
#[derive(Clone)]
pub struct McpBox {
    inner: Arc<Inner>,
}

struct Inner {
    server: McpServer,
    root: PathBuf,
    kit: Kit,
    state: Mutex<State>,
}

/// What became of the last try to reach the server.
enum State {
    /// There was none, or its server is gone.
    Closed,
    Open(Arc<Reached>),
    Failed {
        at: Instant,
        why: String,
    },
}

impl McpBox {
    /// For a server of an agent whose package is at `root`. Nothing is started yet.
    #[must_use]
    pub fn new(server: McpServer, root: PathBuf, kit: Kit) -> Self {
        Self { inner: Arc::new(Inner { server, root, kit, state: Mutex::new(State::Closed) }) }
    }
}

impl Toolbox for McpBox {
    fn list(&self, _place: Place) -> Doing<Listing> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            match inner.tools().await {
                Ok((_, tools)) => listing(inner.server.name(), &tools),
                Err(fault) => Listing { tools: Vec::new(), faults: vec![fault] },
            }
        })
    }

    fn call(&self, request: ToolRequest) -> Doing<Output> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { inner.call(&request).await.unwrap_or_else(|output| output) })
    }
}

impl Inner {
    /// The server, reached anew if there is none or it is dead.
    async fn reached(&self) -> Result<Arc<Reached>, String> {
        let mut state = self.state.lock().await;
        match &*state {
            State::Open(reached) if !reached.is_dead() && reached.still_answers(PING_TIMEOUT).await => {
                return Ok(Arc::clone(reached));
            }
            State::Failed { at, why } if at.elapsed() < FAILURE_STANDS => return Err(why.clone()),
            State::Closed | State::Open(_) | State::Failed { .. } => {}
        }
        // Whoever still waits for the old one keeps it.
        *state = State::Closed;
        match Reached::open(&self.server, &self.root, &self.kit, READY_TIMEOUT).await {
            Ok(reached) => {
                let reached = Arc::new(reached);
                *state = State::Open(Arc::clone(&reached));
                Ok(reached)
            }
            Err(why) => {
                *state = State::Failed { at: Instant::now(), why: why.clone() };
                Err(why)
            }
        }
    }

    /// The server and its tools as it has last told them.
    async fn tools(&self) -> Result<(Arc<Reached>, Arc<Vec<Tool>>), String> {
        let reached = self.reached().await?;
        match tokio::time::timeout(READY_TIMEOUT, reached.tools()).await {
            Ok(Ok(tools)) => Ok((reached, tools)),
            Ok(Err(error)) => Err(self.said(&reached, "while it listed its tools", error).await),
            Err(_) => {
                reached.doubt();
                let name = self.server.name();
                let seconds = READY_TIMEOUT.as_secs();
                Err(format!("the tool server `{name}` did not list its tools within {seconds} s"))
            }
        }
    }

    /// The other side is a call that gave nothing: failed, or with an outcome that nobody knows.
    async fn call(&self, request: &ToolRequest) -> Result<Output, Output> {
        let arguments = arguments::parse(&request.call.arguments).map_err(Output::Failed)?;
        let name = self.server.name();
        let (reached, tools) = self.tools().await.map_err(Output::Failed)?;
        let tool = tools.iter().find(|tool| full_name(name, &tool.name) == request.call.name);
        let gone = || Output::Failed(format!("the tool `{}` is gone", request.call.name));
        let tool = tool.ok_or_else(gone)?;
        let may_repeat =
            described(name, tool).repeatable || request.agent.repeatable_tools.contains(&request.call.name);
        // A server that may be at it still leaves nobody knowing (invariant 13); a process that has ended does not.
        let open = |why: String| if may_repeat { Output::Failed(why) } else { Output::Unknown(why) };
        let asked = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
        let timeout = timeout_of(request);
        // What is dropped before its answer has come is taken back: the server is sent the notification.
        match tokio::time::timeout(timeout, reached.peer().call_tool_once(asked)).await {
            Ok(Ok(CallToolResponse::Complete(given))) => Ok(result::of(given)),
            Ok(Ok(other)) => Err(Output::Failed(unsupported(name, &other))),
            Ok(Err(error)) => {
                let is_answer =
                    matches!(error, ServiceError::McpError(_)) || error.is_authorization_required();
                let why = self.said(&reached, "during the call", error).await;
                let is_program = matches!(self.server, McpServer::Program { .. });
                Err(if is_answer || is_program { Output::Failed(why) } else { open(why) })
            }
            Err(_) => {
                reached.doubt();
                Err(open(format!(
                    "the tool server `{name}` did not answer within {} s and was told to stop; the call may have had \
                     its effect",
                    timeout.as_secs()
                )))
            }
        }
    }

    /// An error of a request as one sentence.
    async fn said(&self, reached: &Reached, when: &str, error: ServiceError) -> String {
        let name = self.server.name();
        if let ServiceError::McpError(error) = &error {
            return format!("the tool server `{name}` refuses: {}", short(&error.message));
        }
        if error.is_authorization_required() {
            reached.forget_key(&self.kit.keys);
        }
        let why = if matches!(error, ServiceError::UnexpectedResponse) {
            "gave an answer of an unknown form".to_owned()
        } else if matches!(error, ServiceError::TransportClosed) {
            reached.ending().await
        } else {
            reached.bury();
            let gone = reached.ending().await;
            format!("{gone} ({})", reached.without_key(&innermost(&error)))
        };
        let effect = if when == "during the call" { "; the call may have had its effect" } else { "" };
        format!("the tool server `{name}` {why} {when}{effect}")
    }
}

/// What the model sees of the tools.
fn listing(server: &str, tools: &[Tool]) -> Listing {
    let mut listing = Listing::default();
    for tool in tools {
        let hidden = |c: char| c.is_whitespace() || escape::is_hidden(c);
        if tool.name.is_empty() || tool.name.contains(hidden) {
            let shown = short(&tool.name);
            listing.faults.push(format!(
                "the tool server `{server}` offers a tool `{shown}`, whose name holds characters that no name may hold"
            ));
            continue;
        }
        listing.tools.push(described(server, tool));
    }
    listing
}

fn described(server: &str, tool: &Tool) -> ToolSpec {
    let hints = tool.annotations.as_ref();
    let is_set = |hint: Option<bool>| hint == Some(true);
    let about = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    ToolSpec {
        name: full_name(server, &tool.name),
        description: escape::visible_lines(about).into_owned(),
        parameters: Value::Object(Map::clone(&tool.input_schema)),
        repeatable: hints.is_some_and(|hints| is_set(hints.read_only_hint) || is_set(hints.idempotent_hint)),
    }
}

fn full_name(server: &str, tool: &str) -> String {
    format!("mcp_{server}_{tool}")
}

fn unsupported(name: &str, response: &CallToolResponse) -> String {
    let what = if matches!(response, CallToolResponse::InputRequired(_)) {
        "asks back, and nobody is there to answer"
    } else if matches!(response, CallToolResponse::Task(_)) {
        "answers with a task to be asked for later, which is not supported"
    } else {
        "answers in a way that is not supported"
    };
    format!("the tool server `{name}` {what}")
}

/// The last cause of an error: what lies above it only says where it happened.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    short(&last.to_string())
}

/// A text of a server for a sentence: one line, visible, not long.
fn short(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MOST_SAID) {
        Some((at, _)) => format!("{}…", escape::visible(text.get(..at).unwrap_or_default())),
        None => escape::visible(text).into_owned(),
    }
}
