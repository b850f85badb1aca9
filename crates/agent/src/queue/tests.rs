use session_tree::Timestamp;

use super::*;

fn message(text: &str) -> Message {
    Message::user(text).with_time(Timestamp::from_millis(0))
}

/// Takes the items with a delivery and returns their texts.
fn taken(queue: &Queue, delivery: Delivery, mode: QueueMode) -> Vec<String> {
    queue.take(delivery, mode).into_iter().map(text).collect()
}

fn text(message: QueuedMessage) -> String {
    match message {
        QueuedMessage::Prompt(submission) => submission.text,
        QueuedMessage::Custom(message) => message.text().into_owned(),
    }
}

fn job(text: Option<QueueText>, source: Source) -> Job {
    Job { text, source, cancel: Cancel::new(), run: Box::new(|_, _| Box::pin(async {})) }
}

#[test]
fn items_are_taken_one_by_one_or_all_together() {
    let queue = Queue::default();
    let fill = || {
        queue.add_prompt(Delivery::Steer, Submission::typed("prompt"));
        queue.add_message(Delivery::FollowUp, message("later"));
        queue.add_message(Delivery::Steer, message("more"));
    };
    fill();
    assert_eq!(taken(&queue, Delivery::Steer, QueueMode::OneAtATime), ["prompt"]);
    assert_eq!(taken(&queue, Delivery::Steer, QueueMode::OneAtATime), ["more"]);
    assert!(taken(&queue, Delivery::Steer, QueueMode::OneAtATime).is_empty());
    assert_eq!(taken(&queue, Delivery::FollowUp, QueueMode::OneAtATime), ["later"]);
    fill();
    assert_eq!(taken(&queue, Delivery::Steer, QueueMode::All), ["prompt", "more"]);
    assert!(queue.has_unanswered());
}

#[test]
fn only_prompts_of_the_user_are_listed_and_taken_back() {
    let queue = Queue::default();
    let of_extension = Submission { source: Submission::EXTENSION, ..Submission::typed("of an extension") };
    queue.add_prompt(Delivery::Steer, Submission::typed("again"));
    queue.add_prompt(Delivery::Steer, of_extension);
    queue.add_job(job(Some(QueueText::Typed("/tree".to_owned())), Source::Agent));
    queue.add_job(job(Some(QueueText::Description("a move".to_owned())), Source::Agent));
    queue.add_job(job(None, Source::Extension));
    let listed: Vec<String> = queue.list().into_iter().map(|queued| queued.text).collect();
    assert_eq!(listed, ["again", "/tree", "a move"]);
    let texts: Vec<String> = queue.take_back().into_iter().map(|prompt| prompt.text).collect();
    assert_eq!(texts, ["again", "/tree"]);
    assert_eq!(queue.try_next_job().map(|job| job.source), Some(Source::Extension));
    assert!(queue.try_next_job().is_none());
    assert_eq!(taken(&queue, Delivery::Steer, QueueMode::All), ["of an extension"]);
}

#[test]
fn only_messages_that_the_model_is_to_answer_count_as_unanswered() {
    let queue = Queue::default();
    queue.add_message(Delivery::NextTurn, message("with the next prompt"));
    assert!(!queue.has_waiting() && !queue.has_unanswered());
    queue.add_message(Delivery::AfterTurn, message("at the end"));
    assert!(queue.has_waiting() && !queue.has_unanswered());
    queue.add_message(Delivery::FollowUp, message("later"));
    assert!(queue.has_unanswered());
    let texts: Vec<String> = queue.waiting().into_iter().map(text).collect();
    assert_eq!(texts, ["later", "at the end"]);
    queue.clear();
    assert!(taken(&queue, Delivery::NextTurn, QueueMode::All).is_empty());
}
