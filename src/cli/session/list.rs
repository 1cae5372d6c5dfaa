//! `session list` and `session log`.

use super::super::{Exit, Failure, output, run, view};
use crate::engine::{SessionId, SessionKind};
use crate::host::run::Host;
use crate::store::{Filter, Store, StoreError, Version};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Only sessions of this kind
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Children of other sessions too
    #[arg(long)]
    all: bool,
    /// Only sessions that have not ended
    #[arg(long)]
    open: bool,
    /// Rows at most
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Rows behind this session
    #[arg(long, value_name = "SESSION")]
    after: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Conversations
    Agent,
    /// Workflows
    Workflow,
}

pub(in crate::cli) fn list(host: &Host, arguments: &Arguments, as_json: bool) -> Result<Exit, Failure> {
    let filter = Filter {
        kind: arguments.kind.map(|kind| match kind {
            Kind::Agent => SessionKind::Agent,
            Kind::Workflow => SessionKind::Workflow,
        }),
        ended: arguments.open.then_some(false),
        roots_only: !arguments.all,
        limit: arguments.limit,
        after: arguments.after.clone().map(SessionId),
    };
    let rows = host.store().list(&filter).map_err(failed)?;
    if as_json {
        let next = if rows.len() == arguments.limit as usize {
            rows.last().map(|row| row.session.0.clone())
        } else {
            None
        };
        let rows: Vec<Value> = rows.iter().map(view::row_json).collect();
        output::json(&json!({ "version": 1, "sessions": rows, "next": next }));
        return Ok(Exit::Done);
    }
    for row in &rows {
        let index = &row.index;
        let (id, title, status) = (&row.session, &index.title, index.status.replace('_', " "));
        output::line(&crate::escape::visible(&format!("{id}  {status:<20}  {title}  {}", index.detail)));
    }
    if rows.is_empty() {
        output::progress("no sessions");
    }
    Ok(Exit::Done)
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Log {
    /// Session id, or its beginning
    pub(super) session: String,
    /// Go on with new events as they come, until the session has ended
    #[arg(short, long)]
    follow: bool,
}

const PAGE: u32 = 1000;
/// How often a session that is followed is looked at.
const LOOK: Duration = Duration::from_millis(250);

pub(in crate::cli) fn log(host: &Host, session: &SessionId, arguments: &Log) -> Result<Exit, Failure> {
    let store = host.store();
    if !arguments.follow {
        return print_events(store.as_ref(), session, 0).map(|_| Exit::Done);
    }
    run::block_on(async {
        tokio::select! {
            // First: from the first line on, Ctrl-C ends it in order.
            biased;
            _ = tokio::signal::ctrl_c() => Ok(Exit::Done),
            outcome = follow(store.as_ref(), session) => outcome,
        }
    })?
}

async fn follow(store: &dyn Store, session: &SessionId) -> Result<Exit, Failure> {
    let mut version = 0;
    loop {
        // Asked before the events: what comes after an end that is seen here has been printed below.
        let Some(row) = store.row(session).map_err(failed)? else { return Ok(Exit::Done) };
        if row.version > version {
            version = print_events(store, session, version)?;
        }
        if row.index.ended {
            return Ok(Exit::Done);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Prints the events behind a version, one line each. Gives the version that they lead to.
fn print_events(store: &dyn Store, session: &SessionId, mut version: Version) -> Result<Version, Failure> {
    loop {
        let page = store.events_after(session, version, PAGE).map_err(failed)?;
        for kept in &page {
            let event: Value =
                serde_json::from_str(&kept.body).unwrap_or_else(|_| Value::String(kept.body.clone()));
            let line = json!({ "sequence": kept.sequence, "at": kept.at, "event": event });
            output::line(&crate::escape::json_text(&line.to_string()));
        }
        match page.last() {
            Some(last) => version = last.sequence,
            None => return Ok(version),
        }
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::new(Exit::Fault, error.to_string())
}
