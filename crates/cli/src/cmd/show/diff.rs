//! Differences of texts, line by line.

use similar::{ChangeTag, TextDiff};

use crate::error::CommandError;
use crate::ui::{Tone, Ui};

/// Texts that are longer are shown one after the other instead of being compared.
const LONGEST: usize = 1 << 20;

/// Prints what was taken out of a text and put into it.
pub(super) fn between(old: &str, new: &str, ui: &mut Ui) -> Result<(), CommandError> {
    if old.len() + new.len() > LONGEST {
        ui.block(Tone::Bad, 2, old)?;
        return ui.block(Tone::Good, 2, new);
    }
    let diff = TextDiff::from_lines(old, new);
    for change in diff.iter_all_changes() {
        let (tone, sign) = match change.tag() {
            ChangeTag::Delete => (Tone::Bad, "  - "),
            ChangeTag::Insert => (Tone::Good, "  + "),
            ChangeTag::Equal => (Tone::Dim, "    "),
        };
        let line = change.value().trim_end_matches(['\n', '\r']).replace('\t', "    ");
        ui.line(&[(tone, sign), (tone, &line)])?;
    }
    Ok(())
}

/// Prints a diff that a tool recorded.
pub(super) fn print(diff: &str, ui: &mut Ui) -> Result<(), CommandError> {
    for line in diff.lines() {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            _ => Tone::Dim,
        };
        ui.line(&[(tone, &line.replace('\t', "    "))])?;
    }
    Ok(())
}
