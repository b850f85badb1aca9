//! Numbers as people read them.

use session_tree::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Tells how long ago something was: `now`, `5m`, `3h`, `2d`, `3w`, `4mo`, `1y`.
pub(crate) fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.as_millis().saturating_sub(then.as_millis()) / 1_000;
    match seconds {
        ..MINUTE => "now".into(),
        MINUTE..HOUR => format!("{}m", seconds / MINUTE),
        HOUR..DAY => format!("{}h", seconds / HOUR),
        _ => match seconds / DAY {
            days @ ..7 => format!("{days}d"),
            days @ 7..30 => format!("{}w", days / 7),
            days @ 30..365 => format!("{}mo", days / 30),
            days => format!("{}y", days / 365),
        },
    }
}

/// Shortens a number of tokens: `812`, `14.2k`, `1.3M`.
pub(crate) fn tokens(number: u64) -> String {
    shortened(number, 1_000, ["", "k", "M", "G"])
}

/// Shortens a number of bytes: `812 B`, `14.2 kB`, `1.3 GB`.
pub(crate) fn bytes(number: u64) -> String {
    shortened(number, 1_000, [" B", " kB", " MB", " GB"])
}

/// Shows a sum of money: `$0.04`, and more digits when there would be none.
pub(crate) fn dollars(sum: f64) -> String {
    match sum {
        0.0 => "$0.00".into(),
        sum if sum.abs() < 0.01 => format!("${sum:.4}"),
        sum => format!("${sum:.2}"),
    }
}

/// Shows a number with its thousands apart: `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Shows a number of things: `1 entry`, `2 entries`.
pub(crate) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number as u64), if number == 1 { one } else { many })
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn shortened(number: u64, step: u64, units: [&str; 4]) -> String {
    if number < step {
        return format!("{number}{}", units[0]);
    }
    let mut value = number as f64;
    let mut unit = units[0];
    for next in &units[1..] {
        if value < step as f64 - 0.05 {
            break;
        }
        value /= step as f64;
        unit = next;
    }
    if value < 100.0 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_grow_from_minutes_to_years() {
        let at = |seconds: i64| age(Timestamp::from_millis(seconds * 1_000), Timestamp::from_millis(0));
        let shown =
            [0, 59, 60, 3_599, 3_600, 86_399, 86_400, 7 * DAY, 29 * DAY, 30 * DAY, 364 * DAY, 365 * DAY];
        let ages = ["now", "now", "1m", "59m", "1h", "23h", "1d", "1w", "4w", "1mo", "12mo", "1y"];
        assert_eq!(shown.map(at), ages);
        assert_eq!(at(-5), "now", "clocks differ");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0, 999, 1_000, 14_249, 999_940, 1_300_000].map(tokens),
            ["0", "999", "1.0k", "14.2k", "1000k", "1.3M"]
        );
        assert_eq!([812, 1_300_000_000].map(bytes), ["812 B", "1.3 GB"]);
        assert_eq!([0.0, 0.0021, 0.04, 12.345].map(dollars), ["$0.00", "$0.0021", "$0.04", "$12.35"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
