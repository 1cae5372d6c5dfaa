//! `session list` and `session log`.

use super::super::{Exit, Failure, output, view};
use crate::engine::{SessionId, SessionKind};
use crate::host::run::Host;
use crate::store::{Filter, StoreError};
use clap::ValueEnum;
use serde_json::{Value, json};

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

pub(in crate::cli) fn run(host: &Host, arguments: &Arguments, as_json: bool) -> Result<Exit, Failure> {
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

const PAGE: u32 = 1000;

pub(in crate::cli) fn log(host: &Host, session: &SessionId) -> Result<Exit, Failure> {
    let mut version = 0;
    loop {
        let page = host.store().events_after(session, version, PAGE).map_err(failed)?;
        for kept in &page {
            let event: Value =
                serde_json::from_str(&kept.body).unwrap_or_else(|_| Value::String(kept.body.clone()));
            let line = json!({ "sequence": kept.sequence, "at": kept.at, "event": event });
            output::line(&crate::escape::json_text(&line.to_string()));
        }
        match page.last() {
            Some(last) => version = last.sequence,
            None => return Ok(Exit::Done),
        }
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::new(Exit::Fault, error.to_string())
}
