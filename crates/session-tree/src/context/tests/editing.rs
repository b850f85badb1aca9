//! Appended context edits: refusals, and their effect on the next context.

use super::draw::texts;
use crate::draft::NewContent;
use crate::entry::Message;
use crate::session::{Options, Session};
use crate::time::Timestamp;

fn user(session: &mut Session, text: &str) -> String {
    let message = Message::user(text).with_time(Timestamp::from_millis(1));
    session.append_message(&message).unwrap().to_string()
}

#[test]
fn edits_of_unknown_silent_and_abandoned_entries_are_refused() {
    let mut session = Options::new().in_memory("/w").unwrap();
    let first = user(&mut session, "first");
    let abandoned = user(&mut session, "abandoned");
    session.branch(&first).unwrap();
    let level = session.append_thinking_level_change("high").unwrap().to_string();
    let entries = session.tree().len();
    let mut refused =
        |target: &str| session.append_context_edit(target, &NewContent::Omit).unwrap_err().to_string();
    assert_eq!(refused("nobody"), "Entry nobody not found");
    assert_eq!(refused(&abandoned), format!("Entry {abandoned} is not on the active branch"));
    assert_eq!(refused(&level), format!("Entry {level} does not contribute editable model content"));
    assert_eq!(session.tree().len(), entries);
}

#[test]
fn an_appended_edit_shows_in_the_next_context() {
    let mut session = Options::new().in_memory("/w").unwrap();
    let first = user(&mut session, "first");
    user(&mut session, "second");
    assert_eq!(texts(&session), "first|second");
    session.append_context_edit(&first, &NewContent::Text("edited".into())).unwrap();
    assert_eq!(texts(&session), "edited|second");
    session.append_context_edit(&first, &NewContent::Omit).unwrap();
    assert_eq!(texts(&session), "second");
}
