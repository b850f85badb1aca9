//! The child process: when it starts, who shares it, what it inherits, and that it ends.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use offshoot_extensions::discover::{self, Origin};
use offshoot_extensions::{Extensions, LoadOptions};
use serde_json::json;

use crate::engine;
use crate::support::{Setup, Stage, stage};

const PID: &str = "export default (pi) => pi.on('x', () => ({ pid: process.pid }));";

/// Returns true if a process runs; one that has ended and was not reaped does not.
fn is_running(id: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

fn assert_ends(id: u64) {
    let begun = Instant::now();
    while is_running(id) {
        assert!(begun.elapsed() < Duration::from_secs(10), "process {id} goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

async fn pid(stage: &Stage) -> u64 {
    stage.fire("x", json!({})).await["pid"].as_u64().unwrap()
}

#[tokio::test]
async fn extensions_of_one_origin_share_a_child() {
    let stage = Setup::default().with(&[("a.ts", PID), ("b.ts", PID)]).await;
    let mut ids = Vec::new();
    for extension in stage.extensions.iter() {
        let answer =
            offshoot_agent::hooks::Handler::call(extension, "x", &json!({}), &Default::default()).await;
        ids.push(answer.unwrap()["pid"].as_u64().unwrap());
    }
    assert_eq!(ids[0], ids[1]);
    let path = stage.home.path().join("extensions/a.ts");
    let mut found = discover::by_path(&path).unwrap();
    found[0].origin = Origin::CommandLine;
    found.extend(discover::by_path(&path).unwrap());
    let options = LoadOptions { trusted: true, ..engine() };
    let (others, errors) = Extensions::load(&found, &stage.host, &options).await;
    assert_eq!(errors, []);
    for extension in others.iter() {
        let answer =
            offshoot_agent::hooks::Handler::call(extension, "x", &json!({}), &Default::default()).await;
        ids.push(answer.unwrap()["pid"].as_u64().unwrap());
    }
    assert_ne!(ids[2], ids[3]);
    assert!(
        ids[2..].iter().all(|id| *id != ids[0]),
        "what is loaded later has processes of its own: {ids:?}"
    );
}

#[tokio::test]
async fn a_child_ends_with_its_extensions_and_all_that_it_started() {
    let stage = stage(
        "import { spawn } from 'node:child_process';
         export default (pi) => pi.on('x', () => ({ pid: process.pid, other: spawn('sleep', ['600']).pid }));",
    )
    .await;
    let answer = stage.fire("x", json!({})).await;
    let ids = ["pid", "other"].map(|key| answer[key].as_u64().unwrap());
    assert!(ids.iter().all(|id| is_running(*id)));
    let begun = Instant::now();
    drop(stage);
    ids.into_iter().for_each(assert_ends);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_program_that_is_killed_leaves_no_child_and_passes_on_no_key() {
    // The test runs a second time in a separate process, which is killed.
    if std::env::var_os("OFFSHOOT_TEST_IS_KILLED").is_some() {
        let stage = stage("export default (pi) => pi.on('x', () => ({ pid: process.pid, key: process.env.SOME_API_KEY ?? 'none', home: process.env.HOME !== undefined, execArgv: process.env.NODE_OPTIONS ?? 'none' }));").await;
        println!("\n{}", stage.fire("x", json!({})).await);
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "child::a_program_that_is_killed_leaves_no_child_and_passes_on_no_key",
            "--nocapture",
        ])
        .env("OFFSHOOT_TEST_IS_KILLED", "1")
        .env("SOME_API_KEY", "sk-secret")
        .env("NODE_OPTIONS", "--title=x")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let line = lines.map_while(Result::ok).find(|line| line.starts_with('{')).expect("the answer");
    let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
    let id = answer["pid"].as_u64().unwrap();
    assert!(is_running(id));
    program.kill().unwrap();
    program.wait().unwrap();
    assert_ends(id);
    assert_eq!(
        (&answer["key"], &answer["home"], &answer["execArgv"]),
        (&json!("none"), &json!(true), &json!("none"))
    );
}

#[tokio::test]
async fn ended_children_are_reaped() {
    let stage = stage(PID).await;
    let id = pid(&stage).await;
    drop(stage);
    let begun = Instant::now();
    while PathBuf::from(format!("/proc/{id}")).exists() {
        assert!(begun.elapsed() < Duration::from_secs(10), "a zombie stays");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the time that all threads of a process have run, in hundredths of a second.
fn ticks(id: u64) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    // User and system.
    fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn the_first_command_is_ready_soon() {
    let text = "import { createServer } from 'node:http';
        export default (pi) => pi.registerCommand('go', { handler: async (args, ctx) => ctx.ui.notify(`${process.pid}`) });";
    let begun = Instant::now();
    let mut stage = stage(text).await;
    stage.command("go").await.unwrap();
    let took = begun.elapsed();
    let id = stage.notes()[0].strip_prefix("info: ").unwrap().parse().unwrap();
    println!("ready after {took:?}, of which it ran {} ms", ticks(id) * 10);
    // A busy machine makes it wait; the time that it runs is nearly the same then.
    assert!(took < Duration::from_millis(400) || ticks(id) < 40, "{took:?}, {} ticks", ticks(id));
}

#[tokio::test]
async fn a_question_that_script_waits_for_is_answered_soon() {
    let stage = stage(
        "export default (pi) => pi.on('x', (event, ctx) => {
             const begun = performance.now();
             for (let i = 0; i < 1_000; i++) ctx.sessionManager.getLeafId();
             return { ms: performance.now() - begun };
         })",
    )
    .await;
    let answer = stage.fire("x", json!({})).await;
    println!("a thousand questions: {answer}");
    assert!(answer["ms"].as_f64().unwrap() < 4_000.0, "{answer}");
}

#[tokio::test]
async fn an_idle_extension_is_woken_up_seldom() {
    let stage = stage(PID).await;
    let id = pid(&stage).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = ticks(id);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let during = ticks(id) - before;
    assert!(during <= 5, "{during} ticks in two seconds");
}
