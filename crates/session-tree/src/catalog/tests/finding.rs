//! Finding one session.

use super::*;
use crate::error::Error;

fn place() -> Place {
    let place = Place::new();
    let name = r#"{"type":"session_info","id":"n","parentId":null,"timestamp":"1970-01-01T00:00:02.000Z","name":"Greeter CLI"}"#;
    place.write("/w", "1.jsonl", session("abc-1", "/w", 5000));
    place.write("/w", "2.jsonl", session("abd-2", "/w", 6000) + name + "\n");
    place.write("/x", "3.jsonl", session("abc-3", "/x", 7000));
    place.write("/x", "4.jsonl", session("xyz-4", "/x", 8000) + name + "\n");
    place.write("/x", "bad.jsonl", "garbage");
    place
}

/// Returns the file names found for a request in `/w`.
fn found(place: &Place, wanted: &str) -> String {
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    match place.catalog().find(wanted, Some("/w")) {
        Ok(path) => name(path),
        Err(Error::UnknownSession { wanted: told }) if told == wanted => "unknown".into(),
        Err(Error::AmbiguousSession { candidates, .. }) => {
            format!("ambiguous: {}", candidates.into_iter().map(name).collect::<Vec<_>>().join(" "))
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn sessions_are_found_by_id_beginning_and_name_in_the_project_first() {
    let place = place();
    for (wanted, expected) in [
        ("abc-1", "1.jsonl"),
        ("abc", "1.jsonl"),
        ("abd", "2.jsonl"),
        ("abc-3", "3.jsonl"),
        ("xyz", "4.jsonl"),
        ("Greeter CLI", "2.jsonl"),
        ("ab", "ambiguous: 1.jsonl 2.jsonl"),
        ("Greeter", "unknown"),
        ("zzz", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(found(&place, wanted), expected, "{wanted}");
    }
    let anywhere = place.catalog().find("Greeter CLI", None);
    assert!(matches!(anywhere, Err(Error::AmbiguousSession { candidates, .. }) if candidates.len() == 2));
}

#[test]
fn an_id_that_begins_another_one_is_not_ambiguous() {
    let place = place();
    place.write("/w", "5.jsonl", session("abc", "/w", 9000));
    assert_eq!(found(&place, "abc"), "5.jsonl");
}

#[test]
fn paths_and_file_names_lead_to_the_file_whatever_it_holds() {
    let place = place();
    let bad = place.catalog().project_dir("/x").join("bad.jsonl");
    assert_eq!(place.catalog().find(bad.to_str().unwrap(), None).unwrap(), bad);
    assert_eq!(place.catalog().find("bad.jsonl", None).unwrap(), bad);
    assert_eq!(found(&place, "1.jsonl"), "1.jsonl");
    assert_eq!(found(&place, "no/such.jsonl"), "unknown");
}

#[test]
fn a_name_with_a_slash_is_no_path_unless_there_is_such_a_file() {
    let place = place();
    let name = r#"{"type":"session_info","id":"n","parentId":null,"timestamp":"1970-01-01T00:00:02.000Z","name":"fix/parser"}"#;
    place.write("/w", "6.jsonl", session("six", "/w", 5000) + name + "\n");
    assert_eq!(found(&place, "fix/parser"), "6.jsonl");
}
