//! The errors of models.

use std::time::Duration;

/// The reason why a model did not answer, or stopped in the middle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The service cannot be reached.
    #[error("cannot reach {service}: {reason}")]
    Network {
        /// The name of the service.
        service: String,
        /// The message of the operating system.
        reason: String,
    },
    /// The service limits how often it is called.
    #[error("{service} limits the rate of requests: {message}{}", wait_text(*retry_after))]
    RateLimit {
        /// The name of the service.
        service: String,
        /// The message of the service.
        message: String,
        /// The wait that the service requests.
        retry_after: Option<Duration>,
    },
    /// The service is overloaded or broken.
    #[error("{service} failed{}: {message}{}", status_text(*status), wait_text(*retry_after))]
    Service {
        /// The name of the service.
        service: String,
        /// The status of its response; zero if the error came inside a stream.
        status: u16,
        /// The message of the service.
        message: String,
        /// The wait that the service requests.
        retry_after: Option<Duration>,
    },
    /// The key is missing or refused.
    #[error("{service} does not accept the key: {message}")]
    Key {
        /// The name of the service.
        service: String,
        /// The message of the service.
        message: String,
    },
    /// The conversation does not fit into the context window of the model.
    #[error("the conversation is too long for the model: {message}")]
    Overflow {
        /// The message of the service.
        message: String,
    },
    /// The service refused the request for another reason.
    #[error("{service} refused the request{}: {message}", status_text(*status))]
    Refused {
        /// The name of the service.
        service: String,
        /// The status of its response; zero if the refusal came inside a stream.
        status: u16,
        /// The message of the service.
        message: String,
    },
    /// The stream ended before the answer did.
    #[error("the answer was interrupted: {reason}")]
    BrokenStream {
        /// The cause.
        reason: String,
    },
    /// No data arrived for too long.
    #[error("the model sent no data for {} seconds", waited.as_secs())]
    Idle {
        /// The time waited.
        waited: Duration,
    },
    /// Several answers in a row were cut off at the output limit.
    #[error("the answer was cut off at the output limit {times} times in a row")]
    OutputLimit {
        /// The number of answers.
        times: u32,
    },
    /// The response cannot be read.
    #[error("cannot understand the answer: {reason}")]
    Malformed {
        /// The cause.
        reason: String,
        /// True if a part of the answer had arrived before.
        has_begun: bool,
    },
    /// The answer exceeds a size limit, so the request was cancelled.
    #[error("the answer was ended because {what} is larger than {}", size_text(*limit))]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
}

impl ModelError {
    /// Returns true if the same request may succeed later.
    ///
    /// An unreadable response is often caused by a proxy, so the request is repeated, unless a part of the answer was
    /// already shown.
    pub fn is_transient(&self) -> bool {
        match self {
            ModelError::Network { .. }
            | ModelError::RateLimit { .. }
            | ModelError::Service { .. }
            | ModelError::BrokenStream { .. }
            | ModelError::Idle { .. } => true,
            ModelError::Malformed { has_begun, .. } => !has_begun,
            ModelError::Key { .. }
            | ModelError::Overflow { .. }
            | ModelError::Refused { .. }
            | ModelError::OutputLimit { .. }
            | ModelError::TooLarge { .. } => false,
        }
    }

    /// Returns the wait that the service requests.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ModelError::RateLimit { retry_after, .. } | ModelError::Service { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}

/// Formats the status of a response, if there was one.
fn status_text(status: u16) -> String {
    if status == 0 { String::new() } else { format!(" (status {status})") }
}

/// Formats the wait that a service requests, if any.
fn wait_text(wait: Option<Duration>) -> String {
    let Some(wait) = wait else { return String::new() };
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let [hours, minutes, seconds] = [seconds / 3_600, seconds / 60 % 60, seconds % 60];
    let time = match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) if seconds == 0 => format!("{minutes} min"),
        (0, _) => format!("{minutes} min {seconds} s"),
        (_, 0) => format!("{hours} h"),
        (_, _) => format!("{hours} h {minutes} min"),
    };
    format!(" (try again in {time})")
}

/// Formats a number of bytes.
fn size_text(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests;
