//! Decoded lines that are likely to be asked for again.

use std::collections::HashMap;

use crate::json::Doc;

/// Documents by row, in two generations: what is not asked for while one generation fills up is forgotten.
#[derive(Debug)]
pub(super) struct DocCache {
    young: HashMap<u32, Doc>,
    old: HashMap<u32, Doc>,
    young_bytes: usize,
    limit: usize,
}

impl Default for DocCache {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_bytes: 0, limit: 32 << 20 }
    }
}

impl DocCache {
    /// Sets how many bytes of lines are kept, at the most.
    pub(super) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes / 2;
    }

    pub(super) fn get(&mut self, row: u32) -> Option<Doc> {
        if let Some(doc) = self.young.get(&row) {
            return Some(doc.clone());
        }
        let doc = self.old.remove(&row)?;
        self.put(row, doc.clone());
        Some(doc)
    }

    pub(super) fn put(&mut self, row: u32, doc: Doc) {
        let size = doc.text().len();
        if size > self.limit {
            return;
        }
        if self.young_bytes + size > self.limit {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += size;
        self.young.insert(row, doc);
    }

    pub(super) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
        self.young_bytes = 0;
    }
}
