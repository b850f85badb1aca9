//! The table: what was measured, against what, and whether it is within its bar.

use std::time::Duration;

/// One line of the table.
pub(crate) struct Line {
    work: String,
    ours: String,
    reference: String,
    verdict: Verdict,
}

enum Verdict {
    /// Ours divided by the reference, and what it may be.
    Cost { ratio: f64, bar: f64 },
    /// The reference divided by ours, and what it must be.
    Gain { ratio: f64, bar: f64 },
    /// Nothing was measured: why.
    Skipped(&'static str),
}

impl Line {
    /// Describes work that may take at most `bar` times as long as the reference.
    pub(crate) fn cost(work: &str, ours: Duration, to: (&str, Duration), bar: f64) -> Self {
        let ratio = ours.as_secs_f64() / to.1.as_secs_f64();
        Self {
            work: work.to_owned(),
            ours: time(ours),
            reference: format!("{} {}", to.0, time(to.1)),
            verdict: Verdict::Cost { ratio, bar },
        }
    }

    /// Describes work that must be at least `bar` times as fast as the reference.
    pub(crate) fn gain(work: &str, ours: Duration, to: (&str, Duration), bar: f64) -> Self {
        let ratio = to.1.as_secs_f64() / ours.as_secs_f64();
        Self { verdict: Verdict::Gain { ratio, bar }, ..Self::cost(work, ours, to, bar) }
    }

    /// Describes a time with a fixed limit.
    pub(crate) fn limit(work: &str, ours: Duration, limit: Duration) -> Self {
        Self::cost(work, ours, ("limit", limit), 1.0)
    }

    /// Describes memory that has a limit.
    pub(crate) fn memory(work: &str, bytes: u64, limit: u64) -> Self {
        let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
        Self {
            work: work.to_owned(),
            ours: megabytes(bytes),
            reference: format!("limit {}", megabytes(limit)),
            verdict: Verdict::Cost { ratio: bytes as f64 / limit as f64, bar: 1.0 },
        }
    }

    /// Describes work that was not measured.
    pub(crate) fn skipped(work: &str, why: &'static str) -> Self {
        Self {
            work: work.to_owned(),
            ours: "-".to_owned(),
            reference: "-".to_owned(),
            verdict: Verdict::Skipped(why),
        }
    }

    /// Tells whether the line is over its bar.
    pub(crate) fn is_over(&self) -> bool {
        match self.verdict {
            Verdict::Cost { ratio, bar } => ratio > bar,
            Verdict::Gain { ratio, bar } => ratio < bar,
            Verdict::Skipped(_) => false,
        }
    }

    /// Spells the line as a row of a Markdown table.
    pub(crate) fn in_row(&self, row: &str) -> String {
        let (ratio, bar) = match &self.verdict {
            Verdict::Cost { ratio, bar } => (format!("{} x", digits(*ratio)), format!("<= {bar} x")),
            Verdict::Gain { ratio, bar } => (format!("1/{ratio:.0}"), format!(">= {bar} x faster")),
            Verdict::Skipped(why) => ("-".to_owned(), (*why).to_owned()),
        };
        let verdict = match self.verdict {
            Verdict::Skipped(_) => "-",
            _ if self.is_over() => "OVER",
            _ => "ok",
        };
        let Self { work, ours, reference, .. } = self;
        format!(
            "| {row:<9} | {work:<58} | {ours:>9} | {reference:<24} | {ratio:>8} | {bar:<16} | {verdict:<4} |"
        )
    }
}

/// Spells the first two rows of the table.
pub(crate) fn heading() -> String {
    let (row, work, ours, reference, ratio, bar) = ("row", "work", "ours", "reference", "ratio", "bar");
    format!(
        "| {row:<9} | {work:<58} | {ours:>9} | {reference:<24} | {ratio:>8} | {bar:<16} | ?    |\n\
         |{:-<11}|{:-<60}|{:->11}|{:-<26}|{:->10}|{:-<18}|------|",
        "", "", ":", "", ":", ""
    )
}

/// Spells a time with three digits.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        _ if seconds < 1e-6 => format!("{} ns", digits(seconds * 1e9)),
        _ if seconds < 1e-3 => format!("{} us", digits(seconds * 1e6)),
        _ => format!("{} ms", digits(seconds * 1e3)),
    }
}

/// Spells a number with three digits.
pub(crate) fn digits(number: f64) -> String {
    match number {
        _ if number < 1.0 => format!("{number:.3}"),
        _ if number < 10.0 => format!("{number:.2}"),
        _ if number < 100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}
