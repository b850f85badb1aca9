//! Properties of all files and all sequences of appends, tested with random ones.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;
use session_tree::json::{Doc, ValueRef};
use session_tree::{
    BranchSummarySettings, CompactionSettings, Draft, EntryId, Error, Extract, ForkPosition, KeepFrom,
    NewBranchSummary, NewCompaction, NewContent, Options, Position, Session, Timestamp, import,
};
use testkit::drawing::session_text;
use testkit::mangle;
use testkit::sim_fs::SimFs;

use crate::support::drawn;
use crate::support::live::{assistant, options, user};

const PATH: &str = "/sessions/s.jsonl";

fn disk(bytes: &[u8]) -> SimFs {
    let fs = SimFs::new();
    fs.put(PATH, bytes).unwrap();
    fs
}

fn on(fs: &SimFs) -> Options {
    options().file_system(Arc::new(fs.clone()))
}

/// Generates a whole, odd or damaged file of any version.
fn any_file() -> impl Strategy<Value = Vec<u8>> {
    (0..4_u64, 0..100_000_u64).prop_map(|(seed, index)| mangle::file(seed, index).bytes)
}

/// An entry: id, parent, time and line, with unprintable bytes escaped.
type Shown = (EntryId, Option<EntryId>, Timestamp, String);

/// Returns the readable entries of a session. Damaged lines are omitted, because they show only if opening had to
/// decode them.
fn shown(session: &Session) -> Vec<Shown> {
    let entries = session.entries().map(Result::unwrap).filter(|entry| !entry.is_placeholder());
    entries
        .map(|entry| {
            (
                entry.id().clone(),
                entry.parent_id().cloned(),
                entry.timestamp(),
                entry.raw().escape_ascii().to_string(),
            )
        })
        .collect()
}

fn labels(session: &Session) -> Vec<(EntryId, String, Timestamp)> {
    let labels = session.labels().into_iter();
    labels.map(|(node, label)| (session.tree().id(node), label.text.to_string(), label.set_at)).collect()
}

/// Returns the lines of a text without line feeds. A rest after the last line feed is a line too.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Returns true if a line describes the file rather than an entry, so that a copy has its own.
fn is_about_the_file(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let doc = Doc::parse(line.trim_ascii());
    let is =
        |name| doc.as_ref().is_ok_and(|doc| doc.root().get("type").is_some_and(|kind| kind.is_str(name)));
    is("session") || is("title")
}

proptest! {
    #![proptest_config(drawn(256))]

    #[test]
    fn a_copy_of_a_whole_session_has_every_line_of_it_byte_for_byte(bytes in any_file()) {
        let Ok(session) = Session::from_bytes(bytes.clone()) else { return Ok(()) };
        prop_assume!(session.header().version() >= 3);
        let plan = session.plan_extract(Extract::All).unwrap();
        let mut copy = Vec::new();
        session.write_extract(&plan, &Options::new().new_header("/w"), &mut copy).unwrap();
        let copied = lines(&copy);
        let mut rest = copied[1..].iter().peekable();
        for line in lines(&bytes) {
            if rest.peek() == Some(&&line) {
                rest.next();
            } else {
                prop_assert!(
                    is_about_the_file(line) || line.trim_ascii().is_empty(),
                    "left out or changed: {}",
                    String::from_utf8_lossy(line)
                );
            }
        }
        prop_assert!(rest.next().is_none(), "something was added");
        let again = Session::from_bytes(copy).unwrap();
        prop_assert_eq!(shown(&again), shown(&session));
    }

    #[test]
    fn an_imported_file_is_the_same_file(bytes in any_file()) {
        let fs = disk(&bytes);
        fs.put_dir("/here").unwrap();
        let Ok(copy) = import(PATH.as_ref(), "/here".as_ref(), &on(&fs)) else {
            prop_assert!(Session::from_bytes(bytes).is_err(), "a session could not be imported");
            return Ok(());
        };
        prop_assert_eq!(fs.bytes(copy).unwrap(), bytes.clone());
        prop_assert_eq!(fs.bytes(PATH).unwrap(), bytes);
    }

    #[test]
    fn planning_changes_nothing(bytes in any_file(), picks in prop::collection::vec(any::<Index>(), 1..5)) {
        let fs = disk(&bytes);
        let Ok(session) = on(&fs).open(PATH) else { return Ok(()) };
        let (leaf, tree, changes) = (session.leaf(), session.tree().ordered(), fs.op_count());
        let nodes: Vec<_> = session.tree().nodes().collect();
        let settings = BranchSummarySettings::default();
        for target in picks.iter().filter(|_| !nodes.is_empty()).map(|pick| *pick.get(&nodes)) {
            let id = session.tree().id(target);
            drop(session.plan_navigation(id.as_str()));
            drop(session.plan_exact_navigation(id.as_str()));
            drop(session.plan_switch(id.as_str()));
            drop(session.plan_fork(id.as_str(), ForkPosition::At));
            drop(session.plan_branch_summary(Position::Leaf, &id, &settings));
            drop(session.plan_compaction_at(
                target,
                &CompactionSettings { keep_recent_tokens: 1, ..CompactionSettings::default() },
            ));
            for what in [
                Extract::Path { at: target },
                Extract::Branch { at: target },
                Extract::Subtree { root: target },
                Extract::All,
            ] {
                drop(session.plan_extract(what));
            }
        }
        let report = session.check().unwrap();
        drop(session.plan_repair(&report));
        prop_assert_eq!(session.leaf(), leaf);
        prop_assert_eq!(session.tree().ordered(), tree);
        drop(session);
        prop_assert_eq!(fs.op_count(), changes, "something was written");
        prop_assert_eq!(fs.bytes(PATH).unwrap(), bytes);
        prop_assert_eq!(fs.paths(), [std::path::PathBuf::from(PATH)]);
    }

    #[test]
    fn a_cut_file_takes_an_append_without_losing_a_line(
        file in (0..4_u64, 0..100_000_u64),
        cut in any::<Index>(),
    ) {
        let bytes = mangle::file(file.0, file.1).bytes;
        let cut = cut.index(bytes.len() + 1);
        append_after_cut(&bytes, cut)?;
    }
}

#[test]
fn a_file_cut_at_any_byte_takes_an_append_without_losing_a_line() {
    let text = session_text(
        "
        u1 user one, with ümläuts 漢字
        a2<u1 assistant two
        l3<a2 label u1 start
        k4<l3 compaction keep=a2 so far
        n5<k4 info a name
        m6<n5 marker a2
    ",
    );
    for cut in 0..=text.len() {
        append_after_cut(&text, cut).unwrap();
    }
}

#[test]
fn an_old_file_cut_in_an_entry_that_others_stand_on_takes_an_append() {
    let text = concat!(
        r#"{"type":"session","version":2,"id":"two","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","id":"child001","parentId":"torn0001","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","id":"torn0001","parentId":null"#,
    );
    append_after_cut(text.as_bytes(), text.len()).unwrap();
}

/// Cuts a file, opens it, appends, and checks that all complete lines are still there.
fn append_after_cut(bytes: &[u8], cut: usize) -> Result<(), TestCaseError> {
    let left = &bytes[..cut];
    let fs = disk(left);
    let mut session = match on(&fs).open(PATH) {
        Ok(session) => session,
        Err(error) => {
            prop_assert!(matches!(error, Error::NotASession { .. }), "{error}");
            prop_assert_eq!(fs.bytes(PATH).unwrap(), left);
            let has_header = lines(left).iter().any(|line| is_header(line));
            prop_assert!(!has_header || Session::from_bytes(bytes.to_vec()).is_err(), "cut at {cut}");
            return Ok(());
        }
    };
    let before = shown(&session);
    if session.read_only().is_some() {
        return Ok(());
    }
    let is_current = session.header().version() == 3;
    let new = session.append_message(&user("appended after the cut")).unwrap();
    let live = shown(&session);
    drop(session);
    let now = fs.bytes(PATH).unwrap();
    if is_current {
        prop_assert!(now.starts_with(left), "cut at {cut}: older bytes changed");
    }
    let reopened = on(&fs).open(PATH).unwrap();
    let after = shown(&reopened);
    prop_assert_eq!(reopened.leaf_id(), Some(new), "cut at {}", cut);
    prop_assert_eq!(&after, &live, "cut at {}: what memory shows is what the file shows", cut);
    prop_assert_eq!(after.len(), before.len() + 1, "cut at {}", cut);
    for old in &before {
        let is_same = |new: &&Shown| new.0 == old.0 && (!is_current || new.3 == old.3);
        prop_assert!(after.iter().any(|new| is_same(&new)), "cut at {cut}: {} is gone", old.0);
    }
    let context = reopened.context().unwrap();
    let last = context.messages().last().map(|message| message.text().into_owned());
    prop_assert_eq!(last.as_deref(), Some("appended after the cut"));
    Ok(())
}

fn is_header(line: &[u8]) -> bool {
    Doc::parse(line.trim_ascii()).is_ok_and(|doc| {
        let root = doc.root();
        root.get("type").is_some_and(|kind| kind.is_str("session"))
            && root.get("id").and_then(ValueRef::as_str).is_some()
    })
}

/// A step on a session; positions are chosen among the existing entries.
#[derive(Debug, Clone)]
enum Step {
    Prompt(String),
    Answer(String),
    ToolResult(String),
    Level(String),
    Model(String, String),
    Usage(String, u32),
    Compaction(String, Option<Index>),
    Custom(String, Option<String>),
    CustomMessage(String, bool),
    Label(Index, Option<String>),
    Name(String),
    Edit(Index, Option<String>),
    Summary(Option<Index>, String),
    Under(Option<Index>, String),
    Batch(Vec<String>),
    Branch(Index),
    Reset,
    Mark,
}

fn step() -> impl Strategy<Value = Step> {
    let text = || any::<String>();
    let some_text = || prop::option::of(any::<String>());
    let place = || any::<Index>();
    let some_place = || prop::option::of(any::<Index>());
    prop_oneof![
        text().prop_map(Step::Prompt),
        text().prop_map(Step::Answer),
        text().prop_map(Step::ToolResult),
        text().prop_map(Step::Level),
        (text(), text()).prop_map(|(provider, model)| Step::Model(provider, model)),
        (text(), any::<u32>()).prop_map(|(kind, tokens)| Step::Usage(kind, tokens)),
        (text(), some_place()).prop_map(|(summary, kept)| Step::Compaction(summary, kept)),
        (text(), some_text()).prop_map(|(kind, data)| Step::Custom(kind, data)),
        (text(), any::<bool>()).prop_map(|(content, display)| Step::CustomMessage(content, display)),
        (place(), some_text()).prop_map(|(target, label)| Step::Label(target, label)),
        text().prop_map(Step::Name),
        (place(), some_text()).prop_map(|(target, content)| Step::Edit(target, content)),
        (some_place(), text()).prop_map(|(target, summary)| Step::Summary(target, summary)),
        (some_place(), text()).prop_map(|(target, prompt)| Step::Under(target, prompt)),
        prop::collection::vec(text(), 0..4).prop_map(Step::Batch),
        place().prop_map(Step::Branch),
        Just(Step::Reset),
        Just(Step::Mark),
    ]
}

impl Step {
    fn perform(&self, session: &mut Session) -> session_tree::Result<()> {
        let ids: Vec<EntryId> = session.tree().nodes().map(|node| session.tree().id(node)).collect();
        let pick = |at: &Index| (!ids.is_empty()).then(|| at.get(&ids).clone());
        let or_none = |at: &Option<Index>| at.as_ref().and_then(pick);
        match self {
            Step::Prompt(text) => session.append_message(&user(text)).map(drop),
            Step::Answer(text) => session.append_message(&assistant(text)).map(drop),
            Step::ToolResult(text) => {
                let content = json!([{"type": "text", "text": text}]);
                let result = json!({"role": "toolResult", "toolCallId": text, "toolName": "read",
                    "content": content, "isError": false, "timestamp": 0});
                session.append_message(&session_tree::Message::from_serialize(&result)?).map(drop)
            }
            Step::Level(level) => session.append_thinking_level_change(level).map(drop),
            Step::Model(provider, model) => session.append_model_change(provider, model).map(drop),
            Step::Usage(kind, tokens) => {
                session.append_usage(kind, "prov", "mod", &json!({"input": tokens}), None).map(drop)
            }
            Step::Compaction(summary, kept) => {
                let keep = or_none(kept).map_or(KeepFrom::Nothing, KeepFrom::Entry);
                let new = NewCompaction {
                    summary: summary.clone(),
                    keep,
                    tokens_before: 7,
                    details: Some(json!({"readFiles": [summary]})),
                    usage: None,
                    from_hook: true,
                };
                session.append_compaction(&new).map(drop)
            }
            Step::Custom(kind, data) => {
                let data = data.as_ref().map(|data| json!({ "data": data }));
                session.append_custom_entry(kind, data.as_ref()).map(drop)
            }
            Step::CustomMessage(content, display) => {
                session.append_custom_message("note", &json!(content), *display, None).map(drop)
            }
            Step::Label(target, label) => match pick(target) {
                Some(target) => session.append_label_change(target.as_str(), label.as_deref()).map(drop),
                None => Ok(()),
            },
            Step::Name(name) => session.append_session_info(name).map(drop),
            Step::Edit(target, content) => {
                let content = content.clone().map_or(NewContent::Omit, NewContent::Text);
                let edited = pick(target).map(|id| session.append_context_edit(id.as_str(), &content));
                match edited {
                    Some(Err(Error::NotOnPath { .. } | Error::NotEditable { .. })) | None => Ok(()),
                    Some(result) => result.map(drop),
                }
            }
            Step::Summary(target, summary) => {
                let new = NewBranchSummary { summary: summary.clone(), ..NewBranchSummary::default() };
                session.branch_with_summary(Position::entry_or_start(or_none(target)), new).map(drop)
            }
            Step::Under(target, prompt) => {
                let draft = Draft::message(&user(prompt))?;
                session.append_under(Position::entry_or_start(or_none(target)), draft).map(drop)
            }
            Step::Batch(texts) => {
                let drafts: session_tree::Result<Vec<Draft>> =
                    texts.iter().map(|text| Draft::message(&user(text))).collect();
                session.append_batch(&drafts?).map(drop)
            }
            Step::Branch(target) => match pick(target) {
                Some(target) => session.branch(target.as_str()),
                None => Ok(()),
            },
            Step::Reset => {
                session.reset_leaf();
                Ok(())
            }
            Step::Mark => session.mark_leaf().map(drop),
        }
    }
}

proptest! {
    #![proptest_config(drawn(200))]

    #[test]
    fn what_was_appended_is_what_is_read_again(steps in prop::collection::vec(step(), 1..30)) {
        let fs = SimFs::new();
        fs.put_dir("/sessions").unwrap();
        let mut session = on(&fs).create(PATH, "/project").unwrap();
        for step in &steps {
            step.perform(&mut session).unwrap();
        }
        session.mark_leaf().unwrap();
        session.save().unwrap();
        let bytes = fs.bytes(PATH).unwrap();
        let from_bytes = Session::from_bytes(bytes.clone()).unwrap();
        let reopened = on(&fs).open(PATH).unwrap();
        for read in [&from_bytes, &reopened] {
            prop_assert_eq!(shown(read), shown(&session));
            prop_assert_eq!(read.leaf_id(), session.leaf_id());
            prop_assert_eq!(labels(read), labels(&session));
            prop_assert_eq!(read.name(), session.name());
            let ordered = |session: &Session| {
                let rows = session.tree().ordered().into_iter();
                rows.map(|(node, depth)| (node.index(), depth)).collect::<Vec<_>>()
            };
            prop_assert_eq!(ordered(read), ordered(&session));
            prop_assert!(read.diagnostics().iter().all(|found| found.problem.code() == "first-kept-not-on-path"));
            prop_assert_eq!(text_of(read), text_of(&session), "the contexts differ");
        }
        let written: Vec<String> = shown(&session).into_iter().map(|entry| entry.3).collect();
        let found: Vec<String> = lines(&bytes)[1..].iter().map(|line| line.escape_ascii().to_string()).collect();
        prop_assert_eq!(found, written, "the file holds the header and these lines");
        prop_assert_eq!(fs.bytes(PATH).unwrap(), bytes);
    }
}

fn text_of(session: &Session) -> Vec<String> {
    session.context().unwrap().messages().map(|message| message.json().into_owned()).collect()
}
