//! The machine: names, numbers that nobody can guess, and commands that are waited for.

use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use super::{Answer, json as spelled, text, trusted, unknown};
use crate::engine::Shared;

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    match name {
        "uuidv4" => spelled(uuid::Uuid::new_v4().to_string()),
        "uuidv7" => spelled(uuid::Uuid::now_v7().to_string()),
        "random" => spelled(random(arguments["bytes"].as_u64().unwrap_or_default())),
        "facts" => facts(shared),
        "run" => {
            trusted(shared, "processes")?;
            run(shared, arguments)
        }
        "sha256" => spelled(sha256(text(arguments, "text")?)),
        _ => unknown("system", name),
    }
}

fn random(bytes: u64) -> Vec<u8> {
    let bytes = usize::try_from(bytes.min(65_536)).unwrap_or_default();
    std::iter::repeat_with(|| uuid::Uuid::new_v4().into_bytes())
        // Six bits of every sixteen bytes are fixed; the first six bytes are not.
        .flat_map(|id| id.into_iter().take(6))
        .take(bytes)
        .collect()
}

fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What `process` and `os` know. Extensions that are not trusted learn nothing of the environment.
fn facts(shared: &Shared) -> Answer {
    let is_trusted = shared.setting.trusted;
    let environment: serde_json::Map<String, Json> = if is_trusted {
        std::env::vars().map(|(key, value)| (key, Json::String(value))).collect()
    } else {
        serde_json::Map::new()
    };
    let home = environment.get("HOME").cloned().unwrap_or_else(|| json!("/"));
    spelled(json!({
        "env": environment,
        "home": home,
        "tmp": std::env::temp_dir().to_string_lossy(),
        "platform": platform(),
        "arch": if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" },
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// Runs a command and waits for it: `execSync` and its relatives.
fn run(shared: &Shared, arguments: &Json) -> Answer {
    let list = arguments["args"].as_array().into_iter().flatten();
    let list: Vec<&str> = list.filter_map(Json::as_str).collect();
    let directory = arguments["cwd"].as_str().unwrap_or_default();
    let mut command = Command::new(text(arguments, "command")?);
    command.args(list).current_dir(shared.setting.host.cwd().join(directory)).stdin(Stdio::null());
    let environment = arguments["env"].as_object().into_iter().flatten();
    command.envs(environment.filter_map(|(key, value)| Some((key, value.as_str()?))));
    match command.output() {
        Ok(output) => spelled(json!({
            "stdout": String::from_utf8_lossy(&output.stdout),
            "stderr": String::from_utf8_lossy(&output.stderr),
            "code": output.status.code(),
        })),
        Err(error) => spelled(
            json!({"stdout": "", "stderr": error.to_string(), "code": Json::Null, "error": error.to_string()}),
        ),
    }
}
