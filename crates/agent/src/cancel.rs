//! Stopping work that takes long.

use tokio_util::sync::CancellationToken;

/// A handle with which somebody can stop work, and with which work sees that it should stop.
///
/// Clones share one fate.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// Makes a handle that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the work.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Tells whether the work should stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the work should stop.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }

    /// Makes a handle that is stopped together with this one, but can be stopped alone.
    pub fn child(&self) -> Self {
        Cancel(self.0.child_token())
    }

    /// Waits for `work`, or until it should stop: then the work is dropped and there is no result.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.cancelled() => None,
            done = work => Some(done),
        }
    }
}
