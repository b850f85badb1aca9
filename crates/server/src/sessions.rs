//! Another session in the place of the current one, for all protocols.

use std::path::PathBuf;

use offshoot_agent::command::{Applied, NewRequest, Replaced};
use offshoot_agent::handle::AgentHandle;
use session_tree::ModelRef;

use crate::failure::Failure;
use crate::program::Program;

/// Continues in a new session.
///
/// # Errors
///
/// If the session cannot be made.
pub async fn new_session(
    agent: &AgentHandle,
    request: NewRequest,
    program: &dyn Program,
) -> Result<Applied<Replaced>, Failure> {
    Ok(agent.new_session(request, program.options()).await?)
}

/// Continues in the session of a file, with the model that the session names if it can be used.
///
/// # Errors
///
/// If the file cannot be opened.
pub async fn resume(
    agent: &AgentHandle,
    file: PathBuf,
    program: &dyn Program,
) -> Result<Applied<Replaced>, Failure> {
    let applied = agent.resume(file, program.options()).await?;
    if let Applied::Done(replaced) = &applied {
        restore_model(agent, replaced.model.as_ref(), program).await?;
    }
    Ok(applied)
}

/// Uses the model that a session names, if it can be used.
///
/// # Errors
///
/// If the agent has ended.
pub async fn restore_model(
    agent: &AgentHandle,
    named: Option<&ModelRef>,
    program: &dyn Program,
) -> Result<(), Failure> {
    let Some(named) = named else { return Ok(()) };
    let name = format!("{}/{}", named.provider, named.model_id);
    let is_current = agent.state().model.is_some_and(|model| model.spec().full_name() == name);
    match program.model(&name) {
        Ok(model) if !is_current && model.spec().full_name() == name => {
            Ok(agent.restore_model(model, None).await?)
        }
        // A model that is not set up here leaves the current one in place.
        Ok(_) | Err(_) => Ok(()),
    }
}
