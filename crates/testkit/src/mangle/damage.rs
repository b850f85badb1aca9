//! Damage to a sound file: odd values, and bytes that are lost, doubled or changed.
//!
//! objects -> **damage** -> objects, or lines -> **damage** -> bytes
//!
//! Uses `draw`. Never repairs anything and never looks at what the damage means to a reader.

use serde_json::{Value, json};

use super::draw::Draw;
use super::entries::Object;

/// Visits some of the entries, never the header; at least one if there is any.
fn some_entries(objects: &mut [Object], draw: &mut Draw, mut change: impl FnMut(&mut Object, &mut Draw)) {
    let count = objects.len();
    for _ in 0..draw.between(1, 1 + count / 4) {
        if count > 1 {
            let at = draw.between(1, count - 1);
            change(&mut objects[at], draw);
        }
    }
}

fn ids(objects: &[Object]) -> Vec<Value> {
    objects.iter().skip(1).filter_map(|object| object.get("id").cloned()).collect()
}

/// Gives entries parents that are unknown, empty, absent or later in the file.
///
/// Loops have a class of their own. So that none arises here, only the last entry becomes a later parent,
/// and it becomes a root first.
pub(super) fn odd_parents(mut objects: Vec<Object>, draw: &mut Draw) -> Vec<Object> {
    some_entries(&mut objects, draw, |entry, draw| {
        match draw.below(4) {
            0 => entry.insert("parentId".into(), json!("gone")),
            1 => entry.insert("parentId".into(), json!("")),
            2 => entry.insert("parentId".into(), Value::Null),
            _ => entry.shift_remove("parentId"),
        };
    });
    if draw.chance(40) && objects.len() > 3 {
        let last = objects.len() - 1;
        let tip = objects[last]["id"].clone();
        objects[last].insert("parentId".into(), Value::Null);
        let at = draw.between(1, last - 1);
        objects[at].insert("parentId".into(), tip);
    }
    objects
}

/// Gives entries times that are equal, unparsable, absent or spelled differently.
pub(super) fn odd_times(mut objects: Vec<Object>, draw: &mut Draw) -> Vec<Object> {
    let spellings = [
        json!("2025-01-01T00:00:05.000Z"),
        json!("2025-01-01T00:00:05Z"),
        json!("2025-01-01T02:00:07+02:00"),
        json!("2025-01-01T00:01Z"),
        json!("2025-01-02"),
        json!("2025-01-01T00:00:05.123456Z"),
        json!("1999-12-31T23:59:59.999Z"),
        json!("yesterday"),
        json!(""),
        json!("2025-13-45T99:00:00Z"),
        json!(1_735_689_605_000_u64),
        Value::Null,
    ];
    some_entries(&mut objects, draw, |entry, draw| {
        if draw.chance(10) {
            entry.shift_remove("timestamp");
        } else {
            entry.insert("timestamp".into(), draw.pick(&spellings).clone());
        }
        if draw.chance(30)
            && let Some(message) = entry.get_mut("message").and_then(Value::as_object_mut)
        {
            message.shift_remove("timestamp");
        }
    });
    if draw.chance(20) {
        objects[0].insert("timestamp".into(), draw.pick(&spellings).clone());
    }
    objects
}

/// Takes away or empties fields that every reader expects.
pub(super) fn odd_contents(mut objects: Vec<Object>, draw: &mut Draw) -> Vec<Object> {
    some_entries(&mut objects, draw, |entry, draw| {
        let fields =
            ["content", "summary", "label", "name", "message", "provider", "thinkingLevel", "replacement"];
        let inner =
            ["content", "content", "content", "usage", "provider", "model", "role", "output", "command"];
        match entry.get_mut("message").and_then(Value::as_object_mut) {
            Some(message) if draw.chance(90) => {
                let key = *draw.pick(&inner);
                odd_member(message, key, draw);
            }
            _ => {
                let key = *draw.pick(&fields);
                odd_member(entry, key, draw);
            }
        }
    });
    objects
}

/// Changes a member if the object has it.
fn odd_member(object: &mut Object, key: &str, draw: &mut Draw) {
    let Some(value) = object.get_mut(key) else { return };
    match draw.below(4) {
        0 => {
            object.shift_remove(key);
        }
        1 => *value = json!(*draw.pick(&[0, 42])),
        2 => *value = json!([null, 1, "s", {"type": "text"}, {"type": "other", "text": "t"}]),
        _ => *value = Value::Null,
    }
}

/// Takes away or changes fields of the header that need not be there.
pub(super) fn odd_header(mut objects: Vec<Object>, draw: &mut Draw) -> Vec<Object> {
    let header = &mut objects[0];
    for _ in 0..draw.between(1, 3) {
        match draw.below(10) {
            0 => header.shift_remove("cwd"),
            1 => header.shift_remove("timestamp"),
            2 => header.insert("timestamp".into(), json!("soon")),
            3 => header.insert("version".into(), json!(*draw.pick(&[4, 5, 99]))),
            4 => header.insert(
                "version".into(),
                draw.pick(&[json!("3"), json!(3.5), json!(2.5), Value::Null]).clone(),
            ),
            5 => header.insert("title".into(), json!("a title")),
            6 => header
                .insert("cwd".into(), draw.pick(&[json!(""), json!("relative/dir"), Value::Null]).clone()),
            7 => header.insert("parentSession".into(), json!("an-id-not-a-path")),
            8 => header.insert("metadata".into(), json!({"k": [1]})),
            _ => {
                header.insert("id".into(), draw.pick(&[json!("x"), json!(""), json!(5), Value::Null]).clone())
            }
        };
    }
    objects
}

/// Bends parents until some of them lead back.
pub(super) fn cycles(mut objects: Vec<Object>, draw: &mut Draw) -> Vec<Object> {
    let all = ids(&objects);
    some_entries(&mut objects, draw, |entry, draw| {
        let parent = if draw.chance(30) { entry["id"].clone() } else { draw.pick(&all).clone() };
        entry.insert("parentId".into(), parent);
    });
    let (first, last) = (1, objects.len() - 1);
    if draw.chance(50) {
        let tip = objects[last]["id"].clone();
        objects[first].insert("parentId".into(), tip);
    }
    objects
}

/// Brings the members of all entries, and of their messages, into another order.
pub(super) fn shuffled_keys(objects: Vec<Object>, draw: &mut Draw) -> Vec<Object> {
    objects.into_iter().map(|object| shuffled(object, draw)).collect()
}

fn shuffled(object: Object, draw: &mut Draw) -> Object {
    let mut members: Vec<(String, Value)> = object
        .into_iter()
        .map(|(key, value)| match value {
            Value::Object(inner) => (key, Value::Object(shuffled(inner, draw))),
            other => (key, other),
        })
        .collect();
    draw.shuffle(&mut members);
    members.into_iter().collect()
}

/// Splits into lines without their line feeds.
fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    let mut out = lines.join(&b'\n');
    out.push(b'\n');
    out
}

/// Changes some lines as text, never the header.
fn some_lines(bytes: &[u8], draw: &mut Draw, change: impl Fn(String, &mut Draw) -> String) -> Vec<u8> {
    let mut lines = lines(bytes);
    for _ in 0..draw.between(1, 1 + lines.len() / 3) {
        if lines.len() > 1 {
            let at = draw.between(1, lines.len() - 1);
            let text = String::from_utf8_lossy(&lines[at]).into_owned();
            lines[at] = change(text, draw).into_bytes();
        }
    }
    joined(&lines)
}

/// Removes the last line feed.
pub(super) fn no_final_lf(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.pop();
    bytes
}

/// Puts a carriage return before every line feed.
pub(super) fn crlf(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] }).collect()
}

/// Strews blank lines.
pub(super) fn blank_lines(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut lines = lines(bytes);
    for _ in 0..draw.between(1, 6) {
        let blank = draw.pick(&["", "  ", "\t", "\r", " \r\t"]).as_bytes().to_vec();
        lines.insert(draw.below(lines.len() + 1), blank);
    }
    joined(&lines)
}

/// Starts with the mark that some editors write.
pub(super) fn bom(bytes: &[u8]) -> Vec<u8> {
    [b"\xef\xbb\xbf", bytes].concat()
}

/// Changes single bits and bytes, mostly behind the header.
pub(super) fn flipped_bytes(mut bytes: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    let header = if draw.chance(85) { header_len(&bytes) } else { 0 };
    for _ in 0..draw.between(1, 5) {
        let at = draw.between(header, bytes.len() - 1);
        bytes[at] =
            if draw.chance(70) { bytes[at] ^ (1 << draw.below(8)) } else { draw.next().to_le_bytes()[0] };
    }
    bytes
}

fn header_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == b'\n').map_or(0, |at| (at + 1).min(bytes.len() - 1))
}

/// Ends lines too early; one time in two the file ends with such a line.
pub(super) fn cut_lines(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut lines = lines(bytes);
    for _ in 0..draw.between(0, 3) {
        let at = draw.below(lines.len());
        if at > 0 || draw.chance(20) {
            let len = draw.below(lines[at].len() + 1);
            lines[at].truncate(len);
        }
    }
    let mut out = joined(&lines);
    if draw.chance(50) {
        let last = lines.last().map_or(0, Vec::len);
        out.truncate(out.len() - 1 - draw.below(last));
    }
    out
}

/// Loses line feeds in the middle.
pub(super) fn glued_lines(mut bytes: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    let header = if draw.chance(90) { header_len(&bytes) } else { 0 };
    for _ in 0..draw.between(1, 3) {
        let feeds: Vec<usize> = (header..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
        if feeds.len() > 1 {
            bytes.remove(feeds[draw.below(feeds.len() - 1)]);
        }
    }
    bytes
}

/// Writes zeros over a range, between lines or after the end, as a crash of the machine may.
pub(super) fn nul_bytes(mut bytes: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    let len = draw.between(1, 40);
    match draw.below(3) {
        0 => bytes.extend(vec![0; len]),
        1 => {
            let at = draw.between(header_len(&bytes), bytes.len() - 1);
            let end = (at + len).min(bytes.len());
            bytes[at..end].fill(0);
        }
        _ => {
            let mut lines = lines(&bytes);
            lines.insert(draw.between(1, lines.len()), vec![0; len]);
            bytes = joined(&lines);
        }
    }
    bytes
}

/// Puts lines that are JSON but no entry between the others.
pub(super) fn scalar_lines(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let odd = [
        "null",
        "123",
        "[]",
        "\"x\"",
        "true",
        "{}",
        "-0.5e3",
        "[{\"type\":\"message\",\"id\":\"inlist\"}]",
        "{\"type\":\"message\"}",
        "{\"id\":\"typeless\",\"parentId\":null}",
        "{\"type\":\"custom\",\"id\":9}",
        "nul",
        "{",
        "{\"type\":\"label\",\"id\":null,\"targetId\":\"x\",\"label\":\"y\"}",
    ];
    let mut lines = lines(bytes);
    for _ in 0..draw.between(1, 4) {
        let first = if draw.chance(10) { 0 } else { 1 };
        let line = draw.pick(&odd).as_bytes().to_vec();
        lines.insert(draw.between(first, lines.len()), line);
    }
    joined(&lines)
}

/// Writes lines a second time, right away, at the end or with another text.
pub(super) fn duplicated_lines(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut lines = lines(bytes);
    if draw.chance(20) {
        // An older version of the program wrote the whole list again, header included.
        let all = lines.clone();
        lines.extend(all);
        return joined(&lines);
    }
    for _ in 0..draw.between(1, 3) {
        let from = draw.between(1, lines.len() - 1);
        let mut copy = lines[from].clone();
        if draw.chance(40) {
            copy = String::from_utf8_lossy(&copy)
                .replace("\"timestamp\":\"2025", "\"copy\":1,\"timestamp\":\"2026")
                .into_bytes();
        }
        let to = if draw.chance(50) { from + 1 } else { draw.between(1, lines.len()) };
        lines.insert(to, copy);
    }
    joined(&lines)
}

/// Exchanges lines, so that entries stand before their parents.
pub(super) fn swapped_lines(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut lines = lines(bytes);
    let first = if draw.chance(95) { 1 } else { 0 };
    for _ in 0..draw.between(1, 5) {
        let (a, b) = (draw.between(first, lines.len() - 1), draw.between(first, lines.len() - 1));
        lines.swap(a, b);
    }
    joined(&lines)
}

/// Repeats the header, as it is or with another id, version and folder.
pub(super) fn second_header(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut lines = lines(bytes);
    for _ in 0..draw.between(1, 2) {
        let line = if draw.chance(30) {
            lines[0].clone()
        } else {
            let version = draw.between(1, 4);
            format!("{{\"type\":\"session\",\"version\":{version},\"id\":\"second\",\"cwd\":\"/else\"}}")
                .into_bytes()
        };
        lines.insert(draw.between(1, lines.len()), line);
    }
    joined(&lines)
}

/// Puts bytes that are not UTF-8 anywhere behind the header.
pub(super) fn invalid_utf8(mut bytes: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    let odd: [&[u8]; 7] =
        [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80"];
    for _ in 0..draw.between(1, 4) {
        let at = draw.between(header_len(&bytes), bytes.len() - 1);
        let junk = draw.pick(&odd).to_vec();
        bytes.splice(at..at, junk);
    }
    bytes
}

/// Puts halves of surrogate pairs, as escapes, into strings and keys.
pub(super) fn lone_surrogates(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    some_lines(bytes, draw, |line, draw| {
        let half =
            *draw.pick(&["\\ud83d", "\\udc00", "\\ud83d\\ud83d\\ude00", "\\uDFFF x", "\\ud83d\\u0041"]);
        match draw.below(4) {
            0 => line.replacen("\"text\":\"", &format!("\"text\":\"{half}"), 1),
            1 => line.replacen("\"content\":\"", &format!("\"content\":\"{half}"), 1),
            2 => line.replacen("\"label\":\"", &format!("\"label\":\"{half}"), 1),
            _ => before_end(&line, &format!(",\"k{half}\":\"{half}\"")),
        }
    })
}

/// Adds members with numbers that floating point cannot hold, and puts them where readers look.
pub(super) fn huge_numbers(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    some_lines(bytes, draw, |line, draw| {
        let number = *draw.pick(&[
            "9007199254740993",
            "123456789012345678901234567890",
            "1.0",
            "1e2",
            "1E400",
            "-0",
            "-0.0",
            "0.1000",
            "5e-324",
            "1e-400",
            "1e21",
            "1e-7",
            "0.000001",
            "4.35",
            "1.7976931348623157e308",
            "2.5e+3",
        ]);
        match draw.below(4) {
            0 => line.replacen("\"timestamp\":17", &format!("\"was\":{number},\"timestamp\":17"), 1),
            1 => line
                .replacen("\"arguments\":{", &format!("\"arguments\":{{\"n\":{number},"), 1)
                .replace(",}", "}"),
            2 => line.replacen("\"usage\":{", &format!("\"usage\":{{\"n\":{number},"), 1),
            _ => before_end(&line, &format!(",\"n\":[{number},{number}]")),
        }
    })
}

/// Names members twice, before or after the first time.
pub(super) fn duplicate_keys(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    some_lines(bytes, draw, |line, draw| match draw.below(8) {
        0 => line.replacen('{', "{\"id\":\"lost\",", 1),
        1 => line.replacen('{', "{\"type\":\"label\",\"parentId\":\"lost\",", 1),
        2 => before_end(&line, ",\"parentId\":null"),
        3 => before_end(&line, ",\"type\":\"custom\",\"customType\":\"changed\""),
        4 => before_end(&line, ",\"timestamp\":\"2024-06-01T00:00:00.000Z\""),
        5 => line.replacen("\"role\":", "\"role\":\"system\",\"role\":", 1),
        6 => line.replacen("\"content\":", "\"content\":null,\"content\":", 1),
        _ => before_end(&line, ",\"x\":1,\"x\":{\"y\":2,\"y\":3}"),
    })
}

/// Adds members nested deeper than recursive readers like.
pub(super) fn deep_nesting(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    some_lines(bytes, draw, |line, draw| {
        let depth = *draw.pick(&[100, 130, 300, 700]);
        let value = if draw.chance(50) {
            format!("{}{}", "[".repeat(depth), "]".repeat(depth))
        } else {
            format!("{}0{}", "{\"d\":".repeat(depth), "}".repeat(depth))
        };
        match draw.below(3) {
            0 => line.replacen("\"role\":", &format!("\"details\":{value},\"role\":"), 1),
            1 => line
                .replacen("\"arguments\":{", &format!("\"arguments\":{{\"deep\":{value},"), 1)
                .replace(",}", "}"),
            _ => before_end(&line, &format!(",\"deep\":{value}")),
        }
    })
}

/// Puts blanks between the tokens of lines, the header included.
pub(super) fn inner_whitespace(bytes: &[u8], draw: &mut Draw) -> Vec<u8> {
    let spaced: Vec<Vec<u8>> = lines(bytes)
        .into_iter()
        .map(|line| if draw.chance(60) { spaced(&line, draw) } else { line })
        .collect();
    joined(&spaced)
}

fn spaced(line: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for &byte in line {
        let structural = !in_string && matches!(byte, b'{' | b'}' | b'[' | b']' | b':' | b',');
        if structural && draw.chance(30) {
            out.push(b' ');
        }
        out.push(byte);
        if structural && draw.chance(50) {
            out.extend_from_slice(draw.pick(&[" ", "\t", "  ", "\r"]).as_bytes());
        }
        if byte == b'"' && !escaped {
            in_string = !in_string;
        }
        escaped = in_string && byte == b'\\' && !escaped;
    }
    out
}

/// Puts `more` before the brace that ends the line.
fn before_end(line: &str, more: &str) -> String {
    match line.strip_suffix('}') {
        Some(start) => format!("{start}{more}}}"),
        None => line.to_owned(),
    }
}
