//! A small seeded generator: the same seed gives the same numbers on every machine.
//!
//! Everything random in the test kit draws from here, so that a failure or a file can be made again from its
//! seed. Only integer arithmetic, multiplication and addition are used: no result depends on the platform's
//! mathematical library. Not for secrets, and never seeded from the clock.

/// A xoshiro256++ generator, seeded through splitmix64.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Makes the generator of a seed. Every seed is good, zero included.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        Self { state: std::array::from_fn(|_| splitmix64(&mut counter)) }
    }

    /// Draws 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let drawn = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        drawn
    }

    /// Draws a number below `bound`; zero when `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product: as even as a division and much faster.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws a number from `low` to `high`, both included; `low` when the range is empty.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// Says yes with the given probability: never at 0, always at 1.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Draws a fraction from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Picks one of `items`.
    ///
    /// # Panics
    ///
    /// Panics when `items` is empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// Draws a heavy-tailed size: half of the draws lie below `median`, and the others may be far above.
    ///
    /// The binary logarithm of the size is bell-shaped with the standard deviation `spread`; no draw exceeds
    /// `limit`. With a spread of 2 one draw in twenty is about ten times the median.
    pub fn size(&mut self, median: f64, spread: f64, limit: u64) -> u64 {
        let size = median * power_of_two(self.bell() * spread);
        (size as u64).min(limit)
    }

    /// Draws from a bell curve with mean 0 and deviation 1: a sum of sixteen small even draws.
    fn bell(&mut self) -> f64 {
        let sum: u64 = (0..4)
            .map(|_| {
                let bits = self.next_u64();
                (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48)
            })
            .sum();
        // Sixteen draws from 0..65536 have the mean 8 * 65535 and the deviation 65536 * sqrt(16 / 12).
        (sum as f64 - 524_280.0) / 75_674.453
    }
}

/// Gives one number of the splitmix64 sequence and moves its counter on.
fn splitmix64(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *counter;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Computes a power of two to about half a percent, in the same bits everywhere.
fn power_of_two(exponent: f64) -> f64 {
    let whole = exponent.floor();
    let part = exponent - whole;
    let mantissa = 1.0 + part * (0.6565 + part * 0.3435);
    let shift = (whole.abs() as u32).min(62);
    let factor = (1_u64 << shift) as f64;
    if whole < 0.0 { mantissa / factor } else { mantissa * factor }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn a_seed_gives_the_same_numbers_again_and_another_seed_gives_others() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            std::array::from_fn::<u64, 4, _>(|_| rng.next_u64())
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(draw(0), [0; 4]);
    }

    #[test]
    fn draws_stay_in_their_range_and_reach_both_ends() {
        let mut rng = Rng::new(1);
        let drawn: Vec<u64> = (0..1000).map(|_| rng.range(3, 7)).collect();
        assert_eq!(drawn.iter().min(), Some(&3));
        assert_eq!(drawn.iter().max(), Some(&7));
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.range(5, 5), 5);
    }

    #[test]
    fn chance_follows_its_probability() {
        let mut rng = Rng::new(2);
        let yes = (0..10_000).filter(|_| rng.chance(0.25)).count();
        assert!((2300..2700).contains(&yes), "{yes}");
        assert!(!rng.chance(0.0));
        assert!(rng.chance(1.0));
    }

    #[test]
    fn sizes_have_the_wanted_median_and_a_heavy_tail_under_the_limit() {
        let mut rng = Rng::new(3);
        let mut sizes: Vec<u64> = (0..10_000).map(|_| rng.size(1000.0, 2.0, 50_000)).collect();
        sizes.sort_unstable();
        assert!((930..1070).contains(&sizes[5000]), "{}", sizes[5000]);
        assert!((8_500..11_500).contains(&sizes[9500]), "{}", sizes[9500]);
        assert_eq!(sizes[9999], 50_000);
    }
}
