/**
 * The extension: starts `flowright lsp` when the first document that may be ours is open, and speaks the language
 * server protocol with it. All that is known of workflows is in the program.
 */

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions, TransportKind } from "vscode-languageclient/node";
import { mayBeOurs } from "./ours";
import { program, whyNot } from "./program";

let client: LanguageClient | undefined;
/** One start or stop after the other. */
let turn: Promise<void> = Promise.resolve();
let output: vscode.LogOutputChannel | undefined;

export function activate(context: vscode.ExtensionContext): void {
  output = vscode.window.createOutputChannel("Flowright", { log: true });
  context.subscriptions.push(
    output,
    vscode.workspace.onDidOpenTextDocument(startFor),
    // A document can become ours while it is written.
    vscode.workspace.onDidChangeTextDocument((event) => startFor(event.document)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("flowright.path") || event.affectsConfiguration("flowright.arguments")) {
        inTurn(restart);
      }
    }),
    vscode.commands.registerCommand("flowright.restart", () => inTurn(restart)),
    vscode.commands.registerCommand("flowright.showOutput", () => output?.show()),
  );
  vscode.workspace.textDocuments.forEach(startFor);
}

export async function deactivate(): Promise<void> {
  await inTurn(stop);
}

/** Whether a start was tried; after a failure only a restart tries again. */
let isStarted = false;

function startFor(document: vscode.TextDocument): void {
  if (!isStarted && mayBeOurs(document)) {
    isStarted = true;
    inTurn(start);
  }
}

function inTurn(step: () => Promise<void>): Promise<void> {
  turn = turn.then(step, step);
  return turn;
}

async function restart(): Promise<void> {
  await stop();
  isStarted = true;
  await start();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("flowright");
  const { command, args } = program(settings.get("path", "flowright"), settings.get<string[]>("arguments", ["lsp"]));
  const server: ServerOptions = { command, args, transport: TransportKind.stdio };
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "flowright" },
      { language: "yaml" },
      { scheme: "file", language: "json" },
      { scheme: "file", language: "jsonc" },
      { scheme: "file", language: "markdown", pattern: "**/*.agent.md" },
    ],
    ...(output === undefined ? {} : { outputChannel: output }),
  };
  const started = new LanguageClient("flowright", "Flowright", server, options);
  client = started;
  try {
    await started.start();
  } catch (error) {
    client = undefined;
    const open = "Open settings";
    const answer = await vscode.window.showErrorMessage(whyNot(command, error), open);
    if (answer === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "flowright.path");
    }
  }
}

async function stop(): Promise<void> {
  const stopped = client;
  client = undefined;
  if (stopped !== undefined) {
    await stopped.dispose();
  }
}
