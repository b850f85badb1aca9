use super::*;

#[test]
fn keys_are_read_up_to_the_end_of_the_line() {
    let typed = |keys: &str| read_hidden(&mut keys.as_bytes()).unwrap();
    assert_eq!(typed("sk-1\rmore"), Typed::Text("sk-1".into()));
    assert_eq!(typed("sx\x7fk\n"), Typed::Text("sk".into()));
    assert_eq!(typed("wrong\x15right\n"), Typed::Text("right".into()));
    assert_eq!(typed("sk\x03\n"), Typed::Interrupted);
    assert_eq!(typed("\x04"), Typed::Nothing);
    assert_eq!(typed("no end"), Typed::Nothing);
}
