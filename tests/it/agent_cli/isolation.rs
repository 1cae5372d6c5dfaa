//! Isolated calls on the command line: from a policy alone, later by `run-isolated`, and behind walls.

use super::Desk;
use serde_json::{Value, json};

const WORKER: &str = "#!/bin/sh\nread -r envelope\nprintf '%s' \"$envelope\" > given.json\n\
    token=$(printf '%s' \"$envelope\" | sed 's/.*\"token\":\"\\([^\"]*\\)\".*/\\1/')\n\
    printf '{\"token\":\"%s\",\"status\":\"success\",\"result\":{\"built\":true}}' \"$token\"\n";

/// A desk with an agent whose calls of `bash_build` are isolated as `spec` says.
fn desk(spec: &Value) -> Desk {
    let desk = Desk::new();
    let agent = json!({
        "slug": "builder", "base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "scripted",
        "modelUrl": "script:./build.yaml", "systemPrompt": ["You build."],
        "bashToolboxes": [{"tag": "FileSystemDirectory", "contents": {"Path": "./tools"}}],
        "toolCallPolicy": {"rules": [
            {"tool": "bash_build", "disposition": {"tag": "runIsolated", "spec": spec}}
        ]},
    });
    desk.write("agents/builder.json", agent.to_string().as_bytes());
    desk.write(
        "build.yaml",
        b"kind: script\nversion: 1\nreplies:\n  - reply: 1\n    call:\n      - bash_build: { what: all }\n  - contains: built\n    say: It is built.\n  - say: It is not built.\n",
    );
    let describe = r#"{"slug":"build","description":"Builds.","args":[{"name":"what","description":"What.","type":"string","backing_type":"string","arity":"single","mode":"positional"}]}"#;
    desk.tool(
        "tools/build",
        &format!("#!/bin/sh\ncase \"$1\" in describe) echo '{describe}' ;; run) touch ran-outside ;; esac\n"),
    );
    desk
}

const LOCAL: &str = "./workers/build";

fn local() -> Value {
    json!({"tag": "localProcess", "path": LOCAL})
}

#[test]
fn a_policy_alone_isolates_a_call() {
    let desk = desk(&local());
    desk.tool("workers/build", WORKER);
    let (code, out, err) = desk.run(&["agent", "run", "agents/builder.json", "-p", "Build."]);
    assert_eq!((code, out.trim()), (0, "It is built."), "{err}");
    assert!(!desk.path("ran-outside").exists());
    let given: Value = serde_json::from_str(&desk.read("given.json")).unwrap();
    assert_eq!(given["toolCall"]["function"]["arguments"], r#"{"what":"all"}"#);
}

/// What this host cannot isolate waits, says what is missing, and is run by `run-isolated` once it is there (R50).
#[test]
fn what_cannot_be_isolated_yet_is_run_later() {
    let desk = desk(&json!({"tag": "docker", "image": "builder:1"}));
    desk.write("config/flowright/config.json", br#"{"docker": "./no-such-docker"}"#);
    let (code, report) = desk.json(&["agent", "run", "agents/builder.json", "-p", "Build."]);
    assert_eq!(code, 3, "{report}");
    let id = report["session_id"].as_str().unwrap().to_owned();
    let (_, pending) = desk.json(&["session", "pending", &id]);
    let call = &pending["pending"][0];
    assert_eq!(call["reason"], "the container program ./no-such-docker is not there", "{pending}");
    let (code, left) = desk.json(&["session", "run-isolated", &id]);
    assert_eq!((code, &left["left"]), (3, &json!(1)), "{left}");
    // Nobody's word lets it run elsewhere.
    let token = call["token"].as_str().unwrap();
    let (code, _, err) = desk.run(&["session", "complete", &id, token, "--approve"]);
    assert_ne!(code, 0, "{err}");
    desk.tool(
        "no-such-docker",
        &WORKER.replacen("#!/bin/sh\n", "#!/bin/sh\ncase \"$1\" in version) exit 0 ;; esac\n", 1),
    );
    let program = desk.path("no-such-docker").display().to_string();
    desk.write("config/flowright/config.json", json!({"docker": program}).to_string().as_bytes());
    let (code, done) = desk.json(&["session", "run-isolated", &id]);
    assert_eq!((code, &done["left"]), (0, &json!(0)), "{done}");
    let (code, out, err) = desk.run(&["session", "resume", &id]);
    assert_eq!((code, out.contains("It is built.")), (0, true), "{out}{err}");
    assert!(!desk.path("ran-outside").exists());
}

/// With Landlock in the kernel a confined program reads its package and not the sessions, and writes where it may;
/// without, it does not run at all.
#[test]
fn walls_are_in_full_or_the_call_waits() {
    let desk = desk(&local());
    desk.write("config/flowright/config.json", br#"{"isolation": {"landlock": {"write": ["out"]}}}"#);
    std::fs::create_dir(desk.path("out")).unwrap();
    desk.write("secret.txt", b"in the package");
    let lines = "cat .flowright/flowright.db > out/stolen 2>/dev/null\ncat secret.txt > out/read\n\
        touch beside 2>/dev/null\nprintf 'x' > \"$TMPDIR/x\" && touch out/scratch\n";
    desk.tool(
        "workers/build",
        &WORKER.replace("> given.json", "> out/given.json").replacen(
            "read -r envelope\n",
            &format!("{lines}read -r envelope\n"),
            1,
        ),
    );
    let (code, out, err) = desk.run(&["agent", "run", "agents/builder.json", "-p", "Build."]);
    if code == 0 {
        assert_eq!(out.trim(), "It is built.", "{err}");
        assert_eq!(
            (desk.read("out/read").as_str(), desk.read("out/stolen").as_str()),
            ("in the package", "")
        );
        assert!(desk.path("out/scratch").exists() && !desk.path("beside").exists());
    } else {
        assert_eq!(code, 3, "{out}{err}");
        assert!(out.contains("the kernel offers no Landlock of this kind"), "{out}");
        assert!(!desk.path("out/read").exists() && !desk.path("ran-outside").exists());
    }
}

#[test]
fn a_configuration_that_makes_no_sense_is_one_sentence() {
    let desk = desk(&local());
    for (text, expected) in [
        (
            r#"{"functions": {"far": "ftp://x"}}"#,
            "gives the function runner `far` no URL that begins with https://",
        ),
        (r#"{"functions": {"far": 7}}"#, "a URL, or an object with `url` and `key`"),
        (r#"{"isolation": {"landlok": {}}}"#, "unknown field `landlok`"),
    ] {
        desk.write("config/flowright/config.json", text.as_bytes());
        let (code, out, err) = desk.run(&["agent", "run", "agents/builder.json", "-p", "Build."]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(expected) && err.lines().count() == 1, "{err}");
    }
}
