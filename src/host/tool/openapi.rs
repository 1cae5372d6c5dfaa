//! Services that OpenAPI documents describe: one tool `openapi_<operation>` an operation, each call one HTTP request to
//! the service's own host.

pub mod answer;
pub mod document;
pub mod exchange;
pub mod filter;
pub mod operation;
pub mod request;
pub mod schema;

use super::bash::{arguments, timeout_of};
use super::paths;
use super::toolbox::{Kit, Listing, Place, Toolbox};
use crate::escape;
use crate::host::model::{keys, wire};
use crate::host::perform::{Doing, Output, ToolRequest};
use crate::ir::toolbox::OpenApi;
use document::Document;
use exchange::{Asked, exchange, place};
use operation::Operation;
use request::Built;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Mutex;

/// Bytes of the largest document.
const MOST_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the longest answer.
const MOST_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// How long a server may take to give its document.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);
/// So long a document that was fetched stands, and a failure to fetch it.
const FETCHED_STANDS: Duration = Duration::from_secs(300);
const FAILURE_STANDS: Duration = Duration::from_secs(5);

/// The operations of one service.
#[derive(Clone)]
pub struct OpenApiBox {
    inner: Arc<Inner>,
}

struct Inner {
    service: OpenApi,
    root: PathBuf,
    kit: Kit,
    last: Mutex<Option<Last>>,
}

/// What was last read of the document.
struct Last {
    stamp: Stamp,
    found: Result<Arc<Service>, String>,
}

/// What tells whether it is still so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stamp {
    File { modified: Option<SystemTime>, length: u64 },
    Fetched(Instant),
}

/// A document, read.
struct Service {
    operations: Vec<Operation>,
    faults: Vec<String>,
    /// Where calls go, or why they cannot.
    base: Result<Url, String>,
}

impl OpenApiBox {
    /// For a service of an agent whose package is at `root`. Nothing is read yet.
    #[must_use]
    pub fn new(service: OpenApi, root: PathBuf, kit: Kit) -> Self {
        Self { inner: Arc::new(Inner { service, root, kit, last: Mutex::default() }) }
    }
}

impl Toolbox for OpenApiBox {
    fn list(&self, _place: Place) -> Doing<Listing> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            match inner.service().await {
                Err(fault) => Listing { tools: Vec::new(), faults: vec![fault] },
                Ok(service) => {
                    let mut faults = service.faults.clone();
                    faults.extend(service.base.as_ref().err().cloned());
                    let tools = service.operations.iter().map(|operation| operation.spec.clone()).collect();
                    Listing { tools, faults }
                }
            }
        })
    }

    fn call(&self, request: ToolRequest) -> Doing<Output> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { inner.call(&request).await.unwrap_or_else(Output::Failed) })
    }
}

impl Inner {
    /// The document as it is now: a file is read anew once it has changed, a URL after some minutes.
    async fn service(&self) -> Result<Arc<Service>, String> {
        let spec = &self.service.spec;
        let shown = escape::visible(spec.split(['?', '#']).next().unwrap_or_default()).into_owned();
        let fault = |what: String| format!("the OpenAPI document `{shown}` {what}");
        let mut last = self.last.lock().await;
        let url = Url::parse(spec).ok().filter(|url| matches!(url.scheme(), "http" | "https" | "file"));
        let file = match &url {
            Some(url) if url.scheme() != "file" => None,
            Some(url) => {
                Some(url.to_file_path().map_err(|()| fault("is no file of this machine".to_owned()))?)
            }
            None => {
                Some(paths::inside(&self.root, spec).map_err(|why| fault(format!("cannot be read: {why}")))?)
            }
        };
        if let Some(file) = &file {
            let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
            let inside = file.strip_prefix(&root).unwrap_or(file);
            paths::not_the_store(spec, inside).map_err(|why| fault(format!("cannot be read: {why}")))?;
        }
        let stamp = match &file {
            Some(file) => stamp_of(file).map_err(|error| fault(format!("cannot be read: {error}")))?,
            None => Stamp::Fetched(Instant::now()),
        };
        if let Some(last) = last.as_ref().filter(|last| last.stands(stamp)) {
            return last.found.clone();
        }
        let text = match (&file, &url) {
            (Some(file), _) => read(file).await,
            (None, Some(url)) => self.fetch(url).await,
            (None, None) => Err("is not named".to_owned()),
        };
        let remote = url.filter(|_| file.is_none());
        let found = match text {
            Ok(text) => self.understood(shown.clone(), text, remote).await,
            Err(what) => Err(what),
        };
        let found = found.map(Arc::new).map_err(fault);
        *last = Some(Last { stamp, found: found.clone() });
        found
    }

    async fn fetch(&self, url: &Url) -> Result<String, String> {
        let client = wire::client(&self.kit.client)?;
        let built = Built { url: url.clone(), headers: HeaderMap::new(), body: None };
        let asked =
            Asked { method: "GET".to_owned(), built, timeout: FETCH_TIMEOUT, most: MOST_DOCUMENT_BYTES };
        let answered = exchange(client, asked)
            .await
            .map_err(|trouble| format!("cannot be fetched: {} {}", place(url), trouble.what))?;
        if !answered.status.is_success() {
            let status = answered.status.as_u16();
            return Err(format!("cannot be fetched: {} answered with status {status}", place(url)));
        }
        if answered.is_cut {
            return Err(too_large());
        }
        String::from_utf8(answered.bytes).map_err(|_| "is no UTF-8".to_owned())
    }

    /// `remote` is where a document was fetched.
    async fn understood(&self, name: String, text: String, remote: Option<Url>) -> Result<Service, String> {
        let service = self.service.clone();
        let work = move || {
            let document = Document::read(&name, &text)?;
            let (operations, faults) = operation::all(&document, service.filter.as_ref());
            Ok(Service { operations, faults, base: base(&service, &document, &name, remote.as_ref()) })
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(found) => found,
            Err(_) => Err("could not be read for a fault inside Flowright".to_owned()),
        }
    }

    async fn call(&self, request: &ToolRequest) -> Result<Output, String> {
        let given = arguments::parse(&request.call.arguments)?;
        let service = self.service().await?;
        let name = &request.call.name;
        let operation = service.operations.iter().find(|operation| operation.spec.name == *name);
        let operation = operation.ok_or_else(|| format!("the tool `{name}` is gone"))?;
        let base = service.base.clone()?;
        let mut built = request::build(&base, operation, &given)?;
        let key = self.key().await?;
        self.dress(&mut built.headers, operation, &request.call.id, key.as_deref())?;
        let client = wire::client(&self.kit.client)?;
        let method = operation.method.clone();
        let asked = Asked { method, built, timeout: timeout_of(request), most: MOST_ANSWER_BYTES };
        let at = place(&base);
        let answered = match exchange(client, asked).await {
            Ok(answered) => answered,
            Err(trouble) => return Ok(answer::of_trouble(&trouble, &at, operation.spec.repeatable)),
        };
        if let Some(id) = &self.service.api_key_id {
            if answered.status.as_u16() == 401 {
                self.kit.keys.renew(id);
            } else {
                self.kit.keys.taken(id);
            }
        }
        Ok(answer::of(&answered, &operation.method, &at, key.as_deref()))
    }

    async fn key(&self) -> Result<Option<String>, String> {
        let Some(id) = &self.service.api_key_id else { return Ok(None) };
        let found = self.kit.keys.find(id).await?;
        found.map(Some).ok_or_else(|| {
            format!(
                "there is no key `{id}`: put it into the secret-keys file or set {} for it",
                keys::variable(id)
            )
        })
    }

    /// Adds what the definition and the operator send with every request; arguments cannot change it.
    fn dress(
        &self,
        headers: &mut HeaderMap,
        operation: &Operation,
        call: &str,
        key: Option<&str>,
    ) -> Result<(), String> {
        if let (false, Ok(value)) = (operation.spec.repeatable, HeaderValue::from_str(call)) {
            headers.insert(HeaderName::from_static("idempotency-key"), value);
        }
        for (name, value) in &self.service.headers {
            let bad = || format!("the header `{}` of the definition cannot be sent", escape::visible(name));
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if let Some(key) = key {
            let id = self.service.api_key_id.as_deref().unwrap_or_default();
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| format!("the key `{id}` holds characters that cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(())
    }
}

impl Last {
    fn stands(&self, now: Stamp) -> bool {
        match (self.stamp, now) {
            (Stamp::Fetched(then), Stamp::Fetched(now)) => {
                let most = if self.found.is_ok() { FETCHED_STANDS } else { FAILURE_STANDS };
                now.duration_since(then) < most
            }
            (then, now) => then == now,
        }
    }
}

fn stamp_of(file: &Path) -> std::io::Result<Stamp> {
    let about = std::fs::metadata(file)?;
    Ok(Stamp::File { modified: about.modified().ok(), length: about.len() })
}

async fn read(file: &Path) -> Result<String, String> {
    let file = file.to_path_buf();
    let work = move || {
        let about = std::fs::metadata(&file).map_err(|error| format!("cannot be read: {error}"))?;
        if !about.is_file() {
            return Err("is no file".to_owned());
        }
        if about.len() > MOST_DOCUMENT_BYTES as u64 {
            return Err(too_large());
        }
        let bytes = std::fs::read(&file).map_err(|error| format!("cannot be read: {error}"))?;
        String::from_utf8(bytes).map_err(|_| "is no UTF-8".to_owned())
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(read) => read,
        Err(_) => Err("could not be read for a fault inside Flowright".to_owned()),
    }
}

fn too_large() -> String {
    format!("is larger than {} MiB", MOST_DOCUMENT_BYTES / 1024 / 1024)
}

/// Where calls go: as the definition says, else the first server of the document. A document from elsewhere may name
/// no host but its own, for the operator's key would go there.
fn base(service: &OpenApi, document: &Document, name: &str, remote: Option<&Url>) -> Result<Url, String> {
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    if let Some(written) = &service.base_url {
        return Url::parse(written).ok().filter(is_web).ok_or_else(|| {
            "the `BaseUrl` of an OpenAPI toolbox is no URL with `http:` or `https:`".to_owned()
        });
    }
    let fault = |what: &str| format!("the OpenAPI document `{name}` {what}; write a `BaseUrl`");
    let server = document.get("servers").and_then(|servers| servers.get(0));
    let mut written =
        server.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or("/").to_owned();
    let variables = server.and_then(|server| server.get("variables")).and_then(Value::as_object);
    for (variable, about) in variables.into_iter().flatten() {
        let value = about.get("default").and_then(Value::as_str).unwrap_or_default();
        written = written.replace(&format!("{{{variable}}}"), value);
    }
    let url = match remote {
        Some(remote) => remote.join(&written).ok(),
        None => Url::parse(&written).ok(),
    };
    let url = url.filter(is_web).ok_or_else(|| fault("names no server that can be reached"))?;
    if remote.is_some_and(|remote| remote.origin() != url.origin()) {
        return Err(fault("names a server on another host than its own"));
    }
    Ok(url)
}
