//! Signals that end the program.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The longest time until a signal that arrived is noticed.
const NOTICED: Duration = Duration::from_millis(20);

/// The signals that end the program.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts to listen.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Ignores Ctrl-C that was pressed while another program had the terminal.
    pub async fn forget_interrupts(&mut self) {
        // A signal is noticed only while something waits for it.
        tokio::time::sleep(NOTICED).await;
        while self.interrupt.recv().now_or_never().is_some() {}
    }

    /// Waits for a signal.
    pub async fn arrived(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
