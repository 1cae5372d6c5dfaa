//! Which database, and a host over it.

use super::store::{self, Kept};
use super::{Database, Exit, Failure, definition, operator};
use crate::engine::SessionId;
use crate::host::clock::RealClock;
use crate::host::holder;
use crate::host::model::keys::Keys;
use crate::host::perform::Perform;
use crate::host::real::RealPerform;
use crate::host::run::{Host, HostError};
use crate::store::{Filter, Store, StoreError};
use std::path::Path;
use std::sync::Arc;

/// The host of this process.
pub(super) fn host(database: &Database) -> Result<Host, Failure> {
    Ok(open(database)?.host())
}

/// Stores that are open, and everything else that a host needs.
pub(super) struct Opened {
    named: Vec<Kept>,
    pub(super) store: Arc<dyn Store>,
    perform: Arc<RealPerform>,
}

pub(super) fn open(database: &Database) -> Result<Opened, Failure> {
    let named = store::named(database)?;
    let store = store::open(&named)?;
    let keys = Keys::read(&operator::keys_file()?).map_err(|message| Failure::new(Exit::Usage, message))?;
    let perform = Arc::new(RealPerform::allowing(keys, operator::allowed()?));
    Ok(Opened { named, store, perform })
}

impl Opened {
    /// A host with a holder name of its own.
    pub(super) fn host(&self) -> Host {
        let perform = Arc::clone(&self.perform) as Arc<dyn Perform>;
        let mut host =
            Host::new(Arc::clone(&self.store), perform, Arc::new(RealClock), holder::this_process());
        host.load_agents(Box::new(|file, root| {
            let path = Path::new(root).join(file);
            definition::agent(&path).map(|ready| ready.agent).map_err(|failure| failure.message)
        }));
        let stores = self.named.clone();
        host.run_in_background(Box::new(move |session, call| background(&stores, session, call)));
        host
    }
}

/// Starts a process of its own that runs one call and goes on when this one has ended.
fn background(stores: &[Kept], session: &SessionId, call: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("the call cannot be run in the background: {error}");
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = std::process::Command::new(program);
    command
        .args(["session", "work", &session.0, call])
        .args(store::words(stores))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own: a Ctrl-C at the terminal is not meant for it.
        command.process_group(0);
    }
    command.spawn().map(|_| ()).map_err(failed)
}

/// How a host's error ends the process.
pub(super) fn host_failure(error: &HostError) -> Failure {
    let message = error.to_string();
    match error {
        HostError::Refused(rejection) => {
            let exit = if rejection.code == crate::engine::RejectionCode::Invalid {
                Exit::Usage
            } else {
                Exit::Refused
            };
            Failure { exit, message, code: rejection.code.word() }
        }
        HostError::Held { .. } => Failure { exit: Exit::Refused, message, code: "held" },
        HostError::Unknown { .. } => Failure { exit: Exit::Usage, message, code: "unknown_session" },
        HostError::Store(_) | HostError::Stored { .. } => Failure::new(Exit::Fault, message),
    }
}

/// The session that a person means: a whole id, or a beginning of one of the newest thousand that is unique.
pub(super) fn resolve(host: &Host, written: &str) -> Result<SessionId, Failure> {
    let written = written.to_lowercase();
    let exact = SessionId(written.clone());
    let failed = |error: StoreError| Failure::new(Exit::Fault, error.to_string());
    if host.store().row(&exact).map_err(failed)?.is_some() {
        return Ok(exact);
    }
    let unknown = || Failure {
        exit: Exit::Usage,
        message: format!("there is no session `{written}`"),
        code: "unknown_session",
    };
    if written.len() < 4 {
        return Err(unknown());
    }
    let newest = host.store().list(&Filter { limit: 1000, ..Filter::default() }).map_err(failed)?;
    let mut fitting = newest.into_iter().map(|row| row.session).filter(|id| id.0.starts_with(&written));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(Failure::usage(format!("several sessions begin with `{written}`; write more of the id")))
        }
        (None, _) => Err(unknown()),
    }
}
