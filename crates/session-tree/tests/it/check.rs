//! Checking: every problem is found and located; checking never writes.

use std::fs;
use std::ops::Range;

use session_tree::fs::RealFs;
use session_tree::{Fix, Report, Session, Severity};
use testkit::drawing::session_text;

const CHAIN: &str = "
    a user one
    b<a assistant two
    c<b user three
    d<c assistant four
";

/// Returns the lines of a drawing without line feeds; line 1 is the header.
fn lines(drawing: &str) -> Vec<Vec<u8>> {
    let text = session_text(drawing);
    text.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    [lines.join(&b'\n'), b"\n".to_vec()].concat()
}

fn check(bytes: &[u8]) -> Report {
    Session::from_bytes(bytes.to_vec()).unwrap().check().unwrap()
}

/// Returns the byte range of a line, counted from 1.
fn span(bytes: &[u8], line: usize) -> Range<u64> {
    let before: usize = bytes.split(|byte| *byte == b'\n').take(line - 1).map(|line| line.len() + 1).sum();
    let len = bytes.split(|byte| *byte == b'\n').nth(line - 1).unwrap().len();
    before as u64..(before + len) as u64
}

/// Formats diagnostics as code, line and bytes.
fn reported(report: &Report) -> Vec<(&'static str, u64, Range<u64>)> {
    let told = report.diagnostics.iter();
    told.map(|one| (one.problem.code(), one.line, one.bytes.clone())).collect()
}

fn fix_of(report: &Report, code: &str) -> Option<Fix> {
    let mut found = report.findings().filter(|(diagnostic, _)| diagnostic.problem.code() == code);
    found.next().and_then(|(_, fix)| fix.cloned())
}

fn assert_reports(bytes: &[u8], code: &'static str, line: usize) -> Report {
    let report = check(bytes);
    assert_eq!(reported(&report), [(code, line as u64, span(bytes, line))]);
    report
}

#[test]
fn a_sound_file_is_clean_and_counted() {
    let bytes = session_text(CHAIN);
    let report = check(&bytes);
    assert!(report.is_clean() && report.worst().is_none());
    assert_eq!((report.lines, report.entries, report.bytes), (5, 4, bytes.len() as u64));
    assert_eq!(report.bad_lines, 0);
}

#[test]
fn a_bad_line_without_descendants_is_damage_that_needs_no_fix() {
    let mut lines = lines(CHAIN);
    lines.insert(2, b"{\"type\":\"message\",\"id\":\"x\",\"parentId\":\"a\" oops".to_vec());
    let report = assert_reports(&joined(&lines), "not-json", 3);
    assert_eq!(report.worst(), Some(Severity::Damage));
    assert_eq!((report.bad_lines, fix_of(&report, "not-json")), (1, None));
}

#[test]
fn damage_inside_a_body_is_found_although_the_line_begins_and_ends_well() {
    let mut lines = lines(CHAIN);
    let at = lines[2].windows(3).position(|three| three == b"two").unwrap();
    lines[2][at - 1] = b'!';
    let report = assert_reports(&joined(&lines), "placeholder", 3);
    let stub = Fix::Stub { id: "b".into(), parent: Some("a".into()), inferred: false };
    assert_eq!(fix_of(&report, "placeholder"), Some(stub));
}

#[test]
fn values_that_are_no_objects_are_reported_each_on_its_line() {
    for value in ["null", "123", "[]", "\"x\""] {
        let mut lines = lines(CHAIN);
        lines.insert(3, value.into());
        assert_reports(&joined(&lines), "not-an-object", 4);
    }
}

#[test]
fn an_object_without_id_is_reported() {
    let mut lines = lines(CHAIN);
    lines.insert(3, b"{\"type\":\"message\",\"parentId\":\"a\"}".to_vec());
    assert_reports(&joined(&lines), "no-id", 4);
}

#[test]
fn a_message_entry_without_a_message_is_reported() {
    let bare = String::from_utf8(session_text(CHAIN)).unwrap().lines().nth(3).unwrap().to_owned();
    let (envelope, _) = bare.split_once(",\"message\"").unwrap();
    for body in ["", ",\"message\":null", ",\"message\":[]", ",\"message\":\"three\""] {
        let mut lines = lines(CHAIN);
        lines[3] = format!("{envelope}{body}}}").into_bytes();
        let report = assert_reports(&joined(&lines), "no-message", 4);
        assert_eq!(report.worst(), Some(Severity::Warning), "{body}");
    }
}

#[test]
fn a_last_line_that_other_programs_would_stumble_over_asks_for_a_marker() {
    let mut lines = lines(CHAIN);
    lines.push(b"123".to_vec());
    let report = check(&joined(&lines));
    assert_eq!(fix_of(&report, "leaf-is-not-last"), Some(Fix::LeafMarker { target: Some("d".into()) }));
}

#[test]
fn a_repeated_line_is_distinguished_from_two_entries_with_one_id() {
    let mut lines = lines(CHAIN);
    lines.insert(4, lines[3].clone());
    assert_reports(&joined(&lines), "repeated-line", 5);
    lines[4] = String::from_utf8(lines[4].clone()).unwrap().replace("three", "other").into_bytes();
    let report = assert_reports(&joined(&lines), "duplicate-id", 5);
    assert!(report.diagnostics[0].to_string().contains("line 4"));
}

#[test]
fn a_name_of_the_envelope_that_stands_twice_is_reported_wherever_it_stands() {
    let all = lines(CHAIN);
    let text = String::from_utf8(all[3].clone()).unwrap();
    let behind = format!("{},\"parentId\":\"b\"}}", text.strip_suffix('}').unwrap());
    let before = text.replacen("\"type\":", "\"id\":\"x\",\"type\":", 1);
    for line in [behind, before] {
        let mut lines = all.clone();
        lines[3] = line.into_bytes();
        assert_reports(&joined(&lines), "duplicate-key", 4);
    }
}

#[test]
fn an_orphan_is_reported_with_the_entry_it_would_be_attached_to() {
    let mut lines = lines(CHAIN);
    lines.remove(2);
    let report = assert_reports(&joined(&lines), "orphan", 3);
    let stub = Fix::Stub { id: "b".into(), parent: Some("a".into()), inferred: true };
    assert_eq!(fix_of(&report, "orphan"), Some(stub));
}

#[test]
fn an_orphan_whose_parent_cannot_be_inferred_stays_a_root() {
    // The entry before `y` has a child.
    let bytes = session_text("a user one\n y<lost user two\n b<a assistant three");
    let report = check(&bytes);
    assert_eq!(reported(&report), [("orphan", 3, span(&bytes, 3))]);
    assert_eq!(fix_of(&report, "orphan"), None);
}

#[test]
fn circles_are_reported_at_their_first_entry() {
    let bytes = session_text("a<c user one\n b<a user two\n c<b user three\n d user four\n e<e user five");
    let report = check(&bytes);
    assert_eq!(reported(&report), [("cycle", 2, span(&bytes, 2)), ("cycle", 6, span(&bytes, 6))]);
    assert_eq!(fix_of(&report, "cycle"), Some(Fix::Detach { id: "a".into() }));
}

#[test]
fn a_second_header_is_reported() {
    let mut lines = lines(CHAIN);
    lines.insert(2, lines[0].clone());
    assert_reports(&joined(&lines), "second-header", 3);
}

#[test]
fn a_message_with_two_roles_is_reported() {
    let mut lines = lines(CHAIN);
    let line = String::from_utf8(lines[2].clone()).unwrap();
    lines[2] = line.replacen("\"role\":", "\"role\":\"system\",\"role\":", 1).into_bytes();
    assert_reports(&joined(&lines), "duplicate-key", 3);
}

#[test]
fn a_torn_tail_and_a_missing_line_feed_are_two_things() {
    let whole = session_text(CHAIN);
    let torn = &whole[..whole.len() - 9];
    let report = check(torn);
    assert_eq!(reported(&report), [("torn-tail", 5, span(torn, 5))]);
    assert_eq!(fix_of(&report, "torn-tail"), Some(Fix::LineFeed));
    let open = &whole[..whole.len() - 1];
    let end = open.len() as u64;
    assert_eq!(reported(&check(open)), [("missing-line-feed", 5, end..end)]);
}

#[test]
fn a_byte_order_mark_is_reported_and_nothing_else() {
    let bytes = [b"\xEF\xBB\xBF".to_vec(), session_text(CHAIN)].concat();
    let report = check(&bytes);
    assert_eq!(reported(&report), [("byte-order-mark", 1, 0..3)]);
    assert_eq!(fix_of(&report, "byte-order-mark"), Some(Fix::Omit { bytes: 0..3 }));
}

#[test]
fn bytes_that_are_not_utf8_are_reported_where_they_stand() {
    let mut bytes = session_text(CHAIN);
    let at = bytes.windows(5).position(|five| five == b"three").unwrap();
    bytes[at + 1] = 0xFF;
    assert_eq!(reported(&check(&bytes)), [("invalid-utf8", 4, at as u64 + 1..at as u64 + 2)]);
}

#[test]
fn a_time_that_cannot_be_read_is_reported() {
    let bytes = String::from_utf8(session_text(CHAIN)).unwrap();
    let bytes = bytes.replacen("2025-01-01T00:00:02.000Z", "yesterday", 1).into_bytes();
    assert_reports(&bytes, "bad-timestamp", 3);
}

#[test]
fn labels_and_compactions_that_point_nowhere_are_reported() {
    let bytes = session_text("a user one\n l<a label zz name\n c<l compaction keep=zz gone\n d<c user two");
    let report = check(&bytes);
    let expected =
        [("label-without-target", 3, span(&bytes, 3)), ("first-kept-not-on-path", 4, span(&bytes, 4))];
    assert_eq!(reported(&report), expected);
}

#[test]
fn a_compaction_may_keep_from_its_own_path_and_not_from_a_sibling() {
    let fine =
        session_text("a user one\n b<a user two\n c<b compaction keep=a sum\n d<c compaction keep=d none");
    assert!(check(&fine).is_clean());
    let other = session_text("a user one\n b<a user two\n x<a user other\n c<x compaction keep=b sum");
    assert_reports(&other, "first-kept-not-on-path", 5);
}

#[test]
fn fused_lines_are_taken_apart_again() {
    let all = lines(CHAIN);
    let glued = [all[2].clone(), all[3].clone()].concat();
    let bytes = joined(&[all[0].clone(), all[1].clone(), glued, all[4].clone()]);
    let report = check(&bytes);
    assert_eq!(reported(&report)[0], ("glued-lines", 3, span(&bytes, 3)));
    let Some(Fix::Recover { entries }) = fix_of(&report, "glued-lines") else { unreachable!("{report:?}") };
    let found =
        entries.iter().map(|entry| bytes[entry.bytes.start as usize..entry.bytes.end as usize].to_vec());
    assert_eq!(found.collect::<Vec<_>>(), [all[2].clone(), all[3].clone()]);
}

#[test]
fn a_whole_line_behind_a_torn_one_is_found_and_the_torn_one_keeps_its_place() {
    let all = lines(CHAIN);
    for cut in 1..all[2].len() {
        let glued = [all[2][..cut].to_vec(), all[3].clone()].concat();
        let bytes = joined(&[all[0].clone(), all[1].clone(), glued, all[4].clone()]);
        let report = check(&bytes);
        let Some(Fix::Recover { entries }) = fix_of(&report, "glued-lines") else {
            unreachable!("cut at {cut}: {report:?}")
        };
        assert_eq!(entries.len(), 1, "cut at {cut}");
        assert_eq!(entries[0].id, "c");
    }
}

#[test]
fn zero_bytes_are_reported_with_their_number_and_what_stands_behind_them_is_found() {
    let mut all = lines(CHAIN);
    all[3] = [vec![0; 600], all[3].clone()].concat();
    let bytes = joined(&all);
    let report = check(&bytes);
    let start = span(&bytes, 4).start;
    let codes: Vec<_> = reported(&report).into_iter().filter(|(code, ..)| *code == "nul-run").collect();
    assert_eq!(codes, [("nul-run", 4, start..start + 600)]);
    let Some(Fix::Recover { entries }) = fix_of(&report, "nul-run") else { unreachable!("{report:?}") };
    assert_eq!(entries[0].bytes, start + 600..span(&bytes, 4).end);
}

#[test]
fn a_newer_version_is_reported_at_the_header() {
    let bytes =
        String::from_utf8(session_text(CHAIN)).unwrap().replacen("\"version\":3", "\"version\":99", 1);
    assert_reports(bytes.as_bytes(), "newer-version", 1);
}

#[test]
fn a_session_name_on_another_branch_moves_only_other_readers() {
    let bytes = session_text("a user one\n b<a user two\n c<b user three\n i<a info name");
    let report = assert_reports(&bytes, "leaf-is-not-last", 5);
    assert_eq!(fix_of(&report, "leaf-is-not-last"), Some(Fix::LeafMarker { target: Some("c".into()) }));
    assert!(check(&session_text("a user one\n b<a user two\n m<a marker a")).is_clean());
}

#[test]
fn a_damaged_line_whose_entry_came_again_is_mended() {
    let mut all = lines(CHAIN);
    let partial = all[3][..60].to_vec();
    all.insert(3, partial);
    let report = assert_reports(&joined(&all), "mended", 4);
    assert_eq!(report.worst(), Some(Severity::Note));
}

#[test]
fn a_damaged_line_never_calls_for_a_stub_in_the_place_of_an_entry_that_can_be_read() {
    let mut all = lines(CHAIN);
    let damaged = String::from_utf8(all[3].clone()).unwrap().replace("\"three\"", "three");
    all.insert(4, damaged.into_bytes());
    let report = assert_reports(&joined(&all), "mended", 5);
    assert_eq!(fix_of(&report, "mended"), None);
}

#[test]
fn every_diagnostic_has_words_and_a_code() {
    let bytes = session_text("a user one\n y<lost user two\n ! 123\n ! {\n b<a label zz x");
    for diagnostic in check(&bytes).diagnostics {
        assert!(!diagnostic.problem.code().is_empty());
        assert!(diagnostic.to_string().starts_with(&format!("line {} ", diagnostic.line)));
    }
}

#[test]
fn a_file_that_others_may_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, session_text(CHAIN)).unwrap();
    let reported = |mode| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let report = Session::open_read_only(&path).unwrap().check_file(&RealFs).unwrap();
        report.diagnostics.iter().map(|one| one.problem.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(reported(0o600), Vec::<String>::new());
    assert_eq!(reported(0o644), ["other users may read the file (mode 644)"]);
}

#[test]
fn checking_writes_nothing_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let whole = session_text(CHAIN);
    let torn = &whole[..whole.len() - 9];
    fs::write(&path, torn).unwrap();
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let session = Session::open(&path).unwrap();
    let report = session.check_file(&RealFs).unwrap();
    assert!(!session.plan_repair(&report).is_empty());
    drop(session);
    assert_eq!(fs::read(&path).unwrap(), torn);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A walk to the root for each damaged line would take billions of steps.
#[test]
fn a_long_chain_of_damaged_lines_below_a_circle_is_checked_in_one_go() {
    const LINES: usize = 50_000;
    let mut bytes = session_text("s<s user round and round");
    for at in 0..LINES {
        let parent = if at == 0 { "s".to_owned() } else { format!("{:08x}", at - 1) };
        let cut = format!("{{\"type\":\"message\",\"id\":\"{at:08x}\",\"parentId\":\"{parent}\",\"mess\n");
        bytes.extend(cut.bytes());
    }
    let last = format!("{:08x}", LINES - 1);
    bytes.extend(
        session_text(&format!("g<{last} user the end"))
            .split_inclusive(|byte| *byte == b'\n')
            .nth(1)
            .unwrap(),
    );
    let report = check(&bytes);
    let placeholders = report.findings().filter(|(found, _)| found.problem.code() == "placeholder");
    // With stubs, other programs would loop forever.
    assert_eq!(placeholders.filter(|(_, fix)| fix.is_none()).count(), LINES);
}

#[test]
fn messages_that_no_reader_understands_are_reported() {
    let message = |id: &str, message: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{message}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#
            .to_owned(),
        message("a", r#"{"content":"x"}"#),
        message("b", r#"{"role":"tool","content":"x"}"#),
        message("c", r#"{"role":"assistant","content":[{"type":"tool_call","id":"1"}]}"#),
        message("d", r#"{"role":"toolResult","content":[]}"#),
        message("e", r#"{"role":"user","content":"fine"}"#),
    ];
    let session = Session::from_bytes(lines.join("\n").into_bytes()).unwrap();
    let report = session.check().unwrap();
    let found: Vec<String> = report.diagnostics.iter().map(|found| found.problem.to_string()).collect();
    assert_eq!(
        found,
        [
            "the message of entry a is not valid: it has no `role`",
            "the message of entry b is not valid: the role `tool` is unknown",
            "the message of entry c is not valid: the block `content[0]` has the unknown type `tool_call`",
            "the message of entry d is not valid: it has no `toolCallId`",
            "the last line has no line feed yet",
        ]
    );
    assert_eq!(session.tree().len(), 5, "loading keeps them all");
}
