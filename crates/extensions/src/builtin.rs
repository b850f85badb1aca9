//! The modules of Node and of pi that the embedded engine provides, and those that only Node has.
//!
//! This is the one table: the engine loads its modules from it, and the choice of an engine asks it.

/// Declares our own modules: files below `js/`. Internal ones are for each other, the others have the names under which
/// extensions import them.
macro_rules! modules {
    (internal $($own:literal),+; $($file:literal as $($name:literal),+;)+) => {
        /// Our own modules: the file, its text, and the names under which extensions import it.
        #[cfg(feature = "engine")]
        pub(crate) const FILES: &[(&str, &str, &[&str])] = &[
            $(($own, include_str!(concat!("../js/", $own, ".js")), &[]),)+
            $(($file, include_str!(concat!("../js/", $file, ".js")), &[$($name),+]),)+
        ];

        /// The names under which extensions import modules that the embedded engine provides, without `node:`.
        pub const EMBEDDED_MODULES: &[&str] = &[$($($name),+),+];
    };
}

modules! {
    internal "main", "native", "globals", "abort", "session", "context", "ui", "theme", "api", "events",
        "dispatch", "models", "calls", "processes", "components", "keys", "text", "widgets", "markdown",
        "tools", "modules";
    "pi-coding-agent" as "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent", "offshoot";
    "pi-ai" as "@earendil-works/pi-ai", "@earendil-works/pi-ai/compat", "@mariozechner/pi-ai";
    "pi-tui" as "@earendil-works/pi-tui", "@mariozechner/pi-tui";
    "pi-agent-core" as "@earendil-works/pi-agent-core", "@mariozechner/pi-agent-core";
    "typebox" as "typebox", "@sinclair/typebox";
    "node/assert" as "assert", "assert/strict";
    "node/buffer" as "buffer";
    "node/child_process" as "child_process";
    "node/crypto" as "crypto";
    "node/events" as "events";
    "node/fs" as "fs";
    "node/fs-promises" as "fs/promises";
    "node/module" as "module";
    "node/os" as "os";
    "node/path" as "path", "path/posix";
    "node/process" as "process";
    "node/timers" as "timers", "timers/promises";
    "node/url" as "url";
    "node/util" as "util";
}

/// The modules of Node that the embedded engine cannot have, without `node:`.
pub const NODE_ONLY_MODULES: &[&str] = &[
    "cluster",
    "dgram",
    "dns",
    "dns/promises",
    "domain",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "net",
    "punycode",
    "repl",
    "sea",
    "sqlite",
    "stream/consumers",
    "sys",
    "test",
    "test/reporters",
    "tls",
    "trace_events",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
];
