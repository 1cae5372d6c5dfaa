//! Names of tools that a server takes: 1 to 64 letters, digits, `_` and `-`. Others are renamed for one request and
//! restored in its answer.

use crate::engine::agent::command::{Answer, Said};
use crate::host::perform::ToolSpec;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

const MOST_CHARS: usize = 64;
/// Characters of the digest that keep two names apart.
const MARK_CHARS: usize = 8;

/// The names of one request, in both directions. A name is renamed the same way in every request.
#[derive(Debug, Default)]
pub(super) struct Names {
    sent: HashMap<String, String>,
    meant: HashMap<String, String>,
}

impl Names {
    /// Of the tools offered, and of those that earlier replies called.
    pub(super) fn of(tools: &[ToolSpec], messages: &[Said]) -> Self {
        let mut names = Self::default();
        let offered = tools.iter().map(|tool| tool.name.as_str());
        let called = messages.iter().flat_map(|said| match said {
            Said::Assistant { calls, .. } => calls.as_slice(),
            Said::System(_) | Said::User { .. } | Said::Tool { .. } => &[],
        });
        let all: Vec<&str> = offered.chain(called.map(|call| call.name.as_str())).collect();
        // Legal names first: they keep what they are.
        for name in all.iter().filter(|name| is_legal(name)) {
            names.meant.insert((*name).to_owned(), (*name).to_owned());
        }
        for name in all.iter().filter(|name| !is_legal(name)) {
            names.rename(name);
        }
        names
    }

    fn rename(&mut self, name: &str) {
        if self.sent.contains_key(name) {
            return;
        }
        let mut salt = 0_u32;
        let sent = loop {
            let sent = renamed(name, salt);
            if !self.meant.contains_key(&sent) {
                break sent;
            }
            salt = salt.saturating_add(1);
        };
        self.meant.insert(sent.clone(), name.to_owned());
        self.sent.insert(name.to_owned(), sent);
    }

    /// The name as it is sent.
    pub(super) fn sent<'a>(&'a self, name: &'a str) -> &'a str {
        self.sent.get(name).map_or(name, String::as_str)
    }

    /// Gives the calls of an answer the names that were meant.
    pub(super) fn restore(&self, answer: &mut Answer) {
        for (_, name, _) in &mut answer.calls {
            if let Some(meant) = self.meant.get(name) {
                name.clone_from(meant);
            }
        }
    }
}

fn is_legal(name: &str) -> bool {
    (1..=MOST_CHARS).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn renamed(name: &str, salt: u32) -> String {
    let hash = Sha256::digest(format!("{salt}:{name}").as_bytes());
    let mark: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let mark: String = mark.chars().take(MARK_CHARS).collect();
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(MOST_CHARS - MARK_CHARS - 1).collect();
    format!("{plain}_{mark}")
}
