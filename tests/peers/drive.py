#!/usr/bin/env python3
"""Drives the built `flowright` against real model servers and judges what both sides say of it.

Only the Python of the machine is needed. Every check starts from an empty database and a package of its own; what
`flowright` printed as JSON is held against the journal of the server, which is what really went over the wire.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import traceback
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
W04 = HERE.parents[1] / "corpus/real/w04-plan-review-build-test"
MOOD = HERE / "flows/mood"
COMMAND_WITHIN_S = 300

DONE, WAITING, REFUSED = 0, 3, 4

REQUEST = "a mode for night owls"


class World:
    """One package, one database, one model server."""

    def __init__(self, flowright: str, folder: pathlib.Path, package: pathlib.Path, server: str):
        self.flowright = flowright
        self.server = server
        self.root = folder / "package"
        self.changes = folder / "changes"
        self.database = folder / "sessions.db"
        shutil.copytree(package, self.root)
        for path in self.root.glob("agents/*.json"):
            agent = json.loads(path.read_text(encoding="utf-8"))
            agent["modelUrl"] = f"{server}/v1"
            path.write_text(json.dumps(agent), encoding="utf-8")

    # The command line, one function a verb. Each gives the exit code and what was printed.

    def command(self, *arguments: str) -> list[str]:
        return [self.flowright, *arguments]

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        return kept | {"FLOWRIGHT_DB": str(self.database), "CHANGES_FILE": str(self.changes), "FLOWRIGHT_TOOL_ENV": "CHANGES_FILE"}

    def call(self, *arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_WITHIN_S,
        )
        return done.returncode, done.stdout, done.stderr

    def json(self, code: int, *arguments: str) -> dict:
        """Runs with `--json`, demands the exit code, gives the document."""
        got, out, err = self.call(*arguments, "--json")
        if got != code:
            raise AssertionError(f"flowright {' '.join(arguments)}: exit {got}, wanted {code}\n{out}\n{err}")
        document = json.loads(out)
        equal("the version of the printed JSON", document["version"], 1)
        return document

    def flow(self) -> str:
        return str(next(self.root.glob("*.yaml")))

    def check(self) -> int:
        return self.call("check", self.flow())[0]

    def run(self, code: int, **inputs: str) -> dict:
        written = [part for name, value in inputs.items() for part in ("--input", f"{name}={value}")]
        return self.json(code, "run", self.flow(), *written)["session"]

    def show(self, session: str) -> dict:
        return self.json(DONE, "session", "show", session)["session"]

    def answer(self, code: int, session: str, choice: str, feedback: str) -> dict:
        return self.json(code, "session", "answer", session, choice, "--feedback", feedback, "--resume")

    def accept(self, code: int, session: str, revision: int) -> dict:
        return self.json(code, "session", "accept", session, "--revision", str(revision), "--resume")

    def reject(self, code: int, session: str, revision: int, feedback: str) -> dict:
        said = ("--revision", str(revision), "--feedback", feedback)
        return self.json(code, "session", "reject", session, *said, "--resume")

    def resume(self, code: int, session: str) -> dict:
        return self.json(code, "session", "resume", session)["session"]

    def log(self, session: str) -> list[dict]:
        got, out, err = self.call("session", "log", session)
        equal(f"exit code of session log ({err})", got, DONE)
        return [json.loads(line) for line in out.splitlines()]

    def changes_made(self) -> list[str]:
        return self.changes.read_text(encoding="utf-8").splitlines() if self.changes.exists() else []

    # The control routes of the scripted server.

    def control(self, method: str, route: str, body: dict | None = None) -> object:
        request = urllib.request.Request(
            f"{self.server}/__aimock/{route}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text.strip() else None

    def requests(self) -> list[dict]:
        """What arrived at the server since the journal was emptied, oldest first."""
        return self.control("GET", "journal")


def equal(what: str, got: object, wanted: object) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, wanted {wanted!r}")


def holds(what: str, is_so: bool, shown: object = "") -> None:
    if not is_so:
        raise AssertionError(f"not so: {what} {shown if shown != '' else ''}")


def who(request: dict) -> str:
    """The role of the agent that asked, from the opening of its system prompt."""
    return request["body"]["messages"][0]["content"].split("You are the ")[1].split(".")[0]


def key(request: dict) -> str:
    """Names the reply that is asked for: a server may tell by it that it is asked again."""
    return request["headers"]["idempotency-key"]


def is_well_formed(request: dict) -> None:
    """Every call that a model made has exactly one answer, right behind it and in the order of the calls (R113)."""
    messages = request["body"]["messages"]
    equal("role of the first message", messages[0]["role"], "system")
    open_calls: list[str] = []
    for message in messages[1:]:
        if message["role"] == "tool":
            holds("a tool message answers the next open call", open_calls[:1] == [message["tool_call_id"]], message)
            open_calls.pop(0)
            continue
        equal("calls without an answer", open_calls, [])
        open_calls = [call["id"] for call in message.get("tool_calls", [])]
        for call in message.get("tool_calls", []):
            json.loads(call["function"]["arguments"])
    equal("calls without an answer", open_calls, [])


# The checks. Each takes a fresh world.


def w04_whole(world: World) -> None:
    """W04: a submission that misses a field, a revision, a late acceptance, a tool, a 429."""
    equal("exit code of check", world.check(), DONE)
    session = world.run(WAITING)
    equal("status", session["status"], "awaiting_answer")
    equal("requests while a person is waited for", world.requests(), [])
    name = session["id"]

    session = world.answer(WAITING, name, "build", REQUEST)["session"]
    equal("status", session["status"], "awaiting_review")
    equal("revision under review", session["waiting"]["revision"], 1)
    equal("areas", session["stage"]["candidates"][0]["result"]["areas"], ["settings"])
    planner = session["stage"]["child"]
    asked = world.requests()
    equal("who asked", [who(request) for request in asked], ["planner", "planner"])
    refusal = asked[1]["body"]["messages"][-1]
    equal("role of the refusal", refusal["role"], "tool")
    holds("the refusal names the missing field", "areas" in refusal["content"], refusal)

    session = world.reject(WAITING, name, 1, "Stored preferences must be migrated.")["session"]
    equal("revision under review", session["waiting"]["revision"], 2)
    equal("child of the revision", session["stage"]["child"], planner)
    equal("kept candidates", [one["revision"] for one in session["stage"]["candidates"]], [1, 2])
    asked = world.requests()
    equal("number of requests", len(asked), 3)
    holds("the feedback reached the planner", "migrated" in asked[2]["body"]["messages"][-1]["content"])

    world.accept(REFUSED, name, 1)
    equal("status after a late acceptance", world.show(name)["status"], "awaiting_review")
    equal("requests after a late acceptance", len(world.requests()), 3)

    session = world.accept(DONE, name, 2)["session"]
    equal("status", session["status"], "completed")
    equal("outputs", session["ending"]["outputs"], {"revision": "r-4711", "verdict": "passed"})
    equal("changes that the tool made", world.changes_made(), ["Add dark mode"])
    asked = world.requests()
    roles = ["planner"] * 3 + ["implementer"] * 2 + ["tester"] * 2
    equal("who asked", [who(request) for request in asked], roles)
    equal("statuses", [request["response"]["status"] for request in asked], [200] * 5 + [429, 200])
    holds("the request after the 429 is the same", asked[5]["body"] == asked[6]["body"])
    equal("its key", key(asked[6]), key(asked[5]))
    equal("different keys", len({key(request) for request in asked}), 6)
    offered = [tool["function"]["name"] for tool in asked[3]["body"]["tools"]]
    equal("tools of the implementer", sorted(offered), ["bash_record-change", "submit_workflow_result"])
    for request in asked:
        is_well_formed(request)

    world.accept(DONE, name, 2)
    equal("requests after a repeated acceptance", len(world.requests()), 7)
    equal("changes after a repeated acceptance", world.changes_made(), ["Add dark mode"])


def only_the_accepted_plan(world: World) -> None:
    """What the later agents are told is what was accepted, and nothing of what was not."""
    name = world.run(WAITING)["id"]
    world.answer(WAITING, name, "build", REQUEST)
    world.reject(WAITING, name, 1, "Stored preferences must be migrated.")
    world.accept(DONE, name, 2)
    asked = world.requests()
    for request in asked:
        if who(request) == "implementer":
            told = request["body"]["messages"][1]["content"]
            holds("the accepted plan", "migrate stored preferences" in told and "storage" in told, told)
        if who(request) != "planner":
            words = json.dumps(request["body"]["messages"])
            holds("no words of the owner", REQUEST not in words, words)
            holds("no words of the review", "must be migrated" not in words, words)


def killed_before_the_model_answered(world: World) -> None:
    """`kill -9` between the admission of a model call and its answer: the same child asks again and goes on."""
    name = world.run(WAITING)["id"]
    world.control("POST", "chaos", {"latencyMs": 20000})
    arguments = world.command("session", "answer", name, "build", "--feedback", REQUEST, "--resume")
    process = subprocess.Popen(
        arguments, env=world.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 15
        while time.monotonic() < end and not child_is_asking(world, name):
            time.sleep(0.05)
        holds("the child has asked its model", child_is_asking(world, name))
        child = world.show(name)["stage"]["child"]
        equal("requests answered so far", world.requests(), [])
        equal("exit code before the kill", process.poll(), None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        world.control("DELETE", "chaos")
    session = world.resume(WAITING, name)
    equal("status", session["status"], "awaiting_review")
    equal("child after the kill", session["stage"]["child"], child)
    equal("children", [one["id"] for one in session["children"]], [child])
    equal("revisions", [one["revision"] for one in session["stage"]["candidates"]], [1])
    asked = world.requests()
    equal("messages of the answered requests", [len(request["body"]["messages"]) for request in asked], [2, 4])
    equal("keys of the answered requests", [key(request) for request in asked], [f"{child}/1", f"{child}/2"])


def child_is_asking(world: World, name: str) -> bool:
    stage = world.show(name).get("stage") or {}
    return bool(stage.get("child")) and any(
        "model_call_admitted" in line["event"] for line in world.log(stage["child"])
    )


def the_small_model(world: World) -> None:
    """A real model behind a real server: its call is grammar-shaped, ours judges it, and the result is typed."""
    equal("exit code of check", world.check(), DONE)
    session = world.run(DONE, sentence="I love this sunny day.")
    equal("status", session["status"], "completed")
    holds("a mood of the schema", session["ending"]["outputs"]["mood"] in ("good", "bad"), session["ending"])
    child = world.show(session["children"][0]["id"])
    replies = [turn for turn in child["turns"] if turn["turn"] == "reply"]
    holds("the server counted tokens", all(reply["usage"]["input"] > 100 for reply in replies), replies)
    submitted = [call for reply in replies for call in reply["calls"] if call["tool"] == "submit_workflow_result"]
    holds("the model submitted", len(submitted) >= 1, replies)
    equal("what was accepted", json.loads(submitted[-1]["arguments"])["result"], child["submissions"][-1]["result"])


def no_server(world: World) -> None:
    """Nobody listens: a sentence and an honest state, not a result."""
    for path in world.root.glob("agents/*.json"):
        agent = json.loads(path.read_text(encoding="utf-8"))
        agent["modelUrl"] = "http://127.0.0.1:9/v1"
        path.write_text(json.dumps(agent), encoding="utf-8")
    session = world.run(WAITING, sentence="x")
    equal("status", session["status"], "needs_attention")
    holds("no output", "ending" not in session, session)


CHECKS = [
    (w04_whole, W04, "aimock"),
    (only_the_accepted_plan, W04, "aimock"),
    (killed_before_the_model_answered, W04, "aimock"),
    (the_small_model, MOOD, "smollm"),
    (no_server, MOOD, "smollm"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--flowright", "--work", "--aimock", "--smollm", "--grader"):
        parser.add_argument(option, required=True)
    parser.add_argument("only", nargs="*", help="names of checks; without any, all")
    given = parser.parse_args()
    servers = {"aimock": given.aimock, "smollm": given.smollm, "grader": given.grader}
    import agents

    chosen = [check for check in CHECKS + agents.CHECKS if not given.only or check[0].__name__ in given.only]
    passed = failed = 0
    for check, package, server in chosen:
        began = time.monotonic()
        try:
            folder = pathlib.Path(given.work) / check.__name__
            folder.mkdir(parents=True)
            world = World(given.flowright, folder, package, servers[server])
            if server == "aimock":
                world.control("POST", "reset/journal")
            check(world)
        except Exception:
            failed += 1
            print(f"FAILED {check.__name__}\n{traceback.format_exc()}", flush=True)
        else:
            passed += 1
            print(f"ok     {check.__name__}  {time.monotonic() - began:.1f} s", flush=True)
    print(f"peers: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
