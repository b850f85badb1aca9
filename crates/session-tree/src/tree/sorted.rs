//! Ids that came from a sidecar.

/// Ids of a stored tree, sorted, so that looking one up needs no table to be built first.
#[derive(Debug, Default)]
pub(super) struct SortedIds {
    /// Numbers of hex ids with their rows, sorted.
    pub(super) pairs: Vec<u64>,
}

impl SortedIds {
    pub(super) fn find(&self, number: u32) -> Option<u32> {
        let at = self.pairs.partition_point(|pair| (pair >> 32) < u64::from(number));
        let pair = self.pairs.get(at)?;
        (pair >> 32 == u64::from(number)).then_some(*pair as u32)
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }
}
