//! Script of one extension, in the embedded engine or in a child process, and the choice between them.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::{Engine, Entry, Setting, Shared};
use crate::load::Program;
use crate::node::{Frame, NOT_INSTALLED, Remote, first_need};
use crate::runtime::EngineChoice;

/// The required Node. Older versions have no hooks for the names of modules.
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
    pub(super) absence: Option<Absence>,
}

/// Node is not there for an extension that may need it.
pub(super) struct Absence {
    entry: PathBuf,
    /// The end of a sentence.
    reason: String,
}

impl Absence {
    /// Adds what is missing to the error of an extension that cannot be loaded in the embedded engine.
    pub(super) fn explain(&self, error: String) -> String {
        match first_need(&self.entry) {
            Some(need) => format!("it {need}, and Node is not there: {}; {ADVICE}: {error}", self.reason),
            None => error,
        }
    }
}

/// Chooses an engine for an extension and starts it.
pub(super) fn start(setting: Setting, program: &Program) -> Result<Started, String> {
    let absence = |reason: String| Some(Absence { entry: program.path.clone(), reason });
    match program.engine {
        // A child process can use files and programs, so it needs the same trust.
        _ if !setting.trusted => embedded(setting, None),
        EngineChoice::Embedded => embedded(setting, None),
        // The search takes time, and its result would not matter.
        EngineChoice::Auto if !program.children.are_possible() => {
            embedded(setting, absence(NOT_INSTALLED.to_owned()))
        }
        EngineChoice::Auto if first_need(&program.path).is_none() => embedded(setting, None),
        choice => match program.children.of(program.origin, &setting.host, &setting.limits) {
            Ok(child) => {
                let remote = Remote::new(Rc::new(Shared::new(setting)), child);
                Ok(Started { script: Script::Remote(remote), absence: None })
            }
            // It may do without what it lacks.
            Err(reason) if choice == EngineChoice::Auto => embedded(setting, absence(reason)),
            Err(reason) => Err(format!("it is to run in Node: {reason}; {ADVICE}")),
        },
    }
}

fn embedded(setting: Setting, absence: Option<Absence>) -> Result<Started, String> {
    Ok(Started { script: Script::Embedded(Engine::new(setting)?), absence })
}

impl Script {
    pub(super) fn shared(&self) -> &Rc<Shared> {
        match self {
            Script::Embedded(engine) => &engine.shared,
            Script::Remote(remote) => &remote.shared,
        }
    }

    /// Sends script a message. Returns how long script ran and whether it can go on, if that is known at once.
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
