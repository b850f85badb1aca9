use super::{Color, TOKENS, ThemeFile, Themes};

/// Makes a theme whose tokens all have one colour, with changes.
fn theme(more: &str) -> String {
    let tokens: Vec<String> =
        TOKENS.split_whitespace().map(|token| format!("\"{token}\": \"base\"")).collect();
    format!(
        "{{\"name\": \"sea\",\n\"vars\": {{\"base\": \"#102030\", \"one\": \"two\", \"two\": \"one\"}},\n\"colors\": {{\n{}{more}}}}}",
        tokens.join(",\n")
    )
}

#[test]
fn variables_are_followed_and_optional_tokens_filled() {
    let theme = ThemeFile::parse(&theme(""), "file").unwrap();
    assert_eq!(theme.name, "sea");
    assert_eq!(theme.colors["accent"], Color::Rgb(16, 32, 48));
    assert_eq!(theme.colors["thinkingMax"], theme.colors["thinkingXhigh"]);
}

#[test]
fn a_broken_theme_is_reported_with_line_and_field() {
    let last = TOKENS.split_whitespace().count() + 4;
    let wrong = ThemeFile::parse(&theme(",\n\"thinkingMax\": \"blurple\""), "").unwrap_err();
    assert_eq!(wrong, format!("{last}: `colors.thinkingMax`: `blurple` is neither a colour nor a variable"));
    let circle = ThemeFile::parse(&theme(",\n\"thinkingMax\": \"one\""), "").unwrap_err();
    assert!(circle.ends_with("its variables name each other in a circle"), "{circle}");
    let missing = ThemeFile::parse("{\n\"colors\": {\"accent\": \"\"}}", "").unwrap_err();
    assert!(missing.starts_with("2: `colors` lacks border, borderAccent"), "{missing}");
    let syntax = ThemeFile::parse("{\n\"colors\": }", "").unwrap_err();
    assert!(syntax.starts_with("2: expected value"), "{syntax}");
}

#[test]
fn files_are_listed_behind_the_built_in_themes() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.json"), theme("")).unwrap();
    std::fs::write(home.path().join("b.json"), "{").unwrap();
    std::fs::write(home.path().join("c.txt"), "").unwrap();
    let themes = Themes::default();
    let problems = themes.load(&[home.path().to_owned(), home.path().join("missing")]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("b.json:1: "), "{problems:?}");
    let names: Vec<String> = themes.list().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["dark", "light", "sea"]);
    assert!(themes.choose("none").unwrap_err().contains("dark, light, sea"));
    assert_eq!(themes.choose("sea").unwrap().colors["text"], Color::Rgb(16, 32, 48));
    assert_eq!(themes.current().0, 1);
}
