//! Other programs that have the session open, and sessions that cannot be written.

use std::path::Path;

use offshoot_agent::error::chain;
use session_tree::Entry;

use super::App;
use crate::chat::item::Tone;
use crate::dialog::{Item, Question};
use crate::numbers::count;

/// The way out of a session that cannot be written.
const READ_ONLY: &str = "read only; /clone continues in a copy";

/// The changes that other programs make to the session.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// True after another program added entries, until the user goes on.
    has_appended: bool,
    /// The reason why the entries of other programs cannot be read.
    error: Option<String>,
}

impl Sharing {
    /// Notes that the user goes on.
    pub(super) fn went_on(&mut self) {
        self.has_appended = false;
    }
}

impl App<'_> {
    /// Shows other programs that the session is open here; asks the user how to go on if one of them has it, too.
    pub(super) fn announce(&mut self) {
        let id = self.agent.read(|session| session.header().id().into_owned());
        self.services.announce(&id);
        self.update_remark();
        if !self.services.is_open_elsewhere(&id) {
            return;
        }
        let answers = vec![
            Item::new("Continue here", "the prompts of both programs become two branches"),
            Item::new("Read only", "print what the other program adds to this branch"),
            Item::new("Fork", "continue in a copy"),
            Item::new("Quit", "without a change"),
        ];
        let question = Question::new("Another program has this session open", "", answers);
        self.open_question(question, |app, answer| match answer {
            Some(1) => app.look_on(),
            Some(2) => app.submit("/clone"),
            Some(3) => app.is_over = true,
            _ => {}
        });
    }

    /// Continues without writing anything.
    fn look_on(&mut self) {
        let Some(path) = self.agent.read(|session| session.file().map(Path::to_path_buf)) else { return };
        match self.services.options().open_read_only(path) {
            Ok(session) => {
                self.agent.watch_only(session);
                self.update_remark();
                self.tell(Tone::Info, READ_ONLY);
            }
            Err(error) => self.fail_with(error),
        }
    }

    /// Returns true, and reports it, if the session cannot be written.
    pub(super) fn is_read_only(&mut self) -> bool {
        let is_read_only = self.agent.read(|session| session.read_only().is_some());
        if is_read_only {
            self.tell(Tone::Warning, READ_ONLY);
        }
        is_read_only
    }

    /// In a session that is read only, moves on with what another program appended to this branch and prints it.
    /// Returns false if the last entry is not below the leaf.
    fn follow(&mut self, appended: &[Entry]) -> bool {
        let Some(last) = appended.last() else { return false };
        let known = self.agent.follow(last.id());
        let Some(known) = known else { return false };
        self.print_path_from(known);
        self.refresh();
        true
    }

    /// Updates the remark about the session in the footer.
    pub(super) fn update_remark(&mut self) {
        let (id, is_read_only, notice) = self.agent.read(|session| {
            let notice = session.notice().map(|notice| notice.into_owned());
            (session.header().id().into_owned(), session.read_only().is_some(), notice)
        });
        self.chat.footer.remark = match &self.sharing.error {
            _ if notice.is_some() => notice,
            Some(error) => Some(error.clone()),
            None if is_read_only => Some("read only".to_owned()),
            None if self.services.is_open_elsewhere(&id) => Some("also open elsewhere".to_owned()),
            None => self.sharing.has_appended.then(|| "also used elsewhere".to_owned()),
        };
    }

    /// Reads the entries that other programs appended to the session.
    pub(super) fn poll_others(&mut self) {
        let caught = self.agent.catch_up();
        self.sharing.error = caught.as_ref().err().map(|error| chain(error));
        match caught {
            Ok(entries) if entries.is_empty() => {}
            Ok(entries) if self.follow(&entries) => {}
            Ok(entries) => {
                let text = format!(
                    "another program added {} to this session; /tree shows them",
                    count(entries.len(), "entry")
                );
                self.sharing.has_appended = true;
                self.tell(Tone::Warning, text);
                self.refresh();
            }
            Err(_) => {}
        }
        self.update_remark();
    }
}
