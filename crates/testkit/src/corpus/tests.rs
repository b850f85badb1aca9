//! Promises about the reference files themselves: the engine is judged by them, so they are judged here.

use std::collections::{HashMap, HashSet};
use std::io;

use serde_json::Value;

use super::{Shape, Stats, write, write_directory, write_v1};

fn lines(shape: &Shape) -> (Vec<Value>, Stats) {
    let mut bytes = Vec::new();
    let stats = write(shape, &mut bytes).unwrap();
    assert_eq!(stats.bytes, bytes.len() as u64);
    (parsed(&bytes), stats)
}

fn parsed(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn all_shapes(entries: usize) -> Vec<Shape> {
    vec![
        Shape::realistic(entries),
        Shape::small(entries),
        Shape::chain(entries),
        Shape::star(entries),
        Shape::comb(entries),
        Shape::mostly_custom(entries),
        Shape::mostly_images(entries / 10),
    ]
}

/// FNV-1a with 64 bits: enough to notice that bytes changed.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn share(lines: &[Value], wanted: impl Fn(&Value) -> bool) -> f64 {
    lines.iter().filter(|line| wanted(line)).count() as f64 / lines.len() as f64
}

#[test]
fn a_seed_gives_the_same_bytes_again() {
    let bytes = |shape: &Shape| {
        let mut bytes = Vec::new();
        write(shape, &mut bytes).unwrap();
        bytes
    };
    let shape = Shape::realistic(3000);
    assert_eq!(hash(&bytes(&shape)), hash(&bytes(&shape)));
    assert_ne!(hash(&bytes(&shape)), hash(&bytes(&shape.clone().with_seed(2))));
    // Results of benchmarks are compared over months: if this changes, they no longer can be.
    assert_eq!(hash(&bytes(&shape)), 0x2f5f_970f_610b_4c3f);
}

#[test]
fn ids_are_unique_and_every_parent_comes_earlier_in_the_file() {
    for shape in all_shapes(4000) {
        let (lines, stats) = lines(&shape);
        assert_eq!(lines.len(), shape.entries + 1);
        assert_eq!(lines[0]["type"], "session");
        let mut depths: HashMap<String, usize> = HashMap::new();
        for entry in &lines[1..] {
            let depth = match entry["parentId"].as_str() {
                Some(parent) => depths[parent] + 1,
                None => 1,
            };
            assert!(depth > 1 || depths.is_empty(), "a second root in {:?}", shape.profile);
            let id = entry["id"].as_str().unwrap();
            assert!(id.len() == 8 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
            assert_eq!(depths.insert(id.to_owned(), depth), None, "{id} twice");
        }
        assert_eq!(lines[lines.len() - 1]["id"], stats.leaf.as_str());
        assert_eq!(stats.entries, shape.entries);
        assert_eq!(Some(&stats.deepest), depths.values().max());
    }
}

#[test]
fn times_never_go_backwards() {
    for shape in all_shapes(2000) {
        let (lines, _) = lines(&shape);
        assert!(lines.iter().map(|line| line["timestamp"].as_str().unwrap()).is_sorted());
    }
}

#[test]
fn the_average_size_is_kept_for_every_seed() {
    for seed in 1..4 {
        for shape in [Shape::realistic(20_000).with_seed(seed), Shape::small(20_000).with_seed(seed)] {
            let stats = write(&shape, &mut io::sink()).unwrap();
            let average = stats.bytes as f64 / stats.entries as f64;
            let wanted = shape.average_bytes as f64;
            assert!((average / wanted - 1.0).abs() < 0.05, "{average} instead of {wanted}");
        }
    }
}

#[test]
fn tool_results_have_a_heavy_tail() {
    let (lines, _) = lines(&Shape::realistic(20_000));
    let mut sizes: Vec<usize> = lines
        .iter()
        .filter(|line| line["message"]["role"] == "toolResult")
        .filter_map(|line| line["message"]["content"][0]["text"].as_str().map(str::len))
        .filter(|&size| size > 150)
        .collect();
    sizes.sort_unstable();
    let at = |share: f64| sizes[(sizes.len() as f64 * share) as usize];
    assert!((800..2_200).contains(&at(0.5)), "median {}", at(0.5));
    assert!((9_000..18_000).contains(&at(0.95)), "95 % {}", at(0.95));
    assert!(at(0.9999) > 100_000 && at(0.9999) < 260_000, "largest {}", at(0.9999));
}

#[test]
fn compactions_keep_a_message_of_their_own_path() {
    let (lines, stats) = lines(&Shape::realistic(8000));
    let by_id: HashMap<&str, &Value> =
        lines[1..].iter().map(|line| (line["id"].as_str().unwrap(), line)).collect();
    let mut compactions = 0;
    for entry in lines.iter().filter(|line| line["type"] == "compaction") {
        let kept = entry["firstKeptEntryId"].as_str().unwrap();
        let mut at = entry;
        while at["id"] != kept {
            at = by_id[at["parentId"].as_str().unwrap()];
            assert_ne!(at["type"], "compaction");
        }
        assert_eq!(at["type"], "message");
        assert_ne!(at["message"]["role"], "toolResult");
        compactions += 1;
    }
    assert!(compactions > 10);
    assert_eq!(compactions, stats.compactions);
}

#[test]
fn references_point_to_earlier_entries_and_every_kind_of_entry_occurs() {
    let (lines, stats) = lines(&Shape::realistic(20_000));
    let mut seen = HashSet::new();
    let mut kinds = HashSet::new();
    for entry in &lines[1..] {
        for key in ["targetId", "fromId"] {
            if let Some(id) = entry[key].as_str() {
                assert!(seen.contains(id), "{key} {id}");
            }
        }
        seen.insert(entry["id"].as_str().unwrap());
        kinds.insert(entry["type"].as_str().unwrap());
        kinds.extend(entry["message"]["role"].as_str());
    }
    for kind in [
        "message",
        "thinking_level_change",
        "model_change",
        "usage",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "context_edit",
        "system",
        "user",
        "assistant",
        "toolResult",
        "bashExecution",
    ] {
        assert!(kinds.contains(kind), "no {kind}");
    }
    assert_eq!(stats.labels, lines.iter().filter(|line| line["type"] == "label").count());
    assert!(stats.branches > 3);
}

#[test]
fn trees_have_the_extreme_shapes_they_are_named_after() {
    let deepest = |shape| lines(&shape).1.deepest;
    assert_eq!(deepest(Shape::chain(1000)), 1000);
    assert_eq!(deepest(Shape::star(1000)), 2);
    assert_eq!(deepest(Shape::comb(1000)), 501);
}

#[test]
fn special_shapes_hold_what_they_promise() {
    let custom = share(&lines(&Shape::mostly_custom(10_000)).0, |line| line["type"] == "custom");
    assert!((0.82..0.88).contains(&custom), "{custom}");

    let (lines, stats) = lines(&Shape::one_giant_line(2_000_000));
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[7]["message"]["stopReason"], "stop");
    assert!((2_000_000..2_010_000).contains(&stats.bytes), "{}", stats.bytes);
}

#[test]
fn a_version_1_file_is_a_line_without_ids_whose_compactions_name_positions() {
    let mut bytes = Vec::new();
    let stats = write_v1(&Shape::realistic(5000), &mut bytes).unwrap();
    let lines = parsed(&bytes);
    assert_eq!(lines.len(), 5001);
    assert_eq!(lines[0].get("version"), None);
    assert_eq!(lines[0]["provider"], "anthropic");
    assert_eq!((stats.leaf.as_str(), stats.deepest, stats.branches), ("", 5000, 0));
    for (position, entry) in lines.iter().enumerate().skip(1) {
        assert_eq!((entry.get("id"), entry.get("parentId")), (None, None));
        let kind = entry["type"].as_str().unwrap();
        assert!(["message", "compaction", "model_change", "thinking_level_change"].contains(&kind), "{kind}");
        if kind == "compaction" {
            let kept = entry["firstKeptEntryIndex"].as_u64().unwrap() as usize;
            assert!(kept < position && lines[kept]["type"] == "message");
        }
    }
    assert!(stats.compactions > 5);
}

#[test]
fn a_folder_has_the_wanted_number_and_size_of_sessions_with_forks_and_names() {
    let dir = std::env::temp_dir().join(format!("corpus-{}", std::process::id()));
    write_directory(&dir, 60, 6_000_000, 5).unwrap();
    let mut total = 0;
    let (mut forks, mut named, mut projects) = (0, 0, HashSet::new());
    for file in std::fs::read_dir(&dir).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let lines = parsed(&bytes);
        let header = &lines[0];
        let name = path.file_name().unwrap().to_str().unwrap();
        let time = header["timestamp"].as_str().unwrap().replace([':', '.'], "-");
        assert_eq!(name, format!("{time}_{}.jsonl", header["id"].as_str().unwrap()));
        if let Some(parent) = header["parentSession"].as_str() {
            assert!(std::path::Path::new(parent).exists());
            forks += 1;
        }
        named += usize::from(lines.iter().any(|line| line["type"] == "session_info"));
        projects.insert(header["cwd"].as_str().unwrap().to_owned());
        total += bytes.len();
    }
    std::fs::remove_dir_all(&dir).unwrap();
    assert!((5_700_000..6_300_000).contains(&total), "{total}");
    assert!(forks > 0 && named > 5 && projects.len() > 3, "{forks} {named} {projects:?}");
}

#[test]
fn a_failing_writer_is_reported() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = write(&Shape::realistic(1_000_000), &mut Full).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
