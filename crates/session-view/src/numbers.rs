//! Numbers as a person reads them: tokens, bytes, money, counts. The same in the chat, in commands and in exports.

/// Writes a number of tokens: `950`, `1.2k`, `52k`, `1.3M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{:.1}k", count as f64 / 1e3),
        9_950..999_500 => format!("{:.0}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// Writes a number of bytes: `812 B`, `14.2 kB`, `1.3 GB`.
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..999_950 => format!("{:.1} kB", count as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// Writes an amount of money: `$0.004`, `$0.12`, `$12.30`.
pub fn money(dollars: f64) -> String {
    match dollars {
        0.0 => "$0.00".to_owned(),
        0.0..0.000_5 => "<$0.001".to_owned(),
        0.000_5..0.01 => format!("${dollars:.3}"),
        _ => format!("${dollars:.2}"),
    }
}

/// Writes a count with its noun: `1 turn`, `2 turns`, `3 branches`, `1,200 entries`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = match noun {
        _ if number == 1 => noun.to_owned(),
        _ if noun.ends_with("ch") || noun.ends_with('x') => format!("{noun}es"),
        _ => noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies")),
    };
    format!("{} {plural}", thousands(number as u64))
}

/// Writes a number with its thousands apart: `1,234,567`.
pub fn thousands(number: u64) -> String {
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

#[cfg(test)]
mod tests;
