//! A sign that something is going on.

use crate::theme::Theme;

const UNICODE: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ASCII: [&str; 4] = ["|", "/", "-", "\\"];

/// Puts a sign before a text; it looks different at every beat.
pub(crate) fn text(theme: Theme, beat: usize, text: &str) -> String {
    format!("{} {text}", sign(theme, beat))
}

/// Returns the sign of a beat.
pub(crate) fn sign(theme: Theme, beat: usize) -> &'static str {
    match theme.charset {
        session_view::Charset::Unicode => UNICODE[beat % UNICODE.len()],
        session_view::Charset::Ascii => ASCII[beat % ASCII.len()],
    }
}
