//! A token that cancels long work.

use tokio_util::sync::CancellationToken;

/// A token that cancels work, and that work checks.
///
/// Clones are cancelled together.
#[derive(Debug, Clone, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the work.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns true if the work is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the work is cancelled.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }

    /// Creates a token that is cancelled together with this one, and can also be cancelled alone.
    pub fn child(&self) -> Self {
        Cancel(self.0.child_token())
    }

    /// Waits for `work`. On cancellation drops it and returns `None`.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.cancelled() => None,
            done = work => Some(done),
        }
    }
}
