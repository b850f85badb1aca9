//! Talking to a model: what a turn costs besides reading the stream, and how soon the first request leaves.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{Model, ThinkingLevel};
use offshoot_agent::turn::Outcome;
use offshoot_providers::{Catalogue, Credentials, Providers};
use serde_json::{Value as Json, json};
use session_tree::{Message, Options};
use testkit::model_server::{ModelServer, Reply};

use super::program::program;
use super::{Bench, NEEDS_PEER};
use crate::table::Line;
use crate::{Failure, clock};

/// How many pieces an answer has.
const CHUNKS: usize = 1_000;
/// How many answers one process reads, after a first one that is not measured.
const TURNS: usize = 10;

/// Measures turns and starts.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    Ok(vec![turn(bench)?, start(bench)?])
}

fn turn(bench: &Bench<'_>) -> Result<Line, Failure> {
    let (ours, bare) = clock::best_of_pairs(bench.runs, || cpu_of_child("turn"), || cpu_of_child("stream"))?;
    let work = "a turn of 1,000 streamed chunks, saved in a session";
    Ok(Line::cost(work, ours, ("bare client", bare), 1.5))
}

/// Reads all answers in a separate process; returns its CPU time per answer.
fn cpu_of_child(step: &str) -> Result<Duration, Failure> {
    let server = ModelServer::start((0..=TURNS).map(|_| answer()))?;
    let output = Command::new(std::env::current_exe()?).args(["--child", step, &server.url()]).output()?;
    if !output.status.success() {
        return Err(format!("{step}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(Duration::from_nanos(String::from_utf8(output.stdout)?.trim().parse()?) / u32::try_from(TURNS)?)
}

/// An answer in frames of one length, each sent alone.
fn answer() -> Reply {
    let frame = |number: usize| {
        let delta = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "test",
            "choices": [{"index": 0, "delta": {"content": format!("word{number:04} ")}, "finish_reason": null}],
        });
        format!("data: {delta}\n\n")
    };
    let mut bytes: String = (0..CHUNKS).map(frame).collect();
    let size = bytes.len() / CHUNKS;
    let end = json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    bytes.push_str(&format!("data: {end}\n\ndata: [DONE]\n\n"));
    Reply::bytes(200, "text/event-stream", bytes).pieces(size)
}

/// Reads answers in this process and prints the CPU time that took.
pub(super) fn child(step: &str, url: &str) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let time = runtime.block_on(async {
        match step {
            "turn" => turns(url).await,
            _ => streams(url).await,
        }
    })?;
    println!("{}", time.as_nanos());
    Ok(())
}

/// The work of the agent: a request, a stream, a session on the disk.
async fn turns(url: &str) -> Result<Duration, Failure> {
    let directory = tempfile::tempdir()?;
    let settings = json!({"providers": {"lab": {
        "baseUrl": url, "api": "openai-completions", "models": [{"id": "test"}],
    }}});
    let catalogue = Catalogue::default().merged(serde_json::from_value(settings)?);
    let model = Providers::new(catalogue, Credentials::none()).model("lab/test")?;
    one_turn(&model, directory.path()).await?;
    let before = clock::cpu_now();
    for _ in 0..TURNS {
        one_turn(&model, directory.path()).await?;
    }
    Ok(clock::cpu_now().saturating_sub(before))
}

async fn one_turn(model: &Arc<dyn Model>, directory: &Path) -> Result<(), Failure> {
    let session = Options::new().create_in(directory, "/project")?;
    let mut agent = Agent::new(session, "/project").with_model(model.clone(), ThinkingLevel::Off);
    let prompt = Message::user("hi").with_time(agent.session().now());
    match agent.prompt(vec![prompt], &Cancel::new()).await? {
        Outcome::Done => Ok(()),
        other => Err(format!("the turn ended otherwise: {other:?}").into()),
    }
}

/// The work of a bare client: the same HTTP library, frames, JSON, joined text.
async fn streams(url: &str) -> Result<Duration, Failure> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    one_stream(&client, url).await?;
    let before = clock::cpu_now();
    for _ in 0..TURNS {
        one_stream(&client, url).await?;
    }
    Ok(clock::cpu_now().saturating_sub(before))
}

async fn one_stream(client: &reqwest::Client, url: &str) -> Result<(), Failure> {
    let request = client.post(format!("{url}/chat/completions")).body(r#"{"stream":true,"messages":[]}"#);
    let mut response = request.send().await?;
    let (mut bytes, mut text): (Vec<u8>, String) = (Vec::new(), String::new());
    while let Some(piece) = response.chunk().await? {
        bytes.extend_from_slice(&piece);
        let mut start = 0;
        while let Some(end) = bytes[start..].windows(2).position(|pair| pair == b"\n\n") {
            let frame = bytes[start..start + end].strip_prefix(b"data: ").unwrap_or_default();
            start += end + 2;
            if let Ok(json) = serde_json::from_slice::<Json>(frame) {
                text.push_str(json["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
            }
        }
        bytes.drain(..start);
    }
    if text.len() == CHUNKS * "word0000 ".len() { Ok(()) } else { Err("the stream broke off".into()) }
}

fn start(bench: &Bench<'_>) -> Result<Line, Failure> {
    let work = "offshoot -p: from the start to the first byte of a request";
    let Some(peer) = &bench.peer else { return Ok(Line::skipped(work, NEEDS_PEER)) };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let home = bench.files.scratch("talk-home");
    let (own_home, peer_home) = (home.join("offshoot"), home.join("pi"));
    fs::create_dir_all(&own_home)?;
    fs::create_dir_all(&peer_home)?;
    let provider = json!({
        "baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [{"id": "test"}],
    });
    fs::write(peer_home.join("models.json"), json!({"providers": {"lab": provider}}).to_string())?;
    let mut own = provider;
    own.as_object_mut().map(|own| own.remove("apiKey"));
    fs::write(own_home.join("settings.json"), json!({"providers": {"lab": own}}).to_string())?;
    let program = program()?;
    let arguments = ["-p", "hi", "--model", "lab/test"];
    let ours = || {
        let mut command = Command::new(&program);
        first_byte(command.args(arguments).env("OFFSHOOT_HOME", &own_home), &home, &listener)
    };
    let theirs = || {
        let mut command = peer.command();
        let command = command.args(arguments).env("PI_CODING_AGENT_DIR", &peer_home);
        first_byte(command, &home, &listener)
    };
    let (ours, theirs) = clock::best_of_pairs(bench.runs, ours, theirs)?;
    Ok(Line::gain(work, ours, ("pi", theirs), 10.0))
}

/// Starts a program and returns the wall time until it has sent the first byte; then ends it.
fn first_byte(command: &mut Command, home: &Path, listener: &TcpListener) -> Result<Duration, Failure> {
    command.env("HOME", home).current_dir(home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    listener.set_nonblocking(true)?;
    let before = Instant::now();
    let mut child = command.spawn()?;
    let connection = loop {
        if let Ok((connection, _)) = listener.accept() {
            break connection;
        }
        if let Some(status) = child.try_wait()? {
            return Err(format!("{command:?} ended before it asked: {status}").into());
        }
        std::thread::sleep(Duration::from_micros(50));
    };
    let time = read_one(connection).map(|()| before.elapsed());
    child.kill()?;
    child.wait()?;
    time
}

fn read_one(mut connection: TcpStream) -> Result<(), Failure> {
    connection.set_nonblocking(false)?;
    connection.read_exact(&mut [0])?;
    Ok(())
}
