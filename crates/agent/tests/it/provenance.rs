//! Text of foreign origin: after an import, a merge or a pick, the approver gets a warning with the first tool call.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use offshoot_agent::agent::Agent;
use offshoot_agent::approval::{Approval, Approver};
use offshoot_agent::cancel::Cancel;
use offshoot_agent::command::{CherryPickRequest, MergeBranchRequest, MergeWith};
use offshoot_agent::permission::ProvenanceWarning;
use offshoot_agent::tools::ReadyCall;
use session_tree::Options;
use testkit::drawing::session_text;

use crate::extensions::{call, with_tool};
use crate::support::{Reply, Scripted, agent, prompt};

/// Approves every call and records its warning.
#[derive(Debug, Clone, Default)]
struct Guard(Arc<Mutex<Vec<Option<ProvenanceWarning>>>>);

impl Approver for Guard {
    fn approve<'a>(&'a self, request: &'a ReadyCall) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        self.0.lock().unwrap().push(request.provenance);
        Box::pin(std::future::ready(Approval::Yes))
    }
}

const TREE: &str = "
    a user one
    b<a assistant 1
    c<b user two
    d<c assistant 2
    g<b user four
    h<g call calls sure
    i<h tool calls fine
    e<b user three
    f<e assistant 3
";

struct Project {
    dir: tempfile::TempDir,
    agent: Agent,
    guard: Guard,
}

fn project() -> Project {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    std::fs::write(&file, session_text(TREE)).unwrap();
    let model = Scripted::new(vec![call(), call(), Reply::Text("done")]);
    let guard = Guard::default();
    let agent = agent(Options::new().open(file).unwrap(), &model).with_tools(with_tool(|| {}));
    Project { agent: agent.with_approver(Arc::new(guard.clone())), guard, dir }
}

/// Lets the model call a tool twice and returns the warnings.
async fn warnings(project: &mut Project) -> Vec<Option<ProvenanceWarning>> {
    project.agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    project.guard.0.lock().unwrap().clone()
}

#[tokio::test]
async fn text_of_the_user_gives_no_warning() {
    assert_eq!(warnings(&mut project()).await, [None, None]);
}

#[tokio::test]
async fn the_first_call_after_an_import_does() {
    let mut project = project();
    let other = project.dir.path().join("other.jsonl");
    std::fs::write(&other, session_text("x user hi\ny<x call calls sure\nz<y tool calls fine")).unwrap();
    let directory = project.dir.path().join("sessions");
    std::fs::create_dir(&directory).unwrap();
    let import = project.agent.plan_import(&other, &directory, Options::new()).unwrap();
    project.agent.import(import, Options::new(), &Cancel::new()).await.unwrap();
    assert_eq!(warnings(&mut project).await, [Some(ProvenanceWarning::Imported), None]);
}

#[tokio::test]
async fn the_first_call_after_a_merge_does() {
    let mut project = project();
    let with = MergeWith::Digest;
    let request = MergeBranchRequest { branch: "d".into(), with, ..Default::default() };
    let planned = project.agent.plan_merge(None, &request).unwrap();
    let draft = project.agent.draft_merge(planned, &Cancel::new()).await.unwrap().done().unwrap();
    project.agent.merge(&draft, &Cancel::new()).await.unwrap();
    assert_eq!(warnings(&mut project).await, [Some(ProvenanceWarning::PickedOrMerged), None]);
}

#[tokio::test]
async fn the_first_call_after_a_pick_of_a_call_with_its_result_does() {
    let mut project = project();
    let request = CherryPickRequest { what: "h".into(), native: true, ..Default::default() };
    let planned = project.agent.plan_cherry_pick(None, &request).unwrap();
    project.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    assert_eq!(warnings(&mut project).await, [Some(ProvenanceWarning::PickedOrMerged), None]);
}

#[tokio::test]
async fn the_first_call_after_a_pick_does_even_after_a_restart() {
    let mut project = project();
    let request = CherryPickRequest { what: "d".into(), ..Default::default() };
    let planned = project.agent.plan_cherry_pick(None, &request).unwrap();
    project.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    let session = Options::new().open(project.dir.path().join("s.jsonl")).unwrap();
    let model = Scripted::new(vec![call(), call(), Reply::Text("done")]);
    let again = agent(session, &model).with_tools(with_tool(|| {}));
    project.agent = again.with_approver(Arc::new(project.guard.clone()));
    assert_eq!(warnings(&mut project).await, [Some(ProvenanceWarning::PickedOrMerged), None]);
}
