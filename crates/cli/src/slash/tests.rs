//! Lines of the chat.

use super::*;

#[test]
fn the_definitions_are_sound() {
    Slash::command().debug_assert();
}

#[test]
fn commands_are_distinguished_from_prompts_and_paths() {
    assert!(matches!(parse("/switch @go"), Line::Command(_)));
    assert!(matches!(parse("/tree  "), Line::Command(_)));
    assert!(matches!(parse("/switch"), Line::Incomplete(name) if name == "switch"));
    assert!(matches!(parse("/tre"), Line::Unknown(name, Some(near)) if name == "tre" && near == "tree"));
    assert!(matches!(parse("/swithc @a"), Line::Unknown(_, Some(near)) if near == "switch"));
    assert!(matches!(parse("/shrug that is life"), Line::Unknown(_, None)));
    assert!(matches!(parse("/etc/passwd is a file"), Line::Text));
    assert!(matches!(parse(" /shrug that is life"), Line::Text));
    assert!(matches!(parse("a / b"), Line::Text));
    assert!(matches!(parse("/"), Line::Text));
}

#[test]
fn quotes_keep_words_together_and_apostrophes_are_letters() {
    assert_eq!(
        words(r#"pop a1b2 -m "tried it, -- too slow""#),
        ["pop", "a1b2", "-m", "tried it, -- too slow"]
    );
    assert_eq!(words("label don't stop"), ["label", "don't", "stop"]);
    assert_eq!(words("name ''"), ["name", ""]);
}

#[test]
fn wrong_arguments_are_explained_in_one_line_with_the_usage() {
    let Line::Wrong(text) = parse("/undo --hard") else { panic!() };
    assert_eq!(text, "unexpected argument '--hard' found\nusage: /undo");
    let Line::Wrong(text) = parse("/pop -m") else { panic!() };
    assert!(text.starts_with("a value is required for '--message <TEXT>'"), "{text}");
    let Line::Help(text) = parse("/switch --help") else { panic!() };
    assert!(text.contains("Usage: /switch") && text.contains("--exact"), "{text}");
}

#[test]
fn every_command_of_the_seeds_and_of_pi_is_there() {
    let names: Vec<String> = specs().into_iter().map(|spec| spec.name).collect();
    let wanted = "tree fork clone branch branch-here branches switch pop push export-branch label labels name \
                  session resume new compact export import copy undo back forward diff model thinking settings hotkeys \
                  reload help quit";
    for name in wanted.split_whitespace() {
        assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "/{name}");
    }
}

#[test]
fn arguments_say_what_completes_them() {
    let completes = |name: &str| specs().into_iter().find(|spec| spec.name == name).unwrap().completes;
    assert_eq!(completes("switch"), Completes::Entries);
    assert_eq!(completes("label"), Completes::Entries);
    assert_eq!(completes("import"), Completes::Files);
    assert_eq!(completes("model"), Completes::Models);
    assert_eq!(completes("resume"), Completes::Sessions);
    assert_eq!(completes("undo"), Completes::Nothing);
}
