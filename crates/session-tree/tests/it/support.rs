//! Helpers of several tests.

pub(crate) mod live;
pub(crate) mod recorded;
pub(crate) mod two_branches;

use proptest::test_runner::{Config, RngSeed};
use testkit::soak::{is_soak, rounds};

/// Draws the same cases in every run, so that only a code change makes a test fail; with `SOAK=1` new ones.
pub(crate) fn drawn(cases: u32) -> Config {
    let rng_seed = if is_soak() { RngSeed::Random } else { RngSeed::Fixed(7) };
    let cases = rounds(cases);
    Config { cases, max_global_rejects: cases, rng_seed, failure_persistence: None, ..Config::default() }
}
