//! Driving one tree of sessions until it ends, waits for something outside, or has made one step.

use super::flight::{Flight, Gate, flight_key};
use super::signals::Signals;
use super::{Host, HostError};
use crate::engine::agent::command::Command as Owed;
use crate::engine::{IndexRow, SessionId};
use crate::time::Timestamp;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How far to drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the end, or to a wait for a person, a schedule or an outside result.
    Rest,
    /// Like `Rest`, but schedules and deadlines are waited for; only people and outside results stop it.
    People,
    /// One scheduling step: one question to a model, or the calls of one turn, or one firing of a timer. Calls in the
    /// background go to processes of their own, where the host can start them, and are not waited for.
    Step,
    /// Messages between sessions alone: no effect is begun and no time is waited for.
    Messages,
    /// Until nothing is owed and nothing runs. No time is waited for: whoever drives many sessions has one timer for
    /// all of them.
    Owed,
}

/// Where it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The root's index row.
    pub row: IndexRow,
    /// Whether a signal stopped it.
    pub interrupted: bool,
    /// Effects begun on the way.
    pub effects: u64,
    /// Ids of calls that were handed to processes of their own.
    pub handed: Vec<String>,
    /// Whether calls of it run in other processes.
    pub elsewhere: bool,
}

/// How often a lease is renewed.
const RENEW: Duration = Duration::from_secs(10);
/// How often a drive looks whether others have written to its sessions.
const LOOK: Duration = Duration::from_millis(250);

/// How often it looks while it waits for a time.
const WATCH: Duration = Duration::from_secs(1);

/// A drive under way.
struct Drive {
    root: SessionId,
    /// Whose lease it holds.
    top: SessionId,
    until: Until,
    renewed: Instant,
    flight: Flight,
    signals: Signals,
    /// What ran was killed: the lease stays, so that others see who went without a word.
    killed: bool,
}

/// Why a nap ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woke {
    /// Its time had come.
    Look,
    /// Others have written.
    Changed,
    /// A signal came.
    Signal,
}

impl Host {
    /// Drives the tree of `root` under a lease.
    ///
    /// # Errors
    /// `Held` if another process drives it, `Unknown`, `Store`, `Stored`.
    pub async fn drive(&mut self, root: &SessionId, until: Until) -> Result<Stopped, HostError> {
        self.forget(root);
        let top = self.top(root)?;
        self.take_lease(&top)?;
        let renewed = Instant::now();
        let signals = Signals::new(self.stop.clone());
        let flight = Flight::new();
        let mut drive = Drive { root: root.clone(), top, until, renewed, flight, signals, killed: false };
        let outcome = self.drive_leased(&mut drive).await;
        if drive.killed {
            return outcome;
        }
        let released = self.store.release(&drive.top, &self.holder);
        let stopped = outcome?;
        released?;
        Ok(stopped)
    }

    async fn drive_leased(&mut self, drive: &mut Drive) -> Result<Stopped, HostError> {
        let root = drive.root.clone();
        let mut interrupted = false;
        let mut fired = false;
        self.refresh(&root)?;
        self.recover(&root)?;
        self.tick_tree(&root)?;
        loop {
            let stepped = drive.until == Until::Step && (fired || drive.flight.has_stepped());
            let gate = if interrupted || drive.until == Until::Messages {
                Gate::Closed
            } else if stepped {
                Gate::Calls(drive.flight.called.clone())
            } else {
                Gate::Open
            };
            self.settle_tree(drive, &gate).await?;
            if !drive.flight.is_empty() {
                let signal = self.await_landing(drive).await? == Woke::Signal;
                if signal && interrupted {
                    // The second signal: what runs is killed, and its admissions tell the tale to whoever resumes.
                    drive.flight.abort_all();
                    drive.killed = true;
                    break;
                }
                interrupted |= signal;
                continue;
            }
            let is_done = match drive.until {
                Until::Messages | Until::Owed => true,
                Until::Step => fired || drive.flight.has_stepped(),
                Until::Rest | Until::People => false,
            };
            if interrupted || is_done {
                break;
            }
            let woke = if drive.until != Until::Step && self.others_at_work(&root)? {
                let woke = self.nap(drive, LOOK).await?;
                self.recover(&root)?;
                woke
            } else {
                let Some(at) = self.timer(&root, drive.until == Until::People)? else { break };
                let woke = self.wait_until(drive, at).await?;
                if woke == Woke::Look {
                    if !self.tick_tree(&root)? {
                        // A virtual clock that stands, or a timer that nothing follows from: nothing more to do here.
                        break;
                    }
                    fired = true;
                }
                woke
            };
            interrupted = woke == Woke::Signal;
        }
        let elsewhere = self.others_at_work(&root)?;
        let row = self.live(&root)?.subject.index();
        let handed = std::mem::take(&mut drive.flight.handed);
        Ok(Stopped { row, interrupted, effects: drive.flight.begun, handed, elsewhere })
    }

    /// Does everything that is owed and not under way, until nothing new is.
    async fn settle_tree(&mut self, drive: &mut Drive, gate: &Gate) -> Result<(), HostError> {
        let mut stuck: HashSet<(SessionId, String)> = HashSet::new();
        loop {
            let mut progress = false;
            for session in self.tree(&drive.root)? {
                for owed in self.owed_by_workflow(&session)? {
                    let key = (session.clone(), owed.id());
                    if stuck.insert(key) {
                        self.settle_workflow(&session, owed)?;
                        progress = true;
                    }
                }
                for owed in self.owed_by_agent(&session)? {
                    let under_way = drive.flight.knows(&flight_key(&session, &owed));
                    if under_way || !gate.lets(&session, &owed) {
                        continue;
                    }
                    let key = (session.clone(), owed.id());
                    if stuck.insert(key) {
                        let owed = self.hand_over(&session, owed, drive);
                        if let Some(owed) = owed {
                            self.settle_agent(&session, owed, &mut drive.flight).await?;
                        }
                        progress = true;
                    }
                }
            }
            if !progress {
                return Ok(());
            }
        }
    }

    /// In a single step, calls in the background go to processes of their own; what cannot runs here.
    fn hand_over(&self, session: &SessionId, owed: Owed, drive: &mut Drive) -> Option<Owed> {
        let Owed::RunTool { call, background: true, .. } = &owed else { return Some(owed) };
        let Some(background) = self.background.as_ref().filter(|_| drive.until == Until::Step) else {
            return Some(owed);
        };
        if drive.flight.handed.contains(&call.id) {
            return None;
        }
        match background(session, &call.id) {
            Ok(()) => {
                drive.flight.handed.push(call.id.clone());
                drive.flight.called.insert(session.clone());
                None
            }
            Err(_) => Some(owed),
        }
    }

    /// Waits for the next effect to come back, or for others to write.
    async fn await_landing(&mut self, drive: &mut Drive) -> Result<Woke, HostError> {
        loop {
            let deadline = self.timer(&drive.root, true)?;
            let nap = deadline.map_or(LOOK, |at| {
                let left = at.since(self.clock.now());
                LOOK.min(Duration::from_millis(u64::try_from(left.0).unwrap_or_default().max(1)))
            });
            tokio::select! {
                landed = drive.flight.next() => {
                    if let Some(landed) = landed {
                        self.land(landed).await?;
                    }
                    return Ok(Woke::Look);
                }
                () = tokio::time::sleep(nap) => {
                    self.renew(drive)?;
                    if self.refresh(&drive.root)? | self.tick_tree(&drive.root)? {
                        return Ok(Woke::Look);
                    }
                }
                // Running calls are let to their end; nothing new is begun.
                () = drive.signals.next() => return Ok(Woke::Signal),
            }
        }
    }

    fn renew(&mut self, drive: &mut Drive) -> Result<(), HostError> {
        if drive.renewed.elapsed() >= RENEW {
            self.take_lease(&drive.top)?;
            drive.renewed = Instant::now();
        }
        Ok(())
    }

    async fn nap(&mut self, drive: &mut Drive, nap: Duration) -> Result<Woke, HostError> {
        tokio::select! {
            () = tokio::time::sleep(nap) => {
                self.renew(drive)?;
                self.refresh(&drive.root)?;
                Ok(Woke::Look)
            }
            () = drive.signals.next() => Ok(Woke::Signal),
        }
    }

    /// Sleeps, or moves a virtual clock; ends early when others have written.
    async fn wait_until(&mut self, drive: &mut Drive, at: Timestamp) -> Result<Woke, HostError> {
        if self.clock.advance_to(at) {
            return Ok(Woke::Look);
        }
        loop {
            let left = at.since(self.clock.now());
            if left.0 <= 0 {
                return Ok(Woke::Look);
            }
            let nap = WATCH.min(Duration::from_millis(u64::try_from(left.0).unwrap_or(1)));
            tokio::select! {
                () = tokio::time::sleep(nap) => {
                    self.renew(drive)?;
                    if self.refresh(&drive.root)? {
                        return Ok(Woke::Changed);
                    }
                }
                () = drive.signals.next() => return Ok(Woke::Signal),
            }
        }
    }
}
