//! What the tool-call policy says of a call. Reads a frozen policy; never runs, stores or decides anything else.

use crate::ir;

/// What happens to calls of `tool`: the base disposition without its decorators, and these, outermost first.
/// The first rule with exactly this name wins, else the default.
#[must_use]
pub fn judge(policy: &ir::Policy, tool: &str) -> (ir::Disposition, Vec<ir::Decorator>) {
    let rule = policy.rules.iter().find(|rule| rule.tool == tool);
    let mut base = rule.map_or(&policy.default, |rule| &rule.disposition);
    let mut around = Vec::new();
    while let ir::Disposition::Decorate { decorators, inner } = base {
        around.extend(decorators.iter().cloned());
        base = inner;
    }
    (base.clone(), around)
}
