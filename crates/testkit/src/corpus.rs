//! Session files as pi writes them, made from a seed: reference material for tests and benchmarks.
//!
//! shape -> author -> **lines** -> any writer
//!
//! The spelling follows pi 1.5 (key order, compact JSON, eight hex digits per id), the conversation is made up:
//! prompts, answers with tool calls, heavy-tailed tool results, compactions, branches. A file is written as a
//! stream and never held in memory. This module never uses the engine, so that its files can judge it.

mod asides;
mod author;
mod directory;
mod phrases;
mod sink;
mod turns;

use std::io;

use author::{Author, Format};
use phrases::Phrases;

pub use directory::write_directory;

/// The first moment of every session unless a shape says otherwise: 2025-06-02T08:00:00.000Z.
const START: u64 = 1_748_851_200_000;

/// The kind of tree and bodies of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// A coding session: turns with tool calls, compactions, branches now and then.
    Conversation,
    /// Tiny messages, each the child of the one before.
    Chain,
    /// Tiny messages, all children of the first.
    Star,
    /// Tiny messages: a spine in which every entry also has one child without children.
    Comb,
    /// One turn whose tool result has about this many bytes, all on one line.
    GiantLine(u64),
}

/// The shape of a session file. The same shape gives the same bytes.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How many entries follow the header.
    pub entries: usize,
    /// The seed of everything random in the file.
    pub seed: u64,
    /// The kind of tree and bodies.
    pub profile: Profile,
    /// The share of turns that start at an earlier entry instead of the leaf.
    pub branch_rate: f64,
    /// The share of `custom` entries among all entries.
    pub custom_share: f64,
    /// The share of tool results that are images.
    pub image_rate: f64,
    /// The size of an entry on average; bodies grow and shrink to keep it.
    pub average_bytes: u64,
    /// The median size of the text of a tool result before it is fitted to `average_bytes`.
    pub body_median: f64,
    /// The spread of those sizes, as in [`Rng::size`](crate::rng::Rng::size).
    pub body_spread: f64,
    /// The largest body of a tool result.
    pub body_limit: u64,
    /// How many bytes of context make the author compact.
    pub compact_after: u32,
    /// The file ends after the entry that reaches this size, if it has not ended before.
    pub byte_limit: u64,
    /// The `cwd` of the header.
    pub cwd: String,
    /// The `parentSession` of the header.
    pub parent_session: Option<String>,
    /// A name given to the session after its first turn.
    pub name: Option<String>,
    /// The time of the header in milliseconds since 1970.
    pub started: u64,
}

impl Shape {
    /// A coding session as people have them: about 1.85 KB per entry, tool results up to 250 KB.
    pub fn realistic(entries: usize) -> Self {
        Self {
            entries,
            seed: 1,
            profile: Profile::Conversation,
            branch_rate: 0.01,
            custom_share: 0.12,
            image_rate: 0.001,
            average_bytes: 1_850,
            body_median: 1_050.0,
            body_spread: 2.4,
            body_limit: 250_000,
            compact_after: 600_000,
            byte_limit: u64::MAX,
            cwd: "/home/dev/project".to_owned(),
            parent_session: None,
            name: None,
            started: START,
        }
    }

    /// A coding session with small bodies: about 1 KB per entry.
    pub fn small(entries: usize) -> Self {
        Self {
            image_rate: 0.0,
            average_bytes: 1_040,
            body_median: 700.0,
            body_spread: 1.2,
            body_limit: 20_000,
            ..Self::realistic(entries)
        }
    }

    /// A single path of tiny messages: the deepest tree there is.
    pub fn chain(entries: usize) -> Self {
        Self { profile: Profile::Chain, ..Self::realistic(entries) }
    }

    /// Tiny messages that all hang below the first: the widest tree there is.
    pub fn star(entries: usize) -> Self {
        Self { profile: Profile::Star, ..Self::realistic(entries) }
    }

    /// A path of tiny messages with a dead end at every step: as many branch points as possible.
    pub fn comb(entries: usize) -> Self {
        Self { profile: Profile::Comb, ..Self::realistic(entries) }
    }

    /// A coding session in which four of five turns start at an earlier entry, some with a summary of the branch they left.
    pub fn bushy(entries: usize) -> Self {
        Self { branch_rate: 0.8, ..Self::small(entries) }
    }

    /// A coding session of which 85 % are entries of extensions.
    pub fn mostly_custom(entries: usize) -> Self {
        Self { custom_share: 0.85, average_bytes: 560, compact_after: 150_000, ..Self::realistic(entries) }
    }

    /// A coding session in which most tool results are pictures.
    pub fn mostly_images(entries: usize) -> Self {
        Self { image_rate: 0.7, average_bytes: 33_000, compact_after: 6_000_000, ..Self::realistic(entries) }
    }

    /// One turn with one line of about `bytes` bytes.
    pub fn one_giant_line(bytes: u64) -> Self {
        Self { profile: Profile::GiantLine(bytes), custom_share: 0.0, image_rate: 0.0, ..Self::realistic(7) }
    }

    /// The same shape with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// The totals of a written file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many entries the file has; the header does not count.
    pub entries: usize,
    /// How many bytes the file has.
    pub bytes: u64,
    /// The id of the last entry, where a reader resumes. Empty if there are no entries or no ids (version 1).
    pub leaf: String,
    /// How many entries the longest path has.
    pub deepest: usize,
    /// How often the conversation went back to an earlier entry.
    pub branches: usize,
    /// How many compactions were written.
    pub compactions: usize,
    /// How many label entries were written.
    pub labels: usize,
}

/// Writes a file of version 3.
///
/// # Errors
///
/// Fails only if `out` does.
pub fn write(shape: &Shape, out: &mut impl io::Write) -> io::Result<Stats> {
    Author::new(shape, &Phrases::new(), Format::Three, out).run()
}

/// Writes a conversation of the same shape as a file of version 1.
///
/// Such a file is a line: no ids, no branches, no labels, nothing of extensions. A compaction names the first
/// kept entry by its position in the file, the header being 0.
///
/// # Errors
///
/// Fails only if `out` does.
pub fn write_v1(shape: &Shape, out: &mut impl io::Write) -> io::Result<Stats> {
    Author::new(shape, &Phrases::new(), Format::One, out).run()
}

#[cfg(test)]
mod tests;
