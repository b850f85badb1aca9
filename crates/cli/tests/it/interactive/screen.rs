//! The program in a terminal that remembers what it shows.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// How many rows above the screen are remembered.
const SCROLLBACK: usize = 2_000;

/// Keys as terminals send them.
pub(crate) const ENTER: &str = "\r";
pub(crate) const ESCAPE: &str = "\x1b";
pub(crate) const UP: &str = "\x1b[A";
pub(crate) const DOWN: &str = "\x1b[B";

/// A running program, and what its terminal shows.
pub(crate) struct Screen {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    input: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    reader: Option<JoinHandle<()>>,
    master: Box<dyn MasterPty + Send>,
}

struct Seen {
    terminal: vt100::Parser,
    bytes: Vec<u8>,
    is_over: bool,
    /// The screen is no longer read.
    is_closed: bool,
}

impl Screen {
    /// Starts a command in a terminal of this size.
    pub(crate) fn start(command: &Command, columns: u16, rows: u16) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).unwrap();
        let mut builder = CommandBuilder::new(command.get_program());
        builder.args(command.get_args());
        builder.env_clear();
        builder.env("TERM", "xterm-256color");
        // A terminal that reports its colours is not queried.
        builder.env("COLORFGBG", "15;0");
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                builder.env(name, value);
            }
        }
        builder.cwd(command.get_current_dir().unwrap());
        let child = pty.slave.spawn_command(builder).unwrap();
        drop(pty.slave);
        let terminal = vt100::Parser::new(rows, columns, SCROLLBACK);
        let seen = Arc::new((
            Mutex::new(Seen { terminal, bytes: Vec::new(), is_over: false, is_closed: false }),
            Condvar::new(),
        ));
        let reader = follow(pty.master.try_clone_reader().unwrap(), Arc::clone(&seen));
        let input = pty.master.take_writer().unwrap();
        Screen { seen, input, child, reader: Some(reader), master: pty.master }
    }

    /// Types.
    pub(crate) fn send(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Says something, and waits for the end of the answer.
    pub(crate) fn ask(&mut self, prompt: &str, answer: &str) {
        self.say(prompt);
        self.wait_for(answer);
        self.wait_without("Working");
    }

    /// Types a line and presses Enter.
    pub(crate) fn say(&mut self, text: &str) {
        self.send(text);
        self.wait_for(text.trim_end());
        self.send(ENTER);
    }

    /// Answers a question that opened by itself: keys do only after a moment, and its last line says which.
    #[track_caller]
    pub(crate) fn answer(&mut self, keys: &str) {
        let takes_keys = |screen: &str| {
            let is_last = |line: &str| line.contains("Enter") && line.contains("Esc");
            screen.lines().any(is_last) && !screen.contains("keys answer in a moment")
        };
        loop {
            self.wait_until("the keys of a question", takes_keys);
            // A frame may come in two parts: what shows has to stay.
            std::thread::sleep(Duration::from_millis(100));
            let shown = self.seen.0.lock().unwrap().terminal.screen().contents();
            if takes_keys(&shown) {
                return self.send(keys);
            }
        }
    }

    /// Waits until the terminal shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait_until(&format!("`{text}`"), |screen| screen.contains(text))
    }

    /// Waits until the terminal no longer shows a text.
    #[track_caller]
    pub(crate) fn wait_without(&self, text: &str) -> String {
        self.wait_until(&format!("no `{text}`"), |screen| !screen.contains(text))
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, is_shown: impl Fn(&str) -> bool) -> String {
        let (seen, changed) = &*self.seen;
        let end = Instant::now() + PATIENCE;
        let mut state = seen.lock().unwrap();
        loop {
            let screen = state.terminal.screen().contents();
            if is_shown(&screen) {
                return screen;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!state.is_over && !left.is_zero(), "waited for {what}, but there is:\n{screen}");
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits until the terminal got these bytes.
    pub(crate) fn wait_for_bytes(&self, wanted: &[u8]) {
        let (seen, changed) = &*self.seen;
        let end = Instant::now() + PATIENCE;
        let mut state = seen.lock().unwrap();
        while !state.bytes.windows(wanted.len()).any(|bytes| bytes == wanted) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!state.is_over && !left.is_zero(), "{}", String::from_utf8_lossy(&state.bytes));
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Returns what can be seen by scrolling up as far as it goes, and the screen itself.
    pub(crate) fn everything(&self) -> String {
        let mut state = self.seen.0.lock().unwrap();
        let rows = usize::from(state.terminal.screen().size().0);
        let mut all = String::new();
        state.terminal.screen_mut().set_scrollback(SCROLLBACK);
        let mut above = state.terminal.screen().scrollback();
        while above > 0 {
            state.terminal.screen_mut().set_scrollback(above);
            let page = state.terminal.screen().contents();
            all.extend(page.lines().take(above.min(rows)).flat_map(|line| [line, "\n"]));
            above = above.saturating_sub(rows);
        }
        state.terminal.screen_mut().set_scrollback(0);
        all + &state.terminal.screen().contents()
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.seen.0.lock().unwrap().terminal.screen_mut().set_size(rows, columns);
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Waits for the end; gives the exit code and every byte that reached the terminal.
    pub(crate) fn end(mut self) -> (u32, Vec<u8>) {
        let status = self.child.wait().unwrap();
        drop(self.input);
        drop(self.master);
        self.reader.take().unwrap().join().unwrap();
        let bytes = std::mem::take(&mut self.seen.0.lock().unwrap().bytes);
        (status.exit_code(), bytes)
    }

    /// Closes the terminal like a window, and waits until the program ends.
    pub(crate) fn hang_up(mut self) {
        self.seen.0.lock().unwrap().is_closed = true;
        // Who follows holds the terminal open until the next byte comes.
        self.send("x");
        self.reader.take().unwrap().join().unwrap();
        drop(self.input);
        drop(self.master);
        self.child.wait().unwrap();
    }

    /// Returns the id of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.process_id().unwrap()
    }
}

fn follow(mut reader: Box<dyn Read + Send>, seen: Arc<(Mutex<Seen>, Condvar)>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            // The end of a terminal is an error on some systems.
            let count = reader.read(&mut buffer).unwrap_or(0);
            let mut state = seen.0.lock().unwrap();
            state.terminal.process(&buffer[..count]);
            state.bytes.extend_from_slice(&buffer[..count]);
            state.is_over = count == 0;
            seen.1.notify_all();
            if count == 0 || state.is_closed {
                return;
            }
        }
    })
}
