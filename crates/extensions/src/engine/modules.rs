//! Modules: which file or which of our own a name means, and how its text becomes a module.
//!
//! name -> [`resolve`] -> file -> [`strip`] -> module of the engine
//!
//! A CommonJS file is run by `js/modules.js`; to modules it is one whose names are read from its text.

mod resolve;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::rc::Rc;

use parking_lot::{Mutex, ReentrantMutex, const_mutex, const_reentrant_mutex};
use rquickjs::context::EvalOptions;
use rquickjs::function::Func;
use rquickjs::loader::bundle::{Bundle, ScaBundleData};
use rquickjs::loader::{ImportAttributes, Loader as _};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Ctx, Exception, Function, Module, Object, Result, Value};
use serde_json::Value as Json;
use tracing::warn;

use super::Shared;
use super::native::refuse_secret;
use crate::builtin::FILES;
use crate::strip::{self, Exports, ScriptKind, strip};
pub(crate) use resolve::{Finder, Target};

/// The names of modules that stand for a CommonJS file: as Node imports it, and as TypeScript and pi's loader do, which
/// take the property `default` of a file that was compiled from a module.
const COMMONJS: &str = "commonjs:";
const COMPILED_COMMONJS: &str = "commonjs-compiled:";

/// The files that an engine has found so far.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    finder: Finder,
    kinds: HashMap<String, ScriptKind>,
    exports: HashMap<String, Rc<BTreeSet<String>>>,
    /// The names that were imported from CommonJS files.
    wanted: HashMap<String, BTreeSet<String>>,
    /// The modules that stand for a CommonJS file and exist already, with their names.
    made: HashMap<String, BTreeSet<String>>,
    /// The missing names that were logged.
    missing: BTreeSet<String>,
}

/// One of our own modules, compiled.
type Compiled = ScaBundleData<&'static [u8]>;

/// Our own modules as far as they were needed, for all engines of the program: reading one is much quicker than
/// compiling it.
static COMPILED: Mutex<BTreeMap<&'static str, Compiled>> = const_mutex(BTreeMap::new());
/// The names that our own modules export, as far as they were needed.
static OWN_EXPORTS: Mutex<BTreeMap<&'static str, Exports>> = const_mutex(BTreeMap::new());

/// Makes one of our own modules.
fn own<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
    let (name, source) = own_source(name).ok_or_else(|| Exception::throw_reference(ctx, "no such module"))?;
    let full = format!("offshoot:{name}");
    let known = || COMPILED.lock().get(name).copied();
    // Whoever comes second waits for the first; but a module may be asked for by one that is being compiled.
    let mut turn = None;
    let compiled = known().or_else(|| {
        turn = Some(COMPILING.lock());
        known()
    });
    if let Some(module) = compiled {
        return Bundle(module).load(ctx, &full, None);
    }
    let module = Module::declare(ctx.clone(), full.clone(), source)?;
    let code = module.write(WriteOptions { strip_source: true, ..WriteOptions::default() })?;
    let module_of_all: Compiled = vec![(&*full.leak(), &*code.leak())].leak();
    COMPILED.lock().insert(name, module_of_all);
    Ok(module)
}

/// Held by the thread that compiles. What it compiles may import more modules.
static COMPILING: ReentrantMutex<()> = const_reentrant_mutex(());

fn own_source(name: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(key, ..)| *key == name).map(|(name, source, _)| (*name, *source))
}

/// Reads which names one of our own modules exports.
fn own_exports(name: &str) -> Exports {
    let Some((name, source)) = own_source(name) else { return Exports::default() };
    if let Some(known) = OWN_EXPORTS.lock().get(name) {
        return known.clone();
    }
    let exports = strip::exports(Path::new("own.mjs"), source).unwrap_or_default();
    OWN_EXPORTS.lock().insert(name, exports.clone());
    exports
}

/// Gives script the natives that `js/modules.js` uses.
pub(super) fn install<'js>(native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    native.set("run", Func::from(|ctx: Ctx<'_>, name: String| own(&ctx, &name)?.eval().map(drop)))?;
    let of_resolve = shared.clone();
    let resolve = move |ctx: Ctx<'_>, base: String, name: String, is_require: bool| -> Result<String> {
        of_resolve.resolved(&base, &name, is_require).map_err(|message| not_found(&ctx, &message))
    };
    native.set("resolve", Func::from(resolve))?;
    let of_compile = shared.clone();
    native.set(
        "compile",
        Function::new(native.ctx().clone(), move |ctx: Ctx<'js>, path: String| {
            of_compile.compiled(&ctx, &path)
        })?,
    )?;
    let of_text = shared.clone();
    let text = move |ctx: Ctx<'_>, path: String| -> Result<String> {
        of_text.source(&path).map_err(|message| Exception::throw_message(&ctx, &message))
    };
    native.set("text", Func::from(text))?;
    native.set("namespace", Function::new(native.ctx().clone(), namespace)?)?;
    native.set(
        "serve",
        Function::new(native.ctx().clone(), |ctx: Ctx<'js>, serve: Function<'js>| {
            drop(ctx.store_userdata(serve));
        })?,
    )
}

/// Loads and runs a module at once, for `require`, and returns its names.
#[allow(clippy::needless_pass_by_value, reason = "natives take what they are called with")]
fn namespace<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    let source = format!("export * as names from {};", Json::from(name.as_str()));
    let bridge = Module::declare(ctx.clone(), format!("offshoot:require:{name}"), source)?;
    let (module, promise) = bridge.eval()?;
    match promise.result::<Value<'_>>() {
        Some(result) => result.map(drop)?,
        None => {
            let message = format!("`require` cannot load {name}, which waits at its top level; use `import`");
            return Err(Exception::throw_message(&ctx, &message));
        }
    }
    module.get("names")
}

/// Calls the part that is written in script: `load` runs a CommonJS file, `require` makes the function of a file.
fn served<'js>(ctx: &Ctx<'js>, what: &str, path: &str) -> Result<Value<'js>> {
    if ctx.userdata::<Function<'js>>().is_none() {
        own(ctx, "modules")?.eval()?;
    }
    let serve = ctx.userdata::<Function<'js>>().map(|serve| serve.clone());
    serve.ok_or_else(|| Exception::throw_message(ctx, "no module can be loaded"))?.call((what, path))
}

/// Throws the error of a module that cannot be found, with the code that Node gives it.
fn not_found(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    match Exception::from_message(ctx.clone(), message) {
        Ok(error) => {
            let code = if message.starts_with("cannot find") { "MODULE_NOT_FOUND" } else { "ERR_MODULE" };
            drop(error.set("code", code));
            error.throw()
        }
        Err(error) => error,
    }
}

impl Shared {
    /// Returns the name of the module that a name means: `offshoot:` and one of ours, a path, or a path behind `commonjs:`.
    fn resolved(&self, base: &str, name: &str, is_require: bool) -> std::result::Result<String, String> {
        let file_of_base = base.strip_prefix(COMMONJS).or_else(|| base.strip_prefix(COMPILED_COMMONJS));
        let is_ours = base.starts_with("offshoot:") || (base.is_empty() && name == "offshoot:main");
        if name.starts_with("offshoot:") && is_ours {
            return Ok(name.to_owned());
        }
        let base = file_of_base.unwrap_or(base);
        let found = self.modules.borrow_mut().finder.find(base, name, is_require)?;
        let path = match found {
            Target::Own(own) => return Ok(format!("offshoot:{own}")),
            Target::File(path) if is_native(&path) => {
                return Err(format!(
                    "{} is a native module, which needs Node (imported by {base})",
                    path.display()
                ));
            }
            Target::File(path) => path.to_string_lossy().into_owned(),
        };
        if self.kind(&path) == ScriptKind::Module {
            return Ok(path);
        }
        let is_of_node = is_require || base.ends_with(".mjs") || {
            base.ends_with(".js") && self.modules.borrow_mut().finder.is_module_package(Path::new(base))
        };
        Ok(format!("{}{path}", if is_of_node { COMMONJS } else { COMPILED_COMMONJS }))
    }

    /// Returns the kind of a file; a JSON file counts as CommonJS. A file that may not be read is a module: loading it
    /// gives the error.
    fn kind(&self, path: &str) -> ScriptKind {
        if let Some(kind) = self.modules.borrow().kinds.get(path) {
            return *kind;
        }
        let kind = match self.source(path) {
            Ok(_) if path.ends_with(".json") => ScriptKind::CommonJs,
            Ok(source) => {
                let is_module = self.modules.borrow_mut().finder.is_module_package(Path::new(path));
                strip::kind(Path::new(path), &source, is_module)
            }
            Err(_) => ScriptKind::Module,
        };
        self.modules.borrow_mut().kinds.insert(path.to_owned(), kind);
        kind
    }

    /// Reads a file that may be imported.
    pub(super) fn source(&self, name: &str) -> std::result::Result<String, String> {
        refuse_to_load(self, name)?;
        let source = fs::read_to_string(name).map_err(|error| format!("cannot read {name}: {error}"))?;
        // A line for the shell is no script.
        Ok(if source.starts_with("#!") { format!("//{source}") } else { source })
    }

    /// Compiles a CommonJS file to a function of what Node gives it.
    fn compiled<'js>(&self, ctx: &Ctx<'js>, path: &str) -> Result<Value<'js>> {
        let code = self.source(path).and_then(|source| {
            if [".js", ".cjs"].iter().any(|ending| path.ends_with(ending)) {
                return Ok(source);
            }
            let stripped = strip(Path::new(path), &source, ScriptKind::CommonJs, &mut |_, _| false)?;
            self.places.borrow_mut().insert(path.to_owned(), stripped.places);
            Ok(stripped.code)
        });
        let code = code.map_err(|message| Exception::throw_syntax(ctx, &message))?;
        let code = format!("(function (exports, require, module, __filename, __dirname) {{{code}\n}})");
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(path.to_owned());
        ctx.eval_with_options(code, options)
    }

    /// Returns true if a module that the file `base` imports lacks a name. It is logged once.
    fn lacks(&self, base: &str, name: &str, export: &str) -> bool {
        let Ok(target) = self.resolved(base, name, false) else { return false };
        let lacks = match target.strip_prefix(COMMONJS).or_else(|| target.strip_prefix(COMPILED_COMMONJS)) {
            Some(_) if export == "default" => false,
            Some(_) => {
                let mut modules = self.modules.borrow_mut();
                match modules.made.get(&target) {
                    Some(names) => !names.contains(export),
                    None => {
                        modules.wanted.entry(target.clone()).or_default().insert(export.to_owned());
                        false
                    }
                }
            }
            None => self.exports(&target, &mut BTreeSet::new()).is_some_and(|names| !names.contains(export)),
        };
        if lacks && self.modules.borrow_mut().missing.insert(format!("{target} {export}")) {
            let extension = &self.setting.name;
            warn!(extension, "`{name}` has no export `{export}`, which {base} imports; it is undefined");
        }
        lacks
    }

    /// Returns the names that a module exports, or nothing if it cannot be read.
    fn exports(&self, target: &str, seen: &mut BTreeSet<String>) -> Option<Rc<BTreeSet<String>>> {
        if let Some(known) = self.modules.borrow().exports.get(target) {
            return Some(known.clone());
        }
        seen.insert(target.to_owned());
        let path = target.strip_prefix(COMMONJS).or_else(|| target.strip_prefix(COMPILED_COMMONJS));
        let Exports { mut names, stars } = match (target.strip_prefix("offshoot:"), path) {
            (Some(own), _) => own_exports(own),
            (_, Some(path)) if path.ends_with(".json") => json_names(&self.source(path).ok()?),
            (_, Some(path)) => strip::commonjs_exports(Path::new(path), &self.source(path).ok()?),
            (..) => strip::exports(Path::new(target), &self.source(target).ok()?).ok()?,
        };
        for star in stars {
            let Ok(other) = self.resolved(path.unwrap_or(target), &star, path.is_some()) else { continue };
            if !seen.contains(&other) {
                let more = self.exports(&other, seen)?;
                names.extend(more.iter().filter(|name| *name != "default").cloned());
            }
        }
        let names = Rc::new(names);
        self.modules.borrow_mut().exports.insert(target.to_owned(), names.clone());
        Some(names)
    }

    /// Spells a module that stands for a CommonJS file. Its names have the values of the end of the file.
    fn facade(&self, name: &str, is_compiled: bool) -> String {
        let mut names: BTreeSet<String> =
            self.exports(name, &mut BTreeSet::new()).map(|names| (*names).clone()).unwrap_or_default();
        let mut modules = self.modules.borrow_mut();
        names.extend(modules.wanted.remove(name).unwrap_or_default());
        names.retain(|name| name != "default" && is_identifier(name));
        let default = if is_compiled { "m?.__esModule && 'default' in m ? m.default : m" } else { "m" };
        let mut text = format!("const m = import.meta.load();\nexport default {default};\n");
        for (at, name) in names.iter().enumerate() {
            text.push_str(&format!("const ${at} = m?.{name}; export {{ ${at} as {name} }};\n"));
        }
        modules.made.insert(name.to_owned(), names);
        text
    }
}

/// Returns the names of the fields of a JSON file.
fn json_names(source: &str) -> Exports {
    let value: Json = serde_json::from_str(source).unwrap_or_default();
    let names = value.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    Exports { names, stars: Vec::new() }
}

fn is_identifier(name: &str) -> bool {
    name.chars().enumerate().all(|(at, char)| {
        char == '$' || char == '_' || char.is_ascii_alphabetic() || (at > 0 && char.is_ascii_digit())
    }) && !name.is_empty()
}

/// Finds what a name means.
pub(super) struct Resolver(pub(super) Rc<Shared>);

impl rquickjs::loader::Resolver for Resolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        self.0.resolved(base, name, false).map_err(|message| not_found(ctx, &message))
    }
}

/// Makes modules of texts.
pub(super) struct Loader(pub(super) Rc<Shared>);

impl rquickjs::loader::Loader for Loader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if let Some(own_name) = name.strip_prefix("offshoot:") {
            return own(ctx, own_name);
        }
        let compiled = name.strip_prefix(COMPILED_COMMONJS);
        if let Some(path) = compiled.or_else(|| name.strip_prefix(COMMONJS)) {
            let module = Module::declare(ctx.clone(), name, self.0.facade(name, compiled.is_some()))?;
            let path = path.to_owned();
            let load = move |ctx: Ctx<'js>| served(&ctx, "load", &path);
            module.meta()?.set("load", Function::new(ctx.clone(), load)?)?;
            return Ok(module);
        }
        self.file(ctx, name)
    }
}

/// Returns true for a module in machine code.
pub(crate) fn is_native(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "node")
}

/// Refuses a file that was not trusted, or that holds credentials.
pub(crate) fn refuse_to_load(shared: &Shared, name: &str) -> std::result::Result<(), String> {
    if let Some(root) = &shared.setting.root
        && !fs::canonicalize(name).is_ok_and(|path| path.starts_with(root))
    {
        return Err(format!("{name} is outside the directory of the extension and was not trusted"));
    }
    if refuse_secret(shared, Path::new(name)).is_err() {
        return Err(format!("{name} holds credentials, which extensions may not touch"));
    }
    Ok(())
}

impl Loader {
    /// Makes a module of a file.
    fn file<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
        let shared = &self.0;
        let stripped = shared.source(name).and_then(|source| {
            let mut lacks = |from: &str, export: &str| shared.lacks(name, from, export);
            let stripped = strip(Path::new(name), &source, ScriptKind::Module, &mut lacks)?;
            Ok((stripped, source.contains("import.meta.resolve")))
        });
        let (stripped, resolves) = stripped.map_err(|message| Exception::throw_syntax(ctx, &message))?;
        shared.places.borrow_mut().insert(name.to_owned(), stripped.places);
        let module = Module::declare(ctx.clone(), name, stripped.code)?;
        let meta = module.meta()?;
        meta.set("url", url(name))?;
        meta.set("filename", name)?;
        meta.set("dirname", Path::new(name).parent().map(|path| path.to_string_lossy().into_owned()))?;
        if stripped.uses_require {
            meta.set("require", served(ctx, "require", name)?)?;
        }
        if resolves {
            let (shared, base) = (shared.clone(), name.to_owned());
            let resolve = move |ctx: Ctx<'_>, name: String| -> Result<String> {
                let found =
                    shared.resolved(&base, &name, false).map_err(|message| not_found(&ctx, &message))?;
                Ok(match found.strip_prefix("offshoot:node/") {
                    Some(own) => format!("node:{own}"),
                    None => url(found.split_once(':').map_or(&found, |(_, path)| path)),
                })
            };
            meta.set("resolve", Func::from(resolve))?;
        }
        Ok(module)
    }
}

/// Returns the address of a file.
fn url(path: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &percent_encoding::CONTROLS.add(b' ').add(b'#').add(b'?').add(b'%').add(b'"').add(b'<').add(b'>');
    format!("file://{}", percent_encoding::utf8_percent_encode(path, KEPT))
}
