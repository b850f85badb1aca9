//! The tree selector of the terminal on 100,000 entries: opening it, and every key with the frame that follows.

use std::time::Duration;

use offshoot_tui::keys::{Action, Input, Keymap};
use offshoot_tui::ratatui::buffer::Buffer;
use offshoot_tui::ratatui::layout::Rect;
use offshoot_tui::theme::Theme;
use offshoot_tui::time::Local;
use offshoot_tui::tree::{TreeOptions, TreeSelector};
use session_tree::{Session, Timestamp};

use super::{Bench, against_peer};
use crate::Failure;
use crate::clock::{best, cpu_of};
use crate::table::Line;

/// A large terminal, with the preview beside the list.
const SCREEN: Rect = Rect { x: 0, y: 0, width: 120, height: 40 };
const WALK: [Action; 6] = [
    Action::SelectUp,
    Action::SelectPageUp,
    Action::SelectFirst,
    Action::SelectLast,
    Action::TreeFold,
    Action::TreeUnfold,
];
const FILTERS: [Action; 6] = [
    Action::TreeFilterUser,
    Action::TreeFilterNoTools,
    Action::TreeFilterTurns,
    Action::SelectPageUp,
    Action::TreeFilterBranches,
    Action::TreeFilterAll,
];
const QUERY: &str = "parser";

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let session = Session::open_read_only(bench.files.realistic(100_000)?)?;
    let peer = bench.ask_peer(&bench.files.realistic(12_000)?, &["outline"], "")?;
    let peer = peer.as_ref();
    let open = best(bench.runs, || cpu_of(|| first_frame(&session)))?;
    let walk = best(bench.runs, || slowest(&session, WALK.map(Input::Action).to_vec()))?;
    let filter = best(bench.runs, || slowest(&session, FILTERS.map(Input::Action).to_vec()))?;
    let typed = best(bench.runs, || slowest(&session, QUERY.chars().map(Input::Char).collect()))?;
    let key = Duration::from_millis(16);
    Ok(vec![
        against_peer("tree of 100k entries: first frame (pi: of 12k)", open, peer, "outline", 20.0)?,
        Line::limit("the same", open, Duration::from_millis(50)),
        Line::limit("slowest key that moves or folds, with its frame", walk, key),
        against_peer("slowest filter key, with its frame (pi: of 12k)", filter, peer, "filter", 20.0)?,
        Line::limit("the same", filter, key),
        against_peer("slowest letter of a query, with its frame (pi: of 12k)", typed, peer, "search", 20.0)?,
        Line::limit("the same", typed, key),
    ])
}

/// A selector and the screen it is drawn on.
pub(crate) struct Shown {
    tree: TreeSelector,
    keymap: Keymap,
    cells: Buffer,
}

/// Opens the selector and draws it.
pub(crate) fn first_frame(session: &Session) -> Result<Shown, Failure> {
    let tree = TreeSelector::open(session, TreeOptions::default()).ok_or("no entries")?;
    let mut shown = Shown { tree, keymap: Keymap::default(), cells: Buffer::empty(SCREEN) };
    shown.frame(session);
    Ok(shown)
}

impl Shown {
    /// Presses a key and draws what follows.
    pub(crate) fn press(&mut self, session: &Session, key: &Input) {
        self.tree.update(session, key);
        self.frame(session);
    }

    fn frame(&mut self, session: &Session) {
        let local = Local::utc(Timestamp::from_millis(0));
        self.tree.prepare(session, Theme::dark(), local, SCREEN);
        self.tree.draw(Theme::dark(), &self.keymap, SCREEN, &mut self.cells);
    }
}

/// Presses keys one after another and returns the time of the slowest, with its frame.
pub(crate) fn slowest(session: &Session, keys: Vec<Input>) -> Result<Duration, Failure> {
    let mut shown = first_frame(session)?;
    let mut slowest = Duration::ZERO;
    for key in keys {
        let time = cpu_of(|| {
            shown.press(session, &key);
            Ok(())
        })?;
        slowest = slowest.max(time);
    }
    Ok(slowest)
}
