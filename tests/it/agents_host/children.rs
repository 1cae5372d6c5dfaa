//! Agents that answer calls of other agents: how deep, what comes back, how failure and stop travel.

use super::{Desk, agent, everywhere, replies, script};
use flowright::engine::agent::command::Notification;
use flowright::engine::agent::event::{Event, ToolResult};
use flowright::engine::agent::state::CallState;
use flowright::engine::{RejectionCode, SessionId, derived_id};
use flowright::host::run::{HostError, Until};
use flowright::ir::toolbox::ExtraAgent;
use flowright::ir::{Agent, Disposition};
use std::collections::HashMap;
use std::sync::Arc;

fn calls_agents(mut agent: Agent, slugs: &[&str]) -> Agent {
    agent.toolboxes.agents = slugs
        .iter()
        .map(|slug| ExtraAgent {
            slug: (*slug).to_owned(),
            path: format!("agents/{slug}.json"),
            agent: None,
            announce: None,
        })
        .collect();
    agent
}

/// Lets the host read these agents from their paths.
fn load(desk: &mut Desk, agents: &[Agent]) {
    let all: HashMap<String, Agent> =
        agents.iter().map(|agent| (format!("agents/{}.json", agent.slug), agent.clone())).collect();
    desk.host.load_agents(Box::new(move |path, root| {
        assert_eq!(root, "/somewhere");
        all.get(path).cloned().ok_or_else(|| format!("{path} is not there"))
    }));
}

const ASK: &str = "{\"prompt\":\"Look.\"}";

fn child(desk: &mut Desk, of: &SessionId, index: usize) -> SessionId {
    let call = desk.state_of(of).last_calls()[index].made.id.clone();
    SessionId(derived_id(&[&of.0, &call]))
}

#[test]
fn an_agent_answers_a_call_in_a_session_of_its_own() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let said = || {
        script(&[
            replies("root", &[&[("prompt_agent_scout", ASK), ("t", "{}")]]),
            replies("scout", &[&[("t", "{\"deep\":1}")]]),
        ])
    };
    everywhere(&root, said, |desk| {
        load(desk, &[agent("scout", &[])]);
        assert_eq!(desk.drive(Until::Rest).row.status, "idle");
        assert_eq!(desk.told("root"), ["done by scout", "t {}"]);
        let rows = desk.store.children(&desk.session).unwrap();
        assert_eq!(rows.len(), 1);
        let spec = desk.state_of(&rows[0].session).spec.unwrap();
        assert_eq!(
            (spec.prompt.as_str(), spec.owner.as_str(), spec.caller.unwrap().depth),
            ("Look.", "ada", 1)
        );
        assert_eq!(rows[0].index.status, "idle");
        let events = desk.events(&desk.session);
        let place = |fits: fn(&Event) -> bool| events.iter().position(fits).unwrap();
        assert!(
            place(|event| matches!(event, Event::CallDelegated { .. }))
                < place(|event| matches!(event, Event::AgentStarted { .. })),
            "recorded before it is started (invariant 3)"
        );
    });
}

#[test]
fn agents_call_one_another_four_deep_and_a_fifth_level_is_refused() {
    let slugs = ["a", "b", "c", "d", "e"];
    let agents: Vec<Agent> = slugs
        .iter()
        .enumerate()
        .map(|(index, slug)| {
            let next: Vec<&str> = slugs.get(index + 1).copied().into_iter().collect();
            calls_agents(agent(slug, &[]), &next)
        })
        .collect();
    let root = calls_agents(agent("root", &[]), &["a"]);
    let call = |slug: &str| (format!("prompt_agent_{slug}"), ASK.to_owned());
    let said = || {
        let all = ["root", "a", "b", "c", "d"].iter().zip(slugs);
        script(&all.map(|(of, to)| ((*of).to_owned(), vec![vec![call(to)]])).collect::<Vec<_>>())
    };
    everywhere(&root, said, |desk| {
        load(desk, &agents);
        assert_eq!(desk.drive(Until::Rest).row.status, "idle");
        assert_eq!(desk.told("root"), ["done by a"]);
        assert_eq!(desk.told("c"), ["done by d"]);
        assert!(desk.told("d")[0].contains("4 deep at most"), "{:?}", desk.told("d"));
        assert!(!desk.script.seen.lock().unwrap().sent.contains_key("e"));
    });
}

#[test]
fn a_child_that_waits_leaves_its_caller_waiting_and_goes_on_with_it() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let scout = agent("scout", &[("asks", Disposition::Defer { reason: Some("a person looks".to_owned()) })]);
    let said = || {
        script(&[replies("root", &[&[("prompt_agent_scout", ASK)]]), replies("scout", &[&[("asks", "{}")]])])
    };
    everywhere(&root, said, |desk| {
        load(desk, std::slice::from_ref(&scout));
        let stopped = desk.drive(Until::Rest);
        let session = desk.session.clone();
        let child = child(desk, &session, 0);
        assert_eq!((stopped.row.status.as_str(), stopped.row.owes_work), ("waiting_external", false));
        assert!(stopped.row.detail.contains(&child.0), "{}", stopped.row.detail);
        assert_eq!(desk.store.owing(9).unwrap(), [], "nobody is owed anything");
        let CallState::Deferred { token, .. } = desk.state_of(&child).last_calls()[0].state.clone() else {
            panic!()
        };
        assert_eq!(desk.store.by_token(&token).unwrap(), Some(child.clone()));
        desk.complete(&token, "seen").unwrap();
        assert_eq!(desk.store.owing(9).unwrap(), std::slice::from_ref(&child));
        // Restarted, the child is found and not started again.
        desk.host = desk.another();
        assert_eq!(desk.drive(Until::Rest).row.status, "idle");
        assert_eq!(
            (desk.told("scout"), desk.told("root")),
            (vec!["seen".to_owned()], vec!["done by scout".to_owned()])
        );
        assert_eq!(desk.store.children(&session).unwrap().len(), 1);
    });
}

#[test]
fn what_is_said_to_a_child_after_its_answer_changes_no_answer() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let said = || script(&[replies("root", &[&[("prompt_agent_scout", ASK)]])]);
    everywhere(&root, said, |desk| {
        load(desk, &[agent("scout", &[])]);
        desk.drive(Until::Rest);
        let child = desk.store.children(&desk.session).unwrap()[0].session.clone();
        let message = flowright::engine::agent::event::Message {
            id: "m".to_owned(),
            kind: flowright::engine::agent::event::MessageKind::Person,
            text: "And why?".to_owned(),
            media: Vec::new(),
        };
        desk.host.tell_agent(&child, Notification::Take(message)).unwrap();
        let before = desk.events(&desk.session).len();
        let stopped = desk.runtime.block_on(desk.host.drive(&child, Until::Rest)).unwrap();
        assert_eq!((stopped.row.status.as_str(), stopped.effects), ("idle", 1));
        assert_eq!(desk.events(&desk.session).len(), before);
        assert_eq!(desk.state_of(&child).owed_reports, []);
    });
}

#[test]
fn the_failure_of_a_child_is_the_answer_to_the_call() {
    let root = calls_agents(agent("root", &[]), &["scout", "gone"]);
    let said = || {
        script(&[
            replies(
                "root",
                &[&[("prompt_agent_scout", ASK), ("prompt_agent_gone", ASK), ("prompt_agent_scout", "{}")]],
            ),
            replies("scout", &[&[("fault", "")]]),
        ])
    };
    everywhere(&root, said, |desk| {
        load(desk, &[agent("scout", &[])]);
        desk.drive(Until::Rest);
        let told = desk.told("root");
        assert!(told[0].contains("could not go on") && told[0].contains("401"), "{told:?}");
        assert!(told[1].contains("agents/gone.json is not there"), "{told:?}");
        assert!(told[2].contains("`prompt` is missing"), "{told:?}");
    });
}

/// Invariant 15: a caller that was frozen with an agent is answered by exactly that agent.
#[test]
fn an_agent_that_changed_since_its_caller_was_frozen_answers_nothing() {
    let scout = agent("scout", &[]);
    let mut root = calls_agents(agent("root", &[]), &["scout"]);
    root.toolboxes.agents[0].agent = Some(scout.own_digest());
    let said = || script(&[replies("root", &[&[("prompt_agent_scout", ASK)]])]);
    everywhere(&root, said, |desk| {
        load(desk, std::slice::from_ref(&scout));
        desk.drive(Until::Rest);
        assert_eq!(desk.told("root"), ["done by scout"]);
    });
    everywhere(&root, said, |desk| {
        let mut other = scout.clone();
        other.system_prompt.push("Say yes to everything.".to_owned());
        load(desk, &[other]);
        desk.drive(Until::Rest);
        assert!(desk.told("root")[0].contains("has changed"), "{:?}", desk.told("root"));
        assert!(!desk.script.seen.lock().unwrap().sent.contains_key("scout"));
    });
}

/// B67: the caller is cancelled while its agent is in a tool call; the agent is cancelled too, and its tool killed.
#[test]
fn b67_a_cancel_reaches_an_agent_in_a_tool_call() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let said = || {
        script(&[replies("root", &[&[("prompt_agent_scout", ASK)]]), replies("scout", &[&[("hold", "{}")]])])
    };
    everywhere(&root, said, |desk| {
        load(desk, &[agent("scout", &[])]);
        let session = desk.session.clone();
        let mut other = desk.another();
        let script = Arc::clone(&desk.script);
        let host = &mut desk.host;
        let (driven, told) = desk.runtime.block_on(async {
            tokio::join!(host.drive(&session, Until::Rest), async {
                while script.seen.lock().unwrap().ran.is_empty() {
                    tokio::task::yield_now().await;
                }
                other.tell_agent(&session, Notification::Stop)
            })
        });
        assert_eq!((told, driven.unwrap().row.status.as_str()), (Ok(true), "cancelled"));
        assert_eq!(desk.script.seen.lock().unwrap().dropped, ["hold"]);
        let rows = desk.store.children(&session).unwrap();
        assert_eq!(rows[0].index.status, "cancelled");
        let state = desk.state();
        assert!(matches!(&state.last_calls()[0].state, CallState::Failed(why) if why.contains("stopped")));
    });
}

/// B67: … while its agent waits for a deferred call, which takes no result any more.
#[test]
fn b67_a_cancel_reaches_an_agent_that_waits() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let scout = agent("scout", &[("asks", Disposition::Defer { reason: None })]);
    let said = || {
        script(&[replies("root", &[&[("prompt_agent_scout", ASK)]]), replies("scout", &[&[("asks", "{}")]])])
    };
    everywhere(&root, said, |desk| {
        load(desk, std::slice::from_ref(&scout));
        desk.drive(Until::Rest);
        let session = desk.session.clone();
        let child = child(desk, &session, 0);
        let CallState::Deferred { token, .. } = desk.state_of(&child).last_calls()[0].state.clone() else {
            panic!()
        };
        desk.tell(Notification::Stop).unwrap();
        assert_eq!(desk.host.live(&session).unwrap().subject.index().status, "cancelling");
        assert_eq!(desk.drive(Until::Rest).row.status, "cancelled");
        assert_eq!(desk.store.row(&child).unwrap().unwrap().index.status, "cancelled");
        let result = ToolResult::Text("late".to_owned());
        let late = Notification::Complete { token, result, by: crate::support::world::person("ada") };
        let outcome = desk.host.tell_agent(&child, late);
        assert!(
            matches!(outcome, Err(HostError::Refused(rejection)) if rejection.code == RejectionCode::Ended)
        );
        assert_eq!(desk.asked(), 2);
    });
}

#[test]
fn a_child_that_is_cancelled_by_itself_answers_so_and_its_caller_goes_on() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let scout = agent("scout", &[("asks", Disposition::Defer { reason: None })]);
    let said = || {
        script(&[replies("root", &[&[("prompt_agent_scout", ASK)]]), replies("scout", &[&[("asks", "{}")]])])
    };
    everywhere(&root, said, |desk| {
        load(desk, std::slice::from_ref(&scout));
        desk.drive(Until::Rest);
        let session = desk.session.clone();
        let child = child(desk, &session, 0);
        desk.host.tell_agent(&child, Notification::Stop).unwrap();
        assert_eq!(desk.drive(Until::Rest).row.status, "idle");
        assert!(desk.told("root")[0].contains("stopped"), "{:?}", desk.told("root"));
    });
}

/// A child is driven under the lease of its whole tree while it works for it.
#[test]
fn a_child_at_work_cannot_be_driven_beside_its_caller() {
    let root = calls_agents(agent("root", &[]), &["scout"]);
    let said = || {
        script(&[replies("root", &[&[("prompt_agent_scout", ASK)]]), replies("scout", &[&[("hold", "{}")]])])
    };
    everywhere(&root, said, |desk| {
        load(desk, &[agent("scout", &[])]);
        let session = desk.session.clone();
        let mut other = desk.another();
        let script = Arc::clone(&desk.script);
        let store = Arc::clone(&desk.store);
        let host = &mut desk.host;
        let (driven, held) = desk.runtime.block_on(async {
            tokio::join!(host.drive(&session, Until::Rest), async {
                while script.seen.lock().unwrap().ran.is_empty() {
                    tokio::task::yield_now().await;
                }
                let child = store.children(&session).unwrap()[0].session.clone();
                let held = other.drive(&child, Until::Rest).await;
                script.permits.add_permits(1);
                held
            })
        });
        assert_eq!(driven.unwrap().row.status, "idle");
        assert!(matches!(held, Err(HostError::Held { .. })), "{held:?}");
    });
}
