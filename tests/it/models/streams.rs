//! Streams of chat completions: pieces, ends, breaks.

use super::{Desk, Server, Turn};
use flowright::engine::agent::event::Usage;
use serde_json::{Value, json};
use std::time::Duration;

const DONE: &str = "[DONE]";

fn piece(delta: &Value) -> String {
    json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
        .to_string()
}

fn finish(reason: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string()
}

fn events(deltas: &[Value], reason: &str) -> Vec<String> {
    let mut events: Vec<String> = deltas.iter().map(piece).collect();
    events.push(finish(reason));
    events.push(DONE.to_owned());
    events
}

fn stream(deltas: &[Value], reason: &str) -> flowright::engine::agent::command::Answer {
    let events = events(deltas, reason);
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    Desk::new("OpenAIv1").streamed(&events).unwrap()
}

fn fragment(call: &Value) -> Value {
    json!({ "tool_calls": [call] })
}

fn calls(deltas: &[Value]) -> Vec<(String, String, String)> {
    stream(deltas, "tool_calls").calls
}

fn triple(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn text_and_thinking_are_told_as_they_come() {
    let mut desk = Desk::new("OpenAIv1");
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 4,
        "prompt_tokens_details": { "cached_tokens": 8 }, "completion_tokens_details": { "reasoning_tokens": 2 } } });
    let parts = [
        piece(&json!({ "role": "assistant", "content": "" })),
        piece(&json!({ "reasoning_content": "They " })),
        piece(&json!({ "reasoning": "greet." })),
        piece(&json!({ "content": "Good " })),
        piece(&json!({ "content": "day" })),
        finish("stop"),
        usage.to_string(),
        DONE.to_owned(),
    ];
    let answer = desk.streamed(&parts.each_ref().map(String::as_str)).unwrap();
    assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("Good day", "They greet."));
    assert_eq!(answer.usage, Some(Usage { input: 9, output: 4, cached: 8, reasoning: 2 }));
    assert_eq!(desk.told(), ("Good day".to_owned(), "They greet.".to_owned()));
    assert_eq!(desk.heard.lock().unwrap().len(), 4, "piece by piece");
}

#[test]
fn counts_stand_where_servers_put_them() {
    for last in [
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop",
            "usage": { "prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3 } }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
            "x_groq": { "usage": { "prompt_tokens": 9, "completion_tokens": 4,
                "prompt_tokens_details": { "cached_tokens": 3 } } } }),
    ] {
        let answer = Desk::new("OpenAIv1").streamed(&[&last.to_string(), DONE]).unwrap();
        let wanted = Usage { input: 9, output: 4, cached: 3, reasoning: 0 };
        assert_eq!(answer.usage, Some(wanted), "{last}");
    }
}

#[test]
fn calls_are_put_together_by_index() {
    let got = calls(&[
        fragment(&json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "" } })),
        fragment(&json!({ "index": 1, "id": "b", "function": { "name": "two", "arguments": "{\"x\"" } })),
        fragment(&json!({ "index": 0, "function": { "arguments": "{\"y\":" } })),
        json!({ "tool_calls": [{ "index": 1, "function": { "arguments": ":1}" } },
            { "index": 0, "function": { "arguments": "2}" } }] }),
    ]);
    assert_eq!(got, [triple("a", "one", "{\"y\":2}"), triple("b", "two", "{\"x\":1}")]);
}

#[test]
fn ids_that_come_late_or_with_every_piece_and_names_that_repeat() {
    let late = calls(&[
        fragment(&json!({ "index": 0, "function": { "name": "one" } })),
        fragment(&json!({ "index": 0, "id": "a", "function": { "arguments": "{}" } })),
    ]);
    assert_eq!(late, [triple("a", "one", "{}")]);
    let repeated = calls(&[
        fragment(&json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "{\"x\":" } })),
        fragment(&json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "1}" } })),
        fragment(&json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "" } })),
    ]);
    assert_eq!(repeated, [triple("a", "one", "{\"x\":1}")]);
    let cut = calls(&[
        fragment(&json!({ "index": 0, "id": "a", "function": { "name": "on" } })),
        fragment(&json!({ "index": 0, "function": { "name": "e", "arguments": "{}" } })),
    ]);
    assert_eq!(cut, [triple("a", "one", "{}")]);
}

/// B43: servers that give every call the index 0, or none, or the same id.
#[test]
fn b43_calls_that_share_an_index_or_an_id_stay_apart() {
    let call =
        |id: &str, name: &str| json!({ "id": id, "function": { "name": name, "arguments": "{\"x\":1}" } });
    let indexed = |id: &str, name: &str, index: u64| {
        let mut call = call(id, name);
        call["index"] = index.into();
        call
    };
    let wanted = |a: &str, b: &str| [triple(a, "one", "{\"x\":1}"), triple(b, "two", "{\"x\":1}")];
    let both = |first: Value, second: Value| calls(&[fragment(&first), fragment(&second)]);
    assert_eq!(both(indexed("a", "one", 0), indexed("b", "two", 0)), wanted("a", "b"));
    assert_eq!(both(call("a", "one"), call("b", "two")), wanted("a", "b"));
    assert_eq!(both(call("", "one"), call("", "two")), wanted("", ""));
    assert_eq!(both(indexed("same", "one", 0), indexed("same", "two", 1)), wanted("same", "same"));
    assert_eq!(both(indexed("same", "one", 0), indexed("same", "two", 0)), wanted("same", "same"));
    assert_eq!(calls(&[json!({ "tool_calls": [call("", "one"), call("", "two")] })]), wanted("", ""));
    let twice = both(call("", "one"), call("", "one"));
    assert_eq!(twice, [triple("", "one", "{\"x\":1}"), triple("", "one", "{\"x\":1}")]);
}

/// B46: digits of arguments, as text in pieces and as an object.
#[test]
fn b46_digits_survive_a_stream() {
    let got = calls(&[
        fragment(
            &json!({ "index": 0, "id": "a", "function": { "name": "t", "arguments": "{\"id\":25122920" } }),
        ),
        fragment(&json!({ "index": 0, "function": { "arguments": "42121000001,\"e\":1e2}" } })),
    ]);
    assert_eq!(got[0].2, "{\"id\":2512292042121000001,\"e\":1e2}");
    let object = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"t","arguments":{"id":9007199254740993,"e": 1E2}}}]},"finish_reason":"tool_calls"}]}"#;
    let answer = Desk::new("OpenAIv1").streamed(&[object, DONE]).unwrap();
    assert_eq!(answer.calls[0].2, r#"{"id":9007199254740993,"e": 1E2}"#);
}

/// B44, B45: what is cut off comes as it is, whatever the server says about its end.
#[test]
fn b45_cut_off_calls_of_a_stream() {
    for (reason, cut_off) in [("length", true), ("tool_calls", false)] {
        let answer = stream(
            &[fragment(
                &json!({ "index": 0, "id": "a", "function": { "name": "t", "arguments": "{\"a\": \"b" } }),
            )],
            reason,
        );
        assert_eq!(
            (answer.cut_off, answer.calls),
            (cut_off, vec![triple("a", "t", "{\"a\": \"b")]),
            "{reason}"
        );
    }
}

/// A stream that ends early is never an answer, however it ends.
#[test]
fn an_end_before_the_end_is_no_answer() {
    let begun = [piece(&json!({ "content": "half" }))];
    let text: Vec<u8> = format!("data: {}\n\n", begun[0]).into_bytes();
    let cut = |pieces: &[&[u8]], ends: bool| {
        let mut desk = Desk::new("OpenAIv1");
        let fault = desk.exchange(true, Turn::pieces(pieces, ends)).0.unwrap_err();
        assert!(fault.retryable, "{fault:?}");
        fault.message
    };
    assert!(cut(&[&text], true).contains("ended before"));
    assert!(cut(&[&text], false).contains("broke the connection"));
    assert!(cut(&[], true).contains("ended before"));
    assert!(cut(&[b": nothing\n\n"], true).contains("ended before"));
    // In the middle of a piece.
    assert!(cut(&[&text, b"data: {\"choices\":[{\"del"], true).contains("no JSON"));
    assert!(cut(&[&text, b"data: {\"choices\":[{\"del\n\n", b"data: [DONE]\n\n"], true).contains("no JSON"));
    assert!(cut(&[b"data: [DONE]\n\n"], true).contains("no choice"));
    assert!(cut(&[&text, b"data: \xff\xfe\n\n"], true).contains("UTF-8"));
}

/// What follows a whole reply cannot take it back: no `[DONE]`, a broken connection, a server that stays silent.
#[test]
fn a_whole_reply_stays_whole() {
    let whole = format!("data: {}\n\ndata: {}\n\n", piece(&json!({ "content": "all" })), finish("stop"));
    let mut desk = Desk::new("OpenAIv1");
    desk.limits.idle = Duration::from_millis(300);
    for turn in [
        Turn::pieces(&[whole.as_bytes()], true),
        Turn::pieces(&[whole.as_bytes()], false),
        Turn::pieces(&[whole.as_bytes(), b"data: {\"broken\n\n"], true),
        Turn::pieces(&[whole.as_bytes()], false).holding(),
    ] {
        assert_eq!(desk.exchange(true, turn).0.unwrap().text, "all");
    }
    // A server that names no reason, but says that it is done.
    let ended = [piece(&json!({ "content": "all" })), DONE.to_owned()];
    assert_eq!(desk.streamed(&ended.each_ref().map(String::as_str)).unwrap().text, "all");
}

#[test]
fn a_stalled_stream_ends() {
    let begun = format!("data: {}\n\n", piece(&json!({ "content": "half" })));
    let mut desk = Desk::new("OpenAIv1");
    desk.limits.idle = Duration::from_millis(200);
    for turn in [Turn::pieces(&[begun.as_bytes()], false).holding(), Turn::pieces(&[], false).holding()] {
        let fault = desk.exchange(true, turn).0.unwrap_err();
        assert!(fault.retryable && fault.message.contains("fell silent"), "{fault:?}");
    }
    desk.limits.answer = Duration::from_millis(200);
    let fault = desk.exchange(true, Turn::raw(vec![]).holding()).0.unwrap_err();
    assert!(fault.retryable && fault.message.contains("in time"), "{fault:?}");
}

/// Line ends of both kinds, comments, an order mark, characters in several pieces.
#[test]
fn every_form_of_the_stream_is_read() {
    let text = format!(
        "\u{feff}: welcome\r\n\r\nevent: message\r\nid: 1\r\ndata: {}\r\n\r\n:\r\ndata:{}\r\n\r\ndata: [DONE]\r\n\r\n",
        piece(&json!({ "content": "grüße € 😀" })),
        finish("stop")
    );
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    let mut desk = Desk::new("OpenAIv1");
    assert_eq!(desk.exchange(true, Turn::pieces(&bytes, true)).0.unwrap().text, "grüße € 😀");
    assert_eq!(desk.told().0, "grüße € 😀");
    // One data line over two, and an end without a blank line.
    let two = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\ndata: \"finish_reason\":\"stop\"}]}";
    assert_eq!(desk.exchange(true, Turn::pieces(&[two], true)).0.unwrap().text, "a");
}

#[test]
fn an_error_inside_a_stream_is_a_fault() {
    let begun = piece(&json!({ "content": "half" }));
    for (error, again) in [
        (json!({ "error": { "message": "too busy", "type": "server_error" } }), true),
        (json!({ "error": { "message": "too busy", "code": 502 } }), true),
        (json!({ "error": { "message": "too busy", "code": "429" } }), true),
        (json!({ "error": "too busy" }), true),
        (json!({ "object": "error", "message": "too busy" }), true),
        (json!({ "error": { "message": "too busy", "type": "invalid_request_error" } }), false),
        (json!({ "error": { "message": "too busy", "code": 400 } }), false),
    ] {
        let fault = Desk::new("OpenAIv1").streamed(&[&begun, &error.to_string(), DONE]).unwrap_err();
        assert_eq!(fault.retryable, again, "{error}");
        assert!(fault.message.contains("too busy"), "{fault:?}");
    }
    let named = b"event: error\ndata: {\"message\":\"too busy\"}\n\n";
    let fault = Desk::new("OpenAIv1").exchange(true, Turn::pieces(&[named], true)).0.unwrap_err();
    assert!(fault.retryable && fault.message.contains("too busy"), "{fault:?}");
}

/// A server that answers a question for a stream with one body; and one that streams without being asked.
#[test]
fn servers_that_do_not_do_as_they_are_asked() {
    let mut desk = Desk::new("OpenAIv1");
    let body =
        json!({ "choices": [{ "message": { "content": "all", "reasoning_content": "hm" } }] }).to_string();
    for kind in ["application/json", "text/event-stream"] {
        desk.heard.lock().unwrap().clear();
        let turn = Turn::with(200, &format!("Content-Type: {kind}\r\n"), &body);
        assert_eq!(desk.exchange(true, turn).0.unwrap().text, "all");
        assert_eq!(desk.told(), ("all".to_owned(), "hm".to_owned()), "{kind}");
    }
    let error = Turn::with(
        200,
        "Content-Type: text/event-stream\r\n",
        "{\"error\":{\"message\":\"no\",\"code\":503}}",
    );
    assert!(desk.exchange(true, error).0.unwrap_err().retryable);
    let events = format!("data: {}\n\ndata: {}\n\n", piece(&json!({ "content": "all" })), finish("stop"));
    for kind in ["text/event-stream", "text/plain"] {
        let turn = Turn::with(200, &format!("Content-Type: {kind}\r\n"), &events);
        assert_eq!(desk.exchange(false, turn).0.unwrap().text, "all", "{kind}");
    }
}

#[test]
fn other_choices_are_not_mixed_in() {
    let other =
        json!({ "choices": [{ "index": 1, "delta": { "content": "other" }, "finish_reason": "stop" }] });
    let mine = piece(&json!({ "content": "mine" }));
    let answer = Desk::new("OpenAIv1").streamed(&[&mine, &other.to_string(), &finish("stop"), DONE]).unwrap();
    assert_eq!(answer.text, "mine");
}

#[test]
fn details_of_reasoning_are_joined_and_carried() {
    let detail =
        |text: &str| json!({ "reasoning_details": [{ "type": "reasoning.text", "index": 0, "text": text }] });
    let signed = json!({ "reasoning_details": [{ "type": "reasoning.text", "index": 0, "signature": "s" },
        { "type": "reasoning.encrypted", "index": 1, "data": "x" }] });
    let answer = stream(&[detail("a"), detail("b"), signed, json!({ "content": "c" })], "stop");
    let details = json!([{ "type": "reasoning.text", "index": 0, "text": "ab", "signature": "s" },
        { "type": "reasoning.encrypted", "index": 1, "data": "x" }]);
    assert_eq!(answer.carry.unwrap()["chat_completions"]["reasoning_details"], details);
}

/// A second question over the same client after a stream that was given up.
#[test]
fn a_broken_stream_leaves_nothing_behind() {
    let mut desk = Desk::new("OpenAIv1");
    let begun = format!("data: {}\n\n", piece(&json!({ "content": "half" })));
    let whole = events(&[json!({ "content": "all" })], "stop");
    let whole: Vec<&str> = whole.iter().map(String::as_str).collect();
    let server = Server::start(vec![Turn::pieces(&[begun.as_bytes()], true), Turn::stream(&whole)]);
    let url = server.url("/v1");
    assert!(desk.ask_at(&url, true).is_err());
    assert_eq!(desk.ask_at(&url, true).unwrap().text, "all");
    let requests = server.requests();
    assert_eq!(requests[0].body, requests[1].body, "asked again word by word");
}
