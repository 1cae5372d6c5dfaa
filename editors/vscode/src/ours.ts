/**
 * Whether the language server has to be started for a document. A quick look only: what a document is, the server
 * decides, as `flowright check` does.
 */

/** The parts of a document that are looked at. */
export interface Looked {
  readonly fileName: string;
  readonly languageId: string;
  getText(): string;
}

/** Characters that are looked at; kinds and slugs stand near the top. */
const MOST = 64 * 1024;

export function mayBeOurs(document: Looked): boolean {
  const name = document.fileName.toLowerCase();
  switch (document.languageId) {
    case "flowright":
      return true;
    case "yaml":
      return /^["']?kind["']?\s*:\s*["']?w/m.test(head(document));
    case "markdown":
      return name.endsWith(".agent.md");
    case "json":
    case "jsonc":
      return /"kind"\s*:\s*"w/.test(head(document)) || isAgent(head(document));
    default:
      return false;
  }
}

function isAgent(text: string): boolean {
  return text.includes('"OpenAIAgentDescription"') || (/"slug"\s*:/.test(text) && /"(modelUrl|base)"\s*:/.test(text));
}

function head(document: Looked): string {
  return document.getText().slice(0, MOST);
}
