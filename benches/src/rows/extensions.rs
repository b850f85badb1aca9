//! Extensions: the start-up time of twenty of them, and the cost of an event with and without a listener.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::Hooks;
use offshoot_extensions::discover;
use offshoot_extensions::host::Host;
use offshoot_extensions::{Extensions, LoadOptions};
use serde_json::json;
use session_tree::Options;

use super::Bench;
use crate::table::Line;
use crate::{Failure, clock};

/// How many extensions are loaded.
const COUNT: usize = 20;
/// The number of events in one measurement.
const EVENTS: u32 = 2_000;

/// A small extension: a hook, a command, a tool.
const SMALL: &str = r#"
import type { ExtensionAPI } from "offshoot";
import { Type } from "typebox";

interface State { count: number }

export default function (pi: ExtensionAPI) {
  const state: State = { count: 0 };
  pi.on("turn_end", () => { state.count += 1; });
  pi.registerCommand("count", { description: "Count turns", handler: async (_args, ctx) => ctx.ui.notify(String(state.count)) });
  pi.registerTool({
    name: "count", label: "Count", description: "Counts turns", parameters: Type.Object({ from: Type.Optional(Type.Number()) }),
    async execute() { return { content: [{ type: "text", text: String(state.count) }], details: {} }; },
  });
}
"#;

/// Measures loading and events.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let directory = bench.files.scratch("extensions");
    fs::create_dir_all(&directory)?;
    for number in 0..COUNT {
        fs::write(directory.join(format!("small-{number:02}.ts")), SMALL)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let load = || clock::cpu_of(|| runtime.block_on(loaded(&directory, COUNT)));
    let loading = clock::best(bench.runs, load)?;
    let one = runtime.block_on(loaded(&directory, 1))?.hooks();
    let silent = clock::best(bench.runs, || per_event(&runtime, &one, "turn_start"))?;
    let heard = clock::best(bench.runs, || per_event(&runtime, &one, "turn_end"))?;
    Ok(vec![
        Line::limit("load 20 small extensions", loading, Duration::from_millis(60)),
        Line::limit("an event without a listener", silent, Duration::from_micros(1)),
        Line::limit("an event with one trivial handler", heard, Duration::from_micros(50)),
    ])
}

/// Loads the first extensions of a directory.
async fn loaded(directory: &Path, count: usize) -> Result<Extensions, Failure> {
    let agent = Agent::new(Options::new().in_memory("/project")?, "/project");
    let host = Arc::new(Host::new(&agent.handle(), "/project", "/project/.offshoot"));
    let mut found = discover::in_directory(directory);
    found.truncate(count);
    let options = LoadOptions { trusted: true, ..LoadOptions::default() };
    let (extensions, errors) = Extensions::load(&found, &host, &options).await;
    match errors.first() {
        None if extensions.iter().count() == count => Ok(extensions),
        None => Err("not all extensions were found".into()),
        Some(error) => Err(error.to_string().into()),
    }
}

/// Returns the CPU time of one event, of all threads together.
fn per_event(runtime: &tokio::runtime::Runtime, hooks: &Hooks, event: &str) -> Result<Duration, Failure> {
    let payload = json!({"type": event, "turnIndex": 1});
    let cancel = Cancel::new();
    let time = clock::cpu_of(|| {
        runtime.block_on(async {
            for _ in 0..EVENTS {
                // As in the agent: without a listener no payload is made.
                if hooks.wants(event) {
                    hooks.notify(event, &payload, &cancel).await;
                }
            }
        });
        Ok(())
    })?;
    let failures = hooks.take_failures();
    if failures.is_empty() { Ok(time / EVENTS) } else { Err(format!("{failures:?}").into()) }
}
