//! Text in, rows out.

use super::*;

fn below(text: &str, columns: usize, margin: &Margin) -> Vec<String> {
    let mut out = Vec::new();
    wrap(&[Span::raw(text.to_owned())], columns, margin, &mut out);
    out.iter().map(ToString::to_string).collect()
}

fn said(rows: &[Line<'_>]) -> Vec<String> {
    rows.iter().map(ToString::to_string).collect()
}

#[test]
fn text_of_many_lines_breaks_between_words_and_ends_in_time() {
    let rows = |text, columns, most| said(&rows(text, Style::new(), columns, most));
    assert_eq!(rows("the quick brown fox, and", 10, 9), ["the quick", "brown fox,", "and"]);
    assert_eq!(rows("abcdefghij kl", 4, 9), ["abcd", "efgh", "ij", "kl"]);
    assert_eq!(rows("a\n\nb\x1b", 5, 9), ["a", "", "b␛"]);
    assert_eq!(rows("a b c d e f", 1, 3), ["a", "b", "c"]);
}

#[test]
fn short_rows_say_that_something_is_missing() {
    let rows = |columns, most| said(&short_rows("one two three", Style::new(), columns, most));
    assert_eq!(rows(7, 2), ["one two", "three"]);
    assert_eq!(rows(5, 2), ["one", "two…"]);
    assert_eq!(rows(7, 1), ["one tw…"]);
}

#[test]
fn words_stay_whole_below_a_mark() {
    let margin = Margin::mark(Span::raw("• "));
    assert_eq!(below("the quick brown fox", 11, &margin), ["• the quick", "  brown fox"]);
}

#[test]
fn a_word_longer_than_a_row_is_broken_between_letters() {
    assert_eq!(below("ab abcdefgh", 4, &Margin::default()), ["ab a", "bcde", "fgh"]);
    assert_eq!(below("漢字かな", 5, &Margin::default()), ["漢字", "かな"]);
}

#[test]
fn nothing_is_one_row_and_a_row_too_narrow_still_ends() {
    assert_eq!(below("", 9, &Margin::default()), [""]);
    assert_eq!(below("the end ", 7, &Margin::default()), ["the end"]);
    let margin = Margin::same(Span::raw("........"));
    assert!(!below("some words", 3, &margin).is_empty());
}

#[test]
fn no_row_is_wider_than_it_may_be() {
    for columns in 2..30 {
        for row in
            below("one 漢字 two👩\u{200d}👧three  four\u{301} fivefivefivefive", columns, &Margin::default())
        {
            assert!(width(&row) <= columns, "{row:?} in {columns}");
        }
    }
}
