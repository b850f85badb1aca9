use reqwest::header::HeaderValue;

use super::*;

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    pairs.iter().map(pair).collect()
}

#[test]
fn a_delay_comes_in_seconds_in_milliseconds_or_as_a_date() {
    type Pairs = &'static [(&'static str, &'static str)];
    const DATE: (&str, &str) = ("date", "Sun, 15 Nov 2026 10:00:00 GMT");
    let table: [(Pairs, Option<u64>); 8] = [
        (&[("retry-after", "7")], Some(7_000)),
        (&[("retry-after", "1.5")], Some(1_500)),
        (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
        (&[("retry-after", "Sun, 15 Nov 2026 10:00:30 GMT"), DATE], Some(30_000)),
        (&[("retry-after", "Sun, 15 Nov 2026 09:00:00 GMT"), DATE], None),
        (&[("retry-after", "Sun, 15 Nov 2026 10:00:30 GMT")], None),
        (&[("retry-after", "soon")], None),
        (&[], None),
    ];
    for (pairs, wanted) in table {
        assert_eq!(retry_after(&headers(pairs)), wanted.map(Duration::from_millis), "{pairs:?}");
    }
}
