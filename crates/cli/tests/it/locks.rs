//! Session files that another program has locked: commands end after 10 seconds without writing, the chat keeps working.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::Home;

#[test]
fn commands_give_up_after_ten_seconds_and_write_nothing() {
    let home = Home::new();
    let file = home.session(
        "
        u user hello
        a<u assistant hi
    ",
    );
    let before = fs::read(&file).unwrap();
    // Reading a file is enough to lock it.
    let holder = File::open(&file).unwrap();
    holder.lock().unwrap();
    let draft = r#"{"type":"message","message":{"role":"user","content":"x"}}"#;
    let commands: [&[&str]; 4] = [
        &["append", &file],
        &["label", &file, "u", "here"],
        &["switch", &file, "u", "--exact"],
        &["-p", "--session", &file, "more"],
    ];
    let start = Instant::now();
    let children: Vec<_> = commands
        .iter()
        .map(|arguments| {
            let mut child = home.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
            if arguments[0] == "append" {
                child.stdin.as_mut().unwrap().write_all(draft.as_bytes()).unwrap();
            }
            drop(child.stdin.take());
            child
        })
        .collect();
    for (child, arguments) in children.into_iter().zip(commands) {
        let output = child.wait_with_output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {words}");
        assert!(words.contains("has held its lock for"), "{arguments:?}: {words}");
        assert!(words.contains("waiting: "), "{arguments:?}: {words}");
        if cfg!(target_os = "linux") {
            assert!(words.contains(&format!("(process {})", std::process::id())), "{arguments:?}: {words}");
        }
    }
    // A guard against hanging, not a measurement.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(fs::read(&file).unwrap() == before, "nothing was written");
    drop(holder);
    assert_eq!(home.run(&["label", &file, "u", "here"]).code, 0);
}
