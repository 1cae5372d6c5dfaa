//! Isolated calls: a program of the package, a container, or a function runner gets an envelope and answers with one.
//! What may be used is the operator's to say; a definition names only which of it.

pub mod container;
pub mod envelope;
pub mod function;
pub mod landlock;
pub mod local;

use super::perform::{Output, ToolRequest};
use super::tool::process::{Captured, Finished};
use super::tool::toolbox::Kit;
use crate::ir;
use envelope::Envelope;
use std::path::Path;
use std::time::Duration;

/// Characters of what a runner printed that a message quotes.
const MOST_QUOTED: usize = 500;

/// Whether a call can be isolated so on this machine.
///
/// # Errors
/// What is missing, in one sentence.
pub async fn possible(kit: &Kit, root: &Path, place: &ir::Isolation) -> Result<(), String> {
    match place {
        ir::Isolation::LocalProcess { path } => local::possible(kit, root, path),
        ir::Isolation::Docker { image } => container::possible(kit, image).await,
        ir::Isolation::FunctionRunner { target } => function::possible(kit, target),
    }
}

/// Runs one call in isolation. Dropping the future stops what runs.
pub async fn run(kit: &Kit, request: &ToolRequest, place: &ir::Isolation) -> Output {
    let envelope = Envelope::of(request, place);
    match place {
        ir::Isolation::LocalProcess { path } => local::run(kit, request, path, &envelope).await,
        ir::Isolation::Docker { image } => container::run(kit, request, image, &envelope).await,
        ir::Isolation::FunctionRunner { target } => function::run(kit, request, target, &envelope).await,
    }
}

/// What a program that was given an envelope has answered.
fn judged(what: &str, envelope: &Envelope, finished: &Finished, timeout: Duration) -> Output {
    if finished.timed_out {
        return Output::Failed(format!(
            "{what} gave no result within {} s and was ended with all that it had started; it may have had part of \
             its effect{}",
            timeout.as_secs(),
            said(&finished.errors)
        ));
    }
    if finished.code != Some(0) {
        let code = finished.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        return Output::Failed(format!("{what} ended with {code}{}", said(&finished.errors)));
    }
    if finished.output.total > finished.output.bytes.len() {
        return Output::Failed(format!(
            "{what} answered with {} bytes, more than the {} that a result may have",
            finished.output.total,
            finished.output.bytes.len()
        ));
    }
    match envelope.result(&finished.output.bytes) {
        Ok(output) => output,
        Err(why) => Output::Failed(format!("{what} {why}{}", said(&finished.errors))),
    }
}

/// What was printed, as the end of a sentence.
fn said(stream: &Captured) -> String {
    let text = stream.text();
    if text.trim().is_empty() { String::new() } else { format!(": {}", short(&text)) }
}

/// The beginning of a text on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted: String = line.chars().take(MOST_QUOTED).collect();
    if quoted.len() < line.len() {
        quoted.push('…');
    }
    quoted
}
