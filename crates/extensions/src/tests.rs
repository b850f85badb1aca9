#[test]
fn the_declarations_are_typescript() {
    assert_eq!(crate::strip::strip("offshoot.d.ts".as_ref(), crate::DECLARATIONS).err(), None);
}
