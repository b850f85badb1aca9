//! The order of the modules: each uses only those above it in `lib.rs`, by path and by method. None deals with a
//! screen.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn lib() -> String {
    fs::read_to_string(sources().join("lib.rs")).unwrap()
}

/// Returns the modules in the order of `lib.rs`: the base types, then the others.
fn modules() -> (Vec<String>, Vec<String>) {
    let lib = lib();
    let (base, walk) = lib.split_once("// The straight walk").unwrap();
    let name = |line: &str| {
        line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    };
    (base.lines().filter_map(name).collect(), walk.lines().filter_map(name).collect())
}

/// Returns the text of a module and its submodules, without tests.
fn text_of(module: &str) -> String {
    let mut text = String::new();
    let mut open = vec![sources().join(format!("{module}.rs")), sources().join(module)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.exists() && !path.iter().any(is_test) {
            let file = fs::read_to_string(path).unwrap();
            text.push_str(file.split("#[cfg(test)]\nmod tests {").next().unwrap());
        }
    }
    text
}

/// The conformance suite of journals is test code that uses sessions.
fn is_test(part: &std::ffi::OsStr) -> bool {
    ["tests", "tests.rs", "conformance", "conformance.rs"].iter().any(|name| part == *name)
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Returns the words that follow `mark`.
fn words_after<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(mark).skip(1).map(word).filter(|word| !word.is_empty())
}

#[test]
fn a_module_uses_only_modules_above_it() {
    let (_, modules) = modules();
    assert!(modules.len() > 15, "{modules:?}");
    let mut wrong = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        let text = text_of(module);
        assert!(!text.is_empty(), "{module}");
        let is_below = |used: &&str| modules[place + 1..].iter().any(|below| below == used);
        wrong.extend(
            words_after(&text, "crate::").filter(is_below).map(|used| format!("{module} uses {used}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A method and its type.
type Method = (String, String);

/// Returns the methods of a text and the types that it defines.
fn methods_and_types(text: &str) -> (HashSet<Method>, HashSet<String>) {
    let (mut methods, mut types, mut owner) = (HashSet::new(), HashSet::new(), None);
    for line in text.lines() {
        let item = line
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ")
            .trim_start_matches("pub ");
        if let Some(name) = ["struct ", "enum ", "trait "].iter().find_map(|kind| item.strip_prefix(kind)) {
            types.insert(word(name).to_owned());
        } else if let Some(head) = line.strip_prefix("impl") {
            // Trait methods belong to the module of the trait.
            owner = Some(owner_of(head).to_owned()).filter(|_| !head.contains(" for "));
        } else if line == "}" {
            owner = None;
        } else if let (Some(owner), Some((_, name))) = (&owner, line.split_once("fn "))
            && line.starts_with("    ")
            && !line.starts_with("     ")
            && !line.trim_start().starts_with("//")
        {
            methods.insert((owner.clone(), word(name).to_owned()));
        }
    }
    (methods, types)
}

/// Returns the type of an `impl`, given the text after that word.
fn owner_of(head: &str) -> &str {
    let mut depth = 0;
    let start = head.find(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c.is_ascii_alphabetic()
    });
    word(&head[start.unwrap_or(head.len())..])
}

/// Finds calls of methods that only a lower module adds to a type; `modules` are (name, text) in order.
fn wrong_calls(base: &str, modules: &[(&str, String)]) -> Vec<String> {
    let parsed: Vec<_> = modules.iter().map(|(_, text)| methods_and_types(text)).collect();
    let (in_base, _) = methods_and_types(base);
    let (mut first_with, mut added): (HashMap<&str, usize>, HashMap<&str, usize>) = Default::default();
    for (place, (methods, types)) in parsed.iter().enumerate() {
        for (owner, name) in methods {
            first_with.entry(name).or_insert(place);
            if !types.contains(owner) {
                added.entry(name).or_insert(place);
            }
        }
    }
    added.retain(|name, _| !in_base.iter().any(|(_, other)| other == name));
    let mut wrong = Vec::new();
    for (place, (module, text)) in modules.iter().enumerate() {
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let code = text.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        let is_called = |name: &str| [".", "::"].iter().any(|mark| code.contains(&format!("{mark}{name}(")));
        // A module above may have a method of the same name.
        let below = added.keys().filter(|name| first_with[**name] > place && is_called(name));
        wrong.extend(below.map(|name| format!("{module} calls {name}")));
    }
    wrong
}

#[test]
fn a_module_calls_only_methods_of_modules_above_it() {
    let (base, modules) = modules();
    let base: String = base.iter().map(|module| text_of(module)).collect();
    let modules: Vec<(&str, String)> =
        modules.iter().map(|module| (module.as_str(), text_of(module))).collect();
    let wrong = wrong_calls(&base, &modules);
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_call_of_a_method_from_below_is_found() {
    let session = "pub struct Session;\nimpl Session {\n    pub fn name(&self) {}\n}\n";
    let above = "fn text(session: &Session) {\n    session.name();\n    session.branch_name();\n}\n";
    let below = "impl<'s> Session {\n    pub(crate) fn branch_name(&self) {}\n    fn name(&self) {}\n}\n";
    let modules =
        [("session", session.to_owned()), ("rows", above.to_owned()), ("branches", below.to_owned())];
    assert_eq!(wrong_calls("", &modules), ["rows calls branch_name"]);
}

/// Words of a screen. `row`, `column` and `window` are missing, because indexes and models use them too.
const SCREEN_WORDS: [&str; 22] = [
    "ansi",
    "charset",
    "color",
    "colors",
    "colour",
    "colours",
    "glyph",
    "glyphs",
    "highlight",
    "highlights",
    "indent",
    "indented",
    "outline",
    "outlines",
    "redraw",
    "screen",
    "screens",
    "scroll",
    "terminal",
    "tui",
    "viewport",
    "width",
];

fn is_about_a_screen(line: &str) -> bool {
    // Arrows, box drawing, blocks, shapes and dingbats.
    let is_glyph = |c: char| matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2500}'..='\u{27bf}');
    let (mut spaced, mut before) = (String::new(), ' ');
    for c in line.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_ascii_alphabetic() { c.to_ascii_lowercase() } else { ' ' });
        before = c;
    }
    line.contains(is_glyph) || spaced.split(' ').any(|word| SCREEN_WORDS.contains(&word))
}

#[test]
fn the_engine_has_no_notion_of_a_screen() {
    for line in
        ["struct OutlineRow;", "fn row_width()", "const MAX_WIDTH: u8", "\"├─ \"", "// for the screen."]
    {
        assert!(is_about_a_screen(line), "{line}");
    }
    let (base, modules) = modules();
    let texts = base.iter().chain(&modules).map(|module| (module.as_str(), text_of(module)));
    let wrong: Vec<String> = texts
        .chain([("lib", lib())])
        .flat_map(|(module, text)| {
            let lines = text.lines().filter(|line| is_about_a_screen(line));
            lines.map(|line| format!("{module}: {}", line.trim())).collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
