//! Modules: which file or which of our own a name means, and how its text becomes a module.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use parking_lot::{Mutex, ReentrantMutex, const_mutex, const_reentrant_mutex};
use rquickjs::loader::bundle::{Bundle, ScaBundleData};
use rquickjs::loader::{ImportAttributes, Loader as _};
use rquickjs::module::{Declared, WriteOptions};
use rquickjs::{Ctx, Exception, Module, Result};
use serde_json::Value as Json;

use super::Shared;
use super::native::refuse_secret;
use crate::strip::strip;

/// Declares our own modules: files below `js/`. Internal ones are for each other, the others have the names under which
/// extensions import them.
macro_rules! modules {
    (internal $($own:literal),+; $($file:literal as $($name:literal),+;)+) => {
        /// Our own modules: the file, its text, and the names under which extensions import it.
        pub(crate) const BUILTIN: &[(&str, &str, &[&str])] = &[
            $(($own, include_str!(concat!("../../js/", $own, ".js")), &[]),)+
            $(($file, include_str!(concat!("../../js/", $file, ".js")), &[$($name),+]),)+
        ];
    };
}

modules! {
    internal "main", "native", "globals", "abort", "session", "context", "ui", "theme", "api", "events",
        "dispatch", "models", "calls", "processes", "components", "keys", "text", "widgets", "markdown",
        "tools";
    "pi-coding-agent" as "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent", "offshoot";
    "pi-ai" as "@earendil-works/pi-ai", "@earendil-works/pi-ai/compat", "@mariozechner/pi-ai";
    "pi-tui" as "@earendil-works/pi-tui", "@mariozechner/pi-tui";
    "pi-agent-core" as "@earendil-works/pi-agent-core", "@mariozechner/pi-agent-core";
    "typebox" as "typebox", "@sinclair/typebox";
    "node/fs" as "fs";
    "node/fs-promises" as "fs/promises";
    "node/path" as "path", "path/posix";
    "node/os" as "os";
    "node/child_process" as "child_process";
    "node/url" as "url";
    "node/util" as "util";
    "node/events" as "events";
    "node/process" as "process";
    "node/crypto" as "crypto";
    "node/buffer" as "buffer";
    "node/timers" as "timers", "timers/promises";
    "node/assert" as "assert", "assert/strict";
}

/// Endings that are tried if a file of the exact name is not there.
const ENDINGS: [&str; 8] =
    [".ts", ".js", ".mts", ".mjs", "/index.ts", "/index.js", "/index.mts", "/index.mjs"];

/// Runs one of our own modules at once.
#[allow(clippy::needless_pass_by_value, reason = "natives take what they are called with")]
pub(super) fn run(ctx: Ctx<'_>, name: String) -> Result<()> {
    own(&ctx, &name)?.eval().map(drop)
}

/// One of our own modules, compiled.
type Compiled = ScaBundleData<&'static [u8]>;

/// Our own modules as far as they were needed, for all engines of the program: reading one is much quicker than
/// compiling it.
static COMPILED: Mutex<BTreeMap<&'static str, Compiled>> = const_mutex(BTreeMap::new());

/// Makes one of our own modules.
fn own<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
    let found = BUILTIN.iter().find(|(key, ..)| *key == name);
    let (name, source, _) = found.ok_or_else(|| Exception::throw_reference(ctx, "no such module"))?;
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
    let module = Module::declare(ctx.clone(), full.clone(), *source)?;
    let code = module.write(WriteOptions { strip_source: true, ..WriteOptions::default() })?;
    let module_of_all: Compiled = vec![(&*full.leak(), &*code.leak())].leak();
    COMPILED.lock().insert(name, module_of_all);
    Ok(module)
}

/// Held by the thread that compiles. What it compiles may import more modules.
static COMPILING: ReentrantMutex<()> = const_reentrant_mutex(());

/// Finds what a name means.
pub(super) struct Resolver;

impl rquickjs::loader::Resolver for Resolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        resolved(base, name).map_err(|message| Exception::throw_reference(ctx, &message))
    }
}

/// Returns the file or the module of ours that a name means in a file.
pub(crate) fn resolved(base: &str, name: &str) -> std::result::Result<String, String> {
    let is_ours = base.starts_with("offshoot:") || (base.is_empty() && name == "offshoot:main");
    if name.starts_with("offshoot:") && is_ours {
        return Ok(name.to_owned());
    }
    let plain = name.strip_prefix("node:").unwrap_or(name);
    if let Some((own, ..)) = BUILTIN.iter().find(|(_, _, names)| names.contains(&plain)) {
        return Ok(format!("offshoot:{own}"));
    }
    let name = name.strip_prefix("file://").unwrap_or(name);
    let found = if name.starts_with("./") || name.starts_with("../") || name == "." || name == ".." {
        let directory = Path::new(base).parent().unwrap_or(Path::new("/"));
        file(&directory.join(name))
    } else if name.starts_with('/') {
        file(Path::new(name))
    } else {
        package(base, name)
    };
    match found {
        Some(path) => Ok(path.to_string_lossy().into_owned()),
        None => Err(format!("cannot find module `{name}` (imported by {base})")),
    }
}

/// Finds the file that a path means, as TypeScript projects write it: with or without ending, `.js` for `.ts`.
fn file(path: &Path) -> Option<PathBuf> {
    let path = normal(path);
    if path.is_file() {
        return Some(path);
    }
    let text = path.to_string_lossy().into_owned();
    let stem = text.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
    let stem = stem.or_else(|| text.strip_suffix(".mjs").map(|stem| format!("{stem}.mts")));
    let endings = ENDINGS.iter().map(|ending| format!("{text}{ending}"));
    stem.into_iter().chain(endings).map(PathBuf::from).find(|path| path.is_file())
}

/// Takes `.` and `..` out of a path without looking at the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

/// Finds a package in the `node_modules` of the importing file's directory and those above.
fn package(base: &str, name: &str) -> Option<PathBuf> {
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let split = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
    let (package, rest) = (&name[..split], name[split..].trim_start_matches('/'));
    let directories = Path::new(base).ancestors().skip(1);
    directories.map(|directory| directory.join("node_modules").join(package)).find_map(|directory| {
        if !rest.is_empty() {
            return file(&directory.join(rest));
        }
        let manifest = fs::read_to_string(directory.join("package.json")).ok()?;
        let manifest: Json = serde_json::from_str(&manifest).ok()?;
        file(&directory.join(entry_point(&manifest)))
    })
}

/// Returns the file that a package starts with.
fn entry_point(manifest: &Json) -> &str {
    let mut exports = &manifest["exports"];
    if let Some(root) = exports.get(".") {
        exports = root;
    }
    for key in ["import", "default"] {
        if let Some(inner) = exports.get(key) {
            exports = inner;
        }
    }
    let fields = [exports, &manifest["module"], &manifest["main"]];
    fields.into_iter().find_map(Json::as_str).unwrap_or("index.js")
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
        let code = self.code(name).map_err(|message| Exception::throw_syntax(ctx, &message))?;
        let module = Module::declare(ctx.clone(), name, code)?;
        let meta = module.meta()?;
        meta.set("url", format!("file://{name}"))?;
        meta.set("filename", name)?;
        meta.set("dirname", Path::new(name).parent().map(|path| path.to_string_lossy().into_owned()))?;
        Ok(module)
    }
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
    /// Reads a file and takes its types out.
    fn code(&self, name: &str) -> std::result::Result<String, String> {
        refuse_to_load(&self.0, name)?;
        let source = fs::read_to_string(name).map_err(|error| format!("cannot read {name}: {error}"))?;
        if name.ends_with(".json") {
            return Ok(format!("export default {source};"));
        }
        let (code, places) = strip(Path::new(name), &source)?;
        self.0.places.borrow_mut().insert(name.to_owned(), places);
        Ok(code)
    }
}

#[cfg(test)]
mod tests;
