//! `unknown-tool`: a tool that a policy or `repeatableTools` names and no toolbox holds. Said only where all tools
//! are known; where they are not, a name that is nearly one of those known gets a hint.

use crate::ast::Agent;
use crate::ast::toolbox::BuiltinKind;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::{Around, Toolbox};
use crate::source::Spanned;

/// An agent names a tool that it does not have.
pub static RULE: Rule = Rule {
    name: "unknown-tool",
    severity: Severity::Error,
    summary: "An agent names a tool that it does not have",
    page: include_str!("../../docs/diagnostics/unknown-tool.md"),
};

/// Tools that the runtime gives to the child of a workflow.
const OWN: [&str; 1] = [super::idle_policy_rule::SUBMIT];
/// Before the name of a command-line tool.
const PREFIX: &str = "bash_";
/// Judges each name of a tool in an agent file. Without a package nothing is known of command-line tools.
pub fn check_agent(agent: &Agent, around: Option<&Around>, out: &mut Vec<Diagnostic>) {
    let known = Known::of(agent, around);
    let rules = agent.policy.iter().flat_map(|policy| &policy.rules);
    for name in rules.map(|rule| &rule.tool) {
        known.judge(agent, name, "the policy", out);
    }
    for name in &agent.repeatable_tools {
        known.judge(agent, name, "`repeatableTools`", out);
    }
}

/// What is known of the tools of an agent.
struct Known {
    /// Names of tools, surely.
    sure: Vec<String>,
    /// Names by the files of those whose texts do not show a name.
    likely: Vec<String>,
    /// Whether there may be command-line tools besides `sure`.
    more_scripts: bool,
    /// How names begin that only running something would tell in full, with what they belong to.
    open: Vec<String>,
    /// Whether there may be tools of kinds that could not be read.
    more_kinds: bool,
}

impl Known {
    fn of(agent: &Agent, around: Option<&Around>) -> Self {
        let toolboxes = around.map(|around| around.toolboxes.as_slice()).unwrap_or_default();
        let mut known = Self {
            sure: Vec::new(),
            likely: Vec::new(),
            more_scripts: around.is_none() || toolboxes.len() < agent.bash_toolboxes.len(),
            open: Vec::new(),
            more_kinds: agent.toolboxes.is_cut,
        };
        known.boxes(agent);
        for toolbox in toolboxes {
            let Toolbox::Files(tools) = toolbox else {
                known.more_scripts = true;
                continue;
            };
            for tool in tools {
                match &tool.slug {
                    Some(slug) => known.sure.push(format!("{PREFIX}{slug}")),
                    None => {
                        let stem = tool.file.split('.').next().unwrap_or(&tool.file);
                        known.likely.push(format!("{PREFIX}{stem}"));
                        known.more_scripts = true;
                    }
                }
            }
        }
        known
    }

    /// Tools of toolboxes that are no folders.
    fn boxes(&mut self, agent: &Agent) {
        let boxes = &agent.toolboxes;
        for toolbox in &boxes.builtin {
            let name = &toolbox.name.value;
            self.sure.push(match &toolbox.kind {
                BuiltinKind::Sqlite { .. } => format!("sqlite_{name}_query"),
                BuiltinKind::System { .. } => format!("system_{name}_system_info"),
                BuiltinKind::Developer { .. } => format!("developer_{name}_developer_tools"),
            });
        }
        self.sure.extend(boxes.agents.iter().map(|extra| format!("prompt_agent_{}", extra.slug.value)));
        self.open.extend(boxes.mcp.iter().map(|server| format!("mcp_{}_", server.name.value)));
        if !boxes.openapi.is_empty() {
            self.open.push("openapi_".to_owned());
        }
        if !boxes.skills.is_empty() {
            self.open.push("skill_".to_owned());
        }
    }

    fn judge(&self, agent: &Agent, name: &Spanned<String>, place: &str, out: &mut Vec<Diagnostic>) {
        let written = name.value.as_str();
        let names = || self.sure.iter().chain(&self.likely).map(String::as_str);
        let is_open = |start: &String| written.len() > start.len() && written.starts_with(start.as_str());
        if OWN.contains(&written) || names().any(|known| known == written) || self.open.iter().any(is_open) {
            return;
        }
        let near = nearest(written, names()).or_else(|| {
            // The name of the tool without what the model sees before it.
            names().find(|known| known.strip_prefix(PREFIX) == Some(written))
        });
        // A name of no known kind can only be slips of the hand, or what a later version brings.
        let may_be = if written.starts_with(PREFIX) { self.more_scripts } else { self.more_kinds };
        if may_be && near.is_none() {
            return;
        }
        let message = if may_be {
            format!("{place} names `{written}`, and no tool of that name is seen")
        } else {
            format!("{place} names the tool `{written}`, which the agent does not have")
        };
        let mut found = Diagnostic::new(&RULE, name.span, message).note("no such tool");
        if may_be {
            found.severity = Severity::Hint;
        } else if agent.base.is_none() {
            found.severity = Severity::Warning;
        }
        if let Some(toolbox) = agent.bash_toolboxes.first().filter(|_| written.starts_with(PREFIX)) {
            found = found.label(toolbox.path.span, "its tools come from here");
        }
        out.push(match near {
            Some(near) => found.suggest(written, Some(near), name.span),
            None => found.help(self.help()),
        });
    }
}

impl Known {
    fn help(&self) -> String {
        let sure = self.sure.iter().map(|name| format!("`{name}`"));
        let open = self.open.iter().map(|start| format!("those that begin with `{start}`"));
        let names: Vec<_> = sure.chain(open).take(8).collect();
        if names.is_empty() {
            return "the agent has no tools; add a toolbox, or remove the name".to_owned();
        }
        format!("its tools are {}", names.join(", "))
    }
}
