//! Sections of a summary: headings and the lines under them.

/// A summary, cut at its headings.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sections<'s> {
    sections: Vec<(&'s str, Vec<&'s str>)>,
}

impl<'s> Sections<'s> {
    /// Cuts a summary. What stands before the first heading, and lists of files behind it, are not kept.
    pub(super) fn read(summary: &'s str) -> Self {
        let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in summary.lines().take_while(|line| !is_file_list(line)) {
            let heading = line.strip_prefix("### ").or_else(|| line.strip_prefix("## "));
            match (heading, sections.last_mut()) {
                (Some(heading), _) => sections.push((heading.trim(), Vec::new())),
                (None, Some((_, lines))) if !is_border(line) => lines.push(line.trim()),
                (None, _) => {}
            }
        }
        Self { sections }
    }

    /// Returns the items of the first section of a name; a summary of a turn that was cut repeats the names.
    pub(super) fn first_items(&self, heading: &str) -> Vec<String> {
        let first = self.sections.iter().find(|(name, _)| *name == heading);
        Self { sections: first.into_iter().cloned().collect() }.items(heading)
    }

    /// Returns the items of a section without their bullets; those that say that there is nothing are none.
    pub(super) fn items(&self, heading: &str) -> Vec<String> {
        let lines = self.sections.iter().filter(|(name, _)| *name == heading).flat_map(|(_, lines)| lines);
        lines.map(|line| bare(line).to_owned()).filter(|line| line != NOTHING && !line.is_empty()).collect()
    }
}

/// What a section says that has nothing to say.
pub(super) const NOTHING: &str = "(none)";

/// What stands between parts of a summary.
fn is_border(line: &str) -> bool {
    matches!(line.trim(), "" | "---") || line.starts_with("**Turn Context")
}

fn is_file_list(line: &str) -> bool {
    line == "<read-files>" || line == "<modified-files>"
}

fn bare(line: &str) -> &str {
    let line = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let line = line.strip_prefix(". ").or_else(|| line.strip_prefix("- ")).unwrap_or(line);
    ["[x] ", "[ ] "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}
