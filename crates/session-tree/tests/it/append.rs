//! Appending, moving the leaf, branching. The number at the end of a name is that of the conformance case.

use session_tree::{Body, Draft, Error, KeepFrom, NewBranchSummary, NewCompaction, Position};

use crate::support::live::{
    assistant, children, context, field, in_memory, parent, path, roots, shape, user,
};

fn summary(text: &str) -> NewBranchSummary {
    NewBranchSummary { summary: text.into(), ..NewBranchSummary::default() }
}

#[test]
fn a_new_session_has_no_leaf_no_path_and_no_tree() {
    let session = in_memory();
    assert_eq!(session.leaf_id(), None);
    assert!(session.leaf_entry().unwrap().is_none());
    assert!(session.branch_path(Position::Leaf).is_empty());
    assert!(session.tree().is_empty() && session.tree().ordered().is_empty());
}

#[test]
fn each_append_hangs_below_the_one_before_and_becomes_the_leaf() {
    let mut session = in_memory();
    let one = session.append_message(&user("one")).unwrap();
    let two = session.append_message(&assistant("two")).unwrap();
    let three = session.append_message(&user("three")).unwrap();
    assert_eq!(parent(&session, &one), None);
    assert_eq!(parent(&session, &two), Some(one.clone()));
    assert_eq!(parent(&session, &three), Some(two.clone()));
    assert_eq!(session.leaf_id(), Some(three.clone()));
    assert_eq!(path(&session, None), [one.as_str(), two.as_str(), three.as_str()]);
}

#[test]
fn changes_of_thinking_level_and_model_stand_on_the_path() {
    let mut session = in_memory();
    let prompt = session.append_message(&user("one")).unwrap();
    let level = session.append_thinking_level_change("high").unwrap();
    let model = session.append_model_change("openai", "gpt-4").unwrap();
    let answer = session.append_message(&assistant("two")).unwrap();
    assert_eq!(parent(&session, &level), Some(prompt));
    assert_eq!(parent(&session, &model), Some(level.clone()));
    assert_eq!(parent(&session, &answer), Some(model.clone()));
    assert_eq!(field(&session, level.as_str(), "thinkingLevel").as_deref(), Some("high"));
    assert_eq!(field(&session, model.as_str(), "provider").as_deref(), Some("openai"));
    assert_eq!(field(&session, model.as_str(), "modelId").as_deref(), Some("gpt-4"));
}

#[test]
fn a_compaction_stands_on_the_path_with_all_it_was_given() {
    let mut session = in_memory();
    let prompt = session.append_message(&user("one")).unwrap();
    let answer = session.append_message(&assistant("two")).unwrap();
    let new = NewCompaction {
        summary: "s".into(),
        keep: KeepFrom::Entry(prompt.clone()),
        tokens_before: 1000,
        details: None,
        usage: None,
        from_hook: false,
    };
    let compaction = session.append_compaction(&new).unwrap();
    let next = session.append_message(&user("three")).unwrap();
    assert_eq!(parent(&session, &compaction), Some(answer));
    assert_eq!(parent(&session, &next), Some(compaction.clone()));
    let entry = session.entry(compaction.as_str()).unwrap();
    let Body::Compaction { summary, first_kept, tokens_before, .. } = entry.body() else { panic!() };
    assert_eq!(summary.as_deref(), Some("s"));
    assert_eq!(first_kept.as_deref(), Some(prompt.as_str()));
    assert_eq!(tokens_before, Some(1000.0));
}

#[test]
fn a_custom_entry_is_on_the_path_and_not_in_the_context() {
    let mut session = in_memory();
    let prompt = session.append_message(&user("one")).unwrap();
    let data = serde_json::json!({"key": "value"});
    let custom = session.append_custom_entry("my_data", Some(&data)).unwrap();
    let answer = session.append_message(&assistant("two")).unwrap();
    assert_eq!(path(&session, None), [prompt.as_str(), custom.as_str(), answer.as_str()]);
    assert_eq!(context(&session), [prompt.as_str(), answer.as_str()]);
    let entry = session.entry(custom.as_str()).unwrap();
    let Body::Custom { custom_type, data: stored } = entry.body() else { panic!() };
    assert_eq!(custom_type.as_deref(), Some("my_data"));
    assert_eq!(stored.unwrap().to_serde(), Some(data));
}

#[test]
fn an_append_after_branching_makes_a_second_child() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    let three = session.append_message(&user("3")).unwrap();
    session.branch(two.as_str()).unwrap();
    assert_eq!(session.leaf_id(), Some(two.clone()));
    let four = session.append_message(&user("4")).unwrap();
    assert_eq!(parent(&session, &four), Some(two.clone()));
    assert_eq!(children(&session, two.as_str()), [three.as_str(), four.as_str()]);
    assert_eq!(roots(&session), [one.as_str()]);
}

#[test]
fn an_entry_can_have_many_branches() {
    let mut session = in_memory();
    session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    let mut appended = Vec::new();
    for text in ["a", "b", "c"] {
        session.branch(two.as_str()).unwrap();
        appended.push(session.append_message(&user(text)).unwrap().to_string());
    }
    assert_eq!(children(&session, two.as_str()), appended);
}

#[test]
fn branches_of_branches_keep_their_places() {
    let mut session = in_memory();
    let ids: Vec<_> =
        ["1", "2", "3", "4"].iter().map(|text| session.append_message(&user(text)).unwrap()).collect();
    session.branch(ids[1].as_str()).unwrap();
    let five = session.append_message(&user("5")).unwrap();
    let six = session.append_message(&assistant("6")).unwrap();
    session.branch(five.as_str()).unwrap();
    let seven = session.append_message(&user("7")).unwrap();
    assert_eq!(children(&session, ids[1].as_str()), [ids[2].as_str(), five.as_str()]);
    assert_eq!(children(&session, five.as_str()), [six.as_str(), seven.as_str()]);
    assert_eq!(children(&session, ids[2].as_str()), [ids[3].as_str()]);
}

#[test]
fn branching_from_an_unknown_entry_changes_nothing() {
    let mut session = in_memory();
    let one = session.append_message(&user("one")).unwrap();
    for id in ["nope", "null", ""] {
        let error = session.branch(id).unwrap_err();
        assert!(matches!(error, Error::UnknownEntry { .. }));
        assert_eq!(error.to_string(), format!("Entry {id} not found"));
        assert_eq!(session.leaf_id(), Some(one.clone()));
    }
}

#[test]
fn after_a_reset_the_context_is_empty_and_the_next_entry_is_a_root() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    session.append_message(&assistant("2")).unwrap();
    session.reset_leaf();
    assert_eq!(session.leaf_id(), None);
    assert!(context(&session).is_empty() && session.branch_path(Position::Leaf).is_empty());
    let three = session.append_message(&user("3")).unwrap();
    assert_eq!(parent(&session, &three), None);
    assert_eq!(roots(&session), [one.as_str(), three.as_str()]);
}

#[test]
fn a_branch_summary_hangs_at_the_new_place_and_names_the_old_leaf() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    session.append_message(&assistant("2")).unwrap();
    let three = session.append_message(&user("3")).unwrap();
    let summary = session.branch_with_summary(&one, summary("x")).unwrap();
    assert_eq!(parent(&session, &summary), Some(one));
    assert_eq!(field(&session, summary.as_str(), "fromId").as_deref(), Some(three.as_str()));
    let entry = session.entry(summary.as_str()).unwrap();
    let line = String::from_utf8_lossy(entry.raw());
    assert!(line.contains(&format!(r#""fromId":"{three}","summary":"x","fromHook":false"#)), "{line}");
    assert_eq!(session.leaf_id(), Some(summary));
}

#[test]
fn a_branch_summary_from_and_to_before_the_first_entry() {
    let mut session = in_memory();
    session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    session.reset_leaf();
    let first = session.branch_with_summary(&two, summary("y")).unwrap();
    assert_eq!(field(&session, first.as_str(), "fromId").as_deref(), Some("root"));
    assert_eq!(parent(&session, &first), Some(two));
    let second = session.branch_with_summary(Position::Start, summary("z")).unwrap();
    assert_eq!(parent(&session, &second), None);
    assert_eq!(field(&session, second.as_str(), "fromId").as_deref(), Some(first.as_str()));
    assert_eq!(session.leaf_id(), Some(second));
}

#[test]
fn a_branch_summary_at_an_unknown_entry_changes_nothing() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let error = session.branch_with_summary("nope", summary("x")).unwrap_err();
    assert_eq!(error.to_string(), "Entry nope not found");
    assert_eq!(shape(&session), [one.as_str()]);
    assert_eq!(session.leaf_id(), Some(one));
}

#[test]
fn the_context_follows_the_branch_of_the_leaf() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    let two = session.append_message(&assistant("2")).unwrap();
    session.append_message(&user("3")).unwrap();
    session.branch(two.as_str()).unwrap();
    let four = session.append_message(&assistant("4")).unwrap();
    assert_eq!(context(&session), [one.as_str(), two.as_str(), four.as_str()]);
}

#[test]
fn an_unknown_id_has_no_entry_and_an_empty_path() {
    let mut session = in_memory();
    session.append_message(&user("1")).unwrap();
    assert!(matches!(session.entry("nope"), Err(Error::UnknownEntry { .. })));
    assert!(session.tree().node("nope").is_none());
    assert!(session.branch_path("nope").is_empty());
}

#[test]
fn roots_stand_in_file_order() {
    let mut session = in_memory();
    let one = session.append_message(&user("1")).unwrap();
    session.append_message(&assistant("2")).unwrap();
    let summary = session.branch_with_summary(Position::Start, summary("x")).unwrap();
    session.append_message(&user("3")).unwrap();
    assert_eq!(roots(&session), [one.as_str(), summary.as_str()]);
}

#[test]
fn an_id_that_was_drawn_before_is_used_unless_another_entry_has_it() {
    let mut session = in_memory();
    let (first, second) = (session.new_id(), session.new_id());
    let draft = |text: &str| Draft::message(&user(text)).unwrap();
    assert_eq!(session.append(draft("1").with_id(second.clone())).unwrap(), second);
    assert_eq!(session.append(draft("2").with_id(first.clone())).unwrap(), first);
    let third = session.append(draft("3").with_id(first.clone())).unwrap();
    assert!(third != first && third != second, "the id was taken");
    let same = session.new_id();
    let batch = [draft("4").with_id(same.clone()), draft("5").with_id(same.clone())];
    let ids = session.append_batch(&batch).unwrap();
    assert!(ids[0] == same && ids[1] != same);
    assert_eq!(shape(&session).len(), 5);
}
