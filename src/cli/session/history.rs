//! The history of an agent session: printed, edited at rest, written to and read from session files, deleted.

use super::super::{Exit, Failure, database, definition, operator, output};
use super::stand;
use crate::engine::SessionId;
use crate::engine::agent::command::Notification;
use crate::engine::agent::conversation;
use crate::engine::agent::event::{Message, MessageKind, Spec, ToolResult};
use crate::engine::agent::state::{Call, CallState, State, Turn};
use crate::exchange;
use crate::host::clock::{Clock, RealClock};
use crate::host::run::{Host, Subject};
use crate::ir;
use clap::ValueEnum;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `session print`.
#[derive(Debug, clap::Args)]
pub(super) struct Print {
    /// Session id, or its beginning
    session: String,
    /// In which form
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// Markdown
    Md,
    /// A session file
    Json,
}

/// `session edit`.
#[derive(Debug, clap::Args)]
pub(super) struct Edit {
    /// Session id, or its beginning
    session: String,
    /// Take the edited session file from here instead of opening $EDITOR; `-` for stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// `session delete`.
#[derive(Debug, clap::Args)]
pub(super) struct Delete {
    /// Session id, or its beginning
    session: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// `session export`.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    /// Session id, or its beginning
    session: String,
    /// Where to; stdout without it
    file: Option<PathBuf>,
}

/// `session import`.
#[derive(Debug, clap::Args)]
pub(super) struct Import {
    /// Session file, `-` for stdin
    file: PathBuf,
    /// Give the session a new id
    #[arg(long)]
    new_id: bool,
}

/// Agent and state of an agent session.
fn opened(host: &mut Host, written: &str) -> Result<(SessionId, Arc<ir::Agent>, State), Failure> {
    let session = database::resolve(host, written)?;
    let live = host.live(&session).map_err(|error| database::host_failure(&error))?;
    match &live.subject {
        Subject::Agent { ir, state } => Ok((session.clone(), Arc::clone(ir), state.clone())),
        Subject::Workflow { .. } => {
            Err(Failure::usage(format!("{session} is a workflow session; it has no conversation of its own")))
        }
    }
}

fn file_of(host: &Host, ir: &ir::Agent, state: &State) -> Value {
    let store = Arc::clone(host.store());
    exchange::write(state, ir, &|digest| store.blob(digest).ok().flatten())
}

pub(super) fn print(host: &mut Host, print: &Print, json: bool) -> Result<Exit, Failure> {
    let (session, ir, state) = opened(host, &print.session)?;
    if json || print.format == Form::Json {
        output::json(&file_of(host, &ir, &state));
        return Ok(Exit::Done);
    }
    let is_md = print.format == Form::Md;
    let heading = |who: &str| if is_md { format!("## {who}\n") } else { format!("{who}:") };
    let mut lines =
        vec![if is_md { format!("# {} {session}\n", ir.slug) } else { format!("{session}  {}", ir.slug) }];
    for turn in state.turns.iter() {
        match turn {
            Turn::Said { text, media, .. } => {
                lines.push(heading("user"));
                let spec = state.spec.as_ref().filter(|spec| lines.len() == 2 && spec.prompt == *text);
                lines.push(spec.map_or_else(|| text.clone(), conversation::assignment));
                lines.extend(media.iter().map(crate::host::perform::described));
            }
            Turn::Reply { text, calls, .. } => {
                lines.push(heading("assistant"));
                if !text.is_empty() {
                    lines.push(text.clone());
                }
                lines.extend(calls.iter().map(|call| called(host, call, is_md)));
            }
        }
        lines.push(String::new());
    }
    output::print(&output::visible(&lines.join("\n")));
    Ok(Exit::Done)
}

fn called(host: &Host, call: &Call, is_md: bool) -> String {
    let result = match &call.state {
        CallState::Completed(result) => told(host, result),
        CallState::Failed(reason) => format!("Error: {reason}"),
        CallState::Ready => "(not run yet)".to_owned(),
        CallState::Running { .. } => "(running)".to_owned(),
        CallState::Deferred { token, reason, .. } => format!("(deferred under {token}: {reason})"),
        CallState::Delegated { child, .. } => format!("(answered by session {child})"),
        CallState::Unknown => "(nobody knows whether it had its effect)".to_owned(),
    };
    let result = result.trim_end_matches('\n');
    if is_md {
        let fence = "`".repeat(longest_run(result, '`').max(2) + 1);
        format!("\n`{} {}`\n\n{fence}\n{result}\n{fence}", call.made.name, call.made.arguments)
    } else {
        format!("> {} {}\n{result}", call.made.name, call.made.arguments)
    }
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or_default()
}

fn told(host: &Host, result: &ToolResult) -> String {
    match result {
        ToolResult::Text(text) => text.clone(),
        ToolResult::Json(value) => value.to_string(),
        ToolResult::Error(text) => format!("Error: {text}"),
        ToolResult::Kept(kept) => match host.store().blob(&kept.digest) {
            Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(None) | Err(_) => format!("{} … ({} bytes, not kept any more)", kept.head, kept.length),
        },
        ToolResult::Media(media) => crate::host::perform::described(media),
        ToolResult::Mixed(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| told(host, part)).collect();
            parts.join("\n")
        }
    }
}

pub(super) fn export(host: &mut Host, export: &Export) -> Result<Exit, Failure> {
    let (_, ir, state) = opened(host, &export.session)?;
    let text = serde_json::to_string_pretty(&file_of(host, &ir, &state)).unwrap_or_default();
    match &export.file {
        None => output::line(&text),
        Some(path) => std::fs::write(path, text + "\n").map_err(|error| {
            Failure::new(Exit::Usage, format!("{} cannot be written: {error}", path.display()))
        })?,
    }
    Ok(Exit::Done)
}

/// Reads a session file and keeps what it refers to.
fn taken_in(host: &Host, bytes: &[u8], name: &str) -> Result<exchange::Conversation, Failure> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| Failure::usage(format!("{name} is no JSON: {error}")))?;
    let conversation = exchange::read(&value, RealClock.now())
        .map_err(|error| Failure::usage(format!("{name} is no session file: {error}")))?;
    for fault in &conversation.faults {
        output::note(&format!("{name}: {fault}"));
    }
    for (_, bytes) in &conversation.blobs {
        host.store().put_blob(bytes).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
    }
    Ok(conversation)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" { definition::stdin() } else { definition::read(path) }
}

pub(super) fn import(
    host: &mut Host,
    import: &Import,
    agent: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let agent = agent.ok_or_else(|| Failure::usage("say which agent goes on with it: --agent-file FILE"))?;
    let ready = definition::agent(agent)?;
    let name = import.file.display().to_string();
    let conversation = taken_in(host, &bytes_of(&import.file)?, &name)?;
    let written = conversation.session.clone().filter(|_| !import.new_id);
    let session = SessionId(written.unwrap_or_else(|| host.fresh_id()).to_lowercase());
    let spec = Spec {
        session: session.clone(),
        slug: ready.agent.slug.clone(),
        agent: ready.agent.digest(),
        root: ready.root.display().to_string(),
        owner: operator::user(),
        prompt: String::new(),
        with: IndexMap::new(),
        contract: None,
        media: Vec::new(),
        caller: None,
        forked_from: conversation.forked_from.map(SessionId),
    };
    let known = host.store().row(&session).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
    if known.is_some() {
        return Err(Failure {
            exit: Exit::Refused,
            message: format!("there is a session {session} already; --new-id imports it under another id"),
            code: "conflict",
        });
    }
    let mut turns = conversation.turns;
    tokens_of_its_own(host, &mut turns, import.new_id)?;
    let by = operator::principal()?;
    host.start_agent(&ready.agent, spec).map_err(|error| database::host_failure(&error))?;
    let news = Notification::Import { turns, from: name, by };
    host.tell_agent(&session, news).map_err(|error| database::host_failure(&error))?;
    for (text, media) in conversation.waiting {
        let message = Message { id: host.fresh_id(), kind: MessageKind::Person, text, media };
        host.tell_agent(&session, Notification::Take(message))
            .map_err(|error| database::host_failure(&error))?;
    }
    stand::report(host, &session, None, json)?;
    Ok(Exit::Done)
}

/// A token leads to one session. A copy gets tokens of its own; another file whose tokens are taken is refused.
fn tokens_of_its_own(host: &Host, turns: &mut [Turn], copy: bool) -> Result<(), Failure> {
    let calls = turns.iter_mut().flat_map(|turn| match turn {
        Turn::Reply { calls, .. } => calls.as_mut_slice(),
        Turn::Said { .. } => &mut [],
    });
    for call in calls {
        let CallState::Deferred { token, .. } = &mut call.state else { continue };
        if copy {
            *token = host.fresh_id();
            continue;
        }
        let owner =
            host.store().by_token(token).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
        if let Some(owner) = owner {
            return Err(Failure {
                exit: Exit::Refused,
                message: format!(
                    "the session {owner} waits under a token of this file; --new-id gives new ones"
                ),
                code: "conflict",
            });
        }
    }
    Ok(())
}

pub(super) fn edit(host: &mut Host, edit: &Edit, json: bool) -> Result<Exit, Failure> {
    let (session, ir, state) = opened(host, &edit.session)?;
    let open = stand::last_calls(&state).iter().any(|call| !call.state.is_terminal());
    if open {
        return Err(Failure {
            exit: Exit::Refused,
            message: format!("the last turn of {session} is not over; only a session at rest can be edited"),
            code: "not_waiting",
        });
    }
    let before = serde_json::to_string_pretty(&file_of(host, &ir, &state)).unwrap_or_default() + "\n";
    let after = match &edit.file {
        Some(path) => bytes_of(path)?,
        None => in_editor(&session, &before)?,
    };
    if after == before.as_bytes() {
        output::note("nothing was changed");
        return Ok(Exit::Done);
    }
    let conversation = taken_in(host, &after, "the edited session")?;
    let by = operator::principal()?;
    let news = Notification::Import { turns: conversation.turns, from: "edit".to_owned(), by };
    host.tell_agent(&session, news).map_err(|error| database::host_failure(&error))?;
    stand::report(host, &session, None, json)?;
    Ok(Exit::Done)
}

/// What a person makes of a text in their editor. The file goes away afterwards.
fn in_editor(session: &SessionId, text: &str) -> Result<Vec<u8>, Failure> {
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok()).filter(|it| !it.is_empty());
    let editor = editor.ok_or_else(|| Failure::usage("set $EDITOR, or give the edited file with --file"))?;
    let failed = |error: std::io::Error| Failure::new(Exit::Fault, format!("the editor's file: {error}"));
    let folder = std::env::temp_dir().join(format!("flowright-{session}-{}", std::process::id()));
    create_private(&folder).map_err(failed)?;
    let path = folder.join(format!("conv.{session}.json"));
    let outcome = (|| {
        std::fs::write(&path, text).map_err(failed)?;
        let mut words = editor.split_whitespace();
        let program = words.next().unwrap_or_default();
        let status = std::process::Command::new(program)
            .args(words)
            .arg(&path)
            .status()
            .map_err(|error| Failure::usage(format!("the editor `{editor}` cannot be run: {error}")))?;
        if !status.success() {
            return Err(Failure::usage(format!("the editor `{editor}` failed; nothing was changed")));
        }
        std::fs::read(&path).map_err(failed)
    })();
    // What stays behind is in a private folder.
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

#[cfg(unix)]
fn create_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir(folder)
}

pub(super) fn delete(host: &mut Host, delete: &Delete, as_json: bool) -> Result<Exit, Failure> {
    let session = database::resolve(host, &delete.session)?;
    let failed = |error: crate::store::StoreError| Failure::new(Exit::Fault, error.to_string());
    let row = host.store().row(&session).map_err(failed)?;
    if let Some(parent) = row.and_then(|row| row.index.parent) {
        let open = host.store().row(&parent).map_err(failed)?.is_some_and(|row| !row.index.ended);
        if open {
            return Err(Failure {
                exit: Exit::Refused,
                message: format!("{session} works for {parent}, which has not ended"),
                code: "not_allowed",
            });
        }
    }
    let mut doomed = vec![session.clone()];
    let mut at = 0;
    while let Some(next) = doomed.get(at).cloned() {
        doomed.extend(host.store().children(&next).map_err(failed)?.into_iter().map(|row| row.session));
        at += 1;
    }
    if !delete.yes {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::usage("say --yes; there is nobody to ask"));
        }
        eprint!("delete {session} and {} that it started? [y/N] ", doomed.len() - 1);
        // The answer decides, not whether the question was seen.
        let _ = std::io::stderr().flush();
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).map_err(|error| Failure::usage(error.to_string()))?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            output::note("nothing was deleted");
            return Ok(Exit::Done);
        }
    }
    host.delete(&doomed).map_err(|error| database::host_failure(&error))?;
    if as_json {
        let ids: Vec<&str> = doomed.iter().map(|id| id.0.as_str()).collect();
        output::json(&json!({ "version": 1, "deleted": ids }));
    } else {
        for id in &doomed {
            output::line(&format!("deleted {id}"));
        }
    }
    Ok(Exit::Done)
}
