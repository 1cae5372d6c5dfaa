//! Messages over streams: a header with a length, then JSON. A message that cannot be read is answered with an error
//! and the next one is read; only a broken header ends the stream. Nothing here knows what a message means.
//!
//! The crate's own reader stops at the first text that is no message, and reads numbers in a way that does not agree
//! with `arbitrary_precision`; its channels and types are used as they are.

use super::Ended;
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes of the largest message.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of the longest line of a header.
const MAX_HEADER_BYTES: u64 = 4096;

/// The threads behind a connection over streams.
pub(super) struct Wire {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Wire {
    /// Waits until everything is written; says why if the stream broke.
    pub(super) fn finish(self, ended: Ended) -> Ended {
        let _ = self.writer.join();
        if ended != Ended::Closed {
            // The reader may still wait for input that nobody needs.
            return ended;
        }
        match self.reader.join() {
            Ok(Err(error)) => Ended::Broken(error.to_string()),
            Ok(Ok(())) | Err(_) => ended,
        }
    }
}

/// A connection over stdin and stdout.
pub(super) fn stdio() -> (Connection, Wire) {
    // The channels have no bound, so that a burst can be seen whole.
    let (connection, far) = Connection::memory();
    let Connection { sender, receiver } = far;
    let out = Arc::new(Mutex::new(io::stdout()));
    let reader = {
        let out = Arc::clone(&out);
        std::thread::spawn(move || {
            let mut input = BufReader::new(io::stdin());
            while let Some(text) = read(&mut input)? {
                match message(&text) {
                    Ok(message) => {
                        let is_exit = matches!(&message, Message::Notification(one) if one.method == "exit");
                        if sender.send(message).is_err() || is_exit {
                            break;
                        }
                    }
                    Err(answer) => write(&out, &answer)?,
                }
            }
            Ok(())
        })
    };
    let writer = std::thread::spawn(move || {
        for message in receiver {
            let mut bytes = Vec::new();
            message.write(&mut bytes)?;
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            out.write_all(&bytes)?;
            out.flush()?;
        }
        Ok(())
    });
    (connection, Wire { reader, writer })
}

fn broken(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// The bytes of the next message; `None` at the end of the stream.
fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    for is_first in std::iter::once(true).chain(std::iter::repeat(false)) {
        let mut line = Vec::new();
        let count = input.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
        if count == 0 && is_first {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(broken("the stream holds no messages of the language server protocol"));
        };
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if line.is_empty() && !is_first {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(broken(format!("`{}` is no header of a message", line.escape_debug())));
        };
        if name.trim().eq_ignore_ascii_case("content-length") {
            let number: u64 =
                value.trim().parse().map_err(|_| broken(format!("`{}` is no length", value.trim())))?;
            length = Some(number);
        }
    }
    let length = length.ok_or_else(|| broken("a message without `Content-Length`"))?;
    if length > MAX_BYTES {
        return Err(broken(format!("a message of {length} bytes; at most {MAX_BYTES} are read")));
    }
    let mut bytes = Vec::new();
    let count = input.by_ref().take(length).read_to_end(&mut bytes)?;
    if u64::try_from(count).unwrap_or(u64::MAX) < length {
        return Err(broken("the stream ends within a message"));
    }
    Ok(Some(bytes))
}

/// The message in a text, or the error that answers it.
fn message(bytes: &[u8]) -> Result<Message, Value> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        refusal(&Value::Null, ErrorCode::ParseError, &format!("the message is no JSON: {error}"))
    })?;
    let id = value.get("id").cloned();
    let has_method = value.get("method").is_some();
    // By shape, since a request whose id cannot be read must not pass for news.
    let read = match (&id, has_method) {
        (Some(_), true) => serde_json::from_value(value).map(Message::Request),
        (Some(_), false) => serde_json::from_value(value).map(Message::Response),
        (None, _) => serde_json::from_value(value).map(Message::Notification),
    };
    read.map_err(|error| {
        let what = format!("this is neither a request nor a notification nor a response: {error}");
        refusal(&id.unwrap_or(Value::Null), ErrorCode::InvalidRequest, &what)
    })
}

fn refusal(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
}

fn write(out: &Mutex<io::Stdout>, value: &Value) -> io::Result<()> {
    let text = value.to_string();
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    out.flush()
}
