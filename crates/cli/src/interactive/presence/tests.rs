use super::*;

#[test]
fn others_are_seen_while_they_live_and_their_signs_go_with_them() {
    let state = tempfile::tempdir().unwrap();
    let directory = state.path().join("presence");
    let mut me = Presence::default();
    me.announce(state.path(), "a");
    assert_eq!(me.others(state.path(), "a"), 0);
    let other = directory.join(format!("{}.1", name("a")));
    let held = File::create(&other).unwrap();
    held.lock().unwrap();
    assert_eq!(me.others(state.path(), "a"), 1);
    assert_eq!(me.others(state.path(), "b"), 0);
    drop(held);
    assert_eq!(me.others(state.path(), "a"), 0);
    drop(me);
    assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
}

#[test]
fn who_opens_the_same_session_again_is_still_seen() {
    let state = tempfile::tempdir().unwrap();
    let mut me = Presence::default();
    me.announce(state.path(), "a");
    me.announce(state.path(), "a");
    let other = Presence::default();
    assert_eq!(other.others(state.path(), "a"), 1);
    me.announce(state.path(), "b");
    assert_eq!(other.others(state.path(), "a"), 0);
    assert_eq!(other.others(state.path(), "b"), 1);
}
