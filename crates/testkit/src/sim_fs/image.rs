//! The state of a simulated disk: what programs see, what is durable, and the changes between the two.
//!
//! Changes come in as [`Op`]s only, so that a log of them rebuilds every state in between.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use session_tree::Timestamp;
use session_tree::fs::{FileId, Meta};

use super::content::Content;

/// The number of a file or directory.
pub(super) type Ino = usize;
/// One component of a path.
pub(super) type Name = Arc<OsStr>;
/// The entries of a directory.
pub(super) type Names = BTreeMap<Name, Ino>;

/// The root directory.
pub(super) const ROOT: Ino = 0;

/// The time of an empty disk, in milliseconds.
const EPOCH: i64 = 1_700_000_000_000;

/// One change of the disk.
#[derive(Debug, Clone)]
pub(super) enum Op {
    CreateFile { dir: Ino, name: Name, mode: u32 },
    CreateDir { dir: Ino, name: Name },
    Write { ino: Ino, bytes: Arc<[u8]> },
    SetLen { ino: Ino, len: usize },
    SetMode { ino: Ino, mode: u32 },
    Sync { ino: Ino, honest: bool },
    SyncFailed { ino: Ino },
    Link { dir: Ino, name: Name, ino: Ino },
    Rename { from: (Ino, Name), to: (Ino, Name) },
    Remove { dir: Ino, name: Name },
    SyncDir { dir: Ino, honest: bool },
}

/// A change of a file that is not durable yet.
#[derive(Clone)]
pub(super) enum Change {
    /// `lost`: a sync failed afterwards, and no later one will write these bytes.
    Write {
        at: usize,
        bytes: Arc<[u8]>,
        lost: bool,
    },
    SetLen(usize),
}

#[derive(Clone)]
pub(super) struct FileNode {
    pub(super) now: Content,
    pub(super) durable: Content,
    pub(super) pending: Vec<Change>,
    /// True if a failed sync lost bytes: programs see other data than the disk has, although nothing is pending.
    pub(super) spoiled: bool,
    pub(super) modified: i64,
    pub(super) mode: u32,
}

#[derive(Clone, Default)]
pub(super) struct DirNode {
    pub(super) now: Names,
    pub(super) durable: Names,
    pub(super) modified: i64,
}

#[derive(Clone)]
pub(super) enum Node {
    File(Arc<FileNode>),
    Dir(Arc<DirNode>),
}

/// A change of names that happens as a whole or not at all: each name gets a file, or none.
pub(super) type NameChange = Vec<(Ino, Name, Option<Ino>)>;

/// A whole disk; a clone shares everything until it is changed.
#[derive(Clone)]
pub(super) struct Image {
    nodes: Vec<Node>,
    pub(super) pending_names: Vec<NameChange>,
    clock: i64,
}

impl FileNode {
    /// A file that lost whatever was not in `content`.
    pub(super) fn settled(&self, content: Content) -> Self {
        Self { now: content.clone(), durable: content, pending: Vec::new(), spoiled: false, ..*self }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty() && !self.spoiled
    }

    fn sync(&mut self) {
        let lost = self.pending.iter().any(|change| matches!(change, Change::Write { lost: true, .. }));
        if lost || self.spoiled {
            let pending = std::mem::take(&mut self.pending);
            pending.iter().for_each(|change| change.apply_without_lost(&mut self.durable));
            self.spoiled = true;
        } else {
            self.durable = self.now.clone();
            self.pending.clear();
        }
    }
}

impl Change {
    pub(super) fn apply(&self, content: &mut Content) {
        match self {
            Change::Write { at, bytes, .. } => content.write(*at, bytes),
            Change::SetLen(len) => content.set_len(*len),
        }
    }

    /// Applies the change, with zeros for bytes that a failed sync has dropped.
    pub(super) fn apply_without_lost(&self, content: &mut Content) {
        self.apply(content);
        if let Change::Write { at, bytes, lost: true } = self {
            content.zero(*at, at + bytes.len());
        }
    }
}

impl Image {
    pub(super) fn new() -> Self {
        let root = DirNode { modified: EPOCH, ..DirNode::default() };
        Self { nodes: vec![Node::Dir(Arc::new(root))], pending_names: Vec::new(), clock: EPOCH }
    }

    /// Returns the disk as it is when everything that programs saw has reached it.
    pub(super) fn remounted(&self) -> Self {
        let mut image = self.clone();
        image.pending_names.clear();
        image.clock += 1_000;
        for node in &mut image.nodes {
            match node {
                Node::File(file) if !file.is_settled() => {
                    *file = Arc::new(file.settled(file.now.clone()));
                }
                Node::Dir(dir) if !self.pending_names.is_empty() => {
                    let dir = Arc::make_mut(dir);
                    dir.durable = dir.now.clone();
                }
                Node::File(_) | Node::Dir(_) => {}
            }
        }
        image
    }

    pub(super) fn node(&self, ino: Ino) -> &Node {
        // Numbers are only handed out for nodes, and nodes are never removed.
        &self.nodes[ino]
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn set_node(&mut self, ino: Ino, node: Node) {
        self.nodes[ino] = node;
    }

    pub(super) fn next_ino(&self) -> Ino {
        self.nodes.len()
    }

    pub(super) fn file(&self, ino: Ino) -> Option<&FileNode> {
        match self.node(ino) {
            Node::File(file) => Some(file),
            Node::Dir(_) => None,
        }
    }

    pub(super) fn entry(&self, dir: Ino, name: &OsStr) -> Option<Ino> {
        match self.node(dir) {
            Node::Dir(dir) => dir.now.get(name).copied(),
            Node::File(_) => None,
        }
    }

    pub(super) fn lookup(&self, dir: Ino, name: &OsStr) -> io::Result<Ino> {
        match self.node(dir) {
            Node::Dir(_) => self.entry(dir, name).ok_or_else(|| io::ErrorKind::NotFound.into()),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn names(&self, dir: Ino) -> impl Iterator<Item = &OsStr> {
        let names = match self.node(dir) {
            Node::Dir(dir) => Some(dir.now.keys()),
            Node::File(_) => None,
        };
        names.into_iter().flatten().map(|name| &**name)
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        let mut open = vec![(ROOT, PathBuf::from("/"))];
        while let Some((ino, path)) = open.pop() {
            match self.node(ino) {
                Node::File(_) => paths.push(path),
                Node::Dir(dir) => {
                    open.extend(dir.now.iter().map(|(name, ino)| (*ino, path.join(&**name))));
                }
            }
        }
        paths.sort();
        paths
    }

    /// The bytes of all files that have a name.
    pub(super) fn used(&self) -> u64 {
        let mut named: Vec<Ino> = Vec::new();
        for node in &self.nodes {
            if let Node::Dir(dir) = node {
                named.extend(dir.now.values());
            }
        }
        named.sort_unstable();
        named.dedup();
        named.iter().filter_map(|ino| self.file(*ino)).map(|file| file.now.len() as u64).sum()
    }

    pub(super) fn meta(&self, ino: Ino) -> Meta {
        let (len, modified, mode) = match self.node(ino) {
            Node::File(file) => (file.now.len() as u64, file.modified, file.mode),
            Node::Dir(dir) => (0, dir.modified, 0o700),
        };
        let is_dir = matches!(self.node(ino), Node::Dir(_));
        Meta {
            len,
            modified: Timestamp::from_millis(modified),
            changed: modified * 1_000_000,
            id: FileId { device: 1, number: ino as u64 },
            is_file: !is_dir,
            is_dir,
            mode,
        }
    }

    pub(super) fn apply(&mut self, op: &Op) {
        self.clock += 1;
        match op {
            Op::CreateFile { dir, name, mode } => self.create_file(*dir, name, *mode),
            Op::CreateDir { dir, name } => self.create_dir(*dir, name),
            Op::Write { ino, bytes } => self.write(*ino, bytes),
            Op::SetLen { ino, len } => self.set_len(*ino, *len),
            Op::SetMode { ino, mode } => self.change_file(*ino, |file| file.mode = *mode),
            Op::Sync { ino, honest: true } => self.change_file(*ino, FileNode::sync),
            Op::SyncFailed { ino } => self.change_file(*ino, lose_pending),
            Op::Link { dir, name, ino } => self.rename(vec![(*dir, name.clone(), Some(*ino))]),
            Op::Rename { from, to } => {
                let ino = self.entry(from.0, &from.1);
                self.rename(vec![(from.0, from.1.clone(), None), (to.0, to.1.clone(), ino)]);
            }
            Op::Remove { dir, name } => self.rename(vec![(*dir, name.clone(), None)]),
            Op::SyncDir { dir, honest: true } => self.sync_dir(*dir),
            Op::Sync { honest: false, .. } | Op::SyncDir { honest: false, .. } => {}
        }
    }

    fn create_file(&mut self, dir: Ino, name: &Name, mode: u32) {
        let ino = self.next_ino();
        let file = FileNode {
            now: Content::default(),
            durable: Content::default(),
            pending: Vec::new(),
            spoiled: false,
            modified: self.clock,
            mode,
        };
        self.nodes.push(Node::File(Arc::new(file)));
        self.rename(vec![(dir, name.clone(), Some(ino))]);
    }

    fn create_dir(&mut self, dir: Ino, name: &Name) {
        let ino = self.next_ino();
        self.nodes.push(Node::Dir(Arc::new(DirNode { modified: self.clock, ..DirNode::default() })));
        self.rename(vec![(dir, name.clone(), Some(ino))]);
    }

    fn write(&mut self, ino: Ino, bytes: &Arc<[u8]>) {
        let clock = self.clock;
        self.change_file(ino, |file| {
            let at = file.now.len();
            file.now.write(at, bytes);
            file.pending.push(Change::Write { at, bytes: bytes.clone(), lost: false });
            file.modified = clock;
        });
    }

    fn set_len(&mut self, ino: Ino, len: usize) {
        let clock = self.clock;
        self.change_file(ino, |file| {
            file.now.set_len(len);
            file.pending.push(Change::SetLen(len));
            file.modified = clock;
        });
    }

    fn change_file(&mut self, ino: Ino, change: impl FnOnce(&mut FileNode)) {
        if let Some(Node::File(file)) = self.nodes.get_mut(ino) {
            change(Arc::make_mut(file));
        }
    }

    /// Changes names for programs to see; the change waits for a sync.
    fn rename(&mut self, change: NameChange) {
        let clock = self.clock;
        for (dir, name, ino) in &change {
            if let Some(Node::Dir(dir)) = self.nodes.get_mut(*dir) {
                let dir = Arc::make_mut(dir);
                set_name(&mut dir.now, name, *ino);
                dir.modified = clock;
            }
        }
        self.pending_names.push(change);
    }

    fn sync_dir(&mut self, synced: Ino) {
        for change in std::mem::take(&mut self.pending_names) {
            if change.iter().all(|(dir, ..)| *dir != synced) {
                self.pending_names.push(change);
                continue;
            }
            for (dir, name, ino) in &change {
                if let Some(Node::Dir(dir)) = self.nodes.get_mut(*dir) {
                    set_name(&mut Arc::make_mut(dir).durable, name, *ino);
                }
            }
        }
    }

    /// Prepares for a crash state: nothing is pending, and the clock has moved on.
    pub(super) fn forget_pending(&mut self) {
        self.pending_names.clear();
        self.clock += 1_000;
    }
}

pub(super) fn set_name(names: &mut Names, name: &Name, ino: Option<Ino>) {
    match ino {
        Some(ino) => names.insert(name.clone(), ino),
        None => names.remove(name),
    };
}

/// After a failed sync the system calls its pages clean: what was pending will not be written by a later one.
fn lose_pending(file: &mut FileNode) {
    for change in &mut file.pending {
        if let Change::Write { lost, .. } = change {
            *lost = true;
        }
    }
}
