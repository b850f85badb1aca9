//! Merges: the covered entries, the text, the provenance, and branches without new entries.

use serde_json::json;
use session_tree::merge::{
    Conflict, Merge, MergeContent, MergeMode, MergeOutcome, MergePlan, MergeRequest, MergeText, Merged,
    SettingDifference,
};
use session_tree::{Draft, EntryId, Error, FileOps, ModelRef};

use crate::support::two_branches::{Live, call, ids, line, other, result};

/// Two branches from `a`; the leaf is at `z`.
const TREE: &str = "
    u user start
    a<u assistant begun
    p<a user No, channels
    x<p assistant Channels it is.
    z<a user goroutines
";

const LINE: &str = "File changes mentioned here were not applied on this branch unless noted.";

fn digest() -> MergeRequest {
    MergeRequest::default()
}

fn text(text: &str) -> MergeRequest {
    MergeRequest { content: MergeContent::Text(text.into()), ..MergeRequest::default() }
}

fn plan(live: &Live, tip: &str, request: &MergeRequest) -> MergePlan {
    live.session.plan_merge(&live.session, live.node(tip), request).unwrap()
}

fn merge_of(plan: &MergePlan) -> &Merge {
    plan.merge().unwrap_or_else(|| panic!("{:?}", plan.outcome))
}

fn entries(live: &Live, plan: &MergePlan) -> Vec<String> {
    ids(&live.session, &merge_of(plan).entries)
}

fn apply(live: &mut Live, plan: &MergePlan) -> EntryId {
    match live.session.apply_merge(plan).unwrap() {
        Merged::Appended { entry, extra } if extra.is_empty() => entry,
        other => panic!("{other:?}"),
    }
}

fn is_up_to_date(plan: &MergePlan) -> bool {
    matches!(plan.outcome, MergeOutcome::UpToDate)
}

#[test]
fn a_merge_is_one_branch_summary_with_a_note_of_its_source() {
    let mut live = Live::draw(TREE);
    let request = MergeRequest { note: Some("settled".into()), ..text("Channels won.") };
    let plan = plan(&live, "x", &request);
    let merge = merge_of(&plan);
    assert_eq!((merge.branch.as_str(), merge.turns, merge.tokens()), ("No, channels", 1, 4));
    assert_eq!(ids(&live.session, &merge.target_entries), ["z"]);
    let entry = apply(&mut live, &plan);
    let written = live.json(&entry);
    assert_eq!((&written["type"], &written["parentId"]), (&json!("branch_summary"), &json!("z")));
    assert_eq!((&written["fromId"], &written["summary"]), (&json!("x"), &json!("Channels won.")));
    assert_eq!((&written["fromHook"], written.get("usage")), (&json!(false), None));
    assert_eq!(
        written["details"],
        json!({
            "readFiles": [], "modifiedFiles": [],
            "merge": {
                "v": 1, "sourceLeafId": "x", "baseId": "a", "sourceEntryCount": 2, "mode": "text",
                "contestedFiles": [], "conflicts": [], "reviewed": false, "note": "settled",
            },
        })
    );
    let said = live.llm();
    assert_eq!(said.len(), 4);
    assert!(said[3].ends_with("\n\n<summary>\nChannels won.</summary>"), "{}", said[3]);
    assert_eq!(live.session.leaf_id().unwrap(), entry);
}

#[test]
fn a_digest_quotes_the_turns_of_the_branch() {
    let mut live = Live::draw(
        "u user start
         a<u assistant begun
         p<a user No, channels
         x<p call bash trying
         r<x tool bash passed
         s<r custom state
         l<s label p old
         y<l assistant Channels it is.
         q<y user and tests?
         b<q bash make
         z<a user goroutines",
    );
    let plan = plan(&live, "b", &digest());
    assert_eq!(entries(&live, &plan), ["p", "x", "r", "y", "q", "b"]);
    let merge = merge_of(&plan);
    assert_eq!((merge.turns, merge.omitted_turns, merge.content.mode), (2, 0, MergeMode::Digest));
    let expected = format!(
        "Copied from branch old, entries p to y, 2025-01-01. {LINE}\n\n\
         User: No, channels\n\nAssistant: trying\n[bash: ] ok: passed\n\nAssistant: Channels it is.\n\n\
         Copied from branch old, entries q to b, 2025-01-01. {LINE}\n\n\
         User: and tests?\n\nRan `make`\n(no output)"
    );
    assert_eq!(merge.content.text, expected);
    let entry = apply(&mut live, &plan);
    assert_eq!(live.json(&entry)["details"]["merge"]["mode"], "digest");
}

#[test]
fn empty_turns_do_not_count() {
    let thought = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}],"timestamp":1}"#;
    let drawing = format!("u user start\n{}\np<x user aside\nz<u user here", line("x", "u", thought));
    let live = Live::draw(&drawing);
    let turns = |request| merge_of(&plan(&live, "p", &request)).turns;
    assert_eq!([turns(text("told")), turns(digest())], [1, 1]);
}

#[test]
fn a_digest_drops_the_oldest_turns_first_and_reports_it() {
    let live = Live::draw(
        "u user start
         p1<u user one
         x1<p1 assistant first
         p2<x1 user two
         x2<p2 assistant second
         p3<x2 user three
         x3<p3 assistant third
         z<u user here",
    );
    let with = |tokens| {
        let content = MergeContent::Digest { budget_tokens: Some(tokens) };
        plan(&live, "x3", &MergeRequest { content, ..digest() })
    };
    let whole = merge_of(&plan(&live, "x3", &digest())).tokens();
    let exact = with(whole);
    assert_eq!((merge_of(&exact).omitted_turns, merge_of(&exact).tokens()), (0, whole));
    let mut seen = Vec::new();
    let node = live.node("x3");
    for tokens in (5..whole).rev() {
        let content = MergeContent::Digest { budget_tokens: Some(tokens) };
        let plan = match live.session.plan_merge(&live.session, node, &MergeRequest { content, ..digest() }) {
            Err(Error::DoesNotFit { needed, budget }) => {
                assert!(needed > budget && budget == tokens, "{needed} of {budget}");
                continue;
            }
            plan => plan.unwrap(),
        };
        let merge = merge_of(&plan);
        assert!(merge.tokens() <= tokens, "{tokens}: {}", merge.content.text);
        seen.push(merge.omitted_turns);
        let first = merge.content.text.lines().next().unwrap();
        match merge.omitted_turns {
            1 => assert_eq!(first, "1 older turn of that branch is left out here."),
            2 => assert_eq!(first, "2 older turns of that branch are left out here."),
            other => panic!("{other} turns left out of {tokens} tokens"),
        }
    }
    assert!(seen.is_sorted(), "{seen:?}");
    seen.dedup();
    assert_eq!(seen, [1, 2], "the newest turn always stays");
}

#[test]
fn a_branch_on_the_path_is_up_to_date_and_one_ahead_is_fast_forward() {
    let mut live = Live::at(TREE, "a");
    assert!(is_up_to_date(&plan(&live, "u", &digest())));
    assert!(is_up_to_date(&plan(&live, "a", &digest())));
    let ahead = plan(&live, "x", &digest());
    assert!(matches!(&ahead.outcome, MergeOutcome::FastForward { to } if *to == "x"));
    let lines = live.session.tree().len();
    let done = live.session.apply_merge(&ahead).unwrap();
    let Merged::FastForwarded { leaf, marker: Some(_) } = done else { panic!("{done:?}") };
    assert_eq!(leaf, live.node("x"));
    assert_eq!(live.session.tree().len(), lines + 1, "only the marker was written");
    let reopened = crate::support::two_branches::options().open(live.dir.path().join("s.jsonl")).unwrap();
    assert_eq!(reopened.leaf_id().unwrap(), "x");
}

#[test]
fn a_leaf_with_only_bookkeeping_since_is_fast_forwarded_too() {
    let mut live = Live::at(TREE, "a");
    live.session.append_thinking_level_change("high").unwrap();
    assert!(matches!(plan(&live, "x", &digest()).outcome, MergeOutcome::FastForward { .. }));
    assert!(is_up_to_date(&plan(&live, "a", &digest())));
    live.session.reset_leaf();
    assert!(matches!(plan(&live, "x", &digest()).outcome, MergeOutcome::FastForward { .. }));
}

#[test]
fn a_text_can_replace_a_fast_forward() {
    let mut live = Live::at(TREE, "a");
    let request = MergeRequest { no_fast_forward: true, ..text("see there") };
    let ahead = plan(&live, "x", &request);
    assert_eq!(entries(&live, &ahead), ["p", "x"]);
    let entry = apply(&mut live, &ahead);
    assert_eq!(live.json(&entry)["details"]["merge"]["baseId"], "a");
    assert!(is_up_to_date(&plan(&live, "a", &request)), "what is on the path stays up to date");
}

#[test]
fn a_second_merge_has_only_newer_entries() {
    let mut live = Live::draw(TREE);
    let first = plan(&live, "x", &text("one"));
    let first = apply(&mut live, &first);
    assert!(is_up_to_date(&plan(&live, "x", &text("again"))));
    assert!(is_up_to_date(&plan(&live, "p", &text("again"))));
    let here = live.session.leaf_id().unwrap();
    live.session.branch("x").unwrap();
    let more = live.say("and buffered?");
    live.session.branch("p").unwrap();
    let beside = live.say("or a mutex?");
    live.session.branch(here.as_str()).unwrap();
    assert_eq!(entries(&live, &plan(&live, beside.as_str(), &digest())), [beside.to_string()]);

    let second = plan(&live, more.as_str(), &text("two"));
    assert_eq!(entries(&live, &second), [more.to_string()]);
    let earlier = merge_of(&second).earlier.clone().unwrap();
    assert_eq!((earlier.entry, earlier.source_leaf), (first, "x".into()));
    let second = apply(&mut live, &second);
    assert_eq!(live.json(&second)["details"]["merge"]["sourceEntryCount"], 1);
    assert_eq!(live.json(&second)["details"]["merge"]["baseId"], "a");
    assert!(is_up_to_date(&plan(&live, more.as_str(), &digest())));
    assert_eq!(live.llm().len(), 5);

    live.session.branch("z").unwrap();
    let elsewhere = plan(&live, more.as_str(), &digest());
    assert_eq!(merge_of(&elsewhere).earlier, None, "above the merges nothing was merged");
}

#[test]
fn a_merge_of_a_merge_mentions_it_and_unites_the_files() {
    let drawing = format!(
        "u user start\np<u user one\n{}\n{}\nq<u user two\n{}\n{}\nz<u user here",
        call("x", "p", "edit", "a.rs"),
        result("r", "x", "edit", "ok"),
        call("y", "q", "write", "b.rs"),
        result("s", "y", "write", "ok"),
    );
    let mut live = Live::draw(&drawing);
    live.session.branch("s").unwrap();
    let inner = plan(&live, "r", &text("one is done"));
    let inner = apply(&mut live, &inner);
    live.session.branch("z").unwrap();
    let outer = plan(&live, inner.as_str(), &digest());
    let merge = merge_of(&outer);
    assert_eq!(entries(&live, &outer), ["q", "y", "s", inner.as_str()]);
    assert_eq!(merge.files.modified_files(), ["a.rs", "b.rs"]);
    assert!(merge.content.text.ends_with("Summary: one is done"), "{}", merge.content.text);
    let entry = apply(&mut live, &outer);
    assert_eq!(live.json(&entry)["details"]["modifiedFiles"], json!(["a.rs", "b.rs"]));
    // Entries that came inside the other merge can still be merged by themselves.
    assert_eq!(merge_of(&plan(&live, "r", &digest())).earlier, None);
}

#[test]
fn files_that_both_sides_changed_are_contested() {
    let drawing = format!(
        "u user start\np<u user one\n{}\n{}\n{}\n{}\nq<u user two\n{}\n{}",
        call("x", "p", "edit", "a.rs"),
        result("r", "x", "edit", "ok"),
        call("w", "r", "read", "c.rs"),
        result("t", "w", "read", "ok"),
        call("y", "q", "write", "a.rs"),
        result("s", "y", "write", "ok"),
    );
    let mut live = Live::draw(&drawing);
    let plan = plan(&live, "t", &digest());
    let merge = merge_of(&plan);
    assert_eq!(merge.contested, ["a.rs"]);
    let first = merge.content.text.lines().next().unwrap();
    assert_eq!(first, "Changed on both branches since they parted: a.rs. The merge changed no file.");
    let entry = apply(&mut live, &plan);
    let details = live.json(&entry)["details"].clone();
    assert_eq!((&details["readFiles"], &details["modifiedFiles"]), (&json!(["c.rs"]), &json!(["a.rs"])));
    assert_eq!(details["merge"]["contestedFiles"], json!(["a.rs"]));

    // The file lists of a merge belong to the other branch.
    let here = live.session.leaf_id().unwrap();
    live.session.branch("t").unwrap();
    let more = live.say("again");
    live.session.branch(here.as_str()).unwrap();
    let again = live.session.plan_merge(&live.session, live.node(more.as_str()), &digest()).unwrap();
    assert_eq!(merge_of(&again).contested, Vec::<String>::new());
}

#[test]
fn this_branch_keeps_its_model_and_the_difference_is_mentioned() {
    let mut live = Live::draw(
        "u user start
         p<u user other way
         m<p model prov/there
         t<m thinking high
         x<t user done?
         n<u model prov/here
         z<n user here",
    );
    let plan = plan(&live, "x", &digest());
    let model = |id: &str| ModelRef { provider: "prov".into(), model_id: id.into() };
    assert_eq!(
        merge_of(&plan).differences,
        [
            SettingDifference::Model { ours: Some(model("here")), theirs: model("there") },
            SettingDifference::ThinkingLevel { ours: "off".into(), theirs: "high".into() },
        ]
    );
    let text = &merge_of(&plan).content.text;
    assert!(text.starts_with("That branch used the model prov/there; this one keeps its own.\n\n"), "{text}");
    apply(&mut live, &plan);
    let context = live.reread().context().unwrap();
    assert_eq!((context.model, context.thinking_level.as_str()), (Some(model("here")), "off"));
}

#[test]
fn an_unfinished_tool_group_at_the_end_does_not_count_yet() {
    let mut live = Live::draw(
        "u user start
         p<u user other way
         x<p assistant half
         y<x call bash running
         l<y label p mark
         z<u user here",
    );
    let first = plan(&live, "l", &digest());
    assert_eq!(entries(&live, &first), ["p", "x"]);
    assert_eq!(merge_of(&first).source_leaf, "x");
    apply(&mut live, &first);
    assert!(is_up_to_date(&plan(&live, "y", &digest())));
    let done = result("r", "y", "bash", "passed");
    let bytes = [live.bytes(), done.trim_start_matches("! ").as_bytes().to_vec(), b"\n".to_vec()].concat();
    let here = live.session.leaf_id().unwrap();
    let mut live = Live::of(bytes);
    live.session.branch(here.as_str()).unwrap();
    assert_eq!(entries(&live, &plan(&live, "r", &digest())), ["y", "r"], "now it is finished");
}

#[test]
fn a_compaction_of_the_branch_replaces_the_entries_it_summarised() {
    let live = Live::draw(
        "u user start
         p<u user old
         x<p assistant older
         k<x user kept
         y<k assistant also kept
         c<y compaction keep=k the story so far
         q<c user new
         z<u user here",
    );
    let plan = plan(&live, "q", &digest());
    assert_eq!(entries(&live, &plan), ["c", "k", "y", "q"]);
    assert!(merge_of(&plan).content.text.contains("Summary: the story so far"));
    assert!(!merge_of(&plan).content.text.contains("older"));
}

#[test]
fn context_edits_of_the_branch_hold_in_its_digest() {
    let live = Live::draw(
        "u user start
         p<u user secret
         x<p assistant told
         e<x edit p omit
         f<e edit x changed
         y<f user more
         z<u user here",
    );
    let plan = plan(&live, "y", &digest());
    assert_eq!(entries(&live, &plan), ["x", "y"]);
    let text = &merge_of(&plan).content.text;
    assert!(
        !text.contains("secret\n") && !text.contains("told") && text.contains("Assistant: changed"),
        "{text}"
    );
}

#[test]
fn a_fork_is_merged_back_from_where_it_left() {
    let fork = other(&format!("{TREE}\nf<z assistant from the fork"));
    let mut live = Live::draw(&format!("{TREE}\no<z assistant from here"));
    let plan = live.session.plan_merge(&fork.session, fork.node("f"), &digest()).unwrap();
    let merge = merge_of(&plan);
    assert_eq!(
        (ids(&fork.session, &merge.entries), merge.base.clone()),
        (vec!["f".to_owned()], Some("z".into()))
    );
    let entry = apply(&mut live, &plan);
    let noted = live.json(&entry)["details"]["merge"].clone();
    let file = fork.dir.path().join("s.jsonl");
    assert_eq!(noted["sourceSession"], json!({"id": "elsewhere", "file": file.to_str().unwrap()}));
    assert_eq!((&noted["baseId"], &noted["sourceLeafId"]), (&json!("z"), &json!("f")));
    assert!(live.llm().last().unwrap().contains("of session elsewhere, entry f, "));

    let again = live.session.plan_merge(&fork.session, fork.node("f"), &digest()).unwrap();
    assert!(is_up_to_date(&again), "it is known by the session it came from");
    let shared = live.session.plan_merge(&fork.session, fork.node("z"), &digest()).unwrap();
    assert!(is_up_to_date(&shared));
}

#[test]
fn a_session_that_shares_nothing_is_merged_without_a_base() {
    let source = other("v user far\ny<v assistant away");
    let mut live = Live::draw(TREE);
    let plan = live.session.plan_merge(&source.session, source.node("y"), &digest()).unwrap();
    assert_eq!((merge_of(&plan).base.clone(), merge_of(&plan).entries.len()), (None, 2));
    assert_eq!(merge_of(&plan).target_entries.len(), 3);
    let entry = apply(&mut live, &plan);
    assert_eq!(live.json(&entry)["details"]["merge"]["baseId"], json!(null));

    // A position in another file cannot be reached by a fast-forward.
    let mut empty = Live::draw(TREE);
    empty.session.reset_leaf();
    let plan = empty.session.plan_merge(&source.session, source.node("y"), &text("x")).unwrap();
    let entry = apply(&mut empty, &plan);
    assert_eq!(empty.json(&entry)["parentId"], json!(null));
}

#[test]
fn a_text_of_a_model_is_recorded_with_its_cost() {
    let mut live = Live::draw(TREE);
    let mut plan = plan(&live, "x", &digest());
    let merge = plan.merge_mut().unwrap();
    merge.content = MergeText {
        text: "## Goal\nchannels".into(),
        mode: MergeMode::Summary,
        model: Some("prov/mod".into()),
        usage: Some(json!({"input": 5})),
        from_hook: true,
        conflicts: vec![Conflict {
            topic: "concurrency".into(),
            ours: "goroutines".into(),
            theirs: "channels".into(),
        }],
        reviewed: true,
    };
    merge.extra.push(Draft::custom("mine", None));
    let Merged::Appended { entry, extra } = live.session.apply_merge(&plan).unwrap() else { panic!() };
    let written = live.json(&entry);
    assert_eq!((&written["usage"], &written["fromHook"]), (&json!({"input": 5}), &json!(true)));
    let noted = &written["details"]["merge"];
    assert_eq!((&noted["mode"], &noted["model"]), (&json!("summary"), &json!("prov/mod")));
    assert_eq!(
        noted["conflicts"],
        json!([{"topic": "concurrency", "ours": "goroutines", "theirs": "channels"}])
    );
    assert_eq!(noted["reviewed"], true);
    assert_eq!(live.json(&extra[0])["parentId"], entry.as_str());
}

#[test]
fn a_blank_text_is_refused() {
    let mut live = Live::draw(TREE);
    let blank = live.session.plan_merge(&live.session, live.node("x"), &text(" \n"));
    assert!(matches!(blank, Err(Error::Invalid { .. })), "{blank:?}");
    let mut plan = plan(&live, "x", &digest());
    plan.merge_mut().unwrap().content.text.clear();
    assert!(matches!(live.session.apply_merge(&plan), Err(Error::Invalid { .. })));
}

#[test]
fn a_branch_that_adds_only_bookkeeping_is_up_to_date() {
    let live = Live::draw(
        "u user start
         t<u thinking high
         c<t custom state
         z<u user here",
    );
    assert!(is_up_to_date(&plan(&live, "c", &digest())));
}

#[test]
fn planning_changes_nothing_and_stale_plans_are_refused() {
    let mut live = Live::draw(TREE);
    let before = live.bytes();
    let stale = plan(&live, "x", &digest());
    assert_eq!(live.bytes(), before);
    live.say("more");
    let refused = live.session.apply_merge(&stale);
    assert!(matches!(refused, Err(Error::StalePlan)), "{refused:?}");
    live.session.branch("z").unwrap();
    live.session.append_session_info("a name").unwrap();
    let entry = apply(&mut live, &stale);
    assert_eq!(live.json(&entry)["summary"], merge_of(&stale).content.text);
}

#[test]
fn a_merge_and_a_pick_in_a_row_both_reach_the_model() {
    let mut live = Live::draw(TREE);
    let plan = plan(&live, "x", &text("merged"));
    apply(&mut live, &plan);
    let request = session_tree::cherry_pick::PickRequest::new(session_tree::cherry_pick::Selection::Entry(
        live.node("p"),
    ));
    let pick = live.session.plan_pick(&live.session, &request).unwrap();
    live.session.apply_pick(&pick).unwrap();
    let said = live.llm();
    assert!(said[3].contains("merged"), "{said:?}");
    assert_eq!(said[4], "user: No, channels");
}

#[test]
fn images_and_failures_of_the_source_are_described_in_words() {
    let prompt = r#"{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}"#;
    let failed = r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"529 overloaded"}"#;
    let live = Live::draw(&format!(
        "u user start\n{}\n{}\nz<u user here",
        line("p", "u", prompt),
        line("x", "p", failed)
    ));
    let plan = plan(&live, "x", &digest());
    let text = &merge_of(&plan).content.text;
    assert!(text.ends_with("User: look [1 image]\n\nAssistant: (failed: 529 overloaded)"), "{text}");
    assert_eq!(merge_of(&plan).files, FileOps::default());
}
