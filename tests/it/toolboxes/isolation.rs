//! Isolated calls: envelopes, programs of the package, stand-ins for container programs and function runners.

use super::{Desk, block_on, fault};
use flowright::host::isolate;
use flowright::host::perform::{Output, ToolRequest};
use flowright::host::tool::toolbox::{Allowed, Function, Kit, Walls};
use flowright::ir;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

/// Takes the envelope, does what its lines say, answers with what they leave in `answer`.
const WORKER: &str = r#"#!/usr/bin/env python3
import json, os, sys
given = json.load(sys.stdin)
open("given.json", "w").write(json.dumps({"envelope": given, "environment": dict(os.environ), "words": sys.argv[1:]}))
answer = {"token": given["token"], "status": "success", "result": {"said": json.loads(given["toolCall"]["function"]["arguments"])}}
"#;

fn desk(lines: &str) -> Desk {
    let desk = Desk::with(r#""toolDirectory":".""#);
    desk.script("worker", &format!("{WORKER}{lines}\nprint(json.dumps(answer))\n"));
    desk
}

fn local() -> ir::Isolation {
    ir::Isolation::LocalProcess { path: "./worker".to_owned() }
}

fn docker() -> ir::Isolation {
    ir::Isolation::Docker { image: "debian:stable-slim".to_owned() }
}

fn function() -> ir::Isolation {
    ir::Isolation::FunctionRunner { target: "far".to_owned() }
}

fn kit(allowed: Allowed) -> Kit {
    Kit { allowed: Arc::new(allowed), ..Kit::default() }
}

impl Desk {
    fn call_of(&self, place: &ir::Isolation) -> ToolRequest {
        ToolRequest { isolation: Some(place.clone()), ..self.request("bash_build", r#"{"n":1}"#) }
    }

    fn isolated(&self, allowed: Allowed, place: &ir::Isolation) -> Output {
        block_on(isolate::run(&kit(allowed), &self.call_of(place), place))
    }

    fn possible(&self, allowed: Allowed, place: &ir::Isolation) -> Result<(), String> {
        block_on(isolate::possible(&kit(allowed), self.path(), place))
    }

    fn given(&self) -> Value {
        serde_json::from_str(&self.read("given.json")).unwrap()
    }
}

fn within(seconds: u32, request: ToolRequest) -> ToolRequest {
    ToolRequest { decorators: vec![ir::Decorator::Timeout { seconds }], ..request }
}

#[test]
fn a_program_of_the_package_gets_the_envelope_and_answers_with_the_other() {
    let desk = desk("");
    let output = desk.isolated(Allowed::default(), &local());
    assert_eq!(output, Output::Json(json!({"said": {"n": 1}})));
    let given = desk.given();
    let envelope = &given["envelope"];
    let call = json!({"id":"call-1","index":0,"type":"function","function":{"name":"bash_build","arguments":"{\"n\":1}"}});
    assert_eq!(envelope["toolCall"], call);
    assert_eq!(
        envelope["contextSnapshot"],
        json!({"ctxSessionId":"s-1","ctxConversationId":"s-1","ctxTurnId":"3","ctxCallStack":["a"],
            "ctxAllowedTools":["bash_build"],"ctxParentConversation":null})
    );
    let spec = json!({"tag":"runIsolated","spec":{"tag":"localProcess","path":"./worker"}});
    assert_eq!(envelope["policy"]["disposition"], spec);
    assert!(envelope["token"].as_str().is_some_and(|token| token.len() >= 32), "{envelope}");
    assert_eq!(given["words"], json!([]));
}

/// Variables that a runner sees, by name.
fn environment(allowed: Allowed) -> Vec<(String, String)> {
    let desk = desk("");
    desk.script("worker", "#!/bin/sh\nenv > environment\n");
    fault(desk.isolated(allowed, &local()));
    let text = desk.read("environment");
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    // What a shell adds by itself is no variable of ours.
    let own = pairs.filter(|(name, _)| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn it_sees_few_variables_and_a_scratch_folder_that_goes_with_it() {
    let seen = environment(Allowed::default());
    let scratch = &seen.iter().find(|(name, _)| name == "TMPDIR").unwrap().1;
    assert!(scratch.contains("/flowright-"), "{scratch}");
    assert!(!std::path::Path::new(scratch).exists());
    let plain = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
    let strange: Vec<_> =
        seen.iter().filter(|(name, _)| !plain.contains(&name.as_str()) && !name.starts_with("LC_")).collect();
    assert_eq!(strange, Vec::<&(String, String)>::new());
    let allowed = Allowed { environment: vec!["CARGO_M*".to_owned()], ..Allowed::default() };
    assert!(environment(allowed).iter().any(|(name, _)| name == "CARGO_MANIFEST_DIR"));
}

#[test]
fn every_wrong_answer_is_named() {
    let cases = [
        (
            "answer = dict(answer, token='other')",
            "answered for another call: the token of its envelope differs",
        ),
        ("del answer['token']", "answered with an envelope without a token"),
        ("del answer['result']", "says success and gives no `result`"),
        (
            "answer = dict(answer, status='fine')",
            "answered with the status `fine`, which is neither success nor error",
        ),
        ("del answer['status']", "answered with an envelope without a status"),
        ("sys.stderr.write('no disk'); sys.exit(3)", "ended with exit code 3: no disk"),
        ("print('half'); sys.exit(0)", "answered with no result envelope"),
        ("sys.exit(0)", "answered with nothing"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe{'); sys.exit(0)", "answered with bytes that are no text"),
        ("print('x' * 5000000)", "answered with 5000"),
        ("answer = dict(token=given['token'], status='error')", "says error and does not say which"),
    ];
    for (lines, expected) in cases {
        let said = fault(desk(lines).isolated(Allowed::default(), &local()));
        assert!(said.starts_with("the program `./worker` ") && said.contains(expected), "{lines}: {said}");
    }
    let told = desk("answer = dict(token=given['token'], status='error', error='the disk is full')");
    assert_eq!(fault(told.isolated(Allowed::default(), &local())), "the disk is full");
}

#[test]
fn results_keep_their_form_and_their_digits() {
    let text = desk("answer['result'] = {'type': 'text', 'content': 'done'}");
    assert_eq!(text.isolated(Allowed::default(), &local()), Output::Text("done".to_owned()));
    let picture = desk("answer['result'] = {'type':'media','mimeType':'image/png','base64Data':'AAEC'}");
    let expected = Output::Media { mime: "image/png".to_owned(), bytes: vec![0, 1, 2], name: None };
    assert_eq!(picture.isolated(Allowed::default(), &local()), expected);
    let lines = "print('{\"token\":\"%s\",\"status\":\"success\",\"result\":{\"n\":1e3}}' % given['token']); sys.exit(0)";
    let number = desk(lines).isolated(Allowed::default(), &local());
    assert_eq!(number, Output::Text("{\"n\":1e3}".to_owned()));
}

/// B51: what the runner leaves running is ended with it, also where the runner itself has ended already.
#[test]
fn b51_grandchildren_end_though_the_runner_has_ended() {
    let desk = desk(
        "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\nopen('pid', 'w').write(str(child.pid))",
    );
    let output = desk.isolated(Allowed::default(), &local());
    assert_eq!(output, Output::Json(json!({"said": {"n": 1}})));
    assert!(gone(&desk.read("pid")), "the grandchild still runs");
}

#[test]
fn a_runner_that_does_not_answer_in_time_is_ended_with_all_it_started() {
    let desk = desk(
        "import subprocess, time\nchild = subprocess.Popen(['sleep', '600'])\nopen('pid', 'w').write(str(child.pid))\ntime.sleep(600)",
    );
    let request = within(1, desk.call_of(&local()));
    let said = fault(block_on(isolate::run(&Kit::default(), &request, &local())));
    assert!(said.contains("gave no result within 1 s and was ended with all that it had started"), "{said}");
    assert!(gone(&desk.read("pid")), "the grandchild still runs");
}

/// A killed process may stand a moment as one that nobody has waited for.
fn gone(pid: &str) -> bool {
    (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')),
            Err(_) => true,
        }
    })
}

#[test]
fn programs_that_cannot_run_are_known_before() {
    let desk = desk("");
    assert_eq!(desk.possible(Allowed::default(), &local()), Ok(()));
    desk.write("plain", "no program");
    let of = |path: &str| ir::Isolation::LocalProcess { path: path.to_owned() };
    for (path, expected) in [
        ("./gone", "`./gone` is not in the package"),
        ("./plain", "`./plain` is not an executable file"),
        ("../worker", "`..` leaves the package"),
        ("/bin/sh", "it is an absolute path"),
    ] {
        let said = desk.possible(Allowed::default(), &of(path)).unwrap_err();
        assert!(said.starts_with("the runner cannot be used: ") && said.contains(expected), "{said}");
    }
}

/// What the kernel has decides: walls in full, or one sentence and nothing that runs.
#[test]
fn walls_hold_or_nothing_runs() {
    let desk = desk("");
    let walls = Walls { write: vec!["out".into()], ..Walls::default() };
    let allowed = Allowed { walls: Some(walls), ..Allowed::default() };
    match desk.possible(allowed, &local()) {
        Ok(()) => {}
        Err(said) => assert!(said.starts_with("the kernel offers no Landlock of this kind"), "{said}"),
    }
}

/// A stand-in for `docker` that notes its words and becomes the worker.
fn with_docker(lines: &str) -> (Desk, Allowed) {
    let desk = desk("");
    let text = format!(
        "#!/bin/bash\necho \"$@\" >> {0}/words\ncase \"$1\" in version) {lines} ;; rm) ;; run) cd {0}; exec ./worker ;; esac\n",
        desk.path().display()
    );
    desk.script("docker", &text);
    let program = desk.path().join("docker").display().to_string();
    (desk, Allowed { docker: Some(program), ..Allowed::default() })
}

#[test]
fn a_container_has_no_network_no_rights_and_nothing_to_write() {
    let (desk, allowed) = with_docker("exit 0");
    assert_eq!(desk.possible(allowed.clone(), &docker()), Ok(()));
    assert_eq!(desk.isolated(allowed, &docker()), Output::Json(json!({"said": {"n": 1}})));
    let words = desk.read("words");
    let run = words.lines().find(|line| line.starts_with("run ")).unwrap();
    for flags in [
        "--rm",
        "--interactive",
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "--user 65534:65534",
        "--security-opt no-new-privileges",
        "--pids-limit ",
        "--memory ",
    ] {
        assert!(run.contains(flags), "{flags}: {run}");
    }
    assert!(run.ends_with(" debian:stable-slim"), "{run}");
    assert!(!words.contains("rm --force"), "{words}");
}

#[test]
fn a_container_that_gives_no_result_in_time_is_removed() {
    let (desk, allowed) = with_docker("exit 0");
    desk.script("worker", "#!/bin/sh\nexec sleep 600\n");
    let request = within(1, desk.call_of(&docker()));
    let said = fault(block_on(isolate::run(&kit(allowed), &request, &docker())));
    assert!(said.starts_with("the container of `debian:stable-slim` gave no result within 1 s"), "{said}");
    let words = desk.read("words");
    let run = words.lines().find(|line| line.starts_with("run ")).unwrap();
    let name = run.split("--name ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(words.lines().any(|line| line == format!("rm --force {name}")), "{words}");
}

#[test]
fn a_container_program_that_is_missing_or_does_not_work_is_told() {
    let (desk, allowed) = with_docker("echo 'no daemon' >&2; exit 1");
    let said = desk.possible(allowed, &docker()).unwrap_err();
    assert!(said.ends_with("does not work: no daemon"), "{said}");
    let gone = Allowed { docker: Some("no-such-docker".to_owned()), ..Allowed::default() };
    let said = desk.possible(gone.clone(), &docker()).unwrap_err();
    assert!(said.starts_with("the container program `no-such-docker` is not on the PATH"), "{said}");
    let option = ir::Isolation::Docker { image: "--privileged".to_owned() };
    assert_eq!(desk.possible(gone, &option).unwrap_err(), "`--privileged` is no name of an image");
}

/// A server that reads one request and answers with what is made of it; `None` closes the line.
fn server(
    answer: impl Fn(&Value) -> Option<(u16, String)> + Send + 'static,
) -> (Allowed, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/calls", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut line, _) = listener.accept().unwrap();
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        let (head, body) = loop {
            let count = line.read(&mut buffer).unwrap();
            bytes.extend_from_slice(&buffer[..count]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse::<usize>().unwrap() {
                break (head.to_owned(), body.to_owned());
            }
        };
        let envelope: Value = serde_json::from_str(&body).unwrap();
        if let Some((status, text)) = answer(&envelope) {
            write!(
                line,
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nlocation: http://127.0.0.1:1/\r\n\r\n{text}",
                text.len()
            )
            .unwrap();
        }
        head
    });
    let far = Function { name: "far".to_owned(), url, key: None };
    (Allowed { functions: vec![far], ..Allowed::default() }, served)
}

fn good(envelope: &Value) -> String {
    json!({"token": envelope["token"], "status": "success", "result": {"ok": true}}).to_string()
}

#[test]
fn a_function_runner_is_posted_the_envelope() {
    let desk = desk("");
    let (allowed, served) = server(|envelope| Some((200, good(envelope))));
    assert_eq!(desk.possible(allowed.clone(), &function()), Ok(()));
    assert_eq!(desk.isolated(allowed, &function()), Output::Json(json!({"ok": true})));
    let head = served.join().unwrap().to_lowercase();
    assert!(head.starts_with("post /calls ") && head.contains("idempotency-key: "), "{head}");
    let said = desk.possible(Allowed::default(), &function()).unwrap_err();
    assert_eq!(said, "the operator's configuration allows no function runner `far`; it allows none");
}

#[test]
fn what_a_function_runner_did_is_known_or_said_to_be_unknown() {
    let desk = desk("");
    let refusals: [(u16, &str); 2] = [(403, "no"), (302, "")];
    for (status, text) in refusals {
        let (allowed, _served) = server(move |_| Some((status, text.to_owned())));
        let said = fault(desk.isolated(allowed, &function()));
        assert!(
            said.starts_with(&format!("the function runner `far` answered with the HTTP status {status}")),
            "{said}"
        );
    }
    let (allowed, _served) = server(|_| Some((502, "bad gateway".to_owned())));
    assert!(matches!(desk.isolated(allowed, &function()), Output::Unknown(said) if said.contains("502")));
    let (allowed, _served) = server(|_| None);
    let said = "the line to the function runner `far` broke before it answered";
    assert_eq!(desk.isolated(allowed, &function()), Output::Unknown(said.to_owned()));
    let failed = |envelope: &Value| {
        json!({"token": envelope["token"], "status": "error", "error": "no disk"}).to_string()
    };
    let (allowed, _served) = server(move |envelope| Some((500, failed(envelope))));
    assert_eq!(fault(desk.isolated(allowed, &function())), "no disk");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let far = Function { name: "far".to_owned(), url: format!("http://{closed}/"), key: None };
    let nobody = Allowed { functions: vec![far], ..Allowed::default() };
    let said = fault(desk.isolated(nobody, &function()));
    assert_eq!(said, "the function runner `far` cannot be reached, so the call was not begun");
}

#[test]
fn a_key_that_a_function_runner_needs_is_the_operators() {
    let desk = desk("");
    let far = Function {
        name: "far".to_owned(),
        url: "http://127.0.0.1:9/".to_owned(),
        key: Some("far-key".to_owned()),
    };
    let said = fault(desk.isolated(Allowed { functions: vec![far], ..Allowed::default() }, &function()));
    assert_eq!(said, "the function runner `far` needs the key `far-key`, which the operator has not given");
}
