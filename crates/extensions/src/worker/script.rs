//! Script of one extension, in the embedded engine or in a child process, and the choice between them.

use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::{Engine, Entry, Setting, Shared};
use crate::load::Program;
use crate::node::{Frame, Need, Remote, first_need};
use crate::runtime::EngineChoice;

/// The Node that is asked for. Older versions cannot be told what a module name means.
const ADVICE: &str = "install Node 22.15 or newer";

/// Script of one extension.
pub(super) enum Script {
    /// It runs on this thread.
    Embedded(Engine),
    /// It runs in a child process.
    Remote(Remote),
}

/// Script that can take calls.
pub(super) struct Started {
    pub(super) script: Script,
    /// Added to the error if it cannot be loaded.
    pub(super) hint: Option<String>,
}

/// Chooses an engine for an extension and starts it.
pub(super) fn start(setting: Setting, program: &Program) -> Result<Started, String> {
    let wanted = match program.engine {
        // A child process can use files and programs, so it needs the same trust.
        _ if !setting.trusted => EngineChoice::Embedded,
        engine => engine,
    };
    let need = (wanted == EngineChoice::Auto).then(|| first_need(&program.path)).flatten();
    if wanted == EngineChoice::Embedded || (wanted == EngineChoice::Auto && need.is_none()) {
        return embedded(setting, None);
    }
    match program.children.of(program.origin, &setting.host, &setting.limits) {
        Ok(child) => {
            let remote = Remote::new(Rc::new(Shared::new(setting)), child);
            Ok(Started { script: Script::Remote(remote), hint: None })
        }
        // It may do without what it lacks.
        Err(reason) if let Some(need) = need => embedded(setting, Some(hint(&need, &reason))),
        Err(reason) => Err(format!("it is to run in Node: {reason}; {ADVICE}")),
    }
}

fn hint(need: &Need, reason: &str) -> String {
    format!("{need}, and Node is not there: {reason}; {ADVICE}")
}

fn embedded(setting: Setting, hint: Option<String>) -> Result<Started, String> {
    Ok(Started { script: Script::Embedded(Engine::new(setting)?), hint })
}

impl Script {
    pub(super) fn shared(&self) -> &Rc<Shared> {
        match self {
            Script::Embedded(engine) => &engine.shared,
            Script::Remote(remote) => &remote.shared,
        }
    }

    /// Tells script something. Returns how long script ran and whether it can go on, if that is known at once.
    pub(super) fn enter(
        &mut self,
        budget: Duration,
        entry: Entry,
        of_call: Option<u64>,
    ) -> Option<(Result<(), String>, Duration)> {
        match self {
            Script::Embedded(engine) => Some(engine.enter(budget, entry)),
            Script::Remote(remote) => {
                remote.enter(budget, entry, of_call);
                None
            }
        }
    }

    /// Waits for the next message of script in a child process.
    pub(super) async fn next(&mut self) -> Option<Frame> {
        match self {
            Script::Embedded(_) => std::future::pending().await,
            Script::Remote(remote) => remote.next().await,
        }
    }

    /// Returns true if script does nothing by itself.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Script::Embedded(_) => true,
            Script::Remote(remote) => remote.is_idle(),
        }
    }

    /// Returns when script has to be looked after.
    pub(super) fn wake_up(&self) -> Option<Instant> {
        match self {
            Script::Embedded(_) => None,
            Script::Remote(remote) => remote.wake_up(),
        }
    }

    /// Looks after script in a child process. Fails if it hangs.
    pub(super) fn look_after(&mut self, budget: Duration) -> Result<(), String> {
        match self {
            Script::Embedded(_) => Ok(()),
            Script::Remote(remote) => remote.look_after(budget),
        }
    }
}
