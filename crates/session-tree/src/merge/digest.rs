//! Digests: a branch as text, made by quoting its turns, without a model.

use crate::cherry_pick::{Attribution, MessageReader, Unit, spoken, units_of};
use crate::error::{Error, Result};
use crate::estimate::UNITS_PER_TOKEN;
use crate::kind::Role;
use crate::tree::Node;

/// The separator between two parts of a digest.
const GAP: &str = "\n\n";

/// A branch as text.
#[derive(Debug)]
pub(super) struct Digest {
    pub(super) text: String,
    /// The number of turns that did not fit.
    pub(super) omitted: usize,
}

/// Quotes entries turn by turn; turns without content are skipped.
pub(super) fn quoted_turns(
    reader: &MessageReader<'_>,
    attribution: &Attribution,
    nodes: &[Node],
) -> Result<Vec<String>> {
    let mut quoted = Vec::new();
    for turn in turns_of(reader, nodes)? {
        quoted.extend(block(reader, attribution, &turn)?);
    }
    Ok(quoted)
}

/// Puts quoted turns below some notes; the oldest turns are dropped until the text fits.
///
/// # Errors
///
/// [`Error::DoesNotFit`] if even the newest turn takes more than it may.
pub(super) fn digest(blocks: Vec<String>, notes: &[String], budget_tokens: Option<u64>) -> Result<Digest> {
    let room = budget_tokens
        .map(|tokens| usize::try_from(tokens.saturating_mul(UNITS_PER_TOKEN)).unwrap_or(usize::MAX));
    let omitted = room.map_or(0, |room| omitted_turns(&blocks, notes, room));
    let mut parts: Vec<String> = omission(omitted).into_iter().chain(notes.iter().cloned()).collect();
    parts.extend(blocks.into_iter().skip(omitted));
    let text = parts.join(GAP);
    if let (Some(room), Some(budget)) = (room, budget_tokens)
        && units(&text) > room
    {
        // A part of a turn would count as merged, so that the rest would never be merged.
        let needed = (units(&text) as u64).div_ceil(UNITS_PER_TOKEN);
        return Err(Error::DoesNotFit { needed, budget });
    }
    Ok(Digest { text, omitted })
}

/// Splits entries at the prompts.
fn turns_of(reader: &MessageReader<'_>, nodes: &[Node]) -> Result<Vec<Vec<Unit>>> {
    let mut turns: Vec<Vec<Unit>> = Vec::new();
    for unit in units_of(reader, nodes)? {
        let is_prompt = reader.session.tree().role(unit.head) == Some(Role::User);
        match turns.last_mut() {
            Some(turn) if !is_prompt => turn.push(unit),
            _ => turns.push(vec![unit]),
        }
    }
    Ok(turns)
}

/// Quotes one turn; returns `None` if it has no content.
fn block(reader: &MessageReader<'_>, attribution: &Attribution, turn: &[Unit]) -> Result<Option<String>> {
    let mut said = Vec::new();
    for unit in turn {
        said.push(spoken(reader, unit)?);
    }
    said.retain(|text| !text.is_empty());
    let (Some(first), Some(last), false) = (turn.first(), turn.last(), said.is_empty()) else {
        return Ok(None);
    };
    let tree = reader.session.tree();
    let last = *last.nodes().last().unwrap_or(&last.head);
    let entries = match first.head == last {
        true => format!("entry {}", tree.id(last)),
        false => format!("entries {} to {}", tree.id(first.head), tree.id(last)),
    };
    let line = attribution.line(&entries, tree.timestamp(first.head), &[]);
    Ok(Some(format!("{line}{GAP}{}", said.join(GAP))))
}

/// Counts the oldest turns that do not fit; the newest always stays.
fn omitted_turns(blocks: &[String], notes: &[String], room: usize) -> usize {
    let size = |text: &String| units(text) + units(GAP);
    let fixed: usize = notes.iter().map(size).sum();
    let mut taken = fixed;
    for (place, block) in blocks.iter().enumerate().rev() {
        taken += size(block);
        let statement = omission(place).as_ref().map_or(0, size);
        if taken + statement > room.saturating_add(units(GAP)) {
            return (place + 1).min(blocks.len() - 1);
        }
    }
    0
}

/// Returns a sentence about the number of missing turns.
fn omission(omitted: usize) -> Option<String> {
    match omitted {
        0 => None,
        1 => Some("1 older turn of that branch is left out here.".to_owned()),
        count => Some(format!("{count} older turns of that branch are left out here.")),
    }
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests;
