//! The background of the terminal: asked for before anything is drawn, so that colours suit it.
//!
//! ```text
//!   ESC ] 11 ; ? ESC \   what is your background?     ESC ] 11 ; rgb : ffff / ffff / ffff ESC \
//!   ESC [ c              what are you?                ESC [ ? 62 c
//! ```
//!
//! Every terminal answers the second question, so that one that does not know the first is not waited for.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::theme::Theme;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const QUESTIONS: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// Longer than an answer takes over a slow network: one that comes later would be taken for typing.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest answer that makes sense.
const LONGEST: usize = 4096;

/// Asks the terminal for its background and returns the colours that suit it; none if it does not answer.
pub fn theme() -> Option<Theme> {
    enable_raw_mode().ok()?;
    let answer = ask();
    // What cannot be undone here is undone when the program ends.
    let _ = disable_raw_mode();
    let [red, green, blue] = background(&answer.ok()?)?;
    Some(Theme::for_background(red, green, blue))
}

fn ask() -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    // A user who types already does not wait for colours.
    if has_input(Duration::ZERO)? {
        return Ok(answer);
    }
    let mut out = io::stdout().lock();
    out.write_all(QUESTIONS)?;
    out.flush()?;
    let end = Instant::now() + PATIENCE;
    while !is_whole(&answer) && answer.len() < LONGEST {
        let left = end.saturating_duration_since(Instant::now());
        if !has_input(left)? {
            break;
        }
        let mut buffer = [0; 256];
        match rustix::io::read(io::stdin(), &mut buffer)? {
            0 => break,
            count => answer.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(answer)
}

/// Waits for input. Returns false after the time limit.
fn has_input(patience: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut wanted = [PollFd::new(&stdin, PollFlags::IN)];
    let patience =
        Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
    Ok(poll(&mut wanted, Some(&patience))? > 0)
}

/// Tells whether the answer to the last question is there.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    text.rsplit_once("\x1b[?").is_some_and(|(_, last)| last.contains('c'))
}

/// Reads the colour in an answer.
fn background(answer: &[u8]) -> Option<[u8; 3]> {
    let text = String::from_utf8_lossy(answer);
    let (_, colour) = text.split_once("]11;rgb:")?;
    let colour = colour.split(['\x1b', '\x07']).next()?;
    let mut parts = colour.split('/').map(part);
    let colour = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(colour)
}

/// Reads a part of a colour: one to four hexadecimal digits, of which all together are the brightest.
fn part(digits: &str) -> Option<u8> {
    if digits.is_empty() || digits.len() > 4 {
        return None;
    }
    let most = (1_u32 << (4 * digits.len())) - 1;
    let value = u32::from_str_radix(digits, 16).ok()?;
    u8::try_from(value * 255 / most).ok()
}

#[cfg(test)]
mod tests;
