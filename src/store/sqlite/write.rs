//! The one writer of a process: a thread that owns the write connection and lets requests that wait at once share a
//! commit. Nobody is answered before the COMMIT that carries the request has returned.

use super::apply::{Answer, Request, apply, is_last};
use super::shape::{BUSY_ATTEMPTS, BUSY_PAUSE, Synchronous, io, is_busy, open_writer, sql};
use crate::store::StoreError;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Requests at most in one commit.
const BATCH: usize = 256;

type Outcome = Result<Answer, StoreError>;

/// The handle to the thread; dropping it lets the thread finish what was sent, and waits for it.
#[derive(Debug)]
pub(super) struct Writer {
    sender: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    commits: Arc<AtomicU64>,
    /// Callers whose request is with the thread.
    waiting: AtomicU64,
}

#[derive(Debug)]
struct Job {
    request: Request,
    reply: Sender<Outcome>,
}

struct Worker {
    path: PathBuf,
    synchronous: Synchronous,
    /// Absent after a failure, until the next request opens it again.
    conn: Option<Connection>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    pub(super) fn start(path: &Path, synchronous: Synchronous) -> Result<Self, StoreError> {
        let conn = Some(open_writer(path, synchronous)?);
        let commits = Arc::new(AtomicU64::new(0));
        let mut worker = Worker { path: path.to_owned(), synchronous, conn, commits: Arc::clone(&commits) };
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("flowright-store".to_owned())
            .spawn(move || worker.work(&receiver))
            .map_err(|error| io(format!("cannot start the thread that writes: {error}")))?;
        Ok(Self { sender: Some(sender), thread: Some(thread), commits, waiting: AtomicU64::new(0) })
    }

    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Hands a request over and waits until it is durable or refused.
    pub(super) fn ask(&self, request: Request) -> Outcome {
        let gone = || io("the thread that writes to the database has ended".to_owned());
        let (reply, answer) = channel();
        let sender = self.sender.as_ref().ok_or_else(gone)?;
        sender.send(Job { request, reply }).map_err(|_| gone())?;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let outcome = answer.recv().map_err(|_| gone());
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        outcome?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told its callers already: their channels are closed.
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn work(&mut self, receiver: &Receiver<Job>) {
        while let Ok(first) = receiver.recv() {
            let mut jobs = vec![first];
            let outcomes = self.batch(&mut jobs, receiver);
            for (job, outcome) in jobs.into_iter().zip(outcomes) {
                // The caller waits for it; if its thread is gone, nobody needs the answer.
                let _ = job.reply.send(outcome);
            }
        }
    }

    /// One outcome a job. Jobs that arrive while another process holds the lock still come aboard.
    fn batch(&mut self, jobs: &mut Vec<Job>, receiver: &Receiver<Job>) -> Vec<Outcome> {
        let conn = match self.begin() {
            Ok(conn) => conn,
            Err(error) => return refuse(jobs, &error),
        };
        jobs.extend(receiver.try_iter().take(BATCH - 1));
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs.iter() {
            match alone(&conn, &job.request) {
                Ok(outcome) => outcomes.push(outcome),
                // The transaction is lost, and with it what earlier jobs wrote. The connection is closed here.
                Err(error) => return refuse(jobs, &error),
            }
        }
        if outcomes.iter().all(Result::is_err) {
            return match conn.execute_batch("ROLLBACK") {
                Ok(()) => {
                    self.conn = Some(conn);
                    outcomes
                }
                Err(error) => refuse(jobs, &sql(&error)),
            };
        }
        match conn.execute_batch("COMMIT") {
            Ok(()) => {
                self.conn = Some(conn);
                self.commits.fetch_add(1, Ordering::Relaxed);
                outcomes
            }
            Err(error) => {
                drop(conn);
                self.after_unclear_commit(jobs, outcomes, &sql(&error))
            }
        }
    }

    /// The connection with the write lock held.
    fn begin(&mut self) -> Result<Connection, StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => open_writer(&self.path, self.synchronous)?,
        };
        let mut attempt = 1;
        loop {
            match conn.execute_batch("BEGIN IMMEDIATE") {
                Ok(()) => return Ok(conn),
                Err(error) if is_busy(&error) && attempt < BUSY_ATTEMPTS => {
                    attempt += 1;
                    std::thread::sleep(BUSY_PAUSE);
                }
                Err(error) => return Err(sql(&error)),
            }
        }
    }

    /// A commit carries all of its jobs or none, so one append that is found speaks for all of them. If none is
    /// found nobody is acknowledged; every request may be made again.
    fn after_unclear_commit(
        &mut self,
        jobs: &[Job],
        outcomes: Vec<Outcome>,
        error: &StoreError,
    ) -> Vec<Outcome> {
        let Ok(conn) = open_writer(&self.path, self.synchronous) else { return refuse(jobs, error) };
        let found = jobs.iter().zip(&outcomes).any(|(job, outcome)| match &job.request {
            Request::Create(append) | Request::Append(append) => {
                matches!(outcome, Ok(answer) if answer.wrote()) && is_last(&conn, append).unwrap_or(false)
            }
            Request::Delete(_) | Request::Lease { .. } | Request::Release { .. } | Request::Blob { .. } => {
                false
            }
        });
        self.conn = Some(conn);
        if found { outcomes } else { refuse(jobs, error) }
    }
}

fn refuse(jobs: &[Job], error: &StoreError) -> Vec<Outcome> {
    jobs.iter().map(|_| Err(error.clone())).collect()
}

/// One job in its own savepoint: refused, it takes back only its own. The outer error means that the transaction of
/// all is lost.
fn alone(conn: &Connection, request: &Request) -> Result<Outcome, StoreError> {
    let say = |text: &str| {
        conn.prepare_cached(text).and_then(|mut statement| statement.execute([])).map_err(|error| sql(&error))
    };
    say("SAVEPOINT job")?;
    let outcome = apply(conn, request);
    if let Err(error) = &outcome {
        if conn.is_autocommit() {
            return Err(error.clone());
        }
        say("ROLLBACK TO job")?;
    }
    say("RELEASE job")?;
    Ok(outcome)
}
