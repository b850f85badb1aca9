//! Suggestions for a name that no model has.

use strsim::osa_distance;

/// The most names that are suggested.
const MOST: usize = 3;

/// Returns the names that come nearest to a mistyped one, nearest first; none if none is near.
///
/// A name is compared with `provider/id`, with the id, and with the words of the id: people type `sonet` for any Sonnet.
pub(super) fn nearest(wanted: &str, names: &[String]) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    let mut ranked: Vec<(usize, &String)> = names
        .iter()
        .filter_map(|name| rank(&wanted, &name.to_lowercase()).map(|rank| (rank, name)))
        .filter(|(rank, _)| *rank <= limit)
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(MOST).map(|(_, name)| name.clone()).collect()
}

/// How far a name is from the wanted one, by the nearest of its forms.
fn rank(wanted: &str, name: &str) -> Option<usize> {
    let id = name.split_once('/').map_or(name, |(_, id)| id);
    let short = id.rsplit('/').next().unwrap_or(id);
    // A short word is near to too many others.
    let words = short.split(['-', '.', ':']).filter(|word| word.len() >= 4 && wanted.len() >= 4);
    [name, id, short].into_iter().chain(words).map(|form| osa_distance(wanted, form)).min()
}
