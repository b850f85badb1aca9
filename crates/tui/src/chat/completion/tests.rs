use super::*;
use crate::screen;

struct Fixed;

impl Sources for Fixed {
    fn candidates(&self, kind: Completes, _: &str) -> Vec<Candidate> {
        let texts: &[&str] = match kind {
            Completes::Entries => &["@baseline", "leaf", "root"],
            Completes::Files => &["src/main.rs", "src/lib.rs", "docs/manual.md"],
            _ => &[],
        };
        texts.iter().map(|text| Candidate { text: (*text).into(), what: String::new() }).collect()
    }
}

fn commands() -> Vec<CommandSpec> {
    let command = |name: &str, arguments: &str, completes| CommandSpec {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        what: format!("do {name}"),
        completes,
    };
    vec![
        command("branch-here", "REF", Completes::Entries),
        command("branches", "", Completes::Nothing),
        command("diff", "REF [REF]", Completes::Entries),
        command("export-branch", "REF", Completes::Entries),
        command("quit", "", Completes::Nothing),
        command("session", "", Completes::Nothing),
        command("switch", "REF", Completes::Entries),
        command("undo", "", Completes::Nothing),
    ]
}

fn complete(before: &str) -> Option<Completion> {
    let commands = commands();
    Completion::find(wanted(0, before, &commands)?, &Fixed, &commands)
}

fn found(before: &str) -> Vec<String> {
    complete(before)
        .map(|found| found.candidates.into_iter().map(|one| one.text).collect())
        .unwrap_or_default()
}

#[test]
fn a_slash_completes_commands_and_a_command_its_arguments() {
    assert_eq!(found("/bra"), ["branch-here", "branches", "export-branch"]);
    assert_eq!(found("/switch base"), ["@baseline"]);
    assert_eq!(found("/diff leaf @b"), ["@baseline"]);
    assert_eq!(found("/undo x"), [""; 0]);
    assert_eq!(found("/quit"), [""; 0]);
}

#[test]
fn an_at_sign_completes_files_by_name_path_or_letters() {
    assert_eq!(found("look at @main"), ["src/main.rs"]);
    assert_eq!(found("@srl"), ["src/lib.rs"]);
    assert_eq!(found("mail@"), [""; 0]);
    assert_eq!(wanted(3, "/not a command", &commands()), None);
}

#[test]
fn the_list_shows_what_is_selected() {
    let mut completion = complete("/s").unwrap();
    completion.step(true);
    let shown = screen::text(50, 3, |area, buf| completion.draw(Theme::dark(), area, buf));
    insta::assert_snapshot!(shown, @"
      /session   do session
    › /switch    REF  do switch
      /branches  do branches
    ");
}
