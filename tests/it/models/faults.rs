//! What servers and connections do wrong: what may be asked again, when, and what is told.

use super::{Desk, Server, Turn};
use flowright::host::perform::ModelFault;
use flowright::time::Millis;
use serde_json::json;

fn fault(flavor: &str, status: u16, headers: &str, body: &str) -> ModelFault {
    Desk::new(flavor).exchange(false, Turn::with(status, headers, body)).0.unwrap_err()
}

#[test]
fn what_may_pass_is_asked_again_and_nothing_else() {
    for flavor in ["OpenAIv1", "ClaudeV1"] {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(fault(flavor, status, "", "{}").retryable, "{status}");
        }
        for status in [301, 307, 400, 401, 402, 403, 404, 405, 413, 418, 422, 451] {
            assert!(!fault(flavor, status, "", "{}").retryable, "{status}");
        }
    }
}

#[test]
fn words_of_the_server_that_weigh_more_than_its_status() {
    let of = |kind: &str| json!({ "error": { "message": "m", "type": kind } }).to_string();
    assert!(fault("OpenAIv1", 400, "", &of("overloaded_error")).retryable);
    assert!(!fault("OpenAIv1", 429, "Retry-After: 1\r\n", &of("insufficient_quota")).retryable);
    assert!(!fault("OpenAIv1", 503, "x-should-retry: false\r\n", "{}").retryable);
}

/// Streams are refused with the same statuses.
#[test]
fn a_refused_stream_is_a_fault_like_any_other() {
    let turn =
        Turn::with(429, "Retry-After: 7\r\nContent-Type: text/event-stream\r\n", "{\"error\":\"slow down\"}");
    let fault = Desk::new("OpenAIv1").exchange(true, turn).0.unwrap_err();
    assert_eq!((fault.retryable, fault.retry_after_ms), (true, Some(Millis(7000))));
    assert_eq!(fault.message, "the model server answered 429 Too Many Requests: slow down");
}

#[test]
fn retry_after_in_every_form() {
    let wait = |headers: &str| fault("OpenAIv1", 429, headers, "{}").retry_after_ms.map(|wait| wait.0);
    let now = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    assert_eq!(wait("Retry-After: 12\r\n"), Some(12_000));
    assert_eq!(wait("Retry-After: 0.25\r\n"), Some(250));
    assert_eq!(wait("Retry-After: 12\r\nretry-after-ms: 1500.5\r\n"), Some(1501));
    assert_eq!(wait(&format!("{now}Retry-After: Sun, 06 Nov 1994 08:51:07 GMT\r\n")), Some(90_000));
    assert_eq!(wait(&format!("{now}Retry-After: Sun, 06 Nov 1994 08:49:00 GMT\r\n")), Some(0));
    // Without the server's clock our own counts; that day is over.
    assert_eq!(wait("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), Some(0));
    for nonsense in ["", "-5", "soon", "nan", "inf", "1e999", "Sun, 99 Nov 1994 08:49:37 GMT"] {
        assert_eq!(wait(&format!("Retry-After: {nonsense}\r\n")), None, "{nonsense}");
    }
    assert_eq!(fault("OpenAIv1", 400, "Retry-After: 12\r\n", "{}").retry_after_ms, None);
}

#[test]
fn messages_of_servers_are_found_and_bounded() {
    let said = |body: &str| fault("OpenAIv1", 400, "x-request-id: req_1\r\n", body).message;
    let status = "the model server answered 400 Bad Request: ";
    for (body, words) in [
        (
            r#"{"error":{"message":"bad tool","type":"invalid_request_error"}}"#,
            "bad tool (invalid_request_error)",
        ),
        (r#"{"error":"bad tool"}"#, "bad tool"),
        (r#"{"object":"error","message":"bad tool","type":"x"}"#, "bad tool (x)"),
        (r#"{"message":{"detail":[{"loc":["a"]}]}}"#, r#"{"detail":[{"loc":["a"]}]}"#),
        (r#"{"detail":"bad tool"}"#, "bad tool"),
        ("<html>\n  <h1>Bad</h1>", "<html> <h1>Bad</h1>"),
        ("", "(nothing)"),
    ] {
        assert_eq!(said(body), format!("{status}{words} (request req_1)"));
    }
    let long = said(&format!("{{\"error\":\"{}\"}}", "ü".repeat(5_000)));
    assert_eq!(long.chars().filter(|c| *c == 'ü').count(), 300);
    // More than is read of an error.
    assert!(said(&"<".repeat(300_000)).len() < 1_000);
}

#[test]
fn connections_that_fail_may_be_asked_again() {
    let mut desk = Desk::new("OpenAIv1");
    let closed = Server::start(vec![]);
    let (url, port) = (closed.url("/v1"), closed.port());
    drop(closed.requests());
    let fault = desk.ask_at(&url, false).unwrap_err();
    assert!(fault.retryable);
    assert_eq!(fault.message, format!("the model server at 127.0.0.1:{port} cannot be reached"));
    let silent = desk.exchange(false, Turn::raw(vec![])).0.unwrap_err();
    assert!(silent.retryable && silent.message.contains("broke the connection"), "{silent:?}");
    let noise = desk.exchange(false, Turn::raw(vec![b"SSH-2.0-hello\r\n".to_vec()])).0.unwrap_err();
    assert!(noise.retryable, "{noise:?}");
    desk.limits.answer = std::time::Duration::from_millis(200);
    let late = desk.exchange(false, Turn::raw(vec![]).holding()).0.unwrap_err();
    assert!(late.retryable && late.message.contains("in time"), "{late:?}");
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"choices\":".to_vec();
    let late = desk.exchange(false, Turn::raw(vec![half]).holding()).0.unwrap_err();
    assert!(late.retryable, "{late:?}");
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::start(vec![]);
    let headers = format!("Location: {}\r\n", other.url("/elsewhere"));
    let fault = fault("OpenAIv1", 307, &headers, "");
    assert!(!fault.retryable && fault.message.contains("redirects are not followed"), "{fault:?}");
}

#[test]
fn urls_that_cannot_be_asked() {
    let mut desk = Desk::new("OpenAIv1");
    for url in ["", "nonsense", "ftp://u:hunter2pass@host/v1", "http://u:hunter2pass@:0:0/v1"] {
        let fault = desk.ask_at(url, false).unwrap_err();
        assert!(!fault.retryable && fault.message.starts_with("modelUrl "), "{url}: {fault:?}");
        assert!(!fault.message.contains("hunter2pass"), "{fault:?}");
    }
}
