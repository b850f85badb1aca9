//! Ids of tool calls, which services restrict, each in its own way.
//!
//! The same id always becomes the same id, so calls and results keep together without a table. The OpenAI responses
//! format has two ids per call; sessions keep both as `call|item`.

fn plain_id(id: &str, longest: usize) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if !id.is_empty() && id.len() <= longest && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let digest = digest(id);
    let kept: String = id.chars().map(|char| if is_plain(char) { char } else { '_' }).collect();
    let room = longest.saturating_sub(digest.len() + 1).min(kept.len());
    format!("{}_{digest}", &kept[..room])
}

/// Returns the id that names the call: letters, digits, `_` and `-`, at most `longest` of them.
pub(crate) fn fitting_id(id: &str, longest: usize) -> String {
    plain_id(id.split('|').next().unwrap_or(id), longest)
}

/// Returns an id of exactly so many letters and digits, sixteen at most.
pub(crate) fn exact_id(id: &str, length: usize) -> String {
    let id = id.split('|').next().unwrap_or(id);
    let fits = id.len() == length && id.chars().all(|char| char.is_ascii_alphanumeric());
    if fits { id.to_owned() } else { digest(id).chars().take(length).collect() }
}

/// Returns the id of the item, if the session keeps one.
pub(crate) fn item_id(id: &str) -> Option<&str> {
    id.split_once('|').map(|(_, item)| item).filter(|item| !item.is_empty())
}

/// Returns sixteen hexadecimal digits that depend on nothing but the text (FNV-1a).
pub(crate) fn digest(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_fits_stays_and_others_stay_different() {
        assert_eq!(plain_id("toolu_01-x", 64), "toolu_01-x");
        let (one, two) = (plain_id("a|b", 64), plain_id("a/b", 64));
        assert_ne!(one, two);
        assert!(one.starts_with("a_b_"));
        let long = plain_id(&"x".repeat(500), 40);
        assert_eq!(long.len(), 40);
        assert_ne!(long, plain_id(&"x".repeat(501), 40));
        assert_eq!(plain_id("", 64), plain_id("", 64));
        assert!(!plain_id("ü", 64).is_empty());
        assert_eq!(exact_id("Ab3456789", 9), "Ab3456789");
        assert_eq!(exact_id("call_1", 9).len(), 9);
        assert_ne!(exact_id("call_1", 9), exact_id("call_2", 9));
    }

    #[test]
    fn the_two_ids_of_a_call_are_told_apart() {
        assert_eq!(fitting_id("call_1|fc_2", 64), "call_1");
        assert_eq!(item_id("call_1|fc_2"), Some("fc_2"));
        assert_eq!(item_id("call_1|"), None);
        assert_eq!(item_id("call_1"), None);
    }
}
