//! The requests to the agent whose replies the chat waits for.

use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::front::Front;

/// The next step of the chat when a reply arrives.
pub(super) type Then = Box<dyn FnOnce(&mut Front<'_>)>;

/// Replies that the chat waits for.
#[derive(Default)]
pub(super) struct Pending {
    replies: FuturesUnordered<Pin<Box<dyn Future<Output = Arrived>>>>,
    busy: usize,
}

type Arrived = (Weight, Then);

/// Whether the chat works on something until a reply arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Busy,
    Idle,
}

impl Pending {
    /// Returns true if the chat works on something until a reply arrives.
    pub(super) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    fn push(&mut self, weight: Weight, work: impl Future<Output = Then> + 'static) {
        self.busy += usize::from(weight == Weight::Busy);
        self.replies.push(Box::pin(async move { (weight, work.await) }));
    }

    /// Waits for the next reply. Never returns without a pending request.
    pub(super) async fn next(&mut self) -> Then {
        match self.replies.next().await {
            Some((weight, then)) => {
                self.busy -= usize::from(weight == Weight::Busy);
                then
            }
            None => std::future::pending().await,
        }
    }
}

impl Front<'_> {
    /// Works on something, and then takes the next step.
    pub(super) fn call<T: 'static>(
        &mut self,
        work: impl Future<Output = T> + 'static,
        then: impl FnOnce(&mut Front<'_>, T) + 'static,
    ) {
        self.pending.push(Weight::Busy, then_call(work, then));
    }

    /// Waits for something without being busy, and then takes the next step.
    pub(super) fn call_idle<T: 'static>(
        &mut self,
        work: impl Future<Output = T> + 'static,
        then: impl FnOnce(&mut Front<'_>, T) + 'static,
    ) {
        self.pending.push(Weight::Idle, then_call(work, then));
    }

    /// Returns true while the agent works, or the chat works on something with it.
    pub(super) fn is_busy(&self) -> bool {
        self.pending.is_busy() || (self.hold.is_none() && !self.agent.is_idle())
    }
}

async fn then_call<T: 'static>(
    work: impl Future<Output = T> + 'static,
    then: impl FnOnce(&mut Front<'_>, T) + 'static,
) -> Then {
    let result = work.await;
    Box::new(move |front| then(front, result))
}
