//! Fork, clone, export, import: new sessions made of old ones.

use std::fs;
use std::path::{Path, PathBuf};

use session_tree::{
    Destination, Error, Extract, ForkPosition, Message, NewHeader, Node, Options, Position, Session,
    fork_from, import,
};
use testkit::drawing::session_text;

use crate::support::live::{Folder, lines, options, shape};

fn draw(dir: &Folder, drawing: &str) -> Session {
    Session::open(dir.put("source.jsonl", session_text(drawing))).unwrap()
}

fn to(dir: &Folder, name: &str) -> Destination {
    Destination::File(dir.at(name))
}

fn at(session: &Session, id: &str) -> Node {
    session.node(id).unwrap()
}

fn first_kept(session: &Session, id: &str) -> String {
    let entry = session.entry(id).unwrap();
    entry.value().unwrap().get("firstKeptEntryId").unwrap().as_str().unwrap().into_owned()
}

const ACROSS_LABELS: &str = "
    u1 user one
    a2<u1 assistant two
    l1<a2 label u1 one
    u3<l1 user three
    a4<u3 assistant four
    k<a4 compaction keep=l1 sum
    u5<k user five
    l5<u5 label u5 five
    l2<l5 label a2 two
";

#[test]
fn a_fork_before_a_prompt_takes_its_text_along() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        "
        u1 user one
        a2<u1 assistant two
        u3<a2 user three
        a4<u3 assistant four
        u5<a4 user five
    ",
    );
    let plan = source.plan_fork("u3", ForkPosition::Before).unwrap();
    assert_eq!(plan.editor_text.as_deref(), Some("three"));
    let fork = source.fork(&plan, to(&dir, "fork.jsonl"), options()).unwrap();
    assert_eq!(shape(&fork), ["u1", "a2<u1"]);
    assert!(fork.is_saved());
    assert_eq!(fork.header().id(), "session-1");
    let parent = fork.header().parent_session().unwrap().into_owned();
    assert_eq!(Path::new(&parent), source.file().unwrap());
    assert!(Path::new(&parent).is_absolute());
    assert_eq!(fork.header().cwd(), source.header().cwd());
}

#[test]
fn a_fork_before_the_first_prompt_is_an_empty_session_without_a_file() {
    let dir = Folder::new();
    let source = draw(&dir, "u1 user one\na2<u1 assistant two");
    let plan = source.plan_fork("u1", ForkPosition::Before).unwrap();
    assert_eq!((plan.target.clone(), plan.editor_text.as_deref()), (None, Some("one")));
    let mut fork = source.fork(&plan, Destination::Directory(dir.at("forks")), options()).unwrap();
    assert!(fork.tree().is_empty() && !fork.is_saved());
    assert_eq!(Path::new(&*fork.header().parent_session().unwrap()), source.file().unwrap());
    fork.append(Message::user("another")).unwrap();
    assert!(fork.is_saved());
    assert_eq!(lines(fork.file().unwrap()).len(), 2);
}

#[test]
fn only_a_prompt_can_be_forked_before_and_any_entry_at() {
    let dir = Folder::new();
    let source = draw(&dir, "u1 user one\na2<u1 assistant two");
    for id in ["a2", "nonexistent"] {
        let error = source.plan_fork(id, ForkPosition::Before).unwrap_err();
        assert_eq!(error.to_string(), "Invalid entry ID for forking");
    }
    let plan = source.plan_fork("a2", ForkPosition::At).unwrap();
    assert_eq!((plan.target, plan.editor_text), (Some("a2".into()), None));
}

#[test]
fn a_session_without_a_file_cannot_be_forked_unless_it_lives_in_memory() {
    let dir = Folder::new();
    let mut held = Options::new().create(dir.at("s.jsonl"), "/w").unwrap();
    let id = held.append_thinking_level_change("high").unwrap();
    let error = held.plan_fork(id.as_str(), ForkPosition::At).unwrap_err();
    assert!(matches!(error, Error::NotSaved));
    let mut memory = Options::new().in_memory("/w").unwrap();
    let id = memory.append_thinking_level_change("high").unwrap();
    memory.plan_fork(id.as_str(), ForkPosition::At).unwrap();
}

#[test]
fn forking_an_unknown_entry_is_an_error_and_leaves_nothing() {
    let dir = Folder::new();
    let source = draw(&dir, ACROSS_LABELS);
    let error = source.create_branched_session("nonexistent", to(&dir, "fork.jsonl"), options()).unwrap_err();
    assert_eq!(error.to_string(), "Entry nonexistent not found");
    assert_eq!(dir.names(), ["source.jsonl"]);
}

#[test]
fn labels_are_removed_from_the_path_and_set_again_at_its_end() {
    let dir = Folder::new();
    let source = draw(&dir, ACROSS_LABELS);
    let plan = source.plan_extract(Extract::Path { at: at(&source, "u5") }).unwrap();
    let redirected = plan.entries.iter().filter_map(|entry| Some((entry.node, entry.first_kept?)));
    let redirected: Vec<_> = redirected.collect();
    assert_eq!(redirected, [(at(&source, "k"), at(&source, "u3"))]);
    assert_eq!(plan.left_out, [at(&source, "l1")]);

    let fork = source.create_branched_session("u5", to(&dir, "fork.jsonl"), options()).unwrap();
    let found = shape(&fork);
    assert_eq!(found[..6], ["u1", "a2<u1", "u3<a2", "a4<u3", "k<a4", "u5<k"]);
    assert_eq!(first_kept(&fork, "k"), "u3");
    assert_eq!(fork.tree().roots().len(), 1);
    let labels: Vec<_> =
        fork.labels().into_iter().map(|(n, label)| (fork.tree().id(n), label.text.clone())).collect();
    let labels: Vec<_> = labels.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    assert_eq!(labels, [("u1", "one"), ("u5", "five"), ("a2", "two")]);
    let chained: Vec<Node> = fork.branch_path(Position::Leaf)[6..].to_vec();
    assert_eq!(chained.len(), 3, "the labels hang below the last entry, each below the one before");
    assert_eq!(fork.leaf(), chained.last().copied());
    for (label, source_label) in chained.iter().zip(["l1", "l5", "l2"]) {
        assert_eq!(fork.tree().timestamp(*label), source.tree().timestamp(at(&source, source_label)));
    }
    let context = |session: &Session, leaf: &str| {
        let context = session.context_at(leaf).unwrap();
        context.messages().map(|message| message.json().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(context(&fork, "u5"), context(&source, "u5"));
}

#[test]
fn every_line_that_need_not_change_is_copied_byte_for_byte() {
    let dir = Folder::new();
    let odd = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w","metadata":{"x":1}}"#,
        r#"{"type":"message","id":"u1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"h\u00e9 \ud83d","n":1.0,"big":9007199254740993}}"#,
        r#"{ "type" : "label", "id":"l1","parentId":"u1","timestamp":"2025-01-01T00:00:02.000Z","targetId":"u1","label":"x" }"#,
        r#"{ "type": "message", "x":1, "x":2, "id" : "a2" , "parentId" : "l1" ,"timestamp":"2025-01-01T00:00:03.000Z","message":{"role":"assistant","content":[]} }"#,
        r#"{"type":"from_the_future","id":"f","parentId":"a2","timestamp":"2025-01-01T00:00:04.000Z","deep":[[[1e2]]]}"#,
        "not json at all",
        r#"{"type":"message","id":"u4","parentId":"f","timestamp":"2025-01-01T00:00:05.000Z","message":{"role":"user","content":"end"}}"#,
    ];
    // The last line has no line feed, one has a carriage return.
    let text = odd.join("\n").replace("\"end\"}}", "\"end\"}}\r");
    let source = Session::open(dir.put("source.jsonl", text.as_bytes())).unwrap();
    let fork = source.create_branched_session("u4", to(&dir, "fork.jsonl"), options()).unwrap();
    let written = fs::read_to_string(fork.file().unwrap()).unwrap();
    let written: Vec<&str> = written.split('\n').collect();
    assert_eq!(written[1], odd[1]);
    assert_eq!(written[2], odd[3].replace("\"l1\"", "\"u1\""));
    assert_eq!(written[3], odd[4]);
    assert_eq!(written[4], format!("{}\r", odd[6]));
    assert_eq!(written.len(), 7, "header, four entries, a label, nothing behind the last line feed");
    assert_eq!(fs::read_to_string(source.file().unwrap()).unwrap(), text, "the source is never touched");
}

#[test]
fn a_fork_in_memory_has_the_path_and_a_new_id() {
    let source = Session::from_bytes(session_text(
        "
        u1 user one
        a2<u1 assistant two
        u3<a2 user three
        a4<u3 assistant four
        u5<a2 user five
    ",
    ))
    .unwrap();
    let fork = source.create_branched_session("a2", Destination::Memory, options()).unwrap();
    assert_eq!(shape(&fork), ["u1", "a2<u1"]);
    assert_eq!(fork.file(), None);
    assert_eq!(fork.header().parent_session(), None);
    assert_ne!(fork.header().id(), source.header().id());
    assert_eq!(fork.leaf_id().unwrap(), "a2");
}

#[test]
fn a_fork_without_conversation_waits_for_one_and_is_then_written_whole() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        "
        m model prov/mod
        l<m label m start
        t<l thinking high
        u<t user one
        a<u assistant two
    ",
    );
    let mut fork = source.create_branched_session("t", to(&dir, "fork.jsonl"), options()).unwrap();
    assert!(!fork.is_saved());
    assert_eq!(dir.names(), ["source.jsonl"]);
    assert_eq!(fork.tree().len(), 3);
    fork.append_custom_entry("state", None).unwrap();
    assert!(!fork.is_saved());
    fork.append_message(
        &Message::parse(r#"{"role":"assistant","content":[{"type":"text","text":"hi"}]}"#).unwrap(),
    )
    .unwrap();
    let path = fork.file().unwrap().to_path_buf();
    let written = lines(&path);
    assert_eq!(written.iter().filter(|line| line.contains("\"type\":\"session\"")).count(), 1);
    assert_eq!(written.len(), 6);
    let reopened = Session::open(&path).unwrap();
    assert_eq!(shape(&reopened), shape(&fork));
    assert_eq!(reopened.branch_path(Position::Leaf).len(), 5);
}

#[test]
fn after_a_fork_new_entries_go_into_the_fork_only() {
    let dir = Folder::new();
    let source = draw(&dir, "u1 user one\na2<u1 assistant two");
    let before = fs::read(source.file().unwrap()).unwrap();
    let mut fork = source.create_branched_session("a2", to(&dir, "fork.jsonl"), options()).unwrap();
    fork.append(Message::user("more")).unwrap();
    assert_eq!(lines(fork.file().unwrap()).len(), 4);
    assert_eq!(fs::read(source.file().unwrap()).unwrap(), before);
    assert_eq!(Session::open(fork.file().unwrap()).unwrap().leaf_id(), fork.leaf_id());
}

#[test]
fn a_fork_holds_its_path_and_nothing_of_other_branches() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        "
        u1 user one
        a2<u1 assistant two
        u3<a2 user rewound
        a4<u3 assistant rewound too
        u5<a2 user instead
        l<u5 label u3 rewound
        n<l info a name
    ",
    );
    let fork = source.create_branched_session("n", to(&dir, "fork.jsonl"), options()).unwrap();
    assert_eq!(shape(&fork), ["u1", "a2<u1", "u5<a2", "n<u5"]);
    assert!(!fs::read_to_string(fork.file().unwrap()).unwrap().contains("rewound"));
}

#[test]
fn a_fork_never_takes_the_place_of_a_file() {
    let dir = Folder::new();
    let source = draw(&dir, "u1 user one\na2<u1 assistant two");
    dir.put("taken.jsonl", b"precious");
    let refused = source.create_branched_session("a2", to(&dir, "taken.jsonl"), options());
    assert!(matches!(refused, Err(Error::Exists { .. })));
    assert_eq!(fs::read(dir.at("taken.jsonl")).unwrap(), b"precious");
    assert_eq!(dir.names(), ["source.jsonl", "taken.jsonl"]);
}

#[test]
fn a_damaged_line_on_the_path_is_left_out_and_bridged() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        r#"
        u1 user one
        ! {"type":"message","id":"bad","parentId":"u1","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":
        u3<bad user three
        k<u3 compaction keep=bad sum
        a4<k assistant four
    "#,
    );
    let fork = source.create_branched_session("a4", to(&dir, "fork.jsonl"), options()).unwrap();
    assert_eq!(shape(&fork), ["u1", "u3<u1", "k<u3", "a4<k"]);
    assert_eq!(first_kept(&fork, "k"), "u3");
    assert!(fork.diagnostics().is_empty());
}

#[test]
fn an_orphan_becomes_the_root_of_its_fork() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        r#"
        ! {"type":"message","id":"u1","parentId":"lost","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"x"}}
        a2<u1 assistant two
    "#,
    );
    let fork = source.create_branched_session("a2", to(&dir, "fork.jsonl"), options()).unwrap();
    assert_eq!(shape(&fork), ["u1", "a2<u1"]);
    assert!(fork.diagnostics().is_empty());
    assert!(lines(fork.file().unwrap())[1].contains("\"parentId\":null"));
}

#[test]
fn a_compaction_that_kept_from_a_label_right_before_it_keeps_nothing() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        "
        u1 user one
        l1<u1 label u1 one
        k1<l1 compaction keep=l1 first
        u2<k1 user two
        k2<u2 compaction keep=elsewhere second
        z<u1 user elsewhere
    ",
    );
    let fork = source.create_branched_session("k2", to(&dir, "fork.jsonl"), options()).unwrap();
    assert_eq!(first_kept(&fork, "k1"), "k1");
    assert_eq!(first_kept(&fork, "k2"), "elsewhere", "what was never on the path stays as it is");
}

#[test]
fn a_branch_is_the_path_and_everything_below_with_its_labels() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        "
        u1 user one
        a2<u1 assistant two
        x3<a2 user other
        lx<x3 label u1 start
        u4<a2 user four
        l4<u4 label x3 other
        a5<l4 assistant five
        a6<u4 assistant again
    ",
    );
    let plan = source.plan_extract(Extract::Branch { at: at(&source, "u4") }).unwrap();
    let copied: Vec<_> = plan.entries.iter().map(|entry| source.tree().id(entry.node).to_string()).collect();
    assert_eq!(copied, ["u1", "a2", "u4", "a5", "a6"]);
    let export = source.extract(&plan, to(&dir, "branch.jsonl"), options()).unwrap();
    let found = shape(&export);
    assert_eq!(found[..5], ["u1", "a2<u1", "u4<a2", "a5<u4", "a6<u4"]);
    assert_eq!(export.labels().len(), 1, "a label is kept wherever it was set");
    assert_eq!(export.label(at(&export, "u1")).unwrap().text, "start");
}

#[test]
fn a_subtree_starts_at_its_entry_and_compactions_keep_from_there() {
    let dir = Folder::new();
    let source = draw(
        &dir,
        "
        u1 user one
        a2<u1 assistant two
        u3<a2 user three
        a4<u3 assistant four
        k1<a4 compaction keep=a2 first
        u5<k1 user five
        k2<u5 compaction keep=k1 second
        b<u3 assistant other
    ",
    );
    let plan = source.plan_extract(Extract::Subtree { root: at(&source, "u3") }).unwrap();
    let export = source.extract(&plan, to(&dir, "subtree.jsonl"), options()).unwrap();
    assert_eq!(shape(&export), ["u3", "a4<u3", "k1<a4", "u5<k1", "k2<u5", "b<u3"]);
    assert_eq!(first_kept(&export, "k1"), "u3");
    assert_eq!(first_kept(&export, "k2"), "k1");
    let plan = source.plan_extract(Extract::Subtree { root: at(&source, "k1") }).unwrap();
    let export = source.extract(&plan, to(&dir, "compaction.jsonl"), options());
    let export = export.unwrap();
    assert_eq!(first_kept(&export, "k1"), "k1");
}

#[test]
fn an_export_goes_to_any_writer_and_is_the_same_every_time_under_one_id() {
    let source = Session::from_bytes(session_text(ACROSS_LABELS)).unwrap();
    let plan = source.plan_extract(Extract::Path { at: source.leaf().unwrap() }).unwrap();
    let write = |header: &NewHeader| {
        let mut out = Vec::new();
        source.write_extract(&plan, header, &mut out).unwrap();
        assert_eq!(Session::from_bytes(out.clone()).unwrap().header().id(), header.id);
        out
    };
    let header = options().new_header("/w");
    assert_eq!(write(&header), write(&header));
    assert_eq!(
        write(&header),
        write(&options().new_header("/w")),
        "ids and times come from the options alone"
    );
}

#[test]
fn a_whole_file_is_copied_with_all_its_branches_and_bad_lines() {
    let dir = Folder::new();
    let text = session_text(
        "
        u1 user one
        a2<u1 assistant two
        ! this was never json
        u3<u1 user three
        l<u3 label u1 start
        ! {\"type\":\"session\",\"id\":\"again\"}
    ",
    );
    let source = dir.put("source.jsonl", &text);
    let id = Some("chosen".to_owned());
    let fork = fork_from(&source, "/elsewhere", to(&dir, "fork.jsonl"), options(), id).unwrap();
    assert_eq!(shape(&fork), ["u1", "a2<u1", "u3<u1", "l<u3"]);
    assert_eq!(fork.header().id(), "chosen");
    assert_eq!(fork.header().cwd().unwrap(), "/elsewhere");
    assert_eq!(Path::new(&*fork.header().parent_session().unwrap()), fs::canonicalize(&source).unwrap());
    let (copied, original) = (lines(fork.file().unwrap()), lines(&source));
    assert_eq!(copied[1..], original[1..6]);
}

#[test]
fn an_old_file_is_copied_in_the_current_version() {
    let dir = Folder::new();
    let v1 = concat!(
        r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"hookMessage","content":"two"}}"#,
        "\n",
        r#"{"type":"compaction","timestamp":"2025-01-01T00:00:03.000Z","summary":"x","firstKeptEntryIndex":2,"tokensBefore":1}"#,
        "\n",
    );
    let source = dir.put("v1.jsonl", v1.as_bytes());
    let ids: Vec<_> =
        Session::open(&source).unwrap().entries().map(|entry| entry.unwrap().id().clone()).collect();
    let fork = fork_from(&source, "/w", to(&dir, "fork.jsonl"), options(), None).unwrap();
    let written = lines(fork.file().unwrap());
    assert!(written[0].contains("\"version\":3"));
    assert!(written[1].contains(&format!("\"id\":\"{}\",\"parentId\":null", ids[0])));
    assert!(written[2].contains("\"role\":\"custom\""));
    assert_eq!(first_kept(&fork, ids[2].as_str()), ids[1].as_str());
    let path = Session::open(&source).unwrap().create_branched_session(
        ids[1].as_str(),
        to(&dir, "path.jsonl"),
        options(),
    );
    assert_eq!(lines(path.unwrap().file().unwrap())[1..], written[1..3]);
    assert_eq!(fs::read_to_string(&source).unwrap(), v1, "the source is never touched");
}

#[test]
fn a_source_that_is_missing_or_no_session_is_an_error_and_nothing_is_written() {
    let dir = Folder::new();
    let empty = dir.put("empty.jsonl", b"");
    let garbage = dir.put("garbage.jsonl", b"{\"type\":\"message\"}\n");
    for source in [dir.at("missing.jsonl"), empty, garbage, dir.at("")] {
        let error = fork_from(&source, "/w", to(&dir, "fork.jsonl"), options(), None).unwrap_err();
        assert!(
            error.to_string().starts_with("Cannot fork: source session file is empty or invalid: "),
            "{error}"
        );
        assert!(import(&source, &dir.at("sessions"), &Options::new()).is_err());
    }
    assert_eq!(dir.names(), ["empty.jsonl", "garbage.jsonl"]);
}

#[test]
fn an_import_is_a_copy_and_never_overwrites() {
    let dir = Folder::new();
    let text = [session_text("u1 user one"), b"torn tai".to_vec()].concat();
    let source = dir.put("name.jsonl", &text);
    let sessions = dir.at("sessions");
    let paths: Vec<PathBuf> = (0..3).map(|_| import(&source, &sessions, &Options::new()).unwrap()).collect();
    let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["name.jsonl", "name-1.jsonl", "name-2.jsonl"]);
    for path in &paths {
        assert_eq!(fs::read(path).unwrap(), text);
    }
    let stored = import(&paths[0], &sessions, &Options::new()).unwrap();
    assert_eq!(stored, fs::canonicalize(&paths[0]).unwrap(), "what is there already stays where it is");
    assert_eq!(fs::read_dir(&sessions).unwrap().count(), 3);
}

#[test]
fn a_file_of_the_early_design_is_imported_in_the_current_version() {
    let dir = Folder::new();
    let text = concat!(
        r#"{"type":"session","version":2,"id":"s","uuid":"root","parentUuid":null,"timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","uuid":"a","parentUuid":"root","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","uuid":"b","parentUuid":"a","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[]}}"#,
        "\n",
        r#"{"type":"stack_summary","uuid":"c","parentUuid":"a","timestamp":"2025-01-01T00:00:03.000Z","summary":"x"}"#,
        "\n",
    );
    let source = dir.put("early.jsonl", text.as_bytes());
    let path = import(&source, &dir.at(""), &Options::new()).unwrap();
    assert_eq!(path.file_name().unwrap(), "early-1.jsonl");
    let written = fs::read_to_string(&path).unwrap();
    assert!(!written.to_lowercase().contains("uuid"), "{written}");
    let session = Session::open(&path).unwrap();
    assert_eq!(session.read_only(), None);
    assert_eq!(session.header().id(), "s");
    assert_eq!(shape(&session), ["a", "b<a", "c<a"]);
    let summary = session.entry("c").unwrap();
    assert_eq!(summary.value().unwrap().get("fromId").unwrap().as_str().unwrap(), "a");
    assert_eq!(fs::read_to_string(&source).unwrap(), text);
}

#[test]
fn a_newer_version_can_be_forked_into_the_current_one() {
    let dir = Folder::new();
    let text = String::from_utf8(session_text("u1 user one\na2<u1 assistant two")).unwrap();
    let source = dir.put("v4.jsonl", text.replace("\"version\":3", "\"version\":4").as_bytes());
    let source = Session::open(source).unwrap();
    assert!(source.read_only().is_some());
    let mut fork = source.create_branched_session("a2", to(&dir, "fork.jsonl"), options()).unwrap();
    fork.append(Message::user("more")).unwrap();
    assert_eq!(fork.header().version(), 3);
}

#[test]
fn labels_between_all_entries_cost_nothing_but_their_own_splices() {
    let mut drawing = String::from("u0 user start\n");
    for n in 1..400 {
        drawing += &format!("l{n}<u{} label u{} name {n}\nu{n}<l{n} user text {n}\n", n - 1, n - 1);
    }
    let source = Session::from_bytes(session_text(&drawing)).unwrap();
    let fork = source.create_branched_session("u399", Destination::Memory, options()).unwrap();
    assert_eq!(fork.branch_path("u399").len(), 400);
    assert_eq!(fork.labels().len(), 399);
    assert_eq!(fork.branch_path(Position::Leaf).len(), 799);
}

#[test]
fn a_fork_behind_a_compaction_has_the_context_of_its_source() {
    let dir = Folder::new();
    let session = draw(
        &dir,
        "u1 user one
         a1<u1 assistant two
         l1<a1 label a1 kept from here
         u2<l1 user three
         c1<u2 compaction keep=a1 so far
         u3<c1 user four
         a3<u3 assistant five",
    );
    let fork = session.create_branched_session("a3", to(&dir, "fork.jsonl"), options()).unwrap();
    let texts = |session: &Session| -> Vec<String> {
        let context = session.context().unwrap();
        context.messages().map(|message| format!("{}: {}", message.role(), message.text())).collect()
    };
    assert_eq!(texts(&fork), texts(&session));
    assert!(texts(&fork).len() >= 4, "{:?}", texts(&fork));
}
