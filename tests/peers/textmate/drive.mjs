// Tokenises definitions with the libraries of VS Code: its engine for TextMate grammars, a YAML grammar, and the
// injection for bindings. Argument: the folder in which npm installed them. The last line counts the checks.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const modules = resolve(process.argv[2], "node_modules");
const require = createRequire(join(modules, "x.js"));
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");
const here = fileURLToPath(new URL(".", import.meta.url));
const OURS = join(here, "../../../editors/vscode/syntaxes/flowright-binding.tmLanguage.json");

await oniguruma.loadWASM(readFileSync(join(modules, "vscode-oniguruma/release/onig.wasm")).buffer);

const files = {
  "source.yaml": join(modules, "tm-grammars/grammars/yaml.json"),
  "source.json": join(modules, "tm-grammars/grammars/json.json"),
  "flowright.binding.injection": OURS,
};

const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    const file = files[scope];
    return file === undefined ? null : parseRawGrammar(readFileSync(file, "utf8"), file);
  },
  getInjections: (scope) => (scope.startsWith("source.") ? ["flowright.binding.injection"] : []),
});

const grammars = {};
for (const scope of ["source.yaml", "source.json"]) grammars[scope] = await registry.loadGrammar(scope);

/** Each piece of the text that one of our scopes names, as `piece: scope`, the scope without its last part. */
function pieces(text, scope = "source.yaml") {
  let stack = INITIAL;
  const found = [];
  for (const line of text.split("\n")) {
    const result = grammars[scope].tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const token of result.tokens) {
      const ours = token.scopes.filter((name) => name.endsWith(".flowright") && !name.startsWith("meta."));
      const piece = line.slice(token.startIndex, token.endIndex);
      if (ours.length > 0) found.push(`${piece}: ${ours.at(-1).replace(".flowright", "")}`);
    }
  }
  return found;
}

const BINDING = [
  "${{: punctuation.section.embedded.begin",
  "inputs: variable.language",
  ".: punctuation.accessor",
  "a-b: variable.other.property",
  "[: punctuation.accessor.begin",
  "0: constant.numeric.index",
  "]: punctuation.accessor.end",
  "}}: punctuation.section.embedded.end",
];

const CHECKS = [
  ["in plain text", "task: Do ${{ inputs.a-b[0] }} now", BINDING],
  ["alone", "task: ${{ inputs.a-b[0] }}", BINDING],
  ["in double quotes", 'task: "Do ${{ inputs.a-b[0] }} now"', BINDING],
  ["in single quotes in flow style", "with: { x: '${{ inputs.a-b[0] }}' }", BINDING],
  ["in a block scalar", "task: |\n  Do\n  ${{ inputs.a-b[0] }}\n", BINDING],
  ["not in a comment", "task: x # ${{ inputs.a }}", []],
  ["an escape is none", "task: write $${{ x }}", ["$${{: constant.character.escape"]],
  ["an unknown root", "task: ${{ step }}", [BINDING[0], "step: invalid.illegal.root", BINDING[7]]],
  [
    "an operator",
    "task: ${{ loop.iteration+ }}",
    [BINDING[0], "loop: variable.language", BINDING[2], "iteration: variable.other.property",
      "+: invalid.illegal.binding", BINDING[7]],
  ],
  [
    "one that is not closed ends with its text",
    'task: "${{ session"\nnext: ${{ session }}',
    [BINDING[0], "session: variable.language", BINDING[0], "session: variable.language", BINDING[7]],
  ],
  [
    "the fields of a schedule",
    '- cron: "*/5 9-17 * * mon"',
    ["*/5: constant.numeric.cron.minute", "9-17: constant.numeric.cron.hour", "*: constant.numeric.cron.day",
      "*: constant.numeric.cron.month", "mon: constant.numeric.cron.weekday"],
  ],
  ["a named schedule", '- cron: "@hourly"', ["@hourly: constant.language.cron"]],
  ["a duration", "deadline: 2h30m", ["2h30m: constant.numeric.duration"]],
  ["no duration", "deadline: 2x", []],
];

let failed = 0;
const judge = (name, found, wanted) => {
  const is = JSON.stringify(found) === JSON.stringify(wanted);
  failed += is ? 0 : 1;
  console.log(is ? `pass  textmate: ${name}` : `FAIL  textmate: ${name}: ${JSON.stringify(found)}`);
};
for (const [name, text, wanted] of CHECKS) judge(name, pieces(text), wanted);
judge("in JSON", pieces('{ "task": "Do ${{ inputs.a-b[0] }}" }', "source.json"), BINDING);

// What stands behind a binding is coloured as if it had not been there.
const scopes = (text) => {
  const tokens = grammars["source.yaml"].tokenizeLine(text, INITIAL).tokens;
  return tokens.at(-1).scopes.join(" ");
};
judge("the text goes on behind it", [scopes('a: "${{ inputs.x }} end"')], [scopes('a: "plain end"')]);
console.log(`textmate: ${CHECKS.length + 2 - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
