//! The requests to the agent whose replies the chat waits for.

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;

use super::App;

/// The next step of the chat when a reply arrives.
pub(super) type NextStep = Box<dyn FnOnce(&mut App<'_>)>;

/// Replies that the chat waits for.
#[derive(Default)]
pub(super) struct Requests {
    replies: FuturesUnordered<LocalBoxFuture<'static, (Weight, NextStep)>>,
    busy: usize,
}

/// Whether the chat works on something until a reply arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Busy,
    Idle,
}

impl Requests {
    /// Returns true if the chat works on something until a reply arrives.
    pub(super) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    fn push<T: 'static>(
        &mut self,
        weight: Weight,
        work: impl Future<Output = T> + 'static,
        then: impl FnOnce(&mut App<'_>, T) + 'static,
    ) {
        self.busy += usize::from(weight == Weight::Busy);
        self.replies.push(Box::pin(async move {
            let result = work.await;
            let next: NextStep = Box::new(move |app| then(app, result));
            (weight, next)
        }));
    }

    /// Waits for the next reply. Never returns without a pending request.
    pub(super) async fn next(&mut self) -> NextStep {
        match self.replies.next().await {
            Some((weight, next)) => {
                self.busy -= usize::from(weight == Weight::Busy);
                next
            }
            None => std::future::pending().await,
        }
    }
}

impl App<'_> {
    /// Works on something, and then takes the next step.
    pub(super) fn call<T: 'static>(
        &mut self,
        work: impl Future<Output = T> + 'static,
        then: impl FnOnce(&mut App<'_>, T) + 'static,
    ) {
        self.requests.push(Weight::Busy, work, then);
    }

    /// Waits for something without being busy, and then takes the next step.
    pub(super) fn call_idle<T: 'static>(
        &mut self,
        work: impl Future<Output = T> + 'static,
        then: impl FnOnce(&mut App<'_>, T) + 'static,
    ) {
        self.requests.push(Weight::Idle, work, then);
    }
}
