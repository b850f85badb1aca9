use super::session_name;

#[test]
fn names_of_sessions_are_safe_and_differ() {
    assert_eq!(session_name("thread-1").unwrap(), "thread-1");
    assert_eq!(session_name("../Etc/a b").unwrap(), "%2E.%2F%45tc%2Fa%20b");
    let ids = ["a", "A", "%41", "a/b", "a%2Fb", ".a", "ä", "a\0", "con", "a."];
    let mut names: Vec<String> = ids.iter().map(|id| session_name(id).unwrap().to_lowercase()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), ids.len());
}

#[test]
fn an_id_that_no_session_can_have_is_refused() {
    assert!(session_name("").unwrap_err().to_string().contains("it is empty"));
    assert!(session_name(&"a".repeat(240)).is_ok());
    assert!(session_name(&"ä".repeat(100)).unwrap_err().to_string().contains("too long"));
}
