//! Modules in Node: TypeScript, packages, and everything that Node brings along.

use std::path::Path;

use offshoot_agent::cancel::Cancel;
use offshoot_agent::hooks::Handler;
use serde_json::{Value as Json, json};

use crate::support::{Setup, Stage, stage};

/// Loads an extension of several files, the first of which is `index.ts`.
async fn of_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Stage) {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = home.path().join("x").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let stage = Setup::default().of(&[home.path().join("x")]).await;
    assert_eq!(stage.errors, []);
    (home, stage)
}

/// Evaluates something in an extension.
async fn evaluated(head: &str, body: &str) -> Json {
    let stage = stage(&format!("{head} export default (pi) => pi.on('x', async () => {{ {body} }})")).await;
    stage.fire("x", json!({})).await
}

#[tokio::test]
async fn typescript_is_what_the_embedded_engine_takes() {
    let (_home, stage) = of_files(&[
        (
            "index.ts",
            "import { Level, Box } from './kinds'; import { late } from './late.js'; import type { Gone } from 'not-there';
             import data from './data.json';
             export default (pi: any) => pi.on('x', (): Gone => ({ level: Level.High, kept: new Box('a').value, late, n: data.n, tag: <string>'b' }));",
        ),
        (
            "kinds.ts",
            "export enum Level { Low, High } export class Box { constructor(public readonly value: string) {} }",
        ),
        ("late.ts", "export const late: string = 'a file that ends in .ts';"),
        ("data.json", r#"{"n": 7}"#),
    ])
    .await;
    let expected = json!({"level": 1, "kept": "a", "late": "a file that ends in .ts", "n": 7, "tag": "b"});
    assert_eq!(stage.fire("x", json!({})).await, expected);
}

#[tokio::test]
async fn packages_are_those_of_npm() {
    let (_home, stage) = of_files(&[
        (
            "index.ts",
            "import { createRequire } from 'node:module'; import common from 'common'; import { named } from 'common'; import { deep } from 'mapped/deep';
             const own = createRequire(import.meta.url);
             export default (pi) => pi.on('x', () => ({
                 common: common.named, named, deep, again: own('common').named, json: own('./data.json').n,
                 ours: common.ours, dirname: __dirname.endsWith('/x'), filename: __filename.endsWith('index.ts'), required: require('common').named,
             }));",
        ),
        ("data.json", r#"{"n": 7}"#),
        ("node_modules/common/package.json", r#"{"name": "common", "main": "lib/main"}"#),
        (
            "node_modules/common/lib/main.js",
            "const { Text } = require('@earendil-works/pi-tui'); exports.named = require('./other').value; exports.ours = typeof Text;",
        ),
        ("node_modules/common/lib/other.js", "module.exports = { value: 'common' };"),
        (
            "node_modules/mapped/package.json",
            r#"{"name": "mapped", "type": "module", "exports": {"./deep": {"import": "./src/deep.js"}}}"#,
        ),
        (
            "node_modules/mapped/src/deep.js",
            "import { visibleWidth } from '@mariozechner/pi-tui'; export const deep = visibleWidth('four');",
        ),
    ])
    .await;
    let expected = json!({
        "common": "common", "named": "common", "deep": 4, "again": "common", "json": 7, "ours": "function",
        "dirname": true, "filename": true, "required": "common",
    });
    assert_eq!(stage.fire("x", json!({})).await, expected);
}

#[tokio::test]
async fn an_extension_may_be_commonjs() {
    let (_home, stage) = of_files(&[
        ("package.json", r#"{"pi": {"extensions": ["./main.js"]}}"#),
        ("main.js", "const { n } = require('./part'); module.exports = (pi) => pi.on('x', () => ({ n }));"),
        ("part.cjs", "module.exports = { n: 3 };"),
        ("part.ts", "export const n: number = 4;"),
    ])
    .await;
    assert_eq!(stage.fire("x", json!({})).await, json!({"n": 4}));
}

#[tokio::test]
async fn a_name_that_our_modules_lack_is_undefined() {
    let answer = evaluated(
        "import { Key, notThere } from '@earendil-works/pi-tui'; import * as all from '@earendil-works/pi-tui';",
        "return { here: typeof Key, gone: typeof notThere, all: typeof all.Text };",
    )
    .await;
    assert_eq!(answer, json!({"here": "object", "gone": "undefined", "all": "function"}));
}

#[tokio::test]
async fn typebox_is_the_one_of_the_extension_if_it_has_one() {
    let main =
        "import { Type } from 'typebox'; export default (pi) => pi.on('x', () => ({ type: Type.String() }));";
    let own = "export const Type = { String: () => 'its own' };";
    let (_home, stage) = of_files(&[
        ("index.ts", main),
        ("node_modules/typebox/package.json", r#"{"name": "typebox", "type": "module", "main": "index.js"}"#),
        ("node_modules/typebox/index.js", own),
    ])
    .await;
    assert_eq!(stage.fire("x", json!({})).await, json!({"type": "its own"}));
    let (_home, stage) = of_files(&[("index.ts", main)]).await;
    assert_eq!(stage.fire("x", json!({})).await, json!({"type": {"type": "string"}}));
}

#[tokio::test]
async fn servers_requests_workers_and_languages_are_there() {
    let answer = evaluated(
        "import { createServer } from 'node:http'; import { Worker } from 'node:worker_threads'; import { createHmac } from 'node:crypto';",
        "const server = createServer((request, response) => response.end('served ' + request.url));
         await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
         const fetched = await (await fetch(`http://127.0.0.1:${server.address().port}/a`)).text();
         server.close();
         const worker = new Worker(\"require('node:worker_threads').parentPort.postMessage(6 * 7)\", { eval: true });
         const worked = await new Promise((resolve) => worker.once('message', resolve));
         return {
             fetched, worked, hmac: createHmac('md5', 'k').update('x').digest('hex').length,
             number: new Intl.NumberFormat('de-DE').format(1234.5), wasm: typeof WebAssembly.instantiate,
         };",
    )
    .await;
    let expected =
        json!({"fetched": "served /a", "worked": 42, "hmac": 32, "number": "1.234,5", "wasm": "function"});
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn an_error_names_the_place_in_the_typescript_and_nothing_of_ours() {
    let stage = stage(
        "interface Gone {\n  a: string;\n}\nexport default function (pi: any) {\n  pi.on('x', () => {\n    throw new TypeError('so it is');\n  });\n}\n",
    )
    .await;
    let error = Handler::call(&stage.only(), "x", &json!({}), &Cancel::new()).await.unwrap_err();
    let mut lines = error.lines();
    assert_eq!(lines.next(), Some("TypeError: so it is"));
    assert!(lines.next().unwrap().contains("one.ts:6:"), "{error}");
    assert_eq!(error.matches("so it is").count(), 1, "{error}");
    assert!(!error.contains("offshoot:") && !error.contains("node:internal"), "{error}");
}

#[tokio::test]
async fn a_large_answer_comes_at_once_and_whole() {
    let stage = stage(
        "import { createHash } from 'node:crypto';
         export default (pi) => pi.on('x', (event, ctx) => {
             const text = ctx.sessionManager.getBranch().at(-1).message.content;
             return { length: text.length, hash: createHash('sha256').update(text).digest('hex') };
         })",
    )
    .await;
    let text = "ä€𝄞".repeat(1 << 20);
    stage.user(&text);
    let answer = stage.fire("x", json!({})).await;
    assert_eq!(answer["length"], 4 << 20, "as UTF-16");
    let expected = {
        use std::process::{Command, Stdio};
        let mut child =
            Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert!(expected.starts_with(answer["hash"].as_str().unwrap()), "{answer}");
}

#[tokio::test]
async fn a_confined_extension_requires_nothing_from_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("node_modules/evil/index.js", "module.exports = 1;");
    write("evil.cjs", "module.exports = 1;");
    write("x/fine.cjs", "module.exports = 1;");
    let load = async |path: &Path| Setup { confined: true, ..Setup::default() }.of(&[path.to_owned()]).await;
    for (required, is_fine) in [("./fine.cjs", true), ("../evil.cjs", false), ("evil", false)] {
        write("x/index.js", &format!("const n = require('{required}'); module.exports = () => n;"));
        let stage = load(&home.path().join("x")).await;
        assert_eq!(stage.errors.is_empty(), is_fine, "{required}: {:?}", stage.errors);
        let is_named = |error: &offshoot_extensions::LoadError| error.message.contains("was not trusted");
        assert!(stage.errors.iter().all(is_named), "{:?}", stage.errors);
    }
}
