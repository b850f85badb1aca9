//! A real browser: headless Chromium, asked over its own pipe. No port, no driver, nothing to download.
//!
//! A machine without Chromium fails the tests that need it; `scripts/test` installs it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test whose browser does not answer has failed"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long one test may use a browser.
const PATIENCE: Duration = Duration::from_secs(240);
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    page: Option<String>,
    last_id: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
    /// Dropped at the end; until then a thread waits for too long a time.
    _alive: mpsc::Sender<()>,
}

impl Browser {
    /// Starts a browser whose window is that of a desk.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut child = spawn(profile.path());
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let alive = end_after(PATIENCE, child.id());
        let mut browser = Browser {
            child,
            input,
            output: BufReader::new(output),
            page: None,
            last_id: 0,
            events: Vec::new(),
            _profile: profile,
            _alive: alive,
        };
        let target = browser.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let attached =
            browser.ask("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}));
        browser.page = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Network.enable", "Log.enable"] {
            browser.ask(domain, &json!({}));
        }
        browser.size(1400, 900);
        browser
    }

    /// Makes the window so large; a narrow one is a phone.
    pub fn size(&mut self, width: u32, height: u32) {
        let mobile = width < 600;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.ask("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Runs no script of any page from here on.
    pub fn without_scripts(&mut self) {
        self.ask("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    }

    /// Opens a file and waits until its script is done.
    pub fn open(&mut self, file: &Path) {
        self.navigate(&format!("file://{}", file.display()));
        self.wait("document.documentElement.dataset.ready");
        assert_eq!(self.eval("document.documentElement.dataset.ready"), "yes");
    }

    /// Opens an address and waits until it is loaded.
    pub fn navigate(&mut self, url: &str) {
        self.events.clear();
        self.ask("Page.navigate", &json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let message = self.next_message();
            self.events.push(message);
        }
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let look = format!(
            "new Promise((done) => {{ const look = () => ({expression}) ? done(true) : setTimeout(look, 5); look(); }})"
        );
        self.eval(&look);
    }

    /// Runs a script in the page and gives what it returns.
    pub fn eval(&mut self, script: &str) -> Value {
        let asked =
            json!({"expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let answer = self.ask("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Shows the page as it would be on paper.
    pub fn on_paper(&mut self) {
        self.ask("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    }

    /// Prints the page and returns the PDF as base64.
    pub fn print(&mut self) -> String {
        let printed = self.ask("Page.printToPDF", &json!({}));
        printed["data"].as_str().unwrap().to_owned()
    }

    /// Presses a key, as a person would.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let text = if key == "Enter" { "\r" } else { text };
        self.ask("Input.dispatchKeyEvent", &json!({"type": "keyDown", "key": key, "text": text}));
        self.ask("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key}));
    }

    /// Returns the addresses that the page asked for.
    pub fn requests(&self) -> Vec<String> {
        let asked = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        asked.map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Returns what the page complained about: exceptions and violations of its policy.
    pub fn complaints(&self) -> Vec<String> {
        let is_one = |event: &&Value| {
            event["method"] == "Runtime.exceptionThrown"
                || event["method"] == "Log.entryAdded" && event["params"]["entry"]["level"] == "error"
                || event["method"] == "Page.javascriptDialogOpening"
        };
        self.events.iter().filter(is_one).map(ToString::to_string).collect()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(page) = &self.page {
            message["sessionId"] = json!(page);
        }
        self.input.write_all(message.to_string().as_bytes()).unwrap();
        self.input.write_all(b"\0").unwrap();
        self.input.flush().unwrap();
        loop {
            let answer = self.next_message();
            if answer["id"] == self.last_id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next_message(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert!(!bytes.is_empty(), "the browser ended, or took longer than {PATIENCE:?}");
        serde_json::from_slice(&bytes[..bytes.len() - 1]).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts a browser that uses the descriptors 3 and 4, which a shell copies from its 0 and 1.
fn spawn(profile: &Path) -> Child {
    let name = NAMES.into_iter().find(|name| is_installed(name));
    let name = name.expect("Chromium is needed: `apt-get install chromium`, or run `scripts/test`");
    Command::new("sh")
        .arg("-c")
        .arg("exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2")
        .arg(name)
        .args([
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args(["--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .env("HOME", profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn is_installed(name: &str) -> bool {
    let found = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// Ends a process that lives too long, unless the sender is dropped before.
fn end_after(time: Duration, process: u32) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    thread::spawn(move || {
        if receiver.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
            drop(Command::new("kill").arg(process.to_string()).status());
        }
    });
    sender
}
