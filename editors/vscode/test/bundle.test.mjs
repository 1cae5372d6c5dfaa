// The built extension, with a stand-in for the editor: it starts the server for our documents and for no others.
// Needs `npm run build` before.

import assert from "node:assert/strict";
import { createRequire, Module } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);

/** Everything of the editor that is touched while modules are loaded; names are made when they are asked for. */
function editor(touched) {
  const disposable = { dispose() {} };
  class Any {
    constructor() {
      return stand;
    }
  }
  const stand = new Proxy(class extends Any {}, {
    get: (target, name) => (name === Symbol.toPrimitive ? () => "stand-in" : name in target ? target[name] : stand),
    apply: () => disposable,
  });
  const known = {
    version: "1.91.0",
    workspace: {
      textDocuments: [],
      onDidOpenTextDocument: (handler) => ((touched.open = handler), disposable),
      onDidChangeTextDocument: (handler) => ((touched.change = handler), disposable),
      onDidChangeConfiguration: () => disposable,
      getConfiguration: () => ({
        get: (name, otherwise) => {
          touched.read = (touched.read ?? 0) + 1;
          return name === "path" ? "/nowhere/flowright" : otherwise;
        },
      }),
    },
    window: {
      createOutputChannel: () => new Proxy({}, { get: () => () => undefined }),
      showErrorMessage: async (message) => void (touched.errors ??= []).push(message),
    },
    commands: { registerCommand: (name) => ((touched.commands ??= []).push(name), disposable) },
  };
  return new Proxy(known, { get: (target, name) => (name in target ? target[name] : stand) });
}

function load() {
  const touched = {};
  const resolve = Module._resolveFilename;
  const fake = editor(touched);
  Module._resolveFilename = (name, ...rest) => (name === "vscode" ? "vscode" : resolve(name, ...rest));
  require.cache.vscode = { id: "vscode", filename: "vscode", loaded: true, exports: fake };
  delete require.cache[require.resolve("../out/extension.js")];
  const extension = require("../out/extension.js");
  Module._resolveFilename = resolve;
  return { extension, touched };
}

const document = (languageId, fileName, text) => ({ languageId, fileName, getText: () => text });

test("it is quiet until a document may be ours", () => {
  const { extension, touched } = load();
  extension.activate({ subscriptions: [] });
  assert.deepEqual(touched.commands, ["flowright.restart", "flowright.showOutput"]);
  for (const other of [
    document("yaml", "/x/compose.yaml", "services: {}\nkinds: w\n"),
    document("yaml", "/x/pod.yaml", "kind: Pod\n"),
    document("json", "/x/package.json", '{ "name": "x" }'),
    document("markdown", "/x/README.md", "slug: x"),
    document("rust", "/x/main.rs", "kind: workflow"),
  ]) {
    touched.open(other);
  }
  assert.equal(touched.read, undefined);
});

for (const ours of [
  document("flowright", "/x/a.flow.yaml", ""),
  document("yaml", "/x/a.yaml", "# mine\nkind: workflow\n"),
  document("json", "/x/a.json", '{ "slug": "x", "modelUrl": "http://127.0.0.1" }'),
  document("json", "/x/a.json", '{ "tag": "OpenAIAgentDescription" }'),
  document("markdown", "/x/a.agent.md", "---\nslug: x\n---\n"),
]) {
  test(`it starts for ${ours.fileName} (${ours.languageId}), once`, async () => {
    const { extension, touched } = load();
    extension.activate({ subscriptions: [] });
    touched.open(ours);
    touched.change({ document: ours });
    await extension.deactivate();
    assert.equal(touched.read, 2, "path and arguments, once each");
  });
}
