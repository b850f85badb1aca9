//! The text of rows, and the entries that have one.

use super::*;
use session_tree::BRANCH_SUMMARY_PREAMBLE;

fn text_of(draw: &Draw, id: &str) -> (String, RowStyle, bool) {
    let session = draw.session();
    let outline = outline(&session, Filter::All);
    let row = outline.position_of(session.tree().node(id).unwrap()).unwrap();
    let row = outline.rows(&session, row..row + 1).unwrap().remove(0);
    (row.text, row.style, row.is_error)
}

#[test]
fn every_type_of_entry_has_its_line() {
    let cases = [
        (r#""type":"compaction","summary":"s","tokensBefore":52499"#, "[compaction: 52k tokens]"),
        (r#""type":"compaction","summary":"s","tokensBefore":125"#, "[compaction: 125 tokens]"),
        (r#""type":"compaction","summary":"s","tokensBefore":999"#, "[compaction: 999 tokens]"),
        (r#""type":"compaction","summary":"s","tokensBefore":1000"#, "[compaction: 1k tokens]"),
        (r#""type":"compaction","summary":"s","tokensBefore":-3"#, "[compaction: 0 tokens]"),
        (r#""type":"branch_summary","summary":"a\n\tb""#, "[branch summary]: a  b"),
        (r#""type":"model_change","provider":"p","modelId":"m""#, "[model: m]"),
        (r#""type":"thinking_level_change","thinkingLevel":"high""#, "[thinking: high]"),
        (r#""type":"custom","customType":"state""#, "[custom: state]"),
        (r#""type":"custom_message","customType":"note","content":"hi""#, "[note]: hi"),
        (r#""type":"label","targetId":"x","label":"v1""#, "[label: v1]"),
        (r#""type":"label","targetId":"x""#, "[label: (cleared)]"),
        (r#""type":"session_info","name":" My title ""#, "[title: My title]"),
        (r#""type":"session_info","name":"""#, "[title: empty]"),
        (r#""type":"context_edit","targetId":"x","replacement":null"#, "[context omit: x]"),
        (r#""type":"context_edit","targetId":"x","replacement":{"content":"y"}"#, "[context replace: x]"),
        (r#""type":"usage","kind":"title","usage":{}"#, "[usage: title]"),
        (r#""type":"from_the_future","x":1"#, "[from_the_future]"),
        (r#""type":"message","message":{"role":"system","content":"be good"}"#, "[system]"),
        (r#""type":"message","message":{"role":"bashExecution","command":"git\tst"}"#, "[bash]: git st"),
        (
            r#""type":"message","message":{"role":"assistant","content":[],"stopReason":"stop"}"#,
            "assistant: (no content)",
        ),
        (r#""type":"message","message":{"role":"toolResult","toolName":"deploy","content":[]}"#, "[deploy]"),
        (r#""type":"message","message":{"role":"toolResult","content":[]}"#, "[tool]"),
        (r#""type":"message","message":{"role":"user","content":"plain"}"#, "user: plain"),
    ];
    for (rest, expected) in cases {
        let mut draw = Draw::default();
        draw.entry("aaaa", "", rest);
        assert_eq!(text_of(&draw, "aaaa").0, expected, "{rest}");
    }
}

#[test]
fn names_of_all_kinds_stay_on_one_short_line() {
    let name = format!(r"a\nb\u001b{}", "x".repeat(1000));
    let cases = [
        format!(r#""type":"model_change","provider":"p","modelId":"{name}""#),
        format!(r#""type":"thinking_level_change","thinkingLevel":"{name}""#),
        format!(r#""type":"custom","customType":"{name}""#),
        format!(r#""type":"custom_message","customType":"{name}","content":"hi""#),
        format!(r#""type":"label","targetId":"x","label":"{name}""#),
        format!(r#""type":"session_info","name":"{name}""#),
        format!(r#""type":"title_change","title":"{name}""#),
        format!(r#""type":"context_edit","targetId":"{name}","replacement":null"#),
        format!(r#""type":"usage","kind":"{name}","usage":{{}}"#),
        format!(r#""type":"{name}""#),
        format!(r#""type":"message","message":{{"role":"{name}","content":"hi"}}"#),
        format!(r#""type":"message","message":{{"role":"toolResult","toolName":"{name}","content":[]}}"#),
        format!(r#""type":"branch_summary","summary":"s","details":{{"merge":{{"sourceLeafId":"{name}"}}}}"#),
    ];
    for rest in cases {
        let mut draw = Draw::default();
        draw.entry("aaaa", "", &rest);
        let text = text_of(&draw, "aaaa").0;
        assert!(text.contains("a b\u{241b}x") && !text.contains(char::is_control), "{text:?}");
        assert!(text.chars().count() < 250, "{text}");
    }
    let mut draw = Draw::default();
    draw.call("c1", "", &name, "{}").result("t1", "c1", &name, "out");
    let text = text_of(&draw, "t1").0;
    assert!(text.starts_with("[a b\u{241b}x") && text.ends_with("x: {}]"), "{text:?}");
}

#[test]
fn calls_are_shown_by_what_matters_in_them() {
    let cases = [
        ("read", r#"{"path":"a.rs"}"#, "[read: a.rs]"),
        ("read", r#"{"file_path":"a.rs","offset":5}"#, "[read: a.rs:5]"),
        ("read", r#"{"path":"a.rs","limit":3}"#, "[read: a.rs:1-3]"),
        ("write", r#"{"path":"b.rs","content":"x"}"#, "[write: b.rs]"),
        ("edit", r#"{"path":"c.rs"}"#, "[edit: c.rs]"),
        ("bash", r#"{"command":"ls\n-la"}"#, "[bash: ls -la]"),
        ("grep", r#"{"pattern":"fn","path":"src"}"#, "[grep: /fn/ in src]"),
        ("find", r#"{"pattern":"*.rs"}"#, "[find: *.rs in .]"),
        ("ls", "{}", "[ls: .]"),
        ("deploy", r#"{"to":"prod"}"#, r#"[deploy: {"to":"prod"}]"#),
        (
            "deploy",
            r#"{"to":"production","and":"everywhere else"}"#,
            r#"[deploy: {"to":"production","and":"everywhere els...]"#,
        ),
    ];
    for (tool, arguments, expected) in cases {
        let mut draw = Draw::default();
        draw.call("c1", "", tool, arguments).result("t1", "c1", tool, "out");
        assert_eq!(text_of(&draw, "t1"), (expected.to_owned(), RowStyle::Tool, false));
    }
}

#[test]
fn results_of_calls_made_together_find_their_own_call() {
    let mut draw = Draw::default();
    let call = |id: &str, path: &str| {
        format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{"path":"{path}"}}}}"#)
    };
    let both = format!("{},{}", call("one", "1.rs"), call("two", "2.rs"));
    draw.message("a1", "", &format!(r#""role":"assistant","content":[{both}]"#))
        .message("t1", "a1", r#""role":"toolResult","toolCallId":"one","toolName":"read","content":[]"#)
        .settings("s1", "t1")
        .message(
            "t2",
            "s1",
            r#""role":"toolResult","toolCallId":"two","toolName":"read","content":[],"isError":true"#,
        );
    assert_eq!(text_of(&draw, "t1").0, "[read: 1.rs]");
    assert_eq!(text_of(&draw, "t2"), ("[read: 2.rs]".to_owned(), RowStyle::Tool, true));
}

#[test]
fn a_prompt_of_images_says_how_many() {
    let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
    let mut draw = Draw::default();
    draw.message("u1", "", &format!(r#""role":"user","content":[{image},{image}]"#));
    draw.message("u2", "u1", &format!(r#""role":"user","content":[{image}]"#));
    assert_eq!(text_of(&draw, "u1").0, "user: [2 images]");
    assert_eq!(text_of(&draw, "u2").0, "user: [1 image]");
}

#[test]
fn long_texts_are_cut_between_characters_and_control_characters_do_not_reach_the_screen() {
    let mut draw = Draw::default();
    draw.message("u1", "", &format!(r#""role":"user","content":"{}""#, "ä".repeat(300)));
    draw.message("u2", "u1", r#""role":"user","content":"a\u001b[2Jb""#);
    assert_eq!(text_of(&draw, "u1").0, format!("user: {}", "ä".repeat(200)));
    assert_eq!(text_of(&draw, "u2").0, "user: a␛[2Jb");
}

#[test]
fn the_row_of_a_branch_summary_begins_with_its_first_sentence() {
    let summary = |text: &str| {
        let mut draw = Draw::default();
        draw.user("u", "", "hi").entry(
            "s",
            "u",
            &format!(r#""type":"branch_summary","summary":{}"#, serde_json::json!(text)),
        );
        text_of(&draw, "s").0
    };
    let told = format!("{BRANCH_SUMMARY_PREAMBLE}## Goal\nPort the parser.\n\n## Progress\n- done");
    assert_eq!(summary(&told), "[branch summary]: Port the parser.  ## Progress - done");
    assert_eq!(summary(BRANCH_SUMMARY_PREAMBLE), "[branch summary]: ");
    assert_eq!(summary(&format!("{BRANCH_SUMMARY_PREAMBLE}## Goal")), "[branch summary]: ## Goal");
    assert_eq!(summary("## Goal\nNo preamble"), "[branch summary]: ## Goal No preamble");
}

#[test]
fn the_visible_text_of_a_row_finds_it() {
    let mut draw = Draw::default();
    draw.user("u1", "", "Hello there").call(
        "c1",
        "u1",
        "read",
        r#"{"path":"/home/me/src/main.rs","offset":10,"limit":40}"#,
    );
    draw.result("r1", "c1", "read", "fn main() {}").assistant("a1", "r1", "Done.");
    draw.entry(
        "k1",
        "a1",
        r#""type":"compaction","summary":"short","firstKeptEntryId":"u1","tokensBefore":52000"#,
    );
    draw.entry("l1", "k1", r#""type":"label","targetId":"u1","label":"start""#);
    let session = draw.session();
    let mut outline = Outline::new(
        &session,
        OutlineOptions { home: Some("/home/me".to_owned()), ..OutlineOptions::default() },
    );
    for row in 0..outline.len() {
        let shown = outline.bare_row(&session, row).unwrap().unwrap();
        let label = shown.label.map(|label| format!("[{}] ", label.text)).unwrap_or_default();
        let typed = label + &shown.text;
        // Typed letter by letter, as people do.
        for end in (1..=typed.len()).filter(|end| typed.is_char_boundary(*end)) {
            outline.set_query(&session, &typed[..end]).unwrap();
            outline.search_all(&session).unwrap();
            assert!(outline.position_of(shown.node).is_some(), "{:?}", &typed[..end]);
        }
        outline.set_query(&session, "").unwrap();
    }
    outline.set_query(&session, "user: -[start]").unwrap();
    assert!(outline.is_empty());
}

#[test]
fn merges_and_picks_name_the_branch_they_came_from() {
    let mut draw = Draw::default();
    draw.user("u1", "", "start")
        .assistant("a1", "u1", "ok")
        .user("u2", "a1", "main work")
        .assistant("a2", "u2", "m");
    draw.user("u3", "a1", "No, channels").assistant("a3", "u3", "c");
    draw.entry("m1", "a2", r#""type":"branch_summary","fromId":"a3","summary":"done there","details":{"merge":{"v":1,"sourceLeafId":"a3"}}"#);
    draw.entry("p1", "m1", r#""type":"custom_message","customType":"cherry-pick","content":"Copied from branch x.\nthe text","display":true,"details":{"v":1,"kind":"cherry-pick","sourceLeafId":"a3"}"#);
    draw.entry("p2", "p1", r#""type":"message","origin":{"v":1,"kind":"cherry-pick","sourceSession":{"id":"other"},"sourceLeafId":"zz"},"message":{"role":"user","content":"again"}"#);
    assert_eq!(text_of(&draw, "m1").0, "[merge ⇠ No, channels]: done there");
    assert_eq!(text_of(&draw, "p1").0, "⇠ pick from \"No, channels\": the text");
    assert_eq!(text_of(&draw, "p2").0, "⇠ pick from \"other\": again");
    draw.label("l1", "p2", "a3", r"two\nlines \u001b[2J");
    assert_eq!(text_of(&draw, "m1").0, "[merge ⇠ two lines ␛[2J]: done there");
}

#[test]
fn each_filter_shows_what_its_table_says() {
    let mut draw = Draw::default();
    draw.user("user", "", "1").assistant("text", "user", "t").call("tool", "text", "ls", "{}");
    draw.result("rslt", "tool", "ls", "x").settings("modl", "rslt");
    draw.message("bash", "modl", r#""role":"bashExecution","command":"ls""#);
    draw.entry("cmsg", "bash", r#""type":"custom_message","customType":"n","content":"x","display":true"#);
    draw.entry("comp", "cmsg", r#""type":"compaction","summary":"s","tokensBefore":1"#);
    draw.entry("summ", "comp", r#""type":"branch_summary","summary":"s""#);
    draw.entry("cust", "summ", r#""type":"custom","customType":"x""#);
    draw.entry("info", "cust", r#""type":"session_info","name":"x""#);
    draw.entry("edit", "info", r#""type":"context_edit","targetId":"text","replacement":null"#);
    draw.entry("usge", "edit", r#""type":"usage","kind":"k""#);
    draw.entry("what", "usge", r#""type":"unknown_thing""#);
    draw.label("labl", "what", "tool", "v");
    let session = draw.user("last", "labl", "2").session();
    let shown = |filter| ids(&outline(&session, filter), &session).join(" ");
    assert_eq!(shown(Filter::Default), "user text rslt bash cmsg comp summ what last");
    assert_eq!(shown(Filter::NoTools), "user text bash cmsg comp summ what last");
    assert_eq!(shown(Filter::UserOnly), "user last");
    assert_eq!(shown(Filter::LabeledOnly), "tool", "also an answer that only calls tools");
    assert_eq!(
        shown(Filter::All),
        "user text tool rslt modl bash cmsg comp summ cust info edit usge what labl last"
    );
    assert_eq!(shown(Filter::Turns), "user tool last");
    assert_eq!(shown(Filter::Branches), "last");
}

#[test]
fn filters_cycle_through_all_and_are_found_by_name() {
    let mut seen = vec![Filter::Default];
    while seen.len() < Filter::CYCLE.len() {
        seen.push(seen[seen.len() - 1].next());
    }
    assert_eq!(seen, Filter::CYCLE);
    assert_eq!(Filter::Branches.next(), Filter::Default);
    for filter in Filter::CYCLE {
        assert_eq!(filter.next().previous(), filter);
        assert_eq!(Filter::from_name(filter.name()), Some(filter));
    }
    assert_eq!(Filter::CYCLE.map(Filter::suffix)[..5], ["", "[no-tools]", "[user]", "[labeled]", "[all]"]);
    assert_eq!(Filter::ALL[..Filter::CYCLE.len()], Filter::CYCLE);
    for filter in Filter::ALL {
        assert_eq!(Filter::from_name(filter.name()), Some(filter));
    }
    assert_eq!((Filter::Errors.next(), Filter::Files.previous()), (Filter::NoTools, Filter::Branches));
}

#[test]
fn the_errors_filter_shows_what_ended_badly() {
    let answer = |reason: &str, text: &str| {
        format!(r#""role":"assistant","content":[{{"type":"text","text":"{text}"}}],"stopReason":"{reason}""#)
    };
    let result = |rest: &str| format!(r#""role":"toolResult","toolCallId":"x","toolName":"ls",{rest}"#);
    let bash = |rest: &str| format!(r#""role":"bashExecution","command":"ls",{rest}"#);
    let mut draw = Draw::default();
    draw.user("user", "", "an error, aborted");
    draw.message("fine", "user", &answer("stop", "the \\\"error\\\" is gone"));
    draw.message("fail", "fine", &answer("error", "half"));
    draw.message("abrt", "fail", &answer("aborted", ""));
    draw.message("long", "abrt", &answer("length", ""));
    draw.message("good", "long", &result(r#""isError":false,"details":{"isError":true}"#));
    draw.message("badr", "good", &result(r#""content":[],"isError": true"#));
    draw.message("oddr", "badr", &result(r#""content":[],"\u0069sError":true"#));
    draw.message("exit", "oddr", &bash(r#""exitCode":1"#));
    draw.message("zero", "exit", &bash(r#""exitCode":0"#));
    draw.message("kill", "zero", &bash(r#""cancelled":true"#));
    draw.lines.push(r#"{"type":"message","id":"torn","parentId":"kill","timestamp":"2025-06-02T00:00:59.000Z","message":{"role":"#.into());
    let session = draw.user("last", "torn", "2").session();
    let shown = |filter| ids(&outline(&session, filter), &session).join(" ");
    assert_eq!(shown(Filter::Errors), "fail abrt badr oddr exit kill torn");
}

#[test]
fn the_files_filter_shows_what_touches_files() {
    let mut draw = Draw::default();
    draw.user("user", "", r#"please "read" it"#);
    draw.call("call", "user", "read", r#"{"path":"a.rs"}"#).result("rslt", "call", "read", "text");
    draw.call("list", "rslt", "ls", r#"{"path":"read"}"#).result("lsrs", "list", "ls", "\"edit\"");
    draw.message("text", "lsrs", r#""role":"assistant","content":[{"type":"text","text":"I write"},{"type":"toolCall","id":"c","name":"write","arguments":{"path":"b.rs"}}],"stopReason":"toolUse""#);
    draw.message("nest", "text", r#""role":"toolResult","toolCallId":"d","toolName":"agent","content":[],"nestedCalls":{"calls":[{"name":"edit","arguments":{"path":"c.rs"}}]}"#);
    draw.call("open", "nest", "edit", r#"{"path":"d.rs"}"#);
    let session = draw.session();
    let shown = |filter| ids(&outline(&session, filter), &session).join(" ");
    assert_eq!(shown(Filter::Files), "rslt text nest open", "a bare call is shown at the leaf alone");
}

#[test]
fn filters_that_read_follow_what_was_appended() {
    let mut draw = Draw::default();
    draw.user("aaaa", "", "one");
    let before = draw.session();
    let mut outline = outline(&before, Filter::Errors);
    assert!(outline.is_empty());
    let failed = r#""role":"assistant","content":[],"stopReason":"error""#;
    let after = draw.message("bbbb", "aaaa", failed).session();
    outline.refresh(&after);
    assert_eq!(ids(&outline, &after), ["bbbb"]);
    outline.set_filter(&after, Filter::Files);
    assert!(outline.is_empty());
    outline.set_filter(&after, Filter::Errors);
    outline.set_query(&after, "role:user").unwrap();
    assert!(outline.is_empty());
}

#[test]
fn a_damaged_line_keeps_its_row() {
    let mut draw = Draw::default();
    draw.user("aaaa", "", "one");
    draw.lines.push(r#"{"type":"message","id":"bbbb","parentId":"aaaa","timestamp":"2025-06-02T00:00:09.000Z","message":{"role":"user","content":[}}"#.into());
    draw.user("cccc", "bbbb", "two");
    assert_eq!(text_of(&draw, "bbbb").0, "[damaged line]");
}

#[test]
fn an_outline_follows_what_was_appended() {
    let mut draw = Draw::default();
    draw.user("aaaa", "", "one");
    let before = draw.session();
    let mut outline = outline(&before, Filter::Default);
    let after = draw.assistant("bbbb", "aaaa", "1").user("cccc", "aaaa", "two").session();
    outline.refresh(&after);
    assert_eq!(ids(&outline, &after), ["aaaa", "cccc", "bbbb"]);
}
