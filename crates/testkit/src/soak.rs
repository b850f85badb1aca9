//! How much a test draws: a little in every run, a hundred times as much with `SOAK=1`.

/// Tells whether hours may be spent.
pub fn is_soak() -> bool {
    std::env::var_os("SOAK").is_some()
}

/// Returns how often something is done.
pub fn rounds(quick: u32) -> u32 {
    if is_soak() { quick.saturating_mul(100) } else { quick }
}
