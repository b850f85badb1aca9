use super::*;

fn names(found: &[FoundExtension]) -> Vec<(&str, Dialect)> {
    found.iter().map(|one| (one.name.as_str(), one.dialect)).collect()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn files_indexes_and_manifests_are_found_in_the_order_of_their_names() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path();
    for file in ["b.ts", "a.js", "types.d.ts", "notes.md", ".hidden.ts", "dir/index.ts", "dir/other.ts"] {
        write(&root.join(file), "");
    }
    write(&root.join("pack/package.json"), r#"{"pi":{"extensions":["./src/main.ts"],"dialect":"events"}}"#);
    write(&root.join("pack/src/main.ts"), "");
    let expected = [
        ("a", Dialect::Extension),
        ("b", Dialect::Extension),
        ("dir", Dialect::Extension),
        ("pack", Dialect::Events),
    ];
    assert_eq!(names(&in_directory(root)), expected);
}

#[test]
fn what_lies_in_a_hooks_directory_speaks_the_older_dialect() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".offshoot/hooks/old.ts"), "");
    write(&home.path().join(".pi/extensions/new.ts"), "");
    let found = in_project(home.path());
    assert_eq!(names(&found), [("old", Dialect::Hooks), ("new", Dialect::Extension)]);
}

#[test]
fn manifests_that_name_each_other_are_not_followed_in_circles() {
    let home = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        write(&home.path().join(name).join("package.json"), r#"{"pi":{"extensions":[".."]}}"#);
    }
    write(&home.path().join("c.ts"), "");
    write(&home.path().join("d/package.json"), r#"{"pi":{"extensions":["more", "more/e/back"]}}"#);
    write(&home.path().join("d/more/e/package.json"), r#"{"pi":{"extensions":["e.ts"]}}"#);
    write(&home.path().join("d/more/e/e.ts"), "");
    std::os::unix::fs::symlink(home.path(), home.path().join("d/more/e/back")).unwrap();
    let found = in_directory(home.path());
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    // Two name what lies beside them under their own names, one has something below and a link back.
    assert_eq!(names, ["a", "b", "c", "e", "c"]);
}

#[test]
fn a_path_without_extensions_is_named() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(by_path(&home.path().join("gone.ts")), Err(home.path().join("gone.ts")));
}
