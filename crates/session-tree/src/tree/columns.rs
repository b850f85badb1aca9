//! The columns of the index: one vector per property, 32 bytes per entry in all.
//!
//! Columns instead of structs, so that a walk touches only what it needs and the sidecar can be read in bulk.

use super::Row;
use crate::kind::{Kind, Role};
use crate::line::Flags;
use crate::time::Timestamp;

/// Marks "no parent".
const NONE: u32 = u32::MAX;

/// The properties of all entries in file order.
#[derive(Debug, Default, Clone)]
pub(crate) struct Columns {
    pub(crate) position: Vec<u64>,
    pub(crate) len: Vec<u32>,
    pub(crate) parent: Vec<u32>,
    pub(crate) id: Vec<u32>,
    pub(crate) time: Vec<i64>,
    /// Kind, role and flags: 8, 8 and 16 bits.
    pub(crate) tag: Vec<u32>,
}

impl Columns {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tag.len()
    }

    pub(crate) fn reserve(&mut self, entries: usize) {
        self.position.reserve(entries);
        self.len.reserve(entries);
        self.parent.reserve(entries);
        self.id.reserve(entries);
        self.time.reserve(entries);
        self.tag.reserve(entries);
    }

    pub(crate) fn push(&mut self, row: Row, id: u32, odd_id: bool, parent: Option<u32>) {
        let mut flags = row.flags | if odd_id { Flags::ODD_ID } else { 0 };
        if row.time.is_none() {
            flags |= Flags::BAD_TIME;
        }
        let before = self.time.last().copied().unwrap_or(0);
        self.position.push(row.position);
        self.len.push(row.len);
        self.parent.push(parent.unwrap_or(NONE));
        self.id.push(id);
        self.time.push(row.time.map_or(before, Timestamp::as_millis));
        self.tag.push(u32::from(row.kind as u8) | u32::from(row.role as u8) << 8 | u32::from(flags) << 16);
    }

    pub(crate) fn place(&self, at: u32) -> (u64, u32) {
        (self.position[at as usize], self.len[at as usize])
    }

    #[inline]
    pub(crate) fn parent(&self, at: u32) -> Option<u32> {
        let parent = self.parent[at as usize];
        (parent != NONE).then_some(parent)
    }

    /// Returns true if a row exists, is part of the tree, and hangs below `parent`.
    #[inline]
    pub(crate) fn is_shown_child(&self, at: u32, parent: u32) -> bool {
        self.parent.get(at as usize) == Some(&parent) && self.flags(at) & Flags::HIDDEN == 0
    }

    pub(crate) fn set_parent(&mut self, at: u32, parent: Option<u32>) {
        self.parent[at as usize] = parent.unwrap_or(NONE);
    }

    pub(crate) fn id(&self, at: u32) -> u32 {
        self.id[at as usize]
    }

    #[inline]
    pub(crate) fn time(&self, at: u32) -> i64 {
        self.time[at as usize]
    }

    #[inline]
    pub(crate) fn kind(&self, at: u32) -> Kind {
        Kind::from_u8(self.tag[at as usize] as u8)
    }

    #[inline]
    pub(crate) fn role(&self, at: u32) -> Role {
        Role::from_u8((self.tag[at as usize] >> 8) as u8)
    }

    #[inline]
    pub(crate) fn flags(&self, at: u32) -> u16 {
        (self.tag[at as usize] >> 16) as u16
    }

    /// Returns the flags of an entry; `None` behind the last one.
    #[inline]
    pub(crate) fn flags_at(&self, index: usize) -> Option<u16> {
        self.tag.get(index).map(|tag| (tag >> 16) as u16)
    }

    pub(crate) fn set_flag(&mut self, at: u32, flag: u16) {
        self.tag[at as usize] |= u32::from(flag) << 16;
    }

    pub(crate) fn clear_flag(&mut self, at: u32, flag: u16) {
        self.tag[at as usize] &= !(u32::from(flag) << 16);
    }
}
