use super::*;

fn selected(patterns: &[&str]) -> Vec<String> {
    let files =
        ["extensions/a.ts", "extensions/old.ts", "skills/x/SKILL.md", "skills/y/SKILL.md", "loose.md"];
    let files = files.iter().map(|file| Path::new("/p").join(file)).collect();
    let selected = Patterns::new(patterns.iter().copied()).select(files, Path::new("/p"));
    selected.iter().map(|file| file.strip_prefix("/p").unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn patterns_include_and_exclude() {
    for (patterns, expected) in [
        (&["extensions/*.ts"] as &[&str], &["extensions/a.ts", "extensions/old.ts"] as &[&str]),
        (&["extensions/*", "!**/old.ts"], &["extensions/a.ts"]),
        (&["a.ts"], &["extensions/a.ts"]),
        (&["./extensions/a.ts", "/p/loose.md"], &["extensions/a.ts", "loose.md"]),
        (
            &["*"],
            &["extensions/a.ts", "extensions/old.ts", "skills/x/SKILL.md", "skills/y/SKILL.md", "loose.md"],
        ),
        (&["x"], &["skills/x/SKILL.md"]),
        (&["skills/*"], &["skills/x/SKILL.md", "skills/y/SKILL.md"]),
        (&["!*", "+skills/x", "+loose.md", "-loose.md"], &["skills/x/SKILL.md"]),
        (&["+a.ts", "loose.md"], &["loose.md"]),
        (
            &["[", "{"],
            &["extensions/a.ts", "extensions/old.ts", "skills/x/SKILL.md", "skills/y/SKILL.md", "loose.md"],
        ),
    ] {
        assert_eq!(selected(patterns), expected, "{patterns:?}");
    }
}

#[test]
fn files_that_were_found_otherwise_are_excluded_only_by_name() {
    let allows = |patterns: &[&str], file: &str| {
        Patterns::new(patterns.iter().copied().filter(|entry| is_override(entry)))
            .allows(Path::new(file), Path::new("/p"))
    };
    assert!(allows(&["other.ts"], "/p/a.ts"));
    assert!(!allows(&["!a.*"], "/p/a.ts"));
    assert!(allows(&["!a.*", "+a.ts"], "/p/a.ts"));
    assert!(!allows(&["-/p/a.ts"], "/p/a.ts"));
}
