//! Putting values in where references stand. What is inserted is data and is never read again.

use super::state::{Candidate, Record, State};
use crate::ir::{Data, Path, Piece, Root, Segment, Text};
use serde_json::Value;

/// The text with its references filled in: strings as they are, everything else as JSON.
#[must_use]
pub fn text(state: &State, text: &Text, candidate: Option<&Candidate>) -> String {
    text.0
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Path(path) => match value(state, path, candidate) {
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
                None => "null".to_owned(),
            },
        })
        .collect()
}

/// The data with its references filled in; a reference without a value becomes null.
#[must_use]
pub fn data(state: &State, data: &Data, candidate: Option<&Candidate>) -> Value {
    match data {
        Data::Literal(value) => value.clone(),
        Data::Path(path) => value(state, path, candidate).unwrap_or(Value::Null),
        Data::Text(template) => Value::String(text(state, template, candidate)),
        Data::List(items) => items.iter().map(|item| self::data(state, item, candidate)).collect(),
        Data::Map(entries) => {
            entries.iter().map(|(key, item)| (key.clone(), self::data(state, item, candidate))).collect()
        }
    }
}

/// What a reference stands for; `None` if it has no value.
#[must_use]
pub fn value(state: &State, path: &Path, candidate: Option<&Candidate>) -> Option<Value> {
    let spec = state.spec.as_ref()?;
    let root = match &path.root {
        Root::Input(name) => spec.inputs.get(name)?.clone(),
        Root::Step { node, output } => last(state, node)?.outputs.get(output)?.clone(),
        Root::Previous { node, output } => previous(state, node)?.outputs.get(output)?.clone(),
        Root::LoopIteration => state.position.as_ref()?.frames.last()?.iteration.into(),
        Root::SessionId => spec.session.0.clone().into(),
        Root::SessionStartedAt => state.started_at.to_string().into(),
        Root::SessionOwner => spec.owner.clone().into(),
        Root::CandidateResult => candidate?.result.clone(),
        Root::CandidateSummary => candidate?.summary.clone().into(),
    };
    let mut at = &root;
    for segment in &path.rest {
        at = match segment {
            Segment::Name(name) => at.get(name)?,
            Segment::Index(index) => at.get(*index as usize)?,
        };
    }
    Some(at.clone())
}

/// The same, where a step counts only if it completed in the current iteration of every loop that it shares (`pick`).
#[must_use]
pub fn current_value(state: &State, path: &Path) -> Option<Value> {
    if let Root::Step { node, .. } = &path.root {
        let now = &state.position.as_ref()?.frames;
        let record = last(state, node)?;
        let shares =
            |mine: &super::event::Frame| {
                record.frames.iter().find(|frame| frame.node == mine.node).is_none_or(|frame| {
                    frame.iteration == mine.iteration && frame.entered_at == mine.entered_at
                })
            };
        if !now.iter().all(shares) {
            return None;
        }
    }
    value(state, path, None)
}

fn last<'a>(state: &'a State, node: &str) -> Option<&'a Record> {
    state.records.get(node)?.last()
}

/// The visit in the preceding iteration of the innermost loop around the reader.
fn previous<'a>(state: &'a State, node: &str) -> Option<&'a Record> {
    let now = &state.position.as_ref()?.frames;
    let innermost = now.last()?;
    let before = innermost.iteration.checked_sub(1)?;
    state.records.get(node)?.iter().rev().find(|record| {
        now.iter().all(|mine| {
            let wanted = if mine.node == innermost.node { before } else { mine.iteration };
            record
                .frames
                .iter()
                .find(|frame| frame.node == mine.node)
                .is_some_and(|frame| frame.iteration == wanted && frame.entered_at == mine.entered_at)
        })
    })
}
