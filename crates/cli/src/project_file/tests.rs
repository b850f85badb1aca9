use offshoot_agent::permission::Decision;

use super::*;

fn rule(text: &str) -> Rule {
    Rule::parse(Decision::Allow, text).unwrap()
}

#[test]
fn rules_are_kept_for_each_directory_until_they_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let of = |name: &str| {
        fs::create_dir_all(dir.path().join(name)).unwrap();
        KeptRules::of_project(&dir.path().join("config"), &dir.path().join(name))
    };
    let (one, other) = (of("one"), of("other"));
    assert!(one.list().unwrap().is_empty() && !one.remove(&rule("read")).unwrap());
    for text in ["bash(cargo test *)", "write(src/**)", "bash(cargo test *)"] {
        one.add(&rule(text)).unwrap();
    }
    other.add(&rule("bash(make)")).unwrap();
    assert_eq!(one.list().unwrap(), ["bash(cargo test *)", "write(src/**)"]);
    assert!(one.remove(&rule("bash(cargo test *)")).unwrap());
    assert_eq!(
        (one.list().unwrap(), other.list().unwrap()),
        (vec!["write(src/**)".into()], vec!["bash(make)".into()])
    );
}

#[test]
fn a_link_to_a_directory_is_the_same_project() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("project")).unwrap();
    std::os::unix::fs::symlink("project", dir.path().join("link")).unwrap();
    KeptRules::of_project(dir.path(), &dir.path().join("project")).add(&rule("bash(make)")).unwrap();
    assert_eq!(KeptRules::of_project(dir.path(), &dir.path().join("link")).list().unwrap(), ["bash(make)"]);
}

#[test]
fn rules_for_all_projects_are_kept_apart() {
    let dir = tempfile::tempdir().unwrap();
    let (everywhere, one) =
        (KeptRules::everywhere(dir.path()), KeptRules::of_project(dir.path(), dir.path()));
    everywhere.add(&rule("extension(web)")).unwrap();
    assert!(one.list().unwrap().is_empty() && !one.remove(&rule("extension(web)")).unwrap());
    assert_eq!(KeptRules::everywhere(dir.path()).list().unwrap(), ["extension(web)"]);
    assert!(everywhere.remove(&rule("extension(web)")).unwrap() && everywhere.list().unwrap().is_empty());
}

#[test]
fn a_damaged_file_is_an_error_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let rules = KeptRules::of_project(dir.path(), dir.path());
    fs::write(rules.path(), "[").unwrap();
    assert!(rules.list().is_err() && rules.add(&rule("read")).is_err());
    assert_eq!(fs::read_to_string(rules.path()).unwrap(), "[");
}
