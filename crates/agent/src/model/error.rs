//! Why a model did not answer.

use std::time::Duration;

/// Why a model did not answer, or stopped in the middle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The service cannot be reached.
    #[error("cannot reach {service}: {reason}")]
    Network {
        /// The service.
        service: String,
        /// What the system said.
        reason: String,
    },
    /// The service wants to be asked less often.
    #[error("{service} is asked too often: {message}")]
    RateLimit {
        /// The service.
        service: String,
        /// What it said.
        message: String,
        /// When to ask again.
        retry_after: Option<Duration>,
    },
    /// The service has too much to do, or something broke there.
    #[error("{service} has trouble (status {status}): {message}")]
    Service {
        /// The service.
        service: String,
        /// The status of its response; zero if it came inside a stream.
        status: u16,
        /// What it said.
        message: String,
        /// When to ask again.
        retry_after: Option<Duration>,
    },
    /// The key is missing or refused.
    #[error("{service} does not accept the key: {message}")]
    Key {
        /// The service.
        service: String,
        /// What it said.
        message: String,
    },
    /// The conversation does not fit into the model.
    #[error("the conversation is too long for the model: {message}")]
    Overflow {
        /// What the service said.
        message: String,
    },
    /// The service refused the request for another reason.
    #[error("{service} refused the request (status {status}): {message}")]
    Refused {
        /// The service.
        service: String,
        /// The status of its response.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The stream ended before the answer did.
    #[error("the answer broke off: {reason}")]
    BrokenStream {
        /// What happened.
        reason: String,
    },
    /// Nothing came for too long.
    #[error("nothing came from the model for {} seconds", waited.as_secs())]
    Idle {
        /// How long it was waited.
        waited: Duration,
    },
    /// What came makes no sense.
    #[error("cannot understand the answer: {reason}")]
    Malformed {
        /// What is wrong with it.
        reason: String,
    },
}

impl ModelError {
    /// Tells whether asking again may help.
    pub fn is_transient(&self) -> bool {
        match self {
            ModelError::Network { .. }
            | ModelError::RateLimit { .. }
            | ModelError::Service { .. }
            | ModelError::BrokenStream { .. }
            | ModelError::Idle { .. } => true,
            ModelError::Key { .. }
            | ModelError::Overflow { .. }
            | ModelError::Refused { .. }
            | ModelError::Malformed { .. } => false,
        }
    }

    /// Returns when the service wants to be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ModelError::RateLimit { retry_after, .. } | ModelError::Service { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}
