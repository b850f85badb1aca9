#![allow(clippy::needless_pass_by_value, reason = "values are written down where they are used")]

use offshoot_agent::model::Price;
use session_tree::Timestamp;

use super::*;

fn spec() -> ModelSpec {
    ModelSpec {
        provider: "p".into(),
        id: "m".into(),
        name: "M".into(),
        api: "a".into(),
        context_window: 1,
        max_output: 1,
        thinking_levels: Vec::new(),
        reads_images: true,
        price: Price::default(),
    }
}

fn answer(provider: &str, api: &str, model: &str, content: Json) -> Message {
    let message = json!({
        "role": "assistant", "provider": provider, "api": api, "model": model, "content": content,
    });
    Message::parse_unchecked(message.to_string()).unwrap()
}

fn blocks(message: Message) -> Vec<AssistantBlock> {
    match turns(&spec(), &[message]).pop() {
        Some(Turn::Assistant(blocks)) => blocks,
        other => panic!("no answer but {other:?}"),
    }
}

fn plain(text: &str) -> AssistantBlock {
    AssistantBlock::Text { text: text.into(), signature: None }
}

#[test]
fn signatures_go_only_to_the_model_that_made_them() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "s1"},
        {"type": "text", "text": "yes", "textSignature": "s2"},
        {"type": "toolCall", "id": "c|i", "name": "read", "arguments": {}, "thoughtSignature": "s3"},
    ]);
    let same = blocks(answer("p", "a", "m", content.clone()));
    let thinking =
        Thinking { text: "hm".into(), signature: Some("s1".into()), is_redacted: false, details: None };
    assert_eq!(same[0], AssistantBlock::Thinking(thinking));
    assert_eq!(same[1], AssistantBlock::Text { text: "yes".into(), signature: Some("s2".into()) });
    assert!(matches!(&same[2], AssistantBlock::Call { id, signature: Some(_), .. } if id == "c|i"));
    for (provider, api, model) in [("x", "a", "m"), ("p", "x", "m"), ("p", "a", "x")] {
        let other = blocks(answer(provider, api, model, content.clone()));
        assert_eq!(other[..2], [plain("hm"), plain("yes")]);
        assert!(matches!(&other[2], AssistantBlock::Call { id, signature: None, .. } if id == "c"));
    }
}

#[test]
fn what_another_model_thought_in_secret_is_left_out_and_so_is_an_answer_that_says_nothing() {
    let sealed = json!([{"type": "thinking", "thinking": "", "thinkingSignature": "s", "redacted": true}]);
    assert_eq!(turns(&spec(), &[answer("x", "a", "m", sealed.clone())]), []);
    assert!(matches!(blocks(answer("p", "a", "m", sealed))[..], [AssistantBlock::Thinking(_)]));
    assert_eq!(turns(&spec(), &[answer("p", "a", "m", json!([{"type": "text", "text": " "}]))]), []);
    assert_eq!(turns(&spec(), &[Message::user("").with_time(Timestamp::from_millis(0))]), []);
}

#[test]
fn a_prompt_without_a_visible_character_is_left_out() {
    let said = |content: Json| {
        let message = Message::from_serialize(&json!({"role": "user", "content": content})).unwrap();
        turns(&spec(), &[message])
    };
    assert_eq!(said(json!(" \n")), []);
    let image = Part::Image { data: "d".into(), mime_type: "image/png".into() };
    let blocks =
        json!([{"type": "text", "text": " "}, {"type": "image", "data": "d", "mimeType": "image/png"}]);
    assert_eq!(said(blocks), [Turn::User(vec![image])]);
    let result = json!({"role": "toolResult", "toolCallId": "c", "content": " \n"});
    let result = turns(&spec(), &[Message::parse_unchecked(result.to_string()).unwrap()]);
    assert!(
        matches!(&result[..], [Turn::Results(all)] if all[0].text() == " \n"),
        "output stays: {result:?}"
    );
}

#[test]
fn results_that_follow_each_other_stand_together() {
    let result = |id: &str| Message::tool_result(id, "read").text("x").build();
    let user = || Message::user("hi").with_time(Timestamp::from_millis(0));
    let turns = turns(&spec(), &[user(), result("a"), result("b"), user(), result("c")]);
    let shape: Vec<usize> =
        turns.iter().map(|turn| if let Turn::Results(all) = turn { all.len() } else { 0 }).collect();
    assert_eq!(shape, [0, 2, 0, 1]);
}

#[test]
fn damaged_messages_are_read_as_far_as_they_can_be() {
    let odd = answer(
        "p",
        "a",
        "m",
        json!([
            {"type": "toolCall", "id": 7, "arguments": [1]}, {"type": "hologram"}, 5, {"type": "text"},
            {"type": "thinking", "thinking": null},
        ]),
    );
    let call = AssistantBlock::Call {
        id: String::new(),
        name: String::new(),
        arguments: json!({}),
        signature: None,
    };
    assert_eq!(blocks(odd), [call]);
    assert_eq!(blocks(answer("p", "a", "m", json!("old text"))), [plain("old text")]);
    assert_eq!(turns(&spec(), &[answer("p", "a", "m", json!(null))]), []);
}

#[test]
fn a_result_without_text_says_what_it_is() {
    let result =
        |parts: Vec<Part>| ToolResult { id: "c".into(), name: "read".into(), parts, is_error: false };
    let image = || Part::Image { data: "d".into(), mime_type: "image/png".into() };
    assert_eq!(result(vec![]).text(), "(no output)");
    assert_eq!(result(vec![image()]).text(), "(see the attached image)");
    assert_eq!(result(vec![Part::Text("a".into()), image(), Part::Text("b".into())]).text(), "a\nb");
}
