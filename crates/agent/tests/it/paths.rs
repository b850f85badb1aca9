//! The judged path is the opened path, for all links and dots, and even if the tree changes in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::tool::{ToolCall, ToolOutput, ToolPlace};
use offshoot_agent::tools::ToolBox;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value as Json, json};
use testkit::soak::{is_soak, rounds};

/// Draws the same cases in every run; new ones with `SOAK=1`.
fn drawn(cases: u32) -> Config {
    let rng_seed = if is_soak() { RngSeed::Random } else { RngSeed::Fixed(7) };
    Config { cases: rounds(cases), rng_seed, failure_persistence: None, ..Config::default() }
}

/// A node of the random tree.
#[derive(Debug, Clone)]
enum Node {
    Directory,
    Link(PathBuf),
}

const NAMES: [&str; 3] = ["a", "b", "c"];
const PARTS: [&str; 8] = ["a", "b", "c", "..", "..", ".", "project", "outside"];

fn parts(parts: &'static [&'static str], most: usize) -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(prop::sample::select(parts), 1..most).prop_map(|parts| parts.iter().collect())
}

fn node() -> impl Strategy<Value = (bool, PathBuf, Node)> {
    let kind = prop_oneof![Just(Node::Directory), parts(&PARTS, 5).prop_map(Node::Link)];
    (any::<bool>(), parts(&NAMES, 4), kind)
}

/// Creates a project and a directory outside it. Each directory holds a file with a unique name, and each file contains
/// its own path.
fn make(root: &Path, nodes: &[(bool, PathBuf, Node)]) {
    for top in ["project", "outside"] {
        fs::create_dir(root.join(top)).unwrap();
    }
    for (is_inside, path, node) in nodes {
        let path = root.join(if *is_inside { "project" } else { "outside" }).join(path);
        match node {
            Node::Directory => drop(fs::create_dir_all(&path)),
            Node::Link(target) => drop(symlink(target, &path)),
        }
    }
    let directories = walk(root).into_iter().filter(|path| path.is_dir());
    for (number, directory) in directories.chain([root.to_owned()]).enumerate() {
        let file = directory.join(format!("f{number}"));
        fs::write(&file, format!("needle at {}", file.display())).unwrap();
    }
}

/// Returns everything below a directory, except links.
fn walk(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let entries = entries.filter(|entry| !entry.file_type().unwrap().is_symlink());
    entries
        .flat_map(|entry| {
            let below =
                if entry.file_type().unwrap().is_dir() { walk(&entry.path()) } else { BTreeSet::new() };
            below.into_iter().chain([entry.path()])
        })
        .collect()
}

fn contents(root: &Path) -> BTreeMap<PathBuf, String> {
    let files = walk(root).into_iter().filter(|path| path.is_file());
    files.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn file_names<'p>(paths: impl IntoIterator<Item = &'p Path>) -> BTreeSet<String> {
    let names = paths.into_iter().map(|path| path.file_name().unwrap().to_str().unwrap());
    names.filter(|name| name.starts_with('f')).map(str::to_owned).collect()
}

/// Returns a call of each tool.
fn calls(path: &Path) -> [(&'static str, Json); 6] {
    [
        ("read", json!({"path": path})),
        ("grep", json!({"path": path, "pattern": "needle", "limit": 10_000})),
        ("find", json!({"path": path, "pattern": "f*", "limit": 10_000})),
        ("ls", json!({"path": path, "limit": 10_000})),
        ("edit", json!({"path": path, "edits": [{"oldText": "needle", "newText": "edited needle"}]})),
        ("write", json!({"path": path, "content": "written needle"})),
    ]
}

fn run(
    tools: &ToolBox,
    call: ToolCall,
    root: &Path,
    between: impl FnOnce(),
) -> Option<(PathBuf, ToolOutput)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let place = ToolPlace::new(root.join("project"), Cancel::new());
    // Circular links cannot be resolved, and some paths lead out of the test's tree.
    let ready = tools.check(call, place).ok()?;
    let judged = ready.place.paths()[0].real().to_owned();
    if !judged.starts_with(root) {
        return None;
    }
    between();
    Some((judged, runtime.block_on(ready.run())))
}

/// Compares the files that a call touched with the judged path.
fn compare(tool: &str, judged: &Path, output: &ToolOutput, before: &BTreeMap<PathBuf, String>, root: &Path) {
    let text = output.all_text();
    let after = contents(root);
    let changed: Vec<&PathBuf> =
        after.iter().filter(|(path, text)| before.get(*path) != Some(text)).map(|(path, _)| path).collect();
    let told = format!("{tool} {}: {text}", judged.display());
    match tool {
        "write" | "edit" if !output.is_error => assert_eq!(changed, [judged], "{told}"),
        _ => assert!(changed.is_empty(), "{told}: {changed:?}"),
    }
    // No part of the path is a link.
    let is_as_judged = judged.canonicalize().is_ok_and(|real| real == judged);
    if output.is_error {
        assert!(!is_as_judged || judged.is_dir() != ["ls", "find", "grep"].contains(&tool), "{told}");
        return;
    }
    assert!(is_as_judged, "{told}");
    let names = match tool {
        "read" => return assert_eq!(Some(&text), before.get(judged), "{told}"),
        "write" | "edit" => return,
        "grep" => file_names(text.lines().filter_map(|line| Some(Path::new(line.split(':').next()?)))),
        _ => file_names(text.lines().map(Path::new)),
    };
    let below: BTreeSet<PathBuf> = match tool {
        _ if judged.is_file() && tool == "grep" => [judged.to_owned()].into(),
        _ if judged.is_file() => BTreeSet::new(),
        "ls" => fs::read_dir(judged).unwrap().map(|entry| entry.unwrap().path()).collect(),
        _ => walk(judged),
    };
    let is_searched =
        |path: &&PathBuf| tool != "grep" || after.get(*path).is_some_and(|text| text.contains("needle"));
    assert_eq!(names, file_names(below.iter().filter(is_searched).map(PathBuf::as_path)), "{told}");
}

proptest! {
    #![proptest_config(drawn(16))]

    #[test]
    fn the_judged_path_is_the_touched_path(
        nodes in prop::collection::vec(node(), 1..14),
        paths in prop::collection::vec((parts(&PARTS, 6), any::<prop::sample::Index>(), any::<bool>()), 4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        make(&root, &nodes);
        for (path, index, of_file) in &paths {
            let directory = root.join("project").join(path);
            let names = directory.read_dir().map(|entries| entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>());
            let path = match names {
                Ok(names) if *of_file && !names.is_empty() => path.join(index.get(&names)),
                _ => path.clone(),
            };
            for (tool, arguments) in calls(&path) {
                let call = ToolCall { id: "c".into(), name: tool.into(), arguments };
                let before = contents(&root);
                if let Some((judged, output)) = run(&ToolBox::all(), call, &root, || ()) {
                    compare(tool, &judged, &output, &before, &root);
                }
            }
        }
    }

    #[test]
    fn a_directory_that_becomes_a_link_after_the_judgement_is_not_entered(
        nodes in prop::collection::vec(node(), 1..14),
        chosen in any::<prop::sample::Index>(),
        replaced in any::<prop::sample::Index>(),
    ) {
        for number in 0..6 {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            make(&root, &nodes);
            let known: Vec<PathBuf> = walk(&root).into_iter().collect();
            let path = chosen.get(&known);
            let directories: Vec<&Path> =
                path.ancestors().filter(|path| path.is_dir() && *path != root && path.starts_with(&root)).collect();
            if directories.is_empty() {
                continue;
            }
            let directory = *replaced.get(&directories);
            let (tool, arguments) = calls(path)[number].clone();
            let call = ToolCall { id: "c".into(), name: tool.into(), arguments };
            let mut before = BTreeMap::new();
            let interfere = || {
                fs::rename(directory, root.join("moved")).unwrap();
                symlink(root.join("moved"), directory).unwrap();
                before = contents(&root);
            };
            let (judged, output) = run(&ToolBox::all(), call, &root, interfere).unwrap();
            prop_assert!(output.is_error, "{} {}", tool, output.all_text());
            compare(tool, &judged, &output, &before, &root);
        }
    }
}
