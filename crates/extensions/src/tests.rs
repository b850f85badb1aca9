#[test]
fn the_declarations_are_typescript() {
    assert_eq!(crate::strip::exports("offshoot.d.ts".as_ref(), crate::DECLARATIONS).err(), None);
}
