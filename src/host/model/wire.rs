//! One HTTP exchange with a model server: bounded in time and length, whole answers and streams alike. Knows no
//! protocol, follows no redirect, repeats nothing.

use super::Limits;
use super::fault::{self, broken, fatal, passing};
use super::sse;
use super::told::Told;
use crate::engine::agent::command::Answer;
use crate::host::perform::ModelFault;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use serde_json::Value;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For requests that set no bound of their own.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);
/// The longest time for one stream, however lively it is.
const STREAM_TIMEOUT: Duration = Duration::from_secs(4 * 60 * 60);
/// How long the end of a stream is waited for once the reply is whole: token counts may still come.
const GRACE: Duration = Duration::from_secs(10);
/// An answer larger than this is refused: no model writes it, a broken server does.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// A stream holds each word in a shell of its own.
const STREAM_LIMIT_BYTES: usize = 8 * ANSWER_LIMIT_BYTES;
/// Of an error so much is read.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;
/// So many bytes tell what an answer is.
const TELLING_BYTES: usize = 6;

/// The client, built at its first use.
///
/// # Errors
/// One sentence if it cannot be built.
pub fn client(cell: &OnceLock<reqwest::Client>) -> Result<&reqwest::Client, String> {
    if let Some(client) = cell.get() {
        return Ok(client);
    }
    // Another part of the process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let built = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("flowright/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("the HTTP client cannot be built: {error}"))?;
    Ok(cell.get_or_init(|| built))
}

/// How far a reply has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// An end here would be a broken stream.
    Open,
    /// Everything has come that makes an answer; token counts may still come.
    Whole,
    /// Nothing more comes.
    Done,
}

/// A protocol reads one reply.
pub(super) trait Protocol: Sized {
    /// A piece of a stream.
    fn event(&mut self, event: &sse::Event, told: &mut Told<'_>) -> Result<(), Trouble>;
    /// How far the pieces have come.
    fn stage(&self) -> Stage;
    /// A whole body: parsed, and as it was written.
    fn body(&mut self, value: &Value, text: &str, told: &mut Told<'_>) -> Result<(), Trouble>;
    /// The answer, once it is whole.
    fn answer(self) -> Result<Answer, ModelFault>;
}

/// What a protocol finds wrong.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// It is not of the protocol's shape; says what is missing.
    Shape(&'static str),
    /// The server reports an error.
    Error(Value),
}

/// What is asked.
pub(super) struct Call<'a> {
    pub url: &'a Url,
    pub headers: HeaderMap,
    pub body: String,
    pub limits: Limits,
    pub streams: bool,
}

/// A fault, and the status that came with it.
#[derive(Debug)]
pub(super) struct Failure {
    pub fault: ModelFault,
    pub status: Option<u16>,
}

impl From<ModelFault> for Failure {
    fn from(fault: ModelFault) -> Self {
        Self { fault, status: None }
    }
}

/// Asks and reads the reply.
pub(super) async fn converse<P: Protocol>(
    client: &reqwest::Client,
    call: Call<'_>,
    mut protocol: P,
    told: &mut Told<'_>,
) -> Result<Answer, Failure> {
    let whole = if call.streams { STREAM_TIMEOUT } else { call.limits.answer };
    let accept = if call.streams { "text/event-stream, application/json" } else { "application/json" };
    let sending = client
        .post(call.url.clone())
        .headers(call.headers)
        .header("accept", accept)
        .timeout(whole)
        .body(call.body)
        .send();
    let response = match tokio::time::timeout(call.limits.answer, sending).await {
        Ok(response) => response.map_err(|error| fault::transport(call.url, &error))?,
        Err(_) => {
            let place = fault::place(call.url);
            return Err(passing(format!("the model server at {place} did not answer in time")).into());
        }
    };
    let idle = if call.streams { call.limits.idle } else { call.limits.answer };
    let mut body = Body { response, url: call.url, idle };
    let status = body.response.status();
    if !status.is_success() {
        let headers = body.response.headers().clone();
        // What could not be read of an error changes nothing about it.
        let (text, _) = body.rest(Vec::new(), ERROR_LIMIT_BYTES).await;
        let text = String::from_utf8_lossy(&text);
        let fault = fault::of_status(status, &headers, &text, now_ms());
        return Err(Failure { fault, status: Some(status.as_u16()) });
    }
    read(&mut body, &mut protocol, told).await?;
    told.end();
    Ok(protocol.answer()?)
}

/// A body that comes in pieces.
struct Body<'a> {
    response: Response,
    url: &'a Url,
    idle: Duration,
}

impl Body<'_> {
    async fn next(&mut self, most: Duration) -> Result<Option<Vec<u8>>, ModelFault> {
        match tokio::time::timeout(most, self.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk.map(|bytes| bytes.to_vec())),
            Ok(Err(error)) => Err(fault::transport(self.url, &error)),
            Err(_) => {
                let place = fault::place(self.url);
                Err(passing(format!("the model server at {place} fell silent in the middle of its answer")))
            }
        }
    }

    /// Everything up to a bound, and why there may be no more.
    async fn rest(&mut self, mut bytes: Vec<u8>, most: usize) -> (Vec<u8>, Option<ModelFault>) {
        while bytes.len() <= most {
            match self.next(self.idle).await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => return (bytes, None),
                Err(fault) => return (bytes, Some(fault)),
            }
        }
        let fault = fatal(format!("the model server's answer is longer than {most} bytes"));
        (bytes, Some(fault))
    }

    /// Whether a stream of events comes. A server may answer with one body where a stream was asked for.
    fn is_stream(&self, begin: &[u8]) -> bool {
        let kind = self.response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_said = kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
        let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
        let looks_so = [&b"data:"[..], b"event:", b":", b"id:", b"retry:"];
        (is_said && begin.first() != Some(&b'{')) || looks_so.iter().any(|field| begin.starts_with(field))
    }
}

async fn read<P: Protocol>(
    body: &mut Body<'_>,
    protocol: &mut P,
    told: &mut Told<'_>,
) -> Result<(), ModelFault> {
    let mut begin = Vec::new();
    let mut ended = false;
    while begin.trim_ascii_start().len() < TELLING_BYTES && begin.len() < ERROR_LIMIT_BYTES && !ended {
        match body.next(body.idle).await? {
            Some(chunk) => begin.extend_from_slice(&chunk),
            None => ended = true,
        }
    }
    if body.is_stream(&begin) {
        return read_stream(body, begin, protocol, told).await;
    }
    let (bytes, fault) = body.rest(begin, ANSWER_LIMIT_BYTES).await;
    if let Some(fault) = fault {
        return Err(fault);
    }
    let text =
        std::str::from_utf8(&bytes).map_err(|_| passing("the model server's answer is not UTF-8".into()))?;
    let value: Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| broken("is no JSON", text))?;
    protocol
        .body(&value, text.trim_start_matches('\u{feff}'), told)
        .map_err(|trouble| of_trouble(body, trouble, text))
}

async fn read_stream<P: Protocol>(
    body: &mut Body<'_>,
    begin: Vec<u8>,
    protocol: &mut P,
    told: &mut Told<'_>,
) -> Result<(), ModelFault> {
    let mut reader = sse::Reader::new(ANSWER_LIMIT_BYTES);
    let mut events = Vec::new();
    let mut length = 0_usize;
    let mut next = Some(begin);
    loop {
        let is_last = next.is_none();
        let fed = match &next {
            Some(bytes) => reader.push(bytes, &mut events),
            None => reader.end(&mut events),
        };
        length = length.saturating_add(next.as_ref().map_or(0, Vec::len));
        for event in std::mem::take(&mut events) {
            let taken = protocol.event(&event, told);
            match (taken, protocol.stage()) {
                (_, Stage::Done) => return Ok(()),
                // What follows a whole reply can no longer take it back.
                (Ok(()), _) | (Err(_), Stage::Whole) => {}
                (Err(trouble), Stage::Open) => return Err(of_trouble(body, trouble, &event.data)),
            }
        }
        let is_whole = protocol.stage() == Stage::Whole;
        match fed {
            _ if is_whole && is_last => return Ok(()),
            Err(_) if is_whole => return Ok(()),
            Err(sse::Broken::NotUtf8) => {
                return Err(passing("the model server's stream is not UTF-8".to_owned()));
            }
            Err(sse::Broken::TooLong) => {
                return Err(fatal("an event of the model server's stream is too long".to_owned()));
            }
            Ok(()) if is_last => {
                return Err(passing("the model server's stream ended before the reply was whole".to_owned()));
            }
            Ok(()) if length > STREAM_LIMIT_BYTES => {
                let message = format!("the model server's stream is longer than {STREAM_LIMIT_BYTES} bytes");
                return Err(fatal(message));
            }
            Ok(()) => {}
        }
        let most = if is_whole { body.idle.min(GRACE) } else { body.idle };
        next = match body.next(most).await {
            Ok(chunk) => chunk,
            Err(_) if is_whole => return Ok(()),
            Err(fault) => return Err(fault),
        };
    }
}

fn of_trouble(body: &Body<'_>, trouble: Trouble, text: &str) -> ModelFault {
    match trouble {
        Trouble::Shape(what) => broken(what, text),
        Trouble::Error(value) => fault::of_error(&value, body.response.headers(), now_ms()),
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
