//! The settings of a path: model, thinking level, and the mode and rules of oh-my-pi.
//!
//! They come from the whole path, also from entries that a compaction has replaced. The path is walked backwards, so
//! that only the bodies that decide are read.

use std::collections::HashSet;

use super::{Context, ContextItem, Mode, ModelRef};
use crate::entry::{Body, Entry};
use crate::error::Result;
use crate::json::{Doc, ValueRef};
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::Node;

/// Makes a context of its messages and the settings of its path.
///
/// The latest answer or model change that names a model decides about the model; but a change that oh-my-pi made
/// overrides later answers.
pub(super) fn context_of_path(session: &Session, path: &[Node], items: Vec<ContextItem>) -> Result<Context> {
    let tree = session.tree();
    let (mut level, mut mode, mut model) = (None, None, None);
    let (mut has_mode, mut is_chosen) = (false, false);
    let mut rules = Vec::new();
    for node in path.iter().rev().copied().filter(|node| !tree.is_placeholder(*node)) {
        match tree.kind(node) {
            Kind::ThinkingLevelChange if level.is_none() => {
                let entry = session.entry_at(node)?;
                let Body::ThinkingLevelChange { level: set } = entry.body() else { continue };
                level = Some(set.map_or_else(|| "off".to_owned(), Into::into));
            }
            Kind::ModeChange if !has_mode => {
                has_mode = true;
                mode = mode_of(&session.entry_at(node)?);
            }
            Kind::Message if !is_chosen && model.is_none() && tree.role(node) == Some(Role::Assistant) => {
                model = answering_model(&session.entry_at(node)?);
            }
            Kind::ModelChange if !is_chosen => {
                let Some((chosen, overrides)) = chosen_model(&session.entry_at(node)?) else { continue };
                is_chosen = true;
                model = model.filter(|_| !overrides).or(Some(chosen));
            }
            Kind::RuleInjection => rules.push(node),
            _ => {}
        }
    }
    let thinking_level = level.unwrap_or_else(|| "off".to_owned());
    Ok(Context { items, thinking_level, model, mode, injected_rules: injected_rules(session, &rules)? })
}

fn answering_model(entry: &Entry) -> Option<ModelRef> {
    let message = entry.message()?;
    let text = |key: &str| message.get(key).and_then(ValueRef::as_str);
    Some(ModelRef { provider: text("provider")?.into(), model_id: text("model")?.into() })
}

/// Returns the model that a model change names, and true if it overrides later answers; none if the change is about a
/// model for another purpose.
fn chosen_model(entry: &Entry) -> Option<(ModelRef, bool)> {
    let Body::ModelChange { provider, model_id, role } = entry.body() else { return None };
    if role.is_some_and(|role| role != "default") {
        return None;
    }
    // Only oh-my-pi writes both parts into one member.
    let overrides = entry.value().is_some_and(|value| value.get("modelId").is_none());
    Some((ModelRef { provider: provider?.into(), model_id: model_id?.into() }, overrides))
}

fn mode_of(entry: &Entry) -> Option<Mode> {
    let Body::ModeChange { mode: Some(name), data } = entry.body() else { return None };
    let data = data.and_then(|data| Doc::parse(data.raw()).ok());
    Some(Mode { name: name.into(), data })
}

fn injected_rules(session: &Session, latest_first: &[Node]) -> Result<Vec<String>> {
    let mut known = HashSet::new();
    let mut rules = Vec::new();
    for node in latest_first.iter().rev().copied() {
        let entry = session.entry_at(node)?;
        let Body::RuleInjection { rules: injected } = entry.body() else { continue };
        rules.extend(injected.into_iter().map(String::from).filter(|rule| known.insert(rule.clone())));
    }
    Ok(rules)
}
