//! The fork selector.

use super::*;
use crate::screen;
use testkit::drawing::session_text;

const TWO_BRANCHES: &str = r#"
    u1 user Build a CLI
    a1<u1 assistant Which language?
    u2<a1 user Use Node
    a2<u2 assistant Node it is.
    u3<a1 user Use Rust
    a3<u3 assistant Rust it is.
    ! {"type":"message","id":"u4","parentId":"a3","timestamp":"2025-01-01T00:00:12.000Z","message":{"role":"user","content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}}
    a4<u4 assistant A picture.
"#;

fn session(drawing: &str) -> Session {
    Session::from_bytes(session_text(drawing)).unwrap()
}

fn shown(list: &mut PromptList) -> String {
    screen::text(70, 8, |area, buf| list.draw(Theme::plain(), &Keymap::default(), area, buf))
}

fn act(list: &mut PromptList, session: &Session, action: Action) -> Option<Answer<EntryId>> {
    list.update(session, &Input::Action(action))
}

#[test]
fn it_is_a_flat_list_of_the_prompts_of_this_branch_that_says_what_enter_does() {
    let session = session(TWO_BRANCHES);
    let mut list = PromptList::open(&session).unwrap();
    insta::assert_snapshot!(shown(&mut list), @r"
    ── Fork before a prompt of this branch ───────────────────────────────
     ⌕ type to search
      Build a CLI
      Use Rust
    › [1 image]


     Enter fork before it · Esc back · Tab this branch or all
    ");
    assert_eq!(act(&mut list, &session, Action::SelectUp), None);
    assert_eq!(act(&mut list, &session, Action::SelectConfirm), Some(Answer::Given("u3".into())));
}

#[test]
fn a_key_shows_the_prompts_of_all_branches_and_keeps_the_cursor() {
    let session = session(TWO_BRANCHES);
    let mut list = PromptList::open(&session).unwrap();
    act(&mut list, &session, Action::SelectUp);
    act(&mut list, &session, Action::ForkScope);
    insta::assert_snapshot!(shown(&mut list), @r"
    ── Fork before a prompt of any branch ────────────────────────────────
     ⌕ type to search
      Build a CLI
      Use Node     branch: Use Node
    › Use Rust
      [1 image]

     Enter fork before it · Esc back · Tab this branch or all
    ");
    act(&mut list, &session, Action::SelectUp);
    assert_eq!(act(&mut list, &session, Action::SelectConfirm), Some(Answer::Given("u2".into())));
    act(&mut list, &session, Action::ForkScope);
    assert!(shown(&mut list).contains("this branch"), "{}", shown(&mut list));
    assert_eq!(act(&mut list, &session, Action::SelectCancel), Some(Answer::Cancelled));
}

#[test]
fn a_session_without_prompts_has_no_list() {
    assert!(PromptList::open(&session("m1 model p/m")).is_none());
}

#[test]
fn before_the_first_prompt_the_prompts_of_other_branches_show() {
    let mut session = session(TWO_BRANCHES);
    session.reset_leaf();
    let mut list = PromptList::open(&session).unwrap();
    assert!(shown(&mut list).contains("Use Node"), "{}", shown(&mut list));
}
