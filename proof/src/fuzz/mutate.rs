//! Breaks session files in ways that keep most of them looking like session files.

use testkit::rng::Rng;

/// Keys whose values decide what a file means.
const KEYS: [&str; 14] = [
    "\"id\":",
    "\"parentId\":",
    "\"type\":",
    "\"timestamp\":",
    "\"targetId\":",
    "\"firstKeptEntryId\":",
    "\"message\":",
    "\"role\":",
    "\"content\":",
    "\"version\":",
    "\"label\":",
    "\"customType\":",
    "\"summary\":",
    "\"name\":",
];

/// Values that are hard to take.
const VALUES: [&str; 24] = [
    "null",
    "true",
    "0",
    "-0",
    "1e400",
    "1e-400",
    "123456789012345678901234567890",
    "\"\"",
    "\"\\ud83d\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[[[[[[[[[[[]]]]]]]]]]]]",
    "{\"a\":{\"a\":{\"a\":{}}}}",
    "\"session\"",
    "\"message\"",
    "\"compaction\"",
    "\"label\"",
    "\"custom\"",
    "\"branch_summary\"",
    "\"session-tree.leaf\"",
    "\"9999-99-99T99:99:99Z\"",
    "\"user\"",
    "\"\u{202e}\u{1b}[2J\"",
];

const BYTES: [&[u8]; 12] = [
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\xbd",
    b"\x1b",
    b"\r",
    b"\xef\xbb\xbf",
    b"\"",
    b"{",
    b"}",
    b"\\",
    b"\xe2\x80\xa8",
];

/// Changes a file in one to four ways; `other` is where foreign lines come from.
pub(super) fn mutate(bytes: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.range(1, 4) {
        match rng.below(12) {
            0 => flip(&mut bytes, rng),
            1 => cut(&mut bytes, rng),
            2 | 3 => move_lines(&mut bytes, rng),
            4 => splice(&mut bytes, other, rng),
            5 => insert_bytes(&mut bytes, rng),
            6 => drop_feed(&mut bytes, rng),
            7 => repeat_key(&mut bytes, rng),
            _ => replace_value(&mut bytes, rng),
        }
    }
    bytes
}

fn place(bytes: &[u8], rng: &mut Rng) -> usize {
    rng.below(bytes.len() as u64 + 1) as usize
}

fn flip(bytes: &mut [u8], rng: &mut Rng) {
    let at = place(bytes, rng);
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << rng.below(8);
    }
}

/// Cuts the end off, or some bytes out of the middle.
fn cut(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let from = place(bytes, rng);
    let to = if rng.below(2) == 0 { bytes.len() } else { (from + rng.below(40) as usize).min(bytes.len()) };
    bytes.drain(from..to);
}

/// Drops, repeats or moves a line.
fn move_lines(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.len() < 2 {
        return;
    }
    // The header stays first more often than not.
    let first = u64::from(rng.below(8) > 0);
    let pick = |rng: &mut Rng| rng.range(first, lines.len() as u64 - 1) as usize;
    let (one, another) = (pick(rng), pick(rng));
    match rng.below(4) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(another, lines[one].clone()),
        2 => lines.swap(one, another),
        _ => lines.insert(one, b"\n".to_vec()),
    }
    *bytes = lines.concat();
}

fn splice(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    if let Some(line) = lines.get(rng.below(lines.len() as u64) as usize) {
        let starts: Vec<usize> = line_starts(bytes);
        let at = *rng.pick(&starts);
        bytes.splice(at..at, line.iter().copied());
    }
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let after_feeds = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after_feeds).collect()
}

fn insert_bytes(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = place(bytes, rng);
    let odd = *rng.pick(&BYTES);
    let count = if rng.below(8) == 0 { 64 } else { 1 };
    bytes.splice(at..at, odd.repeat(count));
}

fn drop_feed(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let starts = line_starts(bytes);
    if let Some(at) = rng.pick(&starts).checked_sub(1) {
        bytes.remove(at);
    }
}

/// Finds one of the places behind a key.
fn behind_key(bytes: &[u8], rng: &mut Rng) -> Option<(usize, &'static str)> {
    let key = *rng.pick(&KEYS);
    let found: Vec<usize> = bytes
        .windows(key.len())
        .enumerate()
        .filter(|(_, window)| *window == key.as_bytes())
        .map(|(at, _)| at)
        .collect();
    if found.is_empty() { None } else { Some((rng.pick(&found) + key.len(), key)) }
}

/// Gives a key another value: an odd one, or one that the same key has elsewhere.
fn replace_value(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let Some((at, key)) = behind_key(bytes, rng) else { return };
    let value = if rng.below(2) == 0 {
        rng.pick(&VALUES).as_bytes().to_vec()
    } else {
        let elsewhere =
            ["\"id\":", "\"parentId\":"].contains(&key).then(|| behind(bytes, "\"id\":", rng)).flatten();
        elsewhere.unwrap_or_else(|| b"\"a\"".to_vec())
    };
    let end = value_end(bytes, at);
    bytes.splice(at..end, value);
}

/// One of the values that a key has.
fn behind(bytes: &[u8], key: &str, rng: &mut Rng) -> Option<Vec<u8>> {
    let values: Vec<usize> = bytes
        .windows(key.len())
        .enumerate()
        .filter(|(_, window)| *window == key.as_bytes())
        .map(|(at, _)| at)
        .collect();
    let at = if values.is_empty() { None } else { Some(rng.pick(&values) + key.len()) }?;
    Some(bytes[at..value_end(bytes, at)].to_vec())
}

/// Returns the end of a simple value, or of a part of a composed one.
fn value_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let end = rest.iter().skip(1).position(|byte| matches!(byte, b',' | b'}' | b'\n'));
    end.map_or(bytes.len(), |end| at + 1 + end).min(bytes.len())
}

fn repeat_key(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let Some((at, key)) = behind_key(bytes, rng) else { return };
    let again = format!("{},{key}", rng.pick(&VALUES));
    bytes.splice(at..at, again.into_bytes());
}
