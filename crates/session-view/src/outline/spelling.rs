//! Tool results whose line is spelled as pi spells it: the call and the outcome are read without decoding the output.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Short enough to be searched with wide instructions.
const START: &[u8] = br#","message":{"role":"toolResult","#;
/// How far into a line the message is searched.
pub(super) const FRONT: usize = 512;
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(START));
pub(super) static ORIGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("origin"));

/// The call at the start of the line of a tool result.
pub(super) struct Call<'l> {
    pub(super) id: &'l str,
    pub(super) tool: &'l str,
}

/// Reads id and tool of the call at the start of a line; also returns where the next key begins.
pub(super) fn call(front: &[u8]) -> Option<(Call<'_>, usize)> {
    const FIRST: &[u8] = br#""toolCallId":""#;
    const NEXT: &[u8] = br#"","toolName":""#;
    let start = FINDER.find(front)?;
    // A result that was picked from another branch has an origin before its message.
    if ORIGIN.find(&front[..start]).is_some() {
        return None;
    }
    let (id, rest) = plain(front[start + START.len()..].strip_prefix(FIRST)?)?;
    let (tool, rest) = plain(rest.strip_prefix(NEXT)?)?;
    let rest = rest.strip_prefix(b"\",\"")?;
    Some((Call { id, tool }, front.len() - rest.len()))
}

/// Returns the ranges of the text and of the tool's name in the line of a result that has one text; `None` for any other
/// spelling.
pub(super) fn result_ranges(line: &[u8]) -> Option<[Range<usize>; 2]> {
    const CONTENT: &[u8] = br#"content":[{"type":"text","text":""#;
    let (call, at) = call(line.get(..FRONT).unwrap_or(line))?;
    let (_, end) = is_error(line)?;
    let text = line.get(at..end)?.strip_prefix(CONTENT)?.strip_suffix(br#""}],"#)?;
    let start = at + CONTENT.len();
    // Three bytes stand between the name and the next key: `","`.
    let tool = at - 3 - call.tool.len()..at - 3;
    is_one_string(text).then_some([start..start + text.len(), tool])
}

/// Reads a string without escapes up to its closing quote.
pub(super) fn plain(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', text)?;
    let string = std::str::from_utf8(&text[..end]).ok().filter(|_| text[end] == b'"')?;
    (!string.contains(char::is_control)).then_some((string, &text[end..]))
}

/// Reads `"isError":…,"timestamp":…}}` at the end of a line; also returns where it begins. The two brackets show that these
/// are members of the message.
pub(super) fn is_error(line: &[u8]) -> Option<(bool, usize)> {
    let rest = before_time(line)?;
    let ends = |with: &[u8]| rest.ends_with(with).then(|| rest.len() - with.len());
    let failed = ends(b"\"isError\":true").map(|at| (true, at));
    failed.or_else(|| ends(b"\"isError\":false").map(|at| (false, at)))
}

/// Returns the bytes before `,"timestamp":…}}` at the end of a line.
pub(super) fn before_time(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_suffix(b"}}")?;
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    rest[..rest.len() - digits].strip_suffix(b",\"timestamp\":").filter(|_| digits > 0)
}

/// Returns true if a text contains no quote that would end it, and no carriage return.
fn is_one_string(text: &[u8]) -> bool {
    let is_escaped = |at: usize| text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let mut stops = memchr::memchr2_iter(b'"', b'\r', text);
    stops.all(|at| text[at] == b'"' && is_escaped(at)) && !is_escaped(text.len())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const LINE: &str = r#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"he said \"no\" \\"}],"isError":true,"timestamp":17}}"#;

    /// Other spellings of the ends of a line, each with the text it replaces.
    pub(crate) const ODD_ENDS: [(&str, &str); 7] = [
        ("\"toolCallId\":", "\"toolCallId\": "),
        ("c1", "c\\u0031"),
        ("\"isError\":true,\"timestamp\":17}}", "\"details\":{\"isError\":true,\"timestamp\":17}}}"),
        ("\"isError\":true", "\"isError\":1"),
        ("17}}", "17},\"origin\":{}}"),
        ("\"id\":\"a\"", "\"id\":\"a\",\"origin\":{}"),
        (",\"timestamp\":17", ""),
    ];

    #[test]
    fn the_ranges_of_text_and_tool_are_those_of_the_line() {
        let [text, tool] = result_ranges(LINE.as_bytes()).unwrap();
        assert_eq!((&LINE[text], &LINE[tool]), (r#"he said \"no\" \\"#, "bash"));
    }

    #[test]
    fn any_other_spelling_has_no_ranges() {
        for (from, to) in ODD_ENDS {
            let odd = LINE.replace(from, to);
            assert_ne!(odd, LINE);
            assert_eq!(result_ranges(odd.as_bytes()), None, "{odd}");
        }
    }
}
