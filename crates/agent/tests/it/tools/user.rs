//! Commands of the user.

use std::time::Duration;

use offshoot_agent::tools::{UserCommand, run_user_command};
use session_tree::Timestamp;

use super::*;

async fn run(workspace: &Workspace, typed: &str) -> Json {
    let command = UserCommand::parse(typed).unwrap();
    let run = run_user_command(&command, &workspace.place, Timestamp::from_millis(7));
    let message = tokio::time::timeout(Duration::from_secs(60), run).await.expect("the command ends");
    serde_json::from_slice(message.raw()).unwrap()
}

#[test]
fn one_mark_is_for_the_conversation_and_two_are_for_the_user() {
    let parsed = |text| UserCommand::parse(text).map(|command| (command.command, command.is_private));
    assert_eq!(parsed("!ls -l"), Some(("ls -l".into(), false)));
    assert_eq!(parsed("  !! ls\n"), Some(("ls".into(), true)));
    assert_eq!([parsed("ls"), parsed("!"), parsed("!! "), parsed("a !b")], [None, None, None, None]);
}

#[tokio::test]
async fn a_command_becomes_a_message() {
    let workspace = workspace();
    assert_eq!(
        run(&workspace, "!echo out; echo err >&2; exit 2").await,
        json!({
            "role": "bashExecution", "command": "echo out; echo err >&2; exit 2", "output": "out\nerr\n",
            "exitCode": 2, "cancelled": false, "truncated": false, "timestamp": 7,
        })
    );
    let private = run(&workspace, "!!true").await;
    assert_eq!((&private["excludeFromContext"], &private["exitCode"]), (&json!(true), &json!(0)));
}

#[tokio::test]
async fn long_output_is_kept_in_a_file() {
    let message = run(&workspace(), "!seq 3000").await;
    let path = message["fullOutputPath"].as_str().unwrap().to_owned();
    let lines = fs::read_to_string(&path).unwrap().lines().count();
    fs::remove_file(path).unwrap();
    assert_eq!((lines, &message["truncated"]), (3_000, &json!(true)));
    assert!(message["output"].as_str().unwrap().starts_with("1001\n"));
}

#[tokio::test]
async fn a_cancelled_command_has_no_exit_code() {
    let workspace = workspace();
    let stop = async {
        while workspace.progress.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        workspace.place.cancel.cancel();
    };
    let (message, ()) = tokio::join!(run(&workspace, "!echo hi; sleep 1000"), stop);
    assert_eq!((&message["cancelled"], message.get("exitCode")), (&json!(true), None));
    assert_eq!(message["output"], "hi\n");
}
