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

use crate::engine::{BUILTIN, resolved};
use crate::strip::{Facts, compile, exported_names};

/// Modules of Node, without those that the embedded engine has.
const OF_NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain \
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl sea sqlite stream \
    string_decoder test timers tls trace_events tty url util v8 vm wasi worker_threads zlib";

/// Global names of Node that the embedded engine does not have.
const GLOBALS: &str = "fetch Request Response Headers FormData Blob File WebSocket WebAssembly Intl ReadableStream WritableStream \
    TransformStream MessageChannel MessagePort BroadcastChannel SharedArrayBuffer Atomics require __dirname __filename";

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
            Some("node") => return Some("native modules".to_owned()),
            Some("wasm") => return Some("WebAssembly".to_owned()),
            _ => {}
        }
        // An error is reported when the file is loaded.
        let text = fs::read_to_string(file).ok()?;
        let facts = compile(file, &text).ok()?.facts;
        let global = GLOBALS.split_whitespace().find(|name| facts.globals.contains(*name));
        if facts.is_commonjs() {
            return Some("CommonJS modules".to_owned());
        }
        self.of_imports(file, &facts).or_else(|| global.map(|name| format!("`{name}`")))
    }

    fn of_imports(&mut self, file: &Path, facts: &Facts) -> Option<String> {
        let base = file.to_string_lossy();
        for specifier in &facts.imports {
            let plain = specifier.strip_prefix("node:").unwrap_or(specifier);
            if let Some((_, text, _)) = BUILTIN.iter().find(|(.., names)| names.contains(&plain)) {
                let missing = facts.named.get(specifier).and_then(|names| missing(text, names));
                if let Some(name) = missing.filter(|_| is_of_node(plain)) {
                    return Some(format!("`{name}` of node:{plain}"));
                }
            } else if specifier.starts_with("node:") || is_of_node(plain) {
                return Some(format!("node:{plain}"));
            } else if let Ok(path) = resolved(&base, specifier) {
                self.waiting.push_back(PathBuf::from(path));
            }
        }
        None
    }
}

/// Returns true for a module of Node, or a part of one such as `fs/promises`.
fn is_of_node(name: &str) -> bool {
    let module = name.split('/').next().unwrap_or_default();
    OF_NODE.split_whitespace().any(|one| one == module)
}

/// Returns a name that a module of ours does not export.
fn missing<'n>(text: &str, names: &'n [String]) -> Option<&'n String> {
    let exported = exported_names(text);
    names.iter().find(|name| *name != "default" && !exported.contains(*name))
}

#[cfg(test)]
mod tests;
