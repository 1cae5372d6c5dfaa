//! Ids of calls as they are sent. Our own are unique in a session, whatever a server called its calls (B42, B43); some
//! servers want another form, which counts the calls, so that every request writes them alike.

use super::flavor::Flavor;
use std::collections::HashMap;

/// The longest id that every server takes.
const MOST_CHARS: usize = 40;

/// The ids of one request, by our own.
#[derive(Debug, Default)]
pub(super) struct Ids<'a>(HashMap<&'a str, String>);

impl<'a> Ids<'a> {
    /// The id of the next call of the conversation, a call of this tool.
    pub(super) fn give(&mut self, flavor: Flavor, ours: &'a str, name: &str) -> String {
        let number = self.0.len();
        let id = match flavor {
            Flavor::Mistral => format!("c{number:08}"),
            Flavor::Kimi => format!("functions.{name}:{number}"),
            Flavor::OpenAi | Flavor::Claude if is_legal(ours) => ours.to_owned(),
            Flavor::OpenAi | Flavor::Claude => format!("flowright_call_{number}"),
        };
        self.0.entry(ours).or_insert(id).clone()
    }

    /// The id that a call was given.
    pub(super) fn of(&self, ours: &str) -> String {
        self.0.get(ours).cloned().unwrap_or_else(|| ours.to_owned())
    }
}

fn is_legal(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=MOST_CHARS).contains(&id.len()) && id.chars().all(plain)
}
