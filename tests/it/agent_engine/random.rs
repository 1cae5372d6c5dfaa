//! Any notification in any state: no panic, state equals fold, every call is answered exactly once.

use super::{Session, ada, agent, answers, contract, person, text};
use flowright::engine::SessionId;
use flowright::engine::agent::command::{Answer, Command, Notification, Resolution, Said};
use flowright::engine::agent::event::{
    CallMade, Envelope, EnvelopeOutcome, Event, Message, MessageKind, SUBMIT_TOOL, ToolResult, Usage,
};
use flowright::engine::agent::state::{Call, CallState, Turn};
use flowright::ir::Digest;
use flowright::time::{Millis, Timestamp};
use proptest::prelude::{Strategy, any, prop};
use proptest::{prop_assert, prop_assert_eq, proptest};

/// Some words of each list, chosen by number.
fn tool(n: u8) -> &'static str {
    const TOOLS: [&str; 10] =
        ["free", "twice", "asks", "never", "far", "wrapped", SUBMIT_TOOL, "", "look", "prompt_agent_scout"];
    TOOLS[usize::from(n % 10)]
}

fn arguments(n: u8) -> &'static str {
    [
        "{}",
        "",
        "{\"a\":18446744073709551616}",
        "{\"a",
        "[]",
        "{\"outcome\":\"blocked\",\"summary\":\"s\"}",
        "{\"outcome\":\"succeeded\",\"summary\":\"s\",\"result\":{\"title\":\"t\",\"points\":1}}",
        "{\"outcome\":\"succeeded\"}",
        "{\"prompt\":\"Look.\"}",
    ][usize::from(n % 9)]
}

fn result(n: u8) -> ToolResult {
    match n % 3 {
        0 => text("fine"),
        1 => ToolResult::Json(serde_json::from_str("{\"id\":9007199254740993}").unwrap()),
        _ => ToolResult::Error("no".to_owned()),
    }
}

fn holder(n: u8) -> String {
    format!("h{}", n % 2)
}

/// The token of this call, or one that was settled before.
fn token(session: &Session, call: Option<&Call>) -> String {
    if let Some(CallState::Deferred { token, .. }) = call.map(|call| &call.state) {
        return token.clone();
    }
    let used = session.state.used_tokens.last().map(|(token, _)| token.clone());
    let settled = session.state.settled_tokens.last().map(|(token, _)| token.clone());
    settled.or(used).unwrap_or_default()
}

/// A notification that may or may not fit: `a` chooses the kind, the others what it speaks of.
fn notification(session: &Session, a: u8, b: u8, c: u8, calls: &[(u8, u8)]) -> Notification {
    let made = session.calls();
    let call = made.get(usize::from(b) % made.len().max(1));
    let id = call.map_or_else(|| "none".to_owned(), |call| call.made.id.clone());
    let admissions = call.map_or(0, |call| call.admissions);
    let asking = session.state.asking.clone();
    let (reply, asked) = asking.map_or((u32::from(b), 0), |asking| (asking.reply, asking.admissions));
    // Mostly right, sometimes beside it.
    let off = u32::from(c % 8 == 7);
    match a % 24 {
        0 | 1 => Notification::AdmitModelCall { reply, admission: asked + 1 + off, holder: holder(c) },
        2..=4 => {
            let calls =
                calls.iter().map(|(n, m)| (String::new(), tool(*n).to_owned(), arguments(*m).to_owned()));
            let answer = Answer { calls: calls.collect(), cut_off: c % 9 == 8, ..Answer::default() };
            Notification::ModelReplied { reply, admission: asked + off, answer }
        }
        5 => Notification::ModelFailed {
            reply,
            admission: asked + off,
            error: "503".to_owned(),
            retryable: !b.is_multiple_of(8),
            retry_after_ms: c.is_multiple_of(2).then_some(Millis(i64::from(c) - 10)),
        },
        6 | 7 => Notification::AdmitCall {
            call: id,
            admission: admissions + 1 + off,
            holder: holder(c),
            repeatable: c.is_multiple_of(3),
            definition: None,
        },
        8 | 9 => Notification::CallReported { call: id, admission: admissions + off, result: result(c) },
        10 => Notification::HoldersLost { living: vec![holder(c)] },
        11 => Notification::Complete { token: token(session, call), result: result(c), by: ada() },
        12 => Notification::Resolve {
            call: id,
            resolution: match c % 3 {
                0 => Resolution::Retry,
                1 => Resolution::Failed("gone".to_owned()),
                _ => Resolution::Completed(result(c)),
            },
            by: ada(),
        },
        15 => Notification::CannotIsolate { call: id, reason: "no box".to_owned() },
        16 => Notification::AdmitIsolated { token: token(session, call), holder: holder(c) },
        17 => {
            Notification::CallUncertain { call: id, admission: admissions + off, reason: "gone".to_owned() }
        }
        18 => Notification::Approve { token: token(session, call), by: ada() },
        19 => Notification::Refuse { token: token(session, call), reason: "no".to_owned(), by: ada() },
        20 => Notification::Define { token: token(session, call), definition: Digest::of(&[b % 2]) },
        21 => Notification::AgentStarted { call: id },
        22 if c.is_multiple_of(4) => {
            let kept = usize::from(b) % session.state.turns.len().max(1) + 1;
            let turns = session.state.turns.iter().take(kept).cloned().collect();
            Notification::Import { turns, from: "an edit".to_owned(), by: ada() }
        }
        22 => Notification::ChangeAgent { agent: Digest::of(&[b % 2]), by: ada() },
        13 => person(&format!("m{}", b % 16), "hello"),
        14 if c.is_multiple_of(32) => Notification::Stop,
        14 => match session.state.owed_reports.first() {
            Some((id, _)) => Notification::ReportAcknowledged { report: id.clone() },
            None => Notification::ReportAcknowledged { report: "none".to_owned() },
        },
        _ => Notification::Tick,
    }
}

type Step = (u8, u8, u8, Vec<(u8, u8)>, i16);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let calls = prop::collection::vec((any::<u8>(), any::<u8>()), 0..5);
    prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), calls, any::<i16>()), 0..60)
}

proptest! {
    #[test]
    fn any_notification_in_any_state(owes in any::<bool>(), bounded in any::<bool>(), steps in steps()) {
        let mut ir = agent();
        ir.max_tool_calls = bounded.then_some(3);
        let mut session = Session::started(ir, owes.then(contract));
        for (a, b, c, calls, later) in steps {
            session.at = Timestamp(session.at.0 + i64::from(later));
            let next = notification(&session, a, b, c, &calls);
            let before = session.state.sequence;
            let asked_before = session.state.asking.clone();
            match session.tell(next) {
                Ok(events) => prop_assert_eq!(session.state.sequence, before + events.len() as u64),
                Err(_) => prop_assert_eq!(&session.state.asking, &asked_before),
            }
            check(&session)?;
        }
    }
}

fn check(session: &Session) -> Result<(), proptest::test_runner::TestCaseError> {
    let messages = session.messages();
    let mut expected = Vec::new();
    let mut open = false;
    for turn in &session.state.turns {
        prop_assert!(!open, "only the last turn may be open");
        if let Turn::Reply { calls, .. } = turn {
            open = calls.iter().any(|call| !call.state.is_terminal());
            if !open {
                expected.extend(calls.iter().map(|call| call.made.id.clone()));
            }
        }
    }
    let told: Vec<String> = answers(&messages).into_iter().map(|(call, _)| call).collect();
    prop_assert_eq!(told, expected, "one answer to each call, in order (invariant 14)");
    let asked = messages.iter().flat_map(|said| match said {
        Said::Assistant { calls, .. } => calls.iter().map(|call| call.id.clone()).collect(),
        _ => Vec::new(),
    });
    let mut asked: Vec<String> = asked.collect();
    prop_assert_eq!(&asked, &answers(&messages).into_iter().map(|(call, _)| call).collect::<Vec<_>>());
    let count = asked.len();
    asked.sort();
    asked.dedup();
    prop_assert_eq!(asked.len(), count, "ids are unique in the session");

    let owed = session.pending();
    let asks = owed.iter().any(|command| matches!(command, Command::CallModel { .. }));
    prop_assert!(!(asks && open), "the model is not asked while a call is open");
    let ids: std::collections::BTreeSet<String> = owed.iter().map(Command::id).collect();
    prop_assert_eq!(ids.len(), owed.len(), "ids of commands are unique");
    let row = flowright::engine::agent::pending::index(&session.ir, &session.state);
    prop_assert!(row.status != "ready" || row.owes_work || row.wake_at.is_some(), "{:?}", row);
    Ok(())
}

/// Whatever is owed is done, by a model that calls each tool and then submits: the session always comes to an end.
#[test]
fn doing_what_is_owed_ends_with_a_submission() {
    let mut session = Session::started(agent(), Some(contract()));
    for _ in 0..50 {
        let Some(command) = session.pending().into_iter().next() else { break };
        match command {
            Command::CallModel { reply: 1, .. } => {
                session.model_calls(&[("free", "{}"), ("twice", ""), ("never", "{}"), ("wrapped", "{}")]);
            }
            Command::CallModel { .. } => {
                session.submit(arguments(6));
            }
            Command::RunTool { call, admission, .. } => {
                let (holder, id) = ("one".to_owned(), call.id);
                session.ok(Notification::AdmitCall {
                    call: id.clone(),
                    admission,
                    holder,
                    repeatable: false,
                    definition: None,
                });
                session.ok(Notification::CallReported { call: id, admission, result: text("r") });
            }
            Command::Report { id, .. } => {
                session.ok(Notification::ReportAcknowledged { report: id });
            }
            Command::KillCall { .. } | Command::StartAgent { .. } | Command::StopAgent { .. } => {
                panic!("nothing is to be killed")
            }
        }
    }
    assert_eq!(session.pending(), []);
    assert!(session.state.submitted);
}

#[test]
fn every_kind_of_event_is_read_as_it_was_written() {
    let big = || serde_json::from_str("{\"n\":18446744073709551616,\"m\":-0,\"k\":1.0,\"e\":1e2}").unwrap();
    let s = || "x".to_owned();
    let digest = || Digest::of(b"x");
    let mut spec = super::spec(Some(contract()));
    spec.with.insert(s(), big());
    let made =
        CallMade { id: s(), provider_id: String::new(), name: s(), arguments: "{\"a\":1.0}".to_owned() };
    let envelope = Envelope { outcome: EnvelopeOutcome::Blocked, summary: s(), result: big() };
    let usage = Some(Usage { input: u64::MAX, output: 0, cached: 3, reasoning: 0 });
    let (text, thinking, calls) = (s(), s(), vec![made]);
    let events = vec![
        Event::Started(spec),
        Event::MessageTaken(Message { id: s(), kind: MessageKind::Feedback, text: s(), media: Vec::new() }),
        Event::ModelCallAdmitted { reply: 1, admission: 1, holder: s() },
        Event::ModelReplied { reply: 1, text, thinking, calls, usage, carry: Some(big()) },
        Event::ModelFailed { reply: 1, admission: 1, error: s(), retry_at: Some(Timestamp(1)) },
        Event::ModelFailed { reply: 1, admission: 1, error: s(), retry_at: None },
        Event::ModelCallDue { reply: 1 },
        Event::ModelCallLost { reply: 1, admission: 1 },
        Event::CallAdmitted { call: s(), admission: 1, holder: s(), repeatable: true, digest: digest() },
        Event::CallDeferred { call: s(), token: s(), reason: s(), digest: digest(), isolation: None },
        Event::CallRefused { call: s(), reason: s(), by: None },
        Event::CallReported {
            call: s(),
            admission: 0,
            result: ToolResult::Json(big()),
            by: Some(ada()),
            cache: Some(digest()),
        },
        Event::CallReported {
            call: s(),
            admission: 0,
            result: ToolResult::Error(s()),
            by: None,
            cache: None,
        },
        Event::CallLost { call: s(), admission: 1 },
        Event::CallUnknown { call: s(), admission: 1, reason: None },
        Event::CallRetried { call: s(), by: ada() },
        Event::CallApproved { call: s(), digest: digest(), by: ada() },
        Event::CallFailed { call: s(), admission: 1, error: s() },
        Event::CallCached { call: s(), from: s(), result: ToolResult::Json(big()) },
        Event::CallDelegated { call: s(), child: SessionId(s()) },
        Event::AgentStarted { call: s() },
        Event::CallDefined { call: s(), definition: digest() },
        Event::CallUnknown { call: s(), admission: 1, reason: Some(s()) },
        Event::AgentChanged { agent: digest(), by: ada() },
        Event::Imported {
            turns: vec![Turn::Said { text: s(), media: Vec::new(), at: Timestamp(1) }],
            from: s(),
            by: ada(),
        },
        Event::Submitted { call: s(), submission: 1, envelope },
        Event::SubmissionRefused { call: s(), reason: s() },
        Event::Yielded { reply: 1 },
        Event::ReportAcknowledged { report: s() },
        Event::StopRequested,
        Event::Stopped,
        Event::Failed { reason: s() },
    ];
    for event in events {
        let written = serde_json::to_string(&event).unwrap();
        let read: Event = serde_json::from_str(&written).unwrap();
        assert_eq!(read, event);
        assert_eq!(
            serde_json::to_string(&read).unwrap(),
            written,
            "the same bytes, the digits of numbers too (B46)"
        );
    }
}

/// Databases of earlier versions are read as ever.
#[test]
fn events_of_earlier_versions_are_read() {
    let by = serde_json::to_string(&ada()).unwrap();
    for written in [
        r#"{"call_unknown":{"call":"c","admission":1}}"#.to_owned(),
        r#"{"call_refused":{"call":"c","reason":"no"}}"#.to_owned(),
        format!(r#"{{"call_reported":{{"call":"c","admission":0,"result":{{"text":"r"}},"by":{by}}}}}"#),
        format!(
            r#"{{"call_deferred":{{"call":"c","token":"t","reason":"r","digest":"{}"}}}}"#,
            Digest::of(b"x")
        ),
        r#"{"message_taken":{"id":"m","kind":"person","text":"hi"}}"#.to_owned(),
    ] {
        let read: Event = serde_json::from_str(&written).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), written, "nothing is added to what was written");
    }
}
