//! Answers of servers that speak Anthropic's messages, whole and streamed.

use super::{Desk, Turn, call, user};
use flowright::engine::agent::command::{Answer, Said};
use flowright::engine::agent::event::Usage;
use flowright::host::perform::ModelFault;
use serde_json::{Value, json};

fn message(content: &Value, stop: &str) -> Value {
    json!({ "id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": stop,
        "usage": { "input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5,
            "output_tokens": 7 } })
}

fn stream(events: &[Value]) -> Result<Answer, ModelFault> {
    stream_of(&mut Desk::new("ClaudeV1"), events)
}

fn stream_of(desk: &mut Desk, events: &[Value]) -> Result<Answer, ModelFault> {
    let text: Vec<Vec<u8>> = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).into_bytes())
        .collect();
    let pieces: Vec<&[u8]> = text.iter().map(Vec::as_slice).collect();
    desk.exchange(true, Turn::pieces(&pieces, true)).0
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "id": "m", "content": [], "usage": {
        "input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1 } } })
}

fn begin(index: u64, block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop(reason: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } }),
        json!({ "type": "message_stop" }),
    ]
}

const COUNTED: Usage = Usage { input: 115, output: 7, cached: 100, reasoning: 0 };

/// B46: the input of a call comes as it was written, though it is an object here.
#[test]
fn b46_a_whole_answer() {
    let written = r#"{"id": 2512292042121000001, "e":1e2, "f":-0, "s":"a\"}b"}"#;
    let body = message(
        &json!([{ "type": "text", "text": "I look." }, { "type": "tool_use", "id": "toolu_1", "name": "t", "input": "HERE" },
            { "type": "text", "text": " Done." }]),
        "tool_use",
    );
    let body = body.to_string().replace("\"HERE\"", written);
    let answer = Desk::new("ClaudeV1").exchange(false, Turn::json(200, &body)).0.unwrap();
    assert_eq!(answer.text, "I look. Done.");
    assert_eq!(answer.calls, [("toolu_1".to_owned(), "t".to_owned(), written.to_owned())]);
    assert_eq!((answer.usage, answer.cut_off, answer.carry), (Some(COUNTED), false, None));
}

#[test]
fn a_stream_of_blocks() {
    let mut desk = Desk::new("claude-v1");
    let mut events = vec![
        start(),
        json!({ "type": "ping" }),
        begin(0, &json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, &json!({ "type": "thinking_delta", "thinking": "I " })),
        delta(0, &json!({ "type": "thinking_delta", "thinking": "wonder." })),
        delta(0, &json!({ "type": "signature_delta", "signature": "sig==" })),
        json!({ "type": "content_block_stop", "index": 0 }),
        begin(1, &json!({ "type": "redacted_thinking", "data": "opaque" })),
        begin(2, &json!({ "type": "text", "text": "" })),
        delta(2, &json!({ "type": "text_delta", "text": "Good " })),
        delta(2, &json!({ "type": "text_delta", "text": "day" })),
        delta(2, &json!({ "type": "citations_delta", "citation": {} })),
        begin(3, &json!({ "type": "tool_use", "id": "a", "name": "one", "input": {} })),
        delta(3, &json!({ "type": "input_json_delta", "partial_json": "" })),
        delta(3, &json!({ "type": "input_json_delta", "partial_json": "{\"id\":90071992" })),
        begin(4, &json!({ "type": "tool_use", "id": "a", "name": "two", "input": {} })),
        delta(3, &json!({ "type": "input_json_delta", "partial_json": "54740993}" })),
        json!({ "type": "something_new" }),
    ];
    events.extend(stop("tool_use"));
    let answer = stream_of(&mut desk, &events).unwrap();
    let calls: Vec<_> = answer.calls.iter().map(|(id, name, input)| (&**id, &**name, &**input)).collect();
    assert_eq!(calls, [("a", "one", "{\"id\":9007199254740993}"), ("a", "two", "{}")]);
    assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("Good day", "I wonder."));
    assert_eq!(desk.told(), ("Good day".to_owned(), "I wonder.".to_owned()));
    assert_eq!(answer.usage, Some(COUNTED));
    let order = json!([
        { "block": { "type": "thinking", "thinking": "I wonder.", "signature": "sig==" } },
        { "block": { "type": "redacted_thinking", "data": "opaque" } },
        { "text": 8 }, { "call": 0 }, { "call": 1 }]);
    assert_eq!(answer.carry, Some(json!({ "messages": { "model": "model-1", "order": order } })));
}

/// Thinking with its signature goes back as it came and where it stood, to the same model only.
#[test]
fn signed_thinking_goes_back() {
    let order = json!([
        { "block": { "type": "thinking", "thinking": "a", "signature": "s" } }, { "text": 3 }, { "call": 0 },
        { "block": { "type": "thinking", "thinking": "b", "signature": "t" } }, { "text": 3 }]);
    let mut desk = Desk::new("ClaudeV1");
    let reply = |carry: Value, text: &str| Said::Assistant {
        text: text.to_owned(),
        calls: vec![call("id-1", "t", "{}")],
        thinking: "ab".to_owned(),
        carry: Some(carry),
    };
    let kinds = |desk: &mut Desk| -> Vec<String> {
        let sent = desk.sent(false);
        let content = sent["messages"][1]["content"].as_array().unwrap().clone();
        content.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    let own = json!({ "messages": { "model": "model-1", "order": order } });
    desk.messages = vec![user("Hi"), reply(own.clone(), "oneü!")];
    assert_eq!(kinds(&mut desk), ["thinking", "text", "tool_use", "thinking", "text"]);
    desk.messages[1] = reply(own.clone(), "other words");
    assert_eq!(kinds(&mut desk), ["text", "tool_use"], "no longer the text that it was");
    for foreign in
        [json!({ "messages": { "model": "model-2", "order": order } }), json!({ "chat_completions": {} })]
    {
        desk.messages[1] = reply(foreign, "oneü!");
        assert_eq!(kinds(&mut desk), ["text", "tool_use"]);
    }
}

/// B44, B45: by the stop reason, and as they are where the server hides it.
#[test]
fn b45_cut_off_calls() {
    for (reason, cut_off) in
        [("max_tokens", true), ("model_context_window_exceeded", true), ("tool_use", false)]
    {
        let mut events = vec![
            start(),
            begin(0, &json!({ "type": "tool_use", "id": "a", "name": "t", "input": {} })),
            delta(0, &json!({ "type": "input_json_delta", "partial_json": "{\"path\": \"/t" })),
        ];
        events.extend(stop(reason));
        let answer = stream(&events).unwrap();
        assert_eq!((answer.cut_off, answer.calls[0].2.as_str()), (cut_off, "{\"path\": \"/t"), "{reason}");
        let whole = message(&json!([{ "type": "text", "text": "a" }]), reason);
        assert_eq!(Desk::new("ClaudeV1").whole(&whole).unwrap().cut_off, cut_off, "{reason}");
    }
}

#[test]
fn pauses_and_refusals() {
    let text = json!([{ "type": "text", "text": "So far" }]);
    let paused = Desk::new("ClaudeV1").whole(&message(&text, "pause_turn")).unwrap();
    assert_eq!((paused.text.as_str(), paused.cut_off), ("So far", false));
    let refused = Desk::new("ClaudeV1").whole(&message(&text, "refusal")).unwrap();
    assert!(refused.cut_off);
    assert_eq!(refused.text, "So far\n[flowright: the model server ended this reply with `refusal`]");
}

#[test]
fn a_stream_that_breaks_is_no_answer() {
    let begun = [
        start(),
        begin(0, &json!({ "type": "text", "text": "" })),
        delta(0, &json!({ "type": "text_delta", "text": "half" })),
        json!({ "type": "content_block_stop", "index": 0 }),
    ];
    for length in 0..=begun.len() {
        let fault = stream(&begun[..length]).unwrap_err();
        assert!(fault.retryable && fault.message.contains("ended before"), "{length}: {fault:?}");
    }
    let stray = stream(&[start(), delta(4, &json!({ "type": "text_delta", "text": "x" }))]).unwrap_err();
    assert!(stray.retryable, "{stray:?}");
    assert!(stream(&[json!({ "type": "message_stop" })]).unwrap_err().retryable);
    // Everything but the last event: the reply is whole.
    let mut whole = begun.to_vec();
    whole.push(stop("end_turn")[0].clone());
    assert_eq!(stream(&whole).unwrap().text, "half");
}

#[test]
fn errors_inside_a_stream_and_in_place_of_an_answer() {
    for (kind, again) in [
        ("overloaded_error", true),
        ("api_error", true),
        ("rate_limit_error", true),
        ("timeout_error", true),
        ("invalid_request_error", false),
        ("authentication_error", false),
        ("permission_error", false),
        ("not_found_error", false),
        ("request_too_large", false),
    ] {
        let error = json!({ "type": "error", "error": { "type": kind, "message": "no luck" } });
        let inside = stream(&[start(), error.clone()]).unwrap_err();
        let whole = Desk::new("ClaudeV1").whole(&error).unwrap_err();
        assert_eq!((inside.retryable, whole.retryable), (again, again), "{kind}");
        assert!(inside.message.contains("no luck") && inside.message.contains(kind), "{inside:?}");
    }
}
