//! Navigation: the new leaf, the abandoned entries and the written lines.

use session_tree::{
    Error, Kind, Message, NavigationPlan, NewBranchSummary, Node, Options, Session, Timestamp,
};
use testkit::drawing::session_text;

fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

/// Creates a writable session from a drawing whose last entry is the leaf.
fn live(drawing: &str) -> (tempfile::TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, session_text(drawing)).unwrap();
    let session = Options::new().open(&path).unwrap();
    (dir, session)
}

fn ids(session: &Session, nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(|node| session.tree().id(*node).to_string()).collect()
}

fn new_leaf(plan: &NavigationPlan) -> Option<String> {
    plan.new_leaf.as_ref().map(ToString::to_string)
}

fn summary(text: &str) -> NewBranchSummary {
    NewBranchSummary { summary: text.into(), ..NewBranchSummary::default() }
}

const FOUR: &str = "
    u1 user one
    a2<u1 assistant two
    u3<a2 user three
    a4<u3 assistant four
";

const SIX: &str = "
    u1 user one
    a2<u1 assistant two
    u3<a2 user three
    a4<u3 assistant four
    u5<a4 user five
    a6<u5 assistant six
";

#[test]
fn going_back_to_the_first_prompt_empties_the_path_and_fills_the_editor() {
    let (_dir, mut session) = live(FOUR);
    let plan = session.plan_navigation("u1").unwrap();
    assert_eq!(plan.new_leaf, None);
    assert_eq!(plan.editor_text.as_deref(), Some("one"));
    let done = session.apply_navigation(&plan, None, None).unwrap();
    assert_eq!((done.new_leaf, done.summary_entry, done.label_entry), (None, None, None));
    assert_eq!(session.leaf(), None);
    assert_eq!(session.tree().len(), 4);
}

#[test]
fn going_to_the_leaf_does_nothing_with_any_option() {
    let (_dir, mut session) = live(FOUR);
    let plan = session.plan_navigation("a4").unwrap();
    assert!(plan.is_noop);
    let done = session.apply_navigation(&plan, Some(&summary("x")), Some("name")).unwrap();
    assert_eq!(done.new_leaf, session.tree().node("a4"));
    assert_eq!(session.tree().len(), 4);
}

#[test]
fn a_leaf_on_a_label_counts_as_being_at_the_labelled_place() {
    let session = session(
        "u1 user one
         a2<u1 assistant two
         l<a2 label u1 start
         t<l thinking high",
    );
    for target in ["a2", "l", "t"] {
        assert!(session.plan_navigation(target).unwrap().is_noop, "{target}");
    }
    assert!(!session.plan_navigation("u1").unwrap().is_noop);
    assert!(session.plan_exact_navigation("a2").unwrap().is_noop);
    let exact = session.plan_exact_navigation("l").unwrap();
    assert_eq!(new_leaf(&exact).as_deref(), Some("l"), "who asks for the very label gets it");
}

#[test]
fn an_answer_becomes_the_leaf_itself() {
    let session = session(FOUR);
    let plan = session.plan_navigation("a2").unwrap();
    assert_eq!(new_leaf(&plan).as_deref(), Some("a2"));
    assert_eq!(plan.editor_text, None);
    assert_eq!(ids(&session, &plan.abandoned), ["u3", "a4"]);
    assert_eq!(plan.common_ancestor, Some("a2".into()));
}

#[test]
fn a_summary_at_the_first_prompt_becomes_a_root() {
    let (_dir, mut session) = live(FOUR);
    let plan = session.plan_navigation("u1").unwrap();
    let done = session.apply_navigation(&plan, Some(&summary("tried")), None).unwrap();
    let entry = session.entry(done.summary_entry.unwrap().as_str()).unwrap();
    assert_eq!(entry.parent_id(), None);
    assert_eq!(session.leaf(), Some(entry.node()));
    assert_eq!(entry.value().unwrap().get("fromId").unwrap().as_str().unwrap(), "a4");
}

#[test]
fn a_summary_hangs_where_the_prompt_was_asked() {
    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    assert_eq!(ids(&session, &plan.abandoned), ["a4", "u5", "a6"]);
    let done = session.apply_navigation(&plan, Some(&summary("tried")), None).unwrap();
    let a2 = session.tree().node("a2").unwrap();
    let children: Vec<Node> = session.tree().children(a2).collect();
    assert_eq!(children, [session.tree().node("u3").unwrap(), done.new_leaf.unwrap()]);
}

#[test]
fn a_summary_at_an_answer_hangs_below_it() {
    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("a2").unwrap();
    let done = session.apply_navigation(&plan, Some(&summary("tried")), None).unwrap();
    let entry = session.entry(done.summary_entry.unwrap().as_str()).unwrap();
    assert_eq!(entry.parent_id().unwrap(), "a2");
    assert_eq!(session.leaf(), Some(entry.node()));
}

#[test]
fn an_empty_summary_is_not_written() {
    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    session.apply_navigation(&plan, Some(&summary("")), None).unwrap();
    assert_eq!(session.leaf_id().unwrap(), "a2");
    assert!(session.tree().nodes().all(|node| session.tree().kind(node) != Kind::BranchSummary));
}

#[test]
fn going_down_or_leaving_only_bookkeeping_leaves_nothing_to_summarise() {
    let mut down = session(FOUR);
    down.branch("a2").unwrap();
    let plan = down.plan_navigation("a4").unwrap();
    assert!(plan.abandoned.is_empty() && !plan.can_summarize);

    let books = session(
        "u1 user one
         a2<u1 assistant two
         u3<a2 user three
         l<a2 label u1 start
         t<l thinking high
         c<t custom state",
    );
    let plan = books.plan_navigation("u3").unwrap();
    assert_eq!(ids(&books, &plan.abandoned), ["l", "t", "c"]);
    assert!(!plan.can_summarize);
    assert_eq!(new_leaf(&plan).as_deref(), Some("a2"));
}

#[test]
fn a_label_goes_onto_the_target_or_onto_the_summary() {
    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    let done = session.apply_navigation(&plan, None, Some("again")).unwrap();
    let label = session.entry(done.label_entry.unwrap().as_str()).unwrap();
    assert_eq!(label.parent_id().unwrap(), "a2");
    assert_eq!(session.leaf(), Some(label.node()));
    assert_eq!(session.label(session.tree().node("u3").unwrap()).unwrap().text, "again");

    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    let done = session.apply_navigation(&plan, Some(&summary("tried")), Some("tried")).unwrap();
    let entry = session.node(done.summary_entry.unwrap().as_str()).unwrap();
    assert_eq!(session.label(entry).unwrap().text, "tried");
    assert_eq!(session.tree().parent(done.new_leaf.unwrap()), Some(entry));
}

#[test]
fn a_message_of_an_extension_is_taken_back_like_a_prompt() {
    let session = session(
        "u1 user one
         m<u1 custom_message note take this
         a<m assistant two",
    );
    let plan = session.plan_navigation("m").unwrap();
    assert_eq!(plan.editor_text.as_deref(), Some("take this"));
    assert_eq!(new_leaf(&plan).as_deref(), Some("u1"));
}

#[test]
fn the_images_of_a_prompt_come_back() {
    let session = session(
        r#"! {"type":"message","id":"u1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"look "},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"here"}]}}
         a2<u1 assistant two"#,
    );
    let plan = session.plan_navigation("u1").unwrap();
    assert_eq!(plan.editor_text.as_deref(), Some("look here"));
    assert_eq!(plan.images.len(), 1);
    assert_eq!((&*plan.images[0].data, &*plan.images[0].mime_type), ("AAAA", "image/png"));
}

#[test]
fn a_root_without_conversation_means_before_everything_and_any_other_root_itself() {
    let drawing = "
        m model prov/mod
        t<m thinking high
        u<t user one
        a<u assistant two
        b bash ls
    ";
    let mut session = session(drawing);
    session.branch("a").unwrap();
    assert_eq!(session.plan_navigation("m").unwrap().new_leaf, None);
    assert_eq!(new_leaf(&session.plan_navigation("t").unwrap()).as_deref(), Some("t"));
    assert_eq!(new_leaf(&session.plan_navigation("b").unwrap()).as_deref(), Some("b"));
    assert_eq!(new_leaf(&session.plan_exact_navigation("m").unwrap()).as_deref(), Some("m"));
}

#[test]
fn from_before_everything_nothing_is_left_behind() {
    let mut session = session(FOUR);
    session.reset_leaf();
    let plan = session.plan_navigation("a4").unwrap();
    assert!(plan.abandoned.is_empty());
    assert_eq!(plan.common_ancestor, None);
    assert_eq!(new_leaf(&plan).as_deref(), Some("a4"));
}

#[test]
fn switching_goes_to_the_newest_tip_and_leaves_prompts_where_they_are() {
    let session = session(
        "u1 user one
         a2<u1 assistant two
         u3<a2 user old branch
         a4<u3 assistant old answer
         u5<a2 user new branch
         l<u5 label u1 start
         z user elsewhere",
    );
    let plan = session.plan_switch("u1").unwrap();
    assert_eq!(new_leaf(&plan).as_deref(), Some("u5"));
    assert_eq!(plan.editor_text, None);
    assert_eq!(new_leaf(&session.plan_switch("u3").unwrap()).as_deref(), Some("a4"));
    assert_eq!(new_leaf(&session.plan_switch("l").unwrap()).as_deref(), Some("l"));
}

#[test]
fn a_damaged_line_is_never_the_leaf() {
    let session = session(
        r#"u1 user one
         ! {"type":"message","id":"bad","parentId":"u1","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":
         u3<bad user three
         a4<u3 assistant four"#,
    );
    for target in ["bad", "u3"] {
        let plan = session.plan_navigation(target).unwrap();
        assert_eq!(new_leaf(&plan).as_deref(), Some("u1"), "{target}");
    }
}

#[test]
fn an_unknown_target_is_an_error_and_planning_changes_nothing() {
    let (dir, session) = live(SIX);
    let before = std::fs::read(dir.path().join("s.jsonl")).unwrap();
    let error = session.plan_navigation("nonexistent").unwrap_err();
    assert_eq!(error.to_string(), "Entry nonexistent not found");
    for node in session.tree().nodes() {
        session.plan_navigation(session.tree().id(node).as_str()).unwrap();
    }
    assert_eq!(session.leaf_id().unwrap(), "a6");
    assert_eq!(std::fs::read(dir.path().join("s.jsonl")).unwrap(), before);
}

#[test]
fn a_plan_made_before_the_leaf_moved_still_moves_but_takes_no_summary() {
    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    session.append_session_info("a name").unwrap();
    session.append_message(&Message::user("more").with_time(Timestamp::from_millis(0))).unwrap();
    let len = session.tree().len();
    let refused = session.apply_navigation(&plan, Some(&summary("tried")), None);
    assert!(matches!(refused, Err(Error::StalePlan)), "{refused:?}");
    assert_eq!(session.tree().len(), len);
    session.apply_navigation(&plan, None, None).unwrap();
    assert_eq!(session.leaf_id().unwrap(), "a2");
}

#[test]
fn a_new_session_name_does_not_make_a_summary_stale() {
    let (_dir, mut session) = live(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    session.append_session_info("a name").unwrap();
    let done = session.apply_navigation(&plan, Some(&summary("tried")), None).unwrap();
    assert!(done.summary_entry.is_some());
}

#[test]
fn a_label_that_cannot_be_written_leaves_the_leaf_where_it_was() {
    let mut session = session(SIX);
    let plan = session.plan_navigation("u3").unwrap();
    let refused = session.apply_navigation(&plan, None, Some("name"));
    assert!(matches!(refused, Err(Error::ReadOnly { .. })), "{refused:?}");
    assert_eq!(session.leaf_id().unwrap(), "a6");
    session.apply_navigation(&plan, None, None).unwrap();
    assert_eq!(session.leaf_id().unwrap(), "a2", "a move alone writes nothing");
}
