//! Opens a session file and runs the tree selector alone: `cargo run -p offshoot-tui --example tree -- session.jsonl`.
//!
//! Changes nothing: what would be done is printed at the end.
#![allow(clippy::print_stdout, reason = "an example that is run by hand")]

use std::error::Error;
use std::time::{Duration, Instant};

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use offshoot_tui::keys::Keymap;
use offshoot_tui::theme::Theme;
use offshoot_tui::time::Local;
use offshoot_tui::tree::{Outcome, TreeOptions, TreeSelector};
use session_tree::{Clock, Session, SystemClock};

/// How many bytes are searched between two looks at the keyboard.
const STEP: u64 = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which session file?")?;
    let session = Session::open_read_only(path)?;
    let home = std::env::var("HOME").ok();
    let started = Instant::now();
    let options = TreeOptions { home, ..TreeOptions::default() };
    let Some(mut tree) = TreeSelector::open(&session, options) else {
        println!("No entries in session");
        return Ok(());
    };
    let opened = started.elapsed();
    let mut terminal = ratatui::init();
    crossterm::execute!(std::io::stdout(), EnableBracketedPaste)?;
    let outcome = run(&mut terminal, &session, &mut tree);
    crossterm::execute!(std::io::stdout(), DisableBracketedPaste)?;
    ratatui::restore();
    let (outcome, slowest) = outcome?;
    println!("{outcome:?}; opened in {opened:?}, slowest key {slowest:?}");
    Ok(())
}

fn run(
    terminal: &mut ratatui::DefaultTerminal,
    session: &Session,
    tree: &mut TreeSelector,
) -> Result<(Outcome, Duration), Box<dyn Error>> {
    let (theme, keymap) = (Theme::default(), Keymap::default());
    let mut slowest = Duration::ZERO;
    loop {
        let now = Instant::now();
        terminal.draw(|frame| {
            let area = frame.area();
            tree.prepare(session, theme, Local::utc(SystemClock.now()), area);
            tree.draw(theme, &keymap, area, frame.buffer_mut());
        })?;
        slowest = slowest.max(now.elapsed());
        while !event::poll(Duration::ZERO)? && tree.search_step(session, STEP) {}
        let event: Event = event::read()?;
        let now = Instant::now();
        let outcome = tree.input(&keymap, &event).and_then(|input| tree.update(session, &input));
        slowest = slowest.max(now.elapsed());
        match outcome {
            Some(outcome) if outcome.stays_open() => tree.set_notice(format!("would do {outcome:?}")),
            Some(outcome) => return Ok((outcome, slowest)),
            None => {}
        }
    }
}
