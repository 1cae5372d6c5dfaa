"""Checks of agent sessions: a server that grades its clients, real tool servers, and a small model that defers a call."""

import json
import pathlib
import subprocess
import urllib.request

from drive import DONE, HERE, WAITING, World, equal, holds

WEATHER = HERE / "flows/weather"
SERVERS = HERE / "flows/servers"
CACHE = HERE / ".cache"
PROMPT = 'Find the weather.\n\nInputs:\n{\n  "city": "Rome"\n}'

# What the grading server is told to do to one request, and how `agent run` has to end.
FAULTS = {
    "nothing": ([], DONE),
    "429 twice": ([{"type": "fail", "status": 429, "retry_after": 1, "times": 2}], DONE),
    "500": ([{"type": "fail", "status": 500, "times": 1}], DONE),
    "503": ([{"type": "fail", "status": 503, "times": 1}], DONE),
    "400": ([{"type": "fail", "status": 400, "times": None}], 1),
    "401": ([{"type": "fail", "status": 401, "times": None}], 1),
    "late": ([{"type": "delay", "seconds": 1, "times": 1}], DONE),
    "late first token": ([{"type": "slow_first_token", "seconds": 1, "times": 1}], DONE),
    "line drops": ([{"type": "stream_fault", "kind": "disconnect", "after_chunks": 2, "times": 1}], DONE),
    "stream ends early": ([{"type": "stream_fault", "kind": "truncate", "after_chunks": 2, "times": 1}], DONE),
    "broken piece": ([{"type": "stream_fault", "kind": "malformed", "after_chunks": 2, "times": 1}], DONE),
    "unknown tool": ([{"type": "tool_fault", "kind": "unknown_tool", "times": 1}], DONE),
    "cut-off arguments": ([{"type": "tool_fault", "kind": "malformed_arguments", "times": 1}], DONE),
}


def graded(server: str, method: str, route: str, body: dict | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{server}/_llmock/{route}", method=method, data=data, headers={"Content-Type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def verdict_of_the_grader(world: World) -> None:
    """Thirteen faults, both protocols, streamed and not: the grader finds nothing, and no broken call is run."""
    injected = 0
    for slug, prefix in (("open", "/v1"), ("claude", "/anthropic")):
        path = world.root / f"agents/{slug}.json"
        agent = json.loads(path.read_text(encoding="utf-8"))
        agent["modelUrl"] = world.server + prefix
        path.write_text(json.dumps(agent), encoding="utf-8")
        for streamed in ([], ["--thinking", "stderr"]):
            for name, (behaviors, wanted) in FAULTS.items():
                graded(world.server, "POST", "reset", {})
                if behaviors:
                    graded(world.server, "POST", "scenario", {"behaviors": behaviors})
                before = len(world.changes_made())
                code, out, err = world.call("agent", "run", str(path), "-p", "What is the weather in Paris?", *streamed)
                what = f"{slug}, {name}, {'streamed' if streamed else 'whole'}"
                equal(f"exit code ({what}: {out}{err})", code, wanted)
                verdict = graded(world.server, "GET", "verdict")
                found = [(one["severity"], one["code"]) for one in verdict["findings"]]
                # A broken piece behind the end of a whole reply takes nothing back: asking again would only cost.
                known = [("warning", "malformed_chunk_ignored")] if name == "broken piece" else []
                equal(f"what the grader finds ({what})", [one for one in found if one not in known], [])
                injected += verdict["faults_injected"]
                ran = len(world.changes_made()) - before
                # A call that cannot be read, or that nobody offers, runs nothing; every other run calls once.
                is_broken = name in ("unknown tool", "cut-off arguments", "400", "401")
                equal(f"effects ({what})", ran, 0 if is_broken else 1)
    # Two protocols; six that any answer may have, three that streams have.
    equal("faults that the grader injected", injected, 2 * (6 + 6 + 3))


def real_tool_servers(world: World) -> None:
    """Four tool servers as their makers ship them, in one reply: results, a picture, refusals, names."""
    desk = world.root / "desk"
    desk.mkdir()
    (desk / "note.txt").write_text("kept on the desk\n", encoding="utf-8")
    (desk / "link").symlink_to(world.root / "replies.yaml")
    git = ["git", "-C", str(desk), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "note.txt"], ["commit", "-q", "-m", "The first note"]):
        subprocess.run(git + words, check=True)
    modules = CACHE / "npm/node_modules/@modelcontextprotocol"
    names = {
        "TIME": str(CACHE / "venv/bin/mcp-server-time"),
        "GIT": str(CACHE / "venv/bin/mcp-server-git"),
        "EVERYTHING": str(modules / "server-everything/dist/index.js"),
        "FILESYSTEM": str(modules / "server-filesystem/dist/index.js"),
        "ROOT": str(world.root),
    }
    for path in (world.root / "agents/clerk.json", world.root / "replies.yaml"):
        text = path.read_text(encoding="utf-8")
        for name, value in names.items():
            text = text.replace(name, value)
        if path.suffix == ".json":
            agent = json.loads(text)
            agent["modelUrl"] = "script:./replies.yaml"
            text = json.dumps(agent)
        path.write_text(text, encoding="utf-8")
    clerk = str(world.root / "agents/clerk.json")
    listed = world.json(DONE, "agent", "tools", clerk)
    equal("faults of the servers", listed["faults"], [])
    tools = [tool["name"] for tool in listed["tools"]]
    for prefix in ("mcp_time_", "mcp_git_", "mcp_every_", "mcp_files_"):
        holds(f"tools of {prefix}", any(name.startswith(prefix) for name in tools), tools)
    report = world.json(DONE, "agent", "run", clerk, "-p", "Go.")
    equal("answer", report["answer"], "All are called.")
    session = world.show(report["session_id"])
    reply = next(turn for turn in session["turns"] if turn["turn"] == "reply")
    said = [json.dumps(call, ensure_ascii=False) for call in reply["calls"]]
    wanted = ["17:30", "The first note", "Zürich 1.50", "image/png", "kept on the desk", "denied", "denied", "no_such_tool"]
    equal("number of calls", len(said), len(wanted))
    for part, call in zip(wanted, said):
        holds(f"`{part}` in the result", part in call, call)


def a_deferred_call_of_the_small_model(world: World) -> None:
    """A real model makes a call that waits for the outside; another process brings the result, a third goes on."""
    telephone = str(world.root / "agents/telephone.json")
    code, out, err = world.call("agent", "run", telephone, "-p", PROMPT, "--json")
    equal(f"exit code of agent run ({out}{err})", code, WAITING)
    report = json.loads(out)
    equal("status", report["status"], "paused")
    calls = report["deferred_calls"]
    equal("tools", {call["tool"] for call in calls}, {"bash_get_weather"})
    name = report["session_id"]
    for call in calls:
        answer = pathlib.Path(world.root / "answer.txt")
        answer.write_text("19 C in Rome", encoding="utf-8")
        world.json(DONE, "session", "complete", call["continuation_token"], str(answer))
        # The same again is the same; another one is refused.
        world.json(DONE, "session", "complete", call["continuation_token"], str(answer))
        answer.write_text("other", encoding="utf-8")
        code, _, err = world.call("session", "complete", call["continuation_token"], str(answer))
        equal(f"exit code of another result ({err})", code, 4)
    code, out, err = world.call("session", "resume", name)
    holds("it goes on", code in (DONE, WAITING), (code, out, err))
    replies = [turn for turn in world.show(name)["turns"] if turn["turn"] == "reply"]
    holds("the model was asked again", len(replies) >= 2, replies)
    first = json.dumps(replies[0]["calls"])
    equal("results that the first reply's calls have", first.count("19 C in Rome"), len(calls))
    equal("runs of the tool itself", world.changes_made(), [])


CHECKS = [
    (verdict_of_the_grader, WEATHER, "grader"),
    (real_tool_servers, SERVERS, "grader"),
    (a_deferred_call_of_the_small_model, WEATHER, "smollm"),
]
