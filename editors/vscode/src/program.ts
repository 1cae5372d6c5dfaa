/** The program that is started, from the settings. */

import * as os from "node:os";
import * as path from "node:path";

export interface Program {
  readonly command: string;
  readonly args: string[];
}

export function program(configured: string, args: readonly string[], home: string = os.homedir()): Program {
  const name = configured.trim() || "flowright";
  const command = name === "~" || /^~[/\\]/.test(name) ? path.join(home, name.slice(1)) : name;
  return { command, args: [...args] };
}

/** One sentence for a program that cannot be started. */
export function whyNot(command: string, error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === "ENOENT" || /ENOENT|couldn't create connection/i.test(String(error))) {
    return `Flowright: the program \`${command}\` is not found. Install it, or say in the setting flowright.path where it is.`;
  }
  return `Flowright: \`${command}\` cannot be started: ${error instanceof Error ? error.message : String(error)}`;
}
