//! Paths that are not UTF-8. Only some systems allow them.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use testkit::drawing::session_text;

use crate::support::Home;

#[test]
fn a_session_can_be_named_by_a_path_that_is_not_utf_8() {
    let home = Home::new();
    let path = home.path("project").join(OsStr::from_bytes(b"s\xff.jsonl"));
    fs::write(&path, session_text("a user hello\nb<a assistant hi")).unwrap();
    let commands: [&[&str]; 9] = [
        &["tree"],
        &["tree", "--flat"],
        &["context"],
        &["check"],
        &["stats"],
        &["label", "", "a", "here"],
        &["switch", "", "a", "--exact"],
        &["migrate"],
        &["-p", "--model", "offshoot/offline", "more", "--session"],
    ];
    for arguments in commands {
        // The path stands in the place of the empty argument, or at the end.
        let mut command = home.command(&[]);
        command.args(arguments.iter().map(|argument| match *argument {
            "" => path.as_os_str(),
            argument => OsStr::new(argument),
        }));
        if !arguments.contains(&"") {
            command.arg(&path);
        }
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {words}");
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"label\":\"here\"") && text.contains("more"), "{text}");
    let missing = home.path("project").join(OsStr::from_bytes(b"gone\xff.jsonl"));
    let output = home.command(&["tree"]).arg(missing).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no file"));
}
