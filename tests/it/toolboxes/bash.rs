//! Command-line tools: how arguments are given, what becomes of what is printed, and that nothing is left behind.

use super::{Desk, block_on, fault, text};
use flowright::host::perform::Output;
use flowright::host::tool::bash;
use flowright::host::tool::bash::arguments::{parse, place};
use flowright::host::tool::bash::describe;
use flowright::ir::Decorator;
use std::process::Command;

fn argument(name: &str, kind: &str, arity: &str, mode: &str) -> String {
    format!(
        r#"{{"name":"{name}","description":"","type":"{kind}","backing_type":"{kind}","arity":"{arity}","mode":"{mode}"}}"#
    )
}

#[test]
fn arguments_come_where_the_tool_wants_them() {
    let desk = Desk::new();
    let args = [
        argument("first", "string", "single", "positional"),
        argument("number", "integer", "single", "dashdashspace"),
        argument("flag", "boolean", "single", "dashdashequal"),
        argument("list", "array", "optional", "dashdashequal"),
        argument("map", "object", "single", "positional"),
        argument("NOTE", "string", "single", "env"),
        argument("body", "string", "single", "stdin"),
        argument("tail", "string", "optional", "stdin"),
    ];
    let more = format!(r#","args":[{}]"#, args.join(","));
    desk.tool("all", &more, "for word in \"$@\"; do echo \"<$word>\"; done; echo \"NOTE=$NOTE\"; cat");
    let arguments = r#"{"body":"in\n","first":"--x y","number":18446744073709551616,"flag":true,
        "list":[1,2.50],"map":{"id":9007199254740993},"NOTE":"a b","tail":"end"}"#;
    let expected = "<--x y>\n<--number>\n<18446744073709551616>\n<--flag=true>\n<--list=[1,2.50]>\n\
                    <{\"id\":9007199254740993}>\nNOTE=a b\nin\n\nend";
    assert_eq!(desk.call("bash_all", arguments), text(expected));
    let without = r#"{"body":"in","first":"x","number":"7","flag":"false","map":"{}","NOTE":""}"#;
    let expected = "<x>\n<--number>\n<7>\n<--flag=false>\n<{}>\nNOTE=\nin";
    assert_eq!(desk.call("bash_all", without), text(expected));
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_anything_runs() {
    let desk = Desk::new();
    let args = [
        argument("first", "string", "optional", "positional"),
        argument("second", "string", "optional", "positional"),
        argument("number", "integer", "optional", "dashdashspace"),
        argument("must", "string", "single", "dashdashequal"),
    ];
    desk.tool("strict", &format!(r#","args":[{}]"#, args.join(",")), "touch ran; echo ran");
    for (arguments, says) in [
        ("{", "no JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "`must` is missing"),
        (r#"{"must":null}"#, "`must` is missing"),
        (r#"{"must":"x","other":1}"#, "no argument `other`"),
        (r#"{"must":"x","number":1.0}"#, "`number` must be a whole number"),
        (r#"{"must":"x","number":"seven"}"#, "`number` must be a whole number"),
        (r#"{"must":"a\u0000b"}"#, "NUL"),
        (r#"{"must":"x","second":"y"}"#, "cannot be given without `first`"),
    ] {
        let said = fault(desk.call("bash_strict", arguments));
        assert!(said.contains(says), "{arguments}: {said}");
    }
    assert!(!desk.path().join("ran").exists());
    assert_eq!(desk.call("bash_strict", r#"{"must":""}"#), text("ran\n"));
}

#[test]
fn b46_digits_of_arguments_survive() {
    let described = describe::read(
        br#"{"slug":"x","args":[{"name":"n","backing_type":"number"},{"name":"i","backing_type":"integer"}]}"#,
    );
    let described = described.unwrap();
    for (digits, whole) in
        [("1.0", "0"), ("1e2", "-0"), ("-0", "2512292042121000001"), ("1.50", "18446744073709551616")]
    {
        let text = format!(r#"{{"n": {digits} ,"i":{whole}}}"#);
        let arguments = parse(&text).unwrap();
        assert_eq!(place(&described.arguments, &arguments, &text).unwrap().words, [digits, whole]);
    }
}

#[test]
fn a_single_tool_is_a_toolbox() {
    let desk = Desk::with(r#""bashToolboxes":[{"tag":"SingleTool","contents":{"path":"./bin/one.sh"}}]"#);
    assert!(desk.faults()[0].contains("not in the package"), "{:?}", desk.faults());
    desk.script("bin/one.sh", "#!/bin/sh\n[ \"$1\" = describe ] && echo '{\"slug\":\"one\"}' || echo done\n");
    desk.script("bin/two.sh", "#!/bin/sh\necho '{\"slug\":\"two\"}'\n");
    assert_eq!(desk.faults(), [""; 0]);
    assert_eq!(desk.call("bash_one", "{}"), text("done\n"));
    assert_eq!(block_on(desk.shelf.find(&desk.agent, desk.path())).0.len(), 1);
}

#[test]
fn b78_toolboxes_out_of_the_package_are_not_looked_into() {
    let other = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    std::os::unix::fs::symlink(other.path(), desk.path().join("tools")).unwrap();
    assert!(desk.faults()[0].contains("link out of the package"), "{:?}", desk.faults());
    for path in ["../tools", "/bin", "a/../../b"] {
        let mut agent = (*desk.agent).clone();
        agent.bash_toolboxes[0].path = path.to_owned();
        let (tools, faults) = block_on(desk.shelf.find(&agent, desk.path()));
        assert!(tools.is_empty() && faults[0].contains("refused"), "{faults:?}");
    }
}

#[test]
fn what_stands_for_nothing_printed() {
    let desk = Desk::new();
    let forms = [
        ("none", "", text("")),
        ("words", r#","empty-result":"nothing found""#, text("nothing found")),
        (
            "message",
            r#","empty-result":{"tag":"AddMessage","contents":"nothing there"}"#,
            text("nothing there"),
        ),
        ("nothing", r#","empty-result":{"tag":"DoNothing"}"#, text("")),
        ("null", r#","empty-result":null"#, text("")),
        ("list", r#","empty-result":[]"#, Output::Json(serde_json::json!([]))),
    ];
    for (slug, more, _) in &forms {
        desk.tool(slug, more, "true");
    }
    for (slug, _, expected) in forms {
        assert_eq!(desk.call(&format!("bash_{slug}"), "{}"), expected, "{slug}");
    }
}

#[test]
fn media_and_other_responses() {
    let desk = Desk::new();
    desk.tool("shot", r#","output-media-type":"image/png""#, "printf 'iVBO\\nRw==\\n'");
    desk.tool("raw", r#","output-media-type":"image/png""#, "printf '\\x89PNG'");
    desk.tool("talks", r#","output-media-type":"image/png""#, "echo 'no picture today'");
    let mixed = r#"{"type":"mixed","parts":[{"type":"text","content":"seen"},{"type":"json","content":{"id":9007199254740993}},{"type":"media","mimeType":"a/b","base64Data":"AAE=","filename":"f"}]}"#;
    desk.tool("mix", r#","output":"response""#, &format!("cat <<'OUT'\n{mixed}\nOUT"));
    desk.tool("odd", r#","output":"response""#, "echo '{\"type\":\"film\"}'");
    desk.tool("json", r#","output":"json""#, "echo '{\"big\":18446744073709551616,\"e\":\"1e2\"}'");
    desk.tool("form", r#","output":"json""#, "echo '{\"e\": 1e2}'");
    desk.tool("nojson", r#","output":"json""#, "echo hello");
    // Without a word of it in `describe`, what looks like a response is text.
    desk.tool("plain", "", &format!("printf '%s' '{mixed}'"));
    let png =
        |bytes: &[u8]| Output::Media { mime: "image/png".to_owned(), bytes: bytes.to_vec(), name: None };
    assert_eq!(desk.call("bash_shot", ""), png(b"\x89PNG"));
    assert_eq!(desk.call("bash_raw", ""), png(b"\x89PNG"));
    assert!(fault(desk.call("bash_talks", "")).contains("no picture today"));
    let file = Output::Media { mime: "a/b".to_owned(), bytes: vec![0, 1], name: Some("f".to_owned()) };
    let id: serde_json::Value = serde_json::from_str(r#"{"id":9007199254740993}"#).unwrap();
    assert_eq!(desk.call("bash_mix", ""), Output::Mixed(vec![text("seen"), Output::Json(id), file]));
    assert!(fault(desk.call("bash_odd", "")).contains("film"));
    let Output::Json(value) = desk.call("bash_json", "") else { panic!() };
    assert_eq!(value.to_string(), r#"{"big":18446744073709551616,"e":"1e2"}"#);
    // A form of number that a JSON value does not keep.
    assert_eq!(desk.call("bash_form", ""), text("{\"e\": 1e2}\n"));
    assert!(fault(desk.call("bash_nojson", "")).contains("hello"));
    assert_eq!(desk.call("bash_plain", ""), text(mixed));
}

#[test]
fn a_description_that_is_not_understood_is_a_fault() {
    for (described, says) in [
        ("", "no description"),
        (r#"{"slug":"a b"}"#, "letters"),
        (r#"{"slug":"x","args":[{"name":"a","mode":"magic"}]}"#, "`magic`"),
        (r#"{"slug":"x","args":[{"name":"a"},{"name":"a"}]}"#, "twice"),
        (r#"{"slug":"x","args":[{"name":"a b"}]}"#, "no program can be given"),
        (r#"{"slug":"x","args":[{"name":"AGENT_TURN_ID","mode":"env"}]}"#, "set by Flowright"),
        (r#"{"slug":"x","output":"picture"}"#, "`picture`"),
        (r#"{"slug":"x","output-media-type":"png"}"#, "no MIME type"),
        (r#"{"slug":"x","output":"json","output-media-type":"a/b"}"#, "one of them"),
    ] {
        let why = describe::read(described.as_bytes()).unwrap_err();
        assert!(why.contains(says), "{described}: {why}");
    }
    let long = format!(r#"{{"slug":"{}"}}"#, "x".repeat(60));
    assert!(describe::read(long.as_bytes()).is_err());
}

#[test]
fn edits_are_picked_up_between_calls() {
    let desk = Desk::new();
    desk.tool("note", "", "echo one");
    assert_eq!(desk.call("bash_note", ""), text("one\n"));
    // As long as the first, and perhaps within one tick of the clock: a file of its own takes its place.
    desk.script("tools/.new", &desk.read("tools/note").replace("echo one", "echo two"));
    std::fs::rename(desk.path().join("tools/.new"), desk.path().join("tools/note")).unwrap();
    assert_eq!(desk.call("bash_note", ""), text("two\n"));
    desk.tool("note", r#","args":[{"name":"a"}]"#, "echo \"$1\"");
    assert_eq!(desk.call("bash_note", r#"{"a":"three"}"#), text("three\n"));
}

#[test]
fn b48_bytes_that_are_no_text_are_replaced_and_marked() {
    let desk = Desk::new();
    desk.tool("broken", "", "printf 'ok\\n\\xf0\\x28\\x8c\\xbc\\nend\\n'");
    desk.tool("nul", "", "printf 'a\\0b'");
    desk.tool("half", "", "printf 'ok \\xe2\\x82'");
    desk.tool("split", "", "printf 'x\\xe2'; sleep 0.2; printf '\\x82\\xac y'");
    let mark = "\n[flowright: bytes that are no text were replaced by U+FFFD]";
    assert_eq!(desk.call("bash_broken", ""), text(&format!("ok\n\u{fffd}(\u{fffd}\u{fffd}\nend\n{mark}")));
    assert_eq!(desk.call("bash_nul", ""), text(&format!("a\u{fffd}b{mark}")));
    assert_eq!(desk.call("bash_half", ""), text(&format!("ok \u{fffd}{mark}")));
    assert_eq!(desk.call("bash_split", ""), text("x€ y"));
    desk.tool("loud", "", "printf 'bad \\xff' >&2; exit 3");
    let said = fault(desk.call("bash_loud", ""));
    assert!(said.contains("exit code 3") && said.contains("bad \u{fffd}"), "{said}");
}

#[test]
fn b51_what_a_tool_leaves_running_is_ended_and_said() {
    let desk = Desk::new();
    desk.tool("forks", "", "sleep 600 & echo $! > pid; echo started");
    let output = desk.call("bash_forks", "");
    assert_eq!(output, text("started\n\n[flowright: what the tool had left running was ended]"));
    assert_ends(&desk);
}

#[test]
fn b52_a_very_long_output_is_cut_at_the_call_and_says_so() {
    let desk = Desk::new();
    desk.tool("long", "", "head -c 50000000 /dev/zero | tr '\\0' 'x'");
    let Output::Text(said) = desk.call("bash_long", "") else { panic!() };
    let kept = flowright::host::tool::process::OUTPUT_LIMIT_BYTES;
    let mark = format!("\n[flowright: {} more bytes were cut off]", 50_000_000 - kept);
    assert_eq!(said.len(), kept + mark.len());
    assert!(said.ends_with(&mark));
    // A character that the cut would halve is left out and is no broken one.
    desk.tool("wide", "", "printf x; yes '€' | tr -d '\\n' | head -c 6000000");
    let Output::Text(said) = desk.call("bash_wide", "") else { panic!() };
    assert!(!said.contains('\u{fffd}'));
    assert!(said.contains("more bytes were cut off"));
    desk.tool("data", r#","output":"json""#, "head -c 50000000 /dev/zero | tr '\\0' '1'");
    assert!(fault(desk.call("bash_data", "")).contains("50000000 bytes"));
}

#[test]
fn the_whole_group_ends_with_its_time() {
    let desk = Desk::new();
    desk.tool("slow", "", "echo begun; sleep 600 & echo $! > pid; wait");
    let mut request = desk.request("bash_slow", "");
    request.decorators = vec![Decorator::Timeout { seconds: 1 }];
    let said = fault(desk.run(request));
    assert!(said.contains("killed after 1 s") && said.contains("begun"), "{said}");
    assert_ends(&desk);
}

#[test]
fn the_whole_group_ends_with_a_dropped_call() {
    let desk = Desk::new();
    desk.tool("slow", "", "sleep 600 & echo $! > pid.new; mv pid.new pid; wait");
    block_on(async {
        let (tools, _) = desk.shelf.find(&desk.agent, desk.path()).await;
        let request = desk.request("bash_slow", "");
        let call = bash::call(&tools[0], &request);
        let begun = async {
            while !desk.path().join("pid").exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            output = call => panic!("{output:?}"),
            () = begun => {}
        }
    });
    assert_ends(&desk);
}

/// The process whose number stands in the file `pid` ends.
fn assert_ends(desk: &Desk) {
    let pid = desk.read("pid").trim().to_owned();
    let is_there = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    for _ in 0..2000 {
        if !is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{pid} still runs");
}

/// Runs this test binary again with variables set, since a test may not set its own.
#[test]
fn tools_see_no_key_and_only_variables_that_are_allowed() {
    const CHILD: &str = "TOOLBOX_ENVIRONMENT_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let desk = Desk::new();
        desk.tool("env", "", "env | sort");
        let Output::Text(said) = desk.call("bash_env", "") else { panic!() };
        let names: Vec<&str> =
            said.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
        for name in
            ["PATH", "LC_ALL", "MY_SETTING", "GIVEN_ONE", "GIVEN_TWO", "AGENT_SESSION_ID", "IDEMPOTENCY_KEY"]
        {
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
        for name in ["FLOWRIGHT_KEY", "FLOWRIGHT_TOOL_ENV", "OPENAI_API_KEY", "SSH_AUTH_SOCK", CHILD] {
            assert!(!names.contains(&name), "{name} is in {names:?}");
        }
        return;
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args([
            "toolboxes::bash::tools_see_no_key_and_only_variables_that_are_allowed",
            "--exact",
            "--nocapture",
        ])
        .envs([
            (CHILD, "1"),
            ("FLOWRIGHT_KEY", "k"),
            ("OPENAI_API_KEY", "k"),
            ("SSH_AUTH_SOCK", "/s"),
            ("LC_ALL", "C"),
        ])
        .envs([("MY_SETTING", "1"), ("GIVEN_ONE", "1"), ("GIVEN_TWO", "2")])
        .env("FLOWRIGHT_TOOL_ENV", "MY_SETTING, GIVEN_*,FLOWRIGHT_KEY")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}
