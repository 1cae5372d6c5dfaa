//! Whose a session is: the clocks of two processes do not agree to the millisecond, and one may be set back.

use super::{Outside, agent, everywhere, replies, script};
use flowright::engine::SessionId;
use flowright::host::clock::Clock;
use flowright::host::run::{Host, HostError, Until};
use flowright::store::Lease;
use flowright::time::{Millis, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says `first` once and `then` from then on: what a process reads before and after it has waited for the database.
struct Waited {
    first: Timestamp,
    then: Timestamp,
    read: AtomicBool,
}

impl Clock for Waited {
    fn now(&self) -> Timestamp {
        if self.read.swap(true, Ordering::Relaxed) { self.then } else { self.first }
    }

    fn fresh_id(&self) -> String {
        "00000000-0000-4000-8000-00000000000b".to_owned()
    }

    fn advance_to(&self, _to: Timestamp) -> bool {
        false
    }
}

const LEASE: Millis = Millis(30_000);

/// What a process gets that reads its clock at `first`, while another one, reading `taken`, takes the lease before it.
fn second_comer(first: i64, taken: i64, then: i64) -> Vec<bool> {
    let mut held = Vec::new();
    let frozen = agent("root", &[]);
    let said = || script(&[replies("root", &[])]);
    let outcomes = std::cell::RefCell::new(&mut held);
    everywhere(&frozen, said, |desk| {
        let base = Timestamp::parse(super::START).unwrap();
        let at = |ms: i64| base.plus(Millis(ms));
        let until = at(taken).plus(LEASE);
        let lease = Lease { session: desk.session.clone(), holder: "test/-/7".to_owned(), until };
        assert_eq!(desk.store.lease(&lease, at(taken), &|_| false), Ok(None));
        let clock = Waited { first: at(first), then: at(then), read: AtomicBool::new(false) };
        let store = Arc::clone(&desk.store);
        let perform = Arc::new(Outside(Arc::clone(&desk.script)));
        let mut other = Host::new(store, perform, Arc::new(clock), "test/-/8".to_owned());
        let session: SessionId = desk.session.clone();
        let outcome = desk.runtime.block_on(other.drive(&session, Until::Rest));
        outcomes.borrow_mut().push(matches!(outcome, Err(HostError::Held { .. })));
    });
    held
}

/// B70: a process that waited for the database must not take what another one took meanwhile for a clock set back.
#[test]
fn b70_a_lease_that_was_taken_while_one_waited_stands() {
    assert_eq!(second_comer(0, 200, 210), [true, true]);
    assert_eq!(second_comer(0, 20_000, 20_001), [true, true]);
    assert_eq!(second_comer(0, 3, 2), [true, true], "clocks may differ a little");
}

/// A lease from a future that a corrected clock will not reach for long binds nobody.
#[test]
fn a_lease_from_before_the_clock_was_set_back_does_not_bind() {
    assert_eq!(second_comer(0, 3_600_000, 1), [false, false]);
}
