//! `!command` and `!!command` as a prompt: runs a command of the user and stores its output in the session.

use std::path::PathBuf;

use offshoot_agent::agent::{Agent, RanCommand};
use offshoot_agent::event::AgentEvent;
use offshoot_agent::secrets::Secrets;
use offshoot_agent::tools::UserCommand;
use session_tree::{Message, Session};

use super::{Mode, give_text, waiting};
use crate::app::App;
use crate::cmd::spawn;
use crate::error::{CommandError, Failure};

/// Runs a command, stores it in the session and prints its output.
pub(super) fn run(
    command: &UserCommand,
    session: Session,
    secrets: Secrets,
    mode: Mode,
    app: &mut App,
) -> Result<(), CommandError> {
    let cwd = PathBuf::from(app.env.cwd()?);
    let agent = spawn(Agent::new(session, cwd).with_secrets(secrets))?;
    let RanCommand { message, appended } = waiting(async |cancel| {
        // Waits first: a command whose result cannot be stored must not run.
        agent.until_unlocked().unless(cancel).await?;
        agent.run_command(command.clone()).unless(cancel).await
    })??;
    let id = appended?;
    match mode {
        Mode::Json => crate::ui::json_line(&AgentEvent::Message { id, message: message.clone() }.to_json()),
        _ => give_text(field(&message, "output").trim_end(), app)?,
    }
    end_of(&message)
}

/// Returns an error if the command failed.
fn end_of(message: &Message) -> Result<(), CommandError> {
    let value = message.value();
    if value.get("cancelled").and_then(|said| said.as_bool()) == Some(true) {
        return Err(CommandError::Interrupted);
    }
    match value.get("exitCode").and_then(|code| code.as_i64()) {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::new(format!("the command ended with exit code {code}")).into()),
        None => Err(Failure::new("a signal ended the command").into()),
    }
}

fn field(message: &Message, name: &str) -> String {
    message.value().get(name).and_then(|value| value.as_str()).unwrap_or_default().into_owned()
}
