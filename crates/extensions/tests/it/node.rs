//! Node's modules as extensions have them: files, processes, hashes.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use crate::support::{Stage, stage};

/// Lets an extension evaluate something in the directory of a project.
async fn evaluated(body: &str) -> (Stage, Json) {
    let text = format!(
        "import * as fs from 'node:fs'; import * as child from 'node:child_process'; import * as crypto from 'node:crypto';
         export default (pi) => pi.on('x', async (event, ctx) => {{ {body} }})"
    );
    let stage = stage(&text).await;
    let answer = stage.fire("x", json!({})).await;
    assert_eq!(stage.only().disabled(), None);
    (stage, answer)
}

/// Returns true if a process runs; one that has ended and was not reaped does not.
fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

#[tokio::test]
async fn a_process_gets_its_input_while_it_writes() {
    let (_, answer) = evaluated(
        "const input = 'x'.repeat(1 << 20);
         const { stdout } = await pi.exec('cat', [], { input });
         return { same: stdout === input, sync: child.execSync('cat', { input, encoding: 'utf8' }) === input };",
    )
    .await;
    assert_eq!(answer, json!({"same": true, "sync": true}));
}

#[tokio::test]
async fn a_process_that_is_late_ends_with_all_that_it_started() {
    let line = "sleep 60 & echo $!; wait; true";
    let (_, answer) = evaluated(&format!(
        "const begun = Date.now();
         const result = await pi.exec('sh', ['-c', '{line}'], {{ timeout: 400 }});
         return {{ ...result, took: Date.now() - begun }};"
    ))
    .await;
    assert_eq!(answer["killed"], true, "{answer}");
    assert!(answer["took"].as_u64().unwrap() < 4_000, "{answer}");
    let id = answer["stdout"].as_str().unwrap();
    assert!(!id.is_empty(), "what was written until then is kept");
    assert!(!is_running(id), "{id}");
}

#[tokio::test]
async fn what_a_process_leaves_in_the_background_is_not_waited_for() {
    let (_, answer) = evaluated(
        "const begun = Date.now();
         const { stdout, code } = await pi.exec('sh', ['-c', 'sleep 20 & echo $!']);
         return { stdout, code, took: Date.now() - begun };",
    )
    .await;
    assert!(answer["took"].as_u64().unwrap() < 10_000, "{answer}");
    let id = answer["stdout"].as_str().unwrap().trim();
    assert!(is_running(id), "it was started to go on: {answer}");
    std::process::Command::new("kill").arg(id).status().unwrap();
}

#[tokio::test]
async fn a_process_that_is_waited_for_has_input_and_an_end() {
    let (_, answer) = evaluated(
        "const failed = (work) => { try { work(); return 'fine'; } catch (error) { return error.code ?? error.message; } };
         return {
             text: child.execSync('cat', { input: 'x', encoding: 'utf8' }),
             bytes: [...child.spawnSync('cat', { input: new Uint8Array([104, 105]) }).stdout],
             late: failed(() => child.execSync('sleep 60', { timeout: 50 })),
             signal: child.spawnSync('sleep', ['60'], { timeout: 50 }).signal,
             status: child.spawnSync('sh', ['-c', 'exit 3']).status,
             gone: /No such file|ENOENT/.test(failed(() => child.execFileSync('no-such-program-anywhere'))),
         };",
    )
    .await;
    let expected = json!({
        "text": "x", "bytes": [104, 105], "late": "ETIMEDOUT", "signal": "SIGTERM", "status": 3, "gone": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn a_file_that_must_be_new_takes_no_others_place() {
    let (stage, answer) = evaluated(
        "const code = (work) => { try { work(); return 'fine'; } catch (error) { return error.code ?? error.message; } };
         const write = (text, flag) => code(() => fs.writeFileSync('lock', text, { flag }));
         return { codes: [write('mine', 'wx'), write('yours', 'wx'), write('+', 'a'), write('-', 'ax'), write('?', 'r')] };",
    )
    .await;
    let codes = answer["codes"].as_array().unwrap();
    assert_eq!(codes[..4], [json!("fine"), json!("EEXIST"), json!("fine"), json!("EEXIST")]);
    assert_ne!(codes[4], "fine");
    assert_eq!(std::fs::read_to_string(stage.project().join("lock")).unwrap(), "mine+");
}

#[tokio::test]
async fn a_secret_is_written_for_its_owner_alone() {
    let (stage, answer) = evaluated(
        "fs.writeFileSync('token', 's', { mode: 0o600 }); fs.appendFileSync('more', 's', { mode: '600' });
         fs.mkdirSync('a/b', { recursive: true, mode: 0o700 }); fs.mkdirSync('c', 0o700);
         return { made: fs.mkdtempSync('d-') };",
    )
    .await;
    let mode = |name: &str| stage.project().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(["token", "more"].map(mode), [0o600; 2]);
    assert_eq!(["a/b", "c", answer["made"].as_str().unwrap()].map(mode), [0o700; 3]);
}

#[tokio::test]
async fn a_hash_is_that_of_the_bytes() {
    let (_, answer) = evaluated(
        "const hash = (...parts) => parts.reduce((hash, part) => hash.update(part), crypto.createHash('sha256')).digest('hex');
         const bytes = new Uint8Array([255]);
         fs.writeFileSync('file', new Uint8Array([255, 254]));
         return {
             byte: hash(bytes), file: hash(fs.readFileSync('file')) === hash(bytes, new Uint8Array([254])),
             text: hash('é\\ud83d') === hash(Buffer.from([0xc3, 0xa9, 0xef, 0xbf, 0xbd])), encoded: hash('x') === hash(Buffer.from('78', 'hex')),
             large: hash(Buffer.alloc(1 << 20, 7)).length,
         };",
    )
    .await;
    let expected = json!({
        "byte": "a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89",
        "file": true, "text": true, "encoded": true, "large": 64,
    });
    assert_eq!(answer, expected);
}
