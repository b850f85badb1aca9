use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyModifiers};

use super::*;

fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

fn bound(keymap: &Keymap, key: &str, actions: &[Action]) -> Option<Action> {
    let chord = Chord::parse(key).unwrap();
    actions.iter().copied().find(|action| keymap.keys(*action).contains(&chord))
}

#[test]
fn every_default_key_can_be_read_and_every_id_is_its_own() {
    let mut ids = HashSet::new();
    for action in Action::ALL {
        assert!(ids.insert(action.id()), "{} twice", action.id());
        assert_eq!(Action::from_id(action.id()), Some(*action));
        for key in action.default_keys() {
            assert!(Chord::parse(key).is_some(), "{key}");
        }
    }
}

#[test]
fn ctrl_o_shows_all_and_cycles_in_the_preset_pi() {
    let actions = [Action::TreeFilterAll, Action::TreeFilterNext];
    assert_eq!(bound(&Keymap::default(), "ctrl+o", &actions), Some(Action::TreeFilterAll));
    assert_eq!(bound(&Keymap::default(), "alt+o", &actions), Some(Action::TreeFilterNext));
    assert_eq!(bound(&Keymap::new(Preset::Pi), "ctrl+o", &actions), Some(Action::TreeFilterNext));
    assert_eq!(bound(&Keymap::new(Preset::Pi), "ctrl+a", &actions), Some(Action::TreeFilterAll));
}

#[test]
fn a_letter_types_while_something_is_typed_and_acts_otherwise() {
    let keymap = Keymap::default();
    let shift_l = key(KeyCode::Char('L'), KeyModifiers::SHIFT);
    let f2 = key(KeyCode::F(2), KeyModifiers::NONE);
    let actions = [Action::TreeEditLabel];
    let label = Some(Input::Action(Action::TreeEditLabel));
    assert_eq!(keymap.input(&shift_l, &actions, Letters::Act), label);
    assert_eq!(keymap.input(&shift_l, &actions, Letters::Type), Some(Input::Char('L')));
    assert_eq!(keymap.input(&f2, &actions, Letters::Type), label);
}

#[test]
fn pasted_text_is_text_whatever_it_holds() {
    let pasted = Event::Paste("LT\x1b[A\r".into());
    let input = Keymap::default().input(&pasted, Action::ALL, Letters::Act);
    assert_eq!(input, Some(Input::Paste("LT\x1b[A\r".into())));
}

#[test]
fn a_file_binds_one_key_or_a_list_and_an_empty_list_switches_off() {
    let text = r#"{"$schema": "x", "app.tree.editLabel": "ctrl+e", "app.help": [],
        "tui.select.up": ["up", "ctrl+p"], "treeFoldOrUp": "f5"}"#;
    let (keymap, errors) = Keymap::with_file(Preset::Offshoot, text);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(keymap.names(Action::TreeEditLabel), "Ctrl+E");
    assert_eq!(keymap.names(Action::SelectUp), "↑, Ctrl+P");
    assert_eq!(keymap.names(Action::TreeFold), "F5");
    assert_eq!(keymap.name(Action::Help), None);
    assert_eq!(keymap.names(Action::SelectDown), "↓");
}

#[test]
fn errors_of_a_file_are_reported_and_the_rest_is_used() {
    let text =
        r#"{"app.tree.editlabel": "f9", "app.help": "f13x", "tui.select.up": 3, "tui.select.down": "j"}"#;
    let (keymap, errors) = Keymap::with_file(Preset::Offshoot, text);
    assert_eq!(
        errors,
        [
            "no action `app.tree.editlabel`, did you mean `app.tree.editLabel`",
            "no key `f13x` (for `app.help`)",
            "`tui.select.up` needs a key or a list of keys",
        ]
    );
    assert_eq!(keymap.names(Action::SelectDown), "j");
    assert_eq!(keymap.names(Action::SelectUp), "↑");
}

#[test]
fn a_file_that_is_no_object_changes_nothing() {
    let (_, errors) = Keymap::with_file(Preset::Offshoot, "[]");
    assert!(errors[0].contains("must be an object"), "{errors:?}");
    let (keymap, errors) = Keymap::with_file(Preset::Offshoot, "{");
    assert!(errors[0].contains("is no JSON"), "{errors:?}");
    assert_eq!(keymap.names(Action::SelectUp), "↑");
}

#[test]
fn the_id_counts_when_a_file_has_the_old_name_too() {
    for text in [r#"{"undo": "f7", "tui.editor.undo": "f8"}"#, r#"{"tui.editor.undo": "f8", "undo": "f7"}"#] {
        let (keymap, errors) = Keymap::with_file(Preset::Offshoot, text);
        assert_eq!((keymap.names(Action::Undo).as_str(), errors.len()), ("F8", 0));
    }
}

#[test]
fn what_only_pi_does_is_told() {
    let (_, errors) =
        Keymap::with_file(Preset::Offshoot, r#"{"tui.editor.yankPop": "f5", "jumpForward": []}"#);
    assert_eq!(errors, ["`tui.editor.yankPop` has no effect here", "`jumpForward` has no effect here"]);
}

#[test]
fn every_action_is_taken_by_some_part_of_the_screen() {
    let sources = |folder: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut left = vec![folder];
        let mut text = String::new();
        while let Some(path) = left.pop() {
            match path.is_dir() {
                true => left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path())),
                false if path.ends_with("keys/action.rs") => {}
                false => text.push_str(&std::fs::read_to_string(path).unwrap()),
            }
        }
        text
    };
    let text = sources("src") + &sources("../cli/src");
    let named = |action: &&Action| {
        let name = format!("Action::{action:?}");
        text.match_indices(&name).any(|(at, _)| !text[at + name.len()..].starts_with(char::is_alphanumeric))
    };
    let idle: Vec<&Action> = Action::ALL.iter().filter(|action| !named(action)).collect();
    assert!(idle.is_empty(), "no part of the screen takes {idle:?}");
}
