//! One connection to a tool server, over the streams of a process or over HTTP, from its handshake to its end.

use super::child::Child;
use super::{innermost, short};
use crate::host::model::keys::Keys;
use crate::host::model::wire;
use crate::host::tool::toolbox::Kit;
use crate::ir::toolbox::McpServer;
use indexmap::IndexMap;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, ClientRequest, Implementation, PingRequest, Tool};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, RoleClient, RunningService, ServiceError, serve_client,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::HashMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};

/// A server that has shaken hands.
pub(super) struct Reached {
    service: RunningService<RoleClient, Watch>,
    child: Option<Child>,
    key: Option<Key>,
    /// Tools as last told; none once the server has said that they changed.
    tools: Mutex<Option<Arc<Vec<Tool>>>>,
    changed: Arc<AtomicBool>,
    dead: AtomicBool,
    /// Whether a call timed out, so that the server must show that it still answers.
    doubted: AtomicBool,
    ending: OnceCell<String>,
}

/// The key that is sent.
struct Key {
    id: String,
    value: String,
}

/// Hears that the tools have changed. Everything that a server may ask is refused.
struct Watch {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Watch {
    fn on_tool_list_changed(
        &self,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.changed.store(true, Ordering::SeqCst);
        std::future::ready(())
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("flowright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}

impl Reached {
    /// Starts or finds the server and shakes hands.
    pub(super) async fn open(
        server: &McpServer,
        root: &Path,
        kit: &Kit,
        timeout: Duration,
    ) -> Result<Self, String> {
        let reached = match server {
            McpServer::Program { executable, args, env, .. } => {
                Self::open_program(root, executable, args, env, timeout).await
            }
            McpServer::Http { url, headers, api_key_id, .. } => {
                Self::open_http(url, headers, api_key_id.as_deref(), kit, timeout).await
            }
        };
        reached.map_err(|fault| format!("the tool server `{}` {fault}", server.name()))
    }

    async fn open_program(
        root: &Path,
        executable: &str,
        args: &[String],
        env: &IndexMap<String, String>,
        timeout: Duration,
    ) -> Result<Self, String> {
        let (child, streams) = Child::start(root, executable, args, env)?;
        let changed = Arc::<AtomicBool>::default();
        let serving = serve_client(Watch { changed: Arc::clone(&changed) }, streams);
        match tokio::time::timeout(timeout, serving).await {
            Ok(Ok(service)) => Ok(Self::new(service, changed, Some(child), None)),
            Ok(Err(
                ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. },
            )) => Err(format!("{} before it was ready", child.ending().await)),
            Ok(Err(error)) => Err(refused(&error)),
            Err(_) => {
                let words = child.last_words().map(|words| format!("; its last words: `{words}`"));
                Err(format!("{}{}", late(timeout), words.unwrap_or_default()))
            }
        }
    }

    async fn open_http(
        url: &str,
        headers: &IndexMap<String, String>,
        key_id: Option<&str>,
        kit: &Kit,
        timeout: Duration,
    ) -> Result<Self, String> {
        let key = match key_id {
            Some(id) => {
                let value = kit.keys.find(id).await.map_err(|fault| format!("cannot be reached: {fault}"))?;
                let value = value.ok_or_else(|| format!("cannot be reached: there is no key `{id}`"))?;
                Some(Key { id: id.to_owned(), value })
            }
            None => None,
        };
        let client = wire::client(&kit.client)?.clone();
        let mut config =
            StreamableHttpClientTransportConfig::with_uri(url).custom_headers(own_headers(headers)?);
        if let Some(key) = &key {
            config = config.auth_header(key.value.clone());
        }
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let changed = Arc::<AtomicBool>::default();
        let serving = serve_client(Watch { changed: Arc::clone(&changed) }, transport);
        match tokio::time::timeout(timeout, serving).await {
            Ok(Ok(service)) => {
                if let Some(key) = &key {
                    kit.keys.taken(&key.id);
                }
                Ok(Self::new(service, changed, None, key))
            }
            Ok(Err(error)) => {
                if let (true, Some(key)) = (error.is_authorization_required(), &key) {
                    kit.keys.renew(&key.id);
                }
                Err(hide(key.as_ref(), &refused(&error)))
            }
            Err(_) => Err(late(timeout)),
        }
    }

    fn new(
        service: RunningService<RoleClient, Watch>,
        changed: Arc<AtomicBool>,
        child: Option<Child>,
        key: Option<Key>,
    ) -> Self {
        Self {
            service,
            child,
            key,
            tools: Mutex::default(),
            changed,
            dead: AtomicBool::new(false),
            doubted: AtomicBool::new(false),
            ending: OnceCell::new(),
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Its tools, asked for at the first time and after a change.
    pub(super) async fn tools(&self) -> Result<Arc<Vec<Tool>>, ServiceError> {
        let mut known = self.tools.lock().await;
        let changed = self.changed.swap(false, Ordering::SeqCst);
        if let (Some(tools), false) = (&*known, changed) {
            return Ok(Arc::clone(tools));
        }
        *known = None;
        let tools = Arc::new(self.peer().list_all_tools().await?);
        *known = Some(Arc::clone(&tools));
        Ok(tools)
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst) || self.peer().is_transport_closed()
    }

    /// Nothing more is asked of it.
    pub(super) fn bury(&self) {
        self.dead.store(true, Ordering::SeqCst);
    }

    /// A request has timed out: the next one is not sent before the server has shown that it still answers.
    pub(super) fn doubt(&self) {
        self.doubted.store(true, Ordering::SeqCst);
    }

    /// Whether there is no doubt, or a ping removes it.
    pub(super) async fn still_answers(&self, timeout: Duration) -> bool {
        if !self.doubted.load(Ordering::SeqCst) {
            return true;
        }
        let ping = self.peer().send_request(ClientRequest::PingRequest(PingRequest::default()));
        let answers = match tokio::time::timeout(timeout, ping).await {
            // A refusal is an answer as well.
            Ok(Ok(_) | Err(ServiceError::McpError(_))) => true,
            Ok(Err(_)) | Err(_) => false,
        };
        self.doubted.store(!answers, Ordering::SeqCst);
        answers
    }

    /// What became of it, as a sentence without its subject.
    pub(super) async fn ending(&self) -> String {
        self.bury();
        let ending = self.ending.get_or_init(|| async {
            match &self.child {
                Some(child) => child.ending().await,
                None => "cannot be reached any more".to_owned(),
            }
        });
        ending.await.clone()
    }

    /// The server has refused the key.
    pub(super) fn forget_key(&self, keys: &Keys) {
        if let Some(key) = &self.key {
            keys.renew(&key.id);
        }
    }

    pub(super) fn without_key(&self, text: &str) -> String {
        hide(self.key.as_ref(), text)
    }
}

fn hide(key: Option<&Key>, text: &str) -> String {
    match key {
        Some(key) if !key.value.is_empty() => text.replace(&key.value, "…"),
        Some(_) | None => text.to_owned(),
    }
}

fn late(timeout: Duration) -> String {
    format!("was not ready within {} s", timeout.as_secs())
}

/// Why there is no handshake.
fn refused(error: &ClientInitializeError) -> String {
    if let ClientInitializeError::JsonRpcError(error) = error {
        return format!("refuses the handshake: {}", short(&error.message));
    }
    if error.is_authorization_required() {
        return "refuses the key, or wants one".to_owned();
    }
    let is_unreached = matches!(
        error,
        ClientInitializeError::TransportError { .. } | ClientInitializeError::ConnectionClosed(_)
    );
    if is_unreached {
        return format!("cannot be reached: {}", innermost(error));
    }
    format!("does not shake hands as MCP wants it: {}", short(&error.to_string()))
}

/// The headers of the definition.
fn own_headers(headers: &IndexMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut own = HashMap::new();
    for (name, value) in headers {
        let bad = || format!("cannot be reached: `{}` is no header that can be sent", short(name));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        own.insert(name, value);
    }
    Ok(own)
}
