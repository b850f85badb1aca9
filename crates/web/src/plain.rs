//! The path to the leaf as Markdown.
//!
//! path -> **Markdown** -> any writer

use std::io::Write;

use session_tree::{Entry, Position, Session};

use crate::card::{Card, minute};
use crate::entry_text::{EntryText, Piece};
use crate::error::Result;
use crate::{ExportOptions, Progress};

/// Writes the path to the leaf as Markdown: a heading for everyone who speaks, tools in fences.
///
/// ```
/// use offshoot_web::{ExportOptions, write_markdown};
/// use session_tree::{Message, Options};
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append(Message::user("Say hello"))?;
/// let mut text = Vec::new();
/// write_markdown(&session, &ExportOptions::default(), &mut text, &mut |_, _| {})?;
/// assert!(String::from_utf8(text)?.starts_with("# Say hello\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_markdown(
    session: &Session,
    options: &ExportOptions,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<usize> {
    let card = Card::of(session, &session_view::Stats::of(session)?)?;
    writeln!(out, "# {}\n\n{} {}", card.title, card.when, card.place)?;
    let facts: Vec<String> = card.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect();
    writeln!(out, "\n{}", facts.join(" · "))?;
    let path = session.branch_path(Position::Leaf);
    for (at, node) in path.iter().enumerate() {
        let entry = session.entry_at(*node)?;
        if let Some(said) = EntryText::of(&entry, options) {
            let label = session.label(*node).map(|label| label.text.as_str());
            Writer { out }.entry(&entry, label, &said)?;
        }
        progress(at + 1, path.len());
    }
    out.flush()?;
    Ok(path.len())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
}

impl Writer<'_> {
    fn entry(&mut self, entry: &Entry, label: Option<&str>, said: &EntryText) -> Result<()> {
        // Results stand below the answer that called the tool.
        if said.who != "result" {
            let speaker =
                if said.who == "user" { "User".to_owned() } else { said.speaker.replace('\n', " ") };
            let label = label.map(|label| format!(" [{label}]")).unwrap_or_default();
            let (time, id) = (minute(entry.timestamp()), entry.id());
            writeln!(self.out, "\n## {speaker}{label}\n\n<sub>{time}, `{id}`</sub>")?;
        }
        said.pieces.iter().try_for_each(|piece| self.piece(said, piece))
    }

    fn piece(&mut self, said: &EntryText, piece: &Piece) -> Result<()> {
        match piece {
            Piece::Prose(text) => self.paragraph(text),
            Piece::Thinking(text) => {
                let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
                self.paragraph(&format!("> *Thinking*\n>\n{}", quoted.join("\n")))
            }
            Piece::Fold { title, text } => self.fold(said, title, text),
            Piece::Image { mime_type, .. } => self.paragraph(&format!("*(an image, {mime_type})*")),
            Piece::Note(text) if said.who == "assistant" => self.paragraph(&format!("**Error:** {text}")),
            Piece::Note(text) => self.paragraph(text),
        }
    }

    fn fold(&mut self, said: &EntryText, title: &str, text: &str) -> Result<()> {
        let code = |text: &str| format!("`{}`", text.replace('`', "'"));
        let (intro, language) = match said.who {
            "bash" => return self.fence("sh", &format!("{title}\n{text}")),
            "system" => return self.fence("", text),
            "result" => (format!("{} {title}:", code(&said.speaker)), ""),
            // The tools were left out.
            _ if text.is_empty() => return Ok(()),
            _ => (format!("Calls {}:", code(title)), "json"),
        };
        self.paragraph(&intro)?;
        self.fence(language, text)
    }

    fn paragraph(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.out, "\n{}", text.trim_end())?)
    }

    /// Writes code between fences that it cannot end.
    fn fence(&mut self, language: &str, text: &str) -> Result<()> {
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        Ok(writeln!(self.out, "\n{fence}{language}\n{}\n{fence}", text.trim_end())?)
    }
}
