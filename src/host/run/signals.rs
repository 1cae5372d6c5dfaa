//! What asks a drive to stop: Ctrl-C, or a count of signals that somebody else keeps.

use tokio::sync::watch;

/// Signals that a drive has not seen yet.
pub(super) struct Signals {
    from: Option<watch::Receiver<u32>>,
    seen: u32,
}

impl Signals {
    pub(super) fn new(from: Option<watch::Receiver<u32>>) -> Self {
        Self { from, seen: 0 }
    }

    /// The next signal. Safe to be dropped: one that has not been seen comes again.
    pub(super) async fn next(&mut self) {
        let Some(from) = &mut self.from else {
            // Where signals cannot be listened for there are none.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            return;
        };
        let seen = self.seen;
        if from.wait_for(|count| *count > seen).await.is_err() {
            // Nobody is left who could send one.
            std::future::pending::<()>().await;
        }
        self.seen += 1;
    }
}
