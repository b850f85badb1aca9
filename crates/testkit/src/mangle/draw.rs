//! The choices of the generator, in the shapes that it needs.
//!
//! Uses `rng`. Never touches clocks or system randomness.

use crate::rng::Rng;

/// A stream of choices that depends on nothing but a seed and the index of a file.
pub(super) struct Draw(Rng);

impl Draw {
    /// Starts the stream of one file.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        // An odd factor keeps the streams of neighbouring files and seeds apart.
        Self(Rng::new(seed ^ index.wrapping_add(1).wrapping_mul(0xd134_2543_de82_ef95)))
    }

    /// Returns the next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `end`, or 0 when `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.below(end as u64)).unwrap_or(0)
    }

    /// Returns a number from `low` up to and including `high`.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Says yes in `percent` of all cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Picks one of `items`, which must not be empty.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        self.0.pick(items)
    }

    /// Brings `items` into a drawn order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}
