use std::fs;

use std::path::Path;

use futures_util::FutureExt;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;
use crate::cancel::Cancel;
use crate::tool::{ToolCall, ToolPlace};
use crate::tools::ToolBox;

fn ready(cwd: &Path, tool: &str, arguments: Json) -> ReadyCall {
    let call = ToolCall { id: "1".into(), name: tool.into(), arguments };
    ToolBox::all().check(call, ToolPlace::new(cwd, Cancel::new())).unwrap()
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
        ("git log --oneline", Some("bash(git log --oneline)")),
        ("git diff", Some("bash(git diff)")),
        ("git", Some("bash(git)")),
        ("go test ./...", Some("bash(go test ./...)")),
        ("make 'a b'", None),
        ("make \n rm x", None),
        ("make > out", None),
        ("make & rm x", None),
        ("make | sh", None),
        ("make <<X", None),
        ("`make`", None),
        ("~/x", None),
        ("ma{ke,}", None),
        ("A=1 make", None),
        ("$(x) y", None),
        ("make && rm x", None),
        ("echo *", None),
    ] {
        assert_eq!(bash(command).as_deref(), offered, "{command}");
    }
}

#[test]
fn always_never_allows_more_than_the_command_that_was_shown() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["cargo test -p x", "ls -l", "make", "git status", "git log", "echo hello"] {
        let rule = always_rule(&ready(dir.path(), "bash", json!({"command": command}))).unwrap();
        let mut permissions = Permissions::new(Mode::AskFor);
        permissions.rules.push(rule);
        let decided = |command: &str| {
            permissions.judge_call(&ready(dir.path(), "bash", json!({"command": command}))).decision
        };
        assert_eq!(decided(command), Decision::Allow, "{command}");
        for more in
            ["; rm x", " && rm x", " | sh", " > out", " $(rm x)", " `rm x`", "\nrm x", " & rm x", " <(rm x)"]
        {
            assert_eq!(decided(&format!("{command}{more}")), Decision::Ask, "{command}{more}");
        }
        for before in ["A=1 ", "sudo ", "eval ", "env ", "time ", "! "] {
            assert_eq!(decided(&format!("{before}{command}")), Decision::Ask, "{before}{command}");
        }
    }
}

#[test]
fn always_for_a_path_outside_allows_this_path_and_this_tool() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["project", "other", "other/[a]"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    std::os::unix::fs::symlink("../other", root.join("project/link")).unwrap();
    let offered = |tool: &str, path: &str| {
        let arguments = json!({"path": path, "pattern": "x"});
        always(&root.join("project"), tool, arguments)
    };
    let other = root.join("other");
    for (tool, path, rule) in [
        ("read", "../other/file", Some(format!("read({}/file)", other.display()))),
        ("read", "link/file", Some(format!("read({}/file)", other.display()))),
        ("ls", "link", Some(format!("ls({})", other.display()))),
        ("grep", "../other", Some(format!("grep({})", other.display()))),
        ("ls", "../other/[a]", None),
        ("read", "../other/*", None),
        ("read", "../**", None),
    ] {
        assert_eq!(offered(tool, path), rule, "{tool} {path}");
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
    approver: Approvals,
    requests: UnboundedReceiver<ApprovalRequest>,
}

fn approving(rules: &[(Decision, &str)]) -> Approving {
    let mut permissions = Permissions::new(Mode::AskFor);
    rules.iter().for_each(|(decision, text)| permissions.rules.push(Rule::parse(*decision, text).unwrap()));
    let (dir, approvals) = (tempfile::tempdir().unwrap(), Approvals::default());
    let requests = approvals.register();
    *approvals.permissions() = permissions;
    Approving { dir, approver: approvals, requests }
}

impl Approving {
    /// Sends a call for approval and answers with the result of `decide`.
    async fn ask(
        &mut self,
        tool: &str,
        arguments: Json,
        decide: impl FnOnce(&ApprovalRequest) -> ApprovalAnswer,
    ) -> Approval {
        let ready = ready(self.dir.path(), tool, arguments);
        let request = &ready;
        let answer = async {
            let asked = self.requests.recv().await.unwrap();
            let answer = decide(&asked);
            asked.answer(answer);
        };
        tokio::join!(self.approver.approve(request), answer).0
    }
}

fn no() -> ApprovalAnswer {
    ApprovalAnswer::No(String::new())
}

#[tokio::test]
async fn a_question_shows_the_change_and_takes_a_reason() {
    let mut approving = approving(&[]);
    fs::create_dir(approving.dir.path().join("src")).unwrap();
    fs::write(approving.dir.path().join("src/a.txt"), "one\ntwo\n").unwrap();
    let edit = json!({"path": "src/a.txt", "edits": [{"oldText": "two", "newText": "2"}]});
    let approval = approving
        .ask("edit", edit.clone(), |asked| {
            assert_eq!(asked.diff(), " 1 one\n-2 two\n+2 2");
            let change = asked.change.clone().unwrap();
            assert_eq!((change.old.as_deref(), change.new.as_str()), (Some("one\ntwo\n"), "one\n2\n"));
            assert!(asked.about.starts_with("it changes ") && asked.about.ends_with("src/a.txt"));
            assert_eq!(asked.rule.as_ref().unwrap().to_string(), "write(src/**)");
            ApprovalAnswer::No("keep the words".to_owned())
        })
        .await;
    assert_eq!(approval, Approval::No("declined by the user: keep the words".to_owned()));
    let write = json!({"path": "new.txt", "content": "a\nb\n"});
    let approval = approving
        .ask("write", write, |asked| {
            assert_eq!(asked.diff(), "+1 a\n+2 b");
            assert_eq!(asked.change.clone().unwrap().old, None);
            ApprovalAnswer::Yes
        })
        .await;
    assert_eq!(approval, Approval::Yes);
    assert_eq!(
        approving.ask("edit", edit.clone(), |_| no()).await,
        Approval::No("declined by the user".to_owned())
    );
    assert_eq!(approving.ask("edit", edit.clone(), |_| ApprovalAnswer::Always).await, Approval::Yes);
    let ready = ready(approving.dir.path(), "edit", edit);
    let again = approving.approver.approve(&ready).now_or_never();
    assert_eq!(again, Some(Approval::Yes), "always");
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_is_not_asked_about() {
    let approving = approving(&[]);
    let edit = json!({"path": "none", "edits": [{"oldText": "a", "newText": "b"}]});
    let ready = ready(approving.dir.path(), "edit", edit);
    let approval = approving.approver.approve(&ready).await;
    assert_eq!(approval, Approval::No("none does not exist".to_owned()));
}

#[tokio::test]
async fn a_question_names_every_file_whatever_rule_asks_it() {
    let mut approving = approving(&[(Decision::Ask, "write(a.txt)")]);
    let cwd = approving.dir.path().canonicalize().unwrap();
    let changes = format!("it changes {}", cwd.join("a.txt").display());
    // A rule that asks beats one that allows, so "Always" would have no effect.
    let write = json!({"path": "a.txt", "content": ""});
    approving
        .ask("write", write, |asked| {
            assert_eq!(asked.about, format!("asked because of the rule `write(a.txt)`\n{changes}"));
            assert_eq!(asked.rule, None);
            no()
        })
        .await;
    // A link is shown with the path that it leads to.
    let other = tempfile::tempdir().unwrap();
    let real = other.path().canonicalize().unwrap().join("b.txt");
    std::os::unix::fs::symlink(&real, cwd.join("link")).unwrap();
    approving
        .ask("write", json!({"path": "link", "content": ""}), |asked| {
            assert_eq!(asked.about, format!("link\nit changes {}", real.display()));
            assert_eq!(asked.rule, None);
            no()
        })
        .await;
}

#[tokio::test]
async fn places_of_secrets_are_asked_about_each_time() {
    let mut approving = approving(&[]);
    approving
        .ask("read", json!({"path": ".ssh/id_rsa"}), |asked| {
            assert!(asked.about.contains("may hold secrets"), "{}", asked.about);
            assert_eq!(asked.rule, None);
            no()
        })
        .await;
}

#[tokio::test]
async fn without_a_front_end_a_call_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let approver = Approvals::default();
    let Approval::No(reason) = approver.approve(&ready(dir.path(), "bash", json!({"command": "make"}))).await
    else {
        panic!("it was allowed");
    };
    assert!(reason.ends_with("the user cannot be asked"), "{reason}");
}
