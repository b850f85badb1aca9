//! The time that a message carries, read without parsing all of the line.
//!
//! pi writes the message as the last member of its line and the time as the last member of the message. Whether a
//! line has that shape is made certain by skipping over the message, strings at the speed of memory; any other line is
//! parsed.

use crate::json::{Doc, ValueRef, skip_object, skip_string};
use crate::line::trim;
use crate::time::Timestamp;

/// Returns the `timestamp` of the message on a line, if it is a number.
pub(super) fn message_time(line: &[u8]) -> Option<Timestamp> {
    let line = trim(line);
    quick(line).or_else(|| exact(line))
}

fn exact(line: &[u8]) -> Option<Timestamp> {
    let doc = Doc::parse(line).ok()?;
    let millis = doc.root().get("message")?.get("timestamp").and_then(ValueRef::as_f64)?;
    // What is no time by far becomes the nearest one that can be told.
    Some(Timestamp::from_millis(millis as i64))
}

fn quick(line: &[u8]) -> Option<Timestamp> {
    let at = message_at(line)?;
    let end = at + skip_object(&line[at..])?;
    if line.get(end..) != Some(b"}") {
        return None;
    }
    let inside = &line[..end - 1];
    let digits = inside.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, number) = inside.split_at(inside.len() - digits);
    // Longer numbers could lose digits in JavaScript; a leading zero would be no number.
    let plain = (1..=15).contains(&digits) && number[0] != b'0' && before.ends_with(b",\"timestamp\":");
    let millis = number.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    plain.then(|| Timestamp::from_millis(millis))
}

/// Finds the object at `message`, if only strings and nulls stand before it.
fn message_at(line: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        let key = skip_string(line.get(at..)?)?;
        let value = at + key + 1;
        if line.get(value - 1) != Some(&b':') {
            return None;
        }
        let is_message = &line[at..at + key] == b"\"message\"";
        let rest = line.get(value..)?;
        match rest.first()? {
            b'{' if is_message => return Some(value),
            b'"' if !is_message => at = value + skip_string(rest)?,
            b'n' if !is_message && rest.starts_with(b"null") => at = value + 4,
            _ => return None,
        }
        if line.get(at) != Some(&b',') {
            return None;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(line: &str) -> Option<i64> {
        message_time(line.as_bytes()).map(Timestamp::as_millis)
    }

    #[test]
    fn the_time_at_the_end_of_a_message_is_read_without_parsing() {
        let line = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"a \"}}\" b","timestamp":1765241574397}}"#;
        assert_eq!(quick(line.as_bytes()).map(Timestamp::as_millis), Some(1_765_241_574_397));
    }

    #[test]
    fn a_time_of_something_else_is_not_taken_for_that_of_the_message() {
        let after =
            r#"{"type":"message","message":{"role":"user","timestamp":5},"origin":{"a":1,"timestamp":7}}"#;
        assert_eq!(quick(after.as_bytes()), None);
        assert_eq!(millis(after), Some(5));
        let inside =
            r#"{"type":"message","message":{"role":"user","timestamp":5,"usage":{"a":1,"timestamp":7}}}"#;
        assert_eq!(millis(inside), Some(5));
        let before = r#"{"x":{"message":{"timestamp":9}},"type":"message","message":{"role":"user","content":"","timestamp":5}}"#;
        assert_eq!(millis(before), Some(5));
    }

    #[test]
    fn odd_lines_are_parsed_as_a_whole() {
        for (line, expected) in [
            (r#"{ "message" : { "timestamp" : 12 } }"#, Some(12)),
            (r#"{"message":{"a":1,"timestamp":1.5e3}}"#, Some(1500)),
            (r#"{"message":{"a":1,"timestamp":1},"message":{"a":1,"timestamp":2}}"#, Some(2)),
            (r#"{"message":{"a":1,"timestamp":1,"timestamp":2}}"#, Some(2)),
            (r#"{"message":{"a":1,"timestamp":0}}"#, Some(0)),
            (r#"{"message":{"a":1,"timestamp":"1"}}"#, None),
            (r#"{"message":{"a":1}}"#, None),
            (r#"{"message":null}"#, None),
            (r#"{"message":{"a":1,"timestamp":1}"#, None),
            ("", None),
        ] {
            assert_eq!(millis(line), expected, "{line}");
        }
    }
}
