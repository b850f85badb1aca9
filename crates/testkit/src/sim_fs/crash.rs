//! All disks that a crash may leave behind, one after the other.
//!
//! For every prefix of the log: a killed process, which loses nothing but the rest of a write, and a power cut,
//! which leaves of each file and of the names one of their variants, whatever the others did.

use std::sync::Arc;
use std::vec::IntoIter;

use super::SimFs;
use super::image::{FileNode, Image, Ino, Node, Op};
use super::variants::{NameVariant, cuts, file_variants, name_variants};
use crate::rng::Rng;

/// Up to so many combinations at one point in time are all tried; of more, a part is drawn.
const EVERY_COMBINATION: usize = 8192;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// The process was killed: what it wrote is there.
    Kill,
    /// The machine lost its power: what was not synced may be there or not.
    PowerCut,
}

/// A disk after a crash.
#[derive(Debug)]
pub struct CrashState {
    /// The disk, ready to be used.
    pub fs: SimFs,
    /// How many changes were complete: what was acknowledged at a smaller or equal [`SimFs::op_count`] counts.
    pub completed: usize,
    /// How the program ended.
    pub kind: CrashKind,
    /// The number of this state, for running it alone: `crash_states(seed).nth(number)`.
    pub number: usize,
}

/// All disks that a crash may leave behind.
pub struct CrashStates {
    image: Image,
    log: IntoIter<Op>,
    completed: usize,
    number: usize,
    rng: Rng,
    batch: Batch,
}

/// The states of one point in time, before they are built.
#[derive(Default)]
struct Batch {
    files: Vec<Variants>,
    names: Vec<NameVariant>,
    /// Per state: which variant of each file, and which of the names.
    power_cuts: IntoIter<(Vec<u32>, u32)>,
    kills: IntoIter<Kill>,
}

struct Variants {
    ino: Ino,
    variants: Vec<Arc<FileNode>>,
}

/// A killed process; perhaps in the middle of a write.
struct Kill {
    torn: Option<(Ino, usize)>,
}

impl CrashStates {
    /// Starts at a disk after `completed` changes, before those of `log`.
    pub(super) fn new(image: Image, log: Vec<Op>, completed: usize, seed: u64) -> Self {
        let (log, rng) = (log.into_iter(), Rng::new(seed));
        let mut states = Self { image, log, completed, number: 0, rng, batch: Batch::default() };
        states.batch = states.plan(None);
        states
    }

    /// Lists the states at the point that is reached; `op` is the change that led there.
    fn plan(&mut self, op: Option<&Op>) -> Batch {
        // What a change adds to what could happen before it is tried here; the rest was tried there. When a sync
        // narrows the possibilities, what it promised is new, so everything is tried again; so at the end.
        let last = self.log.len() == 0;
        let newest_file = match op {
            Some(Op::Write { ino, .. } | Op::SetLen { ino, .. }) if !last => Some(*ino),
            _ => None,
        };
        let newest_name = !last
            && matches!(
                op,
                Some(
                    Op::CreateFile { .. }
                        | Op::CreateDir { .. }
                        | Op::Link { .. }
                        | Op::Rename { .. }
                        | Op::Remove { .. }
                )
            );
        let mut files = Vec::new();
        for (ino, node) in self.image.nodes().iter().enumerate() {
            let Node::File(file) = node else { continue };
            if !file.is_settled() {
                let variants = file_variants(file, newest_file == Some(ino), &mut self.rng);
                files.push(Variants { ino, variants });
            }
        }
        let names = name_variants(&self.image, newest_name, &mut self.rng);
        let power_cuts = self.combine(&files, names.len(), newest_file).into_iter();
        Batch { power_cuts, kills: self.kills(op).into_iter(), files, names }
    }

    /// Combines variants of files with those of names: all of them, or each at least twice.
    fn combine(&mut self, files: &[Variants], names: usize, newest: Option<Ino>) -> Vec<(Vec<u32>, u32)> {
        let contents = file_combinations(files, newest);
        let all_names = 0..names as u32;
        if contents.len() * names <= EVERY_COMBINATION {
            let pairs = contents.iter().flat_map(|c| all_names.clone().map(|n| (c.clone(), n)));
            return pairs.collect();
        }
        let mut pairs = Vec::new();
        for content in &contents {
            pairs.push((content.clone(), names as u32 - 1));
            pairs.push((content.clone(), self.rng.below(names as u64) as u32));
        }
        for name in all_names {
            pairs.extend(contents.last().map(|content| (content.clone(), name)));
            pairs.push((self.rng.pick(&contents).clone(), name));
        }
        pairs
    }

    fn kills(&mut self, op: Option<&Op>) -> Vec<Kill> {
        let mut kills = Vec::new();
        if let Some(Op::Write { ino, bytes }) = op
            && let Some(file) = self.image.file(*ino)
        {
            let at = file.now.len() - bytes.len();
            let lengths = cuts(at, bytes.len(), bytes.len(), &mut self.rng);
            kills.extend(lengths.map(|len| Kill { torn: Some((*ino, len)) }));
        }
        kills.push(Kill { torn: None });
        kills
    }

    fn power_cut(&self, files: &[u32], names: u32) -> Image {
        let mut image = self.image.clone();
        for (file, chosen) in self.batch.files.iter().zip(files) {
            image.set_node(file.ino, Node::File(file.variants[*chosen as usize].clone()));
        }
        for (ino, dir) in &self.batch.names[names as usize] {
            image.set_node(*ino, Node::Dir(dir.clone()));
        }
        image.forget_pending();
        image
    }

    fn kill(&self, kill: &Kill) -> Image {
        let mut image = self.image.remounted();
        if let Some((ino, len)) = kill.torn
            && let Some(file) = image.file(ino)
        {
            let torn = file.settled(file.now.prefix(len));
            image.set_node(ino, Node::File(Arc::new(torn)));
        }
        image
    }

    fn state(&mut self, image: Image, completed: usize, kind: CrashKind) -> CrashState {
        let number = self.number;
        self.number += 1;
        CrashState { fs: SimFs::mounted(image), completed, kind, number }
    }
}

impl Iterator for CrashStates {
    type Item = CrashState;

    fn next(&mut self) -> Option<CrashState> {
        loop {
            if let Some((files, names)) = self.batch.power_cuts.next() {
                let image = self.power_cut(&files, names);
                return Some(self.state(image, self.completed, CrashKind::PowerCut));
            }
            if let Some(kill) = self.batch.kills.next() {
                let image = self.kill(&kill);
                let completed = self.completed - usize::from(kill.torn.is_some());
                return Some(self.state(image, completed, CrashKind::Kill));
            }
            let op = self.log.next()?;
            self.image.apply(&op);
            self.completed += 1;
            self.batch = self.plan(Some(&op));
        }
    }
}

/// Which variant of each file: every variant of each file, while the others lost everything or nothing.
fn file_combinations(files: &[Variants], newest: Option<Ino>) -> Vec<Vec<u32>> {
    let end = |file: &Variants| file.variants.len() as u32 - 1;
    let mut combinations = Vec::new();
    for (varied, file) in files.iter().enumerate() {
        if newest.is_some_and(|ino| ino != file.ino) {
            continue;
        }
        for variant in 0..=end(file) {
            for others_lost in [true, false] {
                let choose = |(position, other): (usize, &Variants)| match position == varied {
                    true => variant,
                    false if others_lost => 0,
                    false => end(other),
                };
                combinations.push(files.iter().enumerate().map(choose).collect());
                if files.len() == 1 {
                    break;
                }
            }
        }
    }
    if combinations.is_empty() {
        combinations.push(Vec::new());
    }
    combinations
}
