use super::*;

#[test]
fn others_are_seen_while_they_live_and_their_signs_go_with_them() {
    let state = tempfile::tempdir().unwrap();
    let directory = state.path().join("presence");
    let mut me = Presence::default();
    me.announce(state.path(), "a");
    assert!(!is_held(state.path(), "a"));
    let other = directory.join(format!("{}.1", name("a")));
    let held = File::create(&other).unwrap();
    held.lock().unwrap();
    assert!(is_held(state.path(), "a") && !is_held(state.path(), "b"));
    drop(held);
    assert!(!is_held(state.path(), "a"));
    drop(me);
    assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
}

#[test]
fn a_program_that_opens_the_same_session_again_is_still_seen() {
    let state = tempfile::tempdir().unwrap();
    let sign = |id: &str| state.path().join("presence").join(format!("{}.{}", name(id), std::process::id()));
    let mut me = Presence::default();
    me.announce(state.path(), "a");
    me.announce(state.path(), "a");
    assert!(is_alive(&sign("a")));
    me.announce(state.path(), "b");
    assert!(!sign("a").exists() && is_alive(&sign("b")));
}
