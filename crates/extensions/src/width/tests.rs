use super::*;

#[test]
fn codes_have_no_width_and_wide_characters_have_two_columns() {
    assert_eq!(visible("\u{1b}[31mred\u{1b}[0m"), 3);
    assert_eq!(visible("日本"), 4);
    assert_eq!(visible("👨‍👩‍👧"), 2);
    assert_eq!(visible("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}"), 4);
    assert_eq!(visible("\u{1b}[unfinished"), 9, "a code ends with its first letter");
}

#[test]
fn what_is_cut_keeps_the_codes_behind_the_cut() {
    assert_eq!(truncate("\u{1b}[31mredder\u{1b}[0m", 4, "…"), "\u{1b}[31mred…\u{1b}[0m");
    assert_eq!(truncate("short", 10, "..."), "short");
    assert_eq!(truncate("日本語", 5, "."), "日本.");
    assert_eq!(truncate("abc", 1, "..."), "a");
}

#[test]
fn words_stay_whole_and_colours_go_on() {
    assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(wrap("\u{1b}[1mone two", 4), ["\u{1b}[1mone\u{1b}[0m", "\u{1b}[1mtwo\u{1b}[0m"]);
    assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
}
