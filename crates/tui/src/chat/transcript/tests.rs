use super::*;
use crate::chat::item::{ToolItem, ToolState};
use crate::theme::Theme;

fn transcript() -> Transcript {
    Transcript::new(ItemStyle::new(Theme::dark()))
}

fn text(rows: &[Line<'_>]) -> Vec<String> {
    rows.iter().map(ToString::to_string).collect()
}

fn grow(transcript: &mut Transcript, id: ItemId, more: &str) {
    transcript.change(id, |item| {
        if let Item::Text(text) = item {
            text.push_str(more);
        }
    });
}

#[test]
fn what_is_done_is_handed_out_once_and_in_order() {
    let mut transcript = transcript();
    transcript.push(Item::Text("one".into()));
    let running = transcript.begin(Item::Tool(ToolItem { name: "bash".into(), ..ToolItem::default() }));
    transcript.push(Item::Text("after".into()));
    assert_eq!(text(&transcript.take_done(40, 10)), ["one"]);
    assert_eq!(text(&transcript.live_rows(40, 10)), ["", "◌ bash", "", "after"]);
    transcript.change(running, |item| {
        if let Item::Tool(tool) = item {
            tool.state = ToolState::Done;
        }
    });
    transcript.finish(running);
    assert_eq!(text(&transcript.take_done(40, 10)), ["", "● bash", "", "after"]);
    assert!(transcript.is_empty() && transcript.take_done(40, 10).is_empty());
}

#[test]
fn rows_drawn_later_outlive_the_turn() {
    let mut transcript = transcript();
    let drawn = transcript.begin(Item::Tool(ToolItem { name: "dice".into(), ..ToolItem::default() }));
    transcript.hold(drawn);
    transcript.push(Item::Text("after".into()));
    transcript.finish_all();
    assert!(transcript.take_done(40, 10).is_empty());
    transcript.change(drawn, |item| *item = Item::Text("it shows 7".into()));
    transcript.finish(drawn);
    assert_eq!(text(&transcript.take_done(40, 10)), ["it shows 7", "", "after"]);

    let never = transcript.begin(Item::Text("never drawn".into()));
    transcript.hold(never);
    transcript.close();
    assert_eq!(text(&transcript.take_done(40, 10)), ["", "never drawn"]);
}

#[test]
fn blocks_of_a_growing_text_are_handed_out_when_the_next_begins() {
    let mut transcript = transcript();
    let id = transcript.begin(Item::Text(String::new()));
    grow(&mut transcript, id, "first paragraph");
    assert!(transcript.take_done(40, 10).is_empty());
    grow(&mut transcript, id, "\n\nsecond");
    assert_eq!(text(&transcript.take_done(40, 10)), ["first paragraph"]);
    assert_eq!(text(&transcript.live_rows(40, 10)), ["", "second"]);
    grow(&mut transcript, id, " one");
    transcript.finish(id);
    assert_eq!(text(&transcript.take_done(40, 10)), ["", "second one"]);
}

#[test]
fn a_block_that_outgrows_the_screen_hands_out_its_first_rows() {
    let mut transcript = transcript();
    let id = transcript.begin(Item::Text("```\n".into()));
    let mut seen = Vec::new();
    for n in 0..100 {
        grow(&mut transcript, id, &format!("line {n}\n"));
        seen.extend(text(&transcript.take_done(40, 8)));
        assert!(transcript.live_rows(40, 99).len() <= 9);
    }
    transcript.finish(id);
    seen.extend(text(&transcript.take_done(40, 8)));
    let expected: Vec<String> = (0..100).map(|n| format!("  line {n}")).collect();
    assert_eq!(seen, expected);
}

#[test]
fn of_a_long_transcript_only_what_shows_is_made() {
    let mut transcript = transcript();
    let first = transcript.begin(Item::Thinking("wait".into()));
    for n in 0..10_000 {
        transcript.push(Item::Text(format!("message {n} with some words in it")));
    }
    transcript.live_rows(40, 20);
    let made = |transcript: &Transcript| transcript.cells.iter().filter(|cell| cell.made.is_some()).count();
    assert!(made(&transcript) <= 11, "only what shows is made: {}", made(&transcript));
    transcript.live_rows(40, 20);
    assert!(made(&transcript) <= 11);
    transcript.finish(first);
    let mut count = 0;
    while transcript.has_done() {
        count += transcript.take_done(40, 20).len();
    }
    assert_eq!(count, 20_001);
}

#[test]
fn nothing_of_a_growing_text_is_lost_when_the_terminal_changes() {
    let words: Vec<String> = (0..400).map(|n| format!("word{n}")).collect();
    let list: String = (0..90).map(|n| format!("- point{n}\n")).collect();
    for (text, wanted) in [(words.join(" "), &words), (list, &(0..90).map(|n| format!("point{n}")).collect())]
    {
        for (before, after) in [(40, 120), (120, 40), (30, 31), (12, 100)] {
            let mut transcript = transcript();
            let id = transcript.begin(Item::Text(text.clone()));
            let mut seen = text_of(&transcript.take_done(before, 8));
            assert!(!seen.is_empty());
            grow(&mut transcript, id, " end");
            seen += &text_of(&transcript.take_done(after, 8));
            transcript.set_item_style(ItemStyle::new(Theme::light()));
            transcript.finish(id);
            seen += &text_of(&transcript.take_done(after, 8));
            let seen: std::collections::HashSet<&str> = seen.split_whitespace().collect();
            let lost: Vec<&String> = wanted.iter().filter(|word| !seen.contains(word.as_str())).collect();
            assert!(lost.is_empty(), "from {before} to {after}: {lost:?}");
        }
    }
}

fn text_of(rows: &[Line<'_>]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

#[test]
fn an_answer_of_very_many_items_is_handed_out_in_portions() {
    const COUNT: usize = 200_000;
    let mut transcript = transcript();
    // Quadratic work would take hours here.
    let ids: Vec<ItemId> = (0..COUNT).map(|n| transcript.begin(Item::Text(n.to_string()))).collect();
    for id in &ids {
        grow(&mut transcript, *id, "!");
    }
    ids.iter().for_each(|id| transcript.finish(*id));
    let mut count = 0;
    while transcript.has_done() {
        let rows = transcript.take_done(40, 10);
        assert!(!rows.is_empty() && rows.len() <= MAX_ROWS_AT_ONCE + 2, "{}", rows.len());
        count += rows.len();
    }
    assert_eq!(count, COUNT * 2 - 1);
    assert!(transcript.is_empty());
}
