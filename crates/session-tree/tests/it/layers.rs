//! The order of the modules: each uses only those above it in `lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The modules in the order of `lib.rs`, from the first step of the walk on.
fn modules() -> Vec<String> {
    let lib = fs::read_to_string(sources().join("lib.rs")).unwrap();
    let (_, walk) = lib.split_once("// The straight walk").unwrap();
    let name = |line: &str| {
        line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    };
    walk.lines().filter_map(name).collect()
}

/// The text of a module and of those inside it, without tests.
fn text_of(module: &str) -> String {
    let mut text = String::new();
    let mut open = vec![sources().join(format!("{module}.rs")), sources().join(module)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.exists() && !path.iter().any(|part| part == "tests" || part == "tests.rs") {
            let file = fs::read_to_string(path).unwrap();
            text.push_str(file.split("#[cfg(test)]\nmod tests {").next().unwrap());
        }
    }
    text
}

#[test]
fn a_module_uses_only_modules_above_it() {
    let modules = modules();
    assert!(modules.len() > 20, "{modules:?}");
    let mut wrong = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        let text = text_of(module);
        assert!(!text.is_empty(), "{module}");
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let used = text.split("crate::").skip(1).map(|rest| rest.split(|c| !is_word(c)).next().unwrap());
        let below = &modules[place + 1..];
        wrong.extend(
            used.filter(|used| below.iter().any(|b| b == used)).map(|used| format!("{module} uses {used}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
