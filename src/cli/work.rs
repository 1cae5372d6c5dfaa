//! `flowright work`: a worker that drives every session of a store until it is told to stop or nothing is left to do.

use super::{Database, Exit, Failure, database, output, run};
use crate::engine::IndexRow;
use crate::host::clock::RealClock;
use crate::host::run::{Appended, Host};
use crate::host::work::{self, End, Settings, Told};
use crate::store::{Filter, Store, StoreError};
use serde_json::json;
use std::num::NonZeroU16;
use std::sync::Arc;
use tokio::sync::watch;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// End when nothing is due and nothing owes work; exit code 3 if a session waits for something outside
    #[arg(long)]
    until_idle: bool,
    /// Sessions driven side by side
    #[arg(long, value_name = "N", default_value = "16")]
    jobs: NonZeroU16,
    /// Print every event as one line of JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    database: Database,
}

/// Threads beside those of the jobs: times that come due, files, names of hosts.
const THREADS_BESIDE: usize = 64;

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let opened = database::open(&arguments.database)?;
    let jobs = usize::from(arguments.jobs.get());
    let settings = Settings { jobs, end: if arguments.until_idle { End::Idle } else { End::Signal } };
    let as_json = arguments.json;
    let hosts = || {
        let mut host = opened.host();
        if as_json {
            lines(&mut host)
        } else {
            run::watch(&mut host)
        }
        host
    };
    let told = |told: &Told| tell(told, as_json);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(jobs.saturating_add(THREADS_BESIDE))
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Fault, format!("the runtime cannot be started: {error}")))?;
    let (sender, signals) = watch::channel(0_u32);
    let tally = runtime.block_on(async {
        tokio::spawn(count_signals(sender));
        work::work((Arc::clone(&opened.store), Arc::new(RealClock)), &hosts, settings, signals, &told).await
    });
    let tally = tally.map_err(|error| database::host_failure(&error))?;
    if tally.failed > 0 && !tally.interrupted {
        let message = format!("{} of the sessions could not be driven", tally.failed);
        return Err(Failure::new(Exit::Fault, message));
    }
    if arguments.until_idle && !tally.interrupted && anything_waits(opened.store.as_ref())? {
        return Ok(Exit::Waiting);
    }
    Ok(Exit::Done)
}

/// Counts Ctrl-C and SIGTERM, for as long as the process lives.
async fn count_signals(sender: watch::Sender<u32>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let asked = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
        if let (Ok(mut terminate), Ok(mut interrupt)) = asked {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                sender.send_modify(|count| *count += 1);
            }
        }
    }
    while tokio::signal::ctrl_c().await.is_ok() {
        sender.send_modify(|count| *count += 1);
    }
}

/// Every event as a line: what `session log` prints, with the session.
fn lines(host: &mut Host) {
    host.observe(Box::new(|appended: &Appended| {
        let first = appended.version.saturating_sub(appended.events.len() as u64);
        let mut text = String::new();
        for (event, sequence) in appended.events.iter().zip(first.saturating_add(1)..) {
            let line = json!({ "session": appended.session.0, "sequence": sequence, "event": event });
            text.push_str(&crate::escape::json_text(&line.to_string()));
            text.push('\n');
        }
        output::print(&text);
    }));
}

fn tell(told: &Told, as_json: bool) {
    match told {
        Told::Stood { .. } if as_json => {}
        Told::Stood { session, row } => {
            let (title, status) = (&row.title, row.status.replace('_', " "));
            let detail = &row.detail;
            output::line(&crate::escape::visible(&format!("{session}  {status:<20}  {title}  {detail}")));
        }
        Told::Held { session, holder } => {
            output::progress(&format!("session {session} is being driven by another process ({holder})"));
        }
        Told::Failed { session, message } => output::note(&format!("session {session}: {message}")),
    }
}

const PAGE: u32 = 1000;

/// Whether a session has not ended and is not just open for a further message.
fn anything_waits(store: &dyn Store) -> Result<bool, Failure> {
    let failed = |error: StoreError| Failure::new(Exit::Fault, error.to_string());
    let waits = |row: &IndexRow| row.status != "idle";
    let mut filter = Filter { ended: Some(false), roots_only: true, limit: PAGE, ..Filter::default() };
    loop {
        let rows = store.list(&filter).map_err(failed)?;
        if rows.iter().any(|row| waits(&row.index)) {
            return Ok(true);
        }
        match rows.last() {
            Some(last) if rows.len() == PAGE as usize => filter.after = Some(last.session.clone()),
            Some(_) | None => return Ok(false),
        }
    }
}
