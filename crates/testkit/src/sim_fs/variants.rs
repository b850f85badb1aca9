//! The states of one file, and of the names, that a crash may leave.
//!
//! A file: its durable bytes and any beginning of the changes since, sectors of which may read as zeros. Names: any
//! choice of the changes since the last sync. `newest_only` leaves out what was possible before the latest change.

use std::sync::Arc;

use super::content::Content;
use super::image::{Change, DirNode, FileNode, Image, Ino, Node, set_name};
use crate::rng::Rng;

/// The unit that a disk writes as a whole.
const SECTOR: usize = 512;
/// Up to so many unsynced bytes, every one of them is a place to cut.
const EVERY_BYTE: usize = 4096;
/// The number of drawn cuts if not every byte is one.
const DRAWN_CUTS: u64 = 64;
/// Up to so many unsynced changes of names, every choice of them is tried.
const EVERY_CHOICE: usize = 6;
/// Of longer lists, so many choices are drawn.
const DRAWN_CHOICES: u64 = 24;
/// Older changes than these have surely reached the disk.
const PENDING_LIMIT: usize = 60;

/// Every file a crash may leave of `file`; the last one lost nothing.
pub(super) fn file_variants(file: &FileNode, newest_only: bool, rng: &mut Rng) -> Vec<Arc<FileNode>> {
    let mut contents = Vec::new();
    let total: usize = file.pending.iter().map(written).sum();
    let mut content = file.durable.clone();
    for (position, change) in file.pending.iter().enumerate() {
        let newest = position + 1 == file.pending.len();
        let before = content.clone();
        change.apply(&mut content);
        if newest_only && !newest {
            continue;
        }
        if !newest_only {
            contents.push(before);
        }
        if let Change::Write { at, bytes, .. } = change {
            contents.extend(cuts(*at, bytes.len(), total, rng).map(|len| content.prefix(len)));
        }
    }
    zeroed(file, &content, rng, &mut contents);
    uncut(file, &mut contents);
    contents.push(content);
    contents.into_iter().map(|content| Arc::new(file.settled(content))).collect()
}

/// The lengths at which a write of `len` bytes at `at` may break off.
pub(super) fn cuts(
    at: usize,
    len: usize,
    total: usize,
    rng: &mut Rng,
) -> impl Iterator<Item = usize> + use<> {
    let mut lengths: Vec<usize> = if total <= EVERY_BYTE {
        (at + 1..at + len).collect()
    } else {
        let sectors = (at / SECTOR + 1..=(at + len) / SECTOR).map(|sector| sector * SECTOR);
        let drawn = (0..DRAWN_CUTS).map(|_| at + rng.range(1, len as u64) as usize);
        sectors.chain(drawn).chain([at + 1, at + len - 1]).collect()
    };
    lengths.retain(|cut| (at + 1..at + len).contains(cut));
    lengths.sort_unstable();
    lengths.dedup();
    lengths.into_iter()
}

fn written(change: &Change) -> usize {
    match change {
        Change::Write { bytes, .. } => bytes.len(),
        Change::SetLen(_) => 0,
    }
}

/// The length reached the disk, some sectors did not: they read as zeros.
fn zeroed(file: &FileNode, content: &Content, rng: &mut Rng, contents: &mut Vec<Content>) {
    let sectors = unsynced_sectors(file, content.len());
    let mut with = |chosen: &dyn Fn(usize) -> bool| {
        let mut holed = content.clone();
        for (position, (from, to)) in sectors.iter().enumerate() {
            if chosen(position) {
                holed.zero(*from, *to);
            }
        }
        contents.push(holed);
    };
    let count = sectors.len();
    if count == 0 {
        return;
    }
    with(&|_| true);
    if count > 1 {
        for _ in 0..count.min(8) {
            let one = rng.below(count as u64) as usize;
            with(&|position| position == one);
            with(&|position| position >= one);
        }
        for _ in 0..4 {
            let mask = rng.next_u64();
            with(&|position| mask >> (position % 64) & 1 == 1);
        }
    }
    if file.pending.iter().any(|change| matches!(change, Change::Write { lost: true, .. })) {
        let mut content = file.durable.clone();
        file.pending.iter().for_each(|change| change.apply_without_lost(&mut content));
        contents.push(content);
    }
}

/// The parts of sectors that were written since the last sync.
fn unsynced_sectors(file: &FileNode, len: usize) -> Vec<(usize, usize)> {
    let mut sectors = Vec::new();
    for change in &file.pending {
        let Change::Write { at, bytes, .. } = change else { continue };
        let end = (at + bytes.len()).min(len);
        let mut from = *at;
        while from < end {
            let to = ((from / SECTOR + 1) * SECTOR).min(end);
            sectors.push((from, to));
            from = to;
        }
    }
    sectors
}

/// A cut of the file did not reach the disk, later writes did.
fn uncut(file: &FileNode, contents: &mut Vec<Content>) {
    let cut = file.pending.iter().position(|change| matches!(change, Change::SetLen(_)));
    if cut.is_none_or(|cut| cut + 1 == file.pending.len()) {
        return;
    }
    let mut content = file.durable.clone();
    for change in &file.pending {
        if let Change::Write { .. } = change {
            change.apply(&mut content);
        }
    }
    contents.push(content);
}

/// The directories of one crash state that differ from those of the others.
pub(super) type NameVariant = Vec<(Ino, Arc<DirNode>)>;

/// Every set of directories a crash may leave; the last one lost nothing.
pub(super) fn name_variants(image: &Image, newest_only: bool, rng: &mut Rng) -> Vec<NameVariant> {
    let count = image.pending_names.len();
    let sure = count.saturating_sub(PENDING_LIMIT);
    let mut choices = choices(count - sure, rng);
    if newest_only {
        choices.retain(|choice| choice >> (count - sure - 1) & 1 == 1);
    }
    choices.iter().map(|choice| name_variant(image, sure, *choice)).collect()
}

fn choices(count: usize, rng: &mut Rng) -> Vec<u64> {
    let all = (1_u64 << count) - 1;
    if count <= EVERY_CHOICE {
        return (0..=all).collect();
    }
    let singles = (0..count).flat_map(|bit| [1 << bit, all ^ (1 << bit)]);
    let drawn = (0..DRAWN_CHOICES).map(|_| rng.next_u64() & all);
    let mut choices: Vec<u64> = singles.chain(drawn).chain([0, all]).collect();
    choices.sort_unstable();
    choices.dedup();
    choices
}

fn name_variant(image: &Image, sure: usize, choice: u64) -> NameVariant {
    let mut changed: NameVariant = Vec::new();
    for (ino, node) in image.nodes().iter().enumerate() {
        let touched = image.pending_names.iter().flatten().any(|(dir, ..)| *dir == ino);
        if let Node::Dir(dir) = node
            && touched
        {
            let mut names = dir.durable.clone();
            for (position, change) in image.pending_names.iter().enumerate() {
                if position >= sure && choice >> (position - sure) & 1 == 0 {
                    continue;
                }
                for (_, name, target) in change.iter().filter(|(dir, ..)| *dir == ino) {
                    set_name(&mut names, name, *target);
                }
            }
            let modified = dir.modified;
            changed.push((ino, Arc::new(DirNode { now: names.clone(), durable: names, modified })));
        }
    }
    changed
}
