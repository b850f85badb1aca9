//! The author of one file: the tree so far, the clock, the ids, and the fields every entry has.
//!
//! Sixteen bytes per entry are kept (parent, depth, context, kind) and never a body, so a file of any size can
//! be written. What the entries say is in `turns`
//! and `asides`.

use std::io::{self, Write};

use super::phrases::Phrases;
use super::sink::{Sink, iso};
use super::{Profile, Shape, Stats};
use crate::rng::Rng;

/// Which version of the format is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Version 1: a line of entries without ids.
    One,
    /// Version 3: a tree.
    Three,
}

/// The kind of an entry, as far as later entries may refer to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A user message.
    Prompt,
    /// An answer that calls tools.
    Call,
    /// A tool result.
    Result,
    /// An answer that ends a turn.
    Answer,
    /// A compaction.
    Compaction,
    /// Anything else that the model sees.
    Seen,
    /// Anything that the model does not see.
    Unseen,
}

#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) parent: Option<u32>,
    pub(super) depth: u32,
    /// The bytes the model would see here: since the last compaction, and what that kept.
    pub(super) context: u32,
    pub(super) kind: Kind,
}

/// The author of one file.
pub(super) struct Author<'a, W> {
    pub(super) shape: &'a Shape,
    pub(super) phrases: &'a Phrases,
    pub(super) format: Format,
    pub(super) rng: Rng,
    pub(super) sink: Sink<'a, W>,
    pub(super) nodes: Vec<Node>,
    pub(super) leaf: Option<u32>,
    /// The time of the next entry in milliseconds since 1970.
    pub(super) clock: u64,
    /// The position of the model in use among the known ones.
    pub(super) model: usize,
    pub(super) stats: Stats,
    id_key: u32,
    line_start: u64,
}

impl<'a, W: Write> Author<'a, W> {
    pub(super) fn new(shape: &'a Shape, phrases: &'a Phrases, format: Format, out: &'a mut W) -> Self {
        let mut rng = Rng::new(shape.seed);
        let id_key = rng.next_u64() as u32;
        Self {
            shape,
            phrases,
            format,
            rng,
            sink: Sink::new(out),
            nodes: Vec::new(),
            leaf: None,
            clock: shape.started,
            model: 0,
            stats: Stats::default(),
            id_key,
            line_start: 0,
        }
    }

    /// Writes the whole file.
    pub(super) fn run(mut self) -> io::Result<Stats> {
        self.header();
        match self.shape.profile {
            Profile::Conversation => self.conversation(),
            Profile::Chain => self.tiny_tree(|index| index.checked_sub(1)),
            Profile::Star => self.tiny_tree(|index| (index > 0).then_some(0)),
            Profile::Comb => self.tiny_tree(|index| match index % 2 {
                _ if index < 2 => index.checked_sub(1),
                0 => Some(index - 2),
                _ => Some(index - 1),
            }),
            Profile::GiantLine(bytes) => self.giant_line(bytes),
        }
        let mut stats = self.stats;
        stats.entries = self.nodes.len();
        stats.deepest = self.nodes.iter().map(|node| node.depth as usize).max().unwrap_or(0);
        if let (Some(leaf), Format::Three) = (self.leaf, self.format) {
            stats.leaf = format!("{:08x}", scrambled(leaf, self.id_key));
        }
        stats.bytes = self.sink.finish()?;
        Ok(stats)
    }

    /// Whether nothing more fits into the file.
    pub(super) fn full(&self) -> bool {
        self.nodes.len() >= self.shape.entries
            || self.sink.bytes() >= self.shape.byte_limit
            || self.sink.failed()
    }

    /// The factor that keeps the average size: below 1 when the file is ahead of it, above 1 when behind.
    ///
    /// Without it a few giant results would decide the size of a file; with it every seed comes out alike.
    pub(super) fn fit(&self) -> f64 {
        let average = self.shape.average_bytes as f64;
        let ahead = self.sink.bytes() as f64 / average - self.nodes.len() as f64;
        let horizon = (self.shape.entries / 5).clamp(100, 1500) as f64;
        (1.0 - ahead / horizon).clamp(0.4, 2.5)
    }

    /// Lets time pass: a heavy-tailed number of milliseconds.
    pub(super) fn wait(&mut self, median: f64) {
        self.clock += 1 + self.rng.size(median, 1.6, 50 * median as u64);
    }

    /// Moves the leaf to an earlier entry. A version 1 file has no branches and stays linear.
    pub(super) fn go_back_to(&mut self, target: Option<u32>) {
        if self.format == Format::Three && self.leaf != target {
            self.leaf = target;
            self.stats.branches += 1;
        }
    }

    /// The bytes the model would see at the leaf.
    pub(super) fn context(&self) -> u32 {
        self.leaf.map_or(0, |leaf| self.nodes[leaf as usize].context)
    }

    /// Writes the id of an entry, with quotes.
    pub(super) fn id_of(&mut self, index: u32) {
        self.sink.id(scrambled(index, self.id_key));
    }

    /// Begins an entry whose own fields follow the common ones.
    pub(super) fn open(&mut self, kind: &str) {
        self.line_start = self.sink.bytes();
        self.sink.raw("{\"type\":\"");
        self.sink.raw(kind);
        self.sink.raw("\"");
        self.common_fields();
    }

    /// Begins an entry whose own fields come before the common ones.
    pub(super) fn open_custom(&mut self, kind: &str) {
        self.line_start = self.sink.bytes();
        self.sink.raw("{\"type\":\"");
        self.sink.raw(kind);
        self.sink.raw("\"");
    }

    /// Ends an entry of [`open_custom`](Self::open_custom).
    pub(super) fn close_custom(&mut self, kind: Kind) {
        self.common_fields();
        self.close(kind);
    }

    /// Ends an entry and makes it the leaf.
    pub(super) fn close(&mut self, kind: Kind) {
        self.sink.raw("}\n");
        let length = (self.sink.bytes() - self.line_start) as u32;
        let added = if kind == Kind::Unseen { 0 } else { length };
        self.place(kind, self.context().saturating_add(added));
    }

    /// Ends a compaction after which the model sees `kept` bytes and the compaction itself.
    pub(super) fn close_compaction(&mut self, kept: u32) {
        self.sink.raw("}\n");
        let length = (self.sink.bytes() - self.line_start) as u32;
        self.place(Kind::Compaction, kept.saturating_add(length));
    }

    fn place(&mut self, kind: Kind, context: u32) {
        let depth = self.leaf.map_or(0, |leaf| self.nodes[leaf as usize].depth) + 1;
        self.nodes.push(Node { parent: self.leaf, depth, context, kind });
        self.leaf = Some(self.nodes.len() as u32 - 1);
    }

    fn common_fields(&mut self) {
        if self.format == Format::Three {
            self.sink.raw(",\"id\":");
            self.id_of(self.nodes.len() as u32);
            self.sink.raw(",\"parentId\":");
            match self.leaf {
                Some(leaf) => self.id_of(leaf),
                None => self.sink.raw("null"),
            }
        }
        self.sink.raw(",\"timestamp\":");
        self.sink.time(self.clock);
    }

    fn header(&mut self) {
        let session_id = session_id(self.shape);
        self.sink.raw("{\"type\":\"session\",");
        if self.format == Format::Three {
            self.sink.raw("\"version\":3,");
        }
        self.sink.raw(&format!("\"id\":\"{session_id}\",\"timestamp\":\"{}\",\"cwd\":", iso(self.clock)));
        self.sink.quoted(&self.shape.cwd);
        if self.format == Format::One {
            let (provider, _, model) = self.current_model();
            self.sink.raw(&format!(
                ",\"provider\":\"{provider}\",\"modelId\":\"{model}\",\"thinkingLevel\":\"high\""
            ));
        }
        if let Some(parent) = &self.shape.parent_session {
            let key = if self.format == Format::Three { "parentSession" } else { "branchedFrom" };
            self.sink.raw(&format!(",\"{key}\":"));
            self.sink.quoted(parent);
        }
        self.sink.raw("}\n");
    }
}

/// The id of the session of a shape: a UUID of version 7 with the time of the header.
pub(super) fn session_id(shape: &Shape) -> String {
    // A separate generator, so that the id is known before the file is written.
    let mut rng = Rng::new(shape.seed ^ 0x5e55_1011);
    let (a, b) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        shape.started >> 16 & 0xffff_ffff,
        shape.started & 0xffff,
        a & 0xfff,
        0x8000 | (a >> 16 & 0x3fff),
        b & 0xffff_ffff_ffff
    )
}

/// The id at a position: looks random, and no two positions share one because every step can be undone.
fn scrambled(position: u32, key: u32) -> u32 {
    let mut mixed = position ^ key;
    mixed = (mixed ^ mixed >> 16).wrapping_mul(0x7feb_352d);
    mixed = (mixed ^ mixed >> 15).wrapping_mul(0x846c_a68b);
    mixed ^ mixed >> 16
}
