//! The rows of a list and their order.

use super::*;

#[test]
fn a_row_has_last_activity_count_and_first_prompt() {
    let place = Place::new();
    let blocks = r#"[{"type":"text","text":"hello"},{"type":"image","data":"AA","mimeType":"image/png"},{"type":"text","text":"world"}]"#;
    let text = header("s", "/w")
        + &message("a", "user", 5000, blocks)
        + &message("b<a", "assistant", 7000, r#"[{"type":"text","text":"resp"}]"#)
        + &message("c<b", "toolResult", 99_999, r#"[{"type":"text","text":"out"}]"#);
    let path = place.write("/w", "a.jsonl", text);
    let rows = place.catalog().list("/w").rows();
    let expected = SessionSummary {
        id: "s".into(),
        cwd: "/w".into(),
        created: Some(at(1000)),
        modified: at(7000),
        message_count: 3,
        first_message: Some("hello world".into()),
        entry_count: 3,
        tip_count: 1,
        ..SessionSummary::bare(path.clone(), fs::metadata(&path).unwrap().len(), at(0))
    };
    assert_eq!(rows, [expected]);
    assert_eq!(place.catalog().text(&path).unwrap(), "hello world resp");
}

#[test]
fn a_header_alone_is_a_session_without_messages() {
    let place = Place::new();
    place.write("/w", "a.jsonl", header("s", "/w"));
    let rows = place.catalog().list("/w").rows();
    assert_eq!((rows[0].modified, rows[0].message_count), (at(1000), 0));
    assert_eq!(rows[0].title(), "(no messages)");
}

#[test]
fn a_long_header_does_not_keep_a_session_from_being_continued() {
    let place = Place::new();
    let cwd = format!("/{}", "w".repeat(600));
    // In the other layout the directory name would be too long for the file system.
    let path = place.sessions().join("long.jsonl");
    fs::create_dir_all(place.sessions()).unwrap();
    fs::write(&path, session("long", &cwd, 9000)).unwrap();
    fs::write(place.sessions().join("other.jsonl"), session("other", &cwd, 8000)).unwrap();
    assert_eq!(place.catalog().flat().most_recent(&cwd).unwrap().path, path);
}

#[test]
fn of_other_files_and_bad_ones_only_a_session_is_continued() {
    let place = Place::new();
    place.write("/w", "a.txt", session("text", "/w", 99_000));
    place.write("/w", "b.json", session("json", "/w", 99_000));
    let bad = place.write("/w", "bad.jsonl", "not a session\n");
    touch(&bad, 99_000_000);
    place.write("/w", "older.jsonl", session("older", "/w", 5000));
    place.write("/w", "newer.jsonl", session("newer", "/w", 6000));
    assert_eq!(place.catalog().most_recent("/w").unwrap().id, "newer");
    assert_eq!(ids(&place.catalog().list("/w").rows()), ["", "newer", "older"]);
}

#[test]
fn the_clock_is_the_last_activity_and_not_the_file() {
    let place = Place::new();
    let early = place.write("/w", "early.jsonl", session("early", "/w", 5000));
    let late = place.write("/w", "late.jsonl", session("late", "/w", 6000));
    touch(&early, 9_000_000);
    touch(&late, 1_000);
    assert_eq!(ids(&place.catalog().list("/w").rows()), ["late", "early"]);
    assert_eq!(place.catalog().most_recent("/w").unwrap().id, "late");
}

#[test]
fn projects_whose_directories_have_one_name_do_not_see_each_other() {
    let place = Place::new();
    place.write("/a-b/c", "one.jsonl", session("one", "/a-b/c", 5000));
    place.write("/a/b-c", "two.jsonl", session("two", "/a/b-c", 6000));
    let catalog = place.catalog();
    assert_eq!(catalog.project_dir("/a-b/c"), catalog.project_dir("/a/b-c"));
    assert_eq!(ids(&catalog.list("/a-b/c").rows()), ["one"]);
    assert_eq!(ids(&catalog.list("/a/b-c/").rows()), ["two"]);
    assert_eq!(catalog.most_recent("/a-b/c").unwrap().id, "one");
    assert_eq!(ids(&catalog.list_all().rows()), ["two", "one"]);
}

#[test]
fn a_session_without_working_directory_belongs_to_the_directory_it_lies_in() {
    let place = Place::new();
    place.write("/w", "a.jsonl", session("nobody", "", 5000));
    assert_eq!(ids(&place.catalog().list("/w").rows()), ["nobody"]);
    let flat = Catalog::new(place.catalog().project_dir("/w")).flat();
    assert_eq!(ids(&flat.list("/w").rows()), [""; 0]);
    assert_eq!(ids(&flat.list_all().rows()), ["nobody"]);
}

#[test]
fn a_missing_directory_is_an_empty_list() {
    let catalog = Catalog::new("/nowhere/at/all");
    let listing = catalog.list_all();
    assert!(listing.problems().is_empty());
    assert!(listing.rows().is_empty());
    assert!(catalog.most_recent("/w").is_none());
}

#[test]
fn linked_directories_are_followed_and_listed_once() {
    let place = Place::new();
    let elsewhere = place.dir.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("a.jsonl"), session("linked", "/linked", 6000)).unwrap();
    place.write("/w", "b.jsonl", session("own", "/w", 5000));
    std::os::unix::fs::symlink(&elsewhere, place.catalog().project_dir("/linked")).unwrap();
    std::os::unix::fs::symlink(place.catalog().project_dir("/w"), place.catalog().project_dir("/old"))
        .unwrap();
    let catalog = place.catalog();
    assert_eq!(ids(&catalog.list_all().rows()), ["linked", "own"]);
    assert_eq!(ids(&catalog.list("/linked").rows()), ["linked"]);
}

#[test]
fn sessions_of_sub_agents_never_win_but_forks_do() {
    let place = Place::new();
    place.write("/w", "own.jsonl", session("own", "/w", 5000));
    let child = |id: &str, extra: &str, millis| {
        let header = header(id, "/w").replace(r#","cwd""#, &format!(r#",{extra},"cwd""#));
        header + &message("a", "user", millis, r#""task""#)
    };
    let fork = r#""parentSession":"/w/own.jsonl""#;
    let fork = place.write("/w", "fork.jsonl", child("fork", fork, 6000));
    place.write("/w", "b.jsonl", child("b", r#""metadata":{"kind":"sub-agent"}"#, 7000));
    place.write("/w", "c.jsonl", child("c", r#""kind":"SubAgent""#, 7001));
    place.write("/w", "d.jsonl", child("d", r#""agentType":"scout","parentSession":"/w/own.jsonl""#, 7002));
    let marker = r#"{"type":"custom","customType":"session-tree.sub-agent","data":{"sessionId":"e"},"id":"m","parentId":null,"timestamp":"1970-01-01T00:00:02.000Z"}"#;
    place.write(
        "/w",
        "e.jsonl",
        format!("{}{marker}\n{}", header("e", "/w"), message("a<m", "user", 7003, "\"x\"")),
    );
    assert_eq!(place.catalog().most_recent("/w").unwrap().path, fork);
    let rows = place.catalog().list("/w").rows();
    let children: Vec<_> = rows.iter().filter(|row| row.is_sub_agent).map(|row| row.id.as_str()).collect();
    assert_eq!(children, ["e", "d", "c", "b"]);
    // The user continued the session of a sub-agent: the mark was copied but names another session.
    place.write(
        "/w",
        "f.jsonl",
        format!("{}{marker}\n{}", header("f", "/w"), message("a<m", "user", 7004, "\"x\"")),
    );
    assert_eq!(place.catalog().most_recent("/w").unwrap().id, "f");
}

#[test]
fn branches_are_counted_by_their_ends_in_the_conversation() {
    let place = Place::new();
    let label = r#"{"type":"label","id":"l","parentId":"b","timestamp":"1970-01-01T00:00:02.000Z","targetId":"a","label":"x"}"#;
    let text = header("s", "/w")
        + &message("a", "user", 5000, "\"a\"")
        + &message("b<a", "assistant", 5001, "[]")
        + label
        + "\n"
        + &message("c<l", "user", 5002, "\"c\"")
        + &message("d<a", "assistant", 5003, "[]")
        + &message("e", "user", 5004, "\"e\"")
        + &label.replace(r#""id":"l","parentId":"b""#, r#""id":"m","parentId":"d""#)
        + "\n";
    place.write("/w", "a.jsonl", text);
    let rows = place.catalog().list("/w").rows();
    assert_eq!((rows[0].tip_count, rows[0].entry_count, rows[0].message_count), (3, 7, 5));
}

#[test]
fn quick_rows_come_in_the_order_of_the_files_and_are_completed_later() {
    let place = Place::new();
    let long = format!("\"{}\"", "x".repeat(20_000));
    for (name, changed) in [("a", 2_000), ("b", 3_000), ("c", 1_000)] {
        let text = session(name, "/w", 5000 + changed) + &message("z<a", "toolResult", 1, &long);
        touch(&place.write("/w", &format!("{name}.jsonl"), text), changed);
    }
    let listing = place.catalog().list("/w");
    let quick: Vec<_> = listing.quick().collect();
    assert_eq!(ids(&quick), ["b", "a", "c"]);
    assert!(quick.iter().all(|row| !row.is_complete && row.title() == "hello" && row.message_count == 0));
    assert_eq!(quick[0].modified, at(3_000));
    let rows = listing.rows();
    assert_eq!(ids(&rows), ["b", "a", "c"]);
    assert!(rows.iter().all(|row| row.is_complete && row.message_count == 2));
    assert_eq!(rows[0].modified, at(8_000));
}

#[test]
fn a_header_behind_a_long_first_line_is_found_for_a_quick_row_too() {
    let place = Place::new();
    let text = "x".repeat(10_000) + "\n" + &session("s", "/w", 5000);
    place.write("/w", "a.jsonl", text);
    let quick: Vec<_> = place.catalog().list("/w").quick().collect();
    assert_eq!(ids(&quick), ["s"]);
    assert_eq!(quick[0].damage, Some(Damage::Lines { count: 1 }));
}

#[test]
fn progress_is_reported_and_listing_can_be_stopped() {
    let place = Place::new();
    for number in 0..5 {
        let cwd = if number == 0 { "/x" } else { "/w" };
        place.write("/w", &format!("{number}.jsonl"), session(&format!("s{number}"), cwd, 5000 + number));
    }
    let mut told = Vec::new();
    let rows = place.catalog().list("/w").complete(&mut |progress| {
        told.push((progress.done, progress.total, progress.row.is_some()));
        ControlFlow::Continue(())
    });
    assert_eq!(ids(&rows), ["s4", "s3", "s2", "s1"]);
    assert_eq!(told.iter().map(|told| told.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(told.iter().filter(|told| told.1 == 5 && told.2).count(), 4);
    let rows = place.catalog().list_all().complete(&mut |progress| match progress.done {
        2 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert_eq!(rows.len(), 2);
}

#[test]
fn large_files_read_by_several_threads_give_the_rows_of_small_ones() {
    let place = Place::new();
    let filler = message("z<a", "toolResult", 99_999_999, &format!("\"{}\"", "y".repeat(5 << 20)));
    let long_answer = format!(r#"[{{"type":"text","text":"{}"}}]"#, "z".repeat(300_000));
    for number in 0..4 {
        let text = session(&format!("s{number}"), "/w", 5000)
            + &filler
            + &message("y<z", "assistant", 6000 + number, &long_answer);
        place.write("/w", &format!("{number}.jsonl"), text);
    }
    let rows = place.catalog().list("/w").rows();
    assert_eq!(ids(&rows), ["s3", "s2", "s1", "s0"]);
    assert_eq!((rows[0].modified, rows[0].message_count), (at(6003), 3));
    assert_eq!(rows[0].title(), "hello");
    assert_eq!(place.catalog().text(&rows[0].path).unwrap().len(), "hello ".len() + 300_000);
}

#[test]
fn names_count_for_the_whole_file_and_can_be_cleared() {
    let place = Place::new();
    let name = |id: &str, name: &str| {
        format!(
            r#"{{"type":"session_info","id":"{id}","parentId":null,"timestamp":"1970-01-01T00:00:02.000Z","name":"{name}"}}"#
        ) + "\n"
    };
    place.write("/w", "a.jsonl", session("a", "/w", 5002) + &name("n", "  Greeter  "));
    place.write("/w", "b.jsonl", session("b", "/w", 5001) + &name("n", "Greeter") + &name("o", " "));
    let rows = place.catalog().list("/w").rows();
    assert_eq!((rows[0].name.as_deref(), rows[0].title()), (Some("Greeter"), "Greeter"));
    assert_eq!((rows[1].name.as_deref(), rows[1].title()), (None, "hello"));
}

#[test]
fn words_and_phrases_must_all_occur_somewhere() {
    let row = |name: Option<&str>| SessionSummary {
        id: "0197-abc".into(),
        cwd: "/home/me/Project".into(),
        name: name.map(str::to_owned),
        first_message: Some("Build a CLI".into()),
        ..SessionSummary::bare("a.jsonl".into(), 0, at(0))
    };
    let relevance = |query: &str, name, text| SessionQuery::parse(query).matches(&row(name), text);
    assert_eq!(relevance("", None, None), Some(Relevance::Name));
    assert_eq!(relevance("greet ZIG", Some("Zig greeter"), None), Some(Relevance::Name));
    assert_eq!(relevance("zig project", Some("Zig greeter"), None), Some(Relevance::Elsewhere));
    assert_eq!(relevance("0197 cli", None, None), Some(Relevance::Elsewhere));
    assert_eq!(relevance("deep", None, None), None);
    assert_eq!(relevance("deep", None, Some("far\n  Deep inside")), Some(Relevance::Elsewhere));
    assert_eq!(relevance("\"far deep\"", None, Some("far\n  Deep inside")), Some(Relevance::Elsewhere));
    assert_eq!(relevance("\"deep far\"", None, Some("far\n  Deep inside")), None);
    assert_eq!(relevance("deep nothing", None, Some("far\n  Deep inside")), None);
    assert!(Relevance::Name < Relevance::Elsewhere);
    let open_quote = SessionQuery::parse("a \"b");
    assert!(open_quote.is_in("\"b a") && !open_quote.is_in("a b"));
}
