//! The extensions of a project: never loaded before the user agrees, never with other code, never by default in
//! scripts.

use super::*;

/// An extension that leaves a file, `loaded`, where it is loaded.
pub(crate) const MARK: &str = r#"
import * as fs from "node:fs";
fs.writeFileSync("loaded", "");
export default () => {};
"#;

/// Tells whether the extension of the project was loaded.
fn loads(home: &Home, arguments: &[&str]) -> bool {
    let run = home.run(&[arguments, &["-p", "hi", "--no-session"]].concat());
    run.ok();
    std::fs::remove_file(home.path("project/loaded")).is_ok()
}

#[test]
fn the_extensions_of_a_project_need_a_word_on_the_command_line_in_scripts() {
    for place in [".offshoot/extensions", ".offshoot/hooks", ".pi/extensions"] {
        let home = Home::new();
        home.file(&format!("project/{place}/x.ts"), MARK);
        assert!(!loads(&home, &[]), "{place}: nobody was asked");
        assert!(loads(&home, &["--approve"]), "{place}: said for this run");
        assert!(!loads(&home, &["--approve", "--no-extensions"]), "{place}");
        home.run(&["trust", "--yes"]).ok();
        assert!(!loads(&home, &[]), "{place}: trusted, but nobody could be asked if it did harm");
        let told = home.run(&["-p", "hi", "--no-session"]);
        assert!(told.err().contains("`--approve` loads them in this run"), "{told}");
        assert!(!loads(&home, &["--mode", "json"]), "{place}");
    }
}

#[test]
fn what_a_project_lists_in_its_settings_is_not_loaded() {
    let home = Home::new();
    home.file("project/tools/x.ts", MARK);
    home.file(
        "project/.offshoot/settings.json",
        r#"{"extensions": ["../tools/x.ts"], "piExtensions": false}"#,
    );
    let run = home.run(&["-p", "hi", "--no-session", "--approve"]);
    assert!(run.err().contains("`extensions` of a project does not count"), "{run}");
    assert!(!home.path("project/loaded").exists());
}

#[test]
fn an_extension_of_a_project_imports_only_what_was_trusted_with_it() {
    let home = Home::new();
    home.file("project/.offshoot/extensions/x.ts", "import '../../outside.ts'; export default () => {};");
    home.file("project/.pi/extensions/p/package.json", r#"{"pi": {"extensions": ["../../../outside.ts"]}}"#);
    home.file("project/outside.ts", MARK);
    let other = home.file("project/other.ts", MARK);
    std::os::unix::fs::symlink(other, home.path("project/.pi/extensions/link.ts")).unwrap();
    let run = home.run(&["-p", "hi", "--no-session", "--approve"]);
    assert_eq!(run.err().matches("cannot load extension").count(), 3, "{run}");
    assert!(!home.path("project/loaded").exists());
}
