//! Hostile texts: escape codes, marks that turn or hide text, and markup that wants to run something.
//!
//! The one list that the tests of screens and pages and the proof use, and the one reader that checks whether any of
//! it reached a terminal. Never touches one.

mod watcher;

use crate::rng::Rng;

pub use watcher::{Allowed, Watched, watch};

/// Texts that control a terminal, or disturb measuring and cutting.
pub const TERMINAL: &[&str] = &[
    "\u{1b}[2J",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;eA==\u{1b}\\",
    "\u{1b}P1$r\u{1b}\\",
    "\u{1b}[6n",
    "\u{1b}c",
    "\u{9b}31m",
    "\u{9d}0;x\u{9c}",
    "\u{90}q",
    "\r",
    "\n",
    "\t",
    "\u{8}\u{8}",
    "\u{0}",
    "\u{7}",
    "\u{7f}",
    "\u{e}",
    "\u{202e}txt.exe",
    "\u{2066}abc\u{2069}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{2028}",
    "\u{e0041}\u{e0042}",
    "\u{ad}",
    "\u{34f}",
    "漢字",
    "ｗｉｄｅ",
    "👩\u{200d}👧\u{200d}👦",
    "🇩🇪",
    "👍🏽",
    "❤\u{fe0f}",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "שלום",
    "مرحبا",
    "ไทย",
    "हिन्दी",
    "\u{1160}",
    "\u{fdfd}",
    "\u{12031}",
    "plain words",
    " ",
    "a",
    "--",
    "\\\"'{}[]",
];

/// Texts that try to become an element, an attribute or an address of a page; they would set `__x`.
pub const MARKUP: &[&str] = &[
    "<script>__x=1</script>",
    "</template><script>__x=1</script>",
    "</script><script>__x=1</script>",
    "<img src=x onerror=__x=1>",
    "\" onmouseover=\"__x=1",
    "' onfocus='__x=1",
    "![x\" onerror=__x=1](data:image/png;base64,AA==)",
    "[a](javascript:__x=1)",
    "[a](java\tscript:__x=1)",
    "[a](https://example.org/\"onclick=__x=1)",
    "![t](http://evil.example/t.png)",
    "<iframe srcdoc=x>",
    "<base href=//evil.example>",
    "```x\" onload=\n<b>\n```",
    "> > > - 1. # ",
    "<!--",
    "]]>",
    "&lt;script&gt;",
    "| a | b |\n|---|---|\n| <i> | `<u>` |",
];

/// Draws a text of up to 13 pieces: from both lists, and any character there is.
pub fn text(rng: &mut Rng) -> String {
    let piece = |rng: &mut Rng| match rng.below(5) {
        0 => char::from_u32(rng.below(0x11_0000) as u32).map_or_else(String::new, String::from),
        1 | 2 => (*rng.pick(TERMINAL)).to_owned(),
        _ => (*rng.pick(MARKUP)).to_owned(),
    };
    (0..rng.range(1, 13)).map(|_| piece(rng)).collect()
}
