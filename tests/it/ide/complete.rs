//! Completion: what is offered first, what it replaces, and that the result can be read.

use super::{HEAD, marked_as};
use flowright::compile::{MainDocument, Memory, compile, compile_agent_in};
use flowright::ide::complete::complete;
use flowright::ide::{Analysis, At, Completion, Document};
use flowright::parse;
use flowright::source::{FileId, Source};

fn offered(name: &str, text: &str) -> (Vec<Completion>, String) {
    let (analysis, at, text) = marked_as(name, text);
    (complete(&analysis, at), text)
}

/// The labels that are offered for a workflow behind the usual head.
fn labels(text: &str) -> Vec<String> {
    offered("workflow.yaml", &format!("{HEAD}{text}")).0.into_iter().map(|one| one.label).collect()
}

fn applied(text: &str, one: &Completion) -> String {
    let mut out = text.to_owned();
    out.replace_range(one.span.range(), &one.text);
    out
}

/// The text after taking the completion of this label.
fn taken(text: &str, label: &str) -> String {
    let (all, text) = offered("workflow.yaml", &format!("{HEAD}{text}"));
    let found = all.iter().find(|one| one.label == label);
    let found = found
        .unwrap_or_else(|| panic!("`{label}` in {:?}", all.iter().map(|o| &o.label).collect::<Vec<_>>()));
    applied(&text, found)[HEAD.len()..].to_owned()
}

#[test]
fn keys_of_a_document_are_those_that_are_not_there_required_first() {
    let all = labels("$0\n");
    assert_eq!(all[..2], ["steps", "title"]);
    assert!(!all.contains(&"kind".to_owned()) && all.contains(&"guarantees".to_owned()), "{all:?}");
    let (empty, _) = offered("workflow.yaml", "$0");
    let empty: Vec<_> = empty.into_iter().map(|one| one.label).collect();
    assert_eq!(empty[..4], ["kind", "version", "name", "steps"]);
}

#[test]
fn a_step_without_a_kind_is_offered_all_kinds() {
    let all = labels("steps:\n  - id: a\n    $0\n");
    assert_eq!(all, ["cron", "question", "agent", "loop", "switch", "pick", "stop", "title", "description"]);
    let likely = labels("steps:\n  - choices: { a: A }\n    $0\n");
    assert_eq!(likely[0], "question", "the kind that has such keys comes first");
}

#[test]
fn a_step_of_a_kind_is_offered_the_keys_of_this_kind() {
    let all = labels("steps:\n  - question: Go?\n    ch$0\n");
    assert_eq!(all[..1], ["choices"]);
    assert!(all.contains(&"on_deadline".to_owned()) && !all.contains(&"task".to_owned()), "{all:?}");
}

#[test]
fn the_list_of_steps_begins_with_a_dash() {
    assert_eq!(taken("steps:\n  $0\n", "agent"), "steps:\n  - agent: \n");
    assert_eq!(taken("steps:\n  -$0\n", "agent"), "steps:\n  - agent: \n");
    assert_eq!(taken("steps:\n  - $0\n", "agent"), "steps:\n  - agent: \n");
}

#[test]
fn keys_are_completed_in_the_middle_of_a_word() {
    assert_eq!(taken("steps:\n  - qu$0est\n", "question"), "steps:\n  - question: \n");
    assert_eq!(taken("steps:\n  - qu$0est: Go?\n", "question"), "steps:\n  - question: Go?\n");
    assert_eq!(taken("steps:\n  - \"qu$0est\": Go?\n", "question"), "steps:\n  - \"question\": Go?\n");
    assert_eq!(taken("steps:\n  - { qu$0 }\n", "question"), "steps:\n  - { question:  }\n");
}

#[test]
fn keys_of_deeper_maps() {
    let table = [
        ("defaults:\n  $0\n", "deadline"),
        ("guarantees:\n  - before: a\n    $0\n", "accepted"),
        ("guarantees: [{ accepted: a, $0 }]\n", "before"),
        ("steps:\n  - loop:\n      $0\n", "repeat"),
        ("steps:\n  - question: Go?\n    choices:\n      yes:\n        $0\n", "label"),
        ("steps:\n  - question: Go?\n    choices: { yes: { $0 } }\n", "label"),
        ("steps:\n  - agent: planner\n    review:\n      - $0\n", "human"),
        ("steps:\n  - agent: planner\n    review:\n      - human: Ok?\n        $0\n", "respondents"),
        ("inputs:\n  topic:\n    $0\n", "type"),
        ("inputs:\n  topic: { type: object, properties: { a: { $0 } } }\n", "type"),
        ("steps:\n  - agent: planner\n    result:\n      type: object\n      $0\n", "properties"),
    ];
    for (text, first) in table {
        assert_eq!(labels(text).first().map(String::as_str), Some(first), "{text}");
    }
}

#[test]
fn words_of_closed_sets() {
    let table: [(&str, &[&str]); 9] = [
        ("steps:\n  - stop: $0\n", &["succeeded", "failed", "cancelled"]),
        ("steps:\n  - stop: fai$0led\n", &["succeeded", "failed", "cancelled"]),
        ("steps:\n  - agent: planner\n    completion: $0\n", &["one_shot", "reviewed"]),
        ("steps:\n  - loop: { repeat: $0 }\n", &["until_stopped", "3"]),
        ("steps:\n  - loop:\n      repeat:\n        $0\n", &["until_stopped", "3"]),
        ("retention: $0\n", &["keep", "30s", "15m", "1h", "4h", "24h", "7d"]),
        (
            "inputs:\n  a: { type: $0 }\n",
            &["string", "integer", "number", "boolean", "array", "object", "null"],
        ),
        (
            "inputs:\n  a:\n    type: object\n    required: [b, $0]\n    properties: { b: {}, c: {} }\n",
            &["c"],
        ),
        ("inputs:\n  a:\n    properties: {}\n    additionalProperties: $0\n", &["false", "true"]),
    ];
    for (text, all) in table {
        assert_eq!(labels(text), all, "{text}");
    }
}

#[test]
fn values_are_quoted_where_yaml_needs_it() {
    let cron = "steps:\n  - cron: $0\n    timezone: UTC\n";
    assert_eq!(taken(cron, "@hourly"), "steps:\n  - cron: \"@hourly\"\n    timezone: UTC\n");
    assert_eq!(taken("steps:\n  - cron: \"@ho$0\"\n", "@hourly"), "steps:\n  - cron: \"@hourly\"\n");
    assert_eq!(taken("steps:\n  - cron: \"@ho$0\n", "@hourly"), "steps:\n  - cron: \"@hourly\"\n");
    assert_eq!(taken("steps:\n  - cron: '@$0'\n", "@daily"), "steps:\n  - cron: '@daily'\n");
    assert_eq!(taken("steps:\n  - stop:$0\n", "failed"), "steps:\n  - stop: failed\n");
    assert_eq!(taken("inputs:\n  a: { type: $0 }\n", "null"), "inputs:\n  a: { type: \"null\" }\n");
}

#[test]
fn transitions_know_whether_a_loop_is_around() {
    let outside = labels("steps:\n  - agent: planner\n    on_failed: $0\n");
    assert_eq!(
        outside,
        ["continue", "hold", "{ stop: succeeded }", "{ stop: failed }", "{ stop: cancelled }"]
    );
    let inside =
        labels("steps:\n  - loop:\n      steps:\n        - agent: planner\n          on_failed: $0\n");
    assert_eq!(inside[..4], ["continue", "break", "next", "hold"]);
    let question =
        "steps:\n  - question: Go?\n    choices: { yes: Yes, no: { label: No, feedback: required } }\n";
    let late = format!("{question}    on_deadline: $0\n");
    assert_eq!(labels(&late).last().unwrap(), "{ choose: yes }");
    assert!(taken(&late, "{ choose: yes }").ends_with("on_deadline: { choose: \"yes\" }\n"));
    assert_eq!(labels(&format!("{question}    on_deadline: {{ choose: $0 }}\n")), ["yes"]);
}

#[test]
fn agents_are_local_names_bare_names_and_paths() {
    let text = "agents:\n  mine: ./agents/planner.json\nsteps:\n  - agent: $0\n";
    assert_eq!(
        labels(text),
        ["mine", "critic", "./agents/critic.agent.md", "planner", "./agents/planner.json"]
    );
    assert_eq!(
        taken("steps:\n  - agent: ./ag$0x\n", "./agents/planner.json"),
        "steps:\n  - agent: ./agents/planner.json\n"
    );
    let table = labels("agents:\n  mine: $0\nsteps: []\n");
    assert_eq!(table[..2], ["critic", "./agents/critic.agent.md"]);
}

#[test]
fn arguments_are_the_inputs_of_the_agent() {
    assert_eq!(labels("steps:\n  - agent: planner\n    with:\n      $0\n"), ["feature", "depth"]);
    assert_eq!(labels("steps:\n  - agent: planner\n    with: { feature: x, $0 }\n"), ["depth"]);
}

#[test]
fn zones_and_respondents() {
    let zones =
        labels("defaults: { timezone: Europe/Berlin }\nsteps:\n  - cron: \"@daily\"\n    timezone: Eur$0\n");
    assert_eq!(zones[..2], ["Europe/Berlin", "UTC"]);
    assert!(zones.len() > 400);
    let used = "steps:\n  - question: Go?\n    respondents: [\"role:lead\", $0]\n";
    assert_eq!(labels(used), ["owner", "role:lead", "role:NAME", "user:NAME"]);
    assert_eq!(labels("defaults:\n  respondents: $0\n")[0], "owner");
    assert_eq!(labels("defaults:\n  respondents:\n    - $0\n")[0], "owner");
}

#[test]
fn guarantees_name_steps_that_fit() {
    let steps = "steps:\n  - id: go\n    question: Go?\n    choices: { yes: Yes, no: No }\n  - id: plan\n    agent: planner\n    \
                 completion: reviewed\n    review: [{ human: Ok? }]\n  - id: make\n    agent: planner\n";
    let with = |guarantee: &str| labels(&format!("guarantees:\n  - {guarantee}\n{steps}"));
    assert_eq!(with("{ before: $0 }"), ["go", "plan", "make"]);
    assert_eq!(with("{ before: make, accepted: $0 }"), ["plan"]);
    assert_eq!(with("{ before: make, answered: $0 }"), ["go"]);
    assert_eq!(with("{ before: make, answered: go, choice: $0 }"), ["yes", "no"]);
}

#[test]
fn cases_are_the_values_that_have_none_yet() {
    let steps = "steps:\n  - id: go\n    question: Go?\n    choices: { yes: Yes, no: No, later: Later }\n  - switch: ${{ \
                 steps.go.choice }}\n    cases:\n";
    assert_eq!(labels(&format!("{steps}      no: continue\n      $0\n")), ["yes", "later"]);
    assert_eq!(labels(&format!("{steps}      yes: $0\n"))[0], "continue");
}

const FLOW: &str = "inputs:
  topic: { type: string }
  size: { type: object, required: [width], properties: { height: { type: integer }, width: { type: integer } } }
steps:
  - id: ask
    question: Go?
    choices: { yes: Yes, no: { label: No, then: { stop: cancelled } } }
  - id: plan
    agent: planner
    task: Plan.
    result:
      type: object
      required: [plan, areas]
      properties:
        notes: { type: string }
        plan: { type: object, required: [text], properties: { text: { type: string } } }
        areas: { type: array, items: { type: object, properties: { name: { type: string } } } }
    on_failed: continue
";

#[test]
fn roots_of_bindings_by_place() {
    let plain = labels(&format!("{FLOW}  - agent: planner\n    task: ${{{{ $0\n"));
    assert_eq!(plain, ["inputs", "steps", "session"]);
    let gate = labels(&format!("{FLOW}  - agent: planner\n    review: [{{ human: \"${{{{ $0\" }}]\n"));
    assert_eq!(gate, ["inputs", "steps", "session", "candidate"]);
    let pick = "steps:\n  - loop:\n      repeat: 3\n      steps:\n        - pick: [\"${{ $0 }}\"]\n";
    assert_eq!(labels(pick), ["steps", "session", "loop", "previous"]);
    assert!(labels("steps:\n  - agent: pl${{ $0\n").is_empty(), "no binding is read in a reference");
}

#[test]
fn what_surely_has_a_value_comes_first() {
    let (all, _) =
        offered("workflow.yaml", &format!("{HEAD}{FLOW}  - agent: planner\n    task: ${{{{ steps.$0\n"));
    let told: Vec<_> = all.iter().map(|one| format!("{}: {}", one.label, one.detail)).collect();
    assert_eq!(told, ["ask: question", "plan: agent"]);
    let (all, _) =
        offered("workflow.yaml", &format!("{HEAD}{FLOW}  - agent: planner\n    task: ${{{{ steps.plan.$0\n"));
    let told: Vec<_> = all.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(told, ["summary", "outcome", "result", "revision"]);
    assert!(all[2].detail.ends_with("may have no value here"), "{}", all[2].detail);
    let own = labels(&format!("{FLOW}  - id: late\n    agent: planner\n    task: ${{{{ steps.$0 }}}}\n"));
    assert!(!own.contains(&"late".to_owned()));
    let before =
        "steps:\n  - question: \"${{ steps.$0\"\n    choices: { a: A }\n  - id: b\n    agent: planner\n";
    let (all, _) = offered("workflow.yaml", &format!("{HEAD}{before}"));
    assert_eq!(all[0].detail, "agent, may have no value here");
}

#[test]
fn fields_by_schema_nested_and_in_lists() {
    let at = |path: &str| labels(&format!("{FLOW}  - agent: planner\n    task: ${{{{ {path}\n"));
    assert_eq!(at("inputs.$0"), ["topic", "size"]);
    assert_eq!(at("inputs.size.$0 }}"), ["width", "height"]);
    assert_eq!(at("steps.plan.result.$0"), ["plan", "areas", "notes"]);
    assert_eq!(at("steps.plan.result.plan.$0"), ["text"]);
    assert_eq!(at("steps.plan.result.areas.$0"), ["[0]"]);
    assert_eq!(at("steps.plan.result.areas[$0"), ["[0]"]);
    assert_eq!(at("steps.plan.result.areas[0].$0"), ["name"]);
    assert_eq!(at("session.$0"), ["id", "started_at", "owner"]);
    assert!(at("steps.plan.result.areas[0]$0").is_empty());
    assert!(at("steps.nowhere.$0").is_empty());
}

#[test]
fn a_name_of_a_binding_is_replaced_whole() {
    let table = [
        ("task: ${{ steps.pl$0an.result }}", "plan", "task: ${{ steps.plan.result }}"),
        (
            "task: Do ${{ inp$0 }} and ${{ inputs.topic }}",
            "inputs",
            "task: Do ${{ inputs }} and ${{ inputs.topic }}",
        ),
        ("task: ${{ steps.plan.result.areas.$0", "[0]", "task: ${{ steps.plan.result.areas[0]"),
        ("task: ${{ steps.plan.result.areas[$0", "[0]", "task: ${{ steps.plan.result.areas[0]"),
        ("with: { a: ${{ inputs.$0 }", "topic", "with: { a: ${{ inputs.topic }"),
        ("with: { a: \"${{ inputs.to$0\" }", "topic", "with: { a: \"${{ inputs.topic\" }"),
        ("task: \"${{ inputs.$0", "topic", "task: \"${{ inputs.topic"),
        (
            "task: |\n      Größe: ${{ inputs.to$0 }}\n      Ende",
            "topic",
            "task: |\n      Größe: ${{ inputs.topic }}\n      Ende",
        ),
    ];
    for (line, label, wanted) in table {
        let text = format!("{FLOW}  - agent: planner\n    {line}\n");
        assert!(taken(&text, label).ends_with(&format!("    {wanted}\n")), "{line}: {}", taken(&text, label));
    }
}

#[test]
fn whole_bindings_where_one_is_expected() {
    let all = labels(&format!("{FLOW}  - switch: $0\n"));
    assert!(
        all.contains(&"${{ steps.ask.choice }}".to_owned())
            && all.contains(&"${{ inputs.topic }}".to_owned())
    );
    assert!(!all.contains(&"${{ steps.plan.result }}".to_owned()), "it may have no value there");
    assert!(
        taken(&format!("{FLOW}  - pick: [$0]\n"), "${{ steps.plan.result }}")
            .ends_with("- pick: [\"${{ steps.plan.result }}\"]\n")
    );
}

#[test]
fn line_ends_of_windows_and_characters_of_many_bytes() {
    let text = "kind: workflow\r\nversion: 1\r\ntitle: Größe 🦀\r\nname: x\r\nsteps:\r\n  - question: \"Ä?\"\r\n    ch$0\r\n    feedback: none\r\n";
    let (all, text) = offered("workflow.yaml", text);
    assert_eq!(all[0].label, "choices");
    assert!(applied(&text, &all[0]).contains("\"Ä?\"\r\n    choices: \r\n    feedback"));
}

#[test]
fn documents_in_json() {
    let of = |text: &str| -> Vec<String> {
        offered("workflow.json", text).0.into_iter().map(|one| one.label).collect()
    };
    let taken = |text: &str, label: &str| {
        let (all, text) = offered("workflow.json", text);
        applied(
            &text,
            all.iter().find(|one| one.label == label).unwrap_or_else(|| panic!("{label} in {all:?}")),
        )
    };
    assert_eq!(of("{ \"kind\": \"workflow\", $0 }")[..3], ["version", "name", "steps"]);
    assert_eq!(of("{ \"kind\": \"workflow\" $0")[..3], ["version", "name", "steps"]);
    assert_eq!(taken("{ \"steps\": [{ \"sto$0\" }] }", "stop"), "{ \"steps\": [{ \"stop\":  }] }");
    assert_eq!(
        taken("{ \"steps\": [{ \"sto$0p\": \"failed\" }] }", "stop"),
        "{ \"steps\": [{ \"stop\": \"failed\" }] }"
    );
    assert_eq!(
        taken("{ \"steps\": [{ \"stop\": $0 }] }", "failed"),
        "{ \"steps\": [{ \"stop\": \"failed\" }] }"
    );
    assert_eq!(
        taken("{ \"steps\": [{ \"stop\": \"f$0\" }] }", "failed"),
        "{ \"steps\": [{ \"stop\": \"failed\" }] }"
    );
    assert_eq!(taken("{ \"steps\": [{ \"stop\": \"f$0", "failed"), "{ \"steps\": [{ \"stop\": \"failed\"");
    let flow = "{ \"kind\": \"workflow\", \"inputs\": { \"topic\": { \"type\": \"string\" } },\n \"steps\": [{ \"agent\": \"planner\",\n \"task\": \"On ${{ inputs.$0";
    assert_eq!(of(flow), ["topic"]);
    assert_eq!(of(&format!("{flow} }}}}\" }}] }}")), ["topic"]);
}

#[test]
fn agent_files_in_json_and_in_markdown() {
    let of = |name: &str, text: &str| -> Vec<String> {
        offered(name, text).0.into_iter().map(|one| one.label).collect()
    };
    assert_eq!(of("agents/a.json", "{ \"slug\": \"a\", $0 }")[..2], ["modelUrl", "modelName"]);
    assert_eq!(
        of("agents/a.json", "{ \"tag\": \"OpenAIAgentDescription\", \"contents\": { $0 } }")[0],
        "slug"
    );
    assert_eq!(
        of("agents/a.json", "{ \"toolCallPolicy\": { \"default\": \"$0\" } }"),
        ["runSync", "defer", "deny", "runAsync"]
    );
    let rules =
        "{ \"repeatableTools\": [\"bash_list\"], \"toolCallPolicy\": { \"rules\": [{ \"tool\": \"$0\" }] } }";
    assert_eq!(of("agents/a.json", rules), ["bash_list"]);
    assert_eq!(of("agents/a.agent.md", "---\nslug: a\nbase: $0\n---\nPrompt.\n"), ["workflow-agent@1"]);
    assert_eq!(of("agents/a.agent.md", "---\nslug: a\n$0\n---\nPrompt.\n")[..2], ["modelUrl", "modelName"]);
    assert!(of("agents/a.agent.md", "---\nslug: a\n---\nPrompt. $0\n").is_empty());
}

#[test]
fn nothing_in_comments_prose_and_free_names() {
    for text in [
        "# $0\n",
        "title: x # $0\n",
        "title: A long ti$0tle\n",
        "description: |\n  Some text\n  $0\n",
        "inputs:\n  $0\n",
        "steps:\n  - id: $0\n",
    ] {
        assert_eq!(labels(text), [] as [&str; 0], "{text}");
    }
}

/// Every completion of many places can be put in, and the document is read as well as before.
#[test]
fn what_is_put_in_can_be_read() {
    let texts = [
        "$0\n",
        "defaults:\n  $0\n",
        "steps:\n  $0\n",
        "steps:\n  - $0\n",
        "steps:\n  - { $0 }\n",
        "steps:\n  - question: Go?\n    $0\n",
        "steps:\n  - agent: $0\n",
        "steps:\n  - agent: planner\n    on_failed: $0\n",
        "steps:\n  - cron: $0\n",
        "steps:\n  - cron: x\n    timezone: $0\n",
        "inputs:\n  a: { $0 }\n",
        "inputs:\n  a: { type: $0 }\n",
        "defaults: { respondents: [$0] }\n",
    ];
    for text in texts {
        let (all, text) = offered("workflow.yaml", &format!("{HEAD}{text}"));
        assert!(!all.is_empty(), "{text}");
        for one in &all {
            let text = applied(&text, one);
            let mut found = Vec::new();
            parse::read(&Source::new(FileId::MAIN, "workflow.yaml", text.as_str()), &mut found);
            assert!(found.is_empty(), "{text}\n{found:?}");
        }
    }
}

#[test]
fn documents_that_are_broken_elsewhere() {
    let broken = [
        "steps:\n  - agent: \"planner\n    task: x\n  - question: Go?\n    $0\n",
        "steps:\n  - agent planner\n  - question: Go?\n    $0\n  - [ }\n",
        "title: a: b\nsteps:\n  - question: Go?\n    $0\n    choices: { yes: [No }\n",
        "steps:\n  - question: Go?\n    $0\n\t- x\n",
    ];
    for text in broken {
        let all = labels(text);
        assert!(all.contains(&"on_deadline".to_owned()), "{text}: {all:?}");
    }
    let binding = "steps:\n  - id: ask\n    question: Go?\n    choices: { y: Y }\n  - agent: planner\n    with: { a: ${{ steps.$0, b: [ }\n  - \
                   agent: critic\n    task: \"x\n";
    assert_eq!(labels(binding), ["ask"]);
    assert_eq!(labels("inputs:\n  a: { type: $0, b: [ }\n")[0], "string");
    let late = format!("{FLOW}  - agent: planner\n    task: ${{{{ inputs.$0\n  - id: [\n");
    assert_eq!(labels(&late), ["topic", "size"]);
}

#[test]
fn a_name_in_the_middle_of_a_path_keeps_what_follows() {
    let text = format!("{FLOW}  - agent: planner\n    task: ${{{{ steps.$0.result.plan }}}}\n");
    assert_eq!(labels(&text), ["ask", "plan"]);
    assert!(taken(&text, "plan").ends_with("${{ steps.plan.result.plan }}\n"));
}

#[test]
fn schemas_in_files_and_tools_in_folders() {
    let main = |name: &str, text: &str| MainDocument {
        name: name.to_owned(),
        package_path: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let files = Memory::new()
        .with(
            "schemas/plan.json",
            r#"{ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } }"#,
        )
        .with("agents/planner.json", super::PLANNER)
        .with("tools/build", "#!/bin/sh\n");
    let labels = |document: Document, offset: usize| -> Vec<String> {
        let analysis = Analysis { document, as_of: crate::support::AS_OF };
        complete(&analysis, At { file: FileId::MAIN, offset }).into_iter().map(|one| one.label).collect()
    };
    let text = format!(
        "{HEAD}steps:\n  - id: plan\n    agent: planner\n    result: {{ $ref: ./schemas/plan.json }}\n  - agent: planner\n    task: ${{{{ steps.plan.result.$0\n"
    );
    let (text, offset) = super::unmarked(&text);
    let compiled = compile(main("workflow.yaml", &text), &files, crate::support::AS_OF);
    assert_eq!(labels(Document::Workflow(Box::new(compiled)), offset), ["text"]);
    let (text, offset) = super::unmarked(&super::PLANNER.replace("bash_build", "$0"));
    let compiled = compile_agent_in(main("agents/planner.json", &text), &files);
    assert_eq!(labels(Document::Agent(Box::new(compiled)), offset), ["bash_build"]);
}
