//! Labels and the name of the session.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::LabelRequest;
use serde_json::json;

use super::Desk;

const TALK: &str = "
    a user Build a CLI
    b<a assistant ok
    c<b model prov/mod
    d<a assistant no
";

fn label(target: Option<&str>, label: Option<&str>) -> LabelRequest {
    LabelRequest { target: target.map(Into::into), label: label.map(Into::into) }
}

#[tokio::test]
async fn a_label_goes_onto_the_last_answer_and_extensions_hear_of_it() {
    let mut desk = Desk::at(TALK, "c", vec![]);
    let plan = desk.agent.plan_label(&label(None, Some(" good "))).unwrap();
    desk.agent.label(&plan, &Cancel::new()).await.unwrap();
    let expected = json!({"type": "session_label", "targetId": "b", "label": "good", "previous": null});
    assert_eq!(desk.event("session_label"), expected);
    let [entry] = &desk.appended(TALK)[..] else { panic!("one entry") };
    assert_eq!((&entry["targetId"], &entry["label"]), (&json!("b"), &json!("good")));

    let plan = desk.agent.plan_label(&label(Some("@good"), None)).unwrap();
    desk.agent.label(&plan, &Cancel::new()).await.unwrap();
    let expected = json!({"type": "session_label", "targetId": "b", "label": null, "previous": "good"});
    assert_eq!(desk.event("session_label"), expected);
}

#[tokio::test]
async fn a_label_that_is_there_is_not_written_again() {
    let mut desk = Desk::draw(TALK, vec![]);
    let plan = desk.agent.plan_label(&label(Some("leaf"), Some("  "))).unwrap();
    assert_eq!(desk.agent.label(&plan, &Cancel::new()).await.unwrap(), None);
    assert!(desk.events().is_empty() && desk.appended(TALK).is_empty());
}

#[tokio::test]
async fn where_nothing_was_said_nothing_can_be_labelled() {
    let desk = Desk::draw("", vec![]);
    let error = desk.agent.plan_label(&label(None, Some("x"))).unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to label yet");
    assert!(desk.agent.plan_push("x").is_err());
}

#[tokio::test]
async fn a_session_gets_a_name_and_loses_it() {
    let mut desk = Desk::draw(TALK, vec![]);
    let plan = desk.agent.plan_name(Some(" Greeter\nCLI "));
    assert_eq!(plan.name.as_deref(), Some("Greeter CLI"));
    desk.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    assert_eq!(
        desk.event("session_info_changed"),
        json!({"type": "session_info_changed", "name": "Greeter CLI"})
    );
    assert_eq!(desk.agent.session().name(), Some("Greeter CLI"));
    let again = desk.agent.plan_name(Some("Greeter CLI"));
    assert_eq!(desk.agent.name_session(&again, &Cancel::new()).await.unwrap(), None);
    let plan = desk.agent.plan_name(None);
    desk.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    assert_eq!(desk.agent.session().name(), None);
    assert_eq!(desk.appended(TALK).len(), 2);
}
