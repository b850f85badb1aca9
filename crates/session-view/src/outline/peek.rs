//! Reads what a row shows out of a line without decoding all of it.
//!
//! Most bytes of a session are output of tools and long answers, of which a row shows the call or two hundred characters.
//! Lines that are damaged, migrated on reading or copied from another branch are decoded instead.

use std::borrow::Cow;

use session_tree::json::{Cursor, Doc, validate};
use session_tree::{Node, Result, Session};

/// Longer answers are decoded once and kept by the session.
const LONGEST_PEEK: u64 = 64 << 10;

/// The call of a tool result, and its outcome.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToolResult {
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) is_error: bool,
}

/// Reads a tool result.
pub(super) fn tool_result(session: &Session, node: Node) -> Result<Option<ToolResult>> {
    session.peek_raw(node, 0..u64::MAX, read_tool_result)
}

fn read_tool_result(line: &[u8]) -> Option<ToolResult> {
    let [origin, call_id, tool, is_error] = Cursor::new(line).find([
        &["origin"],
        &["message", "toolCallId"],
        &["message", "toolName"],
        &["message", "isError"],
    ]);
    if origin.is_some() {
        return None;
    }
    Some(ToolResult {
        call_id: call_id?.as_str()?.into_owned(),
        tool: tool?.as_str()?.into_owned(),
        is_error: is_error.and_then(Cursor::as_bool).unwrap_or(false),
    })
}

/// Reads the name and the arguments of a call out of the line of its answer.
pub(super) fn call(session: &Session, answer: Node, call_id: &str) -> Result<Option<(String, Option<Doc>)>> {
    if session.line_len(answer) > LONGEST_PEEK {
        return Ok(None);
    }
    session.peek_raw(answer, 0..LONGEST_PEEK, |line| read_call(line, call_id))
}

fn read_call(line: &[u8], call_id: &str) -> Option<(String, Option<Doc>)> {
    let is = |value: Option<Cursor<'_>>, text| value.is_some_and(|value| value.is_str(text));
    let (_, blocks) = own_content(line, ["type", "id", "name", "arguments"])?;
    blocks.into_iter().find_map(|[kind, id, name, arguments]| {
        if !is(kind, "toolCall") || !is(id, call_id) {
            return None;
        }
        let arguments = arguments.map(|arguments| Doc::parse(arguments.raw())).transpose().ok()?;
        Some((name.and_then(Cursor::as_str).unwrap_or_default().into_owned(), arguments))
    })
}

/// Reads the text of a prompt or an answer: all of it, or more than `chars` characters without leading blanks.
pub(super) fn text(session: &Session, node: Node, chars: usize) -> Result<Option<String>> {
    if session.tree().ended_badly(node) || session.line_len(node) > LONGEST_PEEK {
        return Ok(None);
    }
    // Decoding reports a line that is not JSON.
    session.peek_raw(node, 0..LONGEST_PEEK, |line| read_text(line, chars).filter(|_| validate(line).is_ok()))
}

fn read_text(line: &[u8], chars: usize) -> Option<String> {
    let (content, blocks) = own_content(line, ["type", "text"])?;
    let texts = blocks.into_iter().filter_map(|block| block_text(block, chars));
    let mut all = String::new();
    for text in content.beginning(8 * chars).into_iter().chain(texts) {
        all.push_str(&text);
        if all.trim_start().chars().nth(chars).is_some() {
            break;
        }
        if text.len() >= 8 * chars {
            // Only blanks so far, and there is more.
            return None;
        }
    }
    Some(all)
}

/// Reads the beginning of a text block.
fn block_text<'d>([kind, text]: [Option<Cursor<'d>>; 2], chars: usize) -> Option<Cow<'d, str>> {
    text.filter(|_| kind.is_some_and(|kind| kind.is_str("text")))?.beginning(8 * chars)
}

/// A content, and some members of each of its blocks.
type Blocks<'d, const N: usize> = (Cursor<'d>, Vec<[Option<Cursor<'d>>; N]>);

/// Returns the content of the message of a line, and the members `keys` of its blocks; `None` if it was copied from another
/// branch, because rows show its origin then.
fn own_content<'d, const N: usize>(line: &'d [u8], keys: [&str; N]) -> Option<Blocks<'d, N>> {
    let ([origin, content], blocks) =
        Cursor::new(line).find_with_items([&["origin"], &["message", "content"]], keys);
    Some((content.filter(|_| origin.is_none())?, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> String {
        format!(r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{{message}}}}}"#)
    }

    fn of_content(content: &str) -> Option<String> {
        read_text(line(&format!(r#""role":"user","content":{content},"timestamp":1"#)).as_bytes(), 4)
    }

    #[test]
    fn a_result_shows_its_call_and_its_outcome_in_any_spelling() {
        let plain = line(
            r#""role":"toolResult","toolCallId":"c1","toolName":"bash","content":[],"details":{"isError":true},"isError":false,"timestamp":17"#,
        );
        let expected = ToolResult { call_id: "c1".into(), tool: "bash".into(), is_error: false };
        assert_eq!(read_tool_result(plain.as_bytes()).as_ref(), Some(&expected));
        for (from, to) in [
            ("\"toolCallId\":", " \"toolCallId\" : "),
            ("c1", "c\\u0031"),
            (",\"isError\":false", ""),
            ("\"toolName\":\"bash\"", "\"toolName\":\"ls\",\"toolName\":\"bash\""),
        ] {
            let odd = plain.replace(from, to);
            assert_ne!(odd, plain);
            assert_eq!(read_tool_result(odd.as_bytes()).as_ref(), Some(&expected), "{odd}");
        }
        assert!(
            read_tool_result(plain.replace("\"isError\":false", "\"isError\":true").as_bytes())
                .unwrap()
                .is_error
        );
        assert_eq!(read_tool_result(plain.replace("17}}", "17},\"origin\":{}}").as_bytes()), None);
    }

    #[test]
    fn a_call_is_found_in_the_line_of_its_answer() {
        let plain = line(
            r#""role":"assistant","content":[{"type":"text","text":"{\"type\":\"toolCall\",\"id\":\"c2\",\"name\":\"no\""},{"type":"toolCall","id":"c1","name":"ls","arguments":{}},{"type":"toolCall","id":"c2","name":"read","arguments" : {"path":"a}\"b"}}]"#,
        );
        let (tool, arguments) = read_call(plain.as_bytes(), "c2").unwrap();
        assert_eq!((tool.as_str(), arguments.unwrap().text()), ("read", br#"{"path":"a}\"b"}"#.as_slice()));
        assert!(read_call(plain.as_bytes(), "c").is_none());
        assert!(read_call(&plain.as_bytes()[..plain.len() - 10], "c2").is_none());
    }

    #[test]
    fn a_short_text_is_read_whole_and_a_long_one_as_far_as_it_is_shown() {
        let image = r#"{"type":"image","data":""}"#;
        assert_eq!(of_content(r#""hi""#).as_deref(), Some("hi"));
        assert_eq!(of_content(r#""""#).as_deref(), Some(""));
        assert_eq!(
            of_content(&format!(r#"[{{"type":"text","text":"a\"b"}},{image}]"#)).as_deref(),
            Some("a\"b")
        );
        assert_eq!(
            of_content(r#"[{"text":"a","type":"text"},{"type":"text","text":"b"}]"#).as_deref(),
            Some("ab")
        );
        assert_eq!(of_content(&format!("\"{}\"", "x".repeat(50))).as_deref(), Some(&*"x".repeat(32)));
        assert_eq!(of_content(&format!("\"{}hidden\"", " ".repeat(50))), None);
        let thought = r#"{"type":"thinking","thinking":"{\"type\":\"text\",\"text\":\"no\"}"}"#;
        let call =
            r#"{"type":"toolCall","id":"c","name":"x","arguments":{"a":[{"type":"text","text":"no"}]}}"#;
        let text = r#"{"type":"text","text":"yes"}"#;
        assert_eq!(of_content(&format!("[{thought},{call},{text}]")).as_deref(), Some("yes"));
    }
}
