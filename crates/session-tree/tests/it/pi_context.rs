//! Contexts equal those of pi, for every recorded file and position.

use std::fmt::Write as _;

use session_tree::json::ValueRef;
use session_tree::{Context, Message, Session, convert_to_llm};

use crate::support::recorded::{Recorded, named, recorded};
use testkit::canonical::{canonical, canonical_text};

/// Intended differences: file, parts of the answer, reason.
const DIFFERENT: &[(&str, &[&str], &str)] = &[
    (
        "bad-timestamps",
        &["context", "llm"],
        "a time that cannot be read is left out; pi sends NaN, and 1970 for null",
    ),
    ("compaction-empty-texts", &["llm"], "a summary that is missing is empty; pi sends the word `undefined`"),
    ("context-edits-malformed", &["context", "llm"], "an edit without a usable replacement is ignored"),
    ("names", &["context", "llm"], "a rename on another branch does not move the leaf"),
    (
        "null-contents",
        &["context"],
        "an answer that names no model decides nothing; pi gives a model without names",
    ),
    (
        "oh-my-pi-extras",
        &["context", "llm"],
        "models, levels and reset boundaries of oh-my-pi are understood",
    ),
    ("unknown-roles", &["llm"], "file mentions and hook messages of oh-my-pi are sent"),
    ("uuid-keys", &["context", "llm"], "the early design is read; pi sees entries without ids"),
    ("v1-but-ids-present", &["context", "llm"], "ids that are there are used; pi flattens the tree"),
];

#[test]
fn contexts_equal_those_of_pi() {
    assert_equal_answers("context", context_text);
}

#[test]
fn messages_for_the_model_equal_those_of_pi() {
    assert_equal_answers("llm", |context| {
        list(context.messages().filter_map(convert_to_llm).collect::<Vec<_>>().iter())
    });
}

/// Compares one part of all answers. Fails on an unexpected difference and on a missing expected one.
fn assert_equal_answers(part: &str, ours: impl Fn(&Context) -> String) {
    let mut wrong = String::new();
    let mut compared = 0;
    for file in recorded() {
        let differences = differences(&file, part, &ours, &mut compared);
        let expected = DIFFERENT.iter().find(|(name, parts, _)| *name == file.name && parts.contains(&part));
        if differences.is_empty() != expected.is_none() {
            let _ = writeln!(wrong, "{}, expected {expected:?}:\n{}", file.name, differences.join("\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 200, "only {compared} answers compared");
}

fn differences(
    file: &Recorded,
    part: &str,
    ours: &impl Fn(&Context) -> String,
    compared: &mut usize,
) -> Vec<String> {
    if !file.is_session() {
        return Vec::new();
    }
    let session = Session::from_bytes(file.bytes.clone()).unwrap();
    let mut differences = Vec::new();
    for position in file.positions() {
        let Some(theirs) = position.answer.get(part).filter(|answer| answer.get("crash").is_none()) else {
            continue;
        };
        let at = position.leaf.as_deref().map(|id| named(&session, id).unwrap());
        let context = if position.is_loaded {
            session.context()
        } else {
            session.context_at(session.position_of(at).unwrap())
        };
        let (ours, theirs) = (ours(&context.unwrap()), canonical(theirs));
        *compared += 1;
        if ours != theirs {
            differences.push(format!("at {:?}\n  ours   {ours}\n  theirs {theirs}", position.leaf));
        }
    }
    differences
}

fn context_text(context: &Context) -> String {
    let model = context.model.as_ref().map_or("null".to_owned(), |model| {
        let (id, provider) = (&model.model_id, &model.provider);
        canonical_text(&serde_json::json!({ "modelId": id, "provider": provider }).to_string())
    });
    let level = serde_json::json!(context.thinking_level);
    format!(r#"{{"messages":{},"model":{model},"thinkingLevel":{level}}}"#, list(context.messages()))
}

fn list<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    let texts: Vec<String> =
        messages.map(Message::value).map(|value: ValueRef<'_>| canonical(value)).collect();
    format!("[{}]", texts.join(","))
}
