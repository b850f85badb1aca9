//! Words of strangers: after an import, a merge or a pick, the first call of a tool is shown to whoever guards the tools.

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

/// Lets everything pass and notes how careful it was told to be.
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

struct World {
    dir: tempfile::TempDir,
    agent: Agent,
    guard: Guard,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    std::fs::write(&file, session_text(TREE)).unwrap();
    let model = Scripted::new(vec![call(), call(), Reply::Text("done")]);
    let guard = Guard::default();
    let agent = agent(Options::new().open(file).unwrap(), &model).with_tools(with_tool(|| {}));
    World { agent: agent.with_approver(Arc::new(guard.clone())), guard, dir }
}

/// Lets the model call a tool twice; gives how careful the guard was told to be.
async fn warnings(world: &mut World) -> Vec<Option<ProvenanceWarning>> {
    world.agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    world.guard.0.lock().unwrap().clone()
}

#[tokio::test]
async fn ones_own_words_give_no_warning() {
    assert_eq!(warnings(&mut world()).await, [None, None]);
}

#[tokio::test]
async fn the_first_call_after_an_import_does() {
    let mut world = world();
    let other = world.dir.path().join("other.jsonl");
    std::fs::write(&other, session_text("x user hi\ny<x call calls sure\nz<y tool calls fine")).unwrap();
    let directory = world.dir.path().join("sessions");
    std::fs::create_dir(&directory).unwrap();
    let import = world.agent.plan_import(&other, &directory, Options::new()).unwrap();
    world.agent.import(import, Options::new(), &Cancel::new()).await.unwrap();
    assert_eq!(warnings(&mut world).await, [Some(ProvenanceWarning::Imported), None]);
}

#[tokio::test]
async fn the_first_call_after_a_merge_does() {
    let mut world = world();
    let with = MergeWith::Digest;
    let request = MergeBranchRequest { branch: "d".into(), with, ..Default::default() };
    let planned = world.agent.plan_merge(None, &request).unwrap();
    let draft = world.agent.draft_merge(planned, &Cancel::new()).await.unwrap().done().unwrap();
    world.agent.merge(&draft, &Cancel::new()).await.unwrap();
    assert_eq!(warnings(&mut world).await, [Some(ProvenanceWarning::PickedOrMerged), None]);
}

#[tokio::test]
async fn the_first_call_after_a_pick_of_a_call_with_its_result_does() {
    let mut world = world();
    let request = CherryPickRequest { what: "h".into(), native: true, ..Default::default() };
    let planned = world.agent.plan_cherry_pick(None, &request).unwrap();
    world.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    assert_eq!(warnings(&mut world).await, [Some(ProvenanceWarning::PickedOrMerged), None]);
}

#[tokio::test]
async fn the_first_call_after_a_pick_does_even_after_a_restart() {
    let mut world = world();
    let request = CherryPickRequest { what: "d".into(), ..Default::default() };
    let planned = world.agent.plan_cherry_pick(None, &request).unwrap();
    world.agent.cherry_pick(planned, &Cancel::new()).await.unwrap();
    let session = Options::new().open(world.dir.path().join("s.jsonl")).unwrap();
    let model = Scripted::new(vec![call(), call(), Reply::Text("done")]);
    let again = agent(session, &model).with_tools(with_tool(|| {}));
    world.agent = again.with_approver(Arc::new(world.guard.clone()));
    assert_eq!(warnings(&mut world).await, [Some(ProvenanceWarning::PickedOrMerged), None]);
}
