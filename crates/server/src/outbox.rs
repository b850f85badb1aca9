//! The output of one client, bounded in bytes: a sender waits until the client has read enough.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The bytes that may wait for a client, in units of [`UNIT`].
const ROOM: u32 = 8 << 10;

/// The unit in which room is counted.
const UNIT: usize = 1 << 10;

/// An item of the queue.
#[derive(Debug)]
enum Queued {
    Frame(Vec<u8>, OwnedSemaphorePermit),
    /// No frame follows.
    End,
}

/// The sending side; clones share the queue.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    send: mpsc::UnboundedSender<Queued>,
    room: Arc<Semaphore>,
}

/// The receiving side.
#[derive(Debug)]
pub(crate) struct Writer(mpsc::UnboundedReceiver<Queued>);

/// Makes the output of a client.
pub(crate) fn outbox() -> (Outbox, Writer) {
    let (send, receive) = mpsc::unbounded_channel();
    (Outbox { send, room: Arc::new(Semaphore::new(ROOM as usize)) }, Writer(receive))
}

impl Outbox {
    /// Sends a frame, as soon as there is room for it. Returns false if the client is gone.
    pub(crate) async fn send(&self, frame: Vec<u8>) -> bool {
        match self.room.clone().acquire_many_owned(units(&frame)).await {
            Ok(permit) => self.send.send(Queued::Frame(frame, permit)).is_ok(),
            Err(_) => false,
        }
    }

    /// Sends a frame if there is room for it. Returns false if the queue is full or the client is gone.
    pub(crate) fn try_send(&self, frame: Vec<u8>) -> bool {
        match self.room.clone().try_acquire_many_owned(units(&frame)) {
            Ok(permit) => self.send.send(Queued::Frame(frame, permit)).is_ok(),
            Err(_) => false,
        }
    }

    /// Closes the queue: later frames are dropped, senders that wait for room return, and the writer ends after the
    /// frames that are queued.
    pub(crate) fn close(&self) {
        self.room.close();
        // A writer that is gone has ended already.
        drop(self.send.send(Queued::End));
    }
}

/// Returns the room that a frame takes; one that is larger than the queue takes all of it.
fn units(frame: &[u8]) -> u32 {
    u32::try_from(frame.len() / UNIT + 1).unwrap_or(ROOM).min(ROOM)
}

impl Writer {
    /// Writes frames until the queue is closed or all senders are gone.
    pub(crate) async fn write_to(mut self, mut out: impl AsyncWrite + Unpin) -> io::Result<()> {
        while let Some(Queued::Frame(frame, permit)) = self.0.recv().await {
            out.write_all(&frame).await?;
            if self.0.is_empty() {
                out.flush().await?;
            }
            drop(permit);
        }
        out.flush().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_queue_ends_its_writer_while_senders_are_alive() {
        let (outbox, writer) = outbox();
        assert!(outbox.send(b"last\n".to_vec()).await);
        outbox.close();
        assert!(!outbox.send(b"late\n".to_vec()).await);
        let mut written = Vec::new();
        writer.write_to(&mut written).await.unwrap();
        assert_eq!(written, b"last\n");
    }
}
