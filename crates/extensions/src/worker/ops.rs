//! Operations that script waits for: commands, questions, processes, watched files, tools.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::tool::{ToolCall, ToolPlace};
use offshoot_agent::tools::ToolBox;
use serde::Deserialize as _;
use serde_json::{Value as Json, json};

use super::fetch;
use crate::engine::Shared;
use crate::host::Question;
use crate::process::{Job, milliseconds, outcome};

pub(super) type Work = Pin<Box<dyn Future<Output = Result<String, String>>>>;

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
        "exec" | "watch" | "tool" | "fetch" if !shared.setting.trusted => {
            refused("this extension may not use files, processes or the network")
        }
        "exec" => exec(shared, &arguments, stop),
        "watch" => watch(shared, &arguments, stop),
        "tool" => tool(shared, arguments, stop),
        "ask" => ask(shared, &arguments, stop),
        "fetch" => fetch::start(shared, arguments, stop),
        "fetchRead" => fetch::read(shared, &arguments, stop),
        "fetchClose" => fetch::close(shared, &arguments),
        // The agent waits for this handler and can do nothing else.
        name if is_in_event && NEEDS_IDLE_AGENT.contains(&name) => {
            refused("an event handler cannot change the session that the event is about; use a command")
        }
        name => {
            let done = shared.setting.host.start(name, arguments, stop);
            Box::pin(async move { done.await.map(|value| value.to_string()) })
        }
    }
}

/// Operations that an event handler waits for and that the agent cannot do before the handler is done.
const NEEDS_IDLE_AGENT: [&str; 6] =
    ["navigateTree", "fork", "newSession", "switchSession", "waitForIdle", "reload"];

pub(super) fn refused(reason: &'static str) -> Work {
    Box::pin(std::future::ready(Err(reason.to_owned())))
}

/// Asks the user.
pub(super) fn ask(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let setting = &shared.setting;
    let (Ok(question), Some(extension)) = (Question::deserialize(arguments), setting.extension()) else {
        return refused("no such question");
    };
    let limit = milliseconds(&arguments["timeout"]);
    let (asked, handle) = (setting.host.ask(extension, question, limit), setting.handle.clone());
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

/// Runs a process without a shell. Never fails: what cannot be started has an exit code too.
fn exec(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let job = Job::new(arguments, &shared.setting, GRACE);
    Box::pin(async move {
        let ended = match job {
            Ok(job) => job.run(stop.cancelled()).await.map_err(|error| error.to_string()),
            Err(reason) => Err(reason),
        };
        let mut value = outcome(ended);
        if value["code"].is_null() {
            value["code"] = if value["killed"] == true { 143 } else { 1 }.into();
        }
        Ok(value.to_string())
    })
}

/// Waits until a file is not what it was.
fn watch(shared: &Rc<Shared>, arguments: &Json, stop: Cancel) -> Work {
    let path = shared.setting.host.cwd.join(arguments["path"].as_str().unwrap_or_default());
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
    let cwd = host.cwd.join(arguments["cwd"].as_str().unwrap_or_default());
    let secrets = host.secrets.clone();
    Box::pin(async move {
        let name = arguments["name"].as_str().unwrap_or_default().to_owned();
        let call = ToolCall { id: "extension".to_owned(), name, arguments: arguments["arguments"].clone() };
        let mut place = ToolPlace::new(cwd, stop);
        place.secrets = secrets;
        let output = match ToolBox::all().check(call, place) {
            Ok(ready) => ready.run().await,
            Err(refused) => refused,
        };
        Ok(json!({"content": output.content, "details": output.details, "isError": output.is_error})
            .to_string())
    })
}
