use std::collections::HashSet;

use super::*;

#[test]
fn random_ids_differ_and_are_spelled_as_uuids() {
    let entries: HashSet<EntryId> = (0..10_000).map(|_| RandomIds.entry_id()).collect();
    assert!(entries.len() > 9_990, "{} of 10,000 ids differ", entries.len());
    assert!(entries.iter().all(|id| matches!(IdKey::of(id.as_str()), IdKey::Hex(_))));
    for first in 0..16 {
        let digit = char::from_digit(first, 16).unwrap();
        assert!(entries.iter().any(|id| id.as_str().starts_with(digit)), "none starts with {digit}");
    }
    let long: HashSet<EntryId> = (0..10_000).map(|_| RandomIds.long_entry_id()).collect();
    assert_eq!(long.len(), 10_000);
    let shape = |id: &str| {
        let dashes: Vec<usize> = id.match_indices('-').map(|(at, _)| at).collect();
        (id.len(), dashes, id[14..15].to_owned(), "89ab".contains(&id[19..20]))
    };
    let expected = |version: &str| (36, vec![8, 13, 18, 23], version.to_owned(), true);
    assert_eq!(shape(RandomIds.long_entry_id().as_str()), expected("4"));
    let (one, other) = (RandomIds.session_id(), RandomIds.session_id());
    assert_eq!(shape(&one), expected("7"));
    assert_ne!(one, other);
    assert!(one[..8] >= *"0193", "the first digits are the time: {one}");
}
