//! Token estimates, transcripts and branch summaries equal those of pi, for every recorded file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use session_tree::json::ValueRef;
use session_tree::{
    BranchSummaryPlan, BranchSummarySettings, Message, Node, Session, convert_to_llm, estimate_tokens,
    serialize_conversation,
};

use crate::support::recorded::{Position, Recorded, named, recorded};

/// Intended differences: file, parts of the answer, reason.
const DIFFERENT: &[(&str, &[&str], &str)] = &[
    ("abandoned-files", &["files"], "lists of compactions and calls inside tools count; pi forgets them"),
    (
        "compaction-empty-texts",
        &["serialized"],
        "a summary that is missing is empty; pi sends the word `undefined`",
    ),
    ("oh-my-pi-extras", &["tokens", "serialized"], "a reset boundary of oh-my-pi begins the context anew"),
    (
        "unknown-roles",
        &["tokens", "serialized", "summary"],
        "file mentions and hook messages of oh-my-pi are sent",
    ),
    ("uuid-keys", &["tokens"], "the early design is read; pi sees entries without ids"),
    (
        "v1-but-ids-present",
        &["tokens", "serialized", "summary"],
        "ids that are there are used; pi flattens the tree",
    ),
];

/// The settings of the recorded answers: no limits, and summaries reach beyond compactions.
const EVERYTHING: BranchSummarySettings = BranchSummarySettings {
    reserve_tokens: 0,
    context_window: None,
    is_unlimited: true,
    through_compactions: true,
};

#[test]
fn token_estimates_equal_those_of_pi() {
    assert_equal_answers("tokens", |asked| {
        let theirs = asked.answer.get("tokens").filter(|tokens| tokens.get("crash").is_none())?;
        let theirs: Vec<String> = theirs.items().map(ValueRef::js_string).collect();
        let context = asked.session.context_at(asked.session.position_of(asked.position).unwrap()).unwrap();
        let ours: Vec<String> =
            context.messages().map(|message| estimate_tokens(message).to_string()).collect();
        Some((ours.join(" "), theirs.join(" ")))
    });
}

#[test]
fn transcripts_equal_those_of_pi() {
    assert_equal_answers("serialized", |asked| {
        let theirs = asked.answer.get("serialized")?.as_str()?;
        let context = asked.session.context_at(asked.session.position_of(asked.position).unwrap()).unwrap();
        let messages: Vec<Message> = context.messages().filter_map(convert_to_llm).collect();
        Some((serialize_conversation(&messages), theirs.into_owned()))
    });
}

#[test]
fn abandoned_entries_and_their_messages_equal_those_of_pi() {
    assert_equal_answers("summary", |asked| {
        let (plan, theirs) = (asked.plan(), asked.summary()?);
        let node = |id: ValueRef<'_>| named(asked.session, &id.as_str()?);
        let number = |key: &str| theirs.get(key).map_or(String::new(), ValueRef::js_string);
        let common = theirs.get("common").and_then(node);
        let entries: Vec<Option<Node>> = theirs.get("entries")?.items().map(node).collect();
        let abandoned: Vec<Option<Node>> = plan.abandoned.entries.iter().copied().map(Some).collect();
        let (ours_common, messages, tokens) =
            (plan.abandoned.common_ancestor, plan.messages.len(), plan.tokens);
        Some((
            format!("{ours_common:?} {abandoned:?}, {messages} messages, {tokens} tokens"),
            format!("{common:?} {entries:?}, {} messages, {} tokens", number("messages"), number("tokens")),
        ))
    });
}

#[test]
fn files_of_branch_summaries_equal_those_of_pi() {
    assert_equal_answers("files", |asked| {
        let (files, theirs) = (asked.plan().file_ops, asked.summary()?);
        let list =
            |key: &str| theirs.get(key).into_iter().flat_map(ValueRef::items).filter_map(ValueRef::as_str);
        let set = |key: &str| list(key).map(String::from).collect::<BTreeSet<String>>();
        Some((
            format!("{:?} {:?} {:?}", files.read, files.written, files.edited),
            format!("{:?} {:?} {:?}", set("read"), set("written"), set("edited")),
        ))
    });
}

/// A recorded answer and the position it belongs to.
struct RecordedAnswer<'a> {
    session: &'a Session,
    /// The leaf of pi after it opened the file.
    leaf: Option<Node>,
    position: Option<Node>,
    answer: ValueRef<'a>,
}

impl RecordedAnswer<'_> {
    fn plan(&self) -> BranchSummaryPlan {
        let position = |node| self.session.position_of(node).unwrap();
        self.session.plan_branch_summary(position(self.leaf), position(self.position), &EVERYTHING).unwrap()
    }

    fn summary(&self) -> Option<ValueRef<'_>> {
        self.answer.get("summary").filter(|summary| summary.get("entries").is_some())
    }
}

/// Compares one part of all answers. Fails on an unexpected difference and on a missing expected one.
fn assert_equal_answers(part: &str, both: impl Fn(&RecordedAnswer<'_>) -> Option<(String, String)>) {
    let mut wrong = String::new();
    let mut compared = 0;
    for file in recorded().iter().filter(|file| file.is_session()) {
        let differences = differences(file, &both, &mut compared);
        let expected = DIFFERENT.iter().find(|(name, parts, _)| *name == file.name && parts.contains(&part));
        if differences.is_empty() != expected.is_none() {
            let _ = writeln!(wrong, "{}, expected {expected:?}:\n{}", file.name, differences.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 200, "only {compared} answers compared");
}

fn differences(
    file: &Recorded,
    both: &impl Fn(&RecordedAnswer<'_>) -> Option<(String, String)>,
    compared: &mut usize,
) -> Vec<String> {
    let session = Session::from_bytes(file.bytes.clone()).unwrap();
    let find = |id: Option<&str>| id.map(|id| named(&session, id).unwrap());
    let leaf = find(file.answer.root().get("leaf").and_then(ValueRef::as_str).as_deref());
    let mut differences = Vec::new();
    for Position { leaf: position, answer, .. } in file.positions() {
        let asked = RecordedAnswer { session: &session, leaf, position: find(position.as_deref()), answer };
        let Some((ours, theirs)) = both(&asked) else { continue };
        *compared += 1;
        if ours != theirs {
            differences.push(format!("at {position:?}\n  ours   {ours}\n  theirs {theirs}"));
        }
    }
    differences
}
