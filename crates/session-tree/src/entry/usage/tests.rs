//! Reports of tokens and cost, as they occur in files.

use super::*;
use crate::json::Doc;

fn usage(text: &str) -> Usage {
    Usage::of(Doc::parse(text.as_bytes()).unwrap().root())
}

#[test]
fn a_report_is_read_by_its_parts() {
    let text = r#"{"input":1,"output":2,"cacheRead":4,"cacheWrite":8,"totalTokens":15,"cost":{"input":9,"total":0.5}}"#;
    let expected = Usage { input: 1, output: 2, cache_read: 4, cache_write: 8, total: 15, cost: 0.5 };
    assert_eq!(usage(text), expected);
    assert_eq!((usage(text).sent(), usage(text).is_empty()), (13, false));
}

#[test]
fn a_missing_total_is_the_sum_of_the_parts() {
    let text = r#"{"input":1,"output":2,"cacheRead":4,"cost":{"input":0.25,"output":0.5}}"#;
    assert_eq!((usage(text).total, usage(text).cost), (7, 0.75));
}

#[test]
fn invalid_counts_are_zero() {
    for odd in ["null", "\"12\"", "-5", "1e400", "-1e400", "1e300", "[7]", "{}", "true"] {
        let text = format!(
            r#"{{"input":{odd},"output":3,"cacheRead":{odd},"totalTokens":{odd},"cost":{{"total":{odd},"output":0.5}}}}"#
        );
        assert_eq!(usage(&text), Usage { output: 3, total: 3, cost: 0.5, ..Usage::default() }, "{odd}");
        assert!(usage(odd).is_empty(), "{odd}");
        assert_eq!(usage(&format!(r#"{{"cost":{odd}}}"#)).cost, 0.0, "{odd}");
    }
}

#[test]
fn totals_stay_at_the_largest_number_instead_of_starting_over() {
    let most = Usage { total: u64::MAX - 1, ..Usage::default() };
    let mut total = most;
    total += most;
    assert_eq!(total.total, u64::MAX);
}
