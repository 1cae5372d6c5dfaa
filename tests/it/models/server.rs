//! A server on loopback that says exactly the bytes of its script and remembers what it was asked.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What one connection is answered.
pub(super) struct Turn {
    writes: Vec<Vec<u8>>,
    /// The connection stays open, silent, until the client closes it.
    holds: bool,
}

impl Turn {
    pub(super) fn raw(writes: Vec<Vec<u8>>) -> Self {
        Self { writes, holds: false }
    }

    pub(super) fn with(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Said\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        Self::raw(vec![[head.as_bytes(), body.as_bytes()].concat()])
    }

    pub(super) fn json(status: u16, body: &str) -> Self {
        Self::with(status, "Content-Type: application/json\r\n", body)
    }

    /// Each text is the data of one event.
    pub(super) fn stream(events: &[&str]) -> Self {
        let text: Vec<String> = events.iter().map(|data| format!("data: {data}\n\n")).collect();
        Self::pieces(&text.iter().map(String::as_bytes).collect::<Vec<_>>(), true)
    }

    /// A stream of exactly these pieces; without an end the connection breaks in the middle of the body.
    pub(super) fn pieces(pieces: &[&[u8]], ends: bool) -> Self {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream; charset=utf-8\r\n\
            Transfer-Encoding: chunked\r\n\r\n";
        let mut writes = vec![head.as_bytes().to_vec()];
        for piece in pieces {
            writes.push([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
        }
        if ends {
            writes.push(b"0\r\n\r\n".to_vec());
        }
        Self::raw(writes)
    }

    pub(super) fn holding(mut self) -> Self {
        self.holds = true;
        self
    }
}

/// What a client sent.
pub(super) struct Request {
    pub(super) line: String,
    pub(super) headers: HashMap<String, String>,
    pub(super) body: Vec<u8>,
}

pub(super) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(turns: Vec<Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let thread = std::thread::spawn(move || {
            for turn in turns {
                let (stream, _) = listener.accept().unwrap();
                serve(stream, turn, &kept);
            }
        });
        Self { port, requests, thread: Some(thread) }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// What it was asked, once its script is over.
    pub(super) fn requests(mut self) -> Vec<Request> {
        self.thread.take().unwrap().join().unwrap();
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

fn serve(mut stream: TcpStream, turn: Turn, kept: &Mutex<Vec<Request>>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let request = loop {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the client went away: {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(request) = parse(&bytes) {
            break request;
        }
    };
    kept.lock().unwrap().push(request);
    for write in turn.writes {
        // A client that has read enough may close: the rest is for nobody.
        if stream.write_all(&write).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
    if turn.holds {
        while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
    }
}

fn parse(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().to_owned();
    let headers: HashMap<String, String> = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?.to_vec();
    Some(Request { line, headers, body })
}
