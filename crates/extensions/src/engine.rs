//! One JavaScript engine for one extension: natives in, functions out, limits around.
//!
//! **engine** (this thread) <- worker <- [`Handle`](crate::handle::Handle) <- agent
//!
//! Only JSON texts cross the border to script. Requests of script that take time go into an outbox, which the worker
//! empties when no script is running.

mod modules;
mod native;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rquickjs::function::Func;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Module, Object, Persistent, Runtime,
};
use serde_json::Value as Json;

use crate::callee::not_a_function;
use crate::extension::Extension;
use crate::handle::Handle;
use crate::host::Host;
use crate::limits::{Clock, Limits};
use crate::strip::{Place, Places};
use crate::worker::Fetches;

pub(crate) use modules::{Finder, Target, is_native, refuse_to_load};
pub(crate) use native::call as native_call;

/// The error of the engine without memory.
const EXHAUSTED: &str = "InternalError: out of memory";

/// The environment of an engine.
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) host: Arc<Host>,
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<Clock>,
    pub(crate) handle: Weak<Handle>,
    /// Whether files, processes and the environment may be touched.
    pub(crate) trusted: bool,
    /// The directory that imports have to stay in.
    pub(crate) root: Option<PathBuf>,
    /// The facts that script reads at the start.
    pub(crate) facts: Json,
}

impl Setting {
    /// Returns the extension, unless it is being dropped.
    pub(crate) fn extension(&self) -> Option<Extension> {
        Some(Extension { handle: self.handle.upgrade()? })
    }
}

/// A message of the worker to script.
pub(crate) enum Entry {
    /// Begin a call.
    Begin { id: u64, name: String, payload: String },
    /// The answer to this call is not needed.
    Cancel { id: u64 },
    /// An operation is over.
    Settle { op: u64, is_ok: bool, text: String },
    /// A timer is due.
    Tick { id: u64 },
}

/// Something that script requested from the worker.
pub(crate) enum Request {
    /// Begin something that takes time.
    Start { op: u64, name: String, arguments: Json },
    /// Stop it.
    Stop { op: u64 },
    /// A call has been answered.
    Finish { call: u64, result: Result<String, String> },
    /// Wake script up later.
    Timer { id: u64, delay: Duration },
    /// Do not wake it up.
    ClearTimer { id: u64 },
}

/// The state that natives and the worker share on the thread of the engine.
pub(crate) struct Shared {
    pub(crate) setting: Setting,
    pub(crate) outbox: RefCell<Vec<Request>>,
    /// The number of messages and entries since the last call began.
    pub(crate) sent: Cell<usize>,
    /// The start of the current second, and the bytes that were shown in it.
    pub(crate) shown: Cell<(Instant, usize)>,
    /// The places of each file before its types were taken out.
    pub(crate) places: RefCell<HashMap<String, Places>>,
    /// The modules that were found.
    pub(crate) modules: RefCell<modules::Modules>,
    /// The files that script keeps open.
    pub(crate) descriptors: native::Descriptors,
    /// The responses of `fetch` that are being read.
    pub(crate) fetches: Fetches,
    /// The errors of promises that nothing handles.
    pub(crate) rejections: RefCell<Vec<String>>,
    exhausted: Cell<bool>,
}

/// One engine. It lives and dies on one thread.
pub(crate) struct Engine {
    // In the order in which they have to be dropped.
    /// Our own module `main`, whose functions are called.
    main: Persistent<Object<'static>>,
    context: Context,
    runtime: Runtime,
    pub(crate) shared: Rc<Shared>,
}

impl Engine {
    /// Makes an engine and lets our own script run in it.
    pub(crate) fn new(setting: Setting) -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        runtime.set_memory_limit(setting.limits.memory);
        runtime.set_max_stack_size(setting.limits.stack);
        let clock = setting.clock.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || clock.should_end())));
        let shared = Rc::new(Shared::new(setting));
        let of_tracker = shared.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |_, _, reason, is_handled| {
            of_tracker.note_rejection(&reason, is_handled);
        })));
        runtime.set_loader(modules::Resolver(shared.clone()), modules::Loader(shared.clone()));
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        let main =
            context.with(|ctx| prepare(&ctx, &shared).catch(&ctx).map_err(|error| shared.spelled(&error)))?;
        Ok(Engine { main, context, runtime, shared })
    }

    /// Tells script something, and runs it until all jobs are done. Fails if the engine becomes unusable. Also returns how
    /// long script ran.
    pub(crate) fn enter(&self, budget: Duration, entry: Entry) -> (Result<(), String>, Duration) {
        let begun = Instant::now();
        self.shared.setting.clock.set_budget(Some(budget));
        let call = |ctx: &Ctx<'_>| -> rquickjs::Result<()> {
            let main = self.main.clone().restore(ctx)?;
            let function = |name: &str| main.get::<_, Function<'_>>(name);
            match entry {
                Entry::Begin { id, name, payload } => function("begin")?.call((number(id), name, payload)),
                Entry::Cancel { id } => function("cancel")?.call((number(id),)),
                Entry::Settle { op, is_ok, text } => function("settle")?.call((number(op), is_ok, text)),
                Entry::Tick { id } => function("tick")?.call((number(id),)),
            }
        };
        let entered =
            self.context.with(|ctx| call(&ctx).catch(&ctx).map_err(|error| self.shared.spelled(&error)));
        let mut failure = entered.err();
        while failure.is_none() {
            match self.runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => failure = Some("a job of the engine failed".to_owned()),
            }
            if self.shared.setting.clock.has_run_out() || self.shared.exhausted.get() {
                break;
            }
        }
        self.shared.setting.clock.set_budget(None);
        (self.broken_by(failure).map_or(Ok(()), Err), begun.elapsed())
    }

    /// Returns the reason why the engine is unusable.
    fn broken_by(&self, failure: Option<String>) -> Option<String> {
        let clock = &self.shared.setting.clock;
        if clock.is_stopped() {
            return Some("it was stopped".to_owned());
        }
        if clock.has_run_out() {
            return Some("it exceeded its time limit".to_owned());
        }
        if self.shared.exhausted.get() {
            return Some("it exceeded its memory limit".to_owned());
        }
        failure
    }
}

impl Shared {
    pub(crate) fn new(setting: Setting) -> Self {
        Shared {
            setting,
            outbox: RefCell::default(),
            sent: Cell::new(0),
            shown: Cell::new((Instant::now(), 0)),
            places: RefCell::default(),
            modules: RefCell::default(),
            descriptors: native::Descriptors::default(),
            fetches: Fetches::default(),
            rejections: RefCell::default(),
            exhausted: Cell::new(false),
        }
    }

    /// Puts a request into the outbox.
    pub(crate) fn request(&self, request: Request) {
        self.outbox.borrow_mut().push(request);
    }

    /// Checks whether a failure is that of an engine without memory, whose state is unreliable from then on. Other errors
    /// may contain the same words.
    pub(crate) fn note_exhausted(&self, failure: &str) {
        if failure.lines().any(|line| line.starts_with(EXHAUSTED)) {
            self.exhausted.set(true);
        }
    }

    fn note_rejection(&self, reason: &rquickjs::Value<'_>, is_handled: bool) {
        let text = match reason.as_exception() {
            Some(exception) => self.exception(exception),
            None => reason.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default(),
        };
        let mut rejections = self.rejections.borrow_mut();
        if is_handled {
            if let Some(at) = rejections.iter().rposition(|other| *other == text) {
                rejections.remove(at);
            }
        } else if rejections.len() < 100 {
            rejections.push(text);
        }
    }

    fn spelled(&self, error: &CaughtError<'_>) -> String {
        match error {
            CaughtError::Exception(exception) => self.exception(exception),
            CaughtError::Value(value) if value.is_null() => {
                // What the engine throws if there is no memory left even for an error.
                self.exhausted.set(true);
                "out of memory".to_owned()
            }
            CaughtError::Value(value) => format!("{value:?}"),
            CaughtError::Error(error) => error.to_string(),
        }
    }

    fn exception(&self, exception: &Exception<'_>) -> String {
        let message = exception.message().unwrap_or_default();
        let name: String = exception.get("name").unwrap_or_default();
        self.note_exhausted(&format!("{name}: {message}"));
        let stack = exception.stack().unwrap_or_default();
        self.original_places(format!("{message}\n{stack}").trim_end())
    }

    /// Replaces places of the JavaScript by those of the TypeScript. Lines of our own script are left out. What was called
    /// and is no function is named.
    pub(crate) fn original_places(&self, text: &str) -> String {
        let places = self.places.borrow();
        let is_of_engine = |line: &&str| {
            ["offshoot:", "file:///offshoot:", "node:internal/"]
                .iter()
                .any(|own| line.contains(&format!("({own}")) || line.contains(&format!("at {own}")))
        };
        let lines = text.lines().filter(|line| !is_of_engine(line));
        let lines: Vec<String> = lines.map(|line| original_line(&places, line)).collect();
        let mut text = lines.join("\n");
        if let Some(at) = text.lines().next().and_then(|line| line.find(NOT_A_FUNCTION))
            && !text[..at].ends_with("is ")
            && let Some(named) = lines.get(1).and_then(|line| self.not_a_function(line))
        {
            text.replace_range(at..at + NOT_A_FUNCTION.len(), &named);
        }
        text
    }

    /// Names what is not a function at the place of a line of a stack.
    fn not_a_function(&self, line: &str) -> Option<String> {
        let (file, place) = place_in(line)?;
        not_a_function(Path::new(file), &self.source(file).ok()?, place)
    }
}

/// The error of the engine that does not say which function.
const NOT_A_FUNCTION: &str = "not a function";

/// Reads `file:line:column` at the end of a line of a stack.
fn place_in(line: &str) -> Option<(&str, Place)> {
    let (rest, column) = line.trim_end_matches(')').rsplit_once(':')?;
    let (rest, number) = rest.rsplit_once(':')?;
    let file = rest.rsplit_once('(').or_else(|| rest.rsplit_once("at ")).map_or(rest, |(_, file)| file);
    let file = file.strip_prefix("file://").unwrap_or(file);
    Some((file, Place { line: number.parse().ok()?, column: column.parse().ok()? }))
}

/// Replaces `file:line:column` at the end of a line of a stack.
fn original_line(places: &HashMap<String, Places>, line: &str) -> String {
    let replaced = || {
        let (file, place) = place_in(line)?;
        let original = places.get(file)?.original(place)?;
        // Node names files by their addresses.
        let address = format!("file://{file}");
        let before = &line[..line.rfind(file)?];
        let before = if line.contains(&address) { before.trim_end_matches("file://") } else { before };
        let closing = &line[line.trim_end_matches(')').len()..];
        Some(format!("{before}{file}:{}:{}{closing}", original.line, original.column))
    };
    replaced().unwrap_or_else(|| line.to_owned())
}

/// Gives natives to our own script, runs it, and returns its module.
fn prepare(ctx: &Ctx<'_>, shared: &Rc<Shared>) -> rquickjs::Result<Persistent<Object<'static>>> {
    let native = Object::new(ctx.clone())?;
    let of_call = shared.clone();
    native.set(
        "call",
        Func::from(move |ctx: Ctx<'_>, name: String, arguments: String| -> rquickjs::Result<String> {
            // The engine asks the clock now and then; natives may be what takes the time.
            if of_call.setting.clock.should_end() {
                return Err(Exception::throw_message(&ctx, "it exceeded its time limit"));
            }
            native::call(&of_call, &name, &arguments)
                .map_err(|message| Exception::throw_message(&ctx, &message))
        }),
    )?;
    let of_start = shared.clone();
    native.set(
        "start",
        Func::from(move |ctx: Ctx<'_>, op: f64, name: String, arguments: String| -> rquickjs::Result<()> {
            let arguments = parsed(&arguments).map_err(|message| Exception::throw_message(&ctx, &message))?;
            of_start.request(Request::Start { op: counted(op), name, arguments });
            Ok(())
        }),
    )?;
    let of_stop = shared.clone();
    native.set("stop", Func::from(move |op: f64| of_stop.request(Request::Stop { op: counted(op) })))?;
    let of_finish = shared.clone();
    native.set(
        "finish",
        Func::from(move |call: f64, is_ok: bool, text: String| {
            let result = if is_ok { Ok(text) } else { Err(of_finish.original_places(&text)) };
            if let Err(message) = &result {
                of_finish.note_exhausted(message);
            }
            of_finish.request(Request::Finish { call: counted(call), result });
        }),
    )?;
    modules::install(&native, shared)?;
    ctx.globals().set("__native", native)?;
    let facts = shared.setting.facts.to_string();
    ctx.globals().set("__facts", facts)?;
    let main: Object<'_> = Module::import(ctx, "offshoot:main")?.finish()?;
    Ok(Persistent::save(ctx, main))
}

fn parsed(text: &str) -> Result<Json, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Script counts in floats; ids stay far below where these become inexact.
fn counted(number: f64) -> u64 {
    if number.is_finite() && number >= 0.0 { number as u64 } else { 0 }
}

/// The opposite of [`counted`].
fn number(id: u64) -> f64 {
    id as f64
}
