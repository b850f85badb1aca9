//! A turn as a machine: what happened goes in, what is to be done comes out.
//!
//! Pure: no clock, no files, no waiting. [`crate::agent`] does what it says and tells it what came of it.
//!
//! ```text
//!            Begin            Answered with calls          ToolsDone
//!   Idle ------------> Asking -------------------> Working ---------> Asking ...
//!                        |  \                         |
//!                        |   \ Failed: Wait, Compact  | Aborted
//!            Answered    |    \ and ask again         |
//!                        v                            v
//!                       Idle <-------------------------
//! ```

use std::collections::VecDeque;
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

/// Whether messages that wait are sent one by one or all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueMode {
    /// One message, then an answer, then the next.
    #[default]
    OneAtATime,
    /// All that wait.
    All,
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// Somebody wants an answer to these messages.
    Begin(Vec<Message>),
    /// The model answered; `calls` are the tools it wants to be run, in their order.
    Answered {
        /// The answer.
        message: Message,
        /// The calls in it.
        calls: Vec<ToolCall>,
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
    /// It was waited long enough.
    Waited,
    /// The context was compacted, or could not be.
    Compacted(bool),
    /// Somebody stopped the turn; these messages tell what there was.
    Aborted(Vec<Message>),
}

/// What is to be done.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Append a message to the session.
    Append(Message),
    /// Make sure that everything appended is on the disk.
    Barrier,
    /// Ask the model, with everything that is on the path.
    Ask,
    /// Look whether the context has become too long, compact it if so, and go on.
    WatchContext,
    /// Compact, because the model says that the context is too long; leave its last answer out of the context.
    CompactAfterOverflow,
    /// Run tools.
    RunTools(Vec<ToolCall>),
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
}

/// The machine.
#[derive(Debug, Default)]
pub struct Turn {
    state: State,
    retry: RetryPolicy,
    failures: u32,
    /// Whether the context was compacted because of an overflow since the last answer that went well.
    has_compacted: bool,
    steering: VecDeque<Message>,
    follow_ups: VecDeque<Message>,
    steering_mode: QueueMode,
    follow_up_mode: QueueMode,
}

impl Turn {
    /// Makes a machine that waits for a beginning.
    pub fn new(retry: RetryPolicy, steering_mode: QueueMode, follow_up_mode: QueueMode) -> Self {
        Turn { retry, steering_mode, follow_up_mode, ..Turn::default() }
    }

    /// Tells whether a turn is going on.
    pub fn is_running(&self) -> bool {
        self.state != State::Idle
    }

    /// Lets a message wait for the end of the running tools.
    pub fn steer(&mut self, message: Message) {
        self.steering.push_back(message);
    }

    /// Lets a message wait for the end of the turn.
    pub fn follow_up(&mut self, message: Message) {
        self.follow_ups.push_back(message);
    }

    /// Returns how many messages wait: steering ones, follow-ups.
    pub fn waiting(&self) -> (usize, usize) {
        (self.steering.len(), self.follow_ups.len())
    }

    /// Takes back all messages that wait, steering ones first.
    pub fn take_waiting(&mut self) -> Vec<Message> {
        self.steering.drain(..).chain(self.follow_ups.drain(..)).collect()
    }

    /// Takes in what happened; tells what is to be done, in this order.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        match (self.state, input) {
            (State::Idle, Input::Begin(messages)) => {
                self.failures = 0;
                self.has_compacted = false;
                self.send(messages)
            }
            (State::Asking, Input::Answered { message, calls }) => self.answered(message, calls),
            (State::Asking, Input::Failed { message, error }) => self.failed(message, error),
            (State::Working, Input::ToolsDone(results)) => {
                let steering = take(&mut self.steering, self.steering_mode);
                let mut effects: Vec<Effect> = results.into_iter().map(Effect::Append).collect();
                effects.push(Effect::Barrier);
                effects.push(Effect::WatchContext);
                effects.extend(self.send(steering));
                effects
            }
            (State::Waiting, Input::Waited) | (State::Compacting, Input::Compacted(true)) => self.ask(),
            (State::Compacting, Input::Compacted(false)) => {
                let message = "it could not be compacted".to_owned();
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

    fn answered(&mut self, message: Message, calls: Vec<ToolCall>) -> Vec<Effect> {
        self.failures = 0;
        self.has_compacted = false;
        let mut effects = vec![Effect::Append(message)];
        if !calls.is_empty() {
            // What is about to be done is on the disk before it is done, so that nothing is ever done twice.
            self.state = State::Working;
            effects.extend([Effect::Barrier, Effect::RunTools(calls)]);
            return effects;
        }
        let mut waiting = take(&mut self.steering, self.steering_mode);
        if waiting.is_empty() {
            waiting = take(&mut self.follow_ups, self.follow_up_mode);
        }
        if waiting.is_empty() {
            effects.extend(self.end(Outcome::Done));
        } else {
            effects.push(Effect::WatchContext);
            effects.extend(self.send(waiting));
        }
        effects
    }

    fn failed(&mut self, message: Message, error: ModelError) -> Vec<Effect> {
        let mut effects = vec![Effect::Append(message)];
        if matches!(error, ModelError::Overflow { .. }) && !self.has_compacted {
            self.has_compacted = true;
            self.state = State::Compacting;
            effects.extend([Effect::Barrier, Effect::CompactAfterOverflow]);
            return effects;
        }
        match self.delay(&error) {
            Some(delay) => {
                self.failures += 1;
                self.state = State::Waiting;
                effects.push(Effect::Wait { delay, attempt: self.failures, error });
            }
            None => effects.extend(self.end(Outcome::Failed(error))),
        }
        effects
    }

    /// Returns how long to wait before asking again; none if asking again is of no use.
    fn delay(&self, error: &ModelError) -> Option<Duration> {
        if !error.is_transient() || self.failures >= self.retry.most {
            return None;
        }
        let own = self.retry.first_delay * 2_u32.pow(self.failures.min(16));
        match error.retry_after() {
            Some(asked) => (asked <= self.retry.longest_delay).then(|| asked.max(own)),
            None => Some(own),
        }
    }

    fn end(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.state = State::Idle;
        vec![Effect::Barrier, Effect::End(outcome)]
    }
}

/// Takes what is sent together from a queue.
fn take(queue: &mut VecDeque<Message>, mode: QueueMode) -> Vec<Message> {
    match mode {
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
        QueueMode::All => queue.drain(..).collect(),
    }
}

#[cfg(test)]
mod tests;
