//! The bytes of a simulated file, shared until a write.
//!
//! A crash leaves thousands of prefixes of one file behind: a prefix costs a pointer and a length.

use std::sync::Arc;

/// Bytes of a file; a clone or a prefix shares them.
#[derive(Clone, Default)]
pub(super) struct Content {
    bytes: Arc<Vec<u8>>,
    len: usize,
}

impl Content {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Returns the first bytes; the whole if it is shorter.
    pub(super) fn prefix(&self, len: usize) -> Self {
        Self { bytes: self.bytes.clone(), len: len.min(self.len) }
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.edit(|all| {
            let end = at + bytes.len();
            if all.len() < end {
                all.resize(end, 0);
            }
            all[at..end].copy_from_slice(bytes);
        });
    }

    /// Cuts, or fills up with zeros.
    pub(super) fn set_len(&mut self, len: usize) {
        if len <= self.len {
            self.len = len;
        } else {
            self.edit(|all| all.resize(len, 0));
        }
    }

    /// Puts zeros where the range lies inside.
    pub(super) fn zero(&mut self, from: usize, to: usize) {
        self.edit(|all| {
            let to = to.min(all.len());
            if let Some(range) = all.get_mut(from..to) {
                range.fill(0);
            }
        });
    }

    fn edit(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let whole = self.bytes.len() == self.len;
        match Arc::get_mut(&mut self.bytes).filter(|_| whole) {
            Some(bytes) => {
                change(bytes);
                self.len = bytes.len();
            }
            None => {
                let mut bytes = self.as_slice().to_vec();
                change(&mut bytes);
                self.len = bytes.len();
                self.bytes = Arc::new(bytes);
            }
        }
    }
}
