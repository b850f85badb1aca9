use session_tree::{Message, Options};

use super::*;

#[test]
fn clones_see_one_session() {
    let shared = SharedSession::new(Options::new().in_memory("/w").unwrap());
    let other = shared.clone();
    let id = shared.lock().append(Message::user("hi")).unwrap();
    assert_eq!(thread::spawn(move || other.lock().leaf_id()).join().unwrap(), Some(id));
}

#[test]
fn appended_entries_have_a_source() {
    let shared = SharedSession::new(Options::new().in_memory("/w").unwrap());
    let said = |text| shared.lock().append(Message::user(text)).unwrap();
    let (first, second) = (said("a"), said("b"));
    let third = shared.lock_as(Source::Extension).append_custom_entry("state", None).unwrap();
    let fourth = said("c");
    let unreported = shared.take_unreported().into_iter();
    let unreported: Vec<_> =
        unreported.map(|(node, source)| (shared.lock().tree().id(node), source)).collect();
    let (agent, extension) = (Source::Agent, Source::Extension);
    assert_eq!(unreported, [(first, agent), (second, agent), (third, extension), (fourth, agent)]);
    assert_eq!(shared.take_unreported(), []);
    let mut other = Options::new().in_memory("/w").unwrap();
    other.append(Message::user("another session")).unwrap();
    drop(shared.replace(other));
    assert_eq!(shared.take_unreported(), [], "what a session brings along is not new");
}

#[test]
#[should_panic(expected = "locked twice")]
fn a_second_lock_by_the_same_thread_panics_instead_of_waiting_for_ever() {
    let shared = SharedSession::new(Options::new().in_memory("/w").unwrap());
    let _held = shared.lock();
    drop(shared.lock());
}
