//! Every part that needs nothing but itself, a little of it.

use offshoot_proof::part::{PARTS, Part, Plan};

fn holds(name: &str, runs: u64) {
    let plan = Plan { seed: 3, runs: Some(runs), ..Plan::default() };
    let (line, is_sound) = Part::named(name).unwrap().report(&plan);
    assert!(is_sound, "{line}");
    assert!(line.contains(" ok "), "{line}");
}

#[test]
fn crashes_lose_nothing_that_was_promised() {
    holds("crash", 2_000);
}

#[test]
fn a_disk_that_ignores_syncs_is_found_out() {
    holds("lying-disk", 6);
}

#[test]
fn broken_files_load_are_appended_to_and_migrate() {
    holds("fuzz-load", 3_000);
    holds("fuzz-append", 1_000);
    holds("fuzz-migrate", 500);
}

#[test]
fn hostile_texts_steer_neither_terminal_nor_page() {
    holds("fuzz-terminal", 3_000);
    holds("fuzz-page", 60);
}

#[test]
fn a_session_does_what_a_simple_model_does() {
    holds("model", 60);
}

#[test]
fn large_sessions_fit_on_a_small_stack_and_no_step_is_quadratic() {
    holds("sizes", 10_000);
    holds("growth", 10_000);
}

#[test]
fn parts_have_names_of_their_own() {
    let mut names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PARTS.len());
}
