//! Searching: what is found, in which order, and what a longer query costs.

use super::*;

fn found(session: &Session, query: &str) -> String {
    let mut search = Search::new(session, Query::parse(query));
    search.run(session).unwrap();
    let hits = search.hits(session);
    // One entry at a time must give the same answer as block by block.
    let mut single = Search::new(session, Query::parse(query));
    let nodes: Vec<Node> = session.tree().nodes().collect();
    single.test(session, &nodes).unwrap();
    assert_eq!(single.hits(session), hits, "{query}");
    hits.iter().map(|node| session.tree().id(*node).to_string()).collect::<Vec<_>>().join(" ")
}

fn library() -> Session {
    let mut draw = Draw::default();
    draw.user("user", "", "Please add a Flag to the parser");
    draw.call(
        "call",
        "user",
        "read",
        r#"{"path":"src/Parser.rs","id":"ticket-42","note":{"deep":["nested words"]}}"#,
    );
    draw.result("rslt", "call", "read", "fn main() { let x = 1; }");
    draw.message("answ", "rslt", r#""role":"assistant","content":[{"type":"thinking","thinking":"secret plan","thinkingSignature":"flagflag"},{"type":"text","text":"A \"quoted\" word,\nnext line C:\\temp"}],"api":"anthropic-messages","provider":"anthropic","model":"sonnet","stopReason":"stop""#);
    draw.entry("comp", "answ", r#""type":"compaction","summary":"We chose rust","firstKeptEntryId":"user","tokensBefore":1,"details":{"readFiles":["lib.rs"],"modifiedFiles":[]}"#);
    draw.message(
        "bash",
        "comp",
        r#""role":"bashExecution","command":"cargo fmt","output":"all good","exitCode":0"#,
    );
    draw.message("fade", "bash", r#""role":"user","content":"Größe und ESCAPED \u0062anana 日本語""#);
    draw.message(
        "pict",
        "fade",
        r#""role":"user","content":[{"type":"image","data":"flagflagflag","mimeType":"image/png"}]"#,
    );
    draw.label("labl", "pict", "comp", "Milestone");
    draw.session()
}

#[test]
fn words_are_found_wherever_a_person_would_look() {
    let session = library();
    let cases = [
        ("flag", "user"),
        ("FLAG parser", "user"),
        ("parser.rs", "call rslt"),
        ("nested", "call rslt"),
        ("ticket-42", "call rslt"),
        ("main parser.rs", "rslt"),
        ("secret", ""),
        ("anthropic", ""),
        ("rust", "comp"),
        ("compaction", "comp"),
        ("milestone", "comp labl"),
        ("cargo good", "bash"),
        ("größe", "fade"),
        ("GRÖSSE", ""),
        ("banana", "fade"),
        ("日本", "fade"),
        ("lib.rs", "comp"),
        ("user", "user fade pict"),
        ("temp", "answ"),
        (r"c:\temp", "answ"),
        ("nnext", ""),
        ("42 fn", "rslt"),
        ("fade", "fade"),
        ("ade0", ""),
        ("type", ""),
        ("false", ""),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&session, query), expected, "{query}");
    }
}

#[test]
fn phrases_fields_and_exclusions_narrow_a_query() {
    let session = library();
    let cases = [
        (r#""add a flag""#, "user"),
        (r#""a add flag""#, ""),
        (r#""quoted" word"#, "answ"),
        (r#""add a fl"#, "user"),
        ("role:user", "user fade pict"),
        ("role:tool", "rslt"),
        ("role:user -flag", "fade pict"),
        ("tool:read", "call rslt"),
        ("tool:fn", ""),
        ("file:parser", "call rslt"),
        ("file:lib.rs", "comp"),
        ("file:nested", ""),
        ("label:mile", "comp"),
        ("role:toolresult -parser.rs", ""),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&session, query), expected, "{query}");
    }
}

#[test]
fn hits_keep_tree_order_and_are_highlighted() {
    let session = library();
    let mut outline = outline(&session, Filter::Default);
    let progress = outline.set_query(&session, "parser").unwrap();
    assert!(progress.done);
    assert_eq!(ids(&outline, &session), ["user", "rslt"]);
    let rows = all_rows(&outline, &session);
    let marked: Vec<&str> =
        rows.iter().flat_map(|row| row.hits.iter().map(|hit| &row.text[hit.clone()])).collect();
    assert_eq!(marked, ["parser", "Parser"]);
    outline.set_query(&session, "").unwrap();
    assert_eq!(outline.len(), 7);
}

#[test]
fn highlights_merge_where_terms_overlap_and_end_between_characters() {
    let marks = |query: &str, text: &str| {
        let hits = Query::parse(query).highlights(text);
        hits.into_iter().map(|hit| text[hit].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marks("abc bcd", "xABCDx abc"), ["ABCD", "abc"]);
    assert_eq!(marks("ö", "Öl und öl"), ["Ö", "ö"]);
    assert_eq!(marks("-abc", "abc"), Vec::<String>::new());
    assert_eq!(marks("aa", "aaa"), ["aa"]);
}

#[test]
fn a_longer_query_looks_only_at_earlier_hits() {
    let mut draw = Draw::default();
    draw.user("u000", "", "the needle");
    for at in 1..200 {
        let parent = format!("u{:03}", at - 1);
        draw.user(&format!("u{at:03}"), &parent, &format!("{} hay {}", "x".repeat(2000), at % 10));
    }
    let session = draw.session();
    let mut search = Search::new(&session, Query::parse("need"));
    let all = search.run(&session).unwrap().scanned;
    search.refine(&session, Query::parse("needle")).unwrap();
    let after = search.run(&session).unwrap();
    assert_eq!((after.hits, after.done), (1, true));
    assert!(after.scanned - all < 1000, "only one line was looked at again");
    assert!(search.refine(&session, Query::parse("hay")).is_err());
    assert!(search.refine(&session, Query::parse("needle -hay")).is_ok());
}

#[test]
fn refining_before_the_end_gives_what_a_fresh_search_gives() {
    let session = library();
    let longer = [
        ("f", "fl"),
        ("r", "rs"),
        ("a", "a -flag"),
        ("e", "e role:user"),
        ("fad", "fade"),
        ("s", "src parser"),
        ("a", "a re:fl.g"),
        ("re:fl", "before:2025-06-03 re:fl"),
        ("role:m", "role:me"),
        ("role:promp", "role:prompt"),
        ("role:tool", "role:tools"),
        ("role:me", "role:me flag"),
        ("role:us", "role:user"),
    ];
    for (short, long) in longer {
        for budget in [1, 200, 600, 5000] {
            let mut search = Search::new(&session, Query::parse(short));
            search.step(&session, budget).unwrap();
            if let Err(query) = search.refine(&session, Query::parse(long)) {
                search = Search::new(&session, query);
            }
            search.step(&session, budget).unwrap();
            search.run(&session).unwrap();
            let mut fresh = Search::new(&session, Query::parse(long));
            fresh.run(&session).unwrap();
            assert_eq!(search.hits(&session), fresh.hits(&session), "{short} -> {long} after {budget}");
        }
    }
}

#[test]
fn other_names_of_roles_are_found_key_by_key() {
    let session = library();
    let mut outline = outline(&session, Filter::All);
    for (name, role) in [("me", "user"), ("prompt", "user"), ("answer", "assistant"), ("shell", "bash")] {
        for end in 1..=name.len() {
            outline.set_query(&session, &format!("role:{}", &name[..end])).unwrap();
        }
        let typed = ids(&outline, &session);
        outline.set_query(&session, &format!("role:{role}")).unwrap();
        assert_eq!(typed, ids(&outline, &session), "{name}");
        assert!(!typed.is_empty(), "{name}");
    }
}

#[test]
fn the_end_of_the_file_is_looked_at_first() {
    let mut draw = Draw::default();
    draw.user("u0", "", "needle");
    for at in 1..50 {
        draw.user(&format!("u{at}"), &format!("u{}", at - 1), "needle");
    }
    let session = draw.session();
    let mut search = Search::new(&session, Query::parse("needle"));
    let progress = search.step(&session, 1).unwrap();
    assert!(!progress.done);
    assert_eq!(search.hits(&session), [session.tree().node("u49").unwrap()]);
    let near = [session.tree().node("u3").unwrap()];
    assert_eq!(search.test(&session, &near).unwrap().new_hits, 1);
    assert_eq!(search.run(&session).unwrap().hits, 50);
}

#[test]
fn patterns_and_times_narrow_a_query() {
    let session = library();
    let cases = [
        (r"re:fl[a-g]{2} TO", "user"),
        (r"re:P\w+\.rs", "call rslt"),
        (r"re:\S\.rs$", "call rslt comp"),
        (r"re:^mile", "comp labl"),
        (r"role:user re:\bflag", "user"),
        (r"role:user -re:flag|größe", "pict"),
        (r"re:GRÖ.E", "fade"),
        (r"re:secret|anthropic|flagflag", ""),
        ("re:(", ""),
        ("role:tool -re:(", "rslt"),
        ("re:", ""),
        ("before:2025-06-02T00:00:03Z", "user call"),
        ("after:2025-06-02T00:00:08Z", "pict labl"),
        ("after:2025-06-02T00:00:02Z before:2025-06-02T00:00:04Z", "call rslt"),
        ("flag before:2025-06-03", "user"),
        ("flag before:2025-06-02", ""),
        ("role:user -before:2025-06-02T00:00:05Z", "fade pict"),
        ("after:someday", ""),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&session, query), expected, "{query}");
    }
}

#[test]
fn what_fits_a_pattern_is_highlighted() {
    let text = "Error 12, error x, ERROR 7";
    let hits = Query::parse(r"re:error \d+").highlights(text);
    assert_eq!(hits.into_iter().map(|hit| &text[hit]).collect::<Vec<_>>(), ["Error 12", "ERROR 7"]);
    assert!(Query::parse("re:x*").highlights("abc").is_empty());
    assert!(Query::parse("before:2025-06-02").highlights("2025-06-02").is_empty());
}
