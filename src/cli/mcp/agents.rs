//! The agents that the server offers: those of a folder that compile, as they are now.

use super::super::{definition, walk};
use crate::engine::policy;
use crate::verdict::{Kind, kind};
use std::path::{Path, PathBuf};

/// Agents that are offered at most.
const MOST: usize = 100;

/// An agent that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offered {
    /// Its slug.
    pub slug: String,
    /// Its file.
    pub file: PathBuf,
    /// What it does.
    pub announce: Option<String>,
}

impl Offered {
    /// Name of its tool.
    pub(super) fn tool(&self) -> String {
        policy::agent_tool(&self.slug)
    }
}

/// The agents of a folder or of one file, by path, and why others are not offered.
pub(super) fn find(place: &Path) -> (Vec<Offered>, Vec<String>) {
    let (mut found, mut faults): (Vec<Offered>, Vec<String>) = (Vec::new(), Vec::new());
    for file in walk::files(place) {
        match file {
            Err(why) => faults.push(why),
            Ok(file) => match judged(&file) {
                None => {}
                Some(Err(why)) => faults.push(why),
                Some(Ok(agent)) if found.iter().any(|other| other.slug == agent.slug) => {
                    faults.push(format!(
                        "there is an agent `{}` already; that of {} is left out",
                        agent.slug,
                        file.display()
                    ))
                }
                Some(Ok(_)) if found.len() == MOST => {
                    faults.push(format!("more than {MOST} agents are there; name a smaller folder"));
                    break;
                }
                Some(Ok(agent)) => found.push(agent),
            },
        }
    }
    (found, faults)
}

/// The agent of a file; none if the file holds none.
fn judged(file: &Path) -> Option<Result<Offered, String>> {
    let bytes = match definition::read(file) {
        Ok(bytes) => bytes,
        Err(failure) => return Some(Err(failure.message)),
    };
    if kind(&file.to_string_lossy(), &bytes) != Some(Kind::Agent) {
        return None;
    }
    let wrong = || format!("{} is not offered; `flowright agent check` says why", file.display());
    let Some(agent) = definition::agent_quietly(file) else { return Some(Err(wrong())) };
    Some(Ok(Offered { slug: agent.slug, file: file.to_path_buf(), announce: agent.announce }))
}
