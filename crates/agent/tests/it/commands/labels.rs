//! Labels and the name of the session.

use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::LabelRequest;
use serde_json::json;

use super::TestAgent;

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
async fn a_label_is_set_on_the_last_answer_and_reported() {
    let mut test = TestAgent::at(TALK, "c", vec![]);
    let plan = test.agent.plan_label(&label(None, Some(" good "))).unwrap();
    test.agent.label(&plan, &Cancel::new()).await.unwrap();
    let expected = json!({"type": "session_label", "targetId": "b", "label": "good", "previous": null});
    assert_eq!(test.event("session_label"), expected);
    let [entry] = &test.appended(TALK)[..] else { panic!("one entry") };
    assert_eq!((&entry["targetId"], &entry["label"]), (&json!("b"), &json!("good")));

    let plan = test.agent.plan_label(&label(Some("@good"), None)).unwrap();
    test.agent.label(&plan, &Cancel::new()).await.unwrap();
    let expected = json!({"type": "session_label", "targetId": "b", "label": null, "previous": "good"});
    assert_eq!(test.event("session_label"), expected);
}

#[tokio::test]
async fn a_label_that_is_there_is_not_written_again() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let plan = test.agent.plan_label(&label(Some("leaf"), Some("  "))).unwrap();
    assert_eq!(test.agent.label(&plan, &Cancel::new()).await.unwrap(), None);
    assert!(test.events().is_empty() && test.appended(TALK).is_empty());
}

#[tokio::test]
async fn an_empty_session_has_nothing_to_label() {
    let test = TestAgent::draw("", vec![]);
    let error = test.agent.plan_label(&label(None, Some("x"))).unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to label yet");
    assert!(test.agent.plan_push("x").is_err());
}

#[tokio::test]
async fn a_session_gets_a_name_and_loses_it() {
    let mut test = TestAgent::draw(TALK, vec![]);
    let plan = test.agent.plan_name(Some(" Greeter\nCLI "));
    assert_eq!(plan.name.as_deref(), Some("Greeter CLI"));
    test.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    assert_eq!(
        test.event("session_info_changed"),
        json!({"type": "session_info_changed", "name": "Greeter CLI"})
    );
    assert_eq!(test.agent.session().name(), Some("Greeter CLI"));
    let again = test.agent.plan_name(Some("Greeter CLI"));
    assert_eq!(test.agent.name_session(&again, &Cancel::new()).await.unwrap(), None);
    let plan = test.agent.plan_name(None);
    test.agent.name_session(&plan, &Cancel::new()).await.unwrap();
    assert_eq!(test.agent.session().name(), None);
    assert_eq!(test.appended(TALK).len(), 2);
}
