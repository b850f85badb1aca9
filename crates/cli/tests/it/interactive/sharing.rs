//! Two programs at one session.

use testkit::model_server::Reply;

use super::screen::Screen;
use super::{session, start_again, talking};
use crate::support::files;

#[test]
fn what_another_program_appends_shows_at_once() {
    let (home, _server, mut screen) = talking(&["Here."]);
    screen.ask("hello", "Here.");
    let (path, _) = session(&home);
    home.run(&["label", path.to_str().unwrap(), "leaf", "from-elsewhere"]).ok();
    screen.wait_for("another program added 1 entry");
    screen.wait_for("also used elsewhere");
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

#[test]
fn a_second_program_is_announced_and_may_look_on_or_take_a_copy() {
    let (home, server, mut first) = talking(&["Here."]);
    first.ask("hello", "Here.");

    let mut second = Screen::start(home.command(&["-c"]).env_remove("OFFSHOOT_IDS"), 100, 30);
    let shown = second.wait_for("Another program has this session open");
    for answer in ["Continue here", "Read only", "Fork", "Quit"] {
        assert!(shown.contains(answer), "{answer}:\n{shown}");
    }
    second.send("2");
    second.wait_for("read only; /clone continues in a copy");
    let before = session(&home);
    second.say("may I?");
    second.wait_for("› may I?");
    second.send("\x15");
    second.wait_without("› may I?");
    assert_eq!(session(&home), before, "nothing is written");

    // The second prints what the first adds to the branch.
    server.push(Reply::answer().text("Still here."));
    first.ask("and now?", "Still here.");
    let shown = second.wait_for("Still here.");
    assert!(shown.contains("and now?"), "{shown}");
    second.say("/clone");
    second.wait_for("cloned ");
    server.push(Reply::answer().text("In the copy."));
    second.ask("mine", "In the copy.");
    for mut screen in [first, second] {
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
    }
    assert_eq!(files(&home.path("offshoot/sessions")).len(), 2);
}

#[test]
fn nothing_is_said_before_the_person_chose_what_to_do_with_a_session_that_is_open_elsewhere() {
    let (home, server, mut first) = talking(&["Here.", "Again."]);
    first.ask("hello", "Here.");
    let before = session(&home);
    let mut second = start_again(&home, 500, &["-c", "hello again"]);
    second.wait_for("Another program has this session open");
    second.wait_for("hello again");
    second.send("4");
    assert_eq!(second.end().0, 0);
    assert_eq!((session(&home), server.requests().len()), (before, 1));
    // Who goes on says it.
    let mut second = start_again(&home, 900, &["-c", "hello again"]);
    second.wait_for("Another program has this session open");
    second.send("1");
    second.wait_for("Again.");
    second.wait_without("Working");
    for mut screen in [first, second] {
        screen.say("/quit");
        assert_eq!(screen.end().0, 0);
    }
}
