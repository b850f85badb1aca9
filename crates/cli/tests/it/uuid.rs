//! Sessions that spell their ids `uuid`: they are continued in place, in their own spelling.

use std::fs;

use crate::support::Home;

const SESSION: &str = concat!(
    r#"{"type":"session","version":2,"uuid":"ses1","parentUuid":null,"id":"abc","cwd":"/project"}"#,
    "\n",
    r#"{"type":"message","uuid":"m1","parentUuid":"ses1","message":{"role":"user","content":"Build a CLI"}}"#,
    "\n",
    r#"{"type":"message","uuid":"m2","parentUuid":"m1","message":{"role":"assistant","content":"I'll create..."}}"#,
    "\n",
    r#"{"type":"message","uuid":"m3","parentUuid":"m2","message":{"role":"user","content":"Use Python"}}"#,
    "\n",
);

#[test]
fn switch_append_and_label_write_the_spelling_of_the_file() {
    let home = Home::new();
    let file = home.file("project/s.jsonl", SESSION);
    assert_eq!(home.run(&["switch", &file, "m2", "--exact"]).code, 0);
    let draft = r#"{"type":"message","message":{"role":"user","content":"Use Rust"}}"#;
    let appended = home.run_with_input(&["append", &file], draft.as_bytes());
    assert_eq!(appended.code, 0, "{}", String::from_utf8_lossy(&appended.stderr));
    let id = String::from_utf8(appended.stdout).unwrap().trim().to_owned();
    assert_eq!(home.run(&["label", &file, "m1", "start"]).code, 0);
    let text = fs::read_to_string(&file).unwrap();
    let new = text.strip_prefix(SESSION).expect("what was there is unchanged");
    assert!(new.contains(&format!(r#""uuid":"{id}","parentUuid":"m2""#)), "{new}");
    assert!(!new.contains(r#""id":"#) && !new.contains("parentId"), "{new}");
    let entries = fs::read_dir(home.path("project")).unwrap().count();
    assert_eq!(entries, 1, "no copy of an older version is kept, because none was made");
    let context = home.run(&["context", &file, "--json"]).json();
    let last = context["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"], "Use Rust");
}
