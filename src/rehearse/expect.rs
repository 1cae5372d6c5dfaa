//! What is expected against what is there: one finding an expectation that does not hold.

use super::stage::Stage;
use crate::ast::rehearsal::Expect;
use crate::diagnostic::Diagnostic;
use crate::engine::workflow::state::{Hold, StagePhase, State, Work};
use crate::parse::rules;
use crate::source::{Span, Spanned};
use crate::tree::Entry;
use serde_json::Value;

/// Characters of a value that a message shows.
const SHOWN: usize = 120;
/// Visits that a message shows.
const VISITS: usize = 30;

/// Where the session stands, for the help of a finding.
pub(super) fn standing(stage: &mut Stage, case: &str) -> String {
    let Ok(row) = stage.row() else { return String::new() };
    let detail = if row.detail.is_empty() { String::new() } else { format!(" ({})", row.detail) };
    let visits = stage.visits();
    let left_out = visits.len().saturating_sub(VISITS);
    let mut shown: Vec<String> = visits.into_iter().skip(left_out).collect();
    if left_out > 0 {
        shown.insert(0, "…".to_owned());
    }
    let visited = if shown.is_empty() { "nothing".to_owned() } else { shown.join(" → ") };
    format!("in `{case}` the session is `{}`{detail}; visited: {visited}", row.status)
}

/// All that does not hold.
pub(super) fn judge(stage: &mut Stage, expected: &Expect, case: &str) -> Vec<Diagnostic> {
    let mut judge = Judge { failed: Vec::new() };
    if let Err(reason) = judge.all(stage, expected) {
        judge.failed.push((Span::default(), reason));
    }
    let help = standing(stage, case);
    let finding =
        |(span, message)| Diagnostic::new(&rules::FAILED_EXPECTATION, span, message).help(help.clone());
    judge.failed.into_iter().map(finding).collect()
}

struct Judge {
    failed: Vec<(Span, String)>,
}

impl Judge {
    fn all(&mut self, stage: &mut Stage, expected: &Expect) -> Result<(), String> {
        let (state, row) = (stage.state()?, stage.row()?);
        if let Some(status) = &expected.status {
            let waits = ["awaiting_answer", "awaiting_review", "waiting_for_schedule"];
            let holds = row.status == status.value
                || (status.value == "waiting" && waits.contains(&row.status.as_str()));
            self.same(holds, status.span, "status", status.value, &row.status);
        }
        self.waits_for(stage, &state, expected)?;
        let visits = stage.visits();
        if let Some(wanted) = &expected.visits {
            let (wanted_text, found) = (wanted.value.join(", "), visits.join(", "));
            self.same(wanted.value == visits, wanted.span, "visits", &wanted_text, &found);
        }
        for name in expected.never.iter().filter(|name| visits.contains(&name.value)) {
            self.failed.push((name.span, format!("`{}` was to be visited never, and was", name.value)));
        }
        self.outputs(&state, &expected.outputs);
        self.part(expected.reason.as_ref(), "reason", &reason(&state));
        self.part(expected.asks.as_ref(), "what is asked", asked(&state));
        self.agent(stage, expected)?;
        if let Some(revision) = &expected.revision {
            let found = match &state.work {
                Work::Stage(open) => open.candidate().map_or(0, |candidate| candidate.revision),
                Work::Cron { .. } | Work::Question(_) | Work::None => 0,
            };
            let (wanted, found_text) = (revision.value.to_string(), found.to_string());
            self.same(revision.value == found, revision.span, "revision", &wanted, &found_text);
        }
        if let Some(at) = &expected.wakes_at {
            let found = row.wake_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
            let holds = row.wake_at == Some(at.value);
            self.same(holds, at.span, "wakes_at", &at.value.to_string(), &found);
        }
        Ok(())
    }

    fn same(&mut self, holds: bool, span: Span, what: &str, expected: &str, found: &str) {
        if !holds {
            let (expected, found) = (short(expected), short(found));
            self.failed.push((span, format!("expected {what} `{expected}`, found `{found}`")));
        }
    }

    fn part(&mut self, expected: Option<&Spanned<String>>, what: &str, found: &str) {
        let Some(part) = expected.filter(|part| !found.contains(&part.value)) else { return };
        let message = if found.is_empty() {
            format!("expected `{}` in {what}, but there is none", short(&part.value))
        } else {
            format!("expected `{}` in {what}, found `{}`", short(&part.value), short(found))
        };
        self.failed.push((part.span, message));
    }

    fn waits_for(&mut self, stage: &mut Stage, state: &State, expected: &Expect) -> Result<(), String> {
        let Some(wanted) = &expected.waits_for else { return Ok(()) };
        let open = match (&state.ended, &state.position) {
            (None, Some(position)) => position.node.clone(),
            (Some(_), _) | (None, None) => String::new(),
        };
        let agent = stage.at_work()?;
        let holds = open == wanted.value || agent.is_some_and(|agent| agent.is(&wanted.value));
        let found = if open.is_empty() { "nothing" } else { open.as_str() };
        self.same(holds, wanted.span, "a wait for", &wanted.value, found);
        Ok(())
    }

    fn outputs(&mut self, state: &State, expected: &[Entry]) {
        for entry in expected {
            let name = &entry.key.value;
            let Some(ending) = &state.ended else {
                let message = format!("expected the output `{name}`, but the session has not ended");
                self.failed.push((entry.key.span, message));
                continue;
            };
            self.value(entry, &format!("the output `{name}` as"), ending.outputs.get(name));
        }
    }

    fn value(&mut self, entry: &Entry, what: &str, found: Option<&Value>) {
        let wanted = entry.value.to_json();
        let found = found.unwrap_or(&Value::Null);
        let span = if entry.value.span.is_empty() { entry.key.span } else { entry.value.span };
        self.same(wanted == *found, span, what, &wanted.to_string(), &found.to_string());
    }

    fn agent(&mut self, stage: &mut Stage, expected: &Expect) -> Result<(), String> {
        let agent = stage.at_work()?;
        let prompt = agent.as_ref().map(|agent| agent.spec.prompt.as_str()).unwrap_or_default();
        self.part(expected.task.as_ref(), "the task of the agent at work", prompt);
        for entry in &expected.given {
            let name = &entry.key.value;
            match &agent {
                Some(agent) => self.value(entry, &format!("`{name}` given as"), agent.spec.with.get(name)),
                None => {
                    let message = format!("expected `{name}` to be given to an agent, but none is at work");
                    self.failed.push((entry.key.span, message));
                }
            }
        }
        Ok(())
    }
}

/// Why it ended, or is held.
fn reason(state: &State) -> String {
    match (&state.ended, &state.hold) {
        (Some(ending), _) => ending.reason.clone(),
        (None, Hold::NeedsAttention { reason, .. } | Hold::Cancelling { reason, .. }) => reason.clone(),
        (None, Hold::None | Hold::Paused) => String::new(),
    }
}

/// What the person reads that is waited for.
fn asked(state: &State) -> &str {
    match &state.work {
        Work::Question(asking) => &asking.text,
        Work::Stage(stage) => match &stage.phase {
            StagePhase::HumanGate { text, .. } => text,
            StagePhase::Producing
            | StagePhase::MachineGate { .. }
            | StagePhase::CorrectionDue
            | StagePhase::Unsuccessful { .. } => "",
        },
        Work::Cron { .. } | Work::None => "",
    }
}

fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let head: String = line.chars().take(SHOWN).collect();
    format!("{head}…")
}
