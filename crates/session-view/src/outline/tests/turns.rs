//! Turns that are opened in the turn view, and where picks and merges came from.

use super::*;

fn talk() -> Draw {
    let mut draw = Draw::default();
    draw.user("u1", "", "first")
        .call("c1", "u1", "bash", r#"{"command":"ls"}"#)
        .result("r1", "c1", "bash", "files");
    draw.assistant("a1", "r1", "done").user("u2", "a1", "second").assistant("a2", "u2", "done too");
    draw.assistant("b1", "r1", "done differently");
    draw
}

#[test]
fn an_open_turn_shows_its_entries_on_all_branches_and_not_those_of_the_next() {
    let session = talk().session_at("a2");
    let mut outline = outline(&session, Filter::Turns);
    let node = |id| session.tree().node(id).unwrap();
    assert_eq!(ids(&outline, &session), ["u1", "u2"]);
    assert!(outline.open_turn(&session, node("u1")));
    assert!(!outline.open_turn(&session, node("u1")));
    assert_eq!(ids(&outline, &session), ["u1", "r1", "a1", "u2", "b1"]);
    assert_eq!(outline.close_turn(&session, node("r1")), Some(node("u1")));
    assert_eq!(outline.close_turn(&session, node("r1")), None);
    assert_eq!(ids(&outline, &session), ["u1", "u2"]);
}

#[test]
fn turns_are_opened_in_the_turn_view_alone() {
    let session = talk().session();
    let mut outline = outline(&session, Filter::Default);
    let node = |id| session.tree().node(id).unwrap();
    assert!(!outline.open_turn(&session, node("u1")));
    outline.set_filter(&session, Filter::Turns);
    assert!(!outline.open_turn(&session, node("a1")));
    assert!(outline.open_turn(&session, node("u2")));
    outline.set_filter(&session, Filter::UserOnly);
    assert_eq!(ids(&outline, &session), ["u1", "u2"]);
}

#[test]
fn the_figures_of_a_turn_are_known_in_every_view() {
    let session = talk().session_at("a2");
    let outline = outline(&session, Filter::Default);
    let node = |id| session.tree().node(id).unwrap();
    let stats = outline.turn_stats(&session, node("u1")).unwrap().unwrap();
    assert_eq!((stats.replies, stats.tools), (2, 1));
    assert_eq!(outline.turn_stats(&session, node("a1")).unwrap(), None);
}

#[test]
fn turn_numbers_survive_a_filter_change() {
    let session = talk().session_at("a2");
    let mut outline = outline(&session, Filter::Default);
    let numbers = |outline: &Outline| {
        let rows = outline.rows(&session, 0..9).unwrap();
        rows.iter().map(|row| row.turn.map(|turn| turn.number)).collect::<Vec<_>>()
    };
    // The preview of the default view asks for the stats of a turn, which are cached.
    outline.turn_stats(&session, session.tree().node("u2").unwrap()).unwrap();
    for _ in 0..2 {
        outline.set_filter(&session, Filter::Turns);
        assert_eq!(numbers(&outline), [Some(1), Some(2)]);
        outline.set_filter(&session, Filter::All);
    }
}

#[test]
fn the_source_of_summaries_merges_and_picks_is_found() {
    let mut draw = talk();
    draw.entry("s", "a1", r#""type":"branch_summary","fromId":"a2","summary":"x""#);
    draw.entry("old", "a1", r#""type":"branch_summary","fromId":"a1","summary":"its parent tells nothing""#);
    let merge =
        r#""type":"branch_summary","fromId":"a1","summary":"x","details":{"merge":{"sourceLeafId":"b1"}}"#;
    draw.entry("m", "s", merge);
    let origin = r#"{"kind":"cherry-pick","sourceEntryIds":["r1","a1"]}"#;
    draw.entry(
        "p",
        "m",
        &format!(r#""type":"custom_message","customType":"cherry-pick","content":"x","details":{origin}"#),
    );
    draw.entry(
        "q",
        "p",
        &format!(r#""type":"message","origin":{origin},"message":{{"role":"user","content":"x"}}"#),
    );
    let session = draw.session();
    let source = |id: &str| {
        let found = crate::source_of(&session, session.tree().node(id).unwrap()).unwrap();
        found.map(|node| session.tree().id(node).to_string())
    };
    let found = ["s", "old", "m", "p", "q", "u1"].map(source);
    let wanted = [Some("a2"), None, Some("b1"), Some("r1"), Some("r1"), None];
    assert_eq!(found, wanted.map(|id| id.map(str::to_owned)));
}

#[test]
fn a_prefix_without_its_first_levels_is_the_end_of_the_whole_one() {
    let session = talk().session_at("a2");
    let mut outline = outline(&session, Filter::All);
    outline.fold(&session, session.tree().node("a1").unwrap());
    for row in all_rows(&outline, &session) {
        let whole: Vec<char> = row.prefix(Charset::Unicode).chars().collect();
        for first in 0..=row.levels.len() {
            let rest: String = whole[3 * first..].iter().collect();
            assert_eq!(row.prefix_from(Charset::Unicode, first), rest);
        }
        assert_eq!(row.prefix_from(Charset::Unicode, 99).chars().count(), whole.len() - 3 * row.levels.len());
    }
}
