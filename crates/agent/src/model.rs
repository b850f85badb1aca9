//! Models: what the agent asks of them, what they answer, and how that becomes a message.
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
pub use request::{Headers, Request, Tap, TapFuture, ToolSpec};
pub use spec::{ModelSpec, Price, ThinkingLevel};

/// The events of an answer, in order. After an error nothing more comes.
pub type AnswerStream = Pin<Box<dyn Stream<Item = Result<AnswerEvent, ModelError>> + Send>>;

/// A model that answers requests.
pub trait Model: fmt::Debug + Send + Sync {
    /// Returns what is known about the model.
    fn spec(&self) -> &ModelSpec;

    /// Starts an answer. Nothing happens before the stream is polled; dropping it ends the request.
    fn answer(&self, request: Request) -> AnswerStream;
}
