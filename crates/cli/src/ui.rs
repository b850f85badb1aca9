//! The only module that prints: data to standard output, messages to standard error.
//!
//! Session files come from anywhere, so their text reaches a terminal only through [`clean()`]. Only `--raw` and
//! `--json` print bytes unchanged.

mod progress;
mod table;

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::error::CommandError;

pub(crate) use offshoot_tui::clean::clean;
pub(crate) use offshoot_tui::numbers::{bytes, count, money, thousands, tokens};
pub(crate) use offshoot_tui::time::age;
pub(crate) use offshoot_tui::width::shortened;
use offshoot_tui::width::{cut, width};
pub(crate) use progress::Progress;
pub(crate) use table::{Column, Table};

/// The minimum width of a piece that is cut.
const LEAST: usize = 8;

/// Standard output and standard error, or a text that collects both.
#[derive(Debug)]
pub(crate) struct Ui {
    out: Output,
    colour: bool,
    columns: Option<usize>,
    /// The session that lines of JSON name, if a command reads several.
    json_session: Option<String>,
}

/// The destination of the output.
#[derive(Debug)]
enum Output {
    Terminal(BufWriter<Stdout>),
    /// Everything printed so far, on both streams.
    Captured(Vec<u8>),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Terminal(out) => out.write(bytes),
            Output::Captured(text) => text.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Terminal(out) => out.flush(),
            Output::Captured(_) => Ok(()),
        }
    }
}

/// The meaning of a piece of text; colour only repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Accent,
    Good,
    Notice,
    Bad,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Colour {
    // On a terminal, unless `NO_COLOR` is set. (No documentation: it would make every help text a page longer.)
    #[default]
    Auto,
    Always,
    Never,
}

impl Ui {
    /// Returns true without colours.
    pub(crate) fn is_plain(&self) -> bool {
        !self.colour
    }

    /// Creates the output; `no_color` comes from the environment.
    pub(crate) fn new(colour: Colour, no_color: bool) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let colour = match colour {
            Colour::Auto => is_terminal && !no_color,
            Colour::Always => true,
            Colour::Never => false,
        };
        let columns = is_terminal.then(terminal_columns).flatten();
        Ui {
            out: Output::Terminal(BufWriter::with_capacity(1 << 16, stdout)),
            colour,
            columns,
            json_session: None,
        }
    }

    /// Creates an output that collects the text for [`Ui::captured`].
    pub(crate) fn capturing(columns: Option<usize>) -> Self {
        Ui { out: Output::Captured(Vec::new()), colour: false, columns, json_session: None }
    }

    /// Returns the collected text; empty unless the output is [capturing](Ui::capturing).
    pub(crate) fn captured(self) -> String {
        match self.out {
            Output::Terminal(_) => String::new(),
            Output::Captured(text) => String::from_utf8_lossy(&text).into_owned(),
        }
    }

    /// Creates an output for a part of the text, which [`Ui::append`] prints.
    pub(crate) fn part(&self) -> Self {
        let out = Output::Captured(Vec::new());
        Ui { out, colour: self.colour, columns: self.columns, json_session: None }
    }

    /// Prints a [part](Ui::part).
    pub(crate) fn append(&mut self, part: Ui) -> Result<(), CommandError> {
        match part.out {
            Output::Terminal(_) => Ok(()),
            Output::Captured(text) => self.raw(&text),
        }
    }

    /// Returns the width of the terminal; `None` without a terminal, where lines may have any length.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Prints one line of cleaned pieces.
    pub(crate) fn line(&mut self, pieces: &[(Tone, &str)]) -> Result<(), CommandError> {
        for (tone, text) in pieces {
            self.piece(*tone, &clean(text))?;
        }
        Ok(writeln!(self.out)?)
    }

    /// Prints one line of cleaned pieces. On a narrow terminal the piece at `gives_way` is cut first, then the whole
    /// line at the width of the terminal.
    pub(crate) fn row(&mut self, pieces: &[(Tone, &str)], gives_way: usize) -> Result<(), CommandError> {
        let Some(columns) = self.columns else { return self.line(pieces) };
        let mut cleaned: Vec<_> = pieces.iter().map(|(tone, text)| (*tone, clean(text))).collect();
        let total: usize = cleaned.iter().map(|(_, text)| width(text)).sum();
        if total > columns
            && let Some((_, text)) = cleaned.get_mut(gives_way)
        {
            let others = total - width(text);
            *text = cut(text, columns.saturating_sub(others).max(LEAST)).into_owned().into();
        }
        let mut left = columns;
        for (tone, text) in &cleaned {
            let shown = cut(text, left);
            self.piece(*tone, &shown)?;
            left -= width(&shown);
            if shown != *text {
                break;
            }
        }
        Ok(writeln!(self.out)?)
    }

    /// Prints text of many lines, each cleaned and indented.
    pub(crate) fn block(&mut self, tone: Tone, indent: usize, text: &str) -> Result<(), CommandError> {
        for line in text.split('\n') {
            let line = line.strip_suffix('\r').unwrap_or(line);
            write!(self.out, "{:indent$}", "")?;
            self.piece(tone, &clean(&line.replace('\t', "    ")))?;
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Prints one line without colour.
    pub(crate) fn plain(&mut self, text: &str) -> Result<(), CommandError> {
        self.line(&[(Tone::Plain, text)])
    }

    /// Prints bytes unchanged.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Wraps the following lines of JSON: `{"session": …, "result": …}`.
    pub(crate) fn set_json_session(&mut self, session: Option<String>) {
        self.json_session = session;
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CommandError> {
        self.json_with(|ui| ui.json_part(value))
    }

    /// Prints a list as one line of JSON, an array. All lists of all commands have this shape.
    pub(crate) fn json_list<T: Serialize>(
        &mut self,
        items: impl IntoIterator<Item = Result<T, CommandError>>,
    ) -> Result<(), CommandError> {
        self.json_with(|ui| {
            ui.raw(b"[")?;
            for (at, item) in items.into_iter().enumerate() {
                ui.raw(if at > 0 { b"," } else { b"" })?;
                ui.json_part(&item?)?;
            }
            ui.raw(b"]")
        })
    }

    /// Prints one line of JSON, whose value `write` prints in parts.
    pub(crate) fn json_with(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        if let Some(session) = self.json_session.clone() {
            self.raw(b"{\"session\":")?;
            self.json_part(&session)?;
            self.raw(b",\"result\":")?;
        }
        write(self)?;
        self.raw(if self.json_session.is_some() { b"}\n" } else { b"\n" })
    }

    /// Prints a value as a part of a line of JSON.
    pub(crate) fn json_part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CommandError> {
        Ok(serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?)
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        Ok(self.out.flush()?)
    }

    /// Returns true if the reader of the output has closed the pipe.
    pub(crate) fn reader_is_gone(&self) -> bool {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::ERR)];
        let now = Timespec::default();
        poll(&mut watched, Some(&now)).is_ok_and(|ready| ready > 0)
            && watched[0].revents().intersects(PollFlags::ERR)
    }

    /// Prints a message on standard error.
    pub(crate) fn tell(&mut self, text: &str) -> Result<(), CommandError> {
        self.flush()?;
        match &mut self.out {
            Output::Terminal(_) => Ok(writeln!(io::stderr().lock(), "{}", clean(text))?),
            Output::Captured(_) => self.plain(text),
        }
    }

    /// Prints a question; the answer is typed after it.
    pub(crate) fn question(&mut self, text: &str) -> Result<(), CommandError> {
        self.flush()?;
        let mut err = io::stderr().lock();
        write!(err, "{}", clean(text))?;
        Ok(err.flush()?)
    }

    /// Prints an error and its hints.
    pub(crate) fn error(&mut self, text: &str, hints: &[String]) {
        // Data printed so far comes first. If that fails, the error is still printed.
        drop(self.out.flush());
        let mut err = io::stderr().lock();
        drop(writeln!(err, "error: {}", clean(text)));
        for hint in hints {
            drop(writeln!(err, "hint: {}", clean(hint)));
        }
    }

    fn piece(&mut self, tone: Tone, cleaned: &str) -> Result<(), CommandError> {
        match code(tone).filter(|_| self.colour && !cleaned.is_empty()) {
            Some(code) => write!(self.out, "\x1b[{code}m{cleaned}\x1b[0m")?,
            None => self.out.write_all(cleaned.as_bytes())?,
        }
        Ok(())
    }
}

/// Prints a line of JSON at once, from any thread. Write errors are ignored.
pub(crate) fn json_line(value: &serde_json::Value) {
    let mut out = io::stdout().lock();
    drop(writeln!(out, "{value}").and_then(|()| out.flush()));
}

/// Prints a text on standard output at once, from any thread; a terminal gets it cleaned. Write errors are ignored.
pub(crate) fn text(text: &str) {
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    for line in text.lines() {
        let written = if is_terminal { writeln!(out, "{}", clean(line)) } else { writeln!(out, "{line}") };
        drop(written);
    }
    drop(out.flush());
}

/// Prints a message on standard error, from any thread; every line is cleaned.
pub(crate) fn words(text: &str) {
    let mut err = io::stderr().lock();
    for line in text.lines() {
        // Standard error may be closed.
        drop(writeln!(err, "{}", clean(line)));
    }
}

fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| usize::from(columns))
}

fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Dim => Some("2"),
        Tone::Accent => Some("36"),
        Tone::Good => Some("32"),
        Tone::Notice => Some("33"),
        Tone::Bad => Some("31"),
    }
}

/// Collapses all white space, so that a text takes one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
