"""Drives the built flowright against real peers on loopback and checks what both sides saw.

Prints a line a check and `peers: N passed, M failed` at the end.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
BINARY = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "flowright"
W04 = ROOT / "corpus/real/w04-plan-review-build-test"
results = []


def check(name, holds, found=""):
    results.append(bool(holds))
    print(f"{'ok' if holds else 'FAILED'} {name}{'' if holds else f': {found}'}", flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Peer:
    """A server in a process group of its own, killed at the end."""

    def __init__(self, words, health, seconds, log):
        self.log = open(log, "wb")
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log, start_new_session=True)
        deadline = time.monotonic() + seconds
        while True:
            try:
                with urllib.request.urlopen(health, timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{words[0]} did not come up: {pathlib.Path(log).read_text()[-2000:]}")
            time.sleep(0.2)

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()


class Desk:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.env = dict(
            os.environ,
            HOME=folder,
            USER="ada",
            XDG_CONFIG_HOME=f"{folder}/config",
            XDG_DATA_HOME=f"{folder}/data",
            FLOWRIGHT_DB=f"{folder}/flowright.db",
            CHANGES_FILE=f"{folder}/changes",
        )

    def run(self, *words):
        done = subprocess.run(
            [str(BINARY), *words], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600
        )
        try:
            return done.returncode, json.loads(done.stdout)["session"]
        except (ValueError, KeyError):
            raise RuntimeError(f"{words}: {done.returncode}: {done.stdout}{done.stderr}") from None


def package(folder, port):
    """W04 with its agents pointed to a real server."""
    target = pathlib.Path(folder) / "package"
    shutil.copytree(W04, target)
    for path in (target / "agents").glob("*.json"):
        agent = json.loads(path.read_text())
        agent.update(modelUrl=f"http://127.0.0.1:{port}/v1", modelName="gpt-test")
        path.write_text(json.dumps(agent))
    return target / "plan-review-build-test.yaml"


def journal(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/__aimock/journal", timeout=10) as answer:
        entries = json.load(answer)
    entries = entries if isinstance(entries, list) else entries.get("entries", entries.get("requests", []))
    return [entry.get("body") or entry.get("request") or {} for entry in entries]


def answers_fit(messages):
    """Every call in the history has exactly one answer, right behind it and in the calls' order."""
    at = 0
    while at < len(messages):
        calls = [call["id"] for call in messages[at].get("tool_calls") or []]
        answers = [message.get("tool_call_id") for message in messages[at + 1 : at + 1 + len(calls)]]
        if calls != answers:
            return False
        at += 1 + len(calls)
    return True


def aimock():
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(
            [str(HERE / ".cache/node_modules/.bin/llmock"), "-p", str(port), "-f", str(HERE / "aimock"), "--strict",
             "--validate-on-load"],
            f"http://127.0.0.1:{port}/__aimock/journal", 30, f"{folder}/aimock.log",
        )
        try:
            story(Desk(folder), folder, port)
        finally:
            peer.stop()


def story(desk, folder, port):
    code, session = desk.run("run", str(package(folder, port)), "--json")
    check("aimock: it waits for its question", (code, session["status"]) == (3, "awaiting_answer"), session["status"])
    check("aimock: waiting asks no model", journal(port) == [], journal(port))
    ident = session["id"]
    code, session = desk.run("session", "answer", ident, "build", "--feedback", "a dark mode", "--resume", "--json")
    check("aimock: the plan waits for its review", (code, session["status"]) == (3, "awaiting_review"), session)
    first = len(journal(port))
    check("aimock: an invalid submission is corrected in one more request", first == 2, first)
    code, session = desk.run(
        "session", "reject", ident, "--revision", "1", "--feedback", "Stored preferences must be migrated.",
        "--resume", "--json",
    )
    check("aimock: revision 2", (code, session["waiting"]["revision"]) == (3, 2), session)
    revised = journal(port)[first]["messages"]
    check("aimock: the feedback reaches the same conversation", "Stored preferences" in revised[-1]["content"]
          and len(revised) > 4, revised[-1])
    code, session = desk.run("session", "accept", ident, "--revision", "2", "--resume", "--json")
    check("aimock: accepted, built, tested", (code, session["status"]) == (0, "completed"), session)
    check("aimock: outputs", session["ending"]["outputs"] == {"revision": "r-4711", "verdict": "passed"}, session)
    requests = journal(port)
    check("aimock: six requests in all", len(requests) == 6, len(requests))
    check("aimock: each call has one answer", all(answers_fit(request["messages"]) for request in requests), requests)
    check("aimock: one effect", (desk.folder / "changes").read_text() == "Add dark mode\n")


FLOW = """kind: workflow
version: 1
name: one-verdict
outputs: { verdict: "${{ steps.judge.result.verdict }}" }
steps:
  - id: judge
    agent: judge
    task: Submit the verdict passed.
    result:
      type: object
      required: [verdict]
      additionalProperties: false
      properties: { verdict: { type: string, enum: [passed, failed] } }
"""


def smollm():
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        peer = Peer(
            [str(HERE / ".cache/venv/bin/python"), str(HERE / "smollm/serve.py"), str(port)],
            f"http://127.0.0.1:{port}/health", 120, f"{folder}/smollm.log",
        )
        print(f"smollm: up after {time.monotonic() - started:.1f} s", flush=True)
        try:
            agents = pathlib.Path(folder) / "flow/agents"
            agents.mkdir(parents=True)
            agent = {
                "slug": "judge", "base": "workflow-agent@1", "modelUrl": f"http://127.0.0.1:{port}/v1",
                "modelName": "smollm2", "systemPrompt": ["You submit verdicts."], "toolChoice": "required",
                "temperature": 0, "maxTokens": 200,
            }
            (agents / "judge.json").write_text(json.dumps(agent))
            flow = agents.parent / "flow.yaml"
            flow.write_text(FLOW)
            started = time.monotonic()
            code, session = Desk(folder).run("run", str(flow), "--json")
            print(f"smollm: the session took {time.monotonic() - started:.1f} s", flush=True)
            check("smollm: a real model submits a result that fits its schema",
                  (code, session["status"]) == (0, "completed"), session)
            verdict = session.get("ending", {}).get("outputs", {}).get("verdict")
            check("smollm: the verdict is one of the schema's", verdict in ("passed", "failed"), verdict)
        finally:
            peer.stop()


for part in (aimock, smollm):
    try:
        part()
    except Exception as error:  # a peer that fails is a failed check, and the others still run
        check(part.__name__, False, repr(error)[:3000])
failed = results.count(False)
print(f"peers: {len(results) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
