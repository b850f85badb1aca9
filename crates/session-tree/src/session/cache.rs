//! A cache of decoded lines.

use hashbrown::HashMap;

use crate::entry::Message;
use crate::json::Doc;

/// Documents by row, in two generations: those that are not used while one generation fills up are dropped.
#[derive(Debug)]
pub(super) struct DocCache {
    young: HashMap<u32, CachedLine>,
    old: HashMap<u32, CachedLine>,
    young_bytes: usize,
    limit: usize,
}

/// A decoded line.
#[derive(Debug, Clone)]
struct CachedLine {
    doc: Doc,
    /// The place of the message that a context shows, if it was determined.
    message: Option<u32>,
}

impl Default for DocCache {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_bytes: 0, limit: 32 << 20 }
    }
}

impl DocCache {
    /// Sets the maximum size of all decoded lines in bytes.
    pub(super) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes / 2;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    pub(super) fn get(&mut self, row: u32) -> Option<Doc> {
        self.known(row).map(|known| known.doc.clone())
    }

    /// Returns the message that a context shows for a row.
    pub(super) fn message(&mut self, row: u32) -> Option<Message> {
        let known = self.known(row)?;
        Some(Message::at(&known.doc, known.message?))
    }

    /// Records the message that a context shows for a row, if it is a part of the line.
    pub(super) fn note_message(&mut self, row: u32, message: &Message) {
        if let Some(known) = self.known(row) {
            known.message = message.place_in(&known.doc);
        }
    }

    pub(super) fn put(&mut self, row: u32, doc: Doc) {
        self.keep(row, CachedLine { doc, message: None });
    }

    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
        self.young_bytes = 0;
    }

    fn known(&mut self, row: u32) -> Option<&mut CachedLine> {
        if !self.young.contains_key(&row) {
            let known = self.old.remove(&row)?;
            self.keep(row, known);
        }
        self.young.get_mut(&row)
    }

    fn keep(&mut self, row: u32, known: CachedLine) {
        let size = known.doc.memory();
        if size > self.limit {
            return;
        }
        if self.young_bytes + size > self.limit {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += size;
        self.young.insert(row, known);
    }
}

#[cfg(test)]
mod tests;
