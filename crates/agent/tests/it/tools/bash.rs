//! Commands: real processes, and the cleanup after them.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use tokio::time::timeout;

use super::*;

/// Far more than any of these commands needs, so that a hanging test fails.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn bash(workspace: &Workspace, command: &str) -> ToolOutput {
    let run = workspace.run("bash", json!({"command": command}));
    timeout(TIMEOUT, run).await.expect("the command ends")
}

/// Returns true if a process is running. A zombie is not.
fn is_running(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap().stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}

/// Waits until the progress contains `needle`.
async fn until_progress(workspace: &Workspace, needle: &str) {
    let heard = async {
        while !workspace.progress.lock().unwrap().iter().any(|text| text.contains(needle)) {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, heard).await.expect("the command says so");
}

#[tokio::test]
async fn both_outputs_come_in_the_order_in_which_they_were_written() {
    let workspace = workspace();
    let output = bash(&workspace, "echo 1; echo 2 >&2; echo 3; pwd").await;
    let cwd = workspace.dir.path().canonicalize().unwrap();
    assert_eq!(output, ToolOutput::text(format!("1\n2\n3\n{}\n", cwd.display())));
}

#[tokio::test]
async fn a_failed_command_reports_its_exit_code() {
    let workspace = workspace();
    assert_eq!(
        bash(&workspace, "echo a; exit 3").await,
        ToolOutput::error("a\n\nCommand exited with code 3")
    );
    assert_eq!(bash(&workspace, "true").await, ToolOutput::text("(no output)"));
    assert_eq!(
        bash(&workspace, "kill -9 $$").await,
        ToolOutput::error("(no output)\n\nCommand was ended by signal 9")
    );
    assert!(text(&bash(&workspace, "-x").await).contains("-x"), "a dash is no option of the shell");
}

#[tokio::test]
async fn a_command_that_cannot_start_reports_the_reason() {
    let workspace = workspace();
    assert!(text(&bash(&workspace, "echo \0").await).starts_with("cannot run the command: "));
    let mut place = workspace.place;
    place.cwd = workspace.dir.path().join("none");
    let run = ToolBox::all().check(call("bash", json!({"command": "pwd"})), place).unwrap().run().await;
    assert_eq!(run, ToolOutput::error("cannot run the command: the working directory does not exist"));
}

#[tokio::test]
async fn there_is_no_input_to_wait_for() {
    assert_eq!(bash(&workspace(), "cat; echo done").await, ToolOutput::text("done\n"));
}

#[tokio::test]
async fn output_that_is_no_text_is_tolerated() {
    assert_eq!(bash(&workspace(), r"printf 'a\377\033[1mb'").await, ToolOutput::text("a\u{fffd}\u{1b}[1mb"));
}

#[tokio::test]
async fn output_is_reported_while_a_command_runs() {
    let workspace = workspace();
    let run = bash(&workspace, "echo ready; until [ -e go ]; do sleep 0.01; done; echo done");
    let go = async {
        until_progress(&workspace, "ready").await;
        workspace.write("go", "");
    };
    let (output, ()) = tokio::join!(run, go);
    assert_eq!(output, ToolOutput::text("ready\ndone\n"));
}

#[tokio::test]
async fn of_long_output_the_end_is_shown_and_all_is_kept() {
    let output = bash(&workspace(), "seq 30000").await;
    let details = output.details.clone().unwrap();
    let path = details["fullOutputPath"].as_str().unwrap().to_owned();
    let shown = text(&output);
    assert!(shown.starts_with("28001\n"));
    assert!(
        shown.ends_with(&format!("30000\n\n[The last 2000 of 30000 lines are shown. Full output: {path}]"))
    );
    assert_eq!(details["truncation"]["truncatedBy"], "lines");
    let kept = fs::read_to_string(&path).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    fs::remove_file(&path).unwrap();
    assert_eq!(kept, (1..=30_000).map(|n| format!("{n}\n")).collect::<String>());
    assert_eq!(mode, 0o600);
}

#[tokio::test]
async fn one_endless_line_is_cut() {
    let output = bash(&workspace(), "head -c 300000 /dev/zero | tr '\\0' x").await;
    let path = output.details.as_ref().unwrap()["fullOutputPath"].as_str().unwrap().to_owned();
    let size = fs::metadata(&path).unwrap().len();
    fs::remove_file(&path).unwrap();
    assert_eq!(size, 300_000);
    assert!(text(&output).contains("[The last 50.0 KB of the output are shown."));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_all_its_children() {
    let workspace = workspace();
    let command = "sleep 1000 & echo $! > child; (sleep 1000; true) & echo start; wait";
    let run = workspace.run("bash", json!({"command": command, "timeout": 0.3}));
    let output = timeout(TIMEOUT, run).await.expect("the command is ended");
    assert_eq!(output, ToolOutput::error("start\n\nCommand timed out after 0.3 seconds"));
    assert!(!is_running(&fs::read_to_string(workspace.path("child")).unwrap()));
}

#[tokio::test]
async fn a_cancelled_command_may_handle_the_signal() {
    let workspace = workspace();
    let run = bash(&workspace, "trap 'echo bye; exit' TERM; echo ready; while :; do sleep 0.01; done");
    let stop = async {
        until_progress(&workspace, "ready").await;
        workspace.place.cancel.cancel();
    };
    let (output, ()) = tokio::join!(run, stop);
    assert!(output.is_error);
    // The shell may print a message about its child.
    assert!(
        text(&output).starts_with("ready\n") && text(&output).ends_with("bye\n\nCommand cancelled"),
        "{output:?}"
    );
}

/// Takes the five seconds between TERM and KILL.
#[tokio::test]
async fn a_command_that_ignores_the_signal_is_killed() {
    let workspace = workspace();
    let run = bash(&workspace, "trap '' TERM; echo $$ > shell; echo ready; while :; do sleep 0.05; done");
    let stop = async {
        until_progress(&workspace, "ready").await;
        workspace.place.cancel.cancel();
    };
    let (output, ()) = tokio::join!(run, stop);
    assert_eq!(output, ToolOutput::error("ready\n\nCommand cancelled"));
    assert!(!is_running(&fs::read_to_string(workspace.path("shell")).unwrap()));
}

#[tokio::test]
async fn a_dropped_call_leaves_no_process() {
    let workspace = workspace();
    {
        let run = bash(&workspace, "echo $$ > shell; sleep 1000 & echo $! > child; echo ready; wait");
        tokio::select! {
            output = run => panic!("it ended: {output:?}"),
            () = until_progress(&workspace, "ready") => {}
        }
    }
    let gone = async {
        for name in ["shell", "child"] {
            while is_running(&fs::read_to_string(workspace.path(name)).unwrap()) {
                tokio::task::yield_now().await;
            }
        }
    };
    timeout(TIMEOUT, gone).await.expect("both are gone");
}

#[tokio::test]
async fn background_processes_are_ended_and_reported() {
    let workspace = workspace();
    let output = bash(&workspace, "sleep 1000 > /dev/null & echo $! > child; echo done").await;
    let note = "done\n\n[Processes that the command left in the background were ended.]";
    assert_eq!(output, ToolOutput::text(note));
    assert!(!is_running(&fs::read_to_string(workspace.path("child")).unwrap()));
}

#[tokio::test]
async fn a_process_that_outlives_the_shell_may_finish() {
    let output = bash(&workspace(), "exec > >(sleep 0.05; cat); echo late").await;
    assert_eq!(output, ToolOutput::text("late\n"));
}

#[tokio::test]
async fn a_process_that_left_the_group_does_not_block() {
    let workspace = workspace();
    let output = bash(&workspace, "set -m; sleep 1000 & echo $! > child; echo done").await;
    let child = fs::read_to_string(workspace.path("child")).unwrap();
    let was_running = is_running(&child);
    Command::new("kill").arg(child.trim()).status().unwrap();
    assert_eq!(output, ToolOutput::text("done\n"));
    assert!(was_running, "who leaves the group on purpose is left alone");
}

#[tokio::test]
async fn an_endless_writer_outside_the_group_does_not_block() {
    let workspace = workspace();
    let output = bash(&workspace, "set -m; yes & echo $! > child").await;
    Command::new("kill").arg(fs::read_to_string(workspace.path("child")).unwrap().trim()).status().unwrap();
    if let Some(path) = output.details.as_ref().and_then(|details| details["fullOutputPath"].as_str()) {
        fs::remove_file(path).unwrap();
    }
    assert!(!output.is_error, "{output:?}");
}
