//! The files of an extension as its thread in a child process loads them: read and compiled here, so that both engines
//! accept the same TypeScript, and files that were not trusted or hold credentials are refused.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::engine::{Shared, refuse_to_load};
use crate::strip::compile;

/// Names that CommonJS modules have, and the code that gives them to other modules.
const OF_COMMONJS: [(&str, &str); 3] = [
    ("require", "const require = __module.createRequire(import.meta.url);"),
    ("__filename", "const __filename = import.meta.filename;"),
    ("__dirname", "const __dirname = import.meta.dirname;"),
];

/// Answers a question of the thread: `module.source` or `module.text`.
pub(super) fn answer(shared: &Shared, name: &str, arguments: &str) -> Result<String, String> {
    let arguments: Json = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let path = arguments["path"].as_str().ok_or("`path` is not a string")?;
    refuse_to_load(shared, path)?;
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    match name {
        "module.text" => Ok(Json::String(text).to_string()),
        "module.source" => source(shared, path, &text),
        _ => Err(format!("no such native: {name}")),
    }
}

fn source(shared: &Shared, path: &str, text: &str) -> Result<String, String> {
    let compiled = compile(Path::new(path), text)?;
    let facts = compiled.facts;
    let is_commonjs = facts.is_commonjs();
    let mut code = compiled.code;
    if !is_commonjs {
        let missing = OF_COMMONJS.iter().filter(|(name, _)| facts.globals.contains(*name));
        let given: String = missing.map(|(_, code)| *code).collect();
        if !given.is_empty() {
            // On the first line, so that places stay what they are.
            code = format!("import * as __module from \"node:module\"; {given} {code}");
        }
    }
    shared.places.borrow_mut().insert(path.to_owned(), compiled.places);
    let format = if is_commonjs { "commonjs" } else { "module" };
    Ok(json!({"source": code, "format": format, "names": facts.named}).to_string())
}
