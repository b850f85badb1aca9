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

use super::{Bench, against};
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
/// The filters that pi has too, in the order that its script has them.
const SHARED_FILTERS: [Action; 5] = [
    Action::TreeFilterUser,
    Action::TreeFilterNoTools,
    Action::TreeFilterLabeled,
    Action::TreeFilterAll,
    Action::TreeFilterDefault,
];
const QUERY: &str = "parser";
/// How many times as fast as pi every key has to be.
const BAR: f64 = 20.0;

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let mut lines = large(bench)?;
    lines.extend(beside_pi(bench)?);
    Ok(lines)
}

fn large(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let session = Session::open_read_only(bench.files.realistic(100_000)?)?;
    let slowest = |keys| slowest(bench.runs, &session, keys);
    let key = Duration::from_millis(16);
    Ok(vec![
        Line::limit("tree of 100k entries: first frame", open(bench, &session)?, Duration::from_millis(50)),
        Line::limit("slowest key that moves or folds, with its frame", slowest(&actions(&WALK))?, key),
        Line::limit("slowest filter key, with its frame", slowest(&actions(&FILTERS))?, key),
        Line::limit("slowest letter of a query, with its frame", slowest(&letters(QUERY))?, key),
    ])
}

fn beside_pi(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let file = bench.files.realistic(12_000)?;
    let session = Session::open_read_only(&file)?;
    let works = [
        ("tree of 12k entries: first frame", open(bench, &session)?, "view"),
        (
            "slowest of pi's filters, with its frame",
            slowest(bench.runs, &session, &actions(&SHARED_FILTERS))?,
            "slowestFilter",
        ),
        (
            "slowest letter of a query, with its frame",
            slowest(bench.runs, &session, &letters(QUERY))?,
            "slowestLetter",
        ),
    ];
    let mut lines = Vec::new();
    for (name, peer) in [("pi 0.74.2", &bench.older), ("pi 1.5.0", &bench.peer)] {
        let answers =
            bench.ask(peer.as_ref(), &file, &["open", "view", "slowestFilter", "slowestLetter"], "")?;
        for (work, ours, answer) in works {
            lines.push(against(name, work, ours, answers.as_ref(), answer, BAR)?);
        }
    }
    Ok(lines)
}

fn open(bench: &Bench<'_>, session: &Session) -> Result<Duration, Failure> {
    best(bench.runs, || cpu_of(|| first_frame(session)))
}

fn actions(actions: &[Action]) -> Vec<Input> {
    actions.iter().copied().map(Input::Action).collect()
}

fn letters(text: &str) -> Vec<Input> {
    text.chars().map(Input::Char).collect()
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

/// Presses keys one after another, several times over; returns the best time of each key with its frame, and of these
/// the slowest.
pub(crate) fn slowest(runs: usize, session: &Session, keys: &[Input]) -> Result<Duration, Failure> {
    let mut times = vec![Duration::MAX; keys.len()];
    for _ in 0..runs {
        let mut shown = first_frame(session)?;
        for (key, least) in keys.iter().zip(&mut times) {
            let time = cpu_of(|| {
                shown.press(session, key);
                Ok(())
            })?;
            *least = time.min(*least);
        }
    }
    Ok(times.into_iter().max().unwrap_or_default())
}
