use super::*;

#[test]
fn an_id_that_fits_stays_and_others_stay_different() {
    assert_eq!(plain_id("toolu_01-x", 64), "toolu_01-x");
    let (one, two) = (plain_id("a|b", 64), plain_id("a/b", 64));
    assert_ne!(one, two);
    assert!(one.starts_with("a_b_"));
    let long = plain_id(&"x".repeat(500), 40);
    assert_eq!(long.len(), 40);
    assert_ne!(long, plain_id(&"x".repeat(501), 40));
    assert_eq!(plain_id("", 64), plain_id("", 64));
    assert!(!plain_id("ü", 64).is_empty());
    assert_eq!(exact_id("Ab3456789", 9), "Ab3456789");
    assert_eq!(exact_id("call_1", 9).len(), 9);
    assert_ne!(exact_id("call_1", 9), exact_id("call_2", 9));
}

#[test]
fn the_two_ids_of_a_call_are_told_apart() {
    assert_eq!(fitting_id("call_1|fc_2", 64), "call_1");
    assert_eq!(item_id("call_1|fc_2"), Some("fc_2"));
    assert_eq!(item_id("call_1|"), None);
    assert_eq!(item_id("call_1"), None);
}
