//! The summary of a session that its row holds, so that a list reads no line.

use session_tree::json::{Cursor, write_string};
use session_tree::{Damage, SessionSummary};
use tokio_postgres::{Row, SimpleQueryRow};

use crate::line::Line;

/// The facts about a session that its row holds beside its length.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The summary; none if it has to be made from the lines.
    pub(crate) summary: Option<SessionSummary>,
    /// False if branches were added since they were counted.
    pub(crate) is_counted: bool,
    /// The last entry, if its branch ends there: an entry below it begins no new branch.
    pub(crate) tip: Option<Vec<u8>>,
}

impl Facts {
    /// Reads the facts of a row: three columns from `first` on.
    pub(crate) fn of_row(row: &Row, first: usize) -> Self {
        let summary = row.get::<_, Option<&[u8]>>(first).and_then(SessionSummary::decode);
        Self { summary, is_counted: row.get(first + 1), tip: row.get(first + 2) }
    }

    /// Reads the facts of a row in the text format: the columns from the third one on.
    pub(crate) fn of_text(row: &SimpleQueryRow) -> Self {
        let bytes = |column: usize| row.get(column).and_then(|text| hex(text.strip_prefix("\\x")?));
        let summary = bytes(2).and_then(|bytes| SessionSummary::decode(&bytes));
        Self { summary, is_counted: row.get(3) == Some("t"), tip: bytes(4) }
    }

    /// Makes the facts of a new session from its lines.
    pub(crate) fn of(bytes: &[u8], lines: &[Line]) -> Self {
        let summary = SessionSummary::of_bytes(bytes).ok();
        let tip = if is_chain(None, lines) { last_entry(lines) } else { None };
        Self { is_counted: summary.is_some(), summary, tip }
    }

    /// Makes the facts of a session after lines were appended to it.
    pub(crate) fn after(&self, bytes: &[u8], lines: &[Line]) -> Self {
        let Some(old) = &self.summary else { return Self::default() };
        let Some(added) = summary_of(&old.id, bytes) else { return Self::default() };
        let is_first = old.entry_count == 0;
        let continues = (is_first || self.tip.is_some()) && is_chain(self.tip.as_deref(), lines);
        let own_tip = match lines.first() {
            Some(first) if added.tip_count == 1 && is_chain(first.parent.as_deref(), lines) => {
                last_entry(lines)
            }
            _ => None,
        };
        let mut new = old.clone();
        new.message_count += added.message_count;
        new.entry_count += added.entry_count;
        new.first_message = new.first_message.or(added.first_message);
        new.is_sub_agent |= added.is_sub_agent;
        if added.modified.as_millis() > 0 {
            new.modified =
                if old.message_count == 0 { added.modified } else { old.modified.max(added.modified) };
        }
        if let Some(Damage::Lines { count }) = added.damage {
            let before = match old.damage {
                Some(Damage::Lines { count }) => count,
                _ => 0,
            };
            new.damage = Some(Damage::Lines { count: before + count });
        }
        if continues && new.tip_count == 0 {
            new.tip_count = added.tip_count;
        }
        if added.name.is_some() {
            new.name = added.name;
        }
        // The name may have been removed, or given by a title that counts only without a name.
        let summary = (!renames(lines) || new.name != old.name && !has_titles(lines)).then_some(new);
        let is_counted = self.is_counted && continues && summary.is_some();
        Self {
            summary,
            is_counted,
            tip: if continues { last_entry(lines).or(self.tip.clone()) } else { own_tip },
        }
    }
}

/// Makes the summary of lines without their header.
fn summary_of(id: &str, bytes: &[u8]) -> Option<SessionSummary> {
    let mut header = r#"{"type":"session","version":3,"id":"#.to_owned();
    write_string(&mut header, id);
    header.push_str("}\n");
    SessionSummary::of_bytes(&[header.as_bytes(), bytes].concat()).ok()
}

/// Returns true if each entry is the parent of the next one, beginning with `parent`.
fn is_chain(parent: Option<&[u8]>, lines: &[Line]) -> bool {
    let mut parent = parent;
    lines.iter().filter(|line| line.entry.is_some()).all(|line| {
        let continues = line.parent.as_deref() == parent;
        parent = line.entry.as_deref();
        continues
    })
}

fn last_entry(lines: &[Line]) -> Option<Vec<u8>> {
    lines.iter().rev().find_map(|line| line.entry.clone())
}

fn renames(lines: &[Line]) -> bool {
    lines.iter().any(|line| matches!(type_of(line).as_deref(), Some("session_info" | "title_change")))
}

fn has_titles(lines: &[Line]) -> bool {
    lines.iter().any(|line| type_of(line).as_deref() == Some("title_change"))
}

fn type_of(line: &Line) -> Option<String> {
    Some(Cursor::new(&line.bytes).get("type")?.as_str()?.into_owned())
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    text.as_bytes().chunks(2).map(|pair| Some(16 * digit(pair[0])? + digit(*pair.get(1)?)?)).collect()
}
