//! Tool results whose line is spelled as pi spells it, read without a look at what the tool printed.
//!
//! Most bytes of a session are output of tools. Whoever passes them on needs to know where the message stands and
//! how it begins and ends; any other spelling is decoded as every entry is.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Short enough to be looked for with wide instructions.
const START: &[u8] = br#","message":{"role":"toolResult","#;
const KEY: &[u8] = br#","message":"#;
/// How far into a line the message is looked for.
pub(crate) const FRONT: usize = 512;
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(START));
pub(crate) static ORIGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("origin"));

/// A tool result that says one text and nothing that would have to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlainResult<'l> {
    /// The call that it answers.
    pub call_id: &'l str,
    /// The name of the tool.
    pub tool: &'l str,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The bytes of the message: an object whose ends were checked. The text in it was not validated.
    pub message: &'l [u8],
}

impl<'l> PlainResult<'l> {
    /// Reads a line; none if it is spelled in any other way.
    pub(crate) fn read(line: &'l [u8]) -> Option<Self> {
        Self::with_ranges(line).map(|(result, _)| result)
    }

    /// Reads a line, and the ranges of its text and of the name of its tool; none if it is spelled in any other way.
    pub(crate) fn with_ranges(line: &'l [u8]) -> Option<(Self, [Range<usize>; 2])> {
        const CONTENT: &[u8] = br#"content":[{"type":"text","text":""#;
        let (call, at) = call(line.get(..FRONT).unwrap_or(line))?;
        let (is_error, end) = is_error(line)?;
        let text = line.get(at..end)?.strip_prefix(CONTENT)?.strip_suffix(br#""}],"#)?;
        let message = &line[call.start + KEY.len()..line.len() - 1];
        let start = at + CONTENT.len();
        // Three bytes stand between the name and the next key: `","`.
        let tool = at - 3 - call.tool.len()..at - 3;
        let result = Self { call_id: call.id, tool: call.tool, is_error, message };
        is_one_string(text).then_some((result, [start..start + text.len(), tool]))
    }
}

/// What stands at the start of the line of a tool result.
pub(crate) struct Call<'l> {
    pub(crate) id: &'l str,
    pub(crate) tool: &'l str,
    start: usize,
}

/// Reads id and tool of the call at the start of a line, and tells where the key behind them begins.
pub(crate) fn call(front: &[u8]) -> Option<(Call<'_>, usize)> {
    const FIRST: &[u8] = br#""toolCallId":""#;
    const NEXT: &[u8] = br#"","toolName":""#;
    let start = FINDER.find(front)?;
    // Who picked the result from elsewhere wrote so there.
    if ORIGIN.find(&front[..start]).is_some() {
        return None;
    }
    let (id, rest) = plain(front[start + START.len()..].strip_prefix(FIRST)?)?;
    let (tool, rest) = plain(rest.strip_prefix(NEXT)?)?;
    let rest = rest.strip_prefix(b"\",\"")?;
    Some((Call { id, tool, start }, front.len() - rest.len()))
}

/// Reads a string without escapes up to its closing quote.
pub(crate) fn plain(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', text)?;
    let string = std::str::from_utf8(&text[..end]).ok().filter(|_| text[end] == b'"')?;
    (!string.contains(char::is_control)).then_some((string, &text[end..]))
}

/// Reads `"isError":…,"timestamp":…}}` at the end of a line, and tells where it begins: two brackets, so it is the
/// message that says so.
pub(crate) fn is_error(line: &[u8]) -> Option<(bool, usize)> {
    let rest = before_time(line)?;
    let ends = |with: &[u8]| rest.ends_with(with).then(|| rest.len() - with.len());
    let failed = ends(b"\"isError\":true").map(|at| (true, at));
    failed.or_else(|| ends(b"\"isError\":false").map(|at| (false, at)))
}

/// Gives what stands before `,"timestamp":…}}` at the end of a line.
pub(crate) fn before_time(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_suffix(b"}}")?;
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    rest[..rest.len() - digits].strip_suffix(b",\"timestamp\":").filter(|_| digits > 0)
}

/// Tells whether a text holds no quote that would end it, nor a line break.
fn is_one_string(text: &[u8]) -> bool {
    let is_escaped = |at: usize| text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let mut stops = memchr::memchr2_iter(b'"', b'\r', text);
    stops.all(|at| text[at] == b'"' && is_escaped(at)) && !is_escaped(text.len())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_text_and_tool_are_those_of_the_line() {
        let (result, [text, tool]) = PlainResult::with_ranges(LINE.as_bytes()).unwrap();
        assert_eq!((&LINE[tool], result.tool), ("bash", "bash"));
        assert_eq!(&LINE[text], r#"he said \"no\" \\"#);
    }

    const LINE: &str = r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"he said \"no\" \\"}],"isError":true,"timestamp":17}}"#;

    /// Other spellings of the ends of a line, by what they replace.
    pub(crate) const ODD_ENDS: [(&str, &str); 7] = [
        ("\"toolCallId\":", "\"toolCallId\": "),
        ("c1", "c\\u0031"),
        ("\"isError\":true,\"timestamp\":17}}", "\"details\":{\"isError\":true,\"timestamp\":17}}}"),
        ("\"isError\":true", "\"isError\":1"),
        ("17}}", "17},\"origin\":{}}"),
        ("\"id\":\"a\"", "\"id\":\"a\",\"origin\":{}"),
        (",\"timestamp\":17", ""),
    ];

    fn message() -> String {
        LINE.split_once("\"message\":").unwrap().1.strip_suffix('}').unwrap().to_owned()
    }

    #[test]
    fn a_line_in_the_spelling_of_pi_tells_its_call_and_passes_its_message() {
        let result = PlainResult::read(LINE.as_bytes()).unwrap();
        let message = message();
        let expected =
            PlainResult { call_id: "c1", tool: "bash", is_error: true, message: message.as_bytes() };
        assert_eq!(result, expected);
        assert!(crate::json::Doc::parse(result.message).is_ok());
        let fine = LINE.replace("\"isError\":true", "\"isError\":false");
        assert!(!PlainResult::read(fine.as_bytes()).unwrap().is_error);
    }

    #[test]
    fn any_other_spelling_is_left_to_the_reader_of_the_whole_line() {
        let odd_texts = [
            (r#"\\"}]"#, r#"\\"},{"type":"image","data":""}]"#),
            (r#"\\"}]"#, r#"\"}]"#),
            (r#"\"no"#, "\"no"),
            ("he said", "he\rsaid"),
            (r#""}],"isError"#, r#""}],"details":{},"isError"#),
            ("\"type\":\"text\",", "\"type\":\"text\",\"more\":1,"),
            (",\"content\"", ",\"usage\":{},\"content\""),
        ];
        for (from, to) in ODD_ENDS.into_iter().chain(odd_texts) {
            let odd = LINE.replace(from, to);
            assert_ne!(odd, LINE);
            assert_eq!(PlainResult::read(odd.as_bytes()), None, "{odd}");
        }
    }
}
