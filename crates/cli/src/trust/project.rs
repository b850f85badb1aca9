//! The files that a project would load: its settings, its system prompt, its code.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{CommandError, Failure};

/// A project and the files that it would load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The directory, with all links followed, so that a project has one name.
    pub(crate) dir: PathBuf,
    /// The files, in order.
    pub(crate) items: Vec<Item>,
    /// The digest of the names and bytes of all files.
    pub(crate) digest: String,
    /// The texts of the files that are read as a whole, as they were when the digest was computed.
    texts: BTreeMap<PathBuf, String>,
}

/// A file that a project would load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// The file, seen from the directory of the project.
    pub(crate) path: PathBuf,
    /// The purpose.
    pub(crate) purpose: &'static str,
    /// The length in bytes.
    pub(crate) bytes: u64,
}

/// The purpose of extensions.
const CODE: &str = "code";

/// The files to look for, in offshoot's directory and in those of others.
const PLACES: [(&str, &str); 10] = [
    ("settings.json", "settings"),
    ("packages.lock.json", "packages"),
    ("SYSTEM.md", "system prompt"),
    ("APPEND_SYSTEM.md", "system prompt"),
    ("mcp.json", "tool servers"),
    ("extensions", CODE),
    ("hooks", CODE),
    ("skills", "skill"),
    ("prompts", "prompt"),
    ("themes", "theme"),
];
const DIRECTORIES: [&str; 2] = [".offshoot", ".pi"];
/// Files in the directory of the project itself, which other agents use too.
const AGENTS_SKILLS: (&str, &str) = (".agents/skills", "skill");
const SHARED: [(&str, &str); 3] = [AGENTS_SKILLS, (".claude/skills", "skill"), (".mcp.json", "tool servers")];

/// Larger projects are not read and cannot be trusted.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 64 << 20;
/// The maximum depth of directories; links may form circles.
const DEEPEST: usize = 16;
/// The maximum size of a file that is read as text.
const LONGEST_TEXT: usize = 1 << 20;

impl Project {
    /// Finds the project of a directory: the nearest one, up to the root of the repository, that would load anything.
    pub(crate) fn find(cwd: &Path) -> Result<Option<Self>, CommandError> {
        let cwd = fs::canonicalize(cwd).map_err(|error| CommandError::no_cwd(&error))?;
        let root = super::root(&cwd);
        let inside = cwd.ancestors().take_while(|directory| directory.starts_with(root));
        for directory in inside {
            if let Some(project) = Self::at(directory)? {
                return Ok(Some(project));
            }
        }
        Ok(None)
    }

    /// Returns the project in a directory, or `None` if it would load nothing. The skills of the directories above it, up to
    /// the root of the repository, belong to it.
    pub(crate) fn at(directory: &Path) -> Result<Option<Self>, CommandError> {
        let mut scan = Scan::new(directory);
        for inside in DIRECTORIES {
            for (name, purpose) in PLACES {
                scan.look(&Path::new(inside).join(name), purpose, 0)?;
            }
        }
        for (path, purpose) in SHARED {
            scan.look(path.as_ref(), purpose, 0)?;
        }
        if !scan.items.is_empty() {
            let root = super::root(directory);
            let outer = directory.ancestors().take_while(|outer| outer.starts_with(root)).skip(1);
            for depth in 1..=outer.count() {
                scan.look(&Path::new(&"../".repeat(depth)).join(AGENTS_SKILLS.0), AGENTS_SKILLS.1, 0)?;
            }
        }
        Ok(scan.finish())
    }

    /// Returns true if it has code, such as extensions.
    pub(crate) fn has_code(&self) -> bool {
        self.items.iter().any(|item| item.purpose == CODE)
    }

    /// Returns the text and path of the first existing file of several names.
    pub(crate) fn text(&self, names: &[&str]) -> Option<(PathBuf, &str)> {
        names.iter().find_map(|name| {
            let text = self.texts.get(Path::new(name))?;
            Some((self.dir.join(name), text.as_str()))
        })
    }
}

/// A walk over the files that a project would load.
struct Scan {
    dir: PathBuf,
    items: Vec<Item>,
    texts: BTreeMap<PathBuf, String>,
    digest: Sha256,
    bytes: u64,
    looks: usize,
}

impl Scan {
    fn new(dir: &Path) -> Self {
        Scan {
            dir: dir.to_owned(),
            items: Vec::new(),
            texts: BTreeMap::new(),
            digest: Sha256::new(),
            bytes: 0,
            looks: 0,
        }
    }

    fn look(&mut self, path: &Path, purpose: &'static str, depth: usize) -> Result<(), CommandError> {
        let full = self.dir.join(path);
        // Follows links, because the targets would be loaded.
        let Ok(found) = fs::metadata(&full) else { return Ok(()) };
        let failed = |error: io::Error| CommandError::system("read", &full, &error);
        self.looks += 1;
        if depth == DEEPEST || self.looks == MOST_FILES {
            return Err(too_large(&full));
        }
        if found.is_file() {
            let content = self.read(&full).map_err(failed)?.ok_or_else(|| too_large(&full))?;
            self.add(path, purpose, &content);
        }
        if !found.is_dir() {
            return Ok(());
        }
        let mut names = Vec::new();
        for item in fs::read_dir(&full).map_err(failed)? {
            names.push(item.map_err(failed)?.file_name());
        }
        names.sort();
        names.into_iter().try_for_each(|name| self.look(&path.join(name), purpose, depth + 1))
    }

    /// Reads a file, or returns `None` if all files together are too long.
    fn read(&mut self, full: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let left = MOST_BYTES - self.bytes;
        File::open(full)?.take(left + 1).read_to_end(&mut content)?;
        let bytes = content.len() as u64;
        self.bytes += bytes.min(left);
        Ok((bytes <= left).then_some(content))
    }

    /// Adds a file. Its name and lengths precede the bytes, so that different projects have different digests.
    fn add(&mut self, path: &Path, purpose: &'static str, content: &[u8]) {
        for part in [path.as_os_str().as_encoded_bytes(), content] {
            self.digest.update((part.len() as u64).to_le_bytes());
            self.digest.update(part);
        }
        self.items.push(Item { path: path.to_owned(), purpose, bytes: content.len() as u64 });
        if path.components().count() <= 2 && content.len() <= LONGEST_TEXT {
            self.texts.insert(path.to_owned(), String::from_utf8_lossy(content).into_owned());
        }
    }

    fn finish(self) -> Option<Project> {
        if self.items.is_empty() {
            return None;
        }
        let digest: String = self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Project { dir: self.dir, items: self.items, digest, texts: self.texts })
    }
}

fn too_large(path: &Path) -> CommandError {
    Failure::new(format!("{} is too large to be looked through", path.display()))
        .hint("`--no-approve` uses nothing of this project")
        .into()
}
