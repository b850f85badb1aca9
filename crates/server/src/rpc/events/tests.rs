use super::new_part;

#[test]
fn the_new_part_of_an_output_is_found_behind_what_was_sent() {
    assert_eq!(new_part("", "one\n"), "one\n");
    assert_eq!(new_part("one\n", "one\ntwo\n"), "two\n");
    assert_eq!(new_part("one\n", "one\n"), "");
    // The output became too long: its beginning is gone.
    let long = "x".repeat(300);
    assert_eq!(new_part(&format!("one\n{long}é"), &format!("{long}étwo\n")), "two\n");
    assert_eq!(new_part("one\n", "other\n"), "other\n");
}
