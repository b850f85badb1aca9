//! Picks of every kind of entry: the copy and its provenance.

use serde_json::json;
use session_tree::cherry_pick::{PickMode, PickPlan, PickRequest, PickWarning, Selection};
use session_tree::{Error, Kind, ModelRef, PickRefusal, Session};

use crate::support::two_branches::{Live, call, ids, kinds, line, other, result};

/// Two branches from `a`: `x` ends the other one, the leaf is at `z`.
const TREE: &str = "
    u user start
    a<u assistant begun
    p<a user No, channels
    x<p assistant Channels it is.
    z<a user goroutines
";

const LINE: &str = "File changes mentioned here were not applied on this branch unless noted.";

fn entry(live: &Live, id: &str) -> PickRequest {
    PickRequest::new(Selection::Entry(live.node(id)))
}

fn native(live: &Live, id: &str) -> PickRequest {
    PickRequest { mode: Some(PickMode::Native), ..entry(live, id) }
}

fn plan(live: &Live, request: &PickRequest) -> PickPlan {
    live.session.plan_pick(&live.session, request).unwrap()
}

/// Plans and applies a pick within the session. Returns the new entries.
fn pick(live: &mut Live, request: &PickRequest) -> Vec<session_tree::EntryId> {
    let plan = plan(live, request);
    live.session.apply_pick(&plan).unwrap()
}

fn refusal(live: &Live, request: &PickRequest) -> PickRefusal {
    match live.session.plan_pick(&live.session, request) {
        Err(Error::CannotPick { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_prompt_is_copied_as_a_prompt_with_a_note_of_its_origin() {
    let mut live = Live::draw(TREE);
    let request = PickRequest { note: Some("better idea".into()), ..entry(&live, "p") };
    let picked = pick(&mut live, &request);
    assert_eq!(live.llm(), ["user: start", "assistant: begun", "user: goroutines", "user: No, channels"]);
    let written = live.json(&picked[0]);
    assert_eq!(written["parentId"], "z");
    assert_eq!(
        written["origin"],
        json!({
            "v": 1, "kind": "cherry-pick", "sourceSession": {"id": "ses"}, "sourceEntryIds": ["p"],
            "sourceLeafId": "x", "commonAncestorId": "a", "pickedAt": "2025-06-15T15:06:40.000Z",
            "mode": "native", "note": "better idea",
        })
    );
    assert_eq!(live.session.leaf_id().unwrap(), picked[0]);
}

#[test]
fn an_answer_is_quoted_under_a_line_that_names_where_it_comes_from() {
    let mut live = Live::draw(TREE);
    let plan = plan(&live, &entry(&live, "x"));
    let text = format!("Copied from branch No, channels, entry x, 2025-01-01. {LINE}\n\nChannels it is.");
    assert_eq!(plan.text(), text);
    assert_eq!(plan.tokens(), (text.chars().count() as u64).div_ceil(4));
    assert_eq!(plan.warnings, []);
    let picked = live.session.apply_pick(&plan).unwrap();
    assert_eq!(live.llm().last().unwrap(), &format!("user: {text}"));
    let written = live.json(&picked[0]);
    assert_eq!((&written["type"], &written["customType"]), (&json!("custom_message"), &json!("cherry-pick")));
    assert_eq!(written["display"], true);
    assert_eq!(written["details"]["sourceEntryIds"], json!(["x"]));
    assert_eq!(written["details"]["mode"], "quote");
    assert_eq!(written.get("origin"), None, "the note stands in the details");
}

#[test]
fn a_native_answer_loses_thoughts_signatures_and_usage() {
    let answer = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"text","text":"done","textSignature":"s"}],"api":"api","provider":"prov","model":"mod","usage":{"input":9,"output":1,"totalTokens":10},"stopReason":"stop","timestamp":7}"#;
    let mut live =
        Live::draw(&format!("u user start\nv<u user aside\n{}\nz<u user here", line("x", "v", answer)));
    let request = native(&live, "x");
    let picked = pick(&mut live, &request);
    let written = live.json(&picked[0]);
    assert_eq!(written["message"]["content"], json!([{"type": "text", "text": "done"}]));
    assert_eq!(written["message"]["usage"]["totalTokens"], 0);
    assert_eq!(written["message"]["usage"]["cost"]["total"], 0);
    assert_eq!(written["message"]["timestamp"], 7);
    assert_eq!(written["origin"]["originalUsage"], json!({"input": 9, "output": 1, "totalTokens": 10}));
    assert_eq!(live.llm(), ["user: start", "user: here", "assistant: done"]);
}

#[test]
fn an_answer_with_its_results_is_one_quote_with_a_line_per_call() {
    let long = "y".repeat(500);
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"1","name":"read","arguments":{"path":"a.rs"}},{"type":"toolCall","id":"2","name":"bash","arguments":{"command":"cargo test"}}],"stopReason":"toolUse"}"#;
    let read = format!(
        r#"{{"role":"toolResult","toolCallId":"1","toolName":"read","content":[{{"type":"text","text":"one\n{long}"}}],"isError":false}}"#
    );
    let bash = r#"{"role":"toolResult","toolCallId":"2","toolName":"bash","content":[{"type":"text","text":"boom"}],"isError":true}"#;
    let mut live = Live::draw(&format!(
        "u user start\nv<u user aside\n{}\n{}\nl<r2 label v mark\n{}\nz<u user here",
        line("x", "v", answer),
        line("r2", "x", bash),
        line("r1", "l", &read),
    ));
    let plan = plan(&live, &entry(&live, "x"));
    let text = plan.text();
    let shown = "y".repeat(396);
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(
        lines,
        ["Looking.", &format!("[read: a.rs] ok: one {shown}"), "[bash: cargo test] error: boom"]
    );
    let picked = live.session.apply_pick(&plan).unwrap();
    assert_eq!(live.json(&picked[0])["details"]["sourceEntryIds"], json!(["x", "r1", "r2"]));
}

#[test]
fn a_native_group_gets_fresh_call_ids_and_warns_of_what_it_did() {
    let drawing = format!(
        "u user start\nv<u user aside\n{}\n{}\n{}\n{}\nz<u user here",
        call("x", "v", "edit", "a.rs"),
        result("r", "x", "edit", "edited"),
        call("y", "r", "read", "a.rs"),
        result("s", "y", "read", "text").replace("call-y", "call-x"),
    );
    // Both answers use the same call id, as some providers do.
    let mut live = Live::draw(&drawing.replace("call-y", "call-x"));
    let request = PickRequest {
        mode: Some(PickMode::Native),
        ..PickRequest::new(Selection::Range { after: live.node("v"), to: live.node("s") })
    };
    let plan = plan(&live, &request);
    assert_eq!(plan.warnings, [PickWarning::NativeEffects { tools: vec!["edit".into()] }]);
    assert_eq!(plan.warnings[0].to_string(), "copies calls of edit whose effects are not on this branch");
    let picked = live.session.apply_pick(&plan).unwrap();
    let written: Vec<_> = picked.iter().map(|id| live.json(id)).collect();
    let made = |at: usize| written[at]["message"]["content"][0]["id"].as_str().unwrap().to_owned();
    let answered = |at: usize| written[at]["message"]["toolCallId"].as_str().unwrap().to_owned();
    assert_eq!([made(0), made(2)], [answered(1), answered(3)]);
    assert_ne!(made(0), made(2));
    assert!(made(0).starts_with("pick_"), "{}", made(0));
    assert_eq!(live.llm()[2..], ["assistant: ", "toolResult: edited", "assistant: ", "toolResult: text"]);
    assert_eq!(written[1]["origin"]["sourceEntryIds"], json!(["r"]));

    // A second copy beside it gets new call ids too.
    live.session.branch("z").unwrap();
    let again = live.session.plan_pick(&live.session, &request).unwrap();
    let again = live.session.apply_pick(&again).unwrap();
    assert_ne!(live.json(&again[0])["message"]["content"][0]["id"], made(0).as_str());
}

#[test]
fn calls_of_one_answer_that_share_an_id_are_distinguished() {
    let block = |path: &str| {
        format!(r#"{{"type":"toolCall","id":"","name":"read","arguments":{{"path":"{path}"}}}}"#)
    };
    let answer = format!(r#"{{"role":"assistant","content":[{},{}],"timestamp":1}}"#, block("a"), block("b"));
    let drawing = format!(
        "u user start\nv<u user aside\n{}\n{}\n{}\nz<u user here",
        line("x", "v", &answer),
        result("r", "x", "read", "one").replace("call-x", ""),
        result("s", "r", "read", "two").replace("call-r", ""),
    );
    let mut live = Live::draw(&drawing);
    let request = native(&live, "x");
    let picked = pick(&mut live, &request);
    let written: Vec<_> = picked.iter().map(|id| live.json(id)).collect();
    let made = |call: usize| &written[0]["message"]["content"][call]["id"];
    assert_eq!(
        [&written[1]["message"]["toolCallId"], &written[2]["message"]["toolCallId"]],
        [made(0), made(1)]
    );
    assert_ne!(made(0), made(1));
    assert_eq!(live.llm()[2..], ["assistant: ", "toolResult: one", "toolResult: two"]);
}

#[test]
fn a_group_without_all_results_and_a_lone_result_can_only_be_quoted() {
    let drawing = format!(
        "u user start\nv<u user aside\n{}\n{}\n{}\nz<u user here",
        call("x", "v", "read", "a.rs"),
        result("r", "x", "read", "text"),
        call("y", "r", "bash", ""),
    );
    let live = Live::draw(&drawing);
    assert_eq!(refusal(&live, &native(&live, "y")), PickRefusal::OpenGroup);
    assert_eq!(refusal(&live, &native(&live, "r")), PickRefusal::LoneResult);
    let open = plan(&live, &entry(&live, "y"));
    assert!(open.text().ends_with("\n\n[bash: ] no result"), "{}", open.text());
    assert_eq!(open.warnings, [PickWarning::OpenGroup { id: "y".into() }]);
    assert!(plan(&live, &entry(&live, "r")).text().ends_with("\n\n[read] ok: text"));
}

#[test]
fn shell_runs_and_messages_of_extensions_are_copied_as_they_are() {
    let hidden =
        r#"{"role":"bashExecution","command":"ls","output":"a","exitCode":0,"excludeFromContext":true}"#;
    let note = r#"! {"type":"custom_message","customType":"note","content":[{"type":"text","text":"hi"}],"display":false,"details":{"n":1.0},"id":"m","parentId":"b","timestamp":"2025-01-01T01:00:00.000Z"}"#;
    let mut live = Live::draw(&format!(
        "u user start\nv<u user aside\n{}\n{note}\nz<u user here",
        line("b", "v", hidden)
    ));
    for mode in [None, Some(PickMode::Quote), Some(PickMode::Native)] {
        let request = PickRequest {
            mode,
            allow_again: true,
            ..PickRequest::new(Selection::Range { after: live.node("v"), to: live.node("m") })
        };
        let plan = plan(&live, &request);
        assert_eq!((plan.text(), plan.items[0].tokens()), ("hi".into(), 0), "{mode:?}");
        let picked = live.session.apply_pick(&plan).unwrap();
        assert_eq!(live.json(&picked[0])["message"]["excludeFromContext"], true);
        let message = live.json(&picked[1]);
        assert_eq!((&message["customType"], &message["display"]), (&json!("note"), &json!(false)));
        assert_eq!(message["details"], json!({"n": 1.0}), "the details belong to the extension");
        assert_eq!(message["origin"]["sourceEntryIds"], json!(["m"]));
    }
}

#[test]
fn a_branch_summary_keeps_its_fields_and_a_compaction_is_quoted() {
    let mut live = Live::draw(
        "u user start
         v<u user aside
         s<v summary from=u tried things
         c<s compaction keep=v long story
         z<u user here",
    );
    let request = entry(&live, "s");
    let picked = pick(&mut live, &request);
    let written = live.json(&picked[0]);
    assert_eq!((&written["type"], &written["fromId"]), (&json!("branch_summary"), &json!("u")));
    assert_eq!((&written["summary"], &written["origin"]["mode"]), (&json!("tried things"), &json!("native")));
    assert_eq!(refusal(&live, &native(&live, "c")), PickRefusal::Compaction);
    let quoted = plan(&live, &entry(&live, "c"));
    assert_eq!(quoted.items[0].kind(), Kind::CustomMessage);
    assert!(quoted.text().ends_with("\n\nlong story"));
}

#[test]
fn settings_apply_here_and_are_announced() {
    let mut live = Live::draw(
        "u user start
         v<u user aside
         m<v model prov/other
         t<m thinking high
         z<u user here",
    );
    let model = plan(&live, &entry(&live, "m"));
    let chosen = ModelRef { provider: "prov".into(), model_id: "other".into() };
    assert_eq!(model.warnings, [PickWarning::SetsModel { model: chosen.clone() }]);
    live.session.apply_pick(&model).unwrap();
    let request = native(&live, "t");
    pick(&mut live, &request);
    let context = live.reread().context().unwrap();
    assert_eq!((context.model, context.thinking_level.as_str()), (Some(chosen), "high"));
}

#[test]
fn entries_without_meaning_elsewhere_are_refused_with_the_reason() {
    let live = Live::draw(
        r#"u user start
         v<u user aside
         c<v custom state
         l<c label u name
         i<l info title
         s<i system be good
         e<s edit u omit
         ! {"type":"wish","id":"o","parentId":"e","timestamp":"2025-01-01T00:00:01.000Z"}
         ! {"type":"message","id":"bad","parentId":"o","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":
         w<bad assistant
         y<w user
         n<y summary from=u
         ! {"type":"custom_message","customType":"note","display":true,"id":"m","parentId":"n","timestamp":"2025-01-01T00:00:01.000Z"}
         z<u user here"#,
    );
    let expected = [
        ("c", PickRefusal::State),
        ("l", PickRefusal::Bookkeeping),
        ("i", PickRefusal::Bookkeeping),
        ("s", PickRefusal::OwnPath),
        ("e", PickRefusal::OwnPath),
        ("o", PickRefusal::Unknown),
        ("bad", PickRefusal::Unreadable),
        ("w", PickRefusal::Empty),
        ("y", PickRefusal::Empty),
        ("n", PickRefusal::Empty),
        ("m", PickRefusal::Empty),
    ];
    for (id, reason) in expected {
        assert_eq!(refusal(&live, &entry(&live, id)), reason, "{id}");
    }
    let error = live.session.plan_pick(&live.session, &entry(&live, "l")).unwrap_err();
    assert_eq!(error.to_string(), "cannot pick entry l: it only keeps books");
    let with_state = PickRequest { with_state: true, ..entry(&live, "c") };
    let plan = plan(&live, &with_state);
    assert_eq!(plan.warnings, [PickWarning::CopiesState { custom_type: "state".into() }]);
    assert_eq!(plan.items[0].kind(), Kind::Custom);
}

#[test]
fn a_range_skips_entries_that_cannot_be_picked_and_reports_them() {
    let live = Live::draw(
        "u user start
         v<u user aside
         c<v custom state
         l<c label u name
         x<l assistant said
         z<u user here",
    );
    let request = PickRequest::new(Selection::Range { after: live.node("u"), to: live.node("x") });
    let plan = plan(&live, &request);
    assert_eq!(plan.source_ids().map(|id| id.as_str()).collect::<Vec<_>>(), ["v", "x"]);
    assert_eq!(plan.warnings, [PickWarning::LeftOut { id: "c".into(), reason: PickRefusal::State }]);
    let only_books = PickRequest::new(Selection::Range { after: live.node("v"), to: live.node("l") });
    let error = live.session.plan_pick(&live.session, &only_books).unwrap_err();
    assert!(matches!(error, Error::EmptySelection), "{error:?}");
    let nothing = PickRequest::new(Selection::Range { after: live.node("x"), to: live.node("x") });
    assert!(matches!(live.session.plan_pick(&live.session, &nothing), Err(Error::EmptySelection)));
}

#[test]
fn a_range_must_begin_above_its_end() {
    let live = Live::draw(TREE);
    let request = PickRequest::new(Selection::Range { after: live.node("x"), to: live.node("z") });
    let error = live.session.plan_pick(&live.session, &request).unwrap_err();
    assert_eq!(error.to_string(), "entry x is not an ancestor of entry z");
}

#[test]
fn a_turn_is_its_prompt_and_all_that_followed_up_to_the_next_prompt() {
    let mut live = Live::draw(
        "u user start
         p<u user other way
         x<p call read looking
         r<x tool read text
         y<r assistant found
         m<y model prov/late
         q<m user next question
         z<u user here",
    );
    let request = PickRequest::new(Selection::Turn(live.node("r")));
    let plan = plan(&live, &request);
    assert_eq!(ids(&live.session, &plan.selected), ["p", "x", "r", "y"]);
    let picked = live.session.apply_pick(&plan).unwrap();
    assert_eq!(kinds(&live.session, &picked), [Kind::Message, Kind::CustomMessage, Kind::CustomMessage]);
    let said: Vec<String> = live.llm()[2..].iter().map(|text| text.lines().last().unwrap().into()).collect();
    assert_eq!(said, ["user: other way", "[read: ] ok: text", "found"]);
}

#[test]
fn quoting_on_request_quotes_prompts_too_and_keeps_their_images() {
    let prompt = r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#;
    let mut live = Live::draw(&format!("u user start\n{}\nz<u user here", line("p", "u", prompt)));
    let quoted = PickRequest { mode: Some(PickMode::Quote), ..entry(&live, "p") };
    let plan = plan(&live, &quoted);
    assert_eq!(plan.warnings, [PickWarning::Images { count: 1 }]);
    assert!(plan.tokens() > 1_200, "an image counts 1,200 tokens");
    let picked = live.session.apply_pick(&plan).unwrap();
    let content = live.json(&picked[0])["content"].clone();
    assert_eq!(content[1], json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}));
    assert!(content[0]["text"].as_str().unwrap().ends_with("\n\nlook"));

    let native = PickRequest { allow_again: true, ..entry(&live, "p") };
    let picked = pick(&mut live, &native);
    assert_eq!(live.json(&picked[0])["message"], serde_json::from_str::<serde_json::Value>(prompt).unwrap());
}

#[test]
fn entries_of_the_path_are_refused_unless_requested() {
    let mut live = Live::draw(TREE);
    let error = live.session.plan_pick(&live.session, &entry(&live, "a")).unwrap_err();
    assert_eq!(error.to_string(), "entry a is on the current path already");
    let anyway = PickRequest { allow_present: true, ..entry(&live, "a") };
    let plan = plan(&live, &anyway);
    assert_eq!(plan.warnings, [PickWarning::AlreadyHere { ids: vec!["a".into()] }]);
    let partly = PickRequest::new(Selection::Range { after: live.node("u"), to: live.node("x") });
    let partly = live.session.plan_pick(&live.session, &partly).unwrap();
    assert_eq!(partly.warnings, [PickWarning::AlreadyHere { ids: vec!["a".into()] }]);

    let request = entry(&live, "x");
    let first = pick(&mut live, &request);
    let error = live.session.plan_pick(&live.session, &request).unwrap_err();
    assert_eq!(error.to_string(), format!("this was picked before, as entry {}", first[0]));
    let again = PickRequest { allow_again: true, ..request.clone() };
    let again = live.session.plan_pick(&live.session, &again).unwrap();
    assert_eq!(again.warnings, [PickWarning::PickedBefore { by: first }]);
    live.session.branch("z").unwrap();
    live.session.plan_pick(&live.session, &request).expect("on another path it was not picked");
}

#[test]
fn a_pick_of_a_pick_keeps_the_first_origin_and_the_steps() {
    let mut live = Live::draw(TREE);
    for id in ["x", "p"] {
        live.session.branch("z").unwrap();
        let request = entry(&live, id);
        let first = pick(&mut live, &request);
        live.session.branch("u").unwrap();
        let request = PickRequest { note: Some("again".into()), ..entry(&live, first[0].as_str()) };
        let second = pick(&mut live, &request);
        let place = |written: &serde_json::Value| match id {
            "x" => written["details"].clone(),
            _ => written["origin"].clone(),
        };
        let (one, two) = (live.json(&first[0]), live.json(&second[0]));
        assert_eq!((&one["content"], &one["message"]), (&two["content"], &two["message"]));
        let mut expected = place(&one);
        expected["via"] = json!([{
            "sourceSession": {"id": "ses"}, "sourceEntryIds": [first[0].as_str()],
            "sourceLeafId": first[0].as_str(), "pickedAt": "2025-06-15T15:06:40.000Z", "mode": "native",
            "note": "again",
        }]);
        assert_eq!(place(&two), expected);
        let third =
            PickRequest { allow_present: true, allow_again: true, ..entry(&live, second[0].as_str()) };
        let third = pick(&mut live, &third);
        assert_eq!(place(&live.json(&third[0]))["via"].as_array().unwrap().len(), 2);
        let error = live.session.plan_pick(&live.session, &entry(&live, first[0].as_str())).unwrap_err();
        assert!(matches!(error, Error::PickedBefore { .. }), "{error:?}");
    }
}

#[test]
fn files_that_changed_here_since_are_named() {
    let drawing = format!(
        "u user start\np<u user other way\n{}\n{}\nq<u user this way\n{}\n{}\n{}\n{}",
        call("x", "p", "read", "a.rs"),
        result("r", "x", "read", "text"),
        call("e", "q", "edit", "a.rs"),
        result("s", "e", "edit", "ok"),
        call("f", "s", "write", "b.rs"),
        result("t", "f", "write", "ok"),
    );
    let live = Live::draw(&drawing);
    let plan = plan(&live, &entry(&live, "x"));
    assert_eq!(plan.warnings, [PickWarning::ChangedHere { files: vec!["a.rs".into()] }]);
    let first = plan.text().lines().next().unwrap().to_owned();
    assert!(first.ends_with(&format!("{LINE} Changed on this branch since: a.rs.")), "{first}");
}

#[test]
fn entries_of_another_session_are_picked_with_its_name_and_file() {
    let source = other("w user far away\nx<w assistant from there");
    let mut live = Live::draw(TREE);
    let request = PickRequest::new(Selection::Entry(source.node("x")));
    let plan = live.session.plan_pick(&source.session, &request).unwrap();
    assert!(
        plan.text().starts_with("Copied from branch far away of session elsewhere, entry x, "),
        "{}",
        plan.text()
    );
    let picked = live.session.apply_pick(&plan).unwrap();
    let details = live.json(&picked[0])["details"].clone();
    let file = source.dir.path().join("s.jsonl");
    assert_eq!(details["sourceSession"], json!({"id": "elsewhere", "file": file.to_str().unwrap()}));
    assert_eq!(details["commonAncestorId"], json!(null), "`x` of this session is another entry");
}

#[test]
fn an_entry_that_a_fork_shares_is_here_already() {
    let live = Live::draw(TREE);
    let fork = other(TREE);
    let shared = PickRequest::new(Selection::Entry(fork.node("a")));
    let error = live.session.plan_pick(&fork.session, &shared).unwrap_err();
    assert!(matches!(error, Error::AlreadyPresent { .. }), "{error:?}");
}

#[test]
fn odd_lines_are_copied_by_value() {
    let bytes = concat!(
        r#"{"type":"session","version":3,"id":"odd","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#,
        "\r\n",
        r#"{"type":"message","id":"u","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"half \ud800 pair"}}"#,
        "\r\n",
        "{ \"type\" : \"message\", \"id\":\"x\",\"parentId\":\"u\",\t\"timestamp\":\"2025-01-01T00:00:02.000Z\", \"message\": { \"role\" : \"assistant\",\r \"content\": \"plain  text\", \"big\": 123456789012345678901234567890 } }\r\n",
    );
    let source = Session::from_bytes(bytes.into()).unwrap();
    let mut live = Live::draw(TREE);
    let (u, x) = (source.node("u").unwrap(), source.node("x").unwrap());
    let request = PickRequest { mode: Some(PickMode::Native), ..PickRequest::new(Selection::Turn(u)) };
    let plan = live.session.plan_pick(&source, &request).unwrap();
    let picked = live.session.apply_pick(&plan).unwrap();
    let raw = |id: &session_tree::EntryId| {
        String::from_utf8(live.reread().entry(id.as_str()).unwrap().raw().to_vec()).unwrap()
    };
    assert!(raw(&picked[0]).contains(r#""content":"half \ud800 pair""#), "{}", raw(&picked[0]));
    assert!(
        raw(&picked[1])
            .contains(r#"{"role":"assistant","content":"plain  text","big":123456789012345678901234567890,"#)
    );
    let quote = live
        .session
        .plan_pick(&source, &PickRequest { allow_again: true, ..PickRequest::new(Selection::Entry(x)) });
    assert!(quote.unwrap().text().ends_with("\n\nplain  text"));
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced_as_every_reader_replaces_them() {
    let mut bytes = testkit::drawing::session_text("u user a?b\nm<u custom_message note c?d");
    bytes.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
    let source = Session::from_bytes(bytes).unwrap();
    let mut live = Live::draw(TREE);
    live.session.reset_leaf();
    let request = PickRequest::new(Selection::Turn(source.leaf().unwrap()));
    let plan = live.session.plan_pick(&source, &request).unwrap();
    live.session.apply_pick(&plan).unwrap();
    assert_eq!(live.llm(), ["user: a\u{fffd}b", "user: c\u{fffd}d"]);
}

#[test]
fn the_text_of_a_quote_can_be_changed_and_extensions_can_add_entries() {
    let mut live = Live::draw(TREE);
    let mut plan = plan(&live, &entry(&live, "x"));
    assert!(plan.items[0].set_text("only this"));
    plan.extra.push(session_tree::Draft::custom("mine", None));
    assert_eq!((plan.text().as_str(), plan.tokens()), ("only this", 3));
    let picked = live.session.apply_pick(&plan).unwrap();
    assert_eq!(kinds(&live.session, &picked), [Kind::CustomMessage, Kind::Custom]);
    assert_eq!(live.llm().last().unwrap(), "user: only this");
    let mut prompt = live.session.plan_pick(&live.session, &entry(&live, "p")).unwrap();
    assert!(!prompt.items[0].set_text("changed"), "a native copy says what was said");
}

#[test]
fn planning_changes_nothing_and_a_stale_plan_is_refused() {
    let mut live = Live::draw(TREE);
    let before = live.bytes();
    let plan = plan(&live, &entry(&live, "x"));
    assert_eq!(live.bytes(), before);
    live.session.append_session_info("a name").unwrap();
    live.session.apply_pick(&plan).expect("a name moves nobody");
    let refused = live.session.apply_pick(&plan);
    assert!(matches!(refused, Err(Error::StalePlan)), "{refused:?}");
    live.say("more");
    assert!(matches!(live.session.apply_pick(&plan), Err(Error::StalePlan)));
}

#[test]
fn two_picks_in_a_row_hang_below_each_other() {
    let mut live = Live::draw(TREE);
    let (p, x) = (entry(&live, "p"), entry(&live, "x"));
    let first = pick(&mut live, &p);
    let second = pick(&mut live, &x);
    assert_eq!(live.json(&second[0])["parentId"], first[0].as_str());
    assert_eq!(live.llm().len(), 5);
}

#[test]
fn a_pick_into_an_empty_session_becomes_its_root() {
    let source = other(TREE);
    let mut live = Live::at(TREE, "z");
    live.session.reset_leaf();
    let request = PickRequest::new(Selection::Entry(source.node("x")));
    let plan = live.session.plan_pick(&source.session, &request).unwrap();
    let picked = live.session.apply_pick(&plan).unwrap();
    assert_eq!(live.json(&picked[0])["parentId"], json!(null));
    assert_eq!(live.llm().len(), 1);
}
