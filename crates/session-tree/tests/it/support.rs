//! What several promises need to be checked.

pub(crate) mod live;
pub(crate) mod recorded;

use proptest::test_runner::{Config, RngSeed};

/// How much is drawn: with `SOAK=1` a hundred times as much.
pub(crate) fn rounds(quick: u32) -> u32 {
    if is_soak() { quick * 100 } else { quick }
}

/// Draws the same cases in every run, so that a change is what makes a test fail; with `SOAK=1` new ones.
pub(crate) fn drawn(cases: u32) -> Config {
    let rng_seed = if is_soak() { RngSeed::Random } else { RngSeed::Fixed(7) };
    let cases = rounds(cases);
    Config { cases, max_global_rejects: cases, rng_seed, failure_persistence: None, ..Config::default() }
}

fn is_soak() -> bool {
    std::env::var_os("SOAK").is_some()
}
