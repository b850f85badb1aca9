//! Numbers as a person reads them: tokens, money, counts.

/// Writes a number of tokens: `950`, `1.2k`, `52k`, `1.3M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{:.1}k", count as f64 / 1e3),
        9_950..999_500 => format!("{:.0}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// Writes an amount of money: `$0.004`, `$0.12`, `$12.30`.
pub fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 { format!("${dollars:.3}") } else { format!("${dollars:.2}") }
}

/// Writes a count with its noun: `1 turn`, `2 turns`, `3 branches`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = match noun {
        _ if number == 1 => noun.to_owned(),
        _ if noun.ends_with("ch") => format!("{noun}es"),
        _ => noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies")),
    };
    format!("{number} {plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([950, 1_234, 9_960, 52_000, 1_300_000].map(tokens), ["950", "1.2k", "10k", "52k", "1.3M"]);
        assert_eq!([0.0, 0.004, 0.12, 12.3].map(money), ["$0.00", "$0.004", "$0.12", "$12.30"]);
        assert_eq!(
            [count(1, "entry"), count(2, "entry"), count(2, "branch"), count(0, "turn")],
            ["1 entry", "2 entries", "2 branches", "0 turns"]
        );
    }
}
