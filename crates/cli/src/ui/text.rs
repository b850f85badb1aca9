//! Texts of any length in one line.

/// Folds all white space, so that a text takes one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text to a number of characters, in one line.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let text = one_line(text);
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => format!("{}…", text.chars().take(most.saturating_sub(1)).collect::<String>().trim_end()),
    }
}

#[cfg(test)]
mod tests;
