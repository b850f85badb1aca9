//! The tree selector of the terminal: opening it, and every key with the frame that follows; against the clock with
//! 100,000 entries, and against pi on the same file with as many as pi can be waited for.

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
    let large = Session::open_read_only(bench.files.realistic(100_000)?)?;
    let Times { open, walk, filter, typed } = Times::of(bench, &large)?;
    let key = Duration::from_millis(16);
    let mut lines = vec![
        Line::limit("tree of 100k entries: first frame", open, Duration::from_millis(50)),
        Line::limit("slowest key that moves or folds, with its frame", walk, key),
        Line::limit("slowest filter key, with its frame", filter, key),
        Line::limit("slowest letter of a query, with its frame", typed, key),
    ];
    let file = bench.files.realistic(12_000)?;
    let Times { open, filter, typed, .. } = Times::of(bench, &Session::open_read_only(&file)?)?;
    let peer = bench.ask_peer(&file, &["outline"], "")?;
    let peer = peer.as_ref();
    lines.push(against_peer("tree of 12k entries: first frame", open, peer, "outline", 20.0)?);
    lines.push(against_peer("slowest filter key, with its frame", filter, peer, "filter", 20.0)?);
    lines.push(against_peer("slowest letter of a query, with its frame", typed, peer, "search", 20.0)?);
    Ok(lines)
}

/// What opening and the slowest key of each kind take.
struct Times {
    open: Duration,
    walk: Duration,
    filter: Duration,
    typed: Duration,
}

impl Times {
    fn of(bench: &Bench<'_>, session: &Session) -> Result<Self, Failure> {
        let keys = |keys: Vec<Input>| best(bench.runs, || slowest(session, keys.clone()));
        Ok(Self {
            open: best(bench.runs, || cpu_of(|| first_frame(session)))?,
            walk: keys(WALK.map(Input::Action).to_vec())?,
            filter: keys(FILTERS.map(Input::Action).to_vec())?,
            typed: keys(QUERY.chars().map(Input::Char).collect())?,
        })
    }
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
