//! The cache makes lists faster and never changes them.

use super::*;

fn write_some(place: &Place) {
    let name = r#"{"type":"session_info","id":"n","parentId":null,"timestamp":"1970-01-01T00:00:02.000Z","name":"Näme"}"#;
    place.write("/w", "a.jsonl", session("a", "/w", 5000) + name + "\n");
    place.write("/w", "b.jsonl", session("b", "/w", 6000) + "damaged\n");
    place.write("/w", "c.jsonl", "no session");
    place.write(
        "/w",
        "d.jsonl",
        header("d", "/w").replace(r#","cwd""#, r#","agentType":"x","parentSession":"/p","cwd""#),
    );
    place.write("/x", "e.jsonl", header("e", "/x").replace("1970-01-01T00:00:01.000Z", "never"));
}

/// Changes all titles in the cache, to recognise rows that come from it.
fn mark_rows(place: &Place) {
    let mut bytes = fs::read(place.cache()).unwrap();
    let found: Vec<usize> = memchr::memmem::find_iter(&bytes, "hello").collect();
    for at in found {
        bytes[at..at + 5].copy_from_slice(b"HELLO");
    }
    // The checksum of the only part is at the end of the table, which has a checksum itself.
    let sum = crc32c::crc32c(&bytes[24..]);
    bytes[20..24].copy_from_slice(&sum.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[12..24]);
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    fs::write(place.cache(), bytes).unwrap();
}

#[test]
fn a_list_from_the_cache_equals_a_scan() {
    let place = Place::new();
    write_some(&place);
    let scan = place.catalog().list_all().rows();
    assert_eq!(place.cached().list_all().rows(), scan);
    assert!(place.cache().exists());
    assert_eq!(place.cached().list_all().rows(), scan);
    let mut quick: Vec<_> = place.cached().list_all().quick().collect();
    quick.sort_by_key(|row| scan.iter().position(|other| other.path == row.path));
    assert_eq!(quick, scan);
}

#[test]
fn rows_come_from_the_cache_while_the_file_is_unchanged() {
    let place = Place::new();
    let path = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.cached().list("/w").rows();
    mark_rows(&place);
    assert_eq!(place.cached().list("/w").rows()[0].title(), "HELLO");
    touch(&path, 1_000_001);
    assert_eq!(place.cached().list("/w").rows()[0].title(), "hello");
}

#[test]
fn a_file_that_was_edited_in_place_is_read_again_although_its_time_was_set_back() {
    let place = Place::new();
    let path = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.cached().list("/w").rows();
    // File times have the resolution of system ticks, so the edit must be in a later tick.
    let changed = || std::os::unix::fs::MetadataExt::ctime_nsec(&fs::metadata(&path).unwrap());
    let before = changed();
    while changed() == before {
        let text = fs::read_to_string(&path).unwrap().replace("hello", "other");
        fs::write(&path, text).unwrap();
        touch(&path, 1_000_000);
    }
    assert_eq!(place.cached().list("/w").rows()[0].title(), "other");
}

#[test]
fn files_that_grow_between_two_lists_are_read_again() {
    let place = Place::new();
    let path = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.write("/w", "b.jsonl", session("b", "/w", 6000));
    assert_eq!(ids(&place.cached().list("/w").rows()), ["b", "a"]);
    let text = fs::read_to_string(&path).unwrap() + &message("b<a", "assistant", 7000, "[]");
    fs::write(&path, text).unwrap();
    touch(&path, 1_000_000);
    let rows = place.cached().list("/w").rows();
    assert_eq!(ids(&rows), ["a", "b"]);
    assert_eq!((rows[0].message_count, rows[0].modified), (2, at(7000)));
    assert_eq!(rows, place.catalog().list("/w").rows());
}

#[test]
fn another_file_under_the_same_name_is_read_again() {
    let place = Place::new();
    let path = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.cached().list("/w").rows();
    let other = place.write("/w", "other", session("b", "/w", 5000));
    fs::rename(other, path).unwrap();
    assert_eq!(ids(&place.cached().list("/w").rows()), ["b"]);
}

#[test]
fn a_damaged_cache_is_rebuilt() {
    let place = Place::new();
    place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.write("/w", "b.jsonl", "no session");
    let scan = place.cached().list_all().rows();
    let sound = fs::read(place.cache()).unwrap();
    let damaged = (0..sound.len()).flat_map(|at| {
        let mut flipped = sound.clone();
        flipped[at] ^= 0x20;
        [flipped, sound[..at].to_vec()]
    });
    for (number, bytes) in damaged.enumerate() {
        fs::write(place.cache(), &bytes).unwrap();
        assert_eq!(place.cached().list("/w").rows(), scan, "{number}");
        assert!(fs::read(place.cache()).unwrap() == sound, "{number}");
    }
}

#[test]
fn a_file_that_is_no_cache_is_replaced() {
    let place = Place::new();
    write_some(&place);
    let scan = place.catalog().list_all().rows();
    fs::create_dir_all(place.cache().parent().unwrap()).unwrap();
    for foreign in [&b"{\"sessions\":[]}"[..], b"", b"stcatlg\x00....", &[0; 4096]] {
        fs::write(place.cache(), foreign).unwrap();
        assert_eq!(place.cached().list_all().rows(), scan);
        assert_eq!(place.cached().list_all().rows(), scan);
        assert_ne!(fs::read(place.cache()).unwrap(), foreign);
    }
}

#[test]
fn a_list_of_one_project_keeps_the_rows_of_others_and_drops_its_own_dead_ones() {
    let place = Place::new();
    let own = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.write("/x", "b.jsonl", session("b", "/x", 5000));
    place.cached().list_all().rows();
    fs::remove_file(&own).unwrap();
    place.write("/w", "c.jsonl", session("c", "/w", 5000));
    place.cached().list("/w").rows();
    mark_rows(&place);
    assert_eq!(place.cached().list("/x").rows()[0].title(), "HELLO");
    let cache = fs::read(place.cache()).unwrap();
    let holds = |name: &str| memchr::memmem::find(&cache, name.as_bytes()).is_some();
    assert!(holds("b.jsonl") && holds("c.jsonl") && !holds("a.jsonl"));
}

#[test]
fn nothing_is_written_when_nothing_is_new() {
    let place = Place::new();
    write_some(&place);
    place.cached().list_all().rows();
    touch(&place.cache(), 77_000);
    place.cached().list_all().rows();
    place.cached().most_recent("/w");
    let changed = fs::metadata(place.cache()).unwrap().modified().unwrap();
    assert_eq!(changed, UNIX_EPOCH + Duration::from_secs(77));
}

#[test]
fn rows_completed_before_an_interruption_are_kept() {
    let place = Place::new();
    place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.write("/w", "b.jsonl", session("b", "/w", 5000));
    place.cached().list("/w").complete(&mut |_| ControlFlow::Break(()));
    mark_rows(&place);
    let titles: Vec<String> =
        place.cached().list("/w").rows().iter().map(|row| row.title().to_owned()).collect();
    assert!(titles.contains(&"HELLO".to_owned()), "{titles:?}");
}

#[test]
fn listing_writes_nothing_into_the_directory_of_the_sessions() {
    let place = Place::new();
    let path = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    let inside = place.sessions().join("catalog");
    place.catalog().cache_file(&inside).list_all().rows();
    assert!(!inside.exists());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_cache_that_cannot_be_written_leaves_the_list_as_it_is() {
    let place = Place::new();
    write_some(&place);
    // A file cannot replace a directory of the same name.
    fs::create_dir_all(place.cache().join("x")).unwrap();
    assert_eq!(place.cached().list_all().rows(), place.catalog().list_all().rows());
    assert_eq!(fs::read_dir(place.cache().parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_cache_is_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    write_some(&place);
    place.cached().list_all().rows();
    assert_eq!(fs::metadata(place.cache()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(place.cache().parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_cache_of_another_version_is_not_used() {
    let place = Place::new();
    write_some(&place);
    let scan = place.cached().list_all().rows();
    let ours = fs::read(place.cache()).unwrap();
    for version in [0, ours[7] - 1, ours[7] + 1, 0xff] {
        let mut other = ours.clone();
        other[7] = version;
        fs::write(place.cache(), &other).unwrap();
        assert_eq!(place.cached().list_all().rows(), scan, "version {version}");
        assert!(fs::read(place.cache()).unwrap() == ours, "version {version}: made anew");
    }
}

#[test]
fn sessions_without_newer_fields_are_listed_with_and_without_a_cache() {
    let place = Place::new();
    let header = header("s", "/w");
    let changes = [
        (r#""version":3,"#, ""),
        (r#""version":3"#, r#""version":2"#),
        (r#""version":3"#, r#""version":4"#),
        (r#","cwd":"/w""#, ""),
        (r#","timestamp":"1970-01-01T00:00:01.000Z""#, ""),
        (r#","cwd""#, r#","fromTheFuture":{"a":[1]},"cwd""#),
    ];
    for (number, (there, instead)) in changes.iter().enumerate() {
        let changed = header.replace(there, instead);
        assert_ne!(changed, header);
        let text = changed + &message("a", "user", 5000, "\"hello\"");
        place.write("/w", &format!("{number}.jsonl"), text);
    }
    for catalog in [place.catalog(), place.cached(), place.cached()] {
        let rows = catalog.list_all().rows();
        assert_eq!(rows.len(), changes.len());
        assert!(rows.iter().all(|row| row.is_session() && row.title() == "hello"), "{rows:?}");
    }
}
