//! The turn machine: a pure state machine that takes inputs and returns effects.
//!
//! No clock, no files, no async. [`crate::agent`] performs the effects and passes their results back as inputs.
//!
//! ```text
//!          Begin           Answered with calls           ToolsDone           Taken
//!   Idle ---------> Asking -------------------> Working ----------> Taking --------> Asking ...
//!                    |  \                          |                  ^ |
//!                    |   \ Failed: Wait, Compact   | Aborted          | | NothingWaits
//!           Answered |    \ and ask again          v                  | v
//!                    |                            Idle                | Idle
//!                    +------------------------------------------------+
//! ```
//!
//! Messages that arrive during a turn wait in the [queue](crate::queue); the machine decides when they are taken.

use std::time::Duration;

use session_tree::Message;

use crate::model::ModelError;
use crate::tool::ToolCall;

/// How to retry failed requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of retries after a transient failure.
    pub most: u32,
    /// The delay before the first retry. It doubles with every further one.
    pub first_delay: Duration,
    /// The longest delay that a service may request. Beyond it the failure is reported.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy { most: 3, first_delay: Duration::from_secs(2), longest_delay: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// Returns the delay before the next attempt after `failures` failed ones. Returns `None` if another attempt is
    /// useless.
    pub(crate) fn delay(&self, failures: u32, error: &ModelError) -> Option<Duration> {
        if !error.is_transient() || failures >= self.most {
            return None;
        }
        let own = self.first_delay * 2_u32.pow(failures.min(16));
        match error.retry_after() {
            Some(asked) => (asked <= self.longest_delay).then(|| asked.max(own)),
            None => Some(own),
        }
    }
}

/// Whether waiting submissions are sent one at a time or all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueMode {
    /// One submission, then an answer, then the next.
    #[default]
    OneAtATime,
    /// All that wait.
    All,
}

/// An input of the turn machine.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// A turn starts with these messages.
    Begin(Vec<Message>),
    /// The model answered; `calls` are its tool calls, in order.
    Answered {
        /// The answer.
        message: Message,
        /// The calls in it.
        calls: Vec<ToolCall>,
        /// True if it was cut off at the output limit.
        is_cut: bool,
    },
    /// The model did not answer, or was interrupted.
    Failed {
        /// The answer so far, as a failed message.
        message: Message,
        /// The error.
        error: ModelError,
    },
    /// All tools have finished; the results are in the order of the calls.
    ToolsDone(Vec<Message>),
    /// These messages were taken from the queue. The next request is sent even if the list is empty.
    Taken(Vec<Message>),
    /// The queue has nothing that needs an answer.
    NothingWaits,
    /// The delay is over.
    Waited,
    /// The context was compacted, or could not be for this reason.
    Compacted(Result<(), String>),
    /// The turn was cancelled; these messages are the results so far.
    Aborted(Vec<Message>),
}

/// The moment at which waiting messages are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Tools have finished; a request follows in any case.
    AfterTools,
    /// The model has answered without tool calls.
    AfterAnswer,
}

/// How much of the latest conversation a compaction keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// As much as the settings define.
    Default,
    /// As little as possible.
    Minimum,
}

/// An effect of the turn machine.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    /// Append a message to the session.
    Append(Message),
    /// Sync all appended entries to disk.
    Barrier,
    /// Send a request with the context of the path.
    Ask,
    /// Take the messages that wait for this moment, and make room for them.
    TakeWaiting(Moment),
    /// Compact because of a context overflow, and exclude the failed answer from the context.
    CompactAfterOverflow {
        /// How much to keep.
        keep: Keep,
    },
    /// Run tools.
    RunTools(Vec<ToolCall>),
    /// Reply to the calls of a cut-off answer without running them.
    RefuseCutCalls(Vec<ToolCall>),
    /// Wait before the next request.
    Wait {
        /// The delay.
        delay: Duration,
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// The error of the last attempt.
        error: ModelError,
    },
    /// The turn is over.
    End(Outcome),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The model has answered everything.
    Done,
    /// The turn was cancelled.
    Aborted,
    /// The model failed for good.
    Failed(ModelError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Idle,
    Asking,
    Waiting,
    Compacting,
    Working,
    Taking,
}

/// The turn machine.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    state: State,
    retry: RetryPolicy,
    failures: u32,
    /// The number of compactions due to an overflow since the last successful answer.
    compactions: u32,
    /// The message of the service about the last overflow.
    overflow: String,
    /// The number of consecutive answers with tool calls that were cut off at the output limit.
    cut_answers: u32,
}

/// The number of consecutive cut-off answers that ends a turn: the model would repeat them.
const MAX_CUT_ANSWERS: u32 = 3;

impl Turn {
    /// Creates an idle machine.
    pub(crate) fn new(retry: RetryPolicy) -> Self {
        Turn { retry, ..Turn::default() }
    }

    /// Handles an input and returns the effects to perform, in order.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        match (self.state, input) {
            (State::Idle, Input::Begin(messages)) => {
                self.failures = 0;
                self.compactions = 0;
                self.cut_answers = 0;
                self.send(messages)
            }
            (State::Asking, Input::Answered { message, calls, is_cut }) => {
                self.answered(message, calls, is_cut)
            }
            (State::Asking, Input::Failed { message, error }) => self.failed(message, error),
            (State::Working, Input::ToolsDone(results)) => {
                let mut effects: Vec<Effect> = results.into_iter().map(Effect::Append).collect();
                if self.cut_answers >= MAX_CUT_ANSWERS {
                    let error = ModelError::OutputLimit { times: self.cut_answers };
                    effects.extend(self.end(Outcome::Failed(error)));
                } else {
                    effects.extend(self.take_waiting(Moment::AfterTools));
                }
                effects
            }
            (State::Taking, Input::Taken(messages)) => self.send(messages),
            (State::Taking, Input::NothingWaits) => self.end(Outcome::Done),
            (State::Waiting, Input::Waited) | (State::Compacting, Input::Compacted(Ok(()))) => self.ask(),
            (State::Compacting, Input::Compacted(Err(reason))) => {
                let overflow = std::mem::take(&mut self.overflow);
                let message = format!("{overflow}; it could not be compacted: {reason}");
                self.end(Outcome::Failed(ModelError::Overflow { message }))
            }
            (State::Idle, Input::Aborted(_)) => Vec::new(),
            (_, Input::Aborted(messages)) => {
                let mut effects: Vec<Effect> = messages.into_iter().map(Effect::Append).collect();
                effects.extend(self.end(Outcome::Aborted));
                effects
            }
            (state, input) => {
                debug_assert!(false, "{input:?} while {state:?}");
                Vec::new()
            }
        }
    }

    /// Appends messages and sends a request. They are synced before the request.
    fn send(&mut self, messages: Vec<Message>) -> Vec<Effect> {
        let mut effects: Vec<Effect> = messages.into_iter().map(Effect::Append).collect();
        if !effects.is_empty() {
            effects.push(Effect::Barrier);
        }
        effects.extend(self.ask());
        effects
    }

    fn ask(&mut self) -> Vec<Effect> {
        self.state = State::Asking;
        vec![Effect::Ask]
    }

    fn answered(&mut self, message: Message, calls: Vec<ToolCall>, is_cut: bool) -> Vec<Effect> {
        self.failures = 0;
        self.compactions = 0;
        self.cut_answers = if is_cut && !calls.is_empty() { self.cut_answers + 1 } else { 0 };
        let mut effects = vec![Effect::Append(message)];
        if !calls.is_empty() {
            // The calls are synced before they run, so that none runs twice after a crash.
            self.state = State::Working;
            let run = if is_cut { Effect::RefuseCutCalls(calls) } else { Effect::RunTools(calls) };
            effects.extend([Effect::Barrier, run]);
            return effects;
        }
        effects.extend(self.take_waiting(Moment::AfterAnswer));
        effects
    }

    /// Syncs the session and takes waiting messages.
    fn take_waiting(&mut self, moment: Moment) -> [Effect; 2] {
        self.state = State::Taking;
        [Effect::Barrier, Effect::TakeWaiting(moment)]
    }

    fn failed(&mut self, message: Message, error: ModelError) -> Vec<Effect> {
        let mut effects = vec![Effect::Append(message)];
        // The messages kept by default may be too long on their own.
        let keep = [Keep::Default, Keep::Minimum].get(self.compactions as usize).copied();
        if let (ModelError::Overflow { message }, Some(keep)) = (&error, keep) {
            self.overflow.clone_from(message);
            self.compactions += 1;
            self.state = State::Compacting;
            effects.extend([Effect::Barrier, Effect::CompactAfterOverflow { keep }]);
            return effects;
        }
        match self.retry.delay(self.failures, &error) {
            Some(delay) => {
                self.failures += 1;
                self.state = State::Waiting;
                effects.push(Effect::Wait { delay, attempt: self.failures, error });
            }
            None => effects.extend(self.end(Outcome::Failed(error))),
        }
        effects
    }

    fn end(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.state = State::Idle;
        vec![Effect::Barrier, Effect::End(outcome)]
    }
}

#[cfg(test)]
mod tests;
