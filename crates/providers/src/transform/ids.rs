//! Ids of tool calls, which services restrict, each in its own way.
//!
//! The same id always becomes the same id, so calls and results keep together without a table. The OpenAI responses
//! format has two ids per call; sessions keep both as `call|item`. Some models repeat ids, which services refuse, so a
//! repeated id gets a number before anything else.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{AssistantBlock, Turn};

/// Makes the ids of all calls of a conversation unique, and gives each result the id of its call.
///
/// New ids depend on what comes before them only, so that a longer conversation begins with the same bytes.
pub(super) fn make_unique(turns: &mut [Turn]) {
    let mut used = HashSet::new();
    let mut numbers = HashMap::new();
    // The new ids of the last answer, by the id that the session keeps.
    let mut open: HashMap<String, VecDeque<String>> = HashMap::new();
    for turn in turns {
        match turn {
            Turn::User(_) => {}
            Turn::Assistant(blocks) => {
                open.clear();
                for block in blocks {
                    let AssistantBlock::Call { id, .. } = block else { continue };
                    let kept = call_part(id).to_owned();
                    *id = unique(std::mem::take(id), &mut used, &mut numbers);
                    open.entry(kept).or_default().push_back(id.clone());
                }
            }
            Turn::Results(results) => {
                for result in results {
                    let Some(ids) = open.get_mut(call_part(&result.id)) else { continue };
                    let id = if ids.len() > 1 { ids.pop_front() } else { ids.front().cloned() };
                    result.id = id.unwrap_or_default();
                }
            }
        }
    }
}

/// Returns the id, or a numbered one if it was used before. A repeated id of an item is left out: it is optional.
fn unique(id: String, used: &mut HashSet<String>, numbers: &mut HashMap<String, usize>) -> String {
    let call = call_part(&id);
    let is_new_item = item_id(&id).is_none_or(|item| used.insert(format!("|{item}")));
    if used.insert(call.to_owned()) {
        return if is_new_item { id } else { call.to_owned() };
    }
    let number = numbers.entry(call.to_owned()).or_insert(1);
    loop {
        *number += 1;
        let numbered = format!("{call}_{number}");
        if used.insert(numbered.clone()) {
            return numbered;
        }
    }
}

/// The id of the call, without that of its item.
fn call_part(id: &str) -> &str {
    id.split('|').next().unwrap_or(id)
}

fn plain_id(id: &str, longest: usize) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if !id.is_empty() && id.len() <= longest && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let digest = digest(id);
    let kept: String = id.chars().map(|char| if is_plain(char) { char } else { '_' }).collect();
    let room = longest.saturating_sub(digest.len() + 1).min(kept.len());
    format!("{}_{digest}", &kept[..room])
}

/// Returns the id that names the call: letters, digits, `_` and `-`, at most `longest` of them.
pub(crate) fn fitting_id(id: &str, longest: usize) -> String {
    plain_id(call_part(id), longest)
}

/// Returns an id of exactly so many letters and digits, sixteen at most.
pub(crate) fn exact_id(id: &str, length: usize) -> String {
    let id = call_part(id);
    let fits = id.len() == length && id.chars().all(|char| char.is_ascii_alphanumeric());
    if fits { id.to_owned() } else { digest(id).chars().take(length).collect() }
}

/// Returns the id of the item, if the session keeps one.
pub(crate) fn item_id(id: &str) -> Option<&str> {
    id.split_once('|').map(|(_, item)| item).filter(|item| !item.is_empty())
}

/// Returns sixteen hexadecimal digits that depend on nothing but the text (FNV-1a).
pub(crate) fn digest(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests;
