//! A search through many files.

use std::io;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use crate::tool::ToolPlace;
use crate::tools::output::Head;
use crate::tools::work::Cancellable;
use crate::tools::{ResolvedPath, files, output};

/// The maximum number of characters to show of a line.
const MAX_LINE: usize = 500;
/// The maximum memory for one line.
const MAX_LINE_MEMORY: usize = 64 * 1024 * 1024;

/// A running search.
pub(super) struct Search<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    place: &'a ToolPlace,
    limit: usize,
    context: usize,
    pub(super) found: Matches,
}

/// The matches of a search.
#[derive(Debug, Default)]
pub(super) struct Matches {
    pub(super) lines: Head,
    /// True if the next line does not follow the previous one.
    begins_group: bool,
    pub(super) matches: usize,
    /// True if there are more matches than the limit.
    pub(super) is_over: bool,
    pub(super) has_cut_lines: bool,
    /// The number of files that could not be searched.
    pub(super) skipped: usize,
    /// The number of directories that could not be read.
    pub(super) skipped_dirs: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(matcher: RegexMatcher, context: usize, limit: usize, place: &'a ToolPlace) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(context)
            .after_context(context)
            .heap_limit(Some(MAX_LINE_MEMORY))
            .line_number(true)
            .build();
        Search { matcher, searcher, place, limit, context, found: Matches::default() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.found.is_over || self.is_cancelled()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.place.cancel.is_cancelled()
    }

    /// Searches one file.
    pub(super) fn file(&mut self, path: &ResolvedPath) {
        let Ok((file, _)) = files::open(path) else {
            self.found.skipped += 1;
            return;
        };
        let reader = Cancellable { file, cancel: &self.place.cancel };
        let path = path.shown(&self.place.cwd);
        if self.context > 0 && self.found.matches > 0 {
            self.found.begins_group = true;
        }
        let sink = Lines { found: &mut self.found, path: &path, limit: self.limit };
        if self.searcher.search_reader(&self.matcher, reader, sink).is_err() {
            self.found.skipped += 1;
        }
    }
}

/// The separator between groups of lines.
const GROUP: &str = "--\n";

impl Matches {
    fn push(&mut self, path: &str, number: Option<u64>, line: &[u8], sign: char) {
        let line = String::from_utf8_lossy(line);
        let (line, is_cut) = output::short_line(line.trim_end_matches(['\n', '\r']), MAX_LINE);
        self.has_cut_lines |= is_cut;
        let number = number.unwrap_or(0);
        if std::mem::take(&mut self.begins_group) && !self.lines.is_empty() {
            self.lines.push(GROUP);
        }
        self.lines.push(&format!("{path}{sign}{number}{sign} {line}\n"));
    }
}

/// Adds the lines of one file to the matches.
struct Lines<'a> {
    found: &'a mut Matches,
    path: &'a str,
    limit: usize,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.found.matches == self.limit {
            self.found.is_over = true;
            return Ok(false);
        }
        self.found.matches += 1;
        self.found.push(self.path, found.line_number(), found.bytes(), ':');
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.found.push(self.path, context.line_number(), context.bytes(), '-');
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.found.begins_group = true;
        Ok(true)
    }
}
