//! Child processes: started, commanded, and always ended.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The environment variable that turns the test binary into a child, and names it.
pub(super) const CHILD: &str = "SESSION_TREE_TEST_CHILD";

/// The prefix of an answer.
pub(super) const MARK: &str = "> ";

/// The time limit of a test.
const LIMIT: Duration = Duration::from_secs(60);

/// Starts the processes of one test, which share its time limit.
pub(super) struct Fleet {
    deadline: Instant,
}

impl Fleet {
    pub(super) fn new() -> Self {
        Fleet { deadline: Instant::now() + LIMIT }
    }

    /// Starts a child and waits until it is ready.
    pub(super) fn start(&self, name: &str) -> Process {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::child_process_entry", "--nocapture"])
            .env(CHILD, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix(MARK)
                    && sender.send(answer.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        Process { name: name.into(), child, input, answers, deadline: self.deadline }
    }

    /// Starts several children on one file, named by a letter and a number.
    pub(super) fn start_at(&self, letter: char, count: usize, path: &Path) -> Vec<Process> {
        let mut all: Vec<Process> = (0..count).map(|n| self.start(&format!("{letter}{n}"))).collect();
        for process in &mut all {
            process.wait_for("up");
            process.at(path);
        }
        all
    }
}

/// A child process, killed and reaped when it is dropped.
pub(super) struct Process {
    pub(super) name: String,
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    deadline: Instant,
}

impl Process {
    pub(super) fn send(&mut self, command: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{command}").unwrap_or_else(|error| panic!("{} does not listen: {error}", self.name));
    }

    /// Sends a command and waits until it is done. Returns the answers before.
    pub(super) fn ask(&mut self, command: &str) -> Vec<String> {
        self.send(command);
        self.wait_for("done")
    }

    pub(super) fn at(&mut self, path: &Path) {
        self.ask(&format!("at {}", path.display()));
    }

    /// Returns the next answer, or `None` if the process ended.
    pub(super) fn answer(&mut self) -> Option<String> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.answers.recv_timeout(left) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.give_up(),
        }
    }

    /// Fails if the time limit is exceeded.
    pub(super) fn check_time(&self) {
        if Instant::now() > self.deadline {
            self.give_up();
        }
    }

    fn give_up(&self) -> ! {
        panic!("the test took longer than {LIMIT:?}, waiting for {}", self.name)
    }

    /// Waits for an answer. Returns those before it.
    pub(super) fn wait_for(&mut self, wanted: &str) -> Vec<String> {
        let mut before = Vec::new();
        loop {
            match self.answer() {
                Some(answer) if answer == wanted => return before,
                Some(answer) => before.push(answer),
                None => panic!("{} ended before it said {wanted}; it said {before:?}", self.name),
            }
        }
    }

    /// Kills the process. Returns its answers until then.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.end();
        std::iter::from_fn(|| self.answer()).collect()
    }

    /// Waits until the process ends without an error.
    pub(super) fn finish(mut self) {
        self.input = None;
        while self.answer().is_some() {}
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{} ended with {status}", self.name);
    }

    fn end(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the rest of every answer that starts with a word.
pub(super) fn all<'a>(word: &str, answers: &'a [String]) -> Vec<&'a str> {
    let with_rest = answers.iter().filter_map(|answer| answer.split_once(' '));
    with_rest.filter(|(first, _)| *first == word).map(|(_, rest)| rest).collect()
}

/// Returns the rest of the only answer that starts with a word.
pub(super) fn only<'a>(word: &str, answers: &'a [String]) -> &'a str {
    let found = all(word, answers);
    assert_eq!(found.len(), 1, "{answers:?}");
    found[0]
}
