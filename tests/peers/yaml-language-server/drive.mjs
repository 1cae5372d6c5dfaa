// Drives yaml-language-server over stdio with the printed schemas, as an editor would, and judges what it says.
// Arguments: the folder in which npm installed it, and the built `flowright`. The last line counts the checks.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [npm, flowright] = process.argv.slice(2);
const WITHIN_MS = 60_000;

class Server {
  constructor(root, settings) {
    this.settings = settings;
    this.pending = new Map();
    this.published = new Map();
    this.last = 0;
    this.bytes = Buffer.alloc(0);
    const program = join(npm, "node_modules/yaml-language-server/bin/yaml-language-server");
    this.process = spawn(process.execPath, [program, "--stdio"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    this.process.stdout.on("data", (bytes) => this.take(bytes));
    this.process.on("exit", (code) => this.fail(new Error(`the server ended with ${code}`)));
  }

  fail(error) {
    for (const { reject } of this.pending.values()) reject(error);
    for (const { reject } of this.published.values()) reject?.(error);
  }

  take(bytes) {
    this.bytes = Buffer.concat([this.bytes, bytes]);
    for (;;) {
      const end = this.bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.bytes.toString("utf8", 0, end))[1]);
      if (this.bytes.length < end + 4 + length) return;
      const message = JSON.parse(this.bytes.toString("utf8", end + 4, end + 4 + length));
      this.bytes = this.bytes.subarray(end + 4 + length);
      this.receive(message);
    }
  }

  receive(message) {
    if (message.method === undefined) {
      const { resolve, reject } = this.pending.get(message.id);
      this.pending.delete(message.id);
      return message.error ? reject(new Error(message.error.message)) : resolve(message.result);
    }
    if (message.method === "textDocument/publishDiagnostics") {
      const waiting = this.published.get(message.params.uri);
      if (waiting?.version === message.params.version || message.params.version === undefined) {
        waiting?.resolve(message.params.diagnostics);
      }
    }
    if (message.id !== undefined) {
      const isSettings = message.method === "workspace/configuration";
      const result = isSettings ? message.params.items.map((item) => this.settings[item.section] ?? null) : null;
      this.send({ id: message.id, result });
    }
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  within(what, promise) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} took longer than ${WITHIN_MS} ms`)), WITHIN_MS);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  request(method, params) {
    const id = ++this.last;
    const answer = new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.send({ id, method, params });
    return this.within(method, answer);
  }

  async start(root) {
    await this.request("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(root).href,
      capabilities: {
        workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } },
        textDocument: {
          hover: { contentFormat: ["markdown"] },
          completion: { completionItem: { documentationFormat: ["markdown"] } },
          publishDiagnostics: { versionSupport: true },
        },
      },
    });
    this.send({ method: "initialized", params: {} });
  }

  /** Opens a text; `|>` marks the place that is asked about. Gives the diagnostics. */
  async open(uri, marked) {
    const at = marked.indexOf("|>");
    const text = at < 0 ? marked : marked.slice(0, at) + marked.slice(at + 2);
    const before = marked.slice(0, Math.max(at, 0)).split("\n");
    this.place = { line: before.length - 1, character: before.at(-1).length };
    const version = ++this.last;
    const found = new Promise((resolve, reject) => this.published.set(uri, { version, resolve, reject }));
    const languageId = uri.endsWith(".json") ? "json" : "yaml";
    this.send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId, version, text } } });
    return this.within(`diagnostics of ${uri}`, found);
  }

  at(uri) {
    return { textDocument: { uri }, position: this.place };
  }

  async stop() {
    await this.request("shutdown", null);
    this.process.removeAllListeners("exit");
    const ended = new Promise((resolve) => this.process.on("exit", resolve));
    this.send({ method: "exit" });
    await this.within("the end", ended);
  }
}

const HEAD = "kind: workflow\nversion: 1\nname: x\n";
const GOOD = `${HEAD}steps:
  - id: plan
    agent: planner
    task: Plan it.
    completion: reviewed
    review:
      - human: Good?
        on_abort: { stop: cancelled }
  - question: Go on?
    choices:
      go: Go on
      no: { label: No, then: { stop: cancelled } }
    deadline: 1h
    on_deadline: { choose: go }
  - loop:
      repeat: 3
      steps:
        - cron: "@daily"
          timezone: UTC
`;

const labels = (list) => new Set((list.items ?? list).map((item) => item.label));
const shows = (found) => found.map((one) => `${one.range.start.line}:${one.range.start.character} ${one.message}`);

function expect(is, what) {
  if (!is) throw new Error(typeof what === "string" ? what : JSON.stringify(what));
}

/** The offered labels must have all of one list and none of the other. */
async function offers(server, uri, marked, wanted, unwanted) {
  await server.open(uri, marked);
  const found = labels(await server.request("textDocument/completion", server.at(uri)));
  for (const label of wanted) expect(found.has(label), `\`${label}\` is not offered, but ${[...found]}`);
  for (const label of unwanted) expect(!found.has(label), `\`${label}\` is offered`);
}

const CHECKS = {
  async "a good workflow has no diagnostics"(server, uri) {
    expect((await server.open(uri("good.yaml"), GOOD)).length === 0, shows(await server.open(uri("good2.yaml"), GOOD)));
  },
  async "a comment at the head names the schema too"(server, uri, schema) {
    const text = `# yaml-language-server: $schema=${schema}\n${GOOD}`;
    expect((await server.open(uri("modeline.yml"), text)).length === 0, "a good file");
    const found = shows(await server.open(uri("modeline2.yml"), text.replace("task:", "taks:")));
    expect(found.some((one) => one.startsWith("7:4 ") && one.includes("taks")), found);
  },
  async "an agent step is offered its own keys"(server, uri) {
    const text = `${HEAD}steps:\n  - agent: planner\n    |>\n`;
    const own = ["task", "with", "result", "review", "on_failed", "id"];
    await offers(server, uri("agent.yaml"), text, own, ["cases", "choices", "pick", "cron", "loop", "repeat"]);
  },
  async "a question step is offered its own keys"(server, uri) {
    const text = `${HEAD}steps:\n  - question: Go?\n    |>\n`;
    await offers(server, uri("question.yaml"), text, ["choices", "feedback", "on_deadline"], ["task", "review", "cases"]);
  },
  async "a step without a kind is offered the kinds"(server, uri) {
    const text = `${HEAD}steps:\n  - id: a\n    |>\n`;
    const kinds = ["cron", "question", "agent", "loop", "switch", "pick", "stop"];
    await offers(server, uri("kinds.yaml"), text, kinds, ["task", "cases", "choices"]);
  },
  async "a gate is offered the keys of its kind"(server, uri) {
    const text = GOOD.replace("      - human: Good?\n", "      - human: Good?\n        |>\n").replace(/ +on_abort.*\n/, "");
    await offers(server, uri("gate.yaml"), text, ["on_abort", "respondents"], ["task", "max_rounds"]);
  },
  async "transitions and words are offered"(server, uri) {
    const text = `${HEAD}steps:\n  - agent: planner\n    task: t\n    on_failed: |>\n`;
    await offers(server, uri("words.yaml"), text, ["hold", "continue", "break", "next"], []);
    const stop = `${HEAD}steps:\n  - stop: |>\n`;
    await offers(server, uri("stop.yaml"), stop, ["succeeded", "failed", "cancelled"], []);
  },
  async "hover shows what a key means"(server, uri) {
    await server.open(uri("hover.yaml"), GOOD.replace("task:", "ta|>sk:"));
    const hover = JSON.stringify(await server.request("textDocument/hover", server.at(uri("hover.yaml"))));
    expect(hover.includes("What the agent is to do"), hover);
    await server.open(uri("hover2.yaml"), GOOD.replace("choose:", "cho|>ose:"));
    const other = JSON.stringify(await server.request("textDocument/hover", server.at(uri("hover2.yaml"))));
    expect(other.includes("taken without a person"), other);
  },
  async "a misspelt key is reported at its own place"(server, uri) {
    const found = shows(await server.open(uri("misspelt.yaml"), GOOD.replace("    task:", "    taks:")));
    expect(found.some((one) => one.startsWith("6:4 ") && one.includes("taks")), found);
    expect(found.length <= 2, found);
    const deep = shows(await server.open(uri("deep.yaml"), GOOD.replace("label:", "lable:")));
    expect(deep.some((one) => one.startsWith("14:12 ") && one.includes("lable")), deep);
    expect(deep.every((one) => one.startsWith("14:")), deep);
  },
  async "a value of the wrong shape is reported at its own place"(server, uri) {
    const found = shows(await server.open(uri("shape.yaml"), GOOD.replace("repeat: 3", "repeat: never")));
    expect(found.length > 0 && found.every((one) => one.startsWith("18:14 ")), found);
    const cron = shows(await server.open(uri("cron.yaml"), GOOD.replace("@daily", "* * *")));
    expect(cron.length === 1 && cron[0].startsWith("20:16 "), cron);
  },
  async "an agent file is explained and checked"(server, uri) {
    const text = '{\n  "slug": "a", "modelUrl": "http://127.0.0.1", "modelName": "m",\n  "systemPrompt": ["x"],\n' +
      '  "toolCallPolicy": { "default": { "tag": "defer", "reason": "r" } }, "--note": 1\n}\n';
    const found = shows(await server.open(uri("agents/good.json"), text));
    expect(found.length === 0, found);
    const bad = shows(await server.open(uri("agents/bad.json"), text.replace("reason", "raeson")));
    expect(bad.length === 1 && bad[0].startsWith("3:51 ") && bad[0].includes("raeson"), bad);
    await server.open(uri("agents/hover.json"), text.replace("modelUrl", "model|>Url"));
    const hover = JSON.stringify(await server.request("textDocument/hover", server.at(uri("agents/hover.json"))));
    expect(hover.includes("Base URL of the model server"), hover);
  },
};

const root = mkdtempSync(join(tmpdir(), "flowright-yls-"));
let failed = 0;
try {
  for (const name of ["workflow", "agent"]) {
    const printed = spawnSync(flowright, ["schema", name], { encoding: "utf8" });
    expect(printed.status === 0, printed.stderr);
    writeFileSync(join(root, `${name}.schema.json`), printed.stdout);
  }
  const url = (name) => pathToFileURL(join(root, name)).href;
  const yaml = {
    validate: true,
    hover: true,
    completion: true,
    schemaStore: { enable: false },
    schemas: { [url("workflow.schema.json")]: "*.yaml", [url("agent.schema.json")]: "agents/*.json" },
  };
  const server = new Server(root, { yaml, "[yaml]": {}, http: {}, editor: {} });
  await server.start(root);
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      await check(server, url, url("workflow.schema.json"));
      console.log(`pass  yaml-language-server: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  yaml-language-server: ${name}: ${error.message}`);
    }
  }
  await server.stop();
} finally {
  rmSync(root, { recursive: true, force: true });
}
console.log(`yaml-language-server: ${Object.keys(CHECKS).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
