//! Writing to the streams: data to stdout, everything else to stderr, control characters of others made visible.

use super::Failure;
use crate::escape;
use crate::host::perform::{Delta, Watcher};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::sync::Arc;

/// Writes to stdout. A reader that has gone away ends the process quietly, as with other filters; a full disk is a
/// fault, or half an output would pass for a whole one.
pub(super) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) else { return };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    note(&format!("the output cannot be written: {error}"));
    std::process::exit(super::Exit::Fault.code().into());
}

/// A line of data to stdout.
pub(super) fn line(text: &str) {
    print(&format!("{text}\n"));
}

/// A JSON document to stdout, indented.
pub(super) fn json(value: &Value) {
    line(&escape::json_text(&serde_json::to_string_pretty(value).unwrap_or_default()));
}

/// A text of others, fit for a terminal; line breaks stay.
pub(super) fn visible(text: &str) -> String {
    escape::visible_lines(text).into_owned()
}

/// A progress line, to stderr and only if that is a terminal.
pub(super) fn progress(text: &str) {
    let mut stderr = std::io::stderr().lock();
    if stderr.is_terminal() {
        // Progress that cannot be written is no loss.
        let _ = writeln!(stderr, "{}", visible(text));
    }
}

/// One sentence about what went wrong.
pub(super) fn failure(failure: &Failure, as_json: bool) {
    if as_json {
        json(&json!({ "version": 1, "error": { "code": failure.code, "message": failure.message } }));
    }
    let mut stderr = std::io::stderr().lock();
    // There is nowhere left to say it.
    let _ = writeln!(stderr, "flowright: {}", visible(&failure.message));
}

/// A sentence about something beside the data, to stderr.
pub(super) fn note(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // There is nowhere left to say it.
    let _ = writeln!(stderr, "flowright: {}", visible(text));
}

/// Shows thinking where it was asked for, and on a terminal the text as it comes in; none where neither is shown.
pub(super) fn thinking(wanted: bool, to_stderr: bool) -> Option<Watcher> {
    let watched = std::io::stderr().is_terminal();
    if !wanted && !watched {
        return None;
    }
    Some(Watcher(Arc::new(move |delta: Delta<'_>| match delta {
        Delta::Thinking(text) if wanted && !to_stderr => print(&visible(text)),
        Delta::Thinking(text) if wanted => {
            // Thinking that cannot be shown is no loss.
            let _ = write!(std::io::stderr().lock(), "{}", visible(text));
        }
        Delta::Thinking(_) | Delta::Text(_) => {}
    })))
}

/// Whether stdout wants colour.
pub(super) fn color() -> bool {
    std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Columns to lay out for.
pub(super) fn width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok())
        .filter(|w| *w >= 40)
        .unwrap_or(100)
        .min(160)
}
