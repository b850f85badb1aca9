//! `docs/commands.md` has a page for every command, with the very help that the command prints.
//!
//! `UPDATE_DOCS=1 cargo test -p offshoot docs` writes the help into the pages.

use std::fs;
use std::path::Path;

use crate::support::Home;

const OPEN: &str = "```text\n";
const CLOSE: &str = "```\n";

fn commands(home: &Home) -> Vec<String> {
    let help = home.run(&["--help"]);
    let (commands, _) = help.ok().split_once("\nOptions:\n").unwrap();
    let lines = commands.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Returns where the help of a command stands in the document.
fn place(document: &str, command: &str) -> Option<std::ops::Range<usize>> {
    let title = format!("\n## {command}\n");
    let start = document.find(&title)? + title.len();
    let page = &document[start..];
    let page = &page[..page.find("\n## ").unwrap_or(page.len())];
    let from = page.find(OPEN)? + OPEN.len();
    let to = from + page[from..].find(CLOSE)?;
    Some(start + from..start + to)
}

#[test]
fn every_command_has_a_page_with_its_help() {
    let home = Home::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let mut document = fs::read_to_string(&path).unwrap();
    let names = commands(&home);
    assert!(names.len() > 20, "{names:?}");
    for name in &names {
        let help = home.run(&[name, "--help"]).ok().trim_end().to_owned() + "\n";
        let place = place(&document, name).unwrap_or_else(|| panic!("docs/commands.md has no page `{name}`"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            document.replace_range(place, &help);
        } else {
            assert_eq!(&document[place], help, "docs/commands.md, `{name}`: run the test with UPDATE_DOCS=1");
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &document).unwrap();
    }
    for page in
        document.lines().filter_map(|line| line.strip_prefix("## ")).filter(|page| !page.contains(' '))
    {
        assert!(names.iter().any(|name| name == page) || page == "Conventions", "no command `{page}`");
    }
}
