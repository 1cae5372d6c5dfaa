//! `unknown-tool`: a tool that a policy or `repeatableTools` names and no toolbox holds. Said only where all tools
//! are known; where they are not, a name that is nearly one of those known gets a hint.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::{Around, Toolbox};
use crate::source::Spanned;
use crate::tree::Value;

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
/// Keys that bring tools of other kinds, whose names only running them would tell.
const OTHERS: [&str; 5] = ["mcpServers", "openApiToolboxes", "builtinToolboxes", "extraAgents", "skillSources"];

/// Judges each name of a tool in an agent file.
pub fn check_agent(agent: &Agent, around: &Around, out: &mut Vec<Diagnostic>) {
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
    /// Whether there may be tools of other kinds.
    more_kinds: bool,
}

impl Known {
    fn of(agent: &Agent, around: &Around) -> Self {
        let brings = |entry: &crate::tree::Entry| {
            let is_empty = matches!(&entry.value.value, Value::Null) || entry.value.value == Value::List(Vec::new());
            OTHERS.contains(&entry.key.value.as_str()) && !is_empty
        };
        let mut known = Self {
            sure: Vec::new(),
            likely: Vec::new(),
            more_scripts: around.toolboxes.len() < agent.bash_toolboxes.len(),
            more_kinds: agent.later.iter().any(brings),
        };
        for toolbox in &around.toolboxes {
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

    fn judge(&self, agent: &Agent, name: &Spanned<String>, place: &str, out: &mut Vec<Diagnostic>) {
        let written = name.value.as_str();
        let names = || self.sure.iter().chain(&self.likely).map(String::as_str);
        if OWN.contains(&written) || names().any(|known| known == written) {
            return;
        }
        let near = nearest(written, names()).or_else(|| {
            // The name of the tool without what the model sees before it.
            names().find(|known| known.strip_prefix(PREFIX) == Some(written))
        });
        let may_be = self.more_scripts || (self.more_kinds && !written.starts_with(PREFIX));
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
        if let Some(toolbox) = agent.bash_toolboxes.first() {
            found = found.label(toolbox.path.span, "its tools come from here");
        }
        out.push(match near {
            Some(near) => found.suggest(written, Some(near), name.span),
            None if self.sure.is_empty() => found.help("the agent has no tools; add a toolbox, or remove the name"),
            None => found.help(format!("its tools are {}", list(&self.sure))),
        });
    }
}

fn list(names: &[String]) -> String {
    let names: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
