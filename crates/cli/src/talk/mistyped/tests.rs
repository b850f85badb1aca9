use super::*;

const COMMANDS: [&str; 8] = ["tree", "sessions", "branches", "label", "fork", "show", "man", "export-branch"];

fn hint(line: &[&str]) -> Option<String> {
    let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
    mistyped(&words, &COMMANDS).map(|failure| failure.hints[0].clone())
}

#[test]
fn a_word_close_to_a_command_is_no_prompt() {
    for (line, command) in [
        (&["trea", "s.jsonl"][..], "tree"),
        (&["rtee", "s.jsonl"], "tree"),
        (&["lable"], "label"),
        (&["sesions"], "sessions"),
        (&["branch"], "branches"),
        (&["export-brnch", "x", "y"], "export-branch"),
        (&["uninstall", "npm:x"], "remove"),
    ] {
        assert_eq!(hint(line), Some(format!("did you mean `offshoot {command}`?")), "{line:?}");
    }
    assert!(hint(&["hello"]).is_some(), "a single word may be a command");
}

#[test]
fn sentences_are_prompts() {
    for line in [
        &["fix the bug"][..],
        &["how", "does", "it", "work"],
        &["can", "you", "help"],
        &["work", "on", "the", "parser"],
        &["install", "the", "dependencies"],
        &["update", "src/main.rs", "to", "use", "clap"],
        &["Trees", "are", "great"],
        &["!ls"],
        &["/hello"],
        &["@notes.md"],
    ] {
        assert_eq!(hint(line), None, "{line:?}");
    }
}
