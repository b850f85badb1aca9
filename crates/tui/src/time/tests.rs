//! Times in, text out.

use std::sync::LazyLock;

use super::*;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn a_stamp_is_as_short_as_it_can_be() {
    static ZONE: LazyLock<Zone> = LazyLock::new(|| Zone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap());
    let local = Local { now: at("2026-03-05T12:00:00Z"), zone: &ZONE };
    assert_eq!(local.stamp(at("2026-03-05T08:05:00Z")), "09:05");
    assert_eq!(local.stamp(at("2026-03-04T23:30:00Z")), "00:30");
    assert_eq!(local.stamp(at("2026-01-02T08:05:00Z")), "1/2 09:05");
    assert_eq!(local.stamp(at("2025-12-31T10:00:00Z")), "25/12/31 11:00");
    // In summer clocks showed another hour.
    assert_eq!(local.stamp(at("2025-07-01T10:00:00Z")), "25/7/1 12:00");
}

#[test]
fn an_age_has_one_unit() {
    let local = Local::utc(at("2026-03-05T12:00:00Z"));
    let ages =
        ["2026-03-05T12:00:30Z", "2026-03-05T11:55:00Z", "2026-03-05T01:00:00Z", "2026-03-01T12:00:00Z"];
    assert_eq!(ages.map(|time| age(local.now, at(time))), ["now", "5m", "11h", "4d"]);
    let ages = ["2026-02-20T12:00:00Z", "2025-12-05T12:00:00Z", "2020-01-01T00:00:00Z"];
    assert_eq!(ages.map(|time| age(local.now, at(time))), ["1w", "3mo", "6y"]);
}
