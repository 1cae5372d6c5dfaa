//! What the verbs do and say, one after the other.

use super::Desk;
use serde_json::{Value, json};

/// R1, R2, R4, R5, R6: no model is asked, the prompt is the first user turn, the agent is pinned.
#[test]
fn a_start_keeps_the_prompt_and_asks_nobody() {
    let desk = Desk::new();
    desk.write("replies.yaml", b"kind: script\nversion: 1\nreplies: []\n");
    let id = desk.started();
    let (code, out, _) = desk.run(&["session", "export", &id]);
    assert_eq!(code, 0);
    let file: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(file["sessionVersion"], 2);
    assert_eq!(file["sessionExecutionMode"], "asynchronous");
    assert_eq!(file["turns"].as_array().unwrap().len(), 1, "{file}");
    assert!(out.contains("Look up a, b and c."));
}

/// R1: the option stands before the verb or after it.
#[test]
fn the_agent_file_is_named_before_or_after_the_verb() {
    let desk = Desk::new();
    for words in [
        ["session", "--agent-file", "agents/lookup.json", "start", "--prompt", "x"],
        ["session", "start", "--agent-file", "agents/lookup.json", "--prompt", "x"],
    ] {
        assert_eq!(desk.run(&words).0, 0, "{words:?}");
    }
    let (code, _, err) = desk.run(&["session", "start", "--prompt", "x"]);
    assert_eq!((code, err.as_str()), (2, "flowright: say which agent: --agent-file FILE\n"));
}

/// R3, R8: exactly one step each, and each says which it was.
#[test]
fn a_step_is_exactly_one_and_says_which() {
    let desk = Desk::new();
    let words = ["session", "start", "--step", "--agent-file", "agents/lookup.json", "--prompt", "x"];
    let (code, told) = desk.json(&words);
    assert_eq!((code, &told["session"]["step"]), (0, &json!("asked the model")));
    assert_eq!(told["session"]["turn"], "LlmTurn");
    let id = told["session"]["id"].as_str().unwrap().to_owned();
    let (code, told) = desk.json(&["session", "pause", &id]);
    assert_eq!((code, &told["session"]["step"]), (3, &json!("ran calls")));
    let before = desk.run(&["session", "log", &id]).1;
    let (code, told) = desk.json(&["session", "step", &id]);
    assert_eq!((code, &told["session"]["step"]), (3, &json!("nothing to do")));
    assert_eq!(desk.run(&["session", "log", &id]).1, before, "nothing to do, nothing written");
}

/// R9: a prompt on a partial turn is refused with the reason, on a finished session it is a user turn.
#[test]
fn a_prompt_joins_only_a_finished_turn() {
    let desk = Desk::new();
    let (id, a, b) = desk.partial();
    let (code, _, err) = desk.run(&["session", "step", &id, "--prompt", "and d?"]);
    assert_eq!(code, 4);
    assert!(
        err.contains("the turn is not over: bash_fetch_remote_a, bash_fetch_remote_b is still open"),
        "{err}"
    );
    desk.fed(&["session", "complete", &a, "-"], "a is 5");
    desk.fed(&["session", "complete", &b, "-"], "b is 7");
    assert_eq!(desk.run(&["session", "resume", &id]).0, 0);
    desk.write(
        "replies.yaml",
        b"kind: script\nversion: 1\nreplies:\n  - { agent: lookup, contains: 'and d', say: d is 9. }\n",
    );
    let (code, told) = desk.json(&["session", "step", &id, "--prompt", "and d?"]);
    assert_eq!((code, &told["session"]["answer"]), (0, &json!("d is 9.")));
}

/// R12: the arguments, the reason and the digest; of all sessions or of one.
#[test]
fn pending_shows_what_is_waited_for() {
    let desk = Desk::new();
    let (first, ..) = desk.partial();
    let (second, ..) = desk.partial();
    let (_, all) = desk.json(&["session", "pending"]);
    let of =
        |id: &str| all["pending"].as_array().unwrap().iter().filter(|call| call["session"] == id).count();
    assert_eq!((of(&first), of(&second)), (2, 2));
    let (_, one) = desk.json(&["session", "pending", &first]);
    let call = &one["pending"][0];
    assert_eq!(call["tool"], "bash_fetch_remote_a");
    assert_eq!(
        serde_json::from_str::<Value>(call["arguments"].as_str().unwrap()).unwrap(),
        json!({ "key": "a" })
    );
    assert_eq!(call["reason"], "the archive answers by mail");
    assert!(call["digest"].as_str().is_some_and(|digest| digest.len() >= 32), "{call}");
}

/// R13, R52: one result a token; the same one again changes nothing, another one is refused, even after the turn is over.
#[test]
fn a_result_counts_once() {
    let desk = Desk::new();
    let (id, a, b) = desk.partial();
    for _ in 0..2 {
        let (code, out, err) = desk.fed(&["session", "complete", &a, "-"], "a is 5");
        assert_eq!(code, 0, "{out}{err}");
    }
    let (code, _, err) = desk.fed(&["session", "complete", &a, "-"], "a is 6");
    assert_eq!(code, 4, "{err}");
    desk.fed(&["session", "complete", &b, "-"], "b is 7");
    assert_eq!(desk.run(&["session", "resume", &id]).0, 0);
    let before = desk.run(&["session", "log", &id]).1;
    assert_eq!(desk.fed(&["session", "complete", &a, "-"], "a is 5").0, 0);
    assert_eq!(desk.fed(&["session", "complete", &a, "-"], "a is 6").0, 4);
    assert_eq!(desk.run(&["session", "log", &id]).1, before);
    let (code, _, err) = desk.fed(&["session", "complete", "no-such-token", "-"], "x");
    assert_eq!((code, err.as_str()), (4, "flowright: no call waits under the token `no-such-token`\n"));
}

/// R51, R53: a response in JSON, or text; JSON that is no response is text.
#[test]
fn a_result_is_a_response_or_text() {
    let cases = [
        (r#"{"type":"text","content":"plain"}"#, "plain"),
        (r#"{"type":"json","content":{"n":12345678901234567890.50}}"#, r#"{"n":12345678901234567890.50}"#),
        (r#"{"type":"other","content":"x"}"#, r#"{"type":"other","content":"x"}"#),
        ("[1, 2]", "[1, 2]"),
        ("just words\n", "just words"),
    ];
    for (given, shown) in cases {
        let desk = Desk::new();
        let (id, a, b) = desk.partial();
        desk.write("result", given.as_bytes());
        let (code, told) = desk.json(&["session", "complete", &a, "result"]);
        assert_eq!(
            (code, &told["turn"], &told["open"]),
            (0, &json!("partial"), &json!(1)),
            "{given}: {told}"
        );
        let (_, told) = desk.json(&["session", "complete", &b, "result"]);
        assert_eq!(told["turn"], "complete", "{given}");
        let (_, out, _) = desk.run(&["session", "print", &id]);
        assert!(out.contains(&format!("bash_fetch_remote_a {{\"key\":\"a\"}}\n{shown}\n")), "{given}: {out}");
    }
}

/// R50: nothing waits for isolation, and it says so.
#[test]
fn run_isolated_says_how_many_there_were() {
    let desk = Desk::new();
    let (id, ..) = desk.partial();
    let (code, out, _) = desk.run(&["session", "run-isolated", &id]);
    assert_eq!((code, out), (0, format!("session {id}: no deferred call waits for isolation\n")));
}

/// A deferred call that is let run here runs once; one that is refused tells the model why.
#[test]
fn approved_runs_denied_does_not() {
    let desk = Desk::new();
    desk.tool(
        "tools/fetch_remote_a",
        &desk.read("tools/fetch_remote_a").replace(
            "run) echo \"the archive is not on line\" >&2; exit 1",
            "run) echo run >> ran; echo a is 5",
        ),
    );
    let (id, a, b) = desk.partial();
    assert_eq!(desk.run(&["session", "approve", &a]).0, 0);
    assert_eq!(desk.run(&["session", "deny", &b, "--reason", "not today"]).0, 0);
    desk.write(
        "replies.yaml",
        b"kind: script\nversion: 1\nreplies:\n  - { agent: lookup, contains: not today, say: Done. }\n",
    );
    let (code, out, err) = desk.run(&["session", "resume", &id]);
    assert!(code == 0 && out.ends_with("\nDone.\n"), "{out}{err}");
    assert_eq!(desk.read("ran"), "run\n");
}

/// R11: goes on until it is done or waits; the second process is told the same and does nothing again.
#[test]
fn resume_goes_on_to_the_next_wait() {
    let desk = Desk::new();
    let id = desk.started();
    let (code, told) = desk.json(&["session", "resume", &id]);
    assert_eq!((code, &told["session"]["turn"]), (3, &json!("PartialUserTurn")));
    let log = desk.run(&["session", "log", &id]).1;
    let (code, again) = desk.json(&["session", "resume", &id]);
    assert_eq!((code, &again["session"]["deferred"]), (3, &told["session"]["deferred"]));
    assert_eq!(desk.run(&["session", "log", &id]).1, log);
}

/// The paused report of `agent run`, and `--session`.
#[test]
fn agent_run_stops_with_the_paused_report_and_goes_on() {
    let desk = Desk::new();
    let (code, told) = desk.json(&["agent", "run", "agents/lookup.json", "--prompt", "Look up a, b and c."]);
    assert_eq!((code, &told["status"]), (3, &json!("paused")));
    assert_eq!(told["reason"], "waiting for deferred tool calls");
    let calls = told["deferred_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    let id = told["session_id"].as_str().unwrap();
    for (call, text) in calls.iter().zip(["a is 5", "b is 7"]) {
        desk.fed(&["session", "complete", call["continuation_token"].as_str().unwrap(), "-"], text);
    }
    let (code, out, _) = desk.run(&["session", "resume", id]);
    assert!(code == 0 && out.ends_with("\nc is 3, a is 5 and b is 7.\n"), "{out}");
}

/// A session and what it started go together, and only when told.
#[test]
fn what_is_deleted_is_gone() {
    let desk = Desk::new();
    let id = desk.started();
    let (code, _, err) = desk.run(&["session", "delete", &id]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--yes"), "{err}");
    assert_eq!(desk.run(&["session", "delete", &id, "--yes"]).0, 0);
    assert_eq!(desk.run(&["session", "show", &id]).0, 2);
}
