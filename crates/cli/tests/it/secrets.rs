//! Keys and secrets of the user: no tool opens them, no command inherits them, no session stores them; and no command
//! outlives the program.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply};

use crate::support::{Home, files};
use crate::talk::set_up;

const KEY: &str = "sk-lab-0123456789abcdefghijklmnopqrstuvwxyz";

/// Lets the model call tools in the home directory with all calls allowed; returns the results and the stored session.
fn results(home: &Home, calls: &[(&str, Value)], variables: &[(&str, &str)]) -> (Vec<String>, String) {
    let ids = ["c1", "c2", "c3", "c4", "c5", "c6"];
    let call =
        |(id, (name, arguments)): (&&str, &(&str, Value))| Reply::answer().call(id, name, arguments.clone());
    let replies: Vec<Reply> =
        ids.iter().zip(calls).map(call).chain([Reply::answer().text("Done.")]).collect();
    let server = ModelServer::start(replies).unwrap();
    if !home.path("offshoot/settings.json").exists() {
        set_up(home, &server, "anthropic-messages");
    }
    let mut settings: Value =
        serde_json::from_slice(&fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    settings["providers"]["lab"]["baseUrl"] = json!(server.url());
    home.file("offshoot/settings.json", settings.to_string());
    let tools = "read,bash,edit,write,grep,find,ls";
    let mut command = home.command(&["-p", "--yes", "--tools", tools, "go"]);
    command.current_dir(home.path("")).envs(variables.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let requests = server.requests();
    let results = requests[1..].iter().map(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    });
    let stored =
        files(&home.path("offshoot/sessions")).into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>();
    (results.collect(), String::from_utf8_lossy(&stored.concat()).into_owned())
}

fn credentials(home: &Home) {
    use std::os::unix::fs::PermissionsExt;
    let path =
        home.file("offshoot/credentials.json", json!({"lab": {"type": "api_key", "key": KEY}}).to_string());
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn our_credentials_are_denied_although_the_home_directory_is_the_working_directory() {
    let home = Home::new();
    credentials(&home);
    fs::hard_link(home.path("offshoot/credentials.json"), home.path("notes.json")).unwrap();
    let calls = [
        ("read", json!({"path": "offshoot/credentials.json"})),
        ("read", json!({"path": "notes.json"})),
        ("grep", json!({"pattern": "sk-lab-[0-9]"})),
        ("write", json!({"path": "offshoot/credentials.json", "content": "{}"})),
        ("bash", json!({"command": "cat offshoot/cred*.json"})),
    ];
    let (results, stored) = results(&home, &calls, &[]);
    for index in [0, 1, 3] {
        assert!(results[index].contains("holds credentials"), "{}", results[index]);
    }
    assert!(results[2].contains("No matches found") && results[4].contains("[masked key]"), "{results:?}");
    assert!(results.iter().all(|result| !result.contains(KEY)) && !stored.contains(KEY));
}

#[test]
fn secret_places_are_refused_without_a_user_to_ask() {
    let home = Home::new();
    home.file(".ssh/id_rsa", "the private key");
    home.file("project/.ssh/config", "a host");
    let call = |id: &str, path: &str| Reply::answer().call(id, "read", json!({ "path": path }));
    let server = ModelServer::start([
        call("c1", ".ssh/id_rsa"),
        call("c2", "project/.ssh/config"),
        Reply::answer().text("Ok."),
    ])
    .unwrap();
    set_up(&home, &server, "anthropic-messages");
    let mut command = home.command(&["-p", "--allow", "read", "go"]);
    let output = command.current_dir(home.path("")).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for request in &server.requests()[1..] {
        let result = request.body["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(result.contains("may hold secrets"), "{result}");
    }
}

#[test]
fn commands_do_not_inherit_keys_unless_a_setting_passes_them() {
    let variables = [("ANTHROPIC_API_KEY", KEY), ("GH_TOKEN", "gh-token-of-the-user"), ("GREETING", "hello")];
    let home = Home::new();
    let calls = [("bash", json!({"command": "env"}))];
    let (told, stored) = results(&home, &calls, &variables);
    assert!(told[0].contains("GREETING=hello"), "{told:?}");
    assert!(!told[0].contains("ANTHROPIC_API_KEY") && !told[0].contains("GH_TOKEN"), "{told:?}");
    assert!(!stored.contains(KEY) && !stored.contains("gh-token-of-the-user"));

    let typed = |home: &Home| {
        let mut command = home.command(&["-p", "--no-session", "!env"]);
        let output = command.envs(variables).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let env = typed(&home);
    assert!(
        env.contains("GREETING=hello") && !env.contains("_API_KEY") && !env.contains("GH_TOKEN"),
        "{env}"
    );

    let mut settings: Value =
        serde_json::from_slice(&fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    settings["shell"] = json!({"passVariables": ["GH_TOKEN", "ANTHROPIC_API_KEY"]});
    home.file("offshoot/settings.json", settings.to_string());
    let env = typed(&home);
    assert!(env.contains("GH_TOKEN=gh-token-of-the-user"), "{env}");
    assert!(env.contains("ANTHROPIC_API_KEY=[masked key]"), "a key that is passed is still masked: {env}");
}

#[test]
fn a_project_cannot_pass_variables_on() {
    let home = Home::new();
    home.file("project/.offshoot/settings.json", r#"{"shell": {"passVariables": ["GH_TOKEN"]}}"#);
    let mut command = home.command(&["-p", "--no-session", "--approve", "!env"]);
    let output = command.env("GH_TOKEN", "gh-token").stdin(Stdio::null()).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("gh-token"));
}

/// A command that starts another process in the background and writes the ids of both into files.
pub(crate) const LEAVES_CHILDREN: &str =
    "sleep 600 & echo $! > child.pid; echo $$ > shell.pid; trap '' HUP; sleep 600";

/// Waits for the ids of the processes that [`LEAVES_CHILDREN`] started.
pub(crate) fn started(home: &Home) -> Vec<String> {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let read = |name: &str| fs::read_to_string(home.path("project").join(name)).ok();
        let ids: Vec<String> = ["child.pid", "shell.pid"].iter().filter_map(|name| read(name)).collect();
        if ids.len() == 2 && ids.iter().all(|id| id.ends_with('\n')) {
            return ids.iter().map(|id| id.trim().to_owned()).collect();
        }
        assert!(Instant::now() < patience, "the command did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Tells whether a process runs, and did not only end without being waited for.
fn is_running(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next().map(str::to_owned));
    state.is_some_and(|state| state != "Z" && state != "X")
}

pub(crate) fn wait_until_gone(ids: &[String], why: &str) {
    let patience = Instant::now() + Duration::from_secs(60);
    while ids.iter().any(|id| is_running(id)) {
        assert!(Instant::now() < patience, "{why}: a process of the command still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn signal(name: &str, process: u32) {
    let kill = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(kill.unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_processes_of_a_command_with_the_program() {
    for name in ["TERM", "HUP", "INT"] {
        for typed in [true, false] {
            let home = Home::new();
            let call = Reply::answer().call("c1", "bash", json!({"command": LEAVES_CHILDREN}));
            let server = ModelServer::start([call, Reply::answer().text("Done.")]).unwrap();
            set_up(&home, &server, "anthropic-messages");
            let prompt = if typed { format!("!{LEAVES_CHILDREN}") } else { "go".to_owned() };
            let mut program = home.command(&["-p", "--yes", &prompt]).stdin(Stdio::null()).spawn().unwrap();
            let ids = started(&home);
            signal(name, program.id());
            let status = program.wait().unwrap();
            assert_eq!(status.code(), Some(130), "{name}");
            wait_until_gone(&ids, name);
        }
    }
}
