//! The machine: environment, random numbers, and commands that script waits for.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Answer, json as spelled, text, trusted, unknown};
use crate::engine::Shared;
use crate::limits::Clock;
use crate::process::{Job, ProcessResult, outcome};

/// How often to check whether a process that script waits for has to end.
const LOOK: Duration = Duration::from_millis(20);
/// How long such a process may run after it was asked to end: script is blocked until then.
const GRACE: Duration = Duration::from_millis(500);

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

/// The values behind `process` and `os`. Credentials are left out of the environment, and extensions that are not trusted get
/// nothing of it.
fn facts(shared: &Shared) -> Answer {
    let (is_trusted, secrets) = (shared.setting.trusted, &shared.setting.host.secrets);
    let mut environment = environment(std::env::vars_os().filter(|_| is_trusted));
    environment.retain(|name, value| !secrets.withholds_variable(name, value.as_str().unwrap_or_default()));
    let home = environment.get("HOME").cloned().unwrap_or_else(|| json!("/"));
    spelled(json!({
        "env": environment,
        "home": home,
        "tmp": std::env::temp_dir().to_string_lossy(),
        "platform": platform(),
        "arch": if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" },
        "pid": std::process::id(),
        "cpus": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "memory": memory(),
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

/// Returns an environment as JSON, without variables that are not UTF-8.
fn environment(variables: impl Iterator<Item = (OsString, OsString)>) -> serde_json::Map<String, Json> {
    let texts = variables
        .filter_map(|(key, value)| Some((key.into_string().ok()?, Json::String(value.into_string().ok()?))));
    texts.collect()
}

/// Returns the memory of the machine in bytes, or 0 if the system does not say.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(0, |total: u64| total * 1_024)
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// Runs a command and waits for it: `execSync` and its relatives.
fn run(shared: &Shared, arguments: &Json) -> Answer {
    text(arguments, "command")?;
    let job = Job::new(arguments, &shared.setting, GRACE)?;
    spelled(outcome(waited_for(job, &shared.setting.clock).map_err(|error| error.to_string())))
}

/// Waits on a thread that may: this one works for its extension already. The process ends with the time of script.
fn waited_for(job: Job, clock: &Clock) -> std::io::Result<ProcessResult> {
    let late = async || {
        while !clock.should_end() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(job.run(late()))
    };
    let ended = std::thread::scope(|scope| scope.spawn(run).join());
    ended.unwrap_or_else(|_| Err(std::io::Error::other("the process could not be waited for")))
}

#[cfg(test)]
mod tests;
