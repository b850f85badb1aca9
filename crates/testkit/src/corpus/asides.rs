//! Asides: the entries between turns, from labels to compactions and the ways back.
//!
//! They refer to entries of the path or of the file; `author` keeps enough of the tree to find them.

use std::io::Write;

use super::author::{Author, Format, Kind};
use super::phrases::{Tone, command, path, words};
use super::turns::TOOLS;

/// How many bytes a compaction keeps, at least.
const KEPT_BYTES: u32 = 80_000;
/// How far back a branch may start, in entries.
const BRANCH_WINDOW: u64 = 4000;
const CUSTOM_TYPES: [&str; 4] = ["todo.state", "plan-mode", "git-checkpoint", "usage-meter"];

impl<W: Write> Author<'_, W> {
    pub(super) fn shell_run(&mut self) {
        if self.full() {
            return;
        }
        self.wait(5_000.0);
        self.open_message("bashExecution");
        self.sink.raw(",\"command\":");
        let command = command(&mut self.rng);
        self.sink.quoted(&command);
        self.sink.raw(",\"output\":\"");
        let size = self.sized(500.0, 1.5, self.shape.body_limit / 5);
        self.passage(Tone::Shell, size);
        let code = u64::from(self.rng.chance(0.1));
        self.sink.raw(&format!("\",\"exitCode\":{code},\"cancelled\":false,\"truncated\":false"));
        if self.rng.chance(0.2) {
            self.sink.raw(",\"excludeFromContext\":true");
        }
        self.close_message(Kind::Seen, 0);
    }

    /// Writes entries of extensions, so many that they get their share of the file.
    pub(super) fn customs(&mut self) {
        while self.rng.chance(self.shape.custom_share) && self.format == Format::Three && !self.full() {
            self.clock += 2;
            self.open_custom("custom");
            let kind = *self.rng.pick(&CUSTOM_TYPES);
            self.sink.raw(&format!(",\"customType\":\"{kind}\",\"data\":{{\"items\":["));
            let items = self.rng.range(1, 5);
            for item in 1..=items {
                let (text, done) = (words(&mut self.rng, 6), self.rng.chance(0.5));
                self.sink.raw(&format!("{{\"id\":{item},\"text\":\"{text}\",\"done\":{done}}}"));
                self.sink.raw(if item == items { "]" } else { "," });
            }
            self.sink.raw(&format!(",\"nextId\":{}}}", items + 1));
            self.close_custom(Kind::Unseen);
        }
    }

    pub(super) fn custom_message(&mut self) {
        if self.full() || self.format == Format::One {
            return;
        }
        self.clock += 5;
        self.open_custom("custom_message");
        self.sink.raw(",\"customType\":\"reminder\",\"content\":\"");
        let size = self.sized(200.0, 1.0, 8_000);
        self.passage(Tone::Prose, size);
        let display = self.rng.chance(0.5);
        self.sink.raw(&format!("\",\"display\":{display}"));
        if self.rng.chance(0.3) {
            self.sink.raw(",\"details\":{\"source\":\"watcher\",\"count\":3}");
        }
        self.close_custom(Kind::Seen);
    }

    pub(super) fn label(&mut self) {
        let step = self.rng.range(1, 60);
        let target = self.ancestor(step, |_| true);
        let Some(target) = target.filter(|_| !self.full() && self.format == Format::Three) else {
            return;
        };
        self.wait(2_000.0);
        self.open("label");
        self.sink.raw(",\"targetId\":");
        self.id_of(target);
        if self.rng.chance(0.9) {
            let text = words(&mut self.rng, 2);
            self.sink.raw(&format!(",\"label\":\"{text}\""));
        }
        self.close(Kind::Unseen);
        self.stats.labels += 1;
    }

    pub(super) fn context_edit(&mut self) {
        let step = self.rng.range(1, 12);
        let target = self.ancestor(step, |kind| kind == Kind::Result);
        let Some(target) = target.filter(|_| !self.full() && self.format == Format::Three) else {
            return;
        };
        self.clock += 4;
        self.open("context_edit");
        self.sink.raw(",\"targetId\":");
        self.id_of(target);
        self.sink.raw(if self.rng.chance(0.2) {
            ",\"replacement\":null"
        } else {
            ",\"replacement\":{\"content\":[{\"type\":\"text\",\"text\":\"[output removed]\"}]}"
        });
        self.close(Kind::Unseen);
    }

    pub(super) fn model_change(&mut self) {
        if self.full() {
            return;
        }
        self.clock += 7;
        let (provider, _, model) = self.current_model();
        self.open("model_change");
        self.sink.raw(&format!(",\"provider\":\"{provider}\",\"modelId\":\"{model}\""));
        self.close(Kind::Unseen);
    }

    pub(super) fn thinking_level_change(&mut self, level: &str) {
        if self.full() {
            return;
        }
        self.clock += 1;
        self.open("thinking_level_change");
        self.sink.raw(&format!(",\"thinkingLevel\":\"{level}\""));
        self.close(Kind::Unseen);
    }

    pub(super) fn session_info(&mut self, name: &str) {
        if self.full() || self.format == Format::One {
            return;
        }
        self.clock += 9;
        self.open("session_info");
        self.sink.raw(",\"name\":");
        self.sink.quoted(name);
        self.close(Kind::Unseen);
    }

    pub(super) fn usage_entry(&mut self) {
        if self.full() || self.format == Format::One {
            return;
        }
        self.wait(200_000.0);
        let (provider, _, model) = self.current_model();
        self.open("usage");
        self.sink
            .raw(&format!(",\"kind\":\"cache_warm\",\"provider\":\"{provider}\",\"model\":\"{model}\","));
        self.usage(1);
        self.close(Kind::Unseen);
    }

    /// Replaces the older part of the path by a summary.
    pub(super) fn compaction(&mut self) {
        let Some(first_kept) = self.first_kept().filter(|_| !self.full()) else {
            return;
        };
        self.wait(25_000.0);
        let before = self.nodes[first_kept as usize].parent.map_or(0, |at| self.nodes[at as usize].context);
        let kept = self.context() - before;
        let tokens = u64::from(self.context()) / 4;
        self.open("compaction");
        self.sink.raw(",\"summary\":\"## Goal\\n\\n");
        let size = self.rng.range(2_500, 6_000);
        self.passage(Tone::Prose, size);
        if self.format == Format::One {
            // Positions count the header.
            self.sink.raw(&format!("\",\"firstKeptEntryIndex\":{}", first_kept + 1));
            self.sink.raw(&format!(",\"tokensBefore\":{tokens}"));
        } else {
            self.sink.raw("\",\"firstKeptEntryId\":");
            self.id_of(first_kept);
            self.sink.raw(&format!(",\"tokensBefore\":{tokens},"));
            self.file_details();
            self.usage(1200);
            self.sink.raw(",\"fromHook\":false,\"systemMessage\":");
            self.system_message();
        }
        self.close_compaction(kept);
        self.stats.compactions += 1;
    }

    /// Goes back to an earlier prompt or answer, now and then with a summary of what is left behind.
    pub(super) fn branch(&mut self) {
        let Some(target) = self.branch_target().filter(|_| self.format == Format::Three) else {
            return;
        };
        let left = self.leaf;
        self.go_back_to(Some(target));
        if self.full() || !self.rng.chance(0.3) {
            return;
        }
        self.wait(12_000.0);
        self.open("branch_summary");
        self.sink.raw(",\"fromId\":");
        match left {
            Some(left) => self.id_of(left),
            None => self.sink.raw("\"root\""),
        }
        self.sink.raw(",\"summary\":\"What was tried there: ");
        let size = self.rng.range(600, 3_000);
        self.passage(Tone::Prose, size);
        self.sink.raw("\",");
        self.file_details();
        self.usage(600);
        self.sink.raw(",\"fromHook\":false");
        self.close(Kind::Seen);
    }

    /// Writes the `details` of a summary and the comma after them.
    fn file_details(&mut self) {
        for (key, limit) in [("\"details\":{\"readFiles\":[", 9), ("],\"modifiedFiles\":[", 4)] {
            self.sink.raw(key);
            for position in 0..self.rng.below(limit) {
                let file = path(&mut self.rng);
                self.sink.raw(if position == 0 { "\"" } else { ",\"" });
                self.sink.raw(&file);
                self.sink.raw("\"");
            }
        }
        self.sink.raw("]},");
    }

    /// Writes the prompt and the tools as one `system` message. It is the same at every place of the file.
    pub(super) fn system_message(&mut self) {
        self.sink.raw(
            "{\"role\":\"system\",\"content\":\"You are a coding assistant. You read, change and run code in the \
             project of the user.\\n\\nGuidelines:\\n- Read a file before you change it\\n- Say what you did\",\
             \"sections\":{\"project\":\"# Project\\n\\nRun `npm run check` before you stop.\"},\"toolsAdded\":[",
        );
        for (position, tool) in TOOLS.iter().enumerate() {
            self.sink.raw(if position == 0 { "" } else { "," });
            self.sink.raw(&format!(
                "{{\"name\":\"{tool}\",\"description\":\"Use {tool} on files of the project.\",\"parameters\":\
                 {{\"type\":\"object\",\"properties\":{{\"path\":{{\"type\":\"string\"}}}},\"required\":[]}}}}"
            ));
        }
        self.sink.raw("],\"timestamp\":");
        self.sink.number(self.clock);
        self.sink.raw("}");
    }

    /// Finds where a compaction at the leaf starts to keep: a message far enough back, after the last one.
    fn first_kept(&self) -> Option<u32> {
        let total = self.context();
        let mut found = None;
        let mut at = self.leaf;
        while let Some(index) = at {
            let node = self.nodes[index as usize];
            let before = node.parent.map_or(0, |parent| self.nodes[parent as usize].context);
            match node.kind {
                Kind::Compaction => break,
                Kind::Prompt | Kind::Call | Kind::Answer => found = Some(index),
                Kind::Result | Kind::Seen | Kind::Unseen => {}
            }
            if found.is_some() && total.saturating_sub(before) >= KEPT_BYTES {
                break;
            }
            at = node.parent;
        }
        found
    }

    /// Finds a random prompt or answer among the latest entries of the whole file.
    fn branch_target(&mut self) -> Option<u32> {
        let count = self.nodes.len() as u64;
        let back = self.rng.range(1, BRANCH_WINDOW.min(count));
        (0..=(count - back) as u32)
            .rev()
            .find(|&index| matches!(self.nodes[index as usize].kind, Kind::Prompt | Kind::Answer))
    }

    /// Finds an entry on the path at least `steps` above the leaf that is of a wanted kind.
    ///
    /// Stops at a compaction: what lies before it is out of sight.
    fn ancestor(&self, steps: u64, wanted: impl Fn(Kind) -> bool) -> Option<u32> {
        let mut at = self.leaf?;
        for step in 0.. {
            let node = self.nodes[at as usize];
            if step >= steps && wanted(node.kind) {
                return Some(at);
            }
            if node.kind == Kind::Compaction {
                return None;
            }
            at = node.parent?;
        }
        None
    }
}
