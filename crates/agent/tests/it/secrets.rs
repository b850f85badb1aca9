//! Secrets: tools do not open them, commands do not inherit them, output does not contain them. A tool opens the judged
//! file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use offshoot_agent::agent::Agent;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::model::{Model, ThinkingLevel};
use offshoot_agent::permission::{Decision, Mode, Permissions, Rule};
use offshoot_agent::secrets::Secrets;
use offshoot_agent::tool::{ToolCall, ToolPlace};
use offshoot_agent::tools::{ReadyCall, ToolBox, UserCommand};
use serde_json::{Value as Json, json};
use session_tree::{Options, Position};

use crate::support::{Reply, Scripted, prompt};

const KEY: &str = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz";

/// A home directory with offshoot's credentials, other credentials, and a project.
struct Home {
    dir: tempfile::TempDir,
}

fn home() -> Home {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in [
        (".config/offshoot/credentials.json", "own needle"),
        (".config/offshoot/settings.json", "settings needle"),
        (".ssh/id_rsa", "ssh needle"),
        (".netrc", "netrc needle"),
        (".claude/.credentials.json", "claude needle"),
        ("project/main.rs", "main needle"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let own = dir.path().join(".config/offshoot/credentials.json");
    fs::hard_link(&own, dir.path().join("project/hard.json")).unwrap();
    symlink(&own, dir.path().join("project/soft.json")).unwrap();
    Home { dir }
}

impl Home {
    fn secrets(&self) -> Secrets {
        let config = self.dir.path().join(".config/offshoot");
        Secrets::new()
            .denying([config.join("credentials.json")])
            .asking_for([config.join("settings.json")])
            .masking([KEY])
    }

    fn place(&self) -> ToolPlace {
        let mut place = ToolPlace::new(self.dir.path(), Cancel::new());
        place.secrets = Arc::new(self.secrets());
        place
    }

    fn ready(&self, tool: &str, arguments: Json) -> ReadyCall {
        let call = ToolCall { id: "c".into(), name: tool.into(), arguments };
        ToolBox::all().check(call, self.place()).unwrap()
    }

    fn decided(&self, mode: Mode, rules: &[&str], tool: &str, arguments: Json) -> Decision {
        let mut permissions = Permissions::new(mode);
        permissions.secrets = Arc::new(self.secrets());
        rules.iter().for_each(|rule| permissions.rules.push(Rule::parse(Decision::Allow, rule).unwrap()));
        let ready = self.ready(tool, arguments);
        permissions.judge_call(&ready).decision
    }

    /// Runs a call without approval.
    async fn run(&self, tool: &str, arguments: Json) -> String {
        let output = self.ready(tool, arguments).run().await;
        output.content[0]["text"].as_str().unwrap().to_owned()
    }
}

/// Returns calls of all tools that open one file.
fn opening(path: &str) -> Vec<(&'static str, Json)> {
    vec![
        ("read", json!({"path": path})),
        ("write", json!({"path": path, "content": "x"})),
        ("edit", json!({"path": path, "edits": [{"oldText": "own", "newText": "x"}]})),
        ("grep", json!({"pattern": "needle", "path": path})),
        ("find", json!({"pattern": "*", "path": path})),
        ("ls", json!({"path": path})),
    ]
}

#[tokio::test]
async fn our_own_credentials_are_denied_to_every_tool_under_every_name() {
    let home = home();
    let own = home.dir.path().join(".config/offshoot/credentials.json");
    let absolute = own.to_str().unwrap().to_owned();
    for path in [
        ".config/offshoot/credentials.json",
        "project/../.config/offshoot/credentials.json",
        "project/soft.json",
        "project/hard.json",
        &absolute,
    ] {
        for (tool, arguments) in opening(path) {
            let decided = home.decided(Mode::AllowAll, &["*"], tool, arguments.clone());
            assert_eq!(decided, Decision::Deny, "{tool} {path}");
            let text = home.run(tool, arguments).await;
            assert!(text.contains("holds credentials"), "{tool} {path}: {text}");
        }
    }
    assert_eq!(fs::read_to_string(own).unwrap(), "own needle");
}

#[tokio::test]
async fn secret_places_are_asked_about_although_the_working_directory_contains_them() {
    let home = home();
    for path in
        [".ssh/id_rsa", ".ssh", ".netrc", ".claude/.credentials.json", ".config/offshoot/settings.json"]
    {
        for (tool, arguments) in opening(path) {
            let decided = |rules: &[&str]| home.decided(Mode::AskFor, rules, tool, arguments.clone());
            assert_eq!(decided(&[]), Decision::Ask, "{tool} {path}");
            assert_eq!(decided(&["*", "read(./**)", "write(./**)"]), Decision::Ask, "{tool} {path}");
        }
    }
    let named = home.decided(Mode::AskFor, &["read(.ssh/*)"], "read", json!({"path": ".ssh/id_rsa"}));
    assert_eq!(named, Decision::Allow, "a rule may name the place");
    let other = home.decided(Mode::AskFor, &[], "read", json!({"path": "project/main.rs"}));
    assert_eq!(other, Decision::Allow);
}

#[test]
fn a_command_that_names_a_secret_is_judged_like_a_tool_that_opens_it() {
    let home = home();
    let decided = |mode, rules: &[&str], command: &str| {
        home.decided(mode, rules, "bash", json!({ "command": command }))
    };
    for command in
        ["cat .config/offshoot/credentials.json", "cp project/hard.json x", "true; cat project/soft.json"]
    {
        assert_eq!(decided(Mode::AllowAll, &["bash"], command), Decision::Deny, "{command}");
    }
    for command in ["cat .ssh/id_rsa", "cat $HOME/.ssh/id_rsa", "cat ~/.netrc", "tool --file=.ssh/id_rsa"] {
        assert_eq!(decided(Mode::AskFor, &["bash"], command), Decision::Ask, "{command}");
    }
    assert_eq!(decided(Mode::AskFor, &["bash(cat *)"], "cat project/main.rs"), Decision::Allow);
    assert_eq!(
        decided(Mode::AskFor, &["bash(cat .netrc)"], "cat .netrc"),
        Decision::Allow,
        "a rule may name it"
    );
}

#[tokio::test]
async fn a_search_skips_secrets_and_says_so() {
    let home = home();
    let found = home.run("grep", json!({"pattern": "needle"})).await;
    assert!(found.starts_with("project/main.rs:1: main needle\n\n["), "{found}");
    assert!(found.contains("may hold secrets"), "{found}");
    let found = home.run("find", json!({"pattern": "*"})).await;
    assert!(found.contains("project/main.rs"), "{found}");
    for name in ["credentials.json", "id_rsa", ".netrc", "hard.json"] {
        assert!(!found.contains(name), "{name}: {found}");
    }
    // A search that names the place was approved.
    let found = home.run("grep", json!({"pattern": "needle", "path": ".ssh"})).await;
    assert_eq!(found, ".ssh/id_rsa:1: ssh needle");
}

#[tokio::test]
async fn a_path_that_was_replaced_after_it_was_judged_is_not_opened() {
    let home = home();
    let link = home.dir.path().join("project/link");
    symlink("main.rs", &link).unwrap();
    fs::create_dir(home.dir.path().join("project/dir")).unwrap();
    fs::write(home.dir.path().join("project/dir/id_rsa"), "harmless").unwrap();
    let calls = [
        home.ready("read", json!({"path": "project/link"})),
        home.ready("read", json!({"path": "project/dir/id_rsa"})),
    ];
    fs::remove_file(&link).unwrap();
    symlink("../.ssh/id_rsa", &link).unwrap();
    fs::remove_dir_all(home.dir.path().join("project/dir")).unwrap();
    symlink("../.ssh", home.dir.path().join("project/dir")).unwrap();
    let mut texts = Vec::new();
    for ready in calls {
        let output = ready.run().await;
        texts.push(output.content[0]["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(texts[0], "main needle", "the file that was judged");
    assert!(texts[1].contains("was replaced after the call was judged"), "{}", texts[1]);
}

#[tokio::test]
async fn a_search_walks_the_directory_that_was_judged() {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in [("notes/x", "needle OUTSIDE"), ("project/notes/x", "needle INSIDE")] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::create_dir_all(dir.path().join("project/b/c")).unwrap();
    symlink("b/c", dir.path().join("project/a")).unwrap();
    let place = ToolPlace::new(dir.path().join("project"), Cancel::new());
    for (tool, arguments, expected) in [
        ("grep", json!({"pattern": "needle", "path": "a/../../notes"}), "notes/x:1: needle INSIDE"),
        ("find", json!({"pattern": "*", "path": "a/../../notes"}), "notes/x"),
        ("ls", json!({"path": "a/../../notes"}), "x"),
    ] {
        let call = ToolCall { id: "c".into(), name: tool.into(), arguments };
        let output = ToolBox::all().check(call, place.clone()).unwrap().run().await;
        assert_eq!(output.content[0]["text"], expected, "{tool}");
    }
}

fn agent_with(calls: Vec<(&'static str, &'static str, Json)>, dir: &Path) -> (Agent, Arc<Scripted>) {
    let model = Scripted::new(vec![Reply::Calls("look", calls), Reply::Text("done")]);
    let shared: Arc<dyn Model> = model.clone();
    let session = Options::new().in_memory(dir.to_str().unwrap()).unwrap();
    let agent = Agent::new(session, dir).with_model(shared, ThinkingLevel::Off).with_tools(ToolBox::all());
    (agent, model)
}

#[tokio::test]
async fn without_an_approver_a_call_that_writes_or_runs_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "content of a").unwrap();
    let calls = vec![
        ("c1", "read", json!({"path": "a"})),
        ("c2", "write", json!({"path": "a", "content": "x"})),
        ("c3", "edit", json!({"path": "a", "edits": [{"oldText": "content", "newText": "x"}]})),
        ("c4", "bash", json!({"command": "touch b"})),
        ("c5", "read", json!({"path": "/etc/hostname"})),
    ];
    let (mut agent, model) = agent_with(calls.clone(), dir.path());
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    let asked = model.asked(1);
    assert_eq!(asked[2], "toolResult: content of a");
    assert!(asked[3..7].iter().all(|result| result.starts_with("toolResult: not allowed: ")), "{asked:?}");
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "content of a");
    assert!(!dir.path().join("b").exists());

    let (agent, _) = agent_with(calls, dir.path());
    let mut agent = agent.with_approver(Arc::new(Permissions::new(Mode::AllowAll)));
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert!(dir.path().join("b").exists());
}

#[tokio::test]
async fn keys_are_masked_before_output_is_stored_or_sent() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("env"), format!("KEY={KEY}\n")).unwrap();
    fs::write(dir.path().join("other"), format!("OLD={KEY}\n")).unwrap();
    let calls = vec![
        ("c1", "read", json!({"path": "env"})),
        ("c2", "bash", json!({"command": "cat env"})),
        ("c3", "grep", json!({"pattern": "KEY"})),
        ("c4", "write", json!({"path": "other", "content": "KEY=none\n"})),
    ];
    let (agent, model) = agent_with(calls, dir.path());
    let mut agent = agent
        .with_approver(Arc::new(Permissions::new(Mode::AllowAll)))
        .with_secrets(Secrets::new().masking([KEY]));
    agent.prompt(prompt("go"), &Cancel::new()).await.unwrap();
    assert_eq!(model.asked(1)[2], "toolResult: KEY=[masked key]\n");
    fs::write(dir.path().join("env"), KEY).unwrap();
    let command = UserCommand::parse("!cat env").unwrap();
    agent.run_user_command(&command, &Cancel::new()).await.unwrap().appended.unwrap();
    let session = agent.session();
    let stored: Vec<String> = session
        .branch_path(Position::Leaf)
        .into_iter()
        .map(|node| {
            String::from_utf8_lossy(session.entry_at(node).unwrap().to_message().unwrap().raw()).into_owned()
        })
        .collect();
    assert!(stored.len() >= 7, "{stored:?}");
    assert!(stored.iter().all(|message| !message.contains(KEY)), "{stored:?}");
    assert_eq!(stored.iter().filter(|message| message.contains("[masked key]")).count(), 5, "{stored:?}");
}

#[tokio::test]
async fn commands_do_not_inherit_what_is_withheld_unless_it_is_passed() {
    // Cargo sets this variable for tests.
    let name = "CARGO_MANIFEST_DIR".to_owned();
    let dir = tempfile::tempdir().unwrap();
    let said = async |secrets: Secrets| {
        let mut place = ToolPlace::new(dir.path(), Cancel::new());
        place.secrets = Arc::new(secrets);
        let arguments = json!({"command": "echo [$CARGO_MANIFEST_DIR]"});
        let call = ToolCall { id: "c".into(), name: "bash".into(), arguments };
        let output = ToolBox::all().check(call, place).unwrap().run().await;
        output.content[0]["text"].as_str().unwrap().to_owned()
    };
    let value = std::env::var(&name).unwrap();
    assert_eq!(said(Secrets::new()).await, format!("[{value}]\n"));
    let withheld = said(Secrets::new().withholding([name.clone()])).await;
    assert!(withheld.starts_with("[]\n") && withheld.contains("Withheld from commands: CARGO_MANIFEST_DIR"));
    assert_eq!(
        said(Secrets::new().withholding([name.clone()]).passing([name])).await,
        format!("[{value}]\n")
    );
}
