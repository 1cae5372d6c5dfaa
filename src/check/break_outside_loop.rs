//! `break-outside-loop`: `break` and `next` mean the loop around them; here there is none.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// `break` or `next` stands outside of any loop.
pub static RULE: Rule = Rule {
    name: "break-outside-loop",
    severity: Severity::Error,
    summary: "`break` or `next` stands outside of any loop",
    page: include_str!("../../docs/diagnostics/break-outside-loop.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (span, word) in &cx.resolved.flow.misplaced {
        let help = match *word {
            "break" => "write `continue` for the next step, or put the step into a loop",
            _ => "write `continue` for the next step, or put the step into the loop whose next iteration is meant",
        };
        let message = format!("`{word}` stands outside of any loop");
        out.push(Diagnostic::new(&RULE, *span, message).note("no loop is around this").help(help));
    }
}
