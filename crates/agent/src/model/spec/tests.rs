use super::*;

fn model(levels: &[ThinkingLevel]) -> ModelSpec {
    ModelSpec {
        provider: "p".into(),
        id: "m".into(),
        name: "M".into(),
        api: "test".into(),
        context_window: 100_000,
        max_output: 8_000,
        thinking_levels: levels.to_vec(),
        reads_images: false,
        price: Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 },
    }
}

#[test]
fn a_level_the_model_does_not_know_becomes_the_next_weaker_one() {
    use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};
    let some = model(&[Off, Low, High]);
    assert_eq!(
        [Off, Minimal, Low, Medium, High, Max].map(|level| some.clamp(level)),
        [Off, Low, Low, Low, High, High]
    );
    assert_eq!(model(&[]).clamp(Max), Off);
    assert_eq!(model(&[Off]).clamp(Max), Off);
}

#[test]
fn tokens_are_priced_by_the_million() {
    let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 2_000_000, cache_write: 0 };
    assert_eq!(model(&[]).cost(&usage), [3.0, 1.5, 0.6, 0.0]);
}

#[test]
fn names_of_levels_are_found_again() {
    for level in ThinkingLevel::ALL {
        assert_eq!(ThinkingLevel::from_name(level.name()), Some(level));
    }
    assert_eq!(ThinkingLevel::from_name("High"), None);
}
