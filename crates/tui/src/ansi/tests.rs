//! Escape codes in, styles out.

use super::*;

fn text(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| &*span.content).collect()
}

#[test]
fn colours_become_styles() {
    let drawn = line("a\x1b[1;36mb\x1b[22mc\x1b[38;5;200md\x1b[48;2;1;2;3me\x1b[0mf");
    let styles: Vec<Style> = drawn.spans.iter().map(|span| span.style).collect();
    assert_eq!(text(&drawn), "abcdef");
    assert_eq!(styles[1], Style::new().fg(Color::Indexed(6)).add_modifier(Modifier::BOLD));
    assert_eq!(styles[2].fg, Some(Color::Indexed(6)));
    assert!(!styles[2].add_modifier.contains(Modifier::BOLD));
    assert_eq!(styles[3].fg, Some(Color::Indexed(200)));
    assert_eq!(styles[4].bg, Some(Color::Rgb(1, 2, 3)));
    assert_eq!(styles[5], Style::new());
}

#[test]
fn nothing_else_reaches_the_terminal() {
    for hostile in [
        "a\x1b[2Jb",
        "a\x1b]52;c;eA==\x07b",
        "a\x1b]8;;http://x\x1b\\b",
        "a\x1b_pi:c\x07b",
        "a\x1bcb",
        "a\x1b[?1049hb",
    ] {
        assert_eq!(text(&line(hostile)), "ab", "{hostile:?}");
    }
    for cut in ["a\x1b", "a\x1b[", "a\x1b[3", "a\x1b]0;t", "a\x1b[38;5m", "a\x1b[38m", "a\x1b[999m"] {
        assert_eq!(text(&line(cut)), "a", "{cut:?}");
    }
    assert!(text(&line("a\u{9b}2J\rb")).chars().all(|c| !c.is_control()));
}
