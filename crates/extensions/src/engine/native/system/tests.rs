use std::os::unix::ffi::OsStringExt as _;

use super::*;

#[test]
fn a_variable_that_is_no_text_does_not_hide_the_others() {
    let odd = || OsString::from_vec(vec![0xff]);
    let variables =
        [("A".into(), "1".into()), ("B".into(), odd()), (odd(), "2".into()), ("C".into(), "3".into())];
    let expected = json!({"A": "1", "C": "3"});
    assert_eq!(Json::Object(environment(variables.into_iter())), expected);
}
