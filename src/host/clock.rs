//! Time and ids for the host: the real ones, and virtual ones for tests and rehearsal.

use crate::time::Timestamp;
use std::sync::Mutex;

/// Where time and fresh ids come from.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
    /// A fresh session id (UUID).
    fn fresh_id(&self) -> String;
    /// For virtual clocks: moves to `to` and says so; a real clock answers false and the host sleeps instead.
    fn advance_to(&self, to: Timestamp) -> bool;
}

/// The machine's clock and UUIDs of version 7.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        Timestamp(chrono::Utc::now().timestamp_millis())
    }

    fn fresh_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }

    fn advance_to(&self, _to: Timestamp) -> bool {
        false
    }
}

/// A clock that moves only when told, and ids that count.
#[derive(Debug)]
pub struct VirtualClock {
    inner: Mutex<(Timestamp, u64)>,
}

impl VirtualClock {
    /// Stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { inner: Mutex::new((now, 0)) }
    }

    fn with<T>(&self, f: impl FnOnce(&mut (Timestamp, u64)) -> T) -> T {
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        f(&mut inner)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.with(|inner| inner.0)
    }

    fn fresh_id(&self) -> String {
        self.with(|inner| {
            inner.1 += 1;
            format!("00000000-0000-8000-a000-{:012}", inner.1)
        })
    }

    fn advance_to(&self, to: Timestamp) -> bool {
        self.with(|inner| inner.0 = inner.0.max(to));
        true
    }
}
