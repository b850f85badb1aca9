//! The terminal: raw while we draw, as it was when we leave, whatever makes us leave.

use std::io::{self, IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use offshoot_tui::crossterm::event::EventStream;
use offshoot_tui::crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};

/// Bracketed paste on; keys that differ only by Shift told apart where the terminal can.
const ENTER: &str = "\x1b[?2004h\x1b[>1u";
/// Everything as it was: keys, paste, wrapping, colours, cursor.
const LEAVE: &str = "\x1b[<u\x1b[?2004l\x1b[?7h\x1b[0m\x1b[?25h";
/// To the other screen of the terminal, and back.
const FULL: &str = "\x1b[?1049h\x1b[?25l";
const NOT_FULL: &str = "\x1b[?1049l";

/// Whether the other screen shows; going back when it does not would move the cursor.
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// The terminal while we draw on it.
pub(super) struct Terminal {
    events: Option<EventStream>,
    is_raw: bool,
}

/// Tells whether a person sits at both ends.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Terminal {
    /// Takes the terminal over.
    pub(super) fn enter() -> io::Result<Self> {
        restore_on_panic();
        let mut terminal = Terminal { events: None, is_raw: false };
        terminal.resume()?;
        Ok(terminal)
    }

    /// Takes the terminal over again after [`Terminal::pause`].
    pub(super) fn resume(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_raw = true;
        self.write(ENTER)?;
        self.events = Some(EventStream::new());
        Ok(())
    }

    /// Leaves the terminal to somebody else for a while.
    pub(super) fn pause(&mut self) -> io::Result<()> {
        // Whoever comes next reads the keys.
        self.events = None;
        self.show_full(false)?;
        if std::mem::take(&mut self.is_raw) {
            self.write(LEAVE)?;
            disable_raw_mode()?;
        }
        Ok(())
    }

    /// Returns what the person does.
    pub(super) fn events(&mut self) -> &mut EventStream {
        self.events.get_or_insert_with(EventStream::new)
    }

    /// Shows the other screen of the terminal, or the usual one.
    pub(super) fn show_full(&self, is_full: bool) -> io::Result<()> {
        match IS_FULL.swap(is_full, Ordering::Relaxed) == is_full {
            true => Ok(()),
            false => self.write(if is_full { FULL } else { NOT_FULL }),
        }
    }

    /// Returns columns and rows; never none of them.
    pub(super) fn size(&self) -> (u16, u16) {
        let (columns, rows) = size().unwrap_or((80, 24));
        (columns.max(1), rows.max(1))
    }

    /// Writes to the terminal at once.
    pub(super) fn write(&self, bytes: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing any more.
        let _gone = self.pause();
    }
}

/// A panic is told on a terminal that can be read.
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
