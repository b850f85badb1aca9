//! What a row tells of a tool result, without reading the result or all of the answer that called the tool.
//!
//! Most bytes of a session are output of tools, of which a row shows nothing but the call and whether it failed. In
//! the spelling of pi both stand at the ends of the line, and the call stands in one piece in the line of its answer;
//! any other spelling is read as a whole.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::spelling::{FRONT, call, is_error, plain};
use session_tree::json::Doc;
use session_tree::{Node, Result, Session};

const BACK: u64 = 96;

/// Longer lines are decoded once and kept by the session.
pub(super) const LONGEST_PEEK: u64 = 64 << 10;

const CALL: &[u8] = br#"{"type":"toolCall","id":""#;
const NAME: &[u8] = br#"","name":""#;
pub(super) static CALLS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(CALL));

/// What stands at the ends of the line of a tool result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultEnds {
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) is_error: bool,
}

/// Reads the ends of the line of a tool result; `None` if it is not spelled as pi spells it.
pub(super) fn ends_of(session: &Session, node: Node) -> Result<Option<ResultEnds>> {
    let len = session.line_len(node);
    let owned = |front: &[u8]| call(front).map(|(call, _)| (call.id.to_owned(), call.tool.to_owned()));
    let Some((call_id, tool)) = session.peek_raw(node, 0..FRONT as u64, owned)? else { return Ok(None) };
    let is_error = session.peek_raw(node, len.saturating_sub(BACK)..len, is_error)?;
    Ok(is_error.map(|(is_error, _)| ResultEnds { call_id, tool, is_error }))
}

/// A call as an answer has it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Doc,
}

/// Reads a call out of the line of its answer; `None` if it is not spelled as pi spells it.
pub(super) fn call_in(session: &Session, answer: Node, call_id: &str) -> Result<Option<Call>> {
    if session.line_len(answer) > LONGEST_PEEK {
        return Ok(None);
    }
    session.peek_raw(answer, 0..LONGEST_PEEK, |line| find_call(line, call_id))
}

fn find_call(line: &[u8], call_id: &str) -> Option<Call> {
    // Inside a string the quotes would be escaped: what is found is a part of the structure.
    let behind = |at: usize| line[at + CALL.len()..].strip_prefix(call_id.as_bytes())?.strip_prefix(NAME);
    let (tool, rest) = plain(CALLS.find_iter(line).find_map(behind)?)?;
    let arguments = Doc::parse_first(rest.strip_prefix(br#"","arguments":"#)?).ok()?;
    Some(Call { tool: tool.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::spelling::tests::ODD_ENDS;

    fn of(line: &str) -> Option<ResultEnds> {
        let (call, _) = call(&line.as_bytes()[..line.len().min(FRONT)])?;
        let is_error = is_error(line.as_bytes())?.0;
        Some(ResultEnds { call_id: call.id.to_owned(), tool: call.tool.to_owned(), is_error })
    }

    #[test]
    fn the_ends_of_a_line_in_the_spelling_of_pi_tell_call_and_outcome() {
        let line = r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[],"details":{"isError":true},"isError":false,"timestamp":17}}"#;
        let expected = ResultEnds { call_id: "c1".into(), tool: "bash".into(), is_error: false };
        assert_eq!(of(line), Some(expected));
        assert!(of(&line.replace("\"isError\":false", "\"isError\":true")).unwrap().is_error);
    }

    #[test]
    fn a_call_is_found_in_the_line_of_its_answer() {
        let line = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"{\"type\":\"toolCall\",\"id\":\"c2\",\"name\":\"no\""},{"type":"toolCall","id":"c1","name":"ls","arguments":{}},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"a}\"b"}}]}}"#;
        let call = find_call(line.as_bytes(), "c2").unwrap();
        assert_eq!((call.tool.as_str(), call.arguments.text()), ("read", br#"{"path":"a}\"b"}"#.as_slice()));
        assert!(find_call(line.as_bytes(), "c").is_none());
        assert!(find_call(&line.as_bytes()[..line.len() - 10], "c2").is_none());
        assert!(find_call(line.replace("\"arguments\":", "\"arguments\" :").as_bytes(), "c1").is_none());
    }

    #[test]
    fn any_other_spelling_is_left_to_the_reader_of_the_whole_line() {
        let line = r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[],"isError":true,"timestamp":17}}"#;
        assert!(of(line).is_some());
        for (from, to) in ODD_ENDS {
            let odd = line.replace(from, to);
            assert_ne!(odd, line);
            assert_eq!(of(&odd), None, "{odd}");
        }
    }
}
