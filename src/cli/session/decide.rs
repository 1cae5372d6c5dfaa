//! The verbs that record something: an answer, a decision, a word, a result.

use super::super::{Exit, Failure, database, operator, run, view};
use super::{Then, Verb, Which, result, talk};
use crate::engine::SessionId;
use crate::engine::agent::command::{Notification as AgentNews, Resolution};
use crate::engine::agent::event::{Message, MessageKind, ToolResult};
use crate::engine::workflow::command::{Decision, Notification};
use crate::engine::workflow::state::{Hold, StagePhase, Work};
use crate::host::run::{Host, Subject, Until};

pub(super) fn run(host: &mut Host, verb: &Verb, json: bool) -> Result<Exit, Failure> {
    let by = operator::principal()?;
    match verb {
        Verb::Answer { session, choice, feedback, occurrence, then } => {
            let news = Notification::Answer {
                occurrence: *occurrence,
                choice: choice.clone(),
                feedback: feedback.clone(),
                by,
            };
            workflow(host, session, news, *then, json)
        }
        Verb::Accept { which, then } => decision(host, which, Decision::Accept, *then, json),
        Verb::Reject { which, feedback, then } => {
            decision(host, which, Decision::Reject { feedback: feedback.clone() }, *then, json)
        }
        Verb::Abort { which, reason, then } => {
            decision(host, which, Decision::Abort { reason: reason.clone() }, *then, json)
        }
        Verb::Retry(one) => workflow(host, &one.session, Notification::Retry { by }, one.then, json),
        Verb::Dismiss { session, mark } => {
            let none = Then { resume: false, pin: talk::Pin { accept_agent_change: false } };
            workflow(host, session, Notification::Dismiss { mark: *mark, by }, none, json)
        }
        Verb::Pause(step) => {
            let none = Then { resume: false, pin: step.pin };
            workflow(host, &step.session, Notification::Pause { by }, none, json)
        }
        Verb::Cancel { session, reason } => {
            let id = database::resolve(host, session)?;
            let news = Notification::Cancel { by, reason: reason.clone() };
            host.tell_workflow(&id, news).map_err(|error| database::host_failure(&error))?;
            // Work that runs elsewhere settles there; what nobody drives is settled here.
            match run::drive(host, &id, Until::Rest, json) {
                Err(failure) if failure.exit == Exit::Refused => {
                    view::print(host, &id, json)?;
                    Ok(Exit::Done)
                }
                Ok(_) => Ok(Exit::Done),
                Err(failure) => Err(failure),
            }
        }
        Verb::Message { session, text, then } => {
            let id = host.fresh_id();
            let message = Message { id, kind: MessageKind::Person, text: text.clone(), media: Vec::new() };
            agent(host, session, AgentNews::Take(message), *then, json)
        }
        Verb::Complete { token, file, then } => {
            let session = talk::by_token(host, token)?;
            let result = result::read(host, file)?;
            let news = AgentNews::Complete { token: token.clone(), result, by };
            host.tell_agent(&session, news).map_err(|error| database::host_failure(&error))?;
            talk::after(host, &session, *then, json)
        }
        Verb::Resolve { session, call, completed, failed, retry } => {
            let resolution = match (completed, failed, retry) {
                (Some(text), _, _) => Resolution::Completed(ToolResult::Text(text.clone())),
                (None, Some(text), _) => Resolution::Failed(text.clone()),
                (None, None, true) => Resolution::Retry,
                (None, None, false) => {
                    return Err(Failure::usage(
                        "say how it is settled: --completed TEXT, --failed TEXT or --retry",
                    ));
                }
            };
            let news = AgentNews::Resolve { call: call.clone(), resolution, by };
            let none = Then { resume: false, pin: talk::Pin { accept_agent_change: false } };
            agent(host, session, news, none, json)
        }
        Verb::List(_)
        | Verb::Show(_)
        | Verb::Log(_)
        | Verb::Start(_)
        | Verb::Step(_)
        | Verb::Pending(_)
        | Verb::Approve { .. }
        | Verb::Deny { .. }
        | Verb::RunIsolated { .. }
        | Verb::Print(_)
        | Verb::Edit(_)
        | Verb::Delete(_)
        | Verb::Export(_)
        | Verb::Import(_)
        | Verb::Work { .. }
        | Verb::Resume { .. } => Ok(Exit::Done),
    }
}

fn decision(
    host: &mut Host,
    which: &Which,
    decision: Decision,
    then: Then,
    json: bool,
) -> Result<Exit, Failure> {
    let by = operator::principal()?;
    let gate = which.gate.map(|number| number.get().saturating_sub(1));
    let (revision, digest) = (which.revision, which.digest.clone());
    let invocation = match &which.invocation {
        Some(named) => Some(named.clone()),
        None => under_review(host, which)?,
    };
    let news = Notification::Decide { revision, digest, gate, invocation, decision, by };
    workflow(host, &which.session, news, then, json)
}

/// The invocation whose gate stands open now with the candidate that is named: the decision is about no other, even if
/// another process writes to the session meanwhile.
fn under_review(host: &mut Host, which: &Which) -> Result<Option<String>, Failure> {
    let id = database::resolve(host, &which.session)?;
    let live = host.live(&id).map_err(|error| database::host_failure(&error))?;
    let Subject::Workflow { state, .. } = &live.subject else { return Ok(None) };
    let Work::Stage(stage) = &state.work else { return Ok(None) };
    let waits = matches!(stage.phase, StagePhase::HumanGate { .. });
    let bare = |digest: &str| digest.trim_start_matches("sha256:").to_owned();
    let named = stage.candidate().is_some_and(|candidate| {
        which.revision.is_none_or(|revision| revision == candidate.revision)
            && which
                .digest
                .as_deref()
                .is_none_or(|digest| bare(candidate.digest.as_str()).starts_with(&bare(digest)))
    });
    Ok((waits && named).then(|| stage.invocation.clone()))
}

fn workflow(
    host: &mut Host,
    session: &str,
    news: Notification,
    then: Then,
    json: bool,
) -> Result<Exit, Failure> {
    let id = database::resolve(host, session)?;
    host.tell_workflow(&id, news).map_err(|error| database::host_failure(&error))?;
    finish(host, &id, then, json)
}

fn agent(host: &mut Host, session: &str, news: AgentNews, then: Then, json: bool) -> Result<Exit, Failure> {
    let id = database::resolve(host, session)?;
    host.tell_agent(&id, news).map_err(|error| database::host_failure(&error))?;
    finish(host, &id, then, json)
}

fn finish(host: &mut Host, id: &SessionId, then: Then, json: bool) -> Result<Exit, Failure> {
    if then.resume {
        talk::pinned(host, id, then.pin, None)?;
        run::watch(host);
        return run::drive(host, id, Until::Rest, json);
    }
    view::print(host, id, json)?;
    Ok(Exit::Done)
}

/// Takes a pause or a resumable hold off before the session is driven on.
pub(super) fn unhold(host: &mut Host, id: &SessionId) -> Result<(), Failure> {
    let live = host.live(id).map_err(|error| database::host_failure(&error))?;
    let held = match &live.subject {
        Subject::Workflow { state, .. } => {
            use crate::engine::workflow::event::Remedy;
            match &state.hold {
                Hold::Paused => true,
                Hold::NeedsAttention { remedies, .. } => remedies.contains(&Remedy::Resume),
                Hold::None | Hold::Cancelling { .. } => false,
            }
        }
        Subject::Agent { .. } => false,
    };
    if held {
        let by = operator::principal()?;
        host.tell_workflow(id, Notification::Resume { by })
            .map_err(|error| database::host_failure(&error))?;
    }
    Ok(())
}
