//! The screen: the terminal in raw mode, the rows below the scrollback, and the signals that end the program.
//!
//! The terminal is left as it was found, also after a panic.

use std::io::{self, IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{Event, EventStream};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};
use futures_util::StreamExt;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::signals::Signals;
use crate::chat::Frame;
use crate::chat::inline::{self, Inline};
use crate::chat::transcript::Transcript;

/// Bracketed paste on, and keys that differ only by Shift, if the terminal supports them.
const ENTER: &str = "\x1b[?2004h\x1b[>1u";
/// Everything as it was: keys, paste, wrapping, colours, cursor.
const LEAVE: &str = "\x1b[<u\x1b[?2004l\x1b[?7h\x1b[0m\x1b[?25h";
/// To the other screen of the terminal, and back.
const FULL: &str = "\x1b[?1049h\x1b[?25l";
const NOT_FULL: &str = "\x1b[?1049l";

/// Whether the other screen shows; going back when it does not would move the cursor.
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// The screen.
pub(super) struct Screen {
    events: Option<EventStream>,
    is_raw: bool,
    signals: Signals,
    inline: Inline,
    columns: u16,
    /// True after another program had the terminal.
    was_lent: bool,
}

/// Returns true if standard input and standard output are a terminal.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn enter() -> io::Result<Self> {
        // Before the terminal changes, so that no signal leaves it that way.
        let signals = Signals::listen()?;
        restore_on_panic();
        let columns = terminal_size().0;
        let inline = Inline::default();
        let mut screen = Screen { events: None, is_raw: false, signals, inline, columns, was_lent: false };
        screen.resume()?;
        Ok(screen)
    }

    fn resume(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_raw = true;
        self.write(ENTER)?;
        self.events = Some(EventStream::new());
        Ok(())
    }

    fn pause(&mut self) -> io::Result<()> {
        // The next program reads the keys.
        self.events = None;
        self.show_other(false)?;
        if std::mem::take(&mut self.is_raw) {
            self.write(LEAVE)?;
            disable_raw_mode()?;
        }
        Ok(())
    }

    /// Waits for the next event. Returns `None` if a signal ends the program, or the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Event> {
        let events = self.events.get_or_insert_with(EventStream::new);
        tokio::select! {
            biased;
            event = events.next() => event.and_then(Result::ok),
            () = self.signals.arrived() => None,
        }
    }

    /// Ignores Ctrl-C that was meant for another program.
    pub(super) async fn settle(&mut self) {
        if std::mem::take(&mut self.was_lent) {
            self.signals.forget_interrupts().await;
        }
    }

    /// Returns the columns of the last frame.
    pub(super) fn columns(&self) -> u16 {
        self.columns
    }

    /// Returns columns and rows; both are at least one.
    pub(super) fn size(&self) -> (u16, u16) {
        terminal_size()
    }

    /// Notes that the terminal has another width.
    pub(super) fn resize(&mut self, columns: u16) {
        self.columns = columns;
        self.inline.resized(columns);
    }

    /// Shows a frame below the scrollback.
    pub(super) fn show(&mut self, frame: &Frame) -> io::Result<()> {
        self.show_other(false)?;
        let bytes = self.inline.frame(&frame.printed, &frame.live, frame.cursor, self.size().1);
        self.write(&bytes)
    }

    /// Shows a buffer on the other screen of the terminal.
    pub(super) fn show_full(&self, buffer: &Buffer) -> io::Result<()> {
        self.show_other(true)?;
        self.write(&inline::screen(buffer))
    }

    fn show_other(&self, is_full: bool) -> io::Result<()> {
        match IS_FULL.swap(is_full, Ordering::Relaxed) == is_full {
            true => Ok(()),
            false => self.write(if is_full { FULL } else { NOT_FULL }),
        }
    }

    /// Writes to the terminal at once.
    pub(super) fn write(&self, bytes: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }

    /// Gives the terminal away while `work` runs. The next frame is drawn from scratch.
    pub(super) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        self.show_other(false)?;
        let bytes = self.inline.leave();
        self.write(&bytes)?;
        self.pause()?;
        let result = work();
        self.was_lent = true;
        self.resume()?;
        self.inline.forget();
        self.columns = self.size().0;
        Ok(result)
    }

    /// Leaves the whole transcript in the scrollback, and the terminal as it was.
    pub(super) fn leave(&mut self, transcript: &mut Transcript) -> io::Result<()> {
        self.show_other(false)?;
        let bytes = self.inline.leave();
        self.write(&bytes)?;
        transcript.close();
        let nothing = Buffer::empty(Rect::new(0, 0, self.columns, 0));
        while !transcript.is_empty() {
            let printed = transcript.take_done(usize::from(self.columns), 0);
            let bytes = self.inline.frame(&printed, &nothing, None, self.size().1);
            self.write(&bytes)?;
        }
        // The output of the next program stands apart from the conversation.
        self.write("\r\n")?;
        self.pause()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _gone = self.pause();
    }
}

fn terminal_size() -> (u16, u16) {
    let (columns, rows) = size().unwrap_or((80, 24));
    (columns.max(1), rows.max(1))
}

/// Restores the terminal before a panic message is printed.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let mut out = io::stdout().lock();
            let full = if IS_FULL.swap(false, Ordering::Relaxed) { NOT_FULL } else { "" };
            let _gone = write!(out, "{full}{LEAVE}").and_then(|()| out.flush());
            let _gone = disable_raw_mode();
            usual(panic);
        }));
    });
}
