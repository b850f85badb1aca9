use super::*;

#[test]
fn a_key_prints_dots_and_is_taken_out_of_texts() {
    let key = Secret::new(" sk-12345\n");
    assert_eq!(format!("{key:?}"), "•••");
    let headers = std::collections::BTreeMap::from([("x-team", key.clone())]);
    assert!(!format!("{headers:?} {:#?}", Some(&key)).contains("sk-"), "no log can print it");
    assert_eq!(key.scrub("bad key sk-12345, sorry"), "bad key •••, sorry");
    assert_eq!(Secret::new("").scrub("as it is"), "as it is");
    assert_eq!(Secret::new("none").scrub("there is none"), "there is none");
}
