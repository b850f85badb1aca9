#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use super::first_need;

/// Looks at an extension that imports a file.
fn need(text: &str, imported: &str) -> Option<String> {
    let home = tempfile::tempdir().unwrap();
    let entry = home.path().join("main.ts");
    fs::write(&entry, text).unwrap();
    fs::write(home.path().join("part.ts"), imported).unwrap();
    first_need(&entry).map(|need| need.what)
}

#[test]
fn a_need_is_named() {
    let of = |text: &str| need(text, "");
    assert_eq!(of("import { a } from 'node:net'; a"), Some("node:net".to_owned()));
    assert_eq!(of("import { a } from 'dns/promises'; a"), Some("node:dns/promises".to_owned()));
    assert_eq!(
        of("import { noSuchFunction } from 'fs'; noSuchFunction"),
        Some("`noSuchFunction` of node:fs".to_owned())
    );
    assert_eq!(of("WebAssembly.compile"), Some("`WebAssembly`".to_owned()));
    assert_eq!(of("import { a } from 'node:net'; let b: a"), None, "a type is no need");
    assert_eq!(of("export default (WebAssembly) => WebAssembly"), None, "it has its own");
}

#[test]
fn imported_files_are_looked_at_once() {
    assert_eq!(
        need("import './part'; import './part.js'", "import './main'; import 'node:vm'"),
        Some("node:vm".to_owned())
    );
    assert_eq!(need("export * from './part'", "export const a = 1"), None);
    assert_eq!(need("import './part'", "this is no script"), None, "loading reports it");
}

#[test]
fn a_file_that_changed_is_looked_at_again() {
    let home = tempfile::tempdir().unwrap();
    let entry = home.path().join("main.ts");
    let part = home.path().join("part.ts");
    fs::write(&entry, "import './part'").unwrap();
    fs::write(&part, "").unwrap();
    assert_eq!(first_need(&entry), None);
    fs::write(&part, "import 'node:vm'").unwrap();
    assert_eq!(first_need(&entry).unwrap().file, part);
}
