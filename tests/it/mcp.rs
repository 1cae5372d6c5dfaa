//! Tools of MCP servers: a stand-in server of a few lines is listed, called, broken in the middle and started anew.

use flowright::engine::SessionId;
use flowright::engine::agent::event::{CallMade, Spec};
use flowright::host::perform::{Output, ToolRequest};
use flowright::host::tool::mcp::McpBox;
use flowright::host::tool::toolbox::{Kit, Listing, Place, Toolbox};
use flowright::ir;
use flowright::ir::toolbox::McpServer;
use indexmap::IndexMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

/// Speaks line JSON-RPC. What a tool does is in its name; each start and each cancellation is a line of a file.
const SERVER: &str = r#"
import json, os, sys

def note(text):
    with open("notes", "a") as notes:
        notes.write(text + "\n")

def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()

NAMES = ["echo", "half", "silent", "other-id", "environment", "picture", "both", "numbers", "fails", "refuses"]
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]
TOOLS[0].update(description="Says it\u202e again.", annotations={"readOnlyHint": True},
    inputSchema={"type": "object", "properties": {"text": {"type": "string"}}, "x-own": 1.50})
TOOLS[1].update(annotations={"idempotentHint": False})
TOOLS.append({"name": "two words", "inputSchema": {"type": "object"}})

note("started")
sys.stderr.write("first words\n")
sys.stderr.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method == "initialize":
        send({"id": number, "result": {"protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "stand-in", "version": "1"}}})
    elif method == "ping":
        send({"id": number, "result": {}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": TOOLS}})
    elif method == "notifications/cancelled":
        note("cancelled")
    elif method == "tools/call":
        name, given = params["name"], params.get("arguments") or {}
        text = lambda said: {"content": [{"type": "text", "text": said}]}
        if name == "echo":
            send({"id": number, "result": text(given["text"])})
        elif name == "half":
            sys.stderr.write("out of \x1bpaper\n")
            sys.stderr.flush()
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"resu' % number)
            sys.stdout.flush()
            os._exit(7)
        elif name == "other-id":
            send({"id": number + 1000, "result": text("not yours")})
        elif name == "environment":
            send({"id": number, "result": text("\n".join(sorted(os.environ)))})
        elif name == "picture":
            send({"id": number, "result": {"content": [{"type": "text", "text": "here"},
                {"type": "image", "mimeType": "image/png", "data": "AAEC"},
                {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "/w=="}}]}})
        elif name == "both":
            send({"id": number, "result": {"structuredContent": {"n": 1}, **text('{"n": 1}')}})
        elif name == "numbers":
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":'
                '{"a":1.50,"b":18446744073709551616}}}\n' % number)
            sys.stdout.flush()
        elif name == "fails":
            send({"id": number, "result": {"isError": True, **text("no such file")}})
        elif name == "refuses":
            send({"id": number, "error": {"code": -32602, "message": "bad arguments"}})
"#;

/// A package folder with the stand-in, and its box.
struct Desk {
    folder: tempfile::TempDir,
    tools: McpBox,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), SERVER).unwrap();
        let tools = McpBox::new(
            McpServer::Program {
                name: "s".to_owned(),
                executable: "python3".to_owned(),
                args: vec!["server.py".to_owned()],
                env: IndexMap::from([("OF_DEFINITION".to_owned(), "1".to_owned())]),
            },
            folder.path().to_owned(),
            Kit::default(),
        );
        Self { folder, tools }
    }

    async fn list(&self) -> Listing {
        list(&self.tools, self.folder.path()).await
    }

    async fn call(&self, tool: &str, arguments: &str) -> Output {
        self.call_within(tool, arguments, 60).await
    }

    async fn call_within(&self, tool: &str, arguments: &str, seconds: u32) -> Output {
        self.tools.call(request(self.folder.path(), tool, arguments, seconds)).await
    }

    fn notes(&self, what: &str) -> usize {
        let notes = std::fs::read_to_string(self.folder.path().join("notes")).unwrap_or_default();
        notes.lines().filter(|line| *line == what).count()
    }
}

async fn list(tools: &McpBox, root: &Path) -> Listing {
    tools.list(Place { root: root.to_owned(), session: SessionId("s-1".to_owned()) }).await
}

fn request(root: &Path, tool: &str, arguments: &str, seconds: u32) -> ToolRequest {
    let text = r#"{"slug":"a","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["x"]}"#;
    let main = flowright::compile::MainDocument {
        name: "a.json".to_owned(),
        package_path: "a.json".to_owned(),
        bytes: text.into(),
    };
    let agent = Arc::new(flowright::compile::compile_agent(main).agent.unwrap());
    ToolRequest {
        spec: Arc::new(Spec {
            session: SessionId("s-1".to_owned()),
            slug: "a".to_owned(),
            agent: agent.digest(),
            root: root.display().to_string(),
            owner: "ada".to_owned(),
            prompt: String::new(),
            with: IndexMap::new(),
            contract: None,
            media: Vec::new(),
            caller: None,
            forked_from: None,
        }),
        agent,
        call: CallMade {
            id: "call-1".to_owned(),
            provider_id: String::new(),
            name: format!("mcp_s_{tool}"),
            arguments: arguments.to_owned(),
        },
        reply: 1,
        decorators: vec![ir::Decorator::Timeout { seconds }],
        isolation: None,
        admission: 1,
        token: None,
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn text(text: &str) -> Output {
    Output::Text(text.to_owned())
}

fn fault(output: Output) -> String {
    match output {
        Output::Failed(said) => said,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tools_are_listed_and_called_over_one_process() {
    block_on(async {
        let desk = Desk::new();
        assert_eq!(desk.notes("started"), 0, "nothing is started before it is needed");
        let listing = desk.list().await;
        assert_eq!(listing.faults.len(), 1, "{:?}", listing.faults);
        assert!(listing.faults[0].contains("`two words`"), "{:?}", listing.faults);
        let echo = &listing.tools[0];
        assert_eq!(echo.name, "mcp_s_echo");
        assert_eq!(echo.description, "Says it\\u{202e} again.");
        assert_eq!(echo.parameters["x-own"].to_string(), "1.5");
        assert!(echo.repeatable);
        assert!(!listing.tools[1].repeatable && !listing.tools[2].repeatable);
        assert_eq!(desk.call("echo", r#"{"text":"hé"}"#).await, text("hé"));
        assert_eq!(desk.call("echo", r#"{"text":"b"}"#).await, text("b"));
        assert_eq!(fault(desk.call("gone", "{}").await), "the tool `mcp_s_gone` is gone");
        assert_eq!(desk.notes("started"), 1);
    });
}

#[test]
fn results_of_every_kind() {
    block_on(async {
        let desk = Desk::new();
        let png = Output::Media { mime: "image/png".to_owned(), bytes: vec![0, 1, 2], name: None };
        let blob = Output::Media {
            mime: "application/octet-stream".to_owned(),
            bytes: vec![255],
            name: Some("b.bin".to_owned()),
        };
        assert_eq!(desk.call("picture", "").await, Output::Mixed(vec![text("here"), png, blob]));
        assert_eq!(desk.call("both", "{}").await, Output::Json(serde_json::json!({ "n": 1 })));
        let Output::Json(numbers) = desk.call("numbers", "{}").await else { panic!("no JSON") };
        assert_eq!(numbers.to_string(), r#"{"a":1.50,"b":18446744073709551616}"#);
        assert_eq!(fault(desk.call("fails", "{}").await), "no such file");
        assert_eq!(fault(desk.call("refuses", "{}").await), "the tool server `s` refuses: bad arguments");
        assert!(fault(desk.call("echo", "[]").await).contains("must be a JSON object"));
    });
}

/// Invariant 7: what a definition brings sees no key.
#[test]
fn a_server_sees_few_variables() {
    block_on(async {
        let desk = Desk::new();
        let Output::Text(names) = desk.call("environment", "{}").await else { panic!("no text") };
        let names: Vec<&str> = names.lines().collect();
        assert!(names.contains(&"OF_DEFINITION") && names.contains(&"PATH"), "{names:?}");
        // Cargo sets this for the test itself.
        assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
        assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    });
}

#[test]
fn b54_half_a_line_and_an_exit_fail_the_call_and_the_next_one_starts_the_server_anew() {
    block_on(async {
        let desk = Desk::new();
        let said = fault(desk.call("half", "{}").await);
        assert_eq!(
            said,
            "the tool server `s` ended with exit code 7, its last words being `out of \\u{1b}paper`, during the call; \
             the call may have had its effect"
        );
        assert_eq!(desk.call("echo", r#"{"text":"again"}"#).await, text("again"));
        assert_eq!(desk.notes("started"), 2);
    });
}

#[test]
fn b54_a_server_that_never_answers_is_told_to_stop() {
    block_on(async {
        let desk = Desk::new();
        // A call that may be at it still is not known to have failed.
        let Output::Unknown(said) = desk.call_within("silent", "{}", 1).await else { panic!() };
        assert!(said.starts_with("the tool server `s` did not answer within 1 s"), "{said}");
        assert_eq!(desk.call("echo", r#"{"text":"there"}"#).await, text("there"));
        assert_eq!((desk.notes("started"), desk.notes("cancelled")), (1, 1));
    });
}

#[test]
fn b54_an_answer_with_another_id_is_no_answer() {
    block_on(async {
        let desk = Desk::new();
        let Output::Unknown(said) = desk.call_within("other-id", "{}", 1).await else { panic!() };
        assert!(said.contains("did not answer within 1 s"), "{said}");
        assert_eq!(desk.call("echo", r#"{"text":"mine"}"#).await, text("mine"));
    });
}

/// The future of a call that is dropped takes the call back.
#[test]
fn a_dropped_call_is_cancelled() {
    block_on(async {
        let desk = Desk::new();
        desk.list().await;
        let mut call = Box::pin(desk.call("silent", "{}"));
        tokio::select! {
            biased;
            output = &mut call => panic!("{output:?}"),
            () = async { desk.call("echo", r#"{"text":"x"}"#).await; } => {}
        }
        drop(call);
        assert_eq!(desk.call("echo", r#"{"text":"y"}"#).await, text("y"));
        assert_eq!((desk.notes("started"), desk.notes("cancelled")), (1, 1));
    });
}

#[test]
fn servers_that_cannot_be_reached_are_one_fault() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let program = |executable: &str, args: &[&str]| McpServer::Program {
            name: "s".to_owned(),
            executable: executable.to_owned(),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            env: IndexMap::new(),
        };
        let http = |url: &str, key: Option<&str>| McpServer::Http {
            name: "s".to_owned(),
            url: url.to_owned(),
            headers: IndexMap::new(),
            api_key_id: key.map(str::to_owned),
        };
        for (server, says) in [
            (program("no-such-program-here", &[]), "cannot be started"),
            (program("../out", &[]), "leaves the package"),
            (program("./bin/none", &[]), "is not in the package"),
            (program("sh", &["-c", "echo why >&2; exit 3"]), "exit code 3, its last words being `why`"),
            (program("sh", &["-c", "read line; echo '{}'; exit 0"]), "before it was ready"),
            (http("http://127.0.0.1:9/mcp", None), "cannot be reached"),
            (http("http://127.0.0.1:9/mcp", Some("none-such")), "there is no key `none-such`"),
        ] {
            let tools = McpBox::new(server, folder.path().to_owned(), Kit::default());
            let listing = list(&tools, folder.path()).await;
            assert_eq!((listing.tools.len(), listing.faults.len()), (0, 1), "{says}");
            let said = &listing.faults[0];
            assert!(said.starts_with("the tool server `s` ") && said.contains(says), "{said}");
        }
    });
}
