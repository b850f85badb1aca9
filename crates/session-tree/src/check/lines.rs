//! The pass over all lines: checks that each is JSON and UTF-8 and has no field of the envelope twice.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use super::pieces::{self, FusedEntry};
use crate::diagnostic::{Diagnostic, Problem};
use crate::entry::{check_content, check_message};
use crate::id::EntryId;
use crate::index::{LONGEST_LINE, LineAt};
use crate::journal::{Piece, each_line, read_range};
use crate::json::{self, Doc, ValueRef};
use crate::kind::Kind;
use crate::session::Session;
use crate::tree::Node;

/// The result of the pass.
#[derive(Debug, Default)]
pub(super) struct LineScan {
    pub(super) lines: u64,
    pub(super) bytes: u64,
    /// Lines that are not JSON, in file order.
    pub(super) bad: Vec<BadLine>,
    /// Problems of lines that are JSON.
    pub(super) found: Vec<Diagnostic>,
    /// Entries that name other entries in their bodies.
    pub(super) naming: Vec<Node>,
    /// Entries whose lines are not JSON.
    pub(super) damaged: Vec<Node>,
    /// Entries whose lines are not JSON, each with an earlier line of the same id that is.
    pub(super) earlier: HashMap<Node, Node>,
}

/// A line that is not JSON.
#[derive(Debug)]
pub(super) struct BadLine {
    pub(super) number: u64,
    pub(super) bytes: Range<u64>,
    /// Its row in the tree, if its id and its parent could be read.
    pub(super) node: Option<Node>,
    pub(super) reason: &'static str,
    /// True for a last line without line feed.
    pub(super) is_torn: bool,
    /// Whole entries on the line.
    pub(super) pieces: Vec<FusedEntry>,
    /// True if something else is on the line.
    pub(super) has_rest: bool,
    pub(super) nuls: Option<Range<u64>>,
    pub(super) id_hint: Option<EntryId>,
    pub(super) parent_hint: Option<EntryId>,
}

impl BadLine {
    pub(super) fn is_glued(&self) -> bool {
        self.pieces.len() + usize::from(self.has_rest) > 1 && !self.pieces.is_empty()
    }
}

impl LineScan {
    /// Returns true if a line, by its number, is not JSON.
    pub(super) fn is_bad(&self, number: u64) -> bool {
        self.bad.binary_search_by_key(&number, |bad| bad.number).is_ok()
    }

    /// Returns true if the line of an entry is not JSON.
    pub(super) fn is_damaged(&self, node: Node) -> bool {
        self.damaged.binary_search(&node).is_ok()
    }
}

impl Session {
    /// Reads every line in full.
    pub(super) fn scan_lines(&self) -> io::Result<LineScan> {
        let index = &self.index;
        let to = index.torn.as_ref().map_or(index.end, |torn| torn.end);
        let mut scan = LineScan { bytes: to, ..LineScan::default() };
        let mut known = index.lines().peekable();
        each_line(&*self.journal, 0, to, &mut |position, piece, ended| {
            scan.lines += 1;
            let node = match known.next_if(|line| index.place_of(*line).0 == position) {
                Some(LineAt::Row(node)) => Some(node),
                Some(LineAt::NonEntry(_)) | None => None,
            };
            let at = LinePosition { session: self, number: scan.lines, position, node, ended };
            match piece {
                Piece::Whole(line) => at.check(line, &mut scan),
                Piece::Ends { len, .. } if len > LONGEST_LINE => {
                    // A line without a place in the tree was reported when it was loaded.
                    if node.is_some() {
                        scan.found.push(at.diagnostic(0..len, Problem::LineTooLong { length: len }));
                    }
                }
                Piece::Ends { len, .. } => {
                    at.check(&read_range(&*self.journal, position, len as usize)?, &mut scan);
                }
            }
            Ok(())
        })?;
        let hides_whole = |(old, new): &(Node, Node)| scan.is_damaged(*new) && !scan.is_damaged(*old);
        scan.earlier = self.tree().moved_ids().filter(hides_whole).map(|(old, new)| (new, old)).collect();
        Ok(scan)
    }
}

/// The position of a line.
struct LinePosition<'s> {
    session: &'s Session,
    number: u64,
    position: u64,
    node: Option<Node>,
    ended: bool,
}

impl LinePosition<'_> {
    fn check(&self, line: &[u8], scan: &mut LineScan) {
        let text = if self.position == 0 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if let Err(error) = std::str::from_utf8(line) {
            let from = error.valid_up_to() as u64;
            let bytes = from..from + error.error_len().unwrap_or(1) as u64;
            scan.found.push(self.diagnostic(bytes, Problem::InvalidUtf8));
        }
        match Doc::parse(text) {
            Err(_) if crate::line::trim(text).is_empty() => {}
            Err(error) => {
                scan.damaged.extend(self.node);
                scan.bad.push(self.bad_line(line, error.reason));
            }
            Ok(doc) => {
                let Some(node) = self.node else { return };
                self.check_entry(node, doc.root(), scan);
                let id = self.session.tree().id(node);
                let message = doc.root().get("message").filter(|message| has_repeated(*message, "role"));
                let repeated = ENVELOPE.into_iter().filter(|key| has_repeated(doc.root(), key));
                for key in repeated.chain(message.map(|_| "message.role")) {
                    let problem = Problem::DuplicateKey { id: id.clone(), key: key.to_owned() };
                    scan.found.push(self.diagnostic(0..line.len() as u64, problem));
                }
            }
        }
    }

    fn check_entry(&self, node: Node, entry: ValueRef<'_>, scan: &mut LineScan) {
        let (tree, len) = (self.session.tree(), entry.raw().len() as u64);
        if tree.node_at(node.index()).is_none() {
            return;
        }
        if matches!(tree.kind(node), Kind::Label | Kind::Compaction) {
            scan.naming.push(node);
        }
        if tree.has_bad_timestamp(node) {
            let problem = Problem::BadTimestamp { id: tree.id(node) };
            scan.found.push(self.diagnostic(0..len, problem));
        }
        if let Some(problem) = self.message_problem(node, entry) {
            scan.found.push(self.diagnostic(0..len, problem));
        }
    }

    /// Checks the message of an entry by the rules for messages that are written.
    fn message_problem(&self, node: Node, entry: ValueRef<'_>) -> Option<Problem> {
        let tree = self.session.tree();
        let checked = match tree.kind(node) {
            Kind::Message => {
                match entry.get("message").filter(|message| message.kind() == json::Kind::Object) {
                    Some(message) => check_message(message).map(drop),
                    None => return Some(Problem::NoMessage { id: tree.id(node) }),
                }
            }
            Kind::CustomMessage => entry.get("content").map_or(Ok(()), check_content),
            _ => return None,
        };
        checked.err().map(|reason| Problem::InvalidMessage { id: tree.id(node), reason })
    }

    fn bad_line(&self, line: &[u8], reason: &'static str) -> BadLine {
        let (pieces, has_rest) = pieces::split(line, self.position);
        BadLine {
            number: self.number,
            bytes: self.position..self.position + line.len() as u64,
            node: self.node,
            reason,
            is_torn: !self.ended,
            pieces,
            has_rest,
            nuls: pieces::nul_run(line, self.position),
            id_hint: pieces::find_field(line, "id").map(EntryId::from),
            parent_hint: pieces::find_field(line, "parentId").map(EntryId::from),
        }
    }

    fn diagnostic(&self, bytes: Range<u64>, problem: Problem) -> Diagnostic {
        let bytes = self.position + bytes.start..self.position + bytes.end;
        Diagnostic { line: self.number, bytes, problem }
    }
}

/// The fields that every entry has.
const ENVELOPE: [&str; 4] = ["type", "id", "parentId", "timestamp"];

/// Returns true if an object has several members of this name.
fn has_repeated(object: ValueRef<'_>, key: &str) -> bool {
    object.members().filter(|(name, _)| name.is_str(key)).nth(1).is_some()
}
