//! Tool results that are passed on without decoding the output of the tool.

use crate::json::Cursor;

/// A tool result that consists of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlainResult<'l> {
    /// The id of the call.
    pub call_id: &'l str,
    /// The name of the tool.
    pub tool: &'l str,
    /// True if the tool failed.
    pub is_error: bool,
    /// The JSON text of the message. Its escapes were not validated.
    pub message: &'l [u8],
}

impl<'l> PlainResult<'l> {
    /// Reads the line of an entry. Returns none if the message has any other member than those of a tool result with one
    /// text, or was copied from elsewhere.
    pub(crate) fn read(line: &'l [u8]) -> Option<Self> {
        let [message, origin] = Cursor::new(line).get_each(["message", "origin"]);
        let (message, None) = (message?, origin) else { return None };
        let (mut call_id, mut tool, mut is_error) = (None, None, None);
        for (key, value) in message.members() {
            let known = match key.content()? {
                b"role" => value.is_str("toolResult"),
                b"toolCallId" => call_id.replace(plain(value)?).is_none(),
                b"toolName" => tool.replace(plain(value)?).is_none(),
                b"content" => is_one_text(value),
                b"isError" => is_error.replace(value.as_bool()?).is_none(),
                b"timestamp" => value.as_f64().is_some(),
                _ => false,
            };
            if !known {
                return None;
            }
        }
        Some(Self { call_id: call_id?, tool: tool?, is_error: is_error?, message: message.raw() })
    }
}

/// Returns a string that has neither escapes nor control characters.
fn plain(value: Cursor<'_>) -> Option<&str> {
    let content = value.content().filter(|content| !content.contains(&b'\\'))?;
    std::str::from_utf8(content).ok().filter(|text| !text.contains(char::is_control))
}

/// Returns true for a list of one text block that has no other members.
fn is_one_text(content: Cursor<'_>) -> bool {
    let mut blocks = content.items();
    let (Some(block), None) = (blocks.next(), blocks.next()) else { return false };
    let has_control = |text: &[u8]| text.iter().any(|byte| *byte < b' ');
    let mut members = block.members();
    let (Some((kind_key, kind)), Some((text_key, text)), None) =
        (members.next(), members.next(), members.next())
    else {
        return false;
    };
    kind_key.is_str("type")
        && kind.is_str("text")
        && text_key.is_str("text")
        && text.content().is_some_and(|text| !has_control(text))
}

#[cfg(test)]
mod tests;
