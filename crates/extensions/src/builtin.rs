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
        "tools", "modules", "fetch", "intl", "bytes", "refused", "fuzzy", "autocomplete", "images", "layout", "colors",
        "transcript", "schema", "streams", "providers", "sdk", "compaction", "skills", "sessions", "messages",
        "highlight", "agent-loop";
    "pi-coding-agent" as "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent", "offshoot";
    "pi-ai" as "@earendil-works/pi-ai", "@earendil-works/pi-ai/compat", "@mariozechner/pi-ai", "@mariozechner/pi-ai/compat",
        "@earendil-works/pi-ai/models", "@mariozechner/pi-ai/models", "@earendil-works/pi-ai/oauth",
        "@mariozechner/pi-ai/oauth";
    "pi-ai-providers" as "@earendil-works/pi-ai/providers/all", "@mariozechner/pi-ai/providers/all";
    "pi-tui" as "@earendil-works/pi-tui", "@mariozechner/pi-tui";
    "pi-agent-core" as "@earendil-works/pi-agent-core", "@mariozechner/pi-agent-core";
    "typebox" as "typebox", "@sinclair/typebox", "typebox/type";
    "typebox-value" as "typebox/value", "@sinclair/typebox/value", "typebox/schema", "@sinclair/typebox/errors";
    "typebox-compiler" as "typebox/compile", "typebox/compiler", "@sinclair/typebox/compiler";
    "node/assert" as "assert", "assert/strict";
    "node/async_hooks" as "async_hooks";
    "node/buffer" as "buffer";
    "node/child_process" as "child_process";
    "node/console" as "console";
    "node/constants" as "constants";
    "node/crypto" as "crypto";
    "node/diagnostics_channel" as "diagnostics_channel";
    "node/events" as "events";
    "node/fs" as "fs";
    "node/fs-promises" as "fs/promises";
    "node/module" as "module";
    "node/os" as "os";
    "node/path" as "path", "path/posix";
    "node/path-win32" as "path/win32";
    "node/perf_hooks" as "perf_hooks";
    "node/process" as "process";
    "node/querystring" as "querystring";
    "node/readline" as "readline";
    "node/readline-promises" as "readline/promises";
    "node/stream" as "stream";
    "node/stream-promises" as "stream/promises";
    "node/stream-web" as "stream/web";
    "node/string_decoder" as "string_decoder";
    "node/timers" as "timers";
    "node/timers-promises" as "timers/promises";
    "node/tty" as "tty";
    "node/url" as "url";
    "node/util" as "util";
    "node/util-types" as "util/types";
    "node/zlib" as "zlib";
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
