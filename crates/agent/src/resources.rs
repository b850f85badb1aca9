//! Skills and prompt templates: texts that a user sends with a command, and that the system prompt lists.
//!
//! files -> **resources** -> commands, the system prompt
//!
//! Damaged files are reported as warnings and skipped. Which places are read is decided elsewhere.

mod frontmatter;
mod skill;
mod template;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(crate) use skill::skills_text;
pub use skill::{LooseFiles, Skill, skill_files};
pub use template::{PromptTemplate, template_files};

/// The maximum size of a file in bytes.
const LONGEST: u64 = 1 << 20;
/// The beginning of the commands of skills.
const SKILL: &str = "skill:";

/// The skills and prompt templates of an agent.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    skills: Vec<Skill>,
    templates: Vec<PromptTemplate>,
    /// The files of themes, for front ends.
    pub themes: Vec<PathBuf>,
    /// The files that are loaded, with all links followed.
    seen: HashSet<PathBuf>,
    warnings: Vec<String>,
}

/// A command that a resource defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceCommand<'r> {
    /// The name without a slash.
    pub name: String,
    /// A description of one line.
    pub description: &'r str,
    /// The arguments, for completion.
    pub argument_hint: Option<&'r str>,
    /// `prompt` or `skill`.
    pub source: &'static str,
    /// The file.
    pub path: &'r Path,
}

impl Resources {
    /// Adds a skill from its file. The first skill of a name counts.
    pub fn add_skill(&mut self, path: &Path) {
        if !self.is_new(path) {
            return;
        }
        let Some(skill) = Skill::read(path, &mut self.warnings) else { return };
        match self.skills.iter().find(|known| known.name == skill.name) {
            Some(known) => self.warnings.push(format!(
                "skill {} is not loaded: {} has the same name, `{}`",
                quote(path),
                quote(&known.path),
                skill.name
            )),
            None => self.skills.push(skill),
        }
    }

    /// Adds the skills of a path: a file, or a directory with skills.
    pub fn add_skills_at(&mut self, path: &Path) {
        let files = skill::explicit_files(path, &mut self.warnings);
        files.iter().for_each(|file| self.add_skill(file));
    }

    /// Adds a prompt template from its file. The first template of a name counts.
    pub fn add_template(&mut self, path: &Path) {
        if !self.is_new(path) {
            return;
        }
        let Some(template) = PromptTemplate::read(path, &mut self.warnings) else { return };
        match self.templates.iter().find(|known| known.name == template.name) {
            Some(known) => self.warnings.push(format!(
                "prompt template {} is not loaded: {} has the same name",
                quote(path),
                quote(&known.path)
            )),
            None => self.templates.push(template),
        }
    }

    /// Adds the prompt templates of a path: a file, or a directory with templates.
    pub fn add_templates_at(&mut self, path: &Path) {
        let files = template::explicit_files(path, &mut self.warnings);
        files.iter().for_each(|file| self.add_template(file));
    }

    /// Adds a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Returns the warnings about files.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the skills.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// Returns the commands of all templates and skills, in the order in which they were added.
    pub fn commands(&self) -> impl Iterator<Item = ResourceCommand<'_>> {
        let templates = self.templates.iter().map(|template| ResourceCommand {
            name: template.name.clone(),
            description: &template.description,
            argument_hint: template.argument_hint.as_deref(),
            source: "prompt",
            path: &template.path,
        });
        let skills = self.skills.iter().map(|skill| ResourceCommand {
            name: format!("{SKILL}{}", skill.name),
            description: &skill.description,
            argument_hint: None,
            source: "skill",
            path: &skill.path,
        });
        templates.chain(skills)
    }

    /// Returns true if a line names a template or a skill.
    pub fn has_command(&self, line: &str) -> bool {
        self.find(line).is_some()
    }

    /// Returns the prompt that a line stands for, if it names a template or a skill. The error is a warning.
    pub(crate) fn expand(&self, line: &str) -> Option<Result<String, String>> {
        let (found, arguments) = self.find(line)?;
        Some(match found {
            NamedResource::Skill(skill) => skill.expand(arguments.trim()),
            NamedResource::Template(template) => Ok(template.expand(arguments)),
        })
    }

    fn find<'r, 'l>(&'r self, line: &'l str) -> Option<(NamedResource<'r>, &'l str)> {
        let line = line.strip_prefix('/')?;
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let skill = name.strip_prefix(SKILL).and_then(|name| self.skills.iter().find(|one| one.name == name));
        let found = match skill {
            Some(skill) => NamedResource::Skill(skill),
            None => NamedResource::Template(self.templates.iter().find(|template| template.name == name)?),
        };
        Some((found, arguments))
    }

    /// Records a file. Returns false if it was added before, also under another name.
    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
    }
}

/// The resource that a line names.
enum NamedResource<'r> {
    Skill(&'r Skill),
    Template(&'r PromptTemplate),
}

/// Reads a text file of limited size. The error is the reason.
fn read_text(path: &Path) -> Result<String, String> {
    let is_file = fs::metadata(path).map_err(|error| error.to_string())?.is_file();
    if !is_file {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LONGEST {
        return Err("it is longer than 1 MiB".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a path for a message.
fn quote(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests;
