//! Whole answers of chat completions servers.

use super::{Desk, Turn, completion, tool};
use flowright::engine::agent::event::Usage;
use serde_json::{Value, json};

fn calls(entries: &Value) -> Value {
    completion(&json!({ "role": "assistant", "content": null, "tool_calls": entries }), "tool_calls")
}

#[test]
fn text_thinking_and_counts_are_read() {
    let mut body = completion(&json!({ "content": "Good day", "reasoning_content": "They greet." }), "stop");
    body["usage"] = json!({ "prompt_tokens": 120, "completion_tokens": 30,
        "prompt_tokens_details": { "cached_tokens": 100 }, "completion_tokens_details": { "reasoning_tokens": 20 } });
    let answer = Desk::new("OpenAIv1").whole(&body).unwrap();
    assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("Good day", "They greet."));
    assert_eq!(answer.usage, Some(Usage { input: 120, output: 30, cached: 100, reasoning: 20 }));
    assert_eq!((answer.cut_off, answer.carry, answer.calls), (false, None, vec![]));
}

#[test]
fn thinking_has_several_names_and_is_taken_once() {
    let mut desk = Desk::new("OpenAIv1");
    for message in [
        json!({ "content": "a", "reasoning": "hm" }),
        json!({ "content": "a", "reasoning": "hm", "reasoning_content": "hm" }),
        json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] },
            { "type": "text", "text": "a" }] }),
        json!({ "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "a" }] }),
    ] {
        let answer = desk.whole(&completion(&message, "stop")).unwrap();
        assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("a", "hm"), "{message}");
    }
}

/// B46: digits of numbers in arguments come as they were written.
#[test]
fn b46_digits_survive_from_the_model() {
    let written = r#"{"id":2512292042121000001, "of":18446744073709551616,"a":1.0,"b":1e2,"c":-0}"#;
    let answer = Desk::new("OpenAIv1")
        .whole(&calls(
            &json!([{ "id": "x", "type": "function", "function": { "name": "t", "arguments": written } }]),
        ))
        .unwrap();
    assert_eq!(answer.calls[0].2, written);
    // A server that sends an object instead of its text.
    let body = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"x","function":{{"name":"t","arguments":{written}}}}}]}}}}]}}"#
    );
    let answer = Desk::new("OpenAIv1").exchange(false, Turn::json(200, &body)).0.unwrap();
    assert_eq!(answer.calls[0].2, written);
}

/// B43: two calls with one id, an empty id and no id are all calls of their own.
#[test]
fn b43_calls_that_share_an_id_are_all_kept() {
    let one = |name: &str| json!({ "type": "function", "function": { "name": name, "arguments": "{}" } });
    let mut entries = vec![one("a"), one("b"), one("c"), one("c")];
    entries[0]["id"] = "same".into();
    entries[1]["id"] = "same".into();
    entries[2]["id"] = "".into();
    let answer = Desk::new("OpenAIv1").whole(&calls(&entries.into())).unwrap();
    let names: Vec<_> = answer.calls.iter().map(|(id, name, _)| (id.as_str(), name.as_str())).collect();
    assert_eq!(names, [("same", "a"), ("same", "b"), ("", "c"), ("", "c")]);
}

/// B44, B45: a length tells that calls are cut off; where the server hides it, the arguments tell, as they came.
#[test]
fn b45_a_cut_off_call_is_handed_on_as_it_is() {
    let cut = json!([{ "id": "x", "function": { "name": "t", "arguments": "{\"path\": \"/tm" } }]);
    let mut desk = Desk::new("OpenAIv1");
    for (finish, cut_off) in [
        ("length", true),
        ("model_length", true),
        ("max_tokens", true),
        ("tool_calls", false),
        ("stop", false),
    ] {
        let mut body = calls(&cut);
        body["choices"][0]["finish_reason"] = finish.into();
        let answer = desk.whole(&body).unwrap();
        assert_eq!((answer.cut_off, answer.calls[0].2.as_str()), (cut_off, "{\"path\": \"/tm"), "{finish}");
    }
}

#[test]
fn a_filter_cuts_as_a_length_does_and_says_so() {
    let body = completion(&json!({ "content": "Take" }), "content_filter");
    let answer = Desk::new("OpenAIv1").whole(&body).unwrap();
    assert!(answer.cut_off);
    assert_eq!(answer.text, "Take\n[flowright: the model server ended this reply with `content_filter`]");
    let refusal = completion(&json!({ "content": null, "refusal": "I will not." }), "stop");
    assert_eq!(Desk::new("OpenAIv1").whole(&refusal).unwrap().text, "I will not.");
}

#[test]
fn a_reply_that_the_server_broke_off_is_no_answer() {
    for reason in ["error", "insufficient_system_resource"] {
        let fault =
            Desk::new("OpenAIv1").whole(&completion(&json!({ "content": "ha" }), reason)).unwrap_err();
        assert!(fault.retryable && fault.message.contains(reason), "{fault:?}");
    }
}

#[test]
fn an_empty_answer_is_what_it_is() {
    let answer = Desk::new("OpenAIv1").whole(&completion(&json!({ "content": null }), "stop")).unwrap();
    assert_eq!((answer.text.as_str(), answer.calls.len(), answer.cut_off), ("", 0, false));
}

#[test]
fn what_is_no_answer_may_be_asked_again() {
    let mut desk = Desk::new("OpenAIv1");
    for body in ["<html>", "", "{", "{\"choices\":[]}", "{\"choices\":[{}]}", "[]", "\u{feff}"] {
        let fault = desk.exchange(false, Turn::json(200, body)).0.unwrap_err();
        assert!(fault.retryable, "{body}: {fault:?}");
    }
    let fault = desk.exchange(
        false,
        Turn::raw(vec![
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\n\"\xff\xfe\x00\"".to_vec(),
        ]),
    );
    assert!(fault.0.unwrap_err().message.contains("UTF-8"));
}

/// A body that is shorter than it said is a broken connection, however well its beginning reads.
#[test]
fn a_body_that_breaks_off_is_no_answer() {
    let body = completion(&json!({ "content": "all" }), "stop").to_string();
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len() + 9);
    let fault = Desk::new("OpenAIv1").exchange(false, Turn::raw(vec![(head + &body).into_bytes()])).0;
    assert!(fault.unwrap_err().retryable);
}

/// What some servers demand back with a reply is carried: details of reasoning, signatures of single calls.
#[test]
fn what_a_server_wants_back_is_carried() {
    let message = json!({ "content": "", "reasoning_details": [{ "type": "reasoning.encrypted", "data": "abc" }],
        "tool_calls": [{ "id": "a", "function": { "name": "t", "arguments": "{}" } },
            { "id": "b", "function": { "name": "t", "arguments": "{}" },
              "extra_content": { "google": { "thought_signature": "sig" } } }] });
    let answer = Desk::new("OpenAIv1").whole(&completion(&message, "tool_calls")).unwrap();
    let carry = json!({ "chat_completions": {
        "reasoning_details": [{ "type": "reasoning.encrypted", "data": "abc" }],
        "extra_content": [null, { "google": { "thought_signature": "sig" } }],
        "model": "model-1" } });
    assert_eq!(answer.carry, Some(carry));
}

/// A name that the server would refuse is renamed on the way out and restored on the way back.
#[test]
fn names_of_tools_are_restored() {
    let mut desk = Desk::new("OpenAIv1");
    let long = format!("mcp_{}", "x".repeat(80));
    desk.tools = vec![tool("bash_dépôt.lire"), tool(&long), tool("fine")];
    let sent = desk.sent(false);
    let names: Vec<String> = sent["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect();
    for name in &names {
        assert!(
            name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "{name}"
        );
    }
    assert_eq!(names[2], "fine");
    let entries: Vec<Value> =
        names.iter().map(|name| json!({ "function": { "name": name, "arguments": "{}" } })).collect();
    let answer = desk.whole(&calls(&entries.into())).unwrap();
    let meant: Vec<_> = answer.calls.iter().map(|call| call.1.as_str()).collect();
    assert_eq!(meant, ["bash_dépôt.lire", &long, "fine"]);
    assert_eq!(desk.sent(false)["tools"], sent["tools"], "every request renames alike");
}
