//! Servers that hang, die, flood or send nonsense never stop anything else, and leave no process behind.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use offshoot_agent::cancel::Cancel;
use offshoot_agent::secrets::Secrets;
use offshoot_agent::tool::{Effect, ToolCall, ToolOutput, ToolPlace};
use offshoot_mcp::client::{ClientOptions, ConfigFile, ServerConfig, Servers, State, Status, read_configs};
use serde_json::{Value as Json, json};

/// Longer than any server here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The failures that were reported.
pub(crate) type Failures = Arc<Mutex<Vec<String>>>;

pub(crate) fn options(failures: &Failures) -> ClientOptions {
    let failures = failures.clone();
    ClientOptions {
        cwd: std::env::temp_dir(),
        secrets: Arc::new(Secrets::new().withholding(["MY_MODEL_KEY".to_owned()])),
        start_limit: Duration::from_secs(2),
        on_change: Arc::new(drop),
        on_failure: Arc::new(move |name, problem| {
            failures.lock().unwrap().push(format!("{name}: {}", problem.reason));
        }),
    }
}

pub(crate) fn configs(entries: &Json) -> Vec<ServerConfig> {
    let text = json!({"mcpServers": entries}).to_string();
    let file = ConfigFile { path: Path::new("mcp.json"), text: &text, is_project: false };
    let (configs, problems) = read_configs(&[file], &Secrets::new(), &|name| std::env::var(name).ok());
    assert_eq!(problems, []);
    configs
}

fn entry(how: &[&str]) -> Json {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nasty.sh");
    let arguments = [&[script], how].concat();
    json!({"command": "sh", "args": arguments, "timeout": 2})
}

/// Starts one server that misbehaves in this way.
async fn start(how: &[&str]) -> (Servers, Failures) {
    let failures = Failures::default();
    let servers = Servers::start(configs(&json!({"nasty": entry(how)})), &options(&failures));
    servers.settled(PATIENCE).await;
    (servers, failures)
}

pub(crate) async fn call(servers: &Servers) -> ToolOutput {
    call_unless(servers, Cancel::new()).await
}

async fn call_unless(servers: &Servers, cancel: Cancel) -> ToolOutput {
    let tools = servers.tools();
    let call = ToolCall { id: "1".to_owned(), name: "mcp__nasty__go".to_owned(), arguments: json!({}) };
    tools[0].run(call, &ToolPlace::new(std::env::temp_dir(), cancel)).await
}

pub(crate) fn only(servers: &Servers) -> Status {
    servers.status().remove(0)
}

pub(crate) fn reason(servers: &Servers) -> String {
    match only(servers).state {
        State::Waiting(problem) | State::Failed(problem) => format!("{} | {}", problem.reason, problem.hint),
        state => panic!("{state:?}"),
    }
}

/// Waits for a state that is reached sooner or later.
async fn until(servers: &Servers, is_reached: impl Fn(&State) -> bool) {
    let started = Instant::now();
    while !is_reached(&only(servers).state) {
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", only(servers));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn starting_a_server_that_hangs_takes_no_time_and_its_end_is_reported() {
    let (started, failures) = (Instant::now(), Failures::default());
    let servers = Servers::start(configs(&json!({"nasty": entry(&["hang"])})), &options(&failures));
    assert!(started.elapsed() < Duration::from_millis(200), "{:?}", started.elapsed());
    assert_eq!(only(&servers).state, State::Starting);
    servers.settled(PATIENCE).await;
    assert!(reason(&servers).starts_with("it did not answer within 2 seconds | run the command"));
    assert_eq!(failures.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn text_on_standard_output_and_last_words_are_part_of_the_reason() {
    let (servers, _) = start(&["text"]).await;
    assert!(reason(&servers).contains("not JSON on its standard output: `Welcome to my server`"));
    let (servers, _) = start(&["exit"]).await;
    let reason = reason(&servers);
    assert!(
        reason.contains("it ended before it answered; its last words: `no configuration found`"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_not_started_again() {
    let failures = Failures::default();
    let configs =
        configs(&json!({"a": {"command": "no-such-program"}, "b": {"command": "sh", "cwd": "/no/such"}}));
    let servers = Servers::start(configs, &options(&failures));
    servers.settled(PATIENCE).await;
    let states: Vec<State> = servers.status().into_iter().map(|status| status.state).collect();
    let [State::Failed(program), State::Failed(directory)] = &states[..] else { panic!("{states:?}") };
    assert_eq!(program.reason, "the program `no-such-program` was not found");
    assert_eq!(directory.reason, "the directory /no/such does not exist");
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_the_call_and_is_started_again() {
    let (servers, failures) = start(&["die"]).await;
    assert_eq!(only(&servers).state, State::Ready);
    let output = call(&servers).await;
    assert!(output.is_error, "{output:?}");
    assert_eq!(output.all_text(), "the server ended");
    until(&servers, |state| matches!(state, State::Waiting(_))).await;
    let while_away = call(&servers).await.all_text();
    assert!(while_away.contains("does not run at the moment and is started again"), "{while_away}");
    until(&servers, |state| *state == State::Ready).await;
    assert_eq!(failures.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_limit_and_the_server_stays() {
    for how in ["mute", "garbage"] {
        let (servers, _) = start(&[how]).await;
        let started = Instant::now();
        let output = call(&servers).await;
        assert!(started.elapsed() < Duration::from_secs(4));
        let remark = "; it printed a line that is not JSON: `Traceback: oh no`";
        let expected = format!("no answer within 2 seconds{}", if how == "garbage" { remark } else { "" });
        assert_eq!((output.is_error, output.all_text()), (true, expected));
        assert_eq!(only(&servers).state, State::Ready);
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let (servers, _) = start(&["mute"]).await;
    let (cancel, started) = (Cancel::new(), Instant::now());
    let (output, ()) = tokio::join!(call_unless(&servers, cancel.clone()), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    });
    assert_eq!((output.is_error, output.all_text()), (true, "cancelled".to_owned()));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn an_answer_of_100_mb_stops_the_server_and_not_us() {
    let (servers, _) = start(&["huge"]).await;
    let output = call(&servers).await;
    assert_eq!(output.all_text(), "the server was stopped: it sent a message of more than 16 MiB");
    until(&servers, |state| matches!(state, State::Waiting(_))).await;
    assert!(reason(&servers).starts_with("stopped: it sent a message of more than 16 MiB"));
}

#[tokio::test]
async fn a_flood_of_messages_stops_the_server() {
    let (servers, failures) = start(&["flood"]).await;
    assert_eq!(call(&servers).await.all_text(), "started");
    until(&servers, |state| matches!(state, State::Waiting(_))).await;
    assert!(failures.lock().unwrap()[0].contains("20000 messages in 10 seconds"), "{failures:?}");
}

fn is_running(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    // A process that ended and waits for its parent does not run.
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn what_a_server_started_ends_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("id");
    let (servers, _) = start(&["child", file.to_str().unwrap()]).await;
    let id = fs::read_to_string(&file).unwrap();
    assert!(is_running(&id));
    drop(servers);
    assert!(!is_running(&id), "the child of the server outlived it");
}

#[tokio::test]
async fn a_server_that_ignores_every_request_to_end_is_killed() {
    let (servers, _) = start(&["stubborn"]).await;
    assert_eq!(call(&servers).await.all_text(), "done");
    let started = Instant::now();
    drop(servers);
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[tokio::test]
async fn keys_of_model_services_are_not_in_the_environment_of_a_server() {
    // Cargo sets CARGO_PKG_NAME for tests; `env` of the entry is added to what is inherited.
    let mut entry = entry(&["env"]);
    entry["env"] = json!({"ADDED": "1"});
    let failures = Failures::default();
    let mut options = options(&failures);
    options.secrets = Arc::new(Secrets::new().withholding(["CARGO_PKG_NAME".to_owned()]));
    let servers = Servers::start(configs(&json!({"nasty": entry})), &options);
    servers.settled(PATIENCE).await;
    let names = call(&servers).await.all_text();
    let names: Vec<&str> = names.split(' ').collect();
    assert!(names.contains(&"ADDED") && names.contains(&"PATH"), "{names:?}");
    assert!(!names.contains(&"CARGO_PKG_NAME"), "{names:?}");
    assert!(names.contains(&"CARGO_PKG_VERSION"), "{names:?}");
}

#[tokio::test]
async fn an_annotation_of_a_server_counts_only_if_the_user_says_so() {
    let effect = async |entry: Json| {
        let servers = Servers::start(configs(&json!({"nasty": entry})), &options(&Failures::default()));
        servers.settled(PATIENCE).await;
        servers.tools()[0].effect(&json!({"x": 1}))
    };
    let words = "it calls `go` of the MCP server `nasty` with {\"x\":1}";
    assert_eq!(effect(entry(&["fine"])).await, Effect::Other(words.to_owned()));
    let mut trusted = entry(&["fine"]);
    trusted["trustReadOnlyHint"] = json!(true);
    assert_eq!(effect(trusted).await, Effect::Reads(Vec::new()));
}

#[tokio::test]
async fn hidden_tools_and_servers_that_are_turned_off_are_not_offered() {
    let mut hidden = entry(&["fine"]);
    hidden["toolExposure"] = json!({"g*": "hidden"});
    let mut off = entry(&["hang"]);
    off["enabled"] = json!(false);
    let servers =
        Servers::start(configs(&json!({"hidden": hidden, "off": off})), &options(&Failures::default()));
    servers.settled(PATIENCE).await;
    let states: Vec<State> = servers.status().into_iter().map(|status| status.state).collect();
    assert_eq!(states, [State::Ready, State::Disabled]);
    assert!(servers.tools().is_empty());
}
