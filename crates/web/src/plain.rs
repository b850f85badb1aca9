//! The path to the leaf as Markdown.
//!
//! path -> **Markdown** -> any writer

use std::io::Write;

use session_tree::{Block, Content, Entry, Session};

use crate::card::{Card, minute};
use crate::error::Result;
use crate::said::Said;
use crate::{ExportOptions, Progress};

/// Writes the path to the leaf as Markdown: a heading for everyone who speaks, tools in fences.
///
/// ```
/// use offshoot_web::{ExportOptions, write_markdown};
/// use session_tree::Options;
///
/// let mut session = Options::new().in_memory("/project")?;
/// session.append_user_text("Say hello")?;
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
    let card = Card::of(session, &session.figures_of_all()?)?;
    writeln!(out, "# {}\n\n{} {}", card.title, card.when, card.place)?;
    let facts: Vec<String> = card.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect();
    writeln!(out, "\n{}", facts.join(" · "))?;
    let path = session.branch_path(None);
    for (at, node) in path.iter().enumerate() {
        let entry = session.entry_at(*node)?;
        let label = session.label(*node).map(|label| label.text.as_str());
        Writer { out, options, entry: &entry, label }.entry()?;
        progress(at + 1, path.len());
    }
    out.flush()?;
    Ok(path.len())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    options: &'w ExportOptions,
    entry: &'w Entry,
    label: Option<&'w str>,
}

impl Writer<'_> {
    fn entry(&mut self) -> Result<()> {
        match Said::of(self.entry) {
            None => Ok(()),
            Some(Said::Prompt(content)) => {
                self.heading("User")?;
                self.content(content)
            }
            Some(Said::Answer { model, content, error }) => {
                self.heading(if model.is_empty() { "Assistant" } else { &model })?;
                self.content(content)?;
                error.map_or(Ok(()), |error| self.paragraph(&format!("**Error:** {error}")))
            }
            Some(Said::Result { tool, failed, content }) => self.result(&tool, failed, content),
            Some(Said::Command { command, output }) => {
                self.heading("Command")?;
                self.fence("sh", &command)?;
                if self.options.tools { self.fence("", &output) } else { Ok(()) }
            }
            Some(Said::Extension { name, content }) => {
                self.heading(&name)?;
                self.content(content)
            }
            Some(Said::Compaction(text)) => {
                self.heading("Compaction")?;
                self.paragraph(&text)
            }
            Some(Said::Summary { title, text }) => {
                self.heading(title)?;
                self.paragraph(&text)
            }
            Some(Said::System { content, tools }) => {
                self.heading("System")?;
                self.fence("", &content.text())?;
                if tools.is_empty() {
                    Ok(())
                } else {
                    self.paragraph(&format!("Tools: {}", tools.join(", ")))
                }
            }
            Some(Said::Damaged) => {
                self.heading("Damaged line")?;
                self.paragraph("*(cannot be read)*")
            }
        }
    }

    fn result(&mut self, tool: &str, failed: bool, content: Content<'_>) -> Result<()> {
        if !self.options.tools {
            return Ok(());
        }
        let failed = if failed { " failed" } else { "" };
        self.paragraph(&format!("`{}`{failed}:", tool.replace('`', "'")))?;
        self.fence("", &content.text())
    }

    fn heading(&mut self, speaker: &str) -> Result<()> {
        let label = self.label.map(|label| format!(" [{label}]")).unwrap_or_default();
        let speaker = speaker.replace('\n', " ");
        let time = minute(self.entry.timestamp());
        Ok(writeln!(self.out, "\n## {speaker}{label}\n\n<sub>{time}, `{}`</sub>", self.entry.id())?)
    }

    fn content(&mut self, content: Content<'_>) -> Result<()> {
        for block in content.blocks() {
            match block {
                Block::Text(text) => self.paragraph(&text)?,
                Block::Thinking(text) if self.options.thinking && !text.is_empty() => {
                    let quoted: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
                    self.paragraph(&format!("> *Thinking*\n>\n{}", quoted.join("\n")))?;
                }
                Block::ToolCall { name, arguments, .. } if self.options.tools => {
                    self.paragraph(&format!("Calls `{}`:", name.replace('`', "'")))?;
                    let arguments = arguments.map(|value| String::from_utf8_lossy(value.raw()).into_owned());
                    self.fence("json", &arguments.unwrap_or_default())?;
                }
                Block::Image { mime_type, .. } => self.paragraph(&format!("*(an image, {mime_type})*"))?,
                Block::Thinking(_) | Block::ToolCall { .. } | Block::Other(_) => {}
            }
        }
        Ok(())
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
