use futures_util::FutureExt as _;

use super::*;
use crate::tool::ToolOutput;

fn progress(events: &Events) {
    let output = ToolOutput::text("so far");
    events.emit(AgentEvent::ToolUpdate { call_id: "1".to_owned(), output });
}

#[tokio::test]
async fn the_agent_waits_for_a_subscriber_with_a_window() {
    let events = Events::default();
    let mut subscription = events.subscribe_within(2);
    events.emit(AgentEvent::AgentStart);
    assert!(events.room().now_or_never().is_some());
    events.emit(AgentEvent::QueueChanged);
    assert!(events.room().now_or_never().is_none(), "two events are unread");
    // The output of a tool is skipped meanwhile; all other events are kept.
    progress(&events);
    events.emit(AgentEvent::QueueChanged);
    let waiting = events.room();
    let reading = async {
        for name in ["agent_start", "queue_changed", "queue_changed"] {
            assert_eq!(subscription.next().await.unwrap().event.name(), name);
        }
    };
    tokio::join!(waiting, reading);
    progress(&events);
    assert_eq!(subscription.try_next().unwrap().event.name(), "tool_execution_update");
    assert!(subscription.try_next().is_none());
}

#[tokio::test]
async fn the_agent_does_not_wait_for_a_subscriber_that_is_gone() {
    let events = Events::default();
    let subscription = events.subscribe_within(1);
    events.emit(AgentEvent::AgentStart);
    assert!(events.room().now_or_never().is_none());
    let leaving = async { drop(subscription) };
    tokio::join!(events.room(), leaving);
}
