//! The settings of a path: model, thinking level, and what oh-my-pi keeps.
//!
//! They come from the whole path, also from what a compaction has replaced. Each is looked for from the end of the
//! path backwards, so that only the bodies that decide are read.

use super::{Mode, ModelRef};
use crate::entry::{Body, Entry};
use crate::error::Result;
use crate::json::{Doc, ValueRef};
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

/// The level of a path that sets none.
const NO_THINKING: &str = "off";

/// What a path sets.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) thinking_level: String,
    pub(super) model: Option<ModelRef>,
    pub(super) mode: Option<Mode>,
    pub(super) injected_rules: Vec<String>,
}

/// Where a path may say something about its settings, nearest to its end first.
#[derive(Default)]
struct Places {
    level: Option<Node>,
    mode: Option<Node>,
    /// Model changes and answers.
    models: Vec<Node>,
    rules: Vec<Node>,
}

/// Reads the settings of a path.
pub(super) fn of_path(session: &Session, path: &[Node]) -> Result<Settings> {
    let places = Places::of(session.tree(), path);
    Ok(Settings {
        thinking_level: thinking_level(session, places.level)?,
        model: model(session, &places.models)?,
        mode: mode(session, places.mode)?,
        injected_rules: injected_rules(session, &places.rules)?,
    })
}

impl Places {
    fn of(tree: &Tree, path: &[Node]) -> Self {
        let mut places = Self::default();
        for node in path.iter().rev().copied().filter(|node| !tree.is_placeholder(*node)) {
            match tree.kind(node) {
                Kind::ThinkingLevelChange => places.level = places.level.or(Some(node)),
                Kind::ModeChange => places.mode = places.mode.or(Some(node)),
                Kind::ModelChange => places.models.push(node),
                Kind::Message if tree.role(node) == Some(Role::Assistant) => places.models.push(node),
                Kind::RuleInjection => places.rules.push(node),
                _ => {}
            }
        }
        places
    }
}

fn thinking_level(session: &Session, place: Option<Node>) -> Result<String> {
    let entry = place.map(|node| session.entry_at(node)).transpose()?;
    let level = entry.as_ref().and_then(|entry| match entry.body() {
        Body::ThinkingLevelChange { level } => level,
        _ => None,
    });
    Ok(level.map_or_else(|| NO_THINKING.to_owned(), Into::into))
}

/// The latest answer or model change decides; but a change that oh-my-pi made holds against later answers.
///
/// Answers and changes that do not say which model they mean decide nothing.
fn model(session: &Session, latest_first: &[Node]) -> Result<Option<ModelRef>> {
    let mut answered = None;
    for node in latest_first.iter().copied() {
        let is_answer = session.tree().kind(node) == Kind::Message;
        if is_answer && answered.is_some() {
            continue;
        }
        let entry = session.entry_at(node)?;
        if is_answer {
            answered = answering_model(&entry);
        } else if let Some((chosen, holds)) = chosen_model(&entry) {
            return Ok(answered.filter(|_| !holds).or(Some(chosen)));
        }
    }
    Ok(answered)
}

fn answering_model(entry: &Entry) -> Option<ModelRef> {
    let message = entry.message()?;
    let text = |key: &str| message.get(key).and_then(ValueRef::as_str);
    Some(ModelRef { provider: text("provider")?.into(), model_id: text("model")?.into() })
}

/// The model that a model change names, and whether it holds against later answers; none if the change is about a
/// model for another purpose.
fn chosen_model(entry: &Entry) -> Option<(ModelRef, bool)> {
    let Body::ModelChange { provider, model_id, role } = entry.body() else { return None };
    if role.is_some_and(|role| role != "default") {
        return None;
    }
    // Only oh-my-pi writes both parts into one member.
    let holds = entry.value().is_some_and(|value| value.get("modelId").is_none());
    Some((ModelRef { provider: provider?.into(), model_id: model_id?.into() }, holds))
}

fn mode(session: &Session, place: Option<Node>) -> Result<Option<Mode>> {
    let Some(entry) = place.map(|node| session.entry_at(node)).transpose()? else { return Ok(None) };
    let Body::ModeChange { mode: Some(name), data } = entry.body() else { return Ok(None) };
    let data = data.and_then(|data| Doc::parse(data.raw()).ok());
    Ok(Some(Mode { name: name.into(), data }))
}

fn injected_rules(session: &Session, latest_first: &[Node]) -> Result<Vec<String>> {
    let mut known = std::collections::HashSet::new();
    let mut rules = Vec::new();
    for node in latest_first.iter().rev().copied() {
        let entry = session.entry_at(node)?;
        let Body::RuleInjection { rules: injected } = entry.body() else { continue };
        for rule in injected {
            if known.insert(rule.to_string()) {
                rules.push(rule.into_owned());
            }
        }
    }
    Ok(rules)
}
