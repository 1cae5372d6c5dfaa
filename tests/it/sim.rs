//! Seeded simulation of agent sessions and of workflow sessions: hosts that die at any write, a disk that fails and lies about commits, two hosts
//! at once, people who repeat themselves, calls that never come back. Whatever happens, the checkers of `check.rs` hold,
//! and once the faults stop the session comes to rest.
//!
//! `FLOWRIGHT_LIVES` is how many seeds (default 300), `FLOWRIGHT_LIFE` the first one (default 1): a failure names its own.

mod check;
mod disk;
mod flow;
mod flow_check;
mod life;
mod outside;

use std::panic::{AssertUnwindSafe, catch_unwind};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn every_seed_keeps_every_invariant() {
    every_seed(300, life::live);
}

#[test]
fn every_seed_of_a_workflow_keeps_every_invariant() {
    every_seed(400, flow::live);
}

fn every_seed(usual: u64, live: fn(u64) -> life::Tally) {
    let first = number("FLOWRIGHT_LIFE", 1);
    let seeds = number("FLOWRIGHT_LIVES", usual);
    let mut told = life::Tally::default();
    for seed in first..first + seeds {
        match catch_unwind(AssertUnwindSafe(|| live(seed))) {
            Ok(tally) => told.add(&tally),
            Err(why) => {
                eprintln!("seed {seed}: run again with FLOWRIGHT_LIFE={seed} FLOWRIGHT_LIVES=1");
                std::panic::resume_unwind(why);
            }
        }
    }
    println!("{seeds} seeds from {first}: {told:?}");
    // A simulation in which nothing happens proves nothing.
    if seeds >= 100 {
        for (what, count) in told.each() {
            assert!(count > 0, "no seed of {seeds} came to: {what}");
        }
    }
}
