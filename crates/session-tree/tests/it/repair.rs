//! Repair: works by appending, can be undone, and keeps every original byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use session_tree::fs::RealFs;
use session_tree::repair::{HeaderlessFile, Repaired, read_headerless};
use session_tree::{Error, Fix, Message, Options, Position, Session, Timestamp};
use testkit::drawing::session_text;
use testkit::sim_fs::{Fault, SimFs};

use crate::support::drawn;
use crate::support::live::Folder;

/// Returns twenty messages in a chain, numbered like pi does.
fn twenty() -> Vec<Vec<u8>> {
    let mut drawing = String::from("000000aa user message 0\n");
    for at in 1..20 {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let (id, parent) = (0xaa + at, 0xaa + at - 1);
        drawing.push_str(&format!("{id:08x}<{parent:08x} {role} message {at}\n"));
    }
    let text = session_text(&drawing);
    text.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    [lines.join(&b'\n'), b"\n".to_vec()].concat()
}

fn repair(path: &Path) -> Repaired {
    let mut session = Session::open(path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    session.apply_repair(&plan).unwrap()
}

/// Returns the number of messages in the context.
fn context(path: &Path) -> usize {
    Session::open_read_only(path).unwrap().context().unwrap().items.len()
}

/// Returns the context length of a program that skips bad lines and continues from the last line.
fn context_elsewhere(path: &Path) -> usize {
    let text = fs::read(path).unwrap();
    let is_json = |line: &&[u8]| session_tree::json::validate(line).is_ok();
    let lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').filter(is_json).map(<[u8]>::to_vec).collect();
    let session = Session::from_bytes(joined(&lines)).unwrap();
    let last = session.tree().last();
    session.context_at(session.position_of(last).unwrap()).unwrap().items.len()
}

fn leaf(path: &Path) -> String {
    Session::open_read_only(path).unwrap().leaf_id().unwrap().to_string()
}

fn assert_nothing_left_to_do(path: &Path) {
    let session = Session::open_read_only(path).unwrap();
    let report = session.check().unwrap();
    let plan = session.plan_repair(&report);
    assert!(plan.is_empty() && !plan.needs_copy(), "{report:?}");
}

#[test]
fn a_bad_line_in_the_middle_gets_a_stub_and_the_conversation_is_whole_elsewhere_too() {
    let dir = Folder::new();
    let mut lines = twenty();
    let cut = lines[10].len() / 2 + 20;
    lines[10].truncate(cut);
    let path = dir.put("s.jsonl", joined(&lines));
    let before = fs::read(&path).unwrap();
    assert_eq!((context(&path), context_elsewhere(&path)), (19, 10));
    let done = repair(&path);
    assert_eq!(done.appended.len(), 3, "a stub, a record, a marker");
    assert_eq!((context(&path), context_elsewhere(&path)), (19, 19));
    assert_eq!(leaf(&path), "000000bd");
    assert_eq!(Session::open_read_only(&path).unwrap().tree().roots().len(), 1);
    assert!(fs::read(&path).unwrap().starts_with(&before));
    assert_nothing_left_to_do(&path);
}

#[test]
fn repairing_twice_appends_once() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[10].truncate(100);
    let path = dir.put("s.jsonl", joined(&lines));
    let mut session = Session::open(&path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    session.apply_repair(&plan).unwrap();
    let once = fs::read(&path).unwrap();
    let again = session.plan_repair(&session.check().unwrap());
    assert_eq!(session.apply_repair(&again).unwrap(), Repaired::default());
    assert_eq!(fs::read(&path).unwrap(), once);
    // An outdated plan finds its work done.
    let late = session.apply_repair(&plan).unwrap();
    assert_eq!(late, Repaired::default());
    assert_eq!(fs::read(&path).unwrap(), once);
}

#[test]
fn the_open_session_sees_its_own_repair_as_a_fresh_one_does() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[5].truncate(100);
    lines[6].truncate(100);
    let path = dir.put("s.jsonl", joined(&lines));
    let mut session = Session::open(&path).unwrap();
    let path_before: Vec<_> =
        session.branch_path(Position::Leaf).iter().map(|node| session.tree().id(*node)).collect();
    let plan = session.plan_repair(&session.check().unwrap());
    session.apply_repair(&plan).unwrap();
    let fresh = Session::open_read_only(&path).unwrap();
    let ids = |session: &Session| {
        session.branch_path(Position::Leaf).iter().map(|node| session.tree().id(*node)).collect::<Vec<_>>()
    };
    assert_eq!(ids(&session), path_before);
    assert_eq!(ids(&fresh), path_before);
    assert_eq!(session.leaf_id(), fresh.leaf_id());
    assert_eq!(session.tree().len(), fresh.tree().len());
}

#[test]
fn a_line_whose_id_is_lost_is_replaced_where_it_stood() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[10] = b"garbage that tells nothing".to_vec();
    let path = dir.put("s.jsonl", joined(&lines));
    let session = Session::open(&path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    let stub = Fix::Stub { id: "000000b3".into(), parent: Some("000000b2".into()), inferred: true };
    assert_eq!(plan.fixes().cloned().collect::<Vec<_>>(), [stub]);
    assert!(plan.clone().without_inferred().is_empty());
    drop(session);
    assert_eq!(context(&path), 10);
    repair(&path);
    assert_eq!((context(&path), context_elsewhere(&path)), (19, 19));
    assert_nothing_left_to_do(&path);
}

#[test]
fn entries_that_a_fork_orphaned_are_attached_to_the_entry_before_them() {
    let dir = Folder::new();
    let mut lines = twenty();
    // An old fork left out a label and did not fix the link across it.
    lines.remove(10);
    let path = dir.put("s.jsonl", joined(&lines));
    assert_eq!((context(&path), context_elsewhere(&path)), (10, 10));
    repair(&path);
    assert_eq!((context(&path), context_elsewhere(&path)), (19, 19));
    assert_nothing_left_to_do(&path);
}

#[test]
fn fused_lines_come_back_whole() {
    let dir = Folder::new();
    let mut lines = twenty();
    let second = lines.remove(11);
    lines[10].extend(second);
    let path = dir.put("s.jsonl", joined(&lines));
    assert_eq!(context_elsewhere(&path), 9);
    repair(&path);
    assert_eq!((context(&path), context_elsewhere(&path)), (20, 20));
    assert_eq!(leaf(&path), "000000bd");
    assert_nothing_left_to_do(&path);
}

#[test]
fn a_last_line_that_was_fused_becomes_the_leaf_again() {
    let dir = Folder::new();
    let mut lines = twenty();
    let last = lines.pop().unwrap();
    let cut = lines[19].len() - 30;
    lines[19].truncate(cut);
    lines[19].extend(last);
    let path = dir.put("s.jsonl", joined(&lines));
    repair(&path);
    assert_eq!(leaf(&path), "000000bd");
    assert_eq!((context(&path), context_elsewhere(&path)), (19, 19));
    assert_nothing_left_to_do(&path);
}

#[test]
fn entries_after_zero_bytes_are_recovered() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[20] = [vec![0; 600], lines[20].clone()].concat();
    let path = dir.put("s.jsonl", joined(&lines));
    assert_eq!(context(&path), 19);
    repair(&path);
    assert_eq!((context(&path), context_elsewhere(&path)), (20, 20));
    assert_nothing_left_to_do(&path);
}

#[test]
fn a_torn_tail_is_ended_by_one_byte() {
    let dir = Folder::new();
    let whole = joined(&twenty());
    let torn = &whole[..whole.len() - 38];
    let path = dir.put("s.jsonl", torn);
    assert_eq!(repair(&path), Repaired::default());
    assert_eq!(fs::read(&path).unwrap(), [torn, b"\n"].concat());
    assert_nothing_left_to_do(&path);
}

#[test]
fn a_leaf_that_others_would_miss_is_marked() {
    let dir = Folder::new();
    let path = dir.put("s.jsonl", session_text("a user one\n b<a user two\n c<b user three\n i<a info name"));
    assert_eq!((context(&path), context_elsewhere(&path)), (3, 1));
    repair(&path);
    assert_eq!((context(&path), context_elsewhere(&path)), (3, 3));
    assert_nothing_left_to_do(&path);
}

#[test]
fn a_repair_can_be_taken_back_once() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines.remove(10);
    let path = dir.put("s.jsonl", joined(&lines));
    let mut session = Session::open(&path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    let record = session.apply_repair(&plan).unwrap().record.unwrap();
    let repaired = fs::read(&path).unwrap();
    session.undo_repair(record.as_str()).unwrap();
    assert_eq!(session.context().unwrap().items.len(), 10);
    assert_eq!((context(&path), context_elsewhere(&path)), (10, 10));
    assert_eq!(leaf(&path), "000000bd");
    assert!(fs::read(&path).unwrap().starts_with(&repaired));
    let again = session.undo_repair(record.as_str());
    assert!(matches!(again, Err(Error::BadReference { reason: "it was undone before", .. })));
    let other = session.undo_repair("000000aa");
    assert!(matches!(other, Err(Error::BadReference { reason: "it is not the record of a repair", .. })));
}

#[test]
fn a_repair_whose_undoing_fails_half_way_can_still_be_undone() {
    let mut lines = twenty();
    lines[5].truncate(100);
    lines[12].truncate(100);
    let damaged = Session::from_bytes(joined(&lines)).unwrap();
    let mut runs = 0;
    for call in 1.. {
        let disk = SimFs::new();
        disk.put("/s.jsonl", &joined(&lines)).unwrap();
        let open = || Options::new().file_system(Arc::new(disk.clone())).open("/s.jsonl").unwrap();
        let mut session = open();
        let records = heal(&mut session);
        let mut session = open();
        disk.fail_at(call, Fault::error(std::io::ErrorKind::Other));
        let undone = session.undo_repair(&records[0]);
        let is_over = disk.faults_fired() == 0;
        disk.clear_faults();
        let mut fresh = open();
        match fresh.undo_repair(&records[0]) {
            Ok(_) => assert!(undone.is_err(), "call {call}: undone twice"),
            Err(Error::BadReference { reason: "it was undone before", .. }) => {}
            Err(error) => panic!("call {call}: {error}"),
        }
        assert_eq!(view(&open()), view(&damaged), "call {call}");
        if is_over {
            break;
        }
        runs += 1;
    }
    assert!(runs >= 10, "only {runs} runs met their fault");
}

/// Returns the ids of the path, the leaf, and the texts of the context.
fn view(session: &Session) -> (Vec<String>, Option<String>, Vec<String>) {
    let tree = session.tree();
    let id = |node| tree.id(node).to_string();
    let path = session.branch_path(Position::Leaf).into_iter().map(id).collect();
    let context = session.context().unwrap();
    let texts = context.items.iter().map(|item| item.message.text().into_owned()).collect();
    (path, session.leaf().map(id), texts)
}

/// Repairs repeatedly and returns the records.
fn heal(session: &mut Session) -> Vec<String> {
    let plan = session.plan_repair(&session.check().unwrap());
    let done = session.repair(plan).unwrap();
    assert_eq!(session.last_repair().unwrap().as_ref(), done.records.last());
    done.records.iter().map(ToString::to_string).collect()
}

/// Undoes repairs, the last one first.
fn undo_all(session: &mut Session, records: &[String]) {
    for record in records.iter().rev() {
        session.undo_repair(record).unwrap();
    }
}

#[test]
fn a_repair_that_was_taken_back_can_be_made_and_taken_back_again() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[5].truncate(100);
    lines[12].truncate(100);
    let path = dir.put("s.jsonl", joined(&lines));
    let mut session = Session::open(&path).unwrap();
    let before = view(&session);
    assert_eq!((before.0.len(), before.2.len()), (20, 18));
    let mut healed = None;
    for round in 0..3 {
        let plan = session.plan_repair(&session.check().unwrap());
        assert_eq!(plan.fixes().count(), 2, "round {round}");
        let record = session.apply_repair(&plan).unwrap().record.unwrap();
        assert_eq!(context_elsewhere(&path), 18, "round {round}");
        let now = view(&session);
        assert_eq!(*healed.get_or_insert(now.clone()), now);
        session.undo_repair(record.as_str()).unwrap();
        assert_eq!(view(&session), before, "round {round}");
        assert_eq!(view(&Session::open_read_only(&path).unwrap()), before, "round {round}");
    }
}

#[test]
fn an_entry_that_a_repair_brought_back_is_gone_with_its_label_when_the_repair_is_taken_back() {
    let dir = Folder::new();
    let text = session_text("a user one\n b<a assistant two\n c<b user three\n l<c label a mark");
    let mut lines: Vec<Vec<u8>> =
        text.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let label = lines.pop().unwrap();
    lines[3].extend(label);
    let path = dir.put("s.jsonl", joined(&lines));
    let mut session = Session::open(&path).unwrap();
    let before = view(&session);
    let mut other = Session::open(&path).unwrap();
    let records = heal(&mut session);
    assert_eq!(session.labels().len(), 1);
    other.catch_up().unwrap();
    undo_all(&mut session, &records);
    other.catch_up().unwrap();
    for (who, session) in [("who undid", &session), ("who looked on", &other)] {
        assert_eq!(view(session), before, "{who}");
        assert!(session.labels().is_empty(), "{who}");
    }
}

#[test]
fn a_session_that_was_opened_for_reading_is_not_repaired() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[10].truncate(100);
    let path = dir.put("s.jsonl", joined(&lines));
    let mut session = Session::open_read_only(&path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    assert!(matches!(session.apply_repair(&plan), Err(Error::ReadOnly { .. })));
    assert_eq!(fs::read(&path).unwrap(), joined(&lines));
}

#[test]
fn a_copy_holds_what_appending_cannot_heal() {
    let dir = Folder::new();
    let mut lines = twenty();
    let second = lines.remove(11);
    lines[10].extend(second);
    let first = String::from_utf8(lines[1].clone()).unwrap();
    lines[1] = first.replacen("\"parentId\":null", "\"parentId\":\"000000ab\"", 1).into_bytes();
    let bytes = [b"\xEF\xBB\xBF".to_vec(), joined(&lines)].concat();
    let path = dir.put("s.jsonl", &bytes);
    let session = Session::open(&path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    assert!(plan.needs_copy() && !plan.is_empty());
    let copy = dir.at("copy.jsonl");
    session.write_repaired_copy(&plan, Arc::new(RealFs), &copy).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes, "the original is as it was");
    assert_eq!((context(&copy), context_elsewhere(&copy)), (20, 20));
    assert_eq!(leaf(&copy), "000000bd");
    assert_nothing_left_to_do(&copy);
    let twice = session.write_repaired_copy(&plan, Arc::new(RealFs), &copy);
    assert!(matches!(twice, Err(Error::Exists { .. })));
}

#[test]
fn a_copy_of_a_sound_file_is_the_same_file() {
    let dir = Folder::new();
    let bytes = joined(&twenty());
    let path = dir.put("s.jsonl", &bytes);
    let session = Session::open(&path).unwrap();
    let plan = session.plan_repair(&session.check().unwrap());
    session.write_repaired_copy(&plan, Arc::new(RealFs), &dir.at("copy.jsonl")).unwrap();
    assert_eq!(fs::read(dir.at("copy.jsonl")).unwrap(), bytes);
}

fn write_copy(found: &HeaderlessFile, copy: &Path) {
    let plan = found.session.plan_repair(&found.session.check().unwrap());
    found.session.write_repaired_copy(&plan, Arc::new(RealFs), copy).unwrap();
}

#[test]
fn a_file_whose_header_lost_one_byte_is_salvaged_with_everything_in_it() {
    let dir = Folder::new();
    let bytes = joined(&twenty());
    let header_len = twenty()[0].len();
    for at in 0..header_len {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x08;
        let path = dir.put("x_019a.jsonl", &damaged);
        if Session::open(&path).is_ok() {
            continue;
        }
        let found = read_headerless(Arc::new(RealFs), &path).unwrap();
        assert_eq!(found.session.context().unwrap().items.len(), 20, "byte {at}");
        let copy = dir.at("copy.jsonl");
        write_copy(&found, &copy);
        assert_eq!((context(&copy), context_elsewhere(&copy)), (20, 20), "byte {at}");
        assert_eq!(fs::read(&path).unwrap(), damaged);
        fs::remove_file(copy).unwrap();
    }
}

#[test]
fn a_salvaged_header_keeps_the_readable_fields() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[0] =
        String::from_utf8(lines[0].clone()).unwrap().replacen("{\"type\"", "{\"ty\u{1}e\"", 1).into_bytes();
    let path = dir.put("s.jsonl", joined(&lines));
    let found = read_headerless(Arc::new(RealFs), &path).unwrap();
    let header = found.session.header();
    assert_eq!((&*header.id(), header.cwd().as_deref()), ("ses", Some("/w")));
    assert_eq!(found.lost_header, Some(0..lines[0].len() as u64));
    lines[0] = b"\0\0\0\0".to_vec();
    let path = dir.put("2025-01-01_abc-1.jsonl", joined(&lines));
    assert_eq!(read_headerless(Arc::new(RealFs), &path).unwrap().session.header().id(), "abc-1");
}

#[test]
fn the_same_damage_gives_the_same_copy() {
    let dir = Folder::new();
    let mut lines = twenty();
    lines[10].truncate(100);
    let mut copies = [Vec::new(), Vec::new()];
    for copy in &mut copies {
        let path = dir.put("s.jsonl", joined(&lines));
        let mut session = Session::open(&path).unwrap();
        session.branch("000000aa").unwrap();
        let plan = session.plan_repair(&session.check().unwrap());
        session.write_repaired_copy(&plan, Arc::new(RealFs), &dir.at("copy.jsonl")).unwrap();
        assert_eq!(leaf(&dir.at("copy.jsonl")), "000000aa");
        *copy = fs::read(dir.at("copy.jsonl")).unwrap();
        fs::remove_file(dir.at("copy.jsonl")).unwrap();
    }
    assert_eq!(copies[0], copies[1]);
    let path = dir.put("headless.jsonl", joined(&lines[1..]));
    let ids = [(); 2]
        .map(|()| read_headerless(Arc::new(RealFs), &path).unwrap().session.header().id().into_owned());
    assert_eq!(ids[0], ids[1]);
    assert!(session_tree::is_valid_session_id(&ids[0]));
}

#[test]
fn the_first_entry_of_a_file_whose_header_is_gone_is_no_header() {
    let message = |text: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let dir = Folder::new();
    for mark in ["", "\u{feff}"] {
        let text = format!("{mark}{}\n{}\n{}\n", message("one"), message("two"), message("three"));
        let path = dir.put("old.jsonl", text.as_bytes());
        let found = read_headerless(Arc::new(RealFs), &path).unwrap();
        assert_eq!((found.session.tree().len(), &found.lost_header), (3, &None));
        let copy = dir.at("copy.jsonl");
        write_copy(&found, &copy);
        assert_eq!(view(&Session::open_read_only(&copy).unwrap()).2, ["one", "two", "three"]);
        fs::remove_file(copy).unwrap();
    }
}

#[test]
fn a_file_that_never_was_a_session_is_not_salvaged() {
    let dir = Folder::new();
    let path = dir.put("notes.txt", b"dear diary\n{\"a\":1}\n");
    assert!(matches!(read_headerless(Arc::new(RealFs), &path), Err(Error::NotASession { .. })));
}

#[derive(Debug, Clone)]
enum Damage {
    Flip(usize, u8),
    Cut(usize, usize),
    Insert(usize, Vec<u8>),
    Truncate(usize),
    Copy(usize, usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0_usize..4000;
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        (at.clone(), 1_usize..300).prop_map(|(at, len)| Damage::Cut(at, len)),
        (at.clone(), proptest::collection::vec(any::<u8>(), 1..40))
            .prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at.clone(), 1_usize..700).prop_map(|(at, len)| Damage::Insert(at, vec![0; len])),
        at.clone().prop_map(Damage::Truncate),
        (at.clone(), 1_usize..500, at).prop_map(|(from, len, to)| Damage::Copy(from, len, to)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let place = |at: usize| if len == 0 { 0 } else { at % len };
        match self {
            Damage::Flip(at, byte) if len > 0 => bytes[place(*at)] ^= byte,
            Damage::Flip(..) => {}
            Damage::Cut(at, count) => drop(bytes.drain(place(*at)..(place(*at) + count).min(len))),
            Damage::Insert(at, new) => drop(bytes.splice(place(*at)..place(*at), new.iter().copied())),
            Damage::Truncate(at) => bytes.truncate(place(*at)),
            Damage::Copy(from, count, to) => {
                let part = bytes[place(*from)..(place(*from) + count).min(len)].to_vec();
                drop(bytes.splice(place(*to)..place(*to), part));
            }
        }
    }
}

proptest! {
    #![proptest_config(drawn(250))]

    #[test]
    fn any_damage_can_be_checked_and_repaired_and_the_next_append_is_kept(
        wounds in proptest::collection::vec(damage(), 1..4),
    ) {
        let dir = Folder::new();
        let mut bytes = joined(&twenty());
        for damage in &wounds {
            damage.apply(&mut bytes);
        }
        let path = dir.put("s.jsonl", &bytes);
        let opened = Session::open(&path);
        prop_assert_eq!(fs::read(&path).unwrap(), bytes.clone(), "opening writes nothing");
        let Ok(mut session) = opened else {
            if let Ok(found) = read_headerless(Arc::new(RealFs), &path) {
                write_copy(&found, &dir.at("copy.jsonl"));
                prop_assert!(Session::open(dir.at("copy.jsonl")).is_ok());
            }
            return Ok(());
        };
        let report = session.check().unwrap();
        let plan = session.plan_repair(&report);
        session.write_repaired_copy(&plan, Arc::new(RealFs), &dir.at("copy.jsonl")).unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), bytes.clone(), "checking writes nothing");
        if session.read_only().is_some() {
            return Ok(());
        }
        let is_old = session.header().version() < 3;
        let entries = session.tree().nodes().map(|node| session.tree().id(node)).collect::<Vec<_>>();
        let messages = session.context().unwrap().items.len();
        session.apply_repair(&plan).unwrap();
        if !is_old {
            prop_assert!(fs::read(&path).unwrap().starts_with(&bytes), "every original byte stays");
        }
        for id in &entries {
            prop_assert!(session.tree().node(id.as_str()).is_some(), "{id} is gone");
        }
        prop_assert!(session.context().unwrap().items.len() >= messages);
        // One pass is enough, except for circles and for lines that replaced each other: the first recovered entries
        // determine where the rest belongs.
        let next = session.plan_repair(&session.check().unwrap());
        let rest = session.repair(next).unwrap();
        prop_assert!(rest.remaining.is_empty(), "{:?} after {:?}", rest, plan);
        let healed = session.context().unwrap().items.len();
        let new = session.append_message(&Message::user("next").with_time(Timestamp::from_millis(0))).unwrap();
        drop(session);
        let reopened = Session::open(&path).unwrap();
        prop_assert_eq!(reopened.leaf_id(), Some(new.clone()));
        prop_assert!(reopened.tree().node(new.as_str()).is_some());
        let context = reopened.context().unwrap();
        prop_assert!(context.items.len() > healed, "{} after {}", context.items.len(), healed);
        prop_assert_eq!(context.items.last().map(|item| item.message.text().into_owned()), Some("next".to_owned()));
    }

    #[test]
    fn a_repair_of_any_damage_can_be_taken_back_and_made_again(
        wounds in proptest::collection::vec(damage(), 1..4),
    ) {
        let dir = Folder::new();
        let mut bytes = joined(&twenty());
        for damage in &wounds {
            damage.apply(&mut bytes);
        }
        let path = dir.put("s.jsonl", &bytes);
        let Ok(mut session) = Session::open(&path) else { return Ok(()) };
        if session.read_only().is_some() || session.header().version() < 3 {
            return Ok(());
        }
        let before = view(&session);
        let records = heal(&mut session);
        let healed = view(&session);
        undo_all(&mut session, &records);
        prop_assert_eq!(&view(&session), &before, "after the first undo");
        prop_assert_eq!(&view(&Session::open_read_only(&path).unwrap()), &before, "for a fresh reader");
        let again = heal(&mut session);
        prop_assert_eq!(&view(&session), &healed, "repaired again");
        undo_all(&mut session, &again);
        prop_assert_eq!(&view(&session), &before, "after the second undo");
    }
}
