//! What script may ask for and has to wait for: commands, questions, processes, files that change, tools.

use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::tool::{ToolCall, ToolPlace};
use offshoot_agent::tools::ToolBox;
use serde_json::{Value as Json, json};

use crate::engine::Shared;
use crate::host::{Command, Question};
use crate::process::{Job, milliseconds};

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
        "exec" if shared.setting.trusted => exec(shared, &arguments, stop),
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
        // No handler waits for it.
        Command::BranchInPlace(_)
        | Command::Compact { .. }
        | Command::SetModel { .. }
        | Command::Complete { .. } => false,
    }
}

fn command(name: &str, arguments: &Json) -> Option<Command> {
    let own = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    Some(match name {
        "navigateTree" => Command::NavigateTree(arguments.clone()),
        "branchInPlace" => Command::BranchInPlace(arguments.clone()),
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
    let limit = milliseconds(&arguments["timeout"]);
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
            closes_on_escape: arguments["closesOnEscape"].as_bool().unwrap_or(false),
            options: arguments["options"].clone(),
        },
        _ => return None,
    })
}

/// Runs a process without a shell. Never fails: what cannot be started has an exit code too.
fn exec(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let job = Job::new(arguments, &shared.setting, GRACE);
    Box::pin(async move {
        let ended = match job {
            Ok(job) => job.run(stop.cancelled()).await.map_err(|error| error.to_string()),
            Err(reason) => Err(reason),
        };
        let value = match ended {
            Ok(ended) => json!({
                "stdout": ended.stdout, "stderr": ended.stderr, "killed": ended.was_ended,
                "code": ended.code.unwrap_or(if ended.was_ended { 143 } else { 1 }),
            }),
            Err(error) => json!({"stdout": "", "stderr": error, "code": 1, "killed": false, "error": error}),
        };
        Ok(value.to_string())
    })
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
    let host = &shared.setting.host;
    let cwd = host.cwd().join(arguments["cwd"].as_str().unwrap_or_default());
    let secrets = host.secrets();
    Box::pin(async move {
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        let call = ToolCall { id: "extension".to_owned(), name, arguments: arguments["arguments"].clone() };
        let tools = ToolBox::all();
        let output = match tools.check(call) {
            Ok(ready) => {
                let place = ToolPlace { secrets, ..ToolPlace::new(cwd, stop) };
                ready.run(&place).await
            }
            Err(refused) => refused,
        };
        Ok(json!({"content": output.content, "details": output.details, "isError": output.is_error})
            .to_string())
    })
}
