//! A static look at an extension: the first thing in its files, and in those that they import, that the embedded engine
//! does not have.
//!
//! Files are parsed, never run. The answer is kept as long as the files are what they were.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use parking_lot::{Mutex, const_mutex};

use crate::builtin::{FILES, NODE_ONLY_MODULES};
use crate::engine::{Finder, Target, is_native};
use crate::strip::{self, Facts, compile};

/// Global names of Node that the embedded engine does not have.
const GLOBALS: &str =
    "WebSocket WebAssembly MessageChannel MessagePort BroadcastChannel SharedArrayBuffer Atomics";

/// Functions that work only in part in the embedded engine: the output of a process arrives when it has ended.
const IN_PART: [(&str, &str); 2] = [("node/child_process", "spawn"), ("node/child_process", "fork")];

/// The most files that are looked at. An extension with more of them is made for Node.
const MOST_FILES: usize = 300;

/// Something that the embedded engine does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    /// Its name, such as `node:http`.
    pub(crate) what: String,
    /// The file that needs it.
    pub(crate) file: PathBuf,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs {} ({})", self.what, self.file.display())
    }
}

/// Files with the sizes and times that they had.
type Seen = Vec<(PathBuf, Option<(u64, SystemTime)>)>;

/// Earlier results, by the first file.
type Earlier = HashMap<PathBuf, (Seen, Option<Need>)>;

static KNOWN: Mutex<Option<Earlier>> = const_mutex(None);

/// Returns the first thing that an extension needs and the embedded engine does not have.
pub(crate) fn first_need(entry: &Path) -> Option<Need> {
    if let Some((seen, need)) = KNOWN.lock().as_ref().and_then(|known| known.get(entry))
        && seen.iter().all(|(path, stamp)| self::stamp(path) == *stamp)
    {
        return need.clone();
    }
    let mut search = Search::default();
    let need = search.first(entry);
    let seen = search.visited.into_iter().map(|path| (stamp(&path), path)).map(|(stamp, path)| (path, stamp));
    KNOWN.lock().get_or_insert_default().insert(entry.to_owned(), (seen.collect(), need.clone()));
    need
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

#[derive(Default)]
struct Search {
    finder: Finder,
    visited: HashSet<PathBuf>,
    waiting: VecDeque<PathBuf>,
}

impl Search {
    fn first(&mut self, entry: &Path) -> Option<Need> {
        self.waiting.push_back(entry.to_owned());
        while let Some(file) = self.waiting.pop_front() {
            if !self.visited.insert(file.clone()) {
                continue;
            }
            let need = if self.visited.len() > MOST_FILES {
                Some(format!("more than {MOST_FILES} modules"))
            } else {
                self.of_file(&file)
            };
            if let Some(what) = need {
                return Some(Need { what, file });
            }
        }
        None
    }

    fn of_file(&mut self, file: &Path) -> Option<String> {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("json") => return None,
            Some("wasm") => return Some("WebAssembly".to_owned()),
            _ => {}
        }
        // An error is reported when the file is loaded.
        let text = fs::read_to_string(file).ok()?;
        let facts = compile(file, &text).ok()?.facts;
        let global = GLOBALS.split_whitespace().find(|name| facts.globals.contains(*name));
        self.of_imports(file, &facts).or_else(|| global.map(|name| format!("`{name}`")))
    }

    fn of_imports(&mut self, file: &Path, facts: &Facts) -> Option<String> {
        let (base, is_require) = (file.to_string_lossy(), facts.is_commonjs());
        for specifier in &facts.imports {
            let plain = specifier.strip_prefix("node:").unwrap_or(specifier);
            match self.finder.find(&base, specifier, is_require) {
                Ok(Target::Own(own)) if own.starts_with("node/") => {
                    let named = facts.named.get(specifier);
                    if let Some(name) = named.and_then(|names| missing(own, names)) {
                        return Some(format!("`{name}` of node:{plain}"));
                    }
                }
                Ok(Target::Own(_)) => {}
                Ok(Target::File(path)) if is_native(&path) => return Some("native modules".to_owned()),
                Ok(Target::File(path)) => self.waiting.push_back(path),
                Err(_) if specifier.starts_with("node:") || NODE_ONLY_MODULES.contains(&plain) => {
                    return Some(format!("node:{plain}"));
                }
                // Loading reports it.
                Err(_) => {}
            }
        }
        None
    }
}

/// Returns a name that a module of ours does not export, or that works only in part.
fn missing<'n>(own: &str, names: &'n [String]) -> Option<&'n String> {
    let (_, text, _) = FILES.iter().find(|(name, ..)| *name == own)?;
    let exported = strip::exports(Path::new("own.mjs"), text).unwrap_or_default().names;
    names.iter().find(|name| {
        let is_there = *name == "default" || exported.contains(*name);
        !is_there || IN_PART.contains(&(own, name.as_str()))
    })
}

#[cfg(test)]
mod tests;
