//! Frozen workflows built by hand, for rooms that stand behind the compiler.

use flowright::ir::toolbox::Toolboxes;
use flowright::ir::{
    Agent, Choice, Data, Disposition, Edge, EdgeKind, Feedback, Gate, GateKind, Graph, Input, Node, NodeKind,
    Outcome, Parts, Path, Piece, Policy, Question, Root, Segment, Stage, StopStatus, Text, Turn, Workflow,
};
use flowright::time::Millis;
use indexmap::IndexMap;
use serde_json::json;

pub(crate) fn node(name: &str, kind: NodeKind) -> Node {
    Node { name: name.into(), title: None, description: None, scope: Vec::new(), kind }
}

pub(crate) fn inside(scope: &[&str], node: Node) -> Node {
    Node { scope: scope.iter().map(|s| (*s).to_owned()).collect(), ..node }
}

pub(crate) fn titled(title: &str, node: Node) -> Node {
    Node { title: Some(title.into()), ..node }
}

pub(crate) fn edge(graph: &mut Graph, from: &str, to: &str, kind: EdgeKind, turn: Turn) {
    let (from, to) = (graph.id_of(from).unwrap(), graph.id_of(to).unwrap());
    graph.connect(from, to, Edge { kind, turn });
}

/// The four ways that a stage does not end well, all to `hold`.
pub(crate) fn holds(graph: &mut Graph, from: &str) {
    for outcome in [Outcome::Blocked, Outcome::Failed, Outcome::Deadline, Outcome::Exhausted] {
        edge(graph, from, "hold", EdgeKind::On(outcome), Turn::Hold);
    }
}

pub(crate) fn step(node: &str, output: &str, rest: &[&str]) -> Path {
    let rest = rest.iter().map(|name| Segment::Name((*name).into())).collect();
    Path { root: Root::Step { node: node.into(), output: output.into() }, rest }
}

pub(crate) fn choice(value: &str, label: &str, feedback: Feedback) -> Choice {
    Choice { value: value.into(), label: Text::literal(label), description: None, feedback }
}

pub(crate) fn question(text: &str, choices: Vec<Choice>) -> NodeKind {
    NodeKind::Question(Question {
        text: Text::literal(text),
        choices,
        respondents: vec![Text::literal("owner")],
        deadline_ms: None,
        choose_on_deadline: None,
    })
}

pub(crate) fn stage(agent: &str, task: &str) -> Stage {
    Stage {
        agent: agent.into(),
        task: Text::literal(task),
        with: IndexMap::new(),
        result: None,
        reviewed: false,
        gates: Vec::new(),
        max_revisions: 5,
        deadline_ms: Millis::from_secs(24 * 3600),
    }
}

pub(crate) fn stop(status: StopStatus) -> NodeKind {
    NodeKind::Stop { status, reason: None }
}

pub(crate) fn agent(slug: &str) -> Agent {
    Agent {
        slug: slug.into(),
        base: Some("workflow-agent@1".into()),
        announce: None,
        file: format!("agents/{slug}.json"),
        flavor: None,
        model_url: Some(format!("script:{slug}.script.json")),
        model_name: None,
        api_key_id: None,
        system_prompt: Vec::new(),
        asynchronous: false,
        toolboxes: Toolboxes::default(),
        policy: Policy { default: Disposition::RunSync, rules: Vec::new() },
        bash_toolboxes: Vec::new(),
        repeatable_tools: Vec::new(),
        max_concurrency: 1,
        max_tool_calls: None,
        call_timeout_seconds: 60,
        inputs: None,
        tool_choice: None,
        temperature: None,
        max_tokens: None,
        later: json!({}),
    }
}

pub(crate) fn workflow(name: &str, graph: Graph) -> Workflow {
    Workflow::new(parts(name, graph))
}

pub(crate) fn parts(name: &str, graph: Graph) -> Parts {
    Parts {
        name: name.into(),
        title: None,
        description: None,
        inputs: IndexMap::new(),
        outputs: IndexMap::new(),
        agents: IndexMap::new(),
        deadline_ms: None,
        retention_ms: None,
        agent_runs_between_waits: None,
        graph,
    }
}

/// The example that opens the page of the language.
pub(crate) fn plan_and_implement() -> Workflow {
    let mut graph = Graph::new();
    graph.add(node(
        "request",
        question(
            "What should be built?",
            vec![choice("plan", "Plan it", Feedback::Required), choice("drop", "Not now", Feedback::None)],
        ),
    ));
    graph.add(node("plan", NodeKind::Agent(plan_stage())));
    graph.add(node("implement", NodeKind::Agent(implement_stage())));
    graph.add(node("stop-1", stop(StopStatus::Cancelled)));
    graph.add(node("stop-2", stop(StopStatus::Cancelled)));
    graph.add(node("end", NodeKind::End));
    graph.add(node("hold", NodeKind::Hold));
    edge(&mut graph, "request", "plan", EdgeKind::Choice("plan".into()), Turn::Forward);
    edge(&mut graph, "request", "stop-1", EdgeKind::Choice("drop".into()), Turn::Stop);
    edge(&mut graph, "plan", "implement", EdgeKind::Next, Turn::Forward);
    holds(&mut graph, "plan");
    edge(&mut graph, "plan", "stop-2", EdgeKind::GateAborted(1), Turn::Stop);
    edge(&mut graph, "implement", "end", EdgeKind::Next, Turn::Forward);
    holds(&mut graph, "implement");
    edge(&mut graph, "implement", "end", EdgeKind::Resume, Turn::Forward);

    let string = Input { schema: json!({"type": "string"}), default: None };
    let risk =
        Input { schema: json!({"type": "string", "enum": ["low", "high"]}), default: Some(json!("low")) };
    let mut parts = parts("plan-and-implement", graph);
    parts.description = Some("Plan a feature with a human in charge, then build and test it.".into());
    parts.inputs = IndexMap::from([("repository".to_owned(), string), ("risk".to_owned(), risk)]);
    let change = Data::Path(step("implement", "result", &["revision"]));
    parts.outputs = IndexMap::from([("change".to_owned(), change)]);
    parts.agents = ["planner", "critic", "builder"]
        .map(|slug| (format!("agents/{slug}.json"), agent(slug)))
        .into_iter()
        .collect();
    parts.agent_runs_between_waits = Some(12);
    Workflow::new(parts)
}

fn plan_stage() -> Stage {
    let repository = Path { root: Root::Input("repository".into()), rest: Vec::new() };
    let critic = GateKind::Agent {
        agent: "agents/critic.json".into(),
        task: Text::literal("Find what is missing in this plan."),
        with: IndexMap::new(),
        max_rounds: None,
    };
    let person = GateKind::Human {
        text: Text::literal("Is this the plan to build?"),
        respondents: vec![Text::literal("owner"), Text::literal("role:lead")],
    };
    Stage {
        task: Text(vec![
            Piece::Text("Plan the requested feature for ".into()),
            Piece::Path(repository),
            Piece::Text(".".into()),
        ]),
        with: IndexMap::from([("feature".to_owned(), Data::Path(step("request", "feedback", &[])))]),
        result: Some(json!({
            "type": "object", "required": ["plan", "areas"],
            "properties": {"plan": {"type": "string", "format": "artifact"}, "areas": {"type": "array"}},
        })),
        reviewed: true,
        gates: vec![Gate { deadline_ms: None, kind: critic }, Gate { deadline_ms: None, kind: person }],
        deadline_ms: Millis::from_secs(4 * 3600),
        ..stage("agents/planner.json", "")
    }
}

fn implement_stage() -> Stage {
    let risk = Path { root: Root::Input("risk".into()), rest: Vec::new() };
    Stage {
        with: IndexMap::from([
            ("plan".to_owned(), Data::Path(step("plan", "result", &["plan"]))),
            ("risk".to_owned(), Data::Path(risk)),
        ]),
        result: Some(json!({
            "type": "object", "required": ["revision"],
            "properties": {"revision": {"type": "string"}, "tests": {"type": "object"}},
        })),
        ..stage("agents/builder.json", "Implement the approved plan.")
    }
}

/// Loops in loops with every kind of step and every kind of edge.
pub(crate) fn every_kind() -> Workflow {
    let mut graph = Graph::new();
    let outer = &["rounds"][..];
    let inner = &["rounds", "tries"][..];
    graph
        .add(node("rounds", NodeKind::Loop { times: None, deadline_ms: Some(Millis::from_secs(7 * 86400)) }));
    let cron = NodeKind::Cron { expression: "0 9 * * MON-FRI".into(), timezone: "Europe/Berlin".into() };
    graph.add(inside(outer, node("morning", cron)));
    graph.add(inside(
        outer,
        titled(
            "Build it until it holds",
            node("tries", NodeKind::Loop { times: Some(3), deadline_ms: None }),
        ),
    ));
    let person =
        GateKind::Human { text: Text::literal("Good enough?"), respondents: vec![Text::literal("user:ada")] };
    let gated = Stage {
        reviewed: true,
        gates: vec![Gate { deadline_ms: Some(Millis::from_secs(3600)), kind: person }],
        ..stage("agents/builder.json", "Build.")
    };
    graph.add(inside(inner, node("build", NodeKind::Agent(gated))));
    graph.add(inside(inner, node("route", NodeKind::Switch { on: step("build", "result", &["state"]) })));
    let picked = NodeKind::Pick {
        from: vec![
            step("build", "result", &[]),
            Path { root: Root::Previous { node: "build".into(), output: "result".into() }, rest: Vec::new() },
        ],
    };
    graph.add(inside(outer, node("latest", picked)));
    let mut asked = Question {
        text: Text::literal("Ship it?"),
        choices: vec![choice("yes", "Ship", Feedback::Optional), choice("no", "Again", Feedback::None)],
        respondents: vec![Text::literal("role:lead")],
        deadline_ms: Some(Millis::from_secs(86400)),
        choose_on_deadline: None,
    };
    graph.add(inside(outer, node("ship", NodeKind::Question(asked.clone()))));
    asked.choose_on_deadline = Some("no".into());
    asked.text = Text::literal("Keep going?");
    graph.add(node("after", NodeKind::Question(asked)));
    graph.add(node(
        "stop-1",
        NodeKind::Stop { status: StopStatus::Failed, reason: Some(Text::literal("Given up")) },
    ));
    graph.add(node("end", NodeKind::End));
    graph.add(node("hold", NodeKind::Hold));
    for (from, to, kind, turn) in [
        ("rounds", "morning", EdgeKind::Body, Turn::Forward),
        ("rounds", "hold", EdgeKind::Deadline, Turn::Hold),
        ("morning", "tries", EdgeKind::Next, Turn::Forward),
        ("tries", "build", EdgeKind::Body, Turn::Forward),
        ("tries", "latest", EdgeKind::Exhausted, Turn::Forward),
        ("build", "route", EdgeKind::Next, Turn::Forward),
        ("build", "stop-1", EdgeKind::GateAborted(0), Turn::Stop),
        ("build", "hold", EdgeKind::GateDeadline(0), Turn::Hold),
        ("route", "latest", EdgeKind::Case("done".into()), Turn::Break),
        ("route", "tries", EdgeKind::Case("retry".into()), Turn::Again),
        ("route", "hold", EdgeKind::Default, Turn::Hold),
        ("latest", "ship", EdgeKind::Next, Turn::Forward),
        ("ship", "after", EdgeKind::Choice("yes".into()), Turn::Break),
        ("ship", "rounds", EdgeKind::Choice("no".into()), Turn::Again),
        ("ship", "hold", EdgeKind::Deadline, Turn::Hold),
        ("after", "end", EdgeKind::Choice("yes".into()), Turn::Forward),
        ("after", "stop-1", EdgeKind::Choice("no".into()), Turn::Stop),
        ("build", "route", EdgeKind::Resume, Turn::Forward),
    ] {
        edge(&mut graph, from, to, kind, turn);
    }
    holds(&mut graph, "build");
    workflow("every-kind", graph)
}
