//! What script may ask for and has to wait for: commands, questions, processes, files that change, tools.

use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::tool::{ToolCall, ToolPlace};
use offshoot_agent::tools::ToolBox;
use serde_json::{Value as Json, json};
use tokio::process::Command as Process;

use crate::engine::Shared;
use crate::host::{Command, Question};

type Work = Pin<Box<dyn Future<Output = Result<String, String>>>>;

/// How often a watched file is looked at.
const WATCH: Duration = Duration::from_millis(100);
/// How long a process may go on after it was asked to end.
const GRACE: Duration = Duration::from_secs(5);

/// Begins an operation.
pub(super) fn start(
    shared: &Rc<Shared>,
    name: &str,
    arguments: Json,
    is_in_event: bool,
    stop: Cancel,
) -> Work {
    match name {
        "exec" if shared.setting.trusted => exec(shared, arguments, stop),
        "watch" if shared.setting.trusted => watch(shared, &arguments, stop),
        "tool" if shared.setting.trusted => tool(shared, arguments, stop),
        "exec" | "watch" | "tool" => refused("this extension may not use files or processes"),
        "ask" => ask(shared, &arguments, stop),
        _ => match command(name, &arguments) {
            // The agent waits for this very handler; it cannot do anything else meanwhile.
            Some(command) if is_in_event && moves(&command) => {
                refused("an event handler cannot change the session that the event is about; use a command")
            }
            Some(command) => {
                let done = shared.setting.host.command(&shared.setting.name, command, stop);
                Box::pin(async move { done.await.map(|value| value.to_string()) })
            }
            None => refused("no such operation"),
        },
    }
}

fn refused(reason: &'static str) -> Work {
    Box::pin(std::future::ready(Err(reason.to_owned())))
}

fn moves(command: &Command) -> bool {
    match command {
        Command::NavigateTree(_)
        | Command::Fork(_)
        | Command::NewSession(_)
        | Command::SwitchSession(_)
        | Command::WaitForIdle
        | Command::Reload => true,
        Command::Compact { .. } | Command::SetModel { .. } | Command::Complete { .. } => false,
    }
}

fn command(name: &str, arguments: &Json) -> Option<Command> {
    let own = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    Some(match name {
        "navigateTree" => Command::NavigateTree(arguments.clone()),
        "fork" => Command::Fork(arguments.clone()),
        "newSession" => Command::NewSession(arguments.clone()),
        "switchSession" => Command::SwitchSession(PathBuf::from(own("path"))),
        "compact" => {
            Command::Compact { instructions: arguments["customInstructions"].as_str().map(str::to_owned) }
        }
        "waitForIdle" => Command::WaitForIdle,
        "reload" => Command::Reload,
        "setModel" => Command::SetModel { provider: own("provider"), id: own("id") },
        "complete" => Command::Complete {
            provider: own("provider"),
            id: own("id"),
            context: arguments["context"].clone(),
            options: arguments["options"].clone(),
        },
        _ => return None,
    })
}

/// Asks a person.
fn ask(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let setting = &shared.setting;
    let Some(question) = question(shared, arguments) else { return refused("no such question") };
    let (asked, handle) = (setting.host.ask(&setting.name, question, stop.clone()), setting.handle.clone());
    let limit = arguments["timeout"].as_f64().filter(|ms| ms.is_finite() && *ms > 0.0);
    let limit = limit.map(|ms| Duration::from_micros((ms * 1_000.0) as u64));
    Box::pin(async move {
        if let Some(handle) = handle.upgrade() {
            handle.open_dialogs.fetch_add(1, Ordering::Relaxed);
        }
        let answer = match limit {
            Some(limit) => tokio::time::timeout(limit, stop.unless_cancelled(asked)).await.ok().flatten(),
            None => stop.unless_cancelled(asked).await,
        };
        // A question that ran out of time is closed.
        stop.cancel();
        if let Some(handle) = handle.upgrade() {
            handle.open_dialogs.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(answer.flatten().unwrap_or(Json::Null).to_string())
    })
}

fn question(shared: &Rc<Shared>, arguments: &Json) -> Option<Question> {
    let own = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    let title = own("title");
    Some(match arguments["kind"].as_str()? {
        "select" => {
            let options = arguments["options"].as_array()?.iter();
            let options = options.filter_map(|option| option.as_str().map(str::to_owned)).collect();
            Question::Select { title, options }
        }
        "confirm" => Question::Confirm { title, message: own("message") },
        "input" => Question::Input { title, placeholder: own("placeholder") },
        "editor" => Question::Editor { title, prefill: own("prefill") },
        "custom" => Question::Custom {
            component: crate::engine::component(shared, &arguments["component"])?,
            overlay: arguments["overlay"].as_bool().unwrap_or(false),
            options: arguments["options"].clone(),
        },
        _ => return None,
    })
}

/// Runs a process without a shell. Never fails: what cannot be started has an exit code too.
fn exec(shared: &Rc<Shared>, arguments: Json, stop: Cancel) -> Work {
    let directory = shared.setting.host.cwd().join(arguments["cwd"].as_str().unwrap_or_default());
    Box::pin(async move {
        let list = arguments["args"].as_array().into_iter().flatten();
        let mut process = Process::new(arguments["command"].as_str().unwrap_or_default());
        process.args(list.filter_map(Json::as_str)).current_dir(directory);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let environment = arguments["env"].as_object().into_iter().flatten();
        process.envs(environment.filter_map(|(key, value)| Some((key, value.as_str()?))));
        let mut child = match process.spawn() {
            Ok(child) => child,
            Err(error) => {
                let error = error.to_string();
                return Ok(
                    json!({"stdout": "", "stderr": error, "code": 1, "killed": false, "error": error})
                        .to_string(),
                );
            }
        };
        feed(&mut child, arguments["input"].as_str()).await;
        Ok(outcome(child, arguments["timeout"].as_f64(), stop).await.to_string())
    })
}

async fn feed(child: &mut tokio::process::Child, input: Option<&str>) {
    use tokio::io::AsyncWriteExt as _;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // A process that does not read its input does not need it.
        drop(stdin.write_all(input.as_bytes()).await);
    }
}

async fn outcome(child: tokio::process::Child, timeout: Option<f64>, stop: Cancel) -> Json {
    let limit = timeout.filter(|ms| ms.is_finite() && *ms > 0.0);
    let limit = limit.map(|ms| Duration::from_micros((ms * 1_000.0) as u64));
    let id = child.id();
    let mut done = Box::pin(child.wait_with_output());
    let late = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let (output, killed) = tokio::select! {
        output = &mut done => (Some(output), false),
        () = stop.cancelled() => (ended(id, done).await, true),
        () = late => (ended(id, done).await, true),
    };
    match output {
        Some(Ok(output)) => json!({
            "stdout": String::from_utf8_lossy(&output.stdout),
            "stderr": String::from_utf8_lossy(&output.stderr),
            "code": output.status.code().unwrap_or(if killed { 143 } else { 1 }),
            "killed": killed,
        }),
        Some(Err(error)) => json!({"stdout": "", "stderr": error.to_string(), "code": 1, "killed": killed}),
        None => json!({"stdout": "", "stderr": "", "code": 137, "killed": true}),
    }
}

type Done = Pin<Box<dyn Future<Output = std::io::Result<std::process::Output>>>>;

/// Asks a process to end, and makes it end if it does not.
async fn ended(id: Option<u32>, done: Done) -> Option<std::io::Result<std::process::Output>> {
    if let Some(id) = id {
        let mut kill = Process::new("kill");
        drop(kill.arg(id.to_string()).stdout(Stdio::null()).stderr(Stdio::null()).status().await);
    }
    tokio::time::timeout(GRACE, done).await.ok()
}

/// Waits until a file is not what it was.
fn watch(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let path = shared.setting.host.cwd().join(arguments["path"].as_str().unwrap_or_default());
    let look = move || {
        let metadata = std::fs::metadata(&path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    let before = look();
    Box::pin(async move {
        loop {
            if stop.unless_cancelled(tokio::time::sleep(WATCH)).await.is_none() {
                return Ok("false".to_owned());
            }
            if look() != before {
                return Ok("true".to_owned());
            }
        }
    })
}

/// Runs a tool of the agent for a tool of the extension.
fn tool(shared: &Rc<Shared>, arguments: Json, stop: Cancel) -> Work {
    let cwd = shared.setting.host.cwd().join(arguments["cwd"].as_str().unwrap_or_default());
    Box::pin(async move {
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        let call = ToolCall { id: "extension".to_owned(), name, arguments: arguments["arguments"].clone() };
        let tools = ToolBox::all();
        let output = match tools.check(call) {
            Ok(ready) => {
                let place = ToolPlace { cwd, cancel: stop, progress: Arc::new(drop) };
                ready.run(&place).await
            }
            Err(refused) => refused,
        };
        Ok(json!({"content": output.content, "details": output.details, "isError": output.is_error})
            .to_string())
    })
}
