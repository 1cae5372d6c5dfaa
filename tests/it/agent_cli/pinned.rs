//! The agent is pinned in the session (R23, R24).

use super::Desk;

#[test]
fn a_changed_agent_is_refused_until_it_is_accepted() {
    let desk = Desk::new();
    let id = desk.started();
    desk.write(
        "agents/lookup.json",
        desk.read("agents/lookup.json").replace("You look", "You always look").as_bytes(),
    );
    for verb in ["step", "resume", "pause", "run-isolated"] {
        let (code, _, err) = desk.run(&["session", verb, &id]);
        assert_eq!(code, 4, "{verb}: {err}");
        assert!(
            err.contains("has changed since the session began; --accept-agent-change goes on"),
            "{verb}: {err}"
        );
    }
    let (code, told) = desk.json(&["session", "step", &id, "--accept-agent-change"]);
    assert_eq!(code, 0, "{told}");
    let (_, log, _) = desk.run(&["session", "log", &id]);
    assert!(log.contains(r#""agent_changed":{"#) && log.contains(r#""by":{"user":"ada""#), "{log}");
    // From now on the new one is the one that counts.
    assert_eq!(desk.run(&["session", "step", &id]).0, 3);
}

#[test]
fn an_agent_that_is_gone_or_broken_is_said_so() {
    let desk = Desk::new();
    let id = desk.started();
    let text = desk.read("agents/lookup.json");
    desk.write("agents/lookup.json", b"{");
    let (code, _, err) = desk.run(&["session", "step", &id, "--accept-agent-change"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("does not compile; `flowright agent check` says why"), "{err}");
    std::fs::remove_file(desk.path("agents/lookup.json")).unwrap();
    let (code, _, err) = desk.run(&["session", "step", &id]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("is gone; the session goes on with the agent it began with"), "{err}");
    desk.write("agents/lookup.json", text.as_bytes());
    assert_eq!(desk.run(&["session", "step", &id]).0, 3);
}
