//! Skills and prompt templates in the chat, and the question about what is installed for pi.

use super::screen::ENTER;
use super::{answering, start};
use crate::support::Home;
use crate::talk::{said, set_up};

#[test]
fn templates_and_skills_are_completed_sent_and_read_again() {
    let (home, server) = (Home::new(), answering(&["Reviewed.", "Read.", "Fixed."]));
    set_up(&home, &server, "anthropic-messages");
    home.file(
        "offshoot/prompts/review.md",
        "---\ndescription: Look at it\nargument-hint: \"[focus]\"\n---\nReview ${1:-all} now.",
    );
    home.file("offshoot/skills/pdf/SKILL.md", "---\ndescription: Reads PDF files.\n---\nUse pdftotext.");
    let mut screen = start(&home, &[]);
    screen.wait_for("every conversation is a tree");
    screen.send("/rev");
    screen.wait_for("[focus] Look at it");
    screen.send(ENTER);
    screen.wait_for("› /review");
    screen.send("bugs");
    screen.send(ENTER);
    screen.wait_for("Reviewed.");
    screen.wait_without("Working");
    screen.send("/skill:p");
    screen.wait_for("Reads PDF files.");
    screen.send(ENTER);
    screen.wait_for("› /skill:pdf");
    screen.send(ENTER);
    screen.wait_for("Read.");
    screen.wait_without("Working");
    home.file("offshoot/prompts/fix.md", "Fix $1.");
    screen.say("/reload");
    screen.wait_for("reloaded");
    screen.ask("/fix it", "Fixed.");
    screen.say("/quit");
    screen.end();
    let said = said(&home).join("\n");
    for text in ["Review bugs now.", "<skill name=\"pdf\"", "Use pdftotext.", "Fix it."] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn what_is_installed_for_pi_is_asked_about_once() {
    let home = Home::new();
    home.file("pi/prompts/of-pi.md", "From pi.");
    home.file("pi/settings.json", r#"{"packages": ["npm:tools"]}"#);
    let mut screen = start(&home, &[]);
    let shown = screen.wait_for("use them in offshoot too? [yes/no/later]");
    assert!(shown.contains("pi has 1 package, 1 prompt template"), "{shown}");
    assert!(shown.contains("they run with your rights"), "{shown}");
    screen.send("yes\r");
    screen.wait_for("every conversation is a tree");
    screen.send("/of-p");
    screen.wait_for("From pi.");
    screen.send("\x15/quit\r");
    screen.end();
    let mut screen = start(&home, &[]);
    let shown = screen.wait_for("every conversation is a tree");
    assert!(!shown.contains("use them in offshoot too?"), "{shown}");
    screen.say("/quit");
    screen.end();
}
