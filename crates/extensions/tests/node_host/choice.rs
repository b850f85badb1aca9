//! The choice of the engine: by what the files of an extension import, by its manifest, by the setting.

use std::path::PathBuf;

use offshoot_extensions::{EngineChoice, LoadOptions, Runtimes};
use serde_json::json;

use crate::node;
use crate::support::{Setup, Stage};

const TELL: &str = "pi.on('x', () => ({ isNode: 'WebAssembly' in globalThis }));";

fn auto(runtimes: Runtimes) -> LoadOptions {
    LoadOptions { engine: EngineChoice::Auto, runtimes, ..LoadOptions::default() }
}

async fn loaded(engine: LoadOptions, files: &[(&str, &str)]) -> Stage {
    Setup { engine, ..Setup::default() }.with(files).await
}

async fn is_in_node(head: &str) -> bool {
    let text = format!("{head}; export default (pi) => {{ {TELL} }};");
    let stage = loaded(auto(Runtimes::at(node())), &[("one.ts", &text)]).await;
    assert_eq!(stage.errors, [], "{head}");
    stage.fire("x", json!({})).await["isNode"] == true
}

#[tokio::test]
async fn small_extensions_stay_in_the_embedded_engine() {
    for head in [
        "",
        "import { readFileSync } from 'node:fs'; readFileSync",
        "import { Text } from '@earendil-works/pi-tui'; new Text('a')",
        "import type { Server } from 'node:http'; let server: Server",
        "import { Server } from 'node:http'; let server: Server",
        "const text = 'fetch(1); new Intl.NumberFormat()'",
        "const fetch = () => 1; fetch()",
        "export const number = (n) => new Intl.NumberFormat('en').format(n)",
        "const path = require('node:path'); path",
    ] {
        assert!(!is_in_node(head).await, "{head}");
    }
}

#[tokio::test]
async fn extensions_that_need_more_run_in_node() {
    for head in [
        "import { createServer } from 'node:http'; createServer",
        "import { createServer } from 'net'; createServer",
        "import * as workers from 'node:worker_threads'; workers",
        "import { openAsBlob } from 'node:fs'; openAsBlob",
        "export const later = () => import('node:vm')",
        "import { spawn } from 'node:child_process'; spawn",
        "const require2 = (name) => name; require2('node:sqlite')",
        "const later = () => new WebAssembly.Module(new Uint8Array()); later",
        "const own = require('node:sqlite'); own",
    ] {
        assert!(is_in_node(head).await, "{head}");
    }
}

#[tokio::test]
async fn files_that_are_imported_are_looked_at_too() {
    let stage = loaded(
        auto(Runtimes::at(node())),
        &[
            (
                "lib/deep.ts",
                "import { connect } from 'node:tls'; export const tls = connect; export default () => {};",
            ),
            (
                "one.ts",
                &format!("import {{ tls }} from './lib/deep'; tls; export default (pi) => {{ {TELL} }};"),
            ),
        ],
    )
    .await;
    assert_eq!(stage.errors, []);
    assert_eq!(stage.fire("x", json!({})).await["isNode"], true);
}

#[tokio::test]
async fn a_manifest_chooses_over_the_setting() {
    for (chosen, setting, is_node) in [
        ("node", EngineChoice::Embedded, true),
        ("embedded", EngineChoice::Node, false),
        ("auto", EngineChoice::Node, false),
        ("odd", EngineChoice::Node, true),
    ] {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
        write("package.json", &json!({"pi": {"extensions": ["./main.ts"], "engine": chosen}}).to_string());
        write("main.ts", &format!("export default (pi) => {{ {TELL} }};"));
        let engine = LoadOptions { engine: setting, ..auto(Runtimes::at(node())) };
        let stage = Setup { engine, ..Setup::default() }.of(&[home.path().to_owned()]).await;
        assert_eq!(stage.errors, []);
        assert_eq!(stage.fire("x", json!({})).await["isNode"], is_node, "{chosen}");
    }
}

#[tokio::test]
async fn without_node_an_extension_does_what_it_can_and_says_what_is_missing() {
    let use_http = "import { createServer } from 'node:http'; export default (pi) => createServer;";
    let may_fetch = format!("const later = () => WebAssembly; export default (pi) => {{ later; {TELL} }};");
    let files = [("server.ts", use_http), ("reader.ts", may_fetch.as_str())];
    let stage = loaded(auto(Runtimes::default()), &files).await;
    assert_eq!(stage.fire("x", json!({})).await["isNode"], false);
    assert_eq!(stage.errors.len(), 1, "{:?}", stage.errors);
    let error = stage.errors[0].to_string();
    for part in ["server.ts: it needs node:http", "it is not installed", "install Node 22.15 or newer"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let forced = LoadOptions { engine: EngineChoice::Node, ..auto(Runtimes::default()) };
    let stage = loaded(forced, &[("one.ts", &may_fetch)]).await;
    assert!(
        stage.errors[0].message.ends_with("it is not installed; install Node 22.15 or newer"),
        "{:?}",
        stage.errors
    );
}

#[tokio::test]
async fn a_node_that_is_too_old_or_no_node_is_named() {
    let old = std::env::var_os("OFFSHOOT_OLD_NODE").expect("OFFSHOOT_OLD_NODE says where an older Node is");
    let programs = [
        (PathBuf::from(old), "which is too old"),
        ("/bin/true".into(), "did not start"),
        ("/no/such/node".into(), "did not start"),
    ];
    for (program, reason) in programs {
        let engine = LoadOptions { engine: EngineChoice::Node, ..auto(Runtimes::at(program.clone())) };
        let stage = loaded(engine, &[("one.ts", "export default () => {};")]).await;
        let message = &stage.errors[0].message;
        assert!(message.contains(reason) && message.contains(program.to_str().unwrap()), "{message}");
        assert!(message.ends_with("install Node 22.15 or newer"), "{message}");
    }
}

#[tokio::test]
async fn the_first_node_of_the_path_that_is_new_enough_is_used() {
    let old = PathBuf::from(std::env::var_os("OFFSHOOT_OLD_NODE").expect("an older Node"));
    let path = std::env::join_paths([old.parent().unwrap(), node().parent().unwrap()]).unwrap();
    let engine = LoadOptions { engine: EngineChoice::Node, ..auto(Runtimes::on_path(&path)) };
    let text = format!("export default (pi) => {{ {TELL} }};");
    let stage = loaded(engine, &[("one.ts", &text)]).await;
    assert_eq!(stage.errors, []);
    assert_eq!(stage.fire("x", json!({})).await["isNode"], true);
}

#[tokio::test]
async fn untrusted_extensions_never_run_in_node() {
    let text = format!("export default (pi) => {{ {TELL} }};");
    let stage = Setup { trusted: false, ..Setup::default() }.with(&[("one.ts", &text)]).await;
    assert_eq!(stage.fire("x", json!({})).await["isNode"], false);
}
