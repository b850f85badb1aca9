use super::shortened;

#[test]
fn a_long_text_is_cut_and_shows_it() {
    assert_eq!(shortened("two\n words", 9), "two words");
    assert_eq!(shortened("two words!", 9), "two word…");
    assert_eq!(shortened("two words!", 5), "two…");
    assert_eq!(shortened("漢字かな", 3), "漢字…");
}
