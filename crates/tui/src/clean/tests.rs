//! Hostile text in, harmless text out.

use super::{clean, clean_lines};

#[test]
fn lines_are_cleaned_one_by_one_and_tabs_reach_the_next_stop() {
    let lines: Vec<_> = clean_lines("a\tb\r\n\tc\x1b[2J").collect();
    assert_eq!(lines, ["a   b", "    c␛[2J"]);
}

#[test]
fn escape_codes_and_direction_marks_do_not_reach_the_terminal() {
    let hostile = "a\x1b]52;c;eA==\x07\u{9b}2J\u{202e}b\u{7f}\n";
    let cleaned = clean(hostile);
    assert!(cleaned.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{cleaned:?}");
    assert!(cleaned.starts_with("a␛]52;"));
}

#[test]
fn the_quick_answer_about_marks_is_right() {
    let is_mark = |c: char| unicode_width::UnicodeWidthChar::width(c) == Some(0) && !super::is_hidden(c);
    for c in ('\u{a0}'..=char::MAX).filter(|c| is_mark(*c)) {
        assert!(super::is_mark(c), "{c:?}");
    }
}

#[test]
fn no_control_or_hidden_character_is_let_through_alone() {
    for c in '\0'..=char::MAX {
        let text = format!("a{c}b");
        let cleaned = clean(&text);
        assert!(!cleaned.chars().any(char::is_control), "{c:?}");
        assert_eq!(cleaned.chars().count(), 3, "{c:?}");
        if super::is_hidden(c) {
            assert_eq!(cleaned, "a\u{fffd}b", "{c:?}");
        }
    }
}

#[test]
fn letters_of_all_languages_and_emoji_stay() {
    for text in [
        "ümläut",
        "漢字かな",
        "שלום",
        "مرحبا",
        "❤\u{fe0f}",
        "👍🏽",
        "👩\u{200d}👧",
        "❤\u{fe0f}\u{200d}🔥",
        "e\u{301}",
        "ไทย",
    ] {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn a_joiner_that_joins_no_pictures_is_shown() {
    assert_eq!(clean("pay\u{200d}pal 👩\u{200d}x"), "pay\u{fffd}pal 👩\u{fffd}x");
    assert_eq!(clean("🇩🇪\u{200d}👧"), "🇩🇪\u{fffd}👧");
    // What is replaced joins nothing either.
    assert_eq!(clean("a\u{fe0f}\u{200d}👧"), "a\u{fffd}\u{fffd}👧");
    assert_eq!(clean("👩\u{200d}\u{fe0f}x"), "👩\u{fffd}\u{fffd}x");
}

#[test]
fn a_tower_of_marks_is_cut() {
    let tower = format!("a{}b", "\u{301}".repeat(5_000));
    assert_eq!(clean(&tower).chars().count(), 10);
}
