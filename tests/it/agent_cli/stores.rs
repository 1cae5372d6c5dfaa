//! `--store`: session files of other tools, folders of documents, several stores as one.

use super::Desk;
use serde_json::{Value, json};

const FILES: [&str; 2] = ["--store", "file:sessions"];
const ID: &str = "0b0e7a4c-2f65-4d0e-9d1c-5a3f0f6f1d11";

/// A session file as the older tool leaves it: version 1, a legacy response, a deferred call with its token.
fn old() -> Value {
    let call = |id: &str, arguments: &str| {
        json!({"id": id, "index": 0, "type": "function",
        "function": {"name": "bash_fetch_local", "arguments": arguments}})
    };
    json!({"sessionId": ID, "forkedFromSessionId": null, "turnId": ID, "turns": [
        {"tag": "LlmTurn", "byteUsage": null, "contents": {"llmToolCalls": [],
            "llmResponse": {"responseText": "The price is 12.50.", "responseThinking": null, "rawResponse": null}}},
        {"tag": "UserTurn", "byteUsage": null, "contents": {"userPrompt": "You look up.", "userTools": [],
            "userQuery": null, "userToolResponses": [[call("c1", "{\"n\": 1.50}"), {"_userToolResponse": "12.50"}]]}},
        {"tag": "LlmTurn", "byteUsage": null, "contents": {"llmToolCalls": [call("c1", "{\"n\": 1.50}")],
            "llmResponse": {"responseText": "", "responseThinking": null, "rawResponse": null}}},
        {"tag": "UserTurn", "byteUsage": null, "contents": {"userPrompt": "You look up.", "userTools": [],
            "userQuery": "What is the price?", "userToolResponses": []}},
    ]})
}

fn with_old() -> Desk {
    let desk = Desk::new();
    desk.write(&format!("sessions/conv.{ID}.json"), old().to_string().as_bytes());
    desk
}

/// R31, R44: a folder of session files is a store; what another tool wrote is listed, printed and stays as it was.
#[test]
fn files_of_another_tool_are_sessions() {
    let desk = with_old();
    let before = desk.read(&format!("sessions/conv.{ID}.json"));
    let (code, list) = desk.json(&[&["session", "list"][..], &FILES].concat());
    assert_eq!((code, list["sessions"][0]["id"].as_str()), (0, Some(ID)), "{list}");
    let (code, out, err) = desk.run(&[&["session", "print", ID][..], &FILES].concat());
    assert_eq!(code, 0, "{err}");
    for line in ["What is the price?", "> bash_fetch_local {\"n\": 1.50}\n12.50", "The price is 12.50."] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert_eq!(desk.read(&format!("sessions/conv.{ID}.json")), before);
}

/// It goes on once somebody says with which agent, and its file is still a session file that other tools read.
#[test]
fn a_session_of_another_tool_goes_on_with_an_agent_that_is_named() {
    let desk = with_old();
    // Two replies are in the file already.
    desk.write("replies.yaml", desk.read("replies.yaml").replace("reply: 1", "reply: 3").as_bytes());
    let message = [&["session", "message", ID, "Look up a, b and c."][..], &FILES].concat();
    let (code, _, err) = desk.run(&message);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = desk.run(&[&["session", "resume", ID][..], &FILES].concat());
    assert!(code == 4 && err.contains("nobody knows its agent"), "{code}: {err}");
    let accept = ["--agent-file", "agents/lookup.json", "--accept-agent-change"];
    let (code, out, err) = desk.run(&[&["session", "resume", ID][..], &accept, &FILES].concat());
    assert_eq!(code, 3, "{out}{err}");
    let file: Value = serde_json::from_str(&desk.read(&format!("sessions/conv.{ID}.json"))).unwrap();
    assert_eq!(
        (file["sessionVersion"].as_u64(), file["turns"][0]["tag"].as_str()),
        (Some(2), Some("PartialUserTurn"))
    );
    // Without our key, as a tool that does not know it writes it back, it is still the same conversation.
    let mut bare = file.clone();
    bare.as_object_mut().unwrap().remove("flowright");
    let keys: Vec<&String> = bare.as_object().unwrap().keys().collect();
    assert!(
        keys.iter()
            .all(|key| old().as_object().unwrap().contains_key(key.as_str()) || key.starts_with("session")),
        "{keys:?}"
    );
}

/// R45: the first store is written, the others are read behind it, and a list shows each session once.
#[test]
fn the_first_of_several_stores_is_written() {
    let desk = with_old();
    let both = ["--store", "sqlite:own.db", "--store", "file:sessions"];
    let (code, list) = desk.json(&[&["session", "list"][..], &both].concat());
    assert_eq!((code, list["sessions"].as_array().map(Vec::len)), (0, Some(1)), "{list}");
    let before = desk.read(&format!("sessions/conv.{ID}.json"));
    let (code, _, err) = desk.run(&[&["session", "message", ID, "More."][..], &both].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(desk.read(&format!("sessions/conv.{ID}.json")), before);
    let (_, list) = desk.json(&[&["session", "list"][..], &both].concat());
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1), "{list}");
    let (_, first) = desk.json(&["session", "show", ID, "--store", "sqlite:own.db"]);
    assert_eq!(first["session"]["id"], ID);
}

/// A workflow runs on files as on a database, its calls in the background too.
#[test]
fn the_demonstration_runs_on_files() {
    let desk = Desk::new();
    let (code, report) = desk
        .json(&[&["agent", "run", "agents/lookup.json", "-p", "Look up a, b and c."][..], &FILES].concat());
    assert_eq!((code, report["status"].as_str()), (3, Some("paused")), "{report}");
    for call in report["deferred_calls"].as_array().unwrap() {
        let token = call["continuation_token"].as_str().unwrap();
        let key = if call["tool"] == "bash_fetch_remote_b" { "b is 7" } else { "a is 5" };
        let words = [&["session", "complete", token, "-"][..], &FILES].concat();
        let (code, _, err) = desk.fed(&words, key);
        assert_eq!(code, 0, "{err}");
    }
    let id = report["session_id"].as_str().unwrap();
    let (code, out, err) = desk.run(&[&["session", "resume", id][..], &FILES].concat());
    assert_eq!(code, 0, "{out}{err}");
    assert!(!desk.path(".flowright/flowright.db").exists());
}

#[test]
fn stores_come_from_the_environment_and_go_before_db() {
    let desk = with_old();
    let mut list = desk.command(&["session", "list", "--json", "--db", "other.db"]);
    let (code, out, err) =
        super::parts(list.env("FLOWRIGHT_STORE", "sqlite:own.db,file:sessions").output().unwrap());
    assert!(code == 0 && out.contains(ID), "{out}{err}");
    assert!(desk.path("own.db").exists() && !desk.path("other.db").exists());
    for wrong in ["own.db", "sqlite:", "redis:x"] {
        let (code, out, err) = desk.run(&["session", "list", "--store", wrong]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("a store is written sqlite:FILE or file:FOLDER"), "{err}");
    }
}
