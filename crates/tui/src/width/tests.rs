//! Columns of letters of all kinds.

use super::*;

#[test]
fn a_cut_text_never_takes_more_than_it_may() {
    for text in [
        "hello world",
        "漢字かな交じり文",
        "ab漢c字d",
        "❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}",
        "👩\u{200d}👧👩\u{200d}👧",
        "e\u{301}e\u{301}e\u{301}",
        "",
    ] {
        for columns in 0..20 {
            let shown = cut(text, columns);
            assert!(width(&shown) <= columns, "{text:?} in {columns}: {shown:?}");
            assert_eq!(shown == text, width(text) <= columns, "{text:?} in {columns}: {shown:?}");
        }
    }
}

#[test]
fn single_letters_take_one_column_and_join_nothing() {
    let singles: Vec<char> = ('\0'..=char::MAX).filter(|c| is_single(*c)).collect();
    for before in &singles {
        assert_eq!(before.to_string().width(), 1, "{before:?}");
        for after in ['a', 'é', '─', '…', '·', ' '] {
            assert_eq!(format!("{before}{after}").graphemes(true).count(), 2, "{before:?} {after:?}");
            assert_eq!(format!("{after}{before}").graphemes(true).count(), 2, "{after:?} {before:?}");
        }
    }
    assert_eq!(split_singles("│ e\u{301}x"), ("│ ", "e\u{301}x"));
    assert_eq!(split_singles("漢"), ("", "漢"));
    assert_eq!(split_singles("←\u{fe0f}"), ("", "←\u{fe0f}"));
}

#[test]
fn wide_letters_are_not_cut_in_half() {
    assert_eq!(cut("漢字かな", 6), "漢字…");
    assert_eq!(cut("漢字かな", 5), "漢字…");
    assert_eq!(pad("漢", 4, false), "漢  ");
    assert_eq!(pad("12", 4, true), "  12");
}

#[test]
fn a_shortened_text_is_one_line_of_so_many_characters() {
    assert_eq!(shortened("two\n words", 9), "two words");
    assert_eq!(shortened("two words!", 9), "two word…");
    assert_eq!(shortened("two words!", 5), "two…");
    assert_eq!(shortened("漢字かな", 3), "漢字…");
}
