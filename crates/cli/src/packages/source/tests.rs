use super::*;

fn parse(text: &str) -> Result<Source, Failure> {
    Source::parse(text, Path::new("/base"), Some("/home/me"))
}

#[test]
fn sources_are_npm_git_or_paths() {
    for (text, identity, spec, is_pinned) in [
        ("npm:tools", "npm:tools", "tools", false),
        ("npm:@me/tools@1.2.3", "npm:@me/tools", "@me/tools@1.2.3", true),
        ("npm:tools@^1", "npm:tools", "tools@^1", false),
        ("npm:tools@file:/x/t-1.0.0.tgz", "npm:tools", "tools@file:/x/t-1.0.0.tgz", false),
        ("git:example.org/me/tools", "git:example.org/me/tools", "https://example.org/me/tools", false),
        (
            "git:example.org/me/tools.git@v1",
            "git:example.org/me/tools",
            "https://example.org/me/tools.git@v1",
            true,
        ),
        (
            "https://me@example.org/me/tools",
            "git:example.org/me/tools",
            "https://me@example.org/me/tools",
            false,
        ),
        ("git:git@example.org:me/tools@v1", "git:example.org/me/tools", "git@example.org:me/tools@v1", true),
        (
            "ssh://git@example.org/me/tools",
            "git:example.org/me/tools",
            "ssh://git@example.org/me/tools",
            false,
        ),
        ("git:/srv/tools@main", "git:local/srv/tools", "file:///srv/tools@main", true),
        ("./tools", "path:/base/./tools", "/base/./tools", true),
        ("~/tools", "path:/home/me/tools", "/home/me/tools", true),
    ] {
        let source = parse(text).unwrap();
        let is_like = (source.identity(), source.spec(), source.is_pinned());
        assert_eq!(is_like, (identity.to_owned(), spec.to_owned(), is_pinned), "{text}");
    }
}

#[test]
fn what_could_leave_the_directory_of_packages_or_be_an_option_is_refused() {
    for text in [
        "",
        "npm:",
        "npm:../x",
        "npm:-g",
        "npm:x@--global",
        "npm:@x",
        "npm:a b",
        "git:--upload-pack=x/y",
        "git:example.org/../../x",
        "git:example.org/x@--exec",
        "git:nodots/x",
        "git:x",
        "a\nb",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    let name = parse("npm:@me/tools").unwrap().directory();
    assert!(!name.contains('/') && name.starts_with("npm--me-tools-"), "{name}");
    assert_ne!(name, parse("npm:@me-tools/x").unwrap().directory());
}
