//! Skills: instructions in a `SKILL.md` that the model reads when a task needs them.
//!
//! The model is given the name, the description and the path. `/skill:name` sends the whole text.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::frontmatter::Markdown;
use super::{quote, read_text};

/// The file of a skill.
const FILE: &str = "SKILL.md";
/// The limits of the Agent Skills specification, in characters.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;
/// The deepest directory below a place of skills.
const DEEPEST: usize = 16;
/// The most entries of a place that are looked at.
const MOST_ENTRIES: usize = 20_000;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name in `/skill:name`.
    pub name: String,
    /// When to use it, for the model.
    pub description: String,
    /// The file.
    pub path: PathBuf,
    /// True if only the user may invoke it: the model is not given it.
    pub is_hidden: bool,
}

/// The rule for Markdown files that are not called `SKILL.md`. They are skills only with a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooseFiles {
    /// Those in the directory itself count.
    Direct,
    /// Those in subdirectories count, as in `.agents/skills`.
    Nested,
}

/// Finds the files of skills below a directory, in the order of their names. A directory with a `SKILL.md` is one skill, and
/// nothing in it is another one. Adds a warning for links that form a circle.
pub fn skill_files(directory: &Path, loose: LooseFiles, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    if !directory.is_dir() {
        return Vec::new();
    }
    let walk = WalkBuilder::new(directory)
        .follow_links(true)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .add_custom_ignore_filename(".fdignore")
        .max_depth(Some(DEEPEST))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| {
            let is_skill_file = entry.file_name() == FILE;
            let is_in_skill = || entry.path().parent().is_some_and(|parent| parent.join(FILE).is_file());
            entry.depth() == 0 || entry.file_name() != "node_modules" && (is_skill_file || !is_in_skill())
        })
        .build();
    let mut found = Vec::new();
    for entry in walk.take(MOST_ENTRIES) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                warnings.push(format!("skills in {}: {error}", quote(directory)));
                continue;
            }
        };
        let is_loose = match loose {
            LooseFiles::Direct => entry.depth() == 1,
            LooseFiles::Nested => entry.depth() > 1,
        };
        let is_markdown = entry.path().extension().is_some_and(|ending| ending == "md");
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && (entry.file_name() == FILE || is_loose && is_markdown) {
            found.push(entry.into_path());
        }
    }
    found
}

impl Skill {
    /// Reads a skill. Returns `None` for any other file. Adds warnings.
    pub(super) fn read(path: &Path, warnings: &mut Vec<String>) -> Option<Self> {
        let is_declared = path.ends_with(FILE);
        let mut warn = |text: &str| warnings.push(format!("skill {}: {text}", quote(path)));
        let parsed = read_text(path).and_then(|text| Markdown::parse(&text));
        let markdown = match parsed {
            Ok(markdown) => markdown,
            // Another Markdown file need not be a skill.
            Err(_) if !is_declared => return None,
            Err(reason) => {
                warn(&format!("{reason}; it is not loaded"));
                return None;
            }
        };
        let Some(description) = markdown.text("description") else {
            if is_declared {
                warn("it has no description; it is not loaded");
            }
            return None;
        };
        if description.chars().count() > LONGEST_DESCRIPTION {
            warn(&format!("the description has more than {LONGEST_DESCRIPTION} characters"));
        }
        let directory = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = markdown.text("name").unwrap_or(&directory);
        if let Some(reason) = bad_name(name) {
            warn(&format!("the name `{name}` {reason}"));
        }
        Some(Skill {
            name: name.to_owned(),
            description: description.to_owned(),
            path: path.to_owned(),
            is_hidden: markdown.is_true("disable-model-invocation"),
        })
    }

    /// Returns the prompt that invokes the skill.
    pub(super) fn expand(&self, arguments: &str) -> Result<String, String> {
        let parsed = read_text(&self.path).and_then(|text| Markdown::parse(&text));
        let markdown = parsed.map_err(|reason| format!("skill {}: {reason}", quote(&self.path)))?;
        let directory = self.path.parent().unwrap_or(Path::new("."));
        // Sessions and their readers know this form.
        let mut prompt = format!(
            "<skill name=\"{}\" location=\"{}\">\nReferences are relative to {}.\n\n{}\n</skill>",
            self.name,
            self.path.display(),
            directory.display(),
            markdown.body.trim(),
        );
        if !arguments.is_empty() {
            prompt.push_str("\n\n");
            prompt.push_str(arguments);
        }
        Ok(prompt)
    }
}

/// Returns why a name does not follow the specification.
fn bad_name(name: &str) -> Option<&'static str> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.chars().count() > LONGEST_NAME {
        return Some("has more than 64 characters");
    }
    if !name.chars().all(is_letter) {
        return Some("has other characters than small letters, digits and `-`");
    }
    let is_odd = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    is_odd.then_some("begins or ends with `-`, or has two of them in a row")
}

/// Describes the skills to the model; empty if it may use none.
pub(crate) fn skills_text(skills: &[Skill]) -> String {
    let listed: Vec<&Skill> = skills.iter().filter(|skill| !skill.is_hidden).collect();
    if listed.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "These skills are instructions for certain kinds of work. If a task fits a description, read the file of the skill \
         before you begin. Relative paths in it start at the directory of the file.\n\n<available_skills>",
    );
    for skill in listed {
        text.push_str(&format!(
            "\n  <skill>\n    <name>{}</name>\n    <description>{}</description>\n    <location>{}</location>\n  </skill>",
            escape(&skill.name),
            escape(&skill.description),
            escape(&skill.path.to_string_lossy()),
        ));
    }
    text.push_str("\n</available_skills>");
    text
}

/// Escapes a text for XML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns the files of skills that a path names: a Markdown file, or a directory.
pub(super) fn explicit_files(path: &Path, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => skill_files(path, LooseFiles::Direct, warnings),
        Ok(_) if path.extension().is_some_and(|ending| ending == "md") => vec![path.to_owned()],
        Ok(_) => {
            warnings.push(format!("skill {}: it is no Markdown file", quote(path)));
            Vec::new()
        }
        Err(_) => {
            warnings.push(format!("skill {}: it does not exist", quote(path)));
            Vec::new()
        }
    }
}
