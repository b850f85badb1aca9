//! Modules of extensions: packages of npm as they are written, CommonJS, JSON, and names that do not exist.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage};

/// Loads an extension that lies beside other files and reports what it found.
async fn stage_of(files: &[(&str, &str)], head: &str, body: &str) -> (tempfile::TempDir, Stage) {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    for (name, text) in files {
        write(&home.join(name), text);
    }
    let main = home.join("main.ts");
    write(
        &main,
        &format!(
            "{head}\nexport default (pi: any) => pi.on('x', async (event: any, ctx: any) => {{ {body} }})"
        ),
    );
    (directory, Setup::default().of(&[main]).await)
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

async fn found(files: &[(&str, &str)], head: &str, body: &str) -> Json {
    let (_directory, stage) = stage_of(files, head, body).await;
    assert_eq!(stage.errors, []);
    stage.fire("x", json!({})).await
}

#[tokio::test]
async fn a_name_that_a_module_does_not_export_is_undefined() {
    let files = [
        ("other.ts", "export const there = 1; export interface Shape {} interface Hidden {}"),
        ("barrel.ts", "export { there, Shape, gone as away } from './other'; export * from './more.js';"),
        ("more.js", "export const more = 3; export default 4;"),
    ];
    let answer = found(
        &files,
        "import none, { there, gone as lost } from './other'; import { away, more, Shape, nothing } from './barrel';
         import { readFileSync, noSuchFunction } from 'node:fs'; import { NoSuchWidget, Text } from '@earendil-works/pi-tui';
         import * as all from './barrel'; export { neither } from './other';",
        "return { there, more, lists: Object.keys(all).sort(), widget: typeof Text, read: typeof readFileSync,
            missing: [none, lost, away, nothing, noSuchFunction, NoSuchWidget].every((one) => one === undefined) };",
    )
    .await;
    let expected = json!({
        "there": 1, "more": 3, "lists": ["Shape", "away", "more", "there"], "widget": "function", "read": "function",
        "missing": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_call_of_nothing_is_named() {
    let (_directory, stage) = stage_of(
        &[],
        "import { noSuchFunction } from 'node:fs';",
        "const value: any = { a: {} }; const at: number = event.at;
        if (at === 0) noSuchFunction(1);
        if (at === 1) value.a.missing('x', at);
        if (at === 2) await (value as any).b?.c();
        if (at === 3) value.a[`k${at}`]();
        if (at === 4) new value.a.Klass();
        return at;",
    )
    .await;
    let mut errors = Vec::new();
    for at in [0, 1, 3, 4] {
        let extension = stage.only();
        let cancel = offshoot_agent::cancel::Cancel::new();
        let answer =
            offshoot_agent::hooks::Handler::call(&extension, "x", &json!({ "at": at }), &cancel).await;
        errors.push(answer.unwrap_err().lines().next().unwrap_or_default().to_owned());
    }
    let expected = [
        "TypeError: `noSuchFunction` is not a function",
        "TypeError: `value.a.missing` is not a function",
        "TypeError: `value.a[`k${at}`]` is not a function",
        "TypeError: `value.a.Klass` is not a constructor",
    ];
    assert_eq!(errors, expected);
}

#[tokio::test]
async fn packages_are_run_as_common_js_or_as_modules() {
    let files = [
        ("node_modules/old/package.json", r#"{"name": "old", "version": "1.2.3", "main": "lib"}"#),
        ("node_modules/old/lib/index.js", "const path = require('path'); const { readFileSync } = require('node:fs');
            exports.name = path.basename(__filename); exports.dir = path.basename(__dirname); exports['own'] = this === exports;
            exports.version = require('../package.json').version; exports.read = readFileSync(__filename, 'utf8').length > 10;
            exports.main = require.main === module; exports.id = module.id === __filename;
            try { require('./gone') } catch (error) { exports.code = error.code }
            exports.resolved = path.basename(require.resolve('./other')); exports.Emitter = require('events');
            const late = require('./other'); exports.late = late.value; sloppy = 1; delete globalThis.sloppy;"),
        ("node_modules/old/lib/other.js", "const first = require('./index'); exports.seen = first.name; exports.value = 'other after ' + exports.seen"),
        ("node_modules/fn/index.js", "module.exports = function fn(a) { return a + 1 }; module.exports.extra = 5;"),
        ("node_modules/built/index.js", "\"use strict\"; Object.defineProperty(exports, '__esModule', { value: true });
            exports.default = (a) => a * 2; exports.named = 7; for (const key of ['dyn']) exports[key] = 8;"),
        ("node_modules/esm/package.json", r#"{"name": "esm", "type": "module", "exports": {".": "./index.js", "./sub": "./sub.js"}}"#),
        ("node_modules/esm/index.js", "import built, { named } from 'built'; import fn, { extra } from 'fn'; import { createRequire } from 'node:module';
            const require = createRequire(import.meta.url); export const far = require('old').version; export const from = typeof built.default; export { named, extra };"),
        ("node_modules/esm/sub.js", "export const sub = import.meta.filename.endsWith('esm/sub.js') && import.meta.resolve('fn').endsWith('node_modules/fn/index.js');"),
        ("node_modules/mix/index.cjs", "module.exports = { ...require('fn'), esm: require('esm/sub').sub, later: () => import('esm') };"),
        ("node_modules/mix/package.json", r#"{"main": "index.cjs"}"#),
        ("data.json", r#"{"a": [1, 2], "b-c": 3}"#),
    ];
    let answer = found(
        &files,
        "import * as old from 'old'; import fn, { extra } from 'fn'; import built, { named, dyn } from 'built'; import * as esm from 'esm';
         import { sub } from 'esm/sub'; import mix from 'mix'; import data, { a } from './data.json' with { type: 'json' };
         const text = require('./data.json'); const here = __filename.endsWith('main.ts') && __dirname === import.meta.dirname;",
        "const { Emitter, ...more } = { ...old, default: undefined }; const dynamic = await import('fn');
         return { old: more, fn: fn(1), extra, built: built(4), named, dyn, esm: { ...esm }, sub, mix: [mix.extra, mix.esm, (await mix.later()).far], data, a,
             text: text['b-c'], here, emitter: typeof new Emitter().on, dynamic: [dynamic.default(2), dynamic.extra],
             same: require('fn') === fn, gone: await import('gone').catch((error) => error.message.split(' (')[0]) };",
    )
    .await;
    let expected = json!({
        "old": {
            "name": "index.js", "dir": "lib", "own": true, "version": "1.2.3", "read": true, "main": false, "id": true,
            "code": "MODULE_NOT_FOUND", "resolved": "other.js", "late": "other after index.js",
        },
        "fn": 2, "extra": 5, "built": 8, "named": 7, "dyn": 8, "esm": {"extra": 5, "far": "1.2.3", "from": "function", "named": 7},
        "sub": true, "mix": [5, true, "1.2.3"], "data": {"a": [1, 2], "b-c": 3}, "a": [1, 2], "text": 3, "here": true,
        "emitter": "function", "dynamic": [3, 5], "same": true, "gone": "cannot find module `gone`",
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn an_extension_may_be_common_js() {
    let home = tempfile::tempdir().unwrap();
    let text = "const { basename } = require('node:path');\nmodule.exports = (pi) => pi.on('x', () => ({ file: basename(__filename) }));";
    for name in ["one.ts", "one.js"] {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        let stage = Setup::default().of(&[path]).await;
        assert_eq!(stage.errors, []);
        assert_eq!(stage.fire("x", json!({})).await, json!({ "file": name }));
    }
}

#[tokio::test]
async fn a_module_that_cannot_be_had_says_why() {
    let error = async |files: &[(&str, &str)], head: &str| {
        let (_, stage) = stage_of(files, head, "").await;
        stage.errors.first().map(|error| error.message.lines().next().unwrap_or_default().to_owned()).unwrap()
    };
    let message = error(&[], "import http from 'node:http'; http.get;").await;
    assert!(message.contains("`node:http` needs Node, which the embedded engine does not have"), "{message}");
    let message = error(&[("x.node", "")], "import x from './x.node'; x();").await;
    assert!(message.contains("x.node is a native module, which needs Node"), "{message}");
    let message = error(&[("a.mjs", "export const a = await 1;")], "const a = require('./a.mjs');").await;
    assert!(message.contains("`require` cannot load") && message.contains("use `import`"), "{message}");
}

#[tokio::test]
async fn a_project_imports_nothing_from_outside_itself_with_require() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("spy.cjs"), "module.exports = 'outside'").unwrap();
    std::fs::write(outside.path().join("spy.json"), "{}").unwrap();
    let path = outside.path().display();
    let text = format!("const tried = (name) => {{ try {{ return require(name) }} catch (error) {{ return error.message }} }};
        module.exports = (pi) => pi.on('x', () => ({{ code: tried('{path}/spy.cjs'), data: tried('{path}/spy.json') }}));");
    let stage = Setup { confined: true, ..Setup::default() }.with(&[("own/index.ts", &text)]).await;
    assert_eq!(stage.errors, []);
    let answer = stage.fire("x", json!({})).await;
    for key in ["code", "data"] {
        assert!(
            answer[key].as_str().unwrap().contains("is outside the directory of the extension"),
            "{answer}"
        );
    }
}
