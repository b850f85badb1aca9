//! Signals that ask us to leave.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CommandError;

/// Signals that ask us to leave.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> Result<Self, CommandError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CommandError::system("listen to", "signals".as_ref(), &error))
        };
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// Waits for one.
    pub(super) async fn arrived(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
