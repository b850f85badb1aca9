//! Suggestions for a name that no model has.

/// The most names that are suggested.
const MOST: usize = 3;

/// Returns the names that come nearest to a mistyped one, nearest first; none if none is near.
///
/// A name is compared with `provider/id`, with the id, and with the words of the id: people type `sonet` for any Sonnet.
pub(super) fn nearest(wanted: &str, names: &[String]) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    let mut ranked: Vec<(usize, &String)> = names
        .iter()
        .filter_map(|name| rank(&wanted, &name.to_lowercase()).map(|rank| (rank, name)))
        .filter(|(rank, _)| *rank <= limit)
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(MOST).map(|(_, name)| name.clone()).collect()
}

/// How far a name is from the wanted one, by the nearest of its forms.
fn rank(wanted: &str, name: &str) -> Option<usize> {
    let id = name.split_once('/').map_or(name, |(_, id)| id);
    let short = id.rsplit('/').next().unwrap_or(id);
    // A short word is near to too many others.
    let words = short.split(['-', '.', ':']).filter(|word| word.len() >= 4 && wanted.len() >= 4);
    [name, id, short].into_iter().chain(words).map(|form| distance(wanted, form)).min()
}

/// The number of characters to insert, remove, replace or swap with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (row[j + 1] + 1).min(next[j] + 1).min(row[j] + usize::from(a != b));
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_mistakes() {
        let table = [("", "", 0), ("opus", "opus", 0), ("opsu", "opus", 1), ("sonet", "sonnet", 1)];
        for (one, other, wanted) in table {
            assert_eq!(distance(one, other), wanted, "{one} {other}");
        }
        assert_eq!((distance("gpt5", "gpt-5"), distance("", "abc"), distance("abc", "xyz")), (1, 3, 3));
    }
}
