//! Messages that this crate spells itself. Used by everything that makes one; touches nothing.

use serde_json::Value as Json;
use session_tree::{Message, Timestamp};

/// Takes a message that this crate has put together. An object with a role is always one.
pub(crate) fn spelled(message: &Json) -> Message {
    let spelled = Message::from_serialize(message);
    debug_assert!(spelled.is_ok(), "an invalid message was put together: {message}");
    spelled.unwrap_or_else(|_| Message::user("").with_time(Timestamp::from_millis(0)))
}
