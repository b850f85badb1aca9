use session_tree::Timestamp;

use super::*;

fn message(text: &str) -> Message {
    Message::user(text).with_time(Timestamp::from_millis(0))
}

/// Takes what is due, and spells it: what was sent together stands together.
fn taken(inbox: &Inbox, delivery: Delivery, mode: QueueMode) -> Vec<String> {
    let texts = |sent: Sent| sent.messages.iter().map(Message::text).collect::<Vec<_>>().join("+");
    inbox.take(delivery, mode).into_iter().map(texts).collect()
}

#[test]
fn what_waits_goes_one_by_one_or_all_together_and_what_was_sent_together_stays_together() {
    let inbox = Inbox::default();
    let fill = || {
        inbox.submit(Delivery::Steer, vec![message("prompt"), message("file")]);
        inbox.send(Delivery::FollowUp, message("later"));
        inbox.send(Delivery::Steer, message("more"));
    };
    fill();
    assert_eq!(taken(&inbox, Delivery::Steer, QueueMode::OneAtATime), ["prompt+file"]);
    assert_eq!(taken(&inbox, Delivery::Steer, QueueMode::OneAtATime), ["more"]);
    assert!(taken(&inbox, Delivery::Steer, QueueMode::OneAtATime).is_empty());
    assert_eq!(taken(&inbox, Delivery::FollowUp, QueueMode::OneAtATime), ["later"]);
    fill();
    assert_eq!(taken(&inbox, Delivery::Steer, QueueMode::All), ["prompt+file", "more"]);
    assert!(inbox.has_unanswered());
}

#[test]
fn what_was_submitted_can_be_taken_back_until_a_turn_takes_it() {
    let inbox = Inbox::default();
    let [first, second] = ["again", "again"].map(|text| inbox.submit(Delivery::Steer, vec![message(text)]));
    assert_eq!(taken(&inbox, Delivery::Steer, QueueMode::OneAtATime), ["again"]);
    assert!(!inbox.holds(first) && !inbox.take_back(first));
    assert!(inbox.holds(second) && inbox.take_back(second));
    assert!(!inbox.has_waiting() && !inbox.take_back(second));
}

#[test]
fn only_what_the_model_is_to_answer_counts_as_unanswered() {
    let inbox = Inbox::default();
    inbox.send(Delivery::NextTurn, message("with the next prompt"));
    assert!(!inbox.has_waiting() && !inbox.has_unanswered());
    inbox.send(Delivery::AfterTurn, message("at the end"));
    assert!(inbox.has_waiting() && !inbox.has_unanswered());
    inbox.send(Delivery::FollowUp, message("later"));
    assert!(inbox.has_unanswered());
    let texts: Vec<String> = inbox.waiting_messages().iter().map(|one| one.text().into_owned()).collect();
    assert_eq!(texts, ["later", "at the end"]);
    inbox.clear();
    assert!(taken(&inbox, Delivery::NextTurn, QueueMode::All).is_empty());
}
