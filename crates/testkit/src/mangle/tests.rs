//! The generator keeps its promises: same seed, same bytes; every class; sound files are sound.

use std::collections::HashSet;

use serde_json::Value;

use super::{Class, GeneratedFile, class_of, file, files};

fn parsed(bytes: &[u8]) -> Vec<Value> {
    bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("a sound line"))
        .collect()
}

fn first_of(class: Class) -> Vec<GeneratedFile> {
    (0..2000).filter(|&index| class_of(index) == class).map(|index| file(7, index)).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_any_order() {
    let all: Vec<_> = files(3, 200).collect();
    for index in (0..200).rev() {
        assert_eq!(file(3, index), all[usize::try_from(index).unwrap()]);
    }
    assert_ne!(all[0].bytes, file(4, 0).bytes);
}

#[test]
fn every_class_occurs_and_names_are_unique() {
    let all: Vec<_> = files(1, 200).collect();
    let classes: HashSet<Class> = all.iter().map(|file| file.class).collect();
    assert_eq!(classes.len(), Class::ALL.len());
    let names: HashSet<&str> = all.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.iter().all(|file| file.name.ends_with(&format!("-{}.jsonl", file.class.name()))));
}

#[test]
fn sound_files_have_unique_ids_and_parents_that_come_earlier() {
    for class in [Class::Valid, Class::Branches, Class::Compactions, Class::Edits, Class::Labels, Class::V2] {
        for file in first_of(class) {
            let mut seen = HashSet::new();
            let objects = parsed(&file.bytes);
            assert_eq!(objects[0]["type"], "session", "{}", file.name);
            assert!((3..=61).contains(&objects.len()), "{}", file.name);
            for entry in &objects[1..] {
                let parent = &entry["parentId"];
                assert!(parent.is_null() || seen.contains(parent.as_str().unwrap()), "{}", file.name);
                assert!(seen.insert(entry["id"].as_str().unwrap()), "{}", file.name);
            }
        }
    }
}

#[test]
fn version_one_files_have_no_ids_and_every_kind_of_index() {
    let mut kinds = HashSet::new();
    for file in first_of(Class::V1) {
        for (position, entry) in parsed(&file.bytes).iter().enumerate().skip(1) {
            assert!(entry.get("id").is_none() && entry.get("parentId").is_none(), "{}", file.name);
            if entry["type"] == "compaction" {
                kinds.insert(match &entry["firstKeptEntryIndex"] {
                    Value::Number(n) if n.as_u64() == Some(0) => "header",
                    Value::Number(n) if n.as_u64() == Some(position as u64) => "own",
                    Value::Number(n) if n.as_u64().is_some_and(|n| n < position as u64) => "earlier",
                    Value::Number(n) if n.as_u64().is_some() => "later",
                    Value::Number(_) => "no position",
                    Value::String(_) => "string",
                    _ => "none",
                });
            }
        }
    }
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

#[test]
fn damaged_files_differ_from_sound_ones_in_the_way_their_class_says() {
    let all = |class, test: &dyn Fn(&[u8]) -> bool| first_of(class).iter().all(|file| test(&file.bytes));
    let any = |class, test: &dyn Fn(&str) -> bool| {
        first_of(class).iter().any(|file| test(&String::from_utf8_lossy(&file.bytes)))
    };
    assert!(all(Class::NoFinalLf, &|bytes| !bytes.ends_with(b"\n")));
    assert!(all(Class::Crlf, &|bytes| bytes.ends_with(b"\r\n")));
    assert!(all(Class::Bom, &|bytes| bytes.starts_with(b"\xef\xbb\xbf{")));
    assert!(all(Class::NulBytes, &|bytes| bytes.contains(&0)));
    assert!(all(Class::InvalidUtf8, &|bytes| std::str::from_utf8(bytes).is_err()));
    assert!(any(Class::LoneSurrogates, &|text| text.contains("\\ud83d")));
    assert!(any(Class::DeepNesting, &|text| text.contains(&"[".repeat(300))));
    assert!(any(Class::HugeNumbers, &|text| text.contains("1E400") || text.contains("9007199254740993")));
    assert!(any(Class::SecondHeader, &|text| text.matches("\"type\":\"session\"").count() > 1));
    assert!(all(Class::SecondHeader, &|bytes| bytes
        .windows(16)
        .filter(|w| w == b"\"type\":\"session\"")
        .count()
        > 1));
}
