//! What is left alone for a while: it could not be moved, and asking at once again would not help. Drives nothing.

use crate::engine::SessionId;
use crate::time::{Millis, Timestamp};
use std::collections::HashMap;

/// The first pause.
const FIRST: i64 = 500;
/// The longest one.
const LONGEST: i64 = 60_000;
/// The longest one of what another process holds.
const LONGEST_HELD: i64 = 2_000;
/// Doublings that are counted.
const DOUBLINGS: u32 = 16;

/// What a job does with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Lets what is due take effect.
    Tick,
    /// Drives the tree.
    Drive,
}

/// Names a job.
pub(super) type Key = (Kind, SessionId);

/// Why it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Another process holds it.
    Held,
    /// Nothing followed.
    Still,
    /// It failed.
    Failed,
}

#[derive(Debug)]
struct Pause {
    until: Timestamp,
    tries: u32,
    why: Why,
}

/// What is left alone, and until when.
#[derive(Debug, Default)]
pub(super) struct Parked {
    pauses: HashMap<Key, Pause>,
}

impl Parked {
    pub(super) fn len(&self) -> usize {
        self.pauses.len()
    }

    pub(super) fn failed(&self) -> usize {
        self.pauses.values().filter(|pause| pause.why == Why::Failed).count()
    }

    /// Whether it is to be left alone now.
    pub(super) fn rests(&self, key: &Key, now: Timestamp) -> bool {
        self.pauses.get(key).is_some_and(|pause| pause.until > now)
    }

    /// Leaves it alone, longer each time. Answers whether this is news.
    pub(super) fn park(&mut self, key: Key, why: Why, now: Timestamp) -> bool {
        let before = self.pauses.get(&key);
        let (tries, news) = before.map_or((0, true), |pause| (pause.tries, pause.why != why));
        let longest = if why == Why::Held { LONGEST_HELD } else { LONGEST };
        let pause = (FIRST << tries.min(DOUBLINGS)).min(longest);
        let tries = tries.saturating_add(1);
        self.pauses.insert(key, Pause { until: now.plus(Millis(pause)), tries, why });
        news
    }

    pub(super) fn free(&mut self, key: &Key) {
        self.pauses.remove(key);
    }

    /// Forgets those whose pause ended long ago: they were moved by others, or are gone. A
    /// clock that was set back ends them too.
    pub(super) fn sweep(&mut self, now: Timestamp) {
        self.pauses.retain(|_, pause| now.since(pause.until).0.abs() <= 2 * LONGEST);
    }
}
