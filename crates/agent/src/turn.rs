//! A turn as a machine: what happened goes in, what is to be done comes out.
//!
//! Pure: no clock, no files, no waiting. [`crate::agent`] does what it says and tells it what came of it.
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

/// How failures are met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often to ask again after a failure that may pass.
    pub most: u32,
    /// How long to wait before the first time; twice as long before each further one.
    pub first_delay: Duration,
    /// The longest wait that a service may ask for; beyond it the failure is told instead.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy { most: 3, first_delay: Duration::from_secs(2), longest_delay: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// Returns how long to wait before the next attempt after `failures` failed ones; none if another attempt is of no
    /// use.
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

/// Whether submissions that wait are sent one by one or all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueMode {
    /// One submission, then an answer, then the next.
    #[default]
    OneAtATime,
    /// All that wait.
    All,
}

/// What happened.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// Somebody wants an answer to these messages.
    Begin(Vec<Message>),
    /// The model answered; `calls` are the tools it wants to be run, in their order.
    Answered {
        /// The answer.
        message: Message,
        /// The calls in it.
        calls: Vec<ToolCall>,
        /// Whether it was cut off at the output limit.
        is_cut: bool,
    },
    /// The model did not answer, or broke off.
    Failed {
        /// What it said until then, as a failed message.
        message: Message,
        /// Why.
        error: ModelError,
    },
    /// All tools are done; the results are in the order of the calls.
    ToolsDone(Vec<Message>),
    /// These messages waited; the model is to be asked, also if there are none.
    Taken(Vec<Message>),
    /// There is nothing that the model is to be asked.
    NothingWaits,
    /// It was waited long enough.
    Waited,
    /// The context was compacted, or could not be, for this reason.
    Compacted(Result<(), String>),
    /// Somebody stopped the turn; these messages tell what there was.
    Aborted(Vec<Message>),
}

/// When what waits is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Tools are done: the model is asked in any case.
    AfterTools,
    /// The model has said all it wanted to say.
    AfterAnswer,
}

/// How much of the latest conversation a compaction keeps as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// As much as the settings say.
    Usual,
    /// As little as possible.
    Least,
}

/// What is to be done.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    /// Append a message to the session.
    Append(Message),
    /// Make sure that everything appended is on the disk.
    Barrier,
    /// Ask the model, with everything that is on the path.
    Ask,
    /// Take what waits for this moment, and see that there is room for it.
    TakeWaiting(Moment),
    /// Compact, because the model says that the context is too long; leave its last answer out of the context.
    CompactAfterOverflow {
        /// How much to keep.
        keep: Keep,
    },
    /// Run tools.
    RunTools(Vec<ToolCall>),
    /// Answer the calls of a cut answer without running them.
    RefuseCutCalls(Vec<ToolCall>),
    /// Wait before asking again.
    Wait {
        /// How long.
        delay: Duration,
        /// Which attempt comes next, from one.
        attempt: u32,
        /// Why.
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
    /// Somebody stopped it.
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

/// The machine.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    state: State,
    retry: RetryPolicy,
    failures: u32,
    /// How often the context was compacted because of an overflow since the last answer that went well.
    compactions: u32,
    /// The message of the service about the last overflow.
    overflow: String,
    /// How many answers with calls in a row were cut off at the output limit.
    cut_answers: u32,
}

/// The number of cut answers in a row that ends a turn: the model does not get shorter.
const MAX_CUT_ANSWERS: u32 = 3;

impl Turn {
    /// Makes a machine that waits for a beginning.
    pub(crate) fn new(retry: RetryPolicy) -> Self {
        Turn { retry, ..Turn::default() }
    }

    /// Takes in what happened; tells what is to be done, in this order.
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
                let said = std::mem::take(&mut self.overflow);
                let message = format!("{said}; it could not be compacted: {reason}");
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

    /// Appends messages and asks. They are on the disk before the request leaves.
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
            // What is about to be done is on the disk before it is done, so that nothing is ever done twice.
            self.state = State::Working;
            let run = if is_cut { Effect::RefuseCutCalls(calls) } else { Effect::RunTools(calls) };
            effects.extend([Effect::Barrier, run]);
            return effects;
        }
        effects.extend(self.take_waiting(Moment::AfterAnswer));
        effects
    }

    /// Takes what waits. What was said before is on the disk by then.
    fn take_waiting(&mut self, moment: Moment) -> [Effect; 2] {
        self.state = State::Taking;
        [Effect::Barrier, Effect::TakeWaiting(moment)]
    }

    fn failed(&mut self, message: Message, error: ModelError) -> Vec<Effect> {
        let mut effects = vec![Effect::Append(message)];
        // The messages that are usually kept may be too long on their own.
        let keep = [Keep::Usual, Keep::Least].get(self.compactions as usize).copied();
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
