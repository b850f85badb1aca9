//! Models: requests, streamed answers, and the messages made from them.
//!
//! [`Request`] -> [`Model`] -> [`AnswerEvent`]s -> [`Answer`] -> message
//!
//! Implementations live elsewhere (`offshoot-providers`, tests, programs that embed the agent).

mod answer;
mod error;
mod event;
mod request;
mod spec;

use std::fmt;
use std::pin::Pin;

use futures_core::Stream;

pub use answer::Answer;
pub(crate) use answer::MALFORMED_ARGUMENTS;
pub use error::ModelError;
pub use event::{AnswerEvent, BlockEnd, BlockStart, StopReason, Usage};
pub use request::{Headers, ObserverFuture, Request, ToolSpec, WireObserver};
pub use spec::{ModelSpec, Price, ThinkingLevel};

/// The events of an answer, in order. The stream ends after an error.
pub type AnswerStream = Pin<Box<dyn Stream<Item = Result<AnswerEvent, ModelError>> + Send>>;

/// A model that answers requests.
pub trait Model: fmt::Debug + Send + Sync {
    /// Returns the description of the model.
    fn spec(&self) -> &ModelSpec;

    /// Starts an answer. Nothing is sent until the stream is polled. Dropping it cancels the request.
    fn answer(&self, request: Request) -> AnswerStream;
}
