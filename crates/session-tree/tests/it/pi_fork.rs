//! Forks, compared with those of pi for the same files.

use session_tree::json::Doc;
use session_tree::{Destination, EntryId, Extract, Kind, NewHeader, Options, Session, Timestamp};

use crate::support::recorded::{Recorded, recorded};
use testkit::canonical::canonical;

/// Intended differences and their reasons.
const DIFFERENT: &[(&str, &str)] = &[
    ("bad-timestamps", "a label whose time cannot be read has the time of the entry before it"),
    ("labels-set-and-cleared", "a label of blanks is none"),
    ("lone-surrogate", "a label is text, so half of a surrogate pair in it becomes a replacement character"),
    ("v1-but-ids-present", "entries that form a tree keep it although the header has no version"),
];

#[test]
fn a_fork_at_the_leaf_has_the_lines_that_pi_writes() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for file in recorded() {
        let Some(theirs) = theirs(&file) else { continue };
        compared += 1;
        let is_known = DIFFERENT.iter().any(|(name, _)| *name == file.name);
        let ours = ours(&file);
        if (ours == theirs) == is_known {
            wrong.push(format!("{}\n ours   {ours:#?}\n theirs {theirs:#?}", file.name));
        }
    }
    assert!(compared > 50, "only {compared} files have a fork");
    assert!(wrong.is_empty(), "{} files\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_fork_without_conversation_is_held_back_as_pi_holds_it_back() {
    let mut count = 0;
    for file in recorded() {
        let is_deferred = file.answer.root().get("fork").is_some_and(|fork| fork.get("deferred").is_some());
        let Some(leaf) = leaf(&file).filter(|_| is_deferred) else { continue };
        let source = Session::from_bytes(file.bytes.clone()).unwrap();
        let plan = source.plan_extract(Extract::Path { at: source.node(&leaf).unwrap() }).unwrap();
        // We also count shell runs and messages of extensions as conversation.
        let talks = |kind: Kind| matches!(kind, Kind::Message | Kind::CustomMessage);
        let has_talk = plan.entries.iter().any(|entry| talks(source.tree().kind(entry.node)));
        let dir = tempfile::tempdir().unwrap();
        let to = Destination::File(dir.path().join("fork.jsonl"));
        let fork = source.create_branched_session(&leaf, to, Options::new()).unwrap();
        assert!(has_talk || !fork.is_saved(), "{}", file.name);
        count += 1;
    }
    assert!(count > 0, "some recorded files have no conversation");
}

/// Returns the lines that pi wrote, normalised; `None` if it wrote none.
fn theirs(file: &Recorded) -> Option<Vec<String>> {
    let fork = file.answer.root().get("fork")?;
    let lines: Vec<String> = fork.items().map(canonical).collect();
    (!lines.is_empty()).then_some(lines)
}

fn leaf(file: &Recorded) -> Option<String> {
    file.answer.root().get("leaf")?.as_str().map(Into::into)
}

/// Returns the lines of our fork, normalised, with fixed names for new values.
fn ours(file: &Recorded) -> Vec<String> {
    let source = Session::from_bytes(file.bytes.clone()).unwrap();
    let leaf = leaf(file).and_then(|id| crate::support::recorded::named(&source, &id));
    let Some(at) = leaf else { return vec!["no such leaf".into()] };
    let plan = source.plan_extract(Extract::Path { at }).unwrap();
    let cwd = source.header().cwd().unwrap_or_default().into_owned();
    let header = NewHeader {
        id: "id-of-the-fork".into(),
        cwd,
        parent_session: Some("<src>".into()),
        time: Timestamp::from_millis(1),
    };
    let mut out = Vec::new();
    source.write_extract(&plan, &header, &mut out).unwrap();
    let text = rename(&source, &plan_label_ids(&out, plan.entries.len()), out);
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| canonical(Doc::parse(line).unwrap().root())).collect()
}

/// Returns the ids of the label entries at the end.
fn plan_label_ids(out: &[u8], entries: usize) -> Vec<EntryId> {
    let lines = out.split(|byte| *byte == b'\n').skip(1 + entries).filter(|line| !line.is_empty());
    let id = |line| EntryId::from(&*Doc::parse(line).unwrap().root().get("id").unwrap().as_str().unwrap());
    lines.map(id).collect()
}

fn rename(source: &Session, labels: &[EntryId], out: Vec<u8>) -> Vec<u8> {
    let mut text = out;
    let mut replace = |from: &str, to: &str| {
        let from = format!("\"{from}\"");
        while let Some(at) = text.windows(from.len()).position(|window| window == from.as_bytes()) {
            text.splice(at..at + from.len(), format!("\"{to}\"").bytes());
        }
    };
    for (number, id) in labels.iter().enumerate() {
        replace(id.as_str(), &format!("+{number}"));
    }
    if source.header().version() == 1 {
        for (number, node) in source.tree().nodes().enumerate() {
            replace(source.tree().id(node).as_str(), &format!("#{number}"));
        }
    }
    replace("id-of-the-fork", "<new>");
    replace("1970-01-01T00:00:00.001Z", "<now>");
    text
}
