//! One HTTP exchange with a service: bounded in time and length, redirected only to the same host, repeated never.

use super::request::Built;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};
use std::time::Duration;

/// How often a service may send a request on.
const MOST_REDIRECTS: usize = 5;

/// What came back.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, up to a bound.
    pub bytes: Vec<u8>,
    /// Whether the body is longer.
    pub is_cut: bool,
}

/// Why nothing came back, or not all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What the service did, without its name: `did not answer within 5 s`.
    pub what: String,
    /// Whether the request may have reached it.
    pub is_sent: bool,
}

/// What is asked, whole.
#[derive(Clone, Debug)]
pub struct Asked {
    /// In capitals.
    pub method: String,
    /// URL, headers, body.
    pub built: Built,
    /// How long it may take.
    pub timeout: Duration,
    /// Bytes of the answer that are read.
    pub most: usize,
}

/// Asks, and reads what comes back.
///
/// # Errors
/// Why there is no whole answer.
pub async fn exchange(client: &reqwest::Client, asked: Asked) -> Result<Answered, Trouble> {
    let timeout = asked.timeout;
    match tokio::time::timeout(timeout, all(client, asked)).await {
        Ok(answered) => answered,
        Err(_) => Err(Trouble { what: late(timeout), is_sent: true }),
    }
}

fn late(timeout: Duration) -> String {
    format!("did not answer within {} s", timeout.as_secs())
}

async fn all(client: &reqwest::Client, asked: Asked) -> Result<Answered, Trouble> {
    let unsent = |what: &str| Trouble { what: what.to_owned(), is_sent: false };
    let mut method =
        Method::from_bytes(asked.method.as_bytes()).map_err(|_| unsent("knows no such method"))?;
    let Built { mut url, headers, mut body } = asked.built;
    for _ in 0..=MOST_REDIRECTS {
        let mut request =
            client.request(method.clone(), url.clone()).timeout(asked.timeout).headers(headers.clone());
        if !headers.contains_key(ACCEPT) {
            request = request.header(ACCEPT, "application/json, */*;q=0.5");
        }
        if let Some((mime, bytes)) = &body {
            request = request.body(bytes.clone());
            if !headers.contains_key(CONTENT_TYPE) {
                request = request.header(CONTENT_TYPE, mime.as_str());
            }
        }
        let mut response = request.send().await.map_err(|error| trouble(&error, asked.timeout))?;
        if let Some(next) = next(&url, &method, &response)? {
            if response.status() == StatusCode::SEE_OTHER && method != Method::HEAD {
                method = Method::GET;
                body = None;
            }
            url = next;
            continue;
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let (bytes, is_cut) = read(&mut response, asked.most).await.map_err(|error| Trouble {
            what: format!("answered with status {} and broke off in the middle", status.as_u16()),
            ..trouble(&error, asked.timeout)
        })?;
        return Ok(Answered { status, headers, bytes, is_cut });
    }
    Err(Trouble { what: format!("redirects more than {MOST_REDIRECTS} times"), is_sent: true })
}

/// Where a response sends the request on; only within its host, and only where its meaning stays.
fn next(url: &Url, method: &Method, response: &Response) -> Result<Option<Url>, Trouble> {
    let status = response.status();
    let is_safe = matches!(*method, Method::GET | Method::HEAD);
    let (leads, was_done) = match status.as_u16() {
        301 | 302 => (is_safe, !is_safe),
        303 => (true, !is_safe),
        307 | 308 => (true, false),
        _ => return Ok(None),
    };
    let Some(to) = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()) else { return Ok(None) };
    let is_elsewhere = |next: &Url| next.origin() != url.origin();
    match url.join(to) {
        Ok(next) if leads && !is_elsewhere(&next) => Ok(Some(next)),
        Ok(next) if is_elsewhere(&next) => Err(Trouble {
            what: format!("redirects to another host, `{}`, which is refused", place(&next)),
            is_sent: was_done,
        }),
        Ok(_) | Err(_) => Ok(None),
    }
}

async fn read(response: &mut Response, most: usize) -> reqwest::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            bytes.truncate(most);
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
}

fn trouble(error: &reqwest::Error, timeout: Duration) -> Trouble {
    if error.is_connect() {
        return Trouble { what: "cannot be reached".to_owned(), is_sent: false };
    }
    if error.is_builder() {
        return Trouble { what: "cannot be sent such a request".to_owned(), is_sent: false };
    }
    let what = if error.is_timeout() { late(timeout) } else { "broke the connection".to_owned() };
    Trouble { what, is_sent: true }
}

/// Host and port: of a URL all that may be shown.
#[must_use]
pub fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
