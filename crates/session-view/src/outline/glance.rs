//! What a row tells of a prompt or an answer, without decoding the line.
//!
//! A row shows two hundred characters. In the spelling of pi they can be found by looking for the first text of the
//! message; any other spelling, and whatever ended badly, is read as a whole.

use std::sync::LazyLock;

use memchr::memchr2;
use memchr::memmem::Finder;

use super::result::{CALLS, LONGEST_PEEK};
use super::spelling::{FRONT, ORIGIN, before_time};
use session_tree::json::{decode_lossy, validate};
use session_tree::{Node, Result, Role, Session};

/// How much of the end of a line is looked at.
const BACK: usize = 256;

const PROMPT: &[u8] = br#","message":{"role":"user","content":"#;
const ANSWER: &[u8] = br#","message":{"role":"assistant","content":"#;
const TEXT: &[u8] = br#"{"type":"text","text":""#;
static PROMPTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PROMPT));
static ANSWERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(ANSWER));
static TEXTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(TEXT));

/// Reads at least so many characters of what a prompt or an answer says behind the blanks it begins with, or all of
/// it; `None` if it has to be read as a whole.
pub(super) fn said_at(session: &Session, node: Node, role: Role, chars: usize) -> Result<Option<String>> {
    if session.tree().ended_badly(node) || session.line_len(node) > LONGEST_PEEK {
        return Ok(None);
    }
    // What cannot be decoded is damaged, however its beginning reads; the reader of the whole line says so.
    session.peek_raw(node, 0..LONGEST_PEEK, |line| said(line, role, chars).filter(|_| validate(line).is_ok()))
}

fn said(line: &[u8], role: Role, chars: usize) -> Option<String> {
    let content = content(line, role)?;
    let (start, is_only) = match content {
        [b'"', ..] if role == Role::User => (1, true),
        _ => (first_text(content, role)?, false),
    };
    let text = &content[start..];
    let (end, is_whole) = end_of(text, chars + chars / 2);
    let said = decode_lossy(&text[..end]);
    let is_enough = said.trim_start().chars().nth(chars).is_some();
    // A short text may go on in another block.
    let is_all = || is_whole && (is_only || TEXTS.find(&text[end..]).is_none());
    (is_enough || is_all()).then_some(said)
}

/// Finds the content of a message that is nothing but a message.
fn content(line: &[u8], role: Role) -> Option<&[u8]> {
    let (message, length) = match role {
        Role::User => (&PROMPTS, PROMPT.len()),
        Role::Assistant => (&ANSWERS, ANSWER.len()),
        _ => return None,
    };
    let at = message.find(&line[..line.len().min(FRONT)])?;
    let back = &line[line.len().saturating_sub(BACK)..];
    // Who picked it from elsewhere wrote so at one of its ends.
    let is_picked = ORIGIN.find(&line[..at]).is_some() || ORIGIN.find(back).is_some();
    before_time(back).filter(|_| !is_picked)?;
    Some(&line[at + length..])
}

/// Finds where the first text of a list of blocks begins.
fn first_text(content: &[u8], role: Role) -> Option<usize> {
    let at = TEXTS.find(content)?;
    // The arguments of a call may hold anything; before the first call there are thoughts at most.
    let is_block = match role {
        Role::User => at == 1,
        _ => CALLS.find(&content[..at]).is_none(),
    };
    (is_block && content.first() == Some(&b'[')).then_some(at + TEXT.len())
}

/// Finds the closing quote of a string, or a place between two characters where enough of it ends; tells which.
fn end_of(text: &[u8], enough: usize) -> (usize, bool) {
    let mut at = 0;
    while at < enough {
        match memchr2(b'"', b'\\', &text[at..]) {
            Some(0) if text[at] == b'\\' => {
                let length = if text.get(at + 1) == Some(&b'u') { 6 } else { 2 };
                at = (at + length).min(text.len());
            }
            Some(0) => return (at, true),
            Some(plain) => at += plain.min(enough),
            None => return (text.len().min(enough), false),
        }
    }
    (at, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> String {
        format!(
            r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{{message},"timestamp":1}}}}"#
        )
    }

    fn user(content: &str) -> Option<String> {
        said(line(&format!(r#""role":"user","content":{content}"#)).as_bytes(), Role::User, 4)
    }

    fn assistant(blocks: &str) -> Option<String> {
        let text = line(&format!(r#""role":"assistant","content":[{blocks}],"stopReason":"stop""#));
        said(text.as_bytes(), Role::Assistant, 4)
    }

    #[test]
    fn a_short_text_is_found_whole_and_a_long_one_as_far_as_it_is_wanted() {
        assert_eq!(user(r#""hi""#).as_deref(), Some("hi"));
        assert_eq!(user(r#""""#).as_deref(), Some(""));
        assert_eq!(
            user(r#"[{"type":"text","text":"a\"b"},{"type":"image","data":""}]"#).as_deref(),
            Some("a\"b")
        );
        assert_eq!(user(r#""abcdefghij""#).as_deref(), Some("abcdef"));
        assert_eq!(user(r#""\n\n\u00e9bcd\"fghij""#), None, "too little behind the blanks");
        assert_eq!(user(r#""\u00e9bcd\"fghij""#).as_deref(), None);
        assert_eq!(user(r#""ab\ncd\"fghij""#).as_deref(), Some("ab\ncd"));
    }

    #[test]
    fn an_answer_is_read_behind_its_thoughts_and_before_its_calls() {
        let thought = r#"{"type":"thinking","thinking":"{\"type\":\"text\",\"text\":\"no\"}"}"#;
        let call =
            r#"{"type":"toolCall","id":"c","name":"x","arguments":{"a":[{"type":"text","text":"no"}]}}"#;
        let text = r#"{"type":"text","text":"yes"}"#;
        assert_eq!(assistant(&format!("{thought},{text}")).as_deref(), Some("yes"));
        assert_eq!(assistant(call), None);
        assert_eq!(assistant(&format!("{call},{text}")), None);
        assert_eq!(assistant(&format!("{text},{text}")), None, "the second belongs to it");
        assert_eq!(assistant(&format!("{text},{call}")), None, "the call might be another text");
    }

    #[test]
    fn what_is_spelled_otherwise_or_comes_from_elsewhere_is_read_as_a_whole() {
        let plain = line(r#""role":"user","content":"hi""#);
        for (from, to) in [
            (r#""content":"#, r#""content": "#),
            (r#","timestamp":1}}"#, r#","timestamp":1},"origin":{"timestamp":1}}"#),
            (r#""id":"a""#, r#""id":"a","origin":{}"#),
            (r#","timestamp":1}}"#, "}}"),
        ] {
            let odd = plain.replace(from, to);
            assert_ne!(odd, plain);
            assert_eq!(said(odd.as_bytes(), Role::User, 4), None, "{odd}");
        }
        assert_eq!(said(plain.as_bytes(), Role::Assistant, 4), None);
    }
}
