//! `flowright mcp`: the agents of a folder as tools of a server that speaks MCP over stdin and stdout. Standard output
//! carries the protocol and nothing else.

mod agents;
mod call;

use super::{Database, Exit, Failure, output};
use agents::Offered;
use call::{Asked, Outcome};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, serve_server};
use rmcp::transport::stdio_pipes;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{RwLock, mpsc};

/// How long calls that nobody waits for may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
const INSTRUCTIONS: &str = "Each tool puts a task to an agent, which works in a durable session. `status` of the \
     result is `completed` with an `answer`, or `paused` while somebody outside has to decide or to give a result: \
     then call the same tool later with `session` set to `session_id` and an empty `prompt`, not at once.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder that is searched for agent files, or one agent file
    #[arg(value_name = "FOLDER", default_value = ".")]
    place: PathBuf,
    #[command(flatten)]
    database: Database,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let (found, faults) = agents::find(&arguments.place);
    for fault in &faults {
        output::note(fault);
    }
    if found.is_empty() {
        let place = arguments.place.display();
        return Err(Failure::usage(format!("there is no agent in {place} that can be offered")));
    }
    // A database that cannot be opened is said before anybody asks.
    super::database::host(&arguments.database)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Fault, format!("the runtime cannot be started: {error}")))?;
    let exit = runtime.block_on(serve(arguments));
    // A read of a terminal cannot be taken back.
    runtime.shutdown_background();
    exit
}

async fn serve(arguments: &Arguments) -> Result<Exit, Failure> {
    let calls = Arc::<RwLock<()>>::default();
    let server = Server {
        place: arguments.place.clone(),
        database: arguments.database.clone(),
        calls: Arc::clone(&calls),
    };
    let service = match serve_server(server, stdio_pipes()).await {
        Ok(service) => service,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Exit::Done),
        Err(error) => {
            return Err(Failure::new(Exit::Findings, format!("the client does not speak MCP: {error}")));
        }
    };
    // The end of stdin ends it, and so does Ctrl-C; what then still runs is stopped and stays in the store.
    let stop = service.cancellation_token();
    let interrupt = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    let ended = service.waiting().await;
    interrupt.abort();
    let _ = tokio::time::timeout(STOP_TIMEOUT, calls.write()).await;
    match ended {
        Ok(_) => Ok(Exit::Done),
        Err(error) => Err(Failure::new(Exit::Fault, format!("the server ended: {error}"))),
    }
}

/// Answers one client.
struct Server {
    place: PathBuf,
    database: Database,
    /// Held by each call for reading.
    calls: Arc<RwLock<()>>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("flowright", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offered().await?.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let offered = self.offered().await?;
        let Some(agent) = offered.iter().find(|agent| agent.tool() == request.name).cloned() else {
            let known: Vec<String> = offered.iter().map(Offered::tool).collect();
            let name = crate::escape::visible(&request.name);
            let message = format!("there is no tool `{name}`; there is: {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let asked = match Asked::read(&request.arguments.unwrap_or_default()) {
            Ok(asked) => asked,
            Err(why) => return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into()),
        };
        let calls = Arc::clone(&self.calls).read_owned().await;
        let (database, gone) = (self.database.clone(), context.ct.clone());
        let (told, mut heard) = mpsc::unbounded_channel();
        let work = tokio::task::spawn_blocking(move || {
            let _calls = calls;
            call::work(&database, &agent, &asked, &told, async move { gone.cancelled().await })
        });
        if let (Some(session), Some(token)) = (heard.recv().await, context.meta.get_progress_token()) {
            let progress =
                ProgressNotificationParam::new(token, 0.0).with_message(format!("session {session}"));
            // Who does not hear it learns it from the result.
            let _ = context.peer.notify_progress(progress).await;
        }
        match work.await {
            Ok(Ok(outcome)) => Ok(result(outcome).into()),
            Ok(Err(failure)) => Ok(CallToolResult::error(vec![ContentBlock::text(failure.message)]).into()),
            Err(_) => Err(ErrorData::internal_error("a fault inside Flowright ended the call", None)),
        }
    }
}

impl Server {
    /// The agents as they are now.
    async fn offered(&self) -> Result<Vec<Offered>, ErrorData> {
        let place = self.place.clone();
        match tokio::task::spawn_blocking(move || agents::find(&place)).await {
            Ok((found, _)) => Ok(found),
            Err(_) => Err(ErrorData::internal_error("a fault inside Flowright ended the search", None)),
        }
    }
}

fn tool(agent: &Offered) -> Tool {
    let about = agent.announce.clone().unwrap_or_else(|| format!("The agent `{}`.", agent.slug));
    let schema = json!({
        "type": "object",
        "required": ["prompt"],
        "additionalProperties": false,
        "properties": {
            "prompt": { "type": "string", "description": "What to do; empty together with `session` only goes on" },
            "session": { "type": "string", "description": "`session_id` of an earlier result, to go on with it" }
        }
    });
    let schema = match schema {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    let about = format!(
        "{about} It works by itself and sees nothing of this conversation: say in `prompt` everything that it needs \
         to know."
    );
    Tool::new(agent.tool(), crate::escape::visible_lines(&about).into_owned(), schema)
        .with_annotations(ToolAnnotations::new().read_only(false).idempotent(false))
}

fn result(outcome: Outcome) -> CallToolResult {
    let mut result = if outcome.is_failure {
        CallToolResult::structured_error(outcome.report)
    } else {
        CallToolResult::structured(outcome.report)
    };
    result.content.extend(outcome.note.map(ContentBlock::text));
    result
}
