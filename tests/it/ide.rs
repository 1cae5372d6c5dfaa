//! What editors ask, over texts with `$0` for the place that is asked about.

mod complete;
mod define;
mod everywhere;
mod hover;
mod notes;
mod outline;
mod rename;
mod tokens;

use crate::support::AS_OF;
use flowright::compile::{MainDocument, Memory, compile, compile_agent};
use flowright::ide::{Analysis, At, Document};
use flowright::source::{FileId, Span};

pub(crate) const PLANNER: &str = r#"{
  "slug": "planner",
  "base": "workflow-agent@1",
  "announce": "Writes plans.",
  "modelUrl": "http://localhost/v1",
  "modelName": "qwen3:4b",
  "systemPrompt": "You plan.",
  "toolCallPolicy": { "default": "deny", "rules": [{ "tool": "bash_build", "disposition": "runSync" }] },
  "bashToolboxes": [{ "tag": "FileSystemDirectory", "contents": { "Path": "./tools" } }],
  "inputs": {
    "type": "object",
    "required": ["feature"],
    "properties": {
      "depth": { "type": "integer" },
      "feature": { "type": "string", "description": "What to plan." }
    }
  }
}
"#;

fn files() -> Memory {
    Memory::new().with("agents/planner.json", PLANNER).with("agents/critic.agent.md", CRITIC)
}

const CRITIC: &str = "---\nslug: critic\nbase: workflow-agent@1\nannounce: Judges plans.\nmodelUrl: http://localhost/v1\n\
                      modelName: small\n---\nYou judge.\n";

/// A document of the given name, compiled.
pub(crate) fn analysed(name: &str, text: &str) -> Analysis {
    let main = MainDocument {
        name: name.to_owned(),
        package_path: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let is_agent = name.starts_with("agents/");
    let document = if is_agent {
        Document::Agent(Box::new(compile_agent(main)))
    } else {
        Document::Workflow(Box::new(compile(main, &files(), AS_OF)))
    };
    Analysis { document, as_of: AS_OF }
}

/// Takes the mark out of a text: the text, and where the mark was.
pub(crate) fn unmarked(text: &str) -> (String, usize) {
    let at = text.find("$0").expect("the text has a mark");
    (text.replacen("$0", "", 1), at)
}

/// A marked workflow in YAML.
pub(crate) fn marked(text: &str) -> (Analysis, At, String) {
    marked_as("workflow.yaml", text)
}

pub(crate) fn marked_as(name: &str, text: &str) -> (Analysis, At, String) {
    let (text, offset) = unmarked(text);
    (analysed(name, &text), At { file: FileId::MAIN, offset }, text)
}

/// `line:text` of a place, with the name of the file in front if it is another than the main one.
pub(crate) fn place(analysis: &Analysis, span: Span) -> String {
    let source = analysis.sources().get(span.file).unwrap();
    let line = source.position(span.start as usize).line;
    let name = if span.file == FileId::MAIN { String::new() } else { format!("{}:", source.name()) };
    format!("{name}{line}:{}", source.slice(span))
}

/// The beginning of every workflow that a test does not write whole.
pub(crate) const HEAD: &str = "kind: workflow\nversion: 1\nname: example\n";
