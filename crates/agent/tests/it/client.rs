//! A client that drives a whole conversation over the handle of an agent, and nothing else.

use std::fs;
use std::sync::Arc;

use offshoot_agent::agent::{Agent, Delivery, NavigateRequest, Submission, Submitted, SummaryRequest};
use offshoot_agent::approval::ApprovalAnswer;
use offshoot_agent::command::{MergeBranchRequest, MergeWith, MergedBranch};
use offshoot_agent::error::AgentError;
use offshoot_agent::event::{AgentEvent, Event, Subscription};
use offshoot_agent::handle::AgentHandle;
use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::permission::{Mode, Permissions};
use offshoot_agent::queue::QueueText;
use offshoot_agent::tools::ToolBox;
use offshoot_agent::turn::Outcome;
use serde_json::json;

use crate::support::{Reply, Scripted, empty, path};

fn start(replies: Vec<Reply>, dir: &tempfile::TempDir) -> (AgentHandle, Arc<Scripted>) {
    let model = Scripted::new(replies);
    let agent = Agent::new(empty(), dir.path())
        .with_model(model.clone(), ThinkingLevel::Off)
        .with_tools(ToolBox::all())
        .with_permissions(Permissions::new(Mode::AskFor));
    (agent.spawn().unwrap(), model)
}

async fn prompt(agent: &AgentHandle, text: &str) {
    let done = Submitted::Answered(Outcome::Done);
    assert_eq!(agent.prompt(Submission::typed(text)).await.unwrap(), done);
}

fn names(events: &mut Subscription) -> Vec<&'static str> {
    let events: Vec<Event> = std::iter::from_fn(|| events.try_next()).collect();
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "the numbers have no gaps");
    events.iter().map(|event| event.event.name()).collect()
}

#[tokio::test]
async fn a_client_drives_a_whole_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let write = |id, content: &str| (id, "write", json!({"path": "notes.md", "content": content}));
    let (agent, model) = start(
        vec![
            Reply::Calls("I write it down.", vec![write("c1", "one\n")]),
            Reply::Text("Written."),
            Reply::Calls("Again.", vec![write("c2", "two\n")]),
            Reply::Text("Not written."),
            Reply::Text("Steered."),
            Reply::Text("## Goal\nwrite notes"),
            Reply::Text("Another way."),
            Reply::Text("the notes say one"),
        ],
        &dir,
    );
    let (mut first, mut second) = (agent.subscribe(), agent.subscribe());

    // Approvals: the change is shown before the tool runs, and a refusal has a reason.
    let mut approvals = agent.approvals();
    let turn = agent.prompt(Submission::typed("write a note"));
    let asked = approvals.recv().await.unwrap();
    assert_eq!((asked.tool.as_str(), asked.diff()), ("write", "+1 one"));
    assert_eq!(asked.paths, [dir.path().canonicalize().unwrap().join("notes.md")]);
    asked.answer(ApprovalAnswer::Yes);
    turn.await.unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("notes.md")).unwrap(), "one\n");

    // Steering: a prompt that is queued while a tool waits reaches the model after the tool.
    let turn = agent.prompt(Submission::typed("and once more"));
    let asked = approvals.recv().await.unwrap();
    agent.queue_prompt(Submission::typed("only look"), Delivery::Steer);
    assert_eq!(agent.queue()[0].text, "only look");
    asked.answer(ApprovalAnswer::No("keep the first".to_owned()));
    turn.await.unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("notes.md")).unwrap(), "one\n");
    let asked = model.asked(3);
    assert_eq!(
        asked[asked.len() - 2..],
        ["toolResult: declined by the user: keep the first", "user: only look"]
    );
    prompt(&agent, "fine").await;

    // Navigation with a summary, back to the first prompt.
    let target = agent.find("leaf~4").unwrap().to_string();
    let left = agent.read(|session| session.leaf_id()).unwrap();
    let request = NavigateRequest { target, summary: SummaryRequest::Standard, label: None };
    let moved = agent.navigate(request).await.unwrap().done().unwrap();
    assert_eq!(moved.editor_text.as_deref(), Some("write a note"));
    assert!(moved.summary_entry.is_some());
    prompt(&agent, "try another way").await;

    // Merge of the branch that was left.
    let with = MergeWith::Summary { focus: None };
    let request = MergeBranchRequest { branch: left.to_string(), with, ..MergeBranchRequest::default() };
    let planned = agent.plan_merge(None, request).await.unwrap();
    let draft = agent.draft_merge(planned).await.unwrap().done().unwrap();
    assert!(draft.text().contains("the notes say one"));
    let merged = agent.merge(draft).await.unwrap().done().unwrap();
    assert!(matches!(merged, MergedBranch::Appended { .. }));
    let path = agent.read(path);
    let expected = ["branch_summary", "user: try another way", "assistant: Another way.", "branch_summary"];
    assert_eq!(path[1..], expected);

    // All subscribers have seen the same events.
    agent.quit().await.unwrap();
    let seen = names(&mut first);
    assert_eq!(names(&mut second), seen);
    for name in ["agent_start", "tool_refused", "queue_changed", "position_changed", "agent_end"] {
        assert!(seen.contains(&name), "{name} in {seen:?}");
    }
    assert!(matches!(agent.prompt(Submission::typed("anybody?")).await, Err(AgentError::Dropped)));
}

#[tokio::test]
async fn stopping_returns_the_prompts_and_drops_the_requests_of_the_queue() {
    let dir = tempfile::tempdir().unwrap();
    let (agent, model) = start(vec![Reply::Hangs("Well"), Reply::Text("Hello again.")], &dir);
    let mut events = agent.subscribe();
    let turn = agent.prompt(Submission::typed("hello"));
    while !matches!(events.next().await.unwrap().event, AgentEvent::Answer(_)) {}
    agent.queue_prompt(Submission::typed("later"), Delivery::FollowUp);
    let held = agent.hold(QueueText::Typed("/tree".to_owned()));
    let queued: Vec<String> = agent.queue().into_iter().map(|queued| queued.text).collect();
    assert_eq!(queued, ["later", "/tree"]);
    let returned: Vec<String> = agent.take_back().into_iter().map(|prompt| prompt.text).collect();
    assert_eq!(returned, ["later", "/tree"]);
    agent.abort();
    assert_eq!(turn.await.unwrap(), Submitted::Answered(Outcome::Aborted));
    assert!(matches!(held.await, Err(AgentError::Dropped)));
    prompt(&agent, "hello?").await;
    assert_eq!(model.requests().len(), 2);
}
