//! Loading extensions, and what all of them together have registered.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use offshoot_agent::extension::ExtensionCommand;
use offshoot_agent::hooks::Hooks;
use offshoot_agent::hooks::events::{EVENTS, optional_fields};
use offshoot_agent::tool::Tool;
use serde_json::{Map, Value as Json, json};

use crate::discover::{FoundExtension, Origin};
use crate::extension::Extension;
use crate::handle::{Bus, Handle, Kind};
use crate::host::Host;
use crate::limits::Limits;
#[cfg(feature = "engine")]
use crate::node::Children;
use crate::registry::LoadedCommand;
use crate::runtime::{EngineChoice, Runtimes};
use crate::worker;

/// How extensions are loaded.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// How much each of them may take.
    pub limits: Limits,
    /// Whether they may use files, processes and the environment. Without, they have the session and the screen alone.
    pub trusted: bool,
    /// Flags of the command line, by name.
    pub flags: Map<String, Json>,
    /// The engine of extensions that do not choose one themselves.
    pub engine: EngineChoice,
    /// The programs that can run extensions besides the embedded engine.
    pub runtimes: Runtimes,
}

/// The program of one extension: its file, and the engine that it runs in.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// The directory that imports have to stay in.
    pub(crate) root: Option<PathBuf>,
    pub(crate) origin: Origin,
    pub(crate) engine: EngineChoice,
    #[cfg(feature = "engine")]
    pub(crate) children: Arc<Children>,
}

/// The extensions of one agent, a slice in the order in which they were loaded.
#[derive(Debug, Clone, Default)]
pub struct Extensions {
    list: Vec<Extension>,
}

/// An extension that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot load extension {}: {message}", path.display())]
pub struct LoadError {
    /// Its file.
    pub path: PathBuf,
    /// Why, with places in the source.
    pub message: String,
}

impl Extensions {
    /// Loads extensions concurrently. Returns an error for each that cannot be loaded.
    pub async fn load(
        found: &[FoundExtension],
        host: &Arc<Host>,
        options: &LoadOptions,
    ) -> (Self, Vec<LoadError>) {
        let bus = Arc::new(Bus::default());
        #[cfg(feature = "engine")]
        let children = Arc::new(Children::new(options.runtimes.clone()));
        let program = |one: &FoundExtension| Program {
            path: one.path.clone(),
            root: one.is_confined.then(|| one.root.clone()),
            origin: one.origin,
            engine: one.engine.unwrap_or(options.engine),
            #[cfg(feature = "engine")]
            children: children.clone(),
        };
        let loading = found.iter().map(|one| load_one(one, program(one), host, options, &bus));
        let (mut list, mut errors) = (Vec::new(), Vec::new());
        for loaded in join_all(loading).await {
            match loaded {
                Ok(extension) => list.push(extension),
                Err(error) => errors.push(error),
            }
        }
        (Extensions { list }, errors)
    }

    /// Returns the extension of that name.
    pub fn named(&self, name: &str) -> Option<&Extension> {
        self.list.iter().find(|extension| extension.name() == name)
    }

    /// Makes the hooks of an agent.
    pub fn hooks(&self) -> Hooks {
        let mut hooks = Hooks::new();
        self.list.iter().for_each(|extension| hooks.register(Arc::new(extension.clone())));
        hooks
    }

    /// Returns all tools; of two of the same name the later one counts, as tool boxes have it.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.list.iter().flat_map(Extension::tools).collect()
    }

    /// Returns all commands, ready to be registered with an agent.
    pub fn commands(&self) -> Vec<Arc<dyn ExtensionCommand>> {
        let commands = self.list.iter().flat_map(|extension| {
            let specs = extension.registry().commands.into_iter();
            specs.map(|spec| LoadedCommand { extension: extension.clone(), spec })
        });
        commands.map(|command| Arc::new(command) as Arc<dyn ExtensionCommand>).collect()
    }

    /// Returns who draws custom messages of that type: the first that registered.
    pub fn message_renderer(&self, custom_type: &str) -> Option<&Extension> {
        self.list.iter().find(|one| one.registry().message_renderers.contains(custom_type))
    }

    /// Returns who draws custom entries of that type: the first that registered.
    pub fn entry_renderer(&self, custom_type: &str) -> Option<&Extension> {
        self.list.iter().find(|one| one.registry().entry_renderers.contains(custom_type))
    }

    /// Returns whose tool it is.
    pub fn owner_of_tool(&self, name: &str) -> Option<&Extension> {
        let has = |one: &&Extension| one.registry().tools.iter().any(|tool| tool.spec.name == name);
        self.list.iter().rev().find(has)
    }
}

impl Deref for Extensions {
    type Target = [Extension];

    fn deref(&self) -> &[Extension] {
        &self.list
    }
}

async fn load_one(
    found: &FoundExtension,
    program: Program,
    host: &Arc<Host>,
    options: &LoadOptions,
    bus: &Arc<Bus>,
) -> Result<Extension, LoadError> {
    let failed = |message: String| LoadError { path: found.path.clone(), message };
    let (handle, orders) = Handle::new(found, host.clone(), options.limits.clone(), bus.clone());
    let facts = json!({
        "name": found.name,
        "path": found.path.to_string_lossy(),
        "dialect": found.dialect,
        "trusted": options.trusted,
        "flags": options.flags,
        "events": event_facts(),
    });
    worker::start(&handle, orders, options.trusted, program, facts)
        .map_err(|error| failed(error.to_string()))?;
    let extension = Extension { handle };
    let payload = json!({"path": found.path.to_string_lossy()});
    extension.call(Kind::Event, "load", &payload, None).await.map_err(failed)?;
    extension.handle.is_loaded.store(true, Ordering::Relaxed);
    Ok(extension)
}

/// Returns what script has to know about events: it calls listeners, and the agent combines their answers.
fn event_facts() -> Json {
    let older = EVENTS.iter().flat_map(|event| event.older_names.iter().map(|older| (*older, event.name)));
    let cancelled = EVENTS.iter().filter(|event| event.can_be_cancelled()).map(|event| event.name);
    let edited = EVENTS.iter().filter_map(|event| Some((event.name, event.edited?)));
    let returned = EVENTS.iter().filter_map(|event| Some((event.name, event.returned?)));
    json!({
        "older": older.collect::<Vec<_>>(),
        "cancelled": cancelled.collect::<Vec<_>>(),
        "edited": edited.collect::<Vec<_>>(),
        "returned": returned.collect::<Vec<_>>(),
        "optional": optional_fields().collect::<BTreeSet<_>>(),
    })
}
