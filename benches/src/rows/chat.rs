//! The chat: frames of a conversation of 10,000 messages, and the program from its start to its first frame on a large
//! session that it has seen before.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use offshoot_tui::chat::Chat;
use offshoot_tui::chat::command::Completes;
use offshoot_tui::chat::completion::{Candidate, Sources};
use offshoot_tui::chat::inline::Inline;
use offshoot_tui::chat::item::{ItemStyle, items_at};
use offshoot_tui::chat::transcript::Transcript;
use offshoot_tui::chat::viewer::Viewer;
use offshoot_tui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use offshoot_tui::keys::{Action, Input, Keymap};
use offshoot_tui::ratatui::buffer::Buffer;
use offshoot_tui::ratatui::layout::Rect;
use offshoot_tui::theme::Theme;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use session_tree::{Position, Session};

use super::{Bench, program};
use crate::Failure;
use crate::clock::{best, cpu_of};
use crate::table::Line;

const SCREEN: Rect = Rect { x: 0, y: 0, width: 120, height: 40 };
const MESSAGES: usize = 10_000;
/// About 100 MB.
const ENTRIES: usize = 54_000;
const FRAME: Duration = Duration::from_millis(8);
/// The text of the last row of a frame: if it is there, all of the frame was written.
const FOOTER: &str = "offshoot/offline";
/// How long the program is left alone before its memory is looked at.
const IDLE: Duration = Duration::from_secs(3);

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let session = Session::open_read_only(bench.files.one_path(MESSAGES)?)?;
    let scrolled = best(bench.runs, || slowest_scroll(&session))?;
    let typed = best(bench.runs, || slowest_letter(&session))?;
    let home = bench.files.scratch("chat-home");
    let file = bench.files.copy(&bench.files.realistic(ENTRIES)?, "chat.jsonl")?;
    // Once, so that the file is known.
    start(&home, &file, false)?;
    let first = best(bench.runs, || Ok(start(&home, &file, false)?.0))?;
    let memory = start(&home, &file, true)?.1;
    Ok(vec![
        Line::limit("10k messages: slowest key that scrolls, with its frame", scrolled, FRAME),
        Line::limit("10k messages: slowest letter, with its frame", typed, FRAME),
        Line::limit("offshoot: to the first frame, 100 MB known session", first, Duration::from_millis(50)),
        Line::memory("the same: memory while idle", memory, 60_000_000),
    ])
}

/// Scrolls through the whole conversation and returns the time of the slowest key, with its frame.
fn slowest_scroll(session: &Session) -> Result<Duration, Failure> {
    let path = session.branch_path(Position::Leaf);
    let entries = |at| items_at(session, &path, at);
    let keymap = Keymap::default();
    let mut viewer = Viewer::new(ItemStyle::new(Theme::dark()), path.len());
    let mut keys = vec![Action::SelectLast];
    keys.extend([Action::SelectPageUp; 40]);
    keys.extend([Action::SelectFirst, Action::SelectDown, Action::SelectPageDown, Action::SelectLast]);
    let mut slowest = Duration::ZERO;
    for key in keys {
        let time = cpu_of(|| {
            let mut cells = Buffer::empty(SCREEN);
            viewer.update(&Input::Action(key), &entries);
            viewer.draw(&keymap, &entries, SCREEN, &mut cells);
            Ok(offshoot_tui::chat::inline::screen(&cells))
        })?;
        slowest = slowest.max(time);
    }
    Ok(slowest)
}

struct Nothing;

impl Sources for Nothing {
    fn candidates(&self, _: Completes, _: &str) -> Vec<Candidate> {
        Vec::new()
    }
}

/// Types below a conversation and returns the time of the slowest letter, with its frame.
fn slowest_letter(session: &Session) -> Result<Duration, Failure> {
    let path = session.branch_path(Position::Leaf);
    let mut transcript = Transcript::new(ItemStyle::new(Theme::dark()));
    for at in 0..path.len() {
        items_at(session, &path, at).into_iter().for_each(|item| transcript.push(item));
    }
    let mut chat = Chat::new(transcript, Keymap::default());
    let mut inline = Inline::default();
    let mut frame = |chat: &mut Chat| {
        let frame = chat.frame(SCREEN.width, SCREEN.height, Duration::ZERO, None);
        inline.frame(&frame.printed, &frame.live, frame.cursor, SCREEN.height)
    };
    // Printing the past is not typing.
    while chat.transcript.has_done() {
        frame(&mut chat);
    }
    let mut slowest = Duration::ZERO;
    for letter in "how fast is it to type here?".chars() {
        let key = Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        let time = cpu_of(|| {
            chat.update(&key, &Nothing, Duration::ZERO);
            Ok(frame(&mut chat))
        })?;
        slowest = slowest.max(time);
    }
    Ok(slowest)
}

/// Starts the program in a terminal; returns its CPU time up to the first frame and, if it is left alone for a while,
/// the memory it has then.
fn start(home: &Path, file: &Path, is_idle: bool) -> Result<(Duration, u64), Failure> {
    fs::create_dir_all(home)?;
    let size = PtySize { rows: SCREEN.height, cols: SCREEN.width, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size)?;
    let mut command = CommandBuilder::new(program::program()?);
    command.arg("--session");
    command.arg(file);
    command.env_clear();
    command.env("TERM", "xterm-256color");
    command.env("COLORFGBG", "15;0");
    command.env("HOME", home);
    command.env("OFFSHOOT_HOME", home.join("offshoot"));
    command.cwd(home);
    let mut child = pty.slave.spawn_command(command)?;
    drop(pty.slave);
    let pid = child.process_id().ok_or("no process id")?;
    let mut reader = pty.master.try_clone_reader()?;
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains(FOOTER) {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            return Err(format!("the program ended: {}", String::from_utf8_lossy(&seen)).into());
        }
        seen.extend_from_slice(&buffer[..count]);
    }
    let used = cpu_of_process(pid)?;
    let end = Instant::now() + IDLE;
    while is_idle && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(100));
    }
    let memory = resident_memory(pid)?;
    child.kill()?;
    child.wait()?;
    Ok((used, memory))
}

/// The CPU time of all threads of a process that lives.
fn cpu_of_process(pid: u32) -> Result<Duration, Failure> {
    let mut nanoseconds = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let used = fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += used.split_whitespace().next().ok_or("no schedstat")?.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// The memory of a process that lives, with the pages of files that it looks at.
fn resident_memory(pid: u32) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? * 1024)
}
