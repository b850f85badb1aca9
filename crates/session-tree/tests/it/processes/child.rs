//! A child process: reads one command per line and writes answers.
//!
//! Every answer starts with [`MARK`](super::fleet::MARK), because the test harness writes to the same output. An append
//! is answered after the call returned, so an answer is an acknowledgement.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use session_tree::{Entry, Error, Message, Options, Session, Timestamp};

use super::fleet::MARK;

/// The state of a child between two commands.
pub(super) struct Child {
    name: String,
    path: PathBuf,
    session: Option<Session>,
    /// The appended entries of this child: ids and texts.
    own: Vec<(String, String)>,
    /// The entries of other writers that the session reported.
    foreign: Vec<String>,
    /// The id of the last line that was written without the engine.
    last_raw: Option<String>,
    raw_count: usize,
    held: Option<File>,
}

impl Child {
    pub(super) fn new(name: String) -> Self {
        Child {
            name,
            path: PathBuf::new(),
            session: None,
            own: Vec::new(),
            foreign: Vec::new(),
            last_raw: None,
            raw_count: 0,
            held: None,
        }
    }

    /// Runs commands until the input ends, at the latest with the test process.
    pub(super) fn run(mut self) {
        // The harness may have left its line open.
        io::stdout().write_all(b"\n").unwrap();
        answer("up");
        let (stop, commands) = listen();
        for command in commands {
            let (word, rest) = command.split_once(' ').unwrap_or((&command, ""));
            match word {
                "at" => self.path = rest.into(),
                "open" => self.keep(Session::open(&self.path)),
                "create" => self.keep(Options::new().create(&self.path, "/project")),
                "fill" => self.keep(Options::new().open_or_create(&self.path, "/project")),
                "append" => self.append(rest.parse().unwrap()),
                "huge" => self.append_text(&"x".repeat(rest.parse().unwrap())),
                "raw" => self.append_raw(rest.parse().unwrap()),
                "foreign" => self.report_foreign(),
                "check" => self.check_own(),
                "ids" => self.report_ids(),
                "hold" => self.hold(),
                "reload" => reload(&self.path, &stop),
                "catch-up" => catch_up(&self.path, &stop),
                "follow" => follow(&self.path, &stop),
                _ => panic!("no command {command}"),
            }
            answer("done");
        }
    }

    fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("a session was opened before")
    }

    fn keep(&mut self, session: Result<Session, Error>) {
        match session {
            Ok(session) => self.session = Some(session),
            Err(error) => answer_failure(&error),
        }
    }

    /// Appends small entries, and sometimes a large one, until one fails.
    fn append(&mut self, count: usize) {
        for _ in 0..count {
            let padding = if self.own.len() % 20 == 19 { 60_000 } else { self.own.len() % 90 };
            if !self.append_padded(&"x".repeat(padding)) {
                return;
            }
        }
        let leaf = self.session().leaf_id().unwrap();
        answer(&format!("leaf {leaf}"));
    }

    fn append_text(&mut self, padding: &str) {
        self.append_padded(padding);
    }

    fn append_padded(&mut self, padding: &str) -> bool {
        let text = format!("{} {} {padding}", self.name, self.own.len());
        let message = Message::user(&text).with_time(Timestamp::from_millis(0));
        let session = self.session();
        let result = session.append_message(&message);
        let foreign = session.take_appended_by_others().unwrap();
        self.foreign.extend(foreign.iter().map(|entry| entry.id().to_string()));
        match result {
            Ok(id) => {
                answer(&format!("ack {id}"));
                self.own.push((id.to_string(), text));
                true
            }
            Err(error) => {
                answer_failure(&error);
                false
            }
        }
    }

    /// Appends without locking, like other programs: opens the file and writes one line with one call.
    fn append_raw(&mut self, count: usize) {
        for _ in 0..count {
            let id = format!("{}{:05x}", self.name, self.raw_count);
            let parent = self.last_raw.as_ref().map_or("null".into(), |id| format!("\"{id}\""));
            let line = format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:00.000Z\",\
                 \"message\":{{\"role\":\"user\",\"content\":\"{} {} {}\",\"timestamp\":0}}}}\n",
                self.name,
                self.raw_count,
                "y".repeat(self.raw_count % 90)
            );
            let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
            assert_eq!(file.write(line.as_bytes()).unwrap(), line.len());
            answer(&format!("ack {id}"));
            self.raw_count += 1;
            self.last_raw = Some(id);
        }
    }

    /// Answers with the reported entries of other writers.
    fn report_foreign(&mut self) {
        let rest = self.session().catch_up().unwrap();
        self.foreign.extend(rest.iter().map(|entry| entry.id().to_string()));
        for id in &self.foreign {
            answer(&format!("foreign {id}"));
        }
    }

    /// Compares the session in memory with the entries that this child appended.
    fn check_own(&mut self) {
        let session = self.session.take().unwrap();
        for (id, text) in &self.own {
            let found = session.entry(id).ok().and_then(|entry| text_of(&entry));
            if found.as_deref() != Some(text) {
                answer(&format!("wrong {id}"));
            }
        }
        for diagnostic in session.diagnostics() {
            answer(&format!("wrong {}", diagnostic.problem));
        }
        self.session = Some(session);
    }

    fn report_ids(&mut self) {
        let ids = ids_of(self.session());
        answer(&format!("ids {}", ids.join(",")));
    }

    /// Takes the lock of the file and keeps it.
    fn hold(&mut self) {
        let file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.lock().unwrap();
        self.held = Some(file);
    }
}

/// Reads commands in the background, so that `stop` reaches a child that is busy reading.
fn listen() -> (Arc<AtomicBool>, impl Iterator<Item = String>) {
    let stop = Arc::new(AtomicBool::new(false));
    let heard = stop.clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if line == "stop" {
                heard.store(true, Ordering::Relaxed);
            } else if sender.send(line).is_err() {
                return;
            }
        }
        heard.store(true, Ordering::Relaxed);
    });
    (stop, receiver.into_iter())
}

/// Writes an answer with one call: complete, or not at all if the process dies.
fn answer(answer: &str) {
    let mut out = io::stdout().lock();
    out.write_all(format!("{MARK}{answer}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn answer_failure(error: &Error) {
    match error {
        Error::Exists { .. } => answer("failed exists"),
        Error::Io { action: "replace", source, .. } if source.kind() == io::ErrorKind::ResourceBusy => {
            answer("failed busy");
        }
        other => answer(&format!("failed {other}: {other:?}")),
    }
}

fn text_of(entry: &Entry) -> Option<String> {
    let message = entry.value()?.get("message")?;
    message.get("content")?.as_str().map(|text| text.to_string())
}

fn ids_of(session: &Session) -> Vec<String> {
    session.tree().nodes().map(|node| session.tree().id(node).to_string()).collect()
}

/// The entries that a reader has seen so far.
#[derive(Default)]
struct Seen {
    ids: Vec<String>,
    known: HashSet<String>,
    looks: usize,
}

impl Seen {
    /// Adds new entries: none was seen before, and every parent was.
    fn extend<'e>(&mut self, entries: impl IntoIterator<Item = &'e Entry>) {
        for entry in entries {
            let id = entry.id().to_string();
            if let Some(parent) = entry.parent_id().filter(|parent| !self.known.contains(parent.as_str())) {
                answer(&format!("wrong {id} was seen before its parent {parent}"));
            }
            if !self.known.insert(id.clone()) {
                answer(&format!("wrong {id} was seen twice"));
            }
            self.ids.push(id);
        }
    }

    fn check(&mut self, session: &Session) {
        self.looks += 1;
        // A line that is being written looks torn; any other problem would be a misreading.
        for found in session.diagnostics().iter().map(|diagnostic| diagnostic.problem.code()) {
            if !matches!(found, "torn-tail" | "missing-line-feed") {
                answer(&format!("wrong {found}"));
            }
        }
    }

    fn report(&self) {
        answer(&format!("looks {}", self.looks));
        answer(&format!("ids {}", self.ids.join(",")));
    }
}

/// Opens the file repeatedly: earlier entries must stay, in the same order.
fn reload(path: &Path, stop: &AtomicBool) {
    let mut seen = Seen::default();
    loop {
        let last = stop.load(Ordering::Relaxed);
        let session = Session::open_read_only(path).unwrap();
        seen.check(&session);
        let ids = ids_of(&session);
        if !ids.starts_with(&seen.ids) {
            answer("wrong what was read before is no prefix of this");
        }
        let new: Vec<Entry> = session.entries().skip(seen.ids.len()).map(Result::unwrap).collect();
        seen.extend(&new);
        if last {
            return seen.report();
        }
    }
}

/// Opens the file once and reads on.
fn catch_up(path: &Path, stop: &AtomicBool) {
    let mut session = Session::open_read_only(path).unwrap();
    let mut seen = Seen::default();
    seen.extend(&session.entries().map(Result::unwrap).collect::<Vec<_>>());
    loop {
        let last = stop.load(Ordering::Relaxed);
        seen.extend(&session.catch_up().unwrap());
        seen.check(&session);
        if ids_of(&session) != seen.ids {
            answer("wrong the tree is not what was reported");
        }
        if last {
            return seen.report();
        }
    }
}

/// Opens the file once and polls.
fn follow(path: &Path, stop: &AtomicBool) {
    let mut session = Session::open_read_only(path).unwrap();
    let mut seen = Seen::default();
    seen.extend(&session.entries().map(Result::unwrap).collect::<Vec<_>>());
    loop {
        let last = stop.load(Ordering::Relaxed);
        seen.extend(&session.poll().unwrap());
        seen.check(&session);
        if last {
            return seen.report();
        }
    }
}
