//! Families of models: the traits of a model that is not listed, from its listed relatives.
//!
//! An id is a row of words and numbers (`claude-opus-5-5`: claude, opus, 5, 5). Ids that begin alike are a family. Never
//! touches a network.

use offshoot_agent::model::Price;

use super::settings::ModelSettings;

/// Describes a model that is not listed by its nearest relative; the first of equals, which is the newest.
///
/// The price is known only for a dated version of a listed model.
pub(super) fn relative(id: &str, models: &[&ModelSettings]) -> Option<ModelSettings> {
    let wanted = parts(id);
    // The name of a maker in front is not yet a family.
    let least = id.rsplit_once('/').map_or(0, |(maker, _)| parts(maker).len()) + 1;
    let mut nearest: Option<((usize, usize), &ModelSettings)> = None;
    for model in models {
        let listed = parts(&model.id);
        let lead = wanted.iter().zip(&listed).take_while(|(one, other)| one == other).count();
        let shared = wanted.iter().filter(|part| listed.contains(part)).count();
        if lead >= least && nearest.is_none_or(|(rank, _)| (lead, shared) > rank) {
            nearest = Some(((lead, shared), model));
        }
    }
    let (_, model) = nearest?;
    let version = id.strip_prefix(&*model.id).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
    let is_date = version.len() >= 8 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let price = if is_date { model.price } else { Price::default() };
    Some(ModelSettings { id: id.into(), name: None, price, ..model.clone() })
}

/// The words and numbers of an id, in lower case.
fn parts(id: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    for char in id.chars() {
        let kind = char.is_alphanumeric().then(|| char.is_ascii_digit());
        match (kind, parts.last_mut()) {
            (Some(_), Some(part)) if kind == last => part.extend(char.to_lowercase()),
            (Some(_), _) => parts.push(char.to_lowercase().collect()),
            (None, _) => {}
        }
        last = kind;
    }
    parts
}
