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
        before: "self.append_to_journal(&NewLines { at, bytes: &all, lines: &lines, publish })?;",
        after: "let appended = self.append_to_journal(&NewLines { at, bytes: &all, lines: &lines, publish });
        if appended.is_err() {
            let _ = self.index.catch_up(&Overlay { base: &*self.journal, from: at, bytes: &all }, end);
        }
        appended?;",
        noticed_by: Check::Part("faults", 1),
    },
    Patch {
        bug: "writing continues after a failed sync",
        file: "crates/session-tree/src/journal/file/write.rs",
        before: "self.write_state.poisoned = Some((\"sync\", Error::repeated(&source)));",
        after: "",
        noticed_by: Check::Part("faults", 1),
    },
    Patch {
        bug: "an id is used without checking that it is free",
        file: "crates/session-tree/src/session/write/append.rs",
        before: "if !is_taken(&id) && drawn.insert(id.clone()) {",
        after: "if !is_taken(&id) || true {",
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
    Patch {
        bug: "a node stands for the entry that has its row in any tree",
        file: "crates/session-tree/src/tree.rs",
        before: "self.contains(node).then_some(node.row)",
        after: "Some(node.row)",
        noticed_by: Check::EngineTests("nodes::"),
    },
    Patch {
        bug: "a plan is applied to another session",
        file: "crates/session-tree/src/session/read.rs",
        before: "if self.stamp == session { Ok(()) } else { Err(Error::StalePlan) }",
        after: "if self.stamp == session { Ok(()) } else { Ok(()) }",
        noticed_by: Check::EngineTests("stale_plans::"),
    },
    Patch {
        bug: "a repair reads positions of a file that was replaced",
        file: "crates/session-tree/src/repair.rs",
        before: "if self.tree().stamp() == plan.tree { Ok(()) } else { Err(Error::StalePlan) }",
        after: "if self.tree().stamp() == plan.tree { Ok(()) } else { Ok(()) }",
        noticed_by: Check::EngineTests("stale_plans::"),
    },
];
