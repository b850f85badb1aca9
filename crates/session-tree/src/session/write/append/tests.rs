use std::cell::Cell;
use std::hash::Hasher;

use super::*;

thread_local! {
    static COMPARISONS: Cell<usize> = const { Cell::new(0) };
}

#[derive(Debug, Clone, Copy)]
struct CountedId(usize);

impl PartialEq for CountedId {
    fn eq(&self, other: &Self) -> bool {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0 == other.0
    }
}

impl Eq for CountedId {}

impl Hash for CountedId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn drawing_many_ids_compares_each_with_few_others() {
    let (mut drawn, mut next) = (HashSet::new(), 0);
    for _ in 0..10_000 {
        // Every id is proposed twice, so half of the proposals are refused.
        let draw = |_| {
            next += 1;
            CountedId(next / 2)
        };
        draw_free(&mut drawn, draw, |id| id.0 == 0);
    }
    assert_eq!(drawn.len(), 10_000);
    assert!(COMPARISONS.get() < 40_000, "{}", COMPARISONS.get());
}
