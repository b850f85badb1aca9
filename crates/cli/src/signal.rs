//! Signals that ask us to leave.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CommandError;

/// How long it takes at most until a signal that arrived is noticed.
const NOTICED: Duration = Duration::from_millis(20);

/// Signals that ask us to leave.
pub(crate) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CommandError::system("listen to", "signals".as_ref(), &error))
        };
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// Forgets that somebody pressed Ctrl-C: it was meant for the program that had the terminal.
    pub(crate) async fn forget_interrupts(&mut self) {
        // What arrived meanwhile is noticed only when somebody waits.
        tokio::time::sleep(NOTICED).await;
        while self.interrupt.recv().now_or_never().is_some() {}
    }

    /// Waits for one.
    pub(crate) async fn arrived(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
