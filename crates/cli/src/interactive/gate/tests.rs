use std::fs;

use futures_util::FutureExt;
use offshoot_agent::cancel::Cancel;
use offshoot_agent::tool::{ToolCall, ToolPlace};
use offshoot_agent::tools::{ReadyCall, ToolBox};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

fn ready(cwd: &Path, tool: &str, arguments: Json) -> ReadyCall {
    let call = ToolCall { id: "1".into(), name: tool.into(), arguments };
    ToolBox::all().check(call).unwrap().resolved(ToolPlace::new(cwd, Cancel::new()))
}

fn always(cwd: &Path, tool: &str, arguments: Json) -> Option<String> {
    let ready = ready(cwd, tool, arguments);
    always_rule(&ready).map(|rule| rule.to_string())
}

#[test]
fn always_never_offers_more_than_is_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let bash = |command: &str| always(dir.path(), "bash", json!({"command": command}));
    for (command, offered) in [
        ("cargo test -p x", Some("bash(cargo test *)")),
        ("cargo publish", Some("bash(cargo publish)")),
        ("ls -l src", Some("bash(ls *)")),
        ("make", Some("bash(make)")),
        ("cat src/main.rs", Some("bash(cat src/main.rs)")),
        ("rm x", None),
        ("rm -rf build", None),
        ("/bin/rm x", None),
        ("sudo ls", None),
        ("sudo rm -rf /", None),
        ("env rm x", None),
        ("find . -delete", None),
        ("xargs rm", None),
        ("bash script.sh", None),
        ("python3 -c x", None),
        ("node -e x", None),
        ("curl -o x http://y", None),
        ("ssh host ls", None),
        ("dd if=a of=b", None),
        ("chmod -R 777 .", None),
        ("git push --force", None),
        ("git clean -fdx", None),
        ("git reset --hard", None),
        ("git checkout .", None),
        ("git status", Some("bash(git status *)")),
        ("A=1 make", None),
        ("$(x) y", None),
        ("make && rm x", None),
        ("echo *", None),
    ] {
        assert_eq!(bash(command).as_deref(), offered, "{command}");
    }
}

#[test]
fn always_never_offers_to_write_the_whole_project() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
    let write = |path: &str| always(dir.path(), "write", json!({"path": path, "content": ""}));
    for (path, offered) in [
        ("src/main.rs", Some("write(src/**)")),
        ("src/deep/main.rs", Some("write(src/deep/**)")),
        ("README.md", Some("write(./README.md)")),
        ("./src/../README.md", Some("write(./README.md)")),
        (".git/hooks/pre-commit", None),
        (".env", None),
        (".github/workflows/x.yml", None),
        ("../other/file", None),
        ("/etc/hosts", None),
    ] {
        assert_eq!(write(path).as_deref(), offered, "{path}");
    }
}

struct Approving {
    dir: tempfile::TempDir,
    approver: TerminalApprover,
    questions: UnboundedReceiver<Asked>,
}

fn world(rules: &[(Decision, &str)]) -> Approving {
    let mut permissions = Permissions::new(Mode::AskFor);
    rules.iter().for_each(|(decision, text)| permissions.rules.push(Rule::parse(*decision, text).unwrap()));
    let (ask, questions) = unbounded_channel();
    let dir = tempfile::tempdir().unwrap();
    Approving { dir, approver: TerminalApprover::new(permissions, ask), questions }
}

impl Approving {
    /// Asks about a call and gives the answer that `decide` makes of the question.
    async fn ask(
        &mut self,
        tool: &str,
        arguments: Json,
        decide: impl FnOnce(&Asked) -> Option<Decided>,
    ) -> Approval {
        let ready = ready(self.dir.path(), tool, arguments);
        let request = &ready;
        let answer = async {
            let asked = self.questions.recv().await.unwrap();
            let decided = decide(&asked);
            asked.give(decided);
        };
        tokio::join!(self.approver.approve(request), answer).0
    }
}

fn decided(answer: usize, reason: &str) -> Option<Decided> {
    Some(Decided { answer, reason: reason.to_owned() })
}

#[tokio::test]
async fn a_question_shows_the_change_and_takes_a_reason() {
    let mut world = world(&[]);
    fs::create_dir(world.dir.path().join("src")).unwrap();
    fs::write(world.dir.path().join("src/a.txt"), "one\ntwo\n").unwrap();
    let edit = json!({"path": "src/a.txt", "edits": [{"oldText": "two", "newText": "2"}]});
    let approval = world
        .ask("edit", edit.clone(), |asked| {
            assert_eq!(asked.diff, " 1 one\n-2 two\n+2 2");
            assert!(asked.about.starts_with("it changes ") && asked.about.ends_with("src/a.txt"));
            assert_eq!(asked.rule.as_ref().unwrap().to_string(), "write(src/**)");
            decided(3, "keep the words")
        })
        .await;
    assert_eq!(approval, Approval::No("declined by the user: keep the words".to_owned()));
    let write = json!({"path": "new.txt", "content": "a\nb\n"});
    let approval = world
        .ask("write", write, |asked| {
            assert_eq!(asked.diff, "+1 a\n+2 b");
            decided(0, "")
        })
        .await;
    assert_eq!(approval, Approval::Yes);
    assert_eq!(
        world.ask("edit", edit.clone(), |_| None).await,
        Approval::No("declined by the user".to_owned())
    );
    assert_eq!(world.ask("edit", edit.clone(), |_| decided(1, "")).await, Approval::Yes);
    let ready = ready(world.dir.path(), "edit", edit);
    let again = world.approver.approve(&ready).now_or_never();
    assert_eq!(again, Some(Approval::Yes), "always");
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_is_not_asked_about() {
    let world = world(&[]);
    let edit = json!({"path": "none", "edits": [{"oldText": "a", "newText": "b"}]});
    let ready = ready(world.dir.path(), "edit", edit);
    let approval = world.approver.approve(&ready).await;
    assert_eq!(approval, Approval::No("none does not exist".to_owned()));
}

#[tokio::test]
async fn a_question_names_every_file_whatever_rule_asks_it() {
    let mut world = world(&[(Decision::Ask, "write(a.txt)")]);
    let cwd = world.dir.path().canonicalize().unwrap();
    let changes = format!("it changes {}", cwd.join("a.txt").display());
    // A rule that asks beats one that allows, so "Always" would have no effect.
    let write = json!({"path": "a.txt", "content": ""});
    world
        .ask("write", write, |asked| {
            assert_eq!(asked.about, format!("asked because of the rule `write(a.txt)`\n{changes}"));
            assert_eq!(asked.rule, None);
            None
        })
        .await;
    // A link is shown with the path that it leads to.
    let other = tempfile::tempdir().unwrap();
    let real = other.path().canonicalize().unwrap().join("b.txt");
    std::os::unix::fs::symlink(&real, cwd.join("link")).unwrap();
    world
        .ask("write", json!({"path": "link", "content": ""}), |asked| {
            assert_eq!(asked.about, format!("link\nit changes {}", real.display()));
            assert_eq!(asked.rule, None);
            None
        })
        .await;
}

#[tokio::test]
async fn places_of_secrets_are_asked_about_each_time() {
    let mut world = world(&[]);
    world
        .ask("read", json!({"path": ".ssh/id_rsa"}), |asked| {
            assert!(asked.about.contains("may hold secrets"), "{}", asked.about);
            assert_eq!(asked.rule, None);
            None
        })
        .await;
}
