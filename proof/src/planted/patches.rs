//! The planted bugs: mistakes that an engine like this one could make.

use super::{Check, Patch};

/// Every planted bug. Patches that are noticed by the same check stand together.
pub const PATCHES: &[Patch] = &[
    Patch {
        bug: "an append continues a line that was cut off",
        file: "crates/session-tree/src/session/write/append.rs",
        before: "let needs_feed = self.index.open_tail || self.index.torn.is_some();",
        after: "let needs_feed = false;",
        noticed_by: Check::Part("crash", 200_000),
    },
    Patch {
        bug: "memory changes although the line could not be written",
        file: "crates/session-tree/src/session/write/append.rs",
        before: "let written = self.write_lines(&prepared.lines, begins || self.writer.has_conversation)?;",
        after: "let written = self.write_lines(&prepared.lines, begins || self.writer.has_conversation);
        if written.is_err() {
            self.leaf = self.take_in(self.index.end, parent, drafts, &prepared);
        }
        let written = written?;",
        noticed_by: Check::Part("faults", 1),
    },
    Patch {
        bug: "writing continues after a failed sync",
        file: "crates/session-tree/src/journal/file/write.rs",
        before: "self.trouble.poisoned = Some((\"sync\", source.to_string()));",
        after: "",
        noticed_by: Check::Part("faults", 1),
    },
    Patch {
        bug: "an id is used without checking that it is free",
        file: "crates/session-tree/src/session/write/append.rs",
        before: "|id: &EntryId| !self.index.tree.holds(id.as_str()) && !drawn.contains(id);",
        after: "|_: &EntryId| true;",
        noticed_by: Check::Part("model", 2_000),
    },
    Patch {
        bug: "the last line of the file is always the leaf",
        file: "crates/session-tree/src/index/leaf.rs",
        before: "if matches!(self.tree.kind(node), Kind::SessionInfo | Kind::Usage) {",
        after: "if true { return Ok(Some(node)); }
            if matches!(self.tree.kind(node), Kind::SessionInfo | Kind::Usage) {",
        noticed_by: Check::Part("model", 2_000),
    },
    Patch {
        bug: "an existing label is never replaced",
        file: "crates/session-tree/src/index/labels.rs",
        before: "self.by_target.insert(target, Label {",
        after: "self.by_target.entry(target).or_insert(Label {",
        noticed_by: Check::Part("model", 2_000),
    },
    Patch {
        bug: "a migration drops the lines that it cannot read",
        file: "crates/session-tree/src/session/write/migration.rs",
        before: "LineAt::NonEntry(_) => None,",
        after: "LineAt::NonEntry(_) => continue,",
        noticed_by: Check::Part("fuzz-migrate", 10_000),
    },
];
