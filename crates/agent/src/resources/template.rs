//! Prompt templates: Markdown files that `/name arguments` sends as a prompt.

use std::fs;
use std::path::{Path, PathBuf};

use super::frontmatter::Markdown;
use super::{quote, read_text};

/// The length of a description that is taken from the text, in characters.
const LONGEST_DESCRIPTION: usize = 60;

/// A prompt template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    /// The name of the command, which is that of the file.
    pub name: String,
    /// A description; without one the beginning of the text.
    pub description: String,
    /// The arguments, for completion.
    pub argument_hint: Option<String>,
    /// The file.
    pub path: PathBuf,
    content: String,
}

/// Finds the templates in a directory, without its subdirectories, in the order of their names.
pub fn template_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_template = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && name.ends_with(".md") && path.is_file()
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_template).collect();
    found.sort();
    found
}

/// Returns the templates that a path names: a Markdown file, or the directory with them.
pub(super) fn explicit_files(path: &Path, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    if path.is_dir() {
        return template_files(path);
    }
    if path.is_file() && path.extension().is_some_and(|ending| ending == "md") {
        return vec![path.to_owned()];
    }
    let reason = if path.exists() { "it is no Markdown file" } else { "it does not exist" };
    warnings.push(format!("prompt template {}: {reason}", quote(path)));
    Vec::new()
}

impl PromptTemplate {
    /// Reads a template. Adds a warning if that fails.
    pub(super) fn read(path: &Path, warnings: &mut Vec<String>) -> Option<Self> {
        let markdown = match read_text(path).and_then(|text| Markdown::parse(&text)) {
            Ok(markdown) => markdown,
            Err(reason) => {
                warnings.push(format!("prompt template {}: {reason}; it is not loaded", quote(path)));
                return None;
            }
        };
        let description = match markdown.text("description") {
            Some(text) => text.to_owned(),
            None => beginning(&markdown.body),
        };
        Some(PromptTemplate {
            name: path.file_stem()?.to_string_lossy().into_owned(),
            description,
            argument_hint: markdown.text("argument-hint").map(str::to_owned),
            path: path.to_owned(),
            content: markdown.body,
        })
    }

    /// Returns the prompt for some arguments.
    pub(super) fn expand(&self, arguments: &str) -> String {
        substitute(&self.content, &split_arguments(arguments))
    }
}

/// Returns the first line with text, shortened.
fn beginning(body: &str) -> String {
    let line = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut short: String = line.chars().take(LONGEST_DESCRIPTION).collect();
    if short.len() < line.len() {
        short.push_str("...");
    }
    short
}

/// Splits arguments at white space. Quotes, double or single, group words; there is no escape character.
fn split_arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => current.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => arguments.extend(current.take()),
            (c, None) => current.get_or_insert_default().push(c),
        }
    }
    arguments.extend(current);
    arguments
}

/// The arguments that a placeholder stands for.
enum Selection {
    /// One, counted from one.
    One(usize),
    All,
    /// From this one on, and at most so many.
    Slice(usize, Option<usize>),
}

/// Replaces the placeholders of a template. Text that comes from arguments and defaults is not searched again.
fn substitute(content: &str, arguments: &[String]) -> String {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        match placeholder(rest) {
            Some((length, selection, default)) => {
                let value = select(&selection, arguments);
                text.push_str(if value.is_empty() { default } else { &value });
                rest = &rest[length..];
            }
            None => {
                text.push('$');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn select(selection: &Selection, arguments: &[String]) -> String {
    match *selection {
        Selection::One(number) => {
            number.checked_sub(1).and_then(|at| arguments.get(at)).cloned().unwrap_or_default()
        }
        Selection::All => arguments.join(" "),
        Selection::Slice(from, most) => {
            let from = arguments.get(from.saturating_sub(1)..).unwrap_or_default();
            from[..most.unwrap_or(from.len()).min(from.len())].join(" ")
        }
    }
}

/// Parses the placeholder that a text begins with: its length, the arguments, and the default.
fn placeholder(text: &str) -> Option<(usize, Selection, &str)> {
    let Some(inner) = text.strip_prefix("${") else {
        let (selection, rest) = name(text.strip_prefix('$')?)?;
        return Some((text.len() - rest.len(), selection, ""));
    };
    let (selection, rest) = name(inner)?;
    if let Some(rest) = rest.strip_prefix(":-") {
        let end = rest.find('}')?;
        return Some((text.len() - rest.len() + end + 1, selection, &rest[..end]));
    }
    let (from, rest) = number(inner.strip_prefix("@:")?)?;
    let (most, rest) = match rest.strip_prefix(':') {
        Some(rest) => number(rest).map(|(most, rest)| (Some(most), rest))?,
        None => (None, rest),
    };
    let rest = rest.strip_prefix('}')?;
    Some((text.len() - rest.len(), Selection::Slice(from, most), ""))
}

/// Parses `@`, `ARGUMENTS` or a number. Also returns the rest.
fn name(text: &str) -> Option<(Selection, &str)> {
    let all = text.strip_prefix('@').or_else(|| text.strip_prefix("ARGUMENTS"));
    match all {
        Some(rest) => Some((Selection::All, rest)),
        None => number(text).map(|(number, rest)| (Selection::One(number), rest)),
    }
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (!digits.is_empty()).then(|| (digits.parse().unwrap_or(usize::MAX), rest))
}

#[cfg(test)]
mod tests;
