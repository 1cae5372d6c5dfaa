//! `flowright mcp` as a client sees it: the binary, driven by lines of JSON-RPC over pipes, with the scripted model.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const REPLIES: &str = r#"
kind: script
version: 1
replies:
  - { agent: echo, reply: 1, say: The first answer. }
  - { agent: echo, contains: again, say: The second answer. }
  - { agent: echo, fail: { message: the model is down } }
  - agent: clerk
    reply: 1
    call: [{ bash_note: { text: hello } }]
  - { agent: clerk, contains: "filed", say: It is filed. }
  - { agent: clerk, contains: more, say: There is no more. }
  - agent: slow
    reply: 1
    call: [{ bash_wait: {} }]
"#;

/// A folder with agents and a database of its own.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.write("replies.yaml", REPLIES);
        desk.agent("echo", r#","announce":"Says something.""#);
        desk.agent(
            "clerk",
            r#","toolCallPolicy":{"default":"runSync","rules":[{"tool":"bash_note","disposition":{"tag":"defer","reason":"a person files it"}}]},
            "bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"tools"}}]"#,
        );
        desk.tool("note", "true");
        std::fs::create_dir(desk.path(".flowright")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn agent(&self, slug: &str, more: &str) {
        let text = format!(
            r#"{{"slug":"{slug}","modelUrl":"script:./replies.yaml","modelName":"scripted","systemPrompt":["x"]{more}}}"#
        );
        self.write(&format!("agents/{slug}.json"), &text);
    }

    /// A tool with one optional argument, and the shell line of `run`.
    fn tool(&self, slug: &str, run: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let text = format!(
            "#!/bin/sh\ncase \"$1\" in\ndescribe) echo '{{\"slug\":\"{slug}\",\"args\":[{{\"name\":\"text\",\"arity\":\"optional\"}}]}}' ;;\nrun) {run} ;;\nesac\n"
        );
        self.write(&format!("tools/{slug}"), &text);
        std::fs::set_permissions(self.path(&format!("tools/{slug}")), std::fs::Permissions::from_mode(0o755))
            .unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env_remove("FLOWRIGHT_DB")
            .env("USER", "ada")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// What a verb prints as JSON.
    fn json(&self, words: &[&str]) -> Value {
        let output = self.command(&[words, &["--json"]].concat()).output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{words:?}: {error}: {output:?}"))
    }

    /// A server that has shaken hands.
    fn serve(&self) -> Client {
        let mut client = self.connect();
        let hello = client.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "flowright", "{hello}");
        assert!(hello["result"]["capabilities"]["tools"].is_object(), "{hello}");
        client.tell("notifications/initialized", json!({}));
        client
    }

    fn connect(&self) -> Client {
        let mut child = self.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Client { child, stdin: Some(stdin), lines: BufReader::new(stdout), last: 0 }
    }
}

struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        self.last
    }

    /// The next line, which must be a message of the protocol.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Closes stdin; the exit code, and what came on stdout after the last answer.
    fn end(mut self) -> (i32, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        while self.lines.read_line(&mut rest).unwrap() > 0 {}
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

fn said(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn agents_are_listed_as_they_are_now_and_the_end_of_stdin_ends_it_well() {
    let desk = Desk::new();
    desk.write("agents/broken.json", r#"{"slug":"broken","modelUrl":"script:x"}"#);
    let mut client = desk.serve();
    let names = |client: &mut Client| -> Vec<String> {
        let listed = client.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&mut client), ["prompt_agent_clerk", "prompt_agent_echo"]);
    let listed = client.ask("tools/list", json!({}));
    let echo = &listed["result"]["tools"][1];
    assert!(echo["description"].as_str().unwrap().starts_with("Says something. "), "{echo}");
    assert_eq!(echo["inputSchema"]["required"], json!(["prompt"]));
    desk.agent("third", "");
    assert_eq!(names(&mut client), ["prompt_agent_clerk", "prompt_agent_echo", "prompt_agent_third"]);
    assert_eq!(client.end(), (0, String::new()));
}

#[test]
fn a_call_is_a_durable_session_that_another_call_goes_on_with() {
    let desk = Desk::new();
    let mut client = desk.serve();
    let result = client.call("prompt_agent_echo", json!({ "prompt": "Say something." }));
    let report = &result["structuredContent"];
    let session = report["session_id"].as_str().unwrap().to_owned();
    let wanted = json!({ "status": "completed", "session_id": session, "answer": "The first answer." });
    assert_eq!((report, &result["isError"]), (&wanted, &json!(false)));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, wanted);
    client.end();

    // Another process goes on with it.
    let mut client = desk.serve();
    let result = client.call("prompt_agent_echo", json!({ "prompt": "again", "session": session }));
    assert_eq!(result["structuredContent"]["answer"], "The second answer.", "{result}");
    assert_eq!(result["structuredContent"]["session_id"], session);
    let kept = desk.json(&["session", "show", &session]);
    assert_eq!(kept["session"]["status"], "idle", "{kept}");
}

#[test]
fn a_session_that_waits_answers_with_what_it_waits_for_and_goes_on_later() {
    let desk = Desk::new();
    let mut client = desk.serve();
    let result = client.call("prompt_agent_clerk", json!({ "prompt": "File this." }));
    let report = result["structuredContent"].clone();
    let session = report["session_id"].as_str().unwrap().to_owned();
    let call = &report["deferred_calls"][0];
    let token = call["continuation_token"].as_str().unwrap().to_owned();
    assert_eq!(
        report,
        json!({ "status": "paused", "reason": "waiting for deferred tool calls", "session_id": session,
            "deferred_calls": [{ "tool": "bash_note", "tool_call_id": call["tool_call_id"], "continuation_token": token }] })
    );
    assert_eq!(result["isError"], false);

    // Asked again, it says the same, takes no words and asks no model.
    let before = desk.json(&["session", "show", &session])["session"]["version"].clone();
    let again = client.call("prompt_agent_clerk", json!({ "prompt": "And?", "session": session }));
    assert_eq!((&again["structuredContent"], &again["isError"]), (&report, &json!(false)));
    assert_eq!(again["content"][1]["text"], "the prompt was not taken: the session still waits");
    assert_eq!(desk.json(&["session", "show", &session])["session"]["version"], before);

    desk.write("result.txt", "filed");
    desk.json(&["session", "complete", &token, "result.txt"]);
    let done = client.call("prompt_agent_clerk", json!({ "prompt": "", "session": session }));
    assert_eq!(
        done["structuredContent"],
        json!({ "status": "completed", "session_id": session, "answer": "It is filed." })
    );
    let more = client.call("prompt_agent_clerk", json!({ "prompt": "more", "session": session }));
    assert_eq!(more["structuredContent"]["answer"], "There is no more.");
    assert_eq!(client.end(), (0, String::new()));
}

#[test]
fn what_cannot_be_done_is_said_in_its_place() {
    let desk = Desk::new();
    let mut client = desk.serve();
    let unknown =
        client.ask("tools/call", json!({ "name": "prompt_agent_nobody", "arguments": { "prompt": "x" } }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(
        unknown["error"]["message"],
        "there is no tool `prompt_agent_nobody`; there is: prompt_agent_clerk, prompt_agent_echo"
    );
    for (arguments, wanted) in [
        (json!({}), "the argument `prompt` is missing"),
        (json!({ "prompt": " " }), "the argument `prompt` is missing"),
        (json!({ "prompt": 7 }), "the argument `prompt` must be text"),
        (
            json!({ "prompt": "x", "file": "/etc/passwd" }),
            "there is no argument `file`; the tool takes: prompt, session",
        ),
        (json!({ "prompt": "x", "session": "0000" }), "there is no session `0000`"),
    ] {
        assert_eq!(said(&client.call("prompt_agent_echo", arguments)), wanted);
    }
    let other = client.call("prompt_agent_clerk", json!({ "prompt": "x" }));
    let session = other["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    let refused = client.call("prompt_agent_echo", json!({ "prompt": "x", "session": session }));
    assert_eq!(said(&refused), format!("session {session} is not of the agent `echo` of this folder"));
    // The server is as well as before.
    assert_eq!(client.call("prompt_agent_echo", json!({ "prompt": "x" }))["isError"], false);
    assert_eq!(client.end(), (0, String::new()));
}

#[test]
fn a_session_that_fails_is_an_error_with_its_reason() {
    let desk = Desk::new();
    let mut client = desk.serve();
    let first = client.call("prompt_agent_echo", json!({ "prompt": "x" }));
    let session = &first["structuredContent"]["session_id"];
    let failed = client.call("prompt_agent_echo", json!({ "prompt": "something else", "session": session }));
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["structuredContent"]["status"], "failed", "{failed}");
    assert_eq!(failed["structuredContent"]["session_id"], *session);
    let reason = failed["structuredContent"]["reason"].as_str().unwrap();
    assert!(reason.contains("the model is down"), "{reason}");
}

#[test]
fn an_agent_that_has_changed_is_not_gone_on_with() {
    let desk = Desk::new();
    let mut client = desk.serve();
    let first = client.call("prompt_agent_echo", json!({ "prompt": "x" }));
    desk.agent("echo", r#","announce":"Says something else.""#);
    let session = &first["structuredContent"]["session_id"];
    let refused = client.call("prompt_agent_echo", json!({ "prompt": "again", "session": session }));
    assert!(said(&refused).contains("has changed since the session began"), "{refused}");
}

#[test]
fn a_call_that_is_taken_back_stops_and_its_session_can_go_on() {
    let desk = Desk::new();
    desk.agent("slow", r#","bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"tools"}}]"#);
    // It says that it runs, and ends only when it is ended.
    let ran = desk.path("ran");
    assert!(Command::new("mkfifo").arg(&ran).status().unwrap().success());
    desk.tool("wait", &format!("echo up > '{}'; cat '{}'", ran.display(), ran.display()));
    let mut client = desk.serve();
    let id = client.begin(
        "tools/call",
        json!({ "name": "prompt_agent_slow", "arguments": { "prompt": "x" }, "_meta": { "progressToken": "p" } }),
    );
    let progress = client.next();
    assert_eq!(
        (&progress["method"], &progress["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p"))
    );
    let message = progress["params"]["message"].as_str().unwrap();
    let session = message.strip_prefix("session ").unwrap().to_owned();
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "up\n");
    client.tell("notifications/cancelled", json!({ "requestId": id }));

    // Nothing holds the session any more: it can be driven, and its call is not run again by itself.
    let settled = loop {
        let result = client.call("prompt_agent_slow", json!({ "prompt": "", "session": session }));
        if result["isError"] == false {
            break result["structuredContent"].clone();
        }
        assert!(said(&result).contains("is being driven"), "{result}");
    };
    assert_eq!((&settled["status"], &settled["deferred_calls"]), (&json!("paused"), &json!([])), "{settled}");
    assert!(settled["reason"].as_str().unwrap().contains("bash_wait"), "{settled}");
    assert_eq!(client.end(), (0, String::new()));
}

#[test]
fn a_folder_without_agents_is_wrong_use_and_prints_no_line_of_protocol() {
    let desk = Desk::new();
    let output = desk.command(&["mcp", "tools"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "flowright: there is no agent in tools that can be offered\n");
}

#[test]
fn a_client_that_leaves_before_the_handshake_is_no_fault() {
    assert_eq!(Desk::new().connect().end(), (0, String::new()));
}
