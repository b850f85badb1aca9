//! Skills and prompt templates: their places, the system prompt, and the prompts that are sent.

mod packages;

use serde_json::{Value as Json, json};
use testkit::model_server::{ModelServer, Reply};

use crate::rpc::Program;
use crate::support::{Home, Run};
use crate::talk::set_up;

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo {name} well.\n")
}

/// Sends a prompt; gives the system prompt, the last prompt, and the run.
fn asked(home: &Home, arguments: &[&str]) -> (String, String, Run) {
    asked_with_input(home, arguments, b"")
}

fn asked_with_input(home: &Home, arguments: &[&str], input: &[u8]) -> (String, String, Run) {
    let server = ModelServer::start([Reply::answer().text("ok")]).unwrap();
    let settings: Json = match std::fs::read(home.path("offshoot/settings.json")) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap(),
        Err(_) => json!({}),
    };
    set_up(home, &server, "openai-completions");
    let mut with: Json =
        serde_json::from_slice(&std::fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    for (key, value) in settings.as_object().unwrap() {
        if with.get(key).is_none() {
            with[key] = value.clone();
        }
    }
    home.file("offshoot/settings.json", with.to_string());
    let run = home.run_with_input(&[arguments, &["--no-session"]].concat(), input);
    run.ok();
    let body = server.requests().remove(0).body;
    let messages = body["messages"].as_array().unwrap();
    let text = |message: &Json| match &message["content"] {
        Json::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap().to_owned(),
    };
    (text(&messages[0]), text(messages.last().unwrap()), run)
}

/// The names of the skills in a system prompt.
fn names(system: &str) -> Vec<&str> {
    system.split("<name>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect()
}

#[test]
fn skills_of_all_places_are_listed_and_those_of_a_project_only_after_trust() {
    let home = Home::new();
    home.file("project/.git/HEAD", "");
    for (place, name) in [
        ("offshoot/skills", "own"),
        ("pi/skills", "pis"),
        (".agents/skills", "agents"),
        (".claude/skills", "claude"),
        ("project/.offshoot/skills", "project-own"),
        ("project/.pi/skills", "project-pi"),
        ("project/.agents/skills", "project-agents"),
        ("project/.claude/skills", "project-claude"),
        ("listed/deep", "listed"),
    ] {
        home.file(&format!("{place}/{name}/SKILL.md"), skill(name));
    }
    home.file("offshoot/settings.json", r#"{"skills": ["~/listed"], "piExtensions": true}"#);
    let users = ["listed", "own", "agents", "claude", "pis"];
    let (system, _, run) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), users);
    assert!(run.err().contains("is not trusted yet"), "{run}");
    let (system, ..) = asked(&home, &["-p", "hi", "--approve"]);
    let projects = ["project-own", "project-pi", "project-agents", "project-claude"];
    assert_eq!(names(&system), [&projects[..], &users[..]].concat());
    let (system, ..) = asked(&home, &["-p", "hi", "--approve", "--no-skills"]);
    assert_eq!(names(&system), [] as [&str; 0]);
    let path = home.path("listed").display().to_string();
    let (system, ..) = asked(&home, &["-p", "hi", "--no-skills", "--skill", &path]);
    assert_eq!(names(&system), ["listed"]);
    let (system, ..) = asked(&home, &["-p", "hi", "--tools", "grep"]);
    assert_eq!(names(&system), [] as [&str; 0], "no tool can read them");
    home.file(
        "offshoot/settings.json",
        r#"{"skills": ["!skills/own", "-skills/claude"], "piExtensions": true}"#,
    );
    let (system, ..) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), ["agents", "pis"]);
}

#[test]
fn skills_above_a_project_are_part_of_what_is_trusted() {
    let home = Home::new();
    home.file("project/.git/HEAD", "");
    home.file("project/.agents/skills/top/SKILL.md", skill("top"));
    home.file("project/inner/.agents/skills/inner/SKILL.md", skill("inner"));
    let inner = home.path("project/inner");
    let trust = |arguments: &[&str]| {
        let output = home.command(arguments).current_dir(&inner).output().unwrap();
        format!("{}{}", String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert!(trust(&["trust", "--yes"]).contains("../.agents/skills/top/SKILL.md"));
    assert!(trust(&["trust"]).contains("trusted"));
    home.file("project/.agents/skills/top/SKILL.md", "other");
    assert!(trust(&["trust"]).contains("changed"));
}

#[test]
fn a_skill_is_sent_with_its_directory_and_its_arguments() {
    let home = Home::new();
    let path = home.file("offshoot/skills/pdf/SKILL.md", skill("pdf"));
    let directory = home.path("offshoot/skills/pdf").display().to_string();
    let sent = format!(
        "<skill name=\"pdf\" location=\"{path}\">\nReferences are relative to {directory}.\n\nDo pdf well.\n</skill>"
    );
    let (system, prompt, _) = asked(&home, &["-p", "/skill:pdf a b"]);
    assert_eq!(prompt, format!("{sent}\n\na b"));
    assert!(system.contains(&format!("<location>{path}</location>")), "{system}");
    let (_, prompt, _) = asked(&home, &["-p", "/skill:pdf"]);
    assert_eq!(prompt, sent);
    let run = home.run(&["-p", "/skill:gone", "--no-session"]);
    assert!(run.code != 0 && run.err().contains("there is no command /skill:gone"), "{run}");
}

#[test]
fn damaged_skills_are_warnings_and_the_rest_is_loaded() {
    let home = Home::new();
    home.file("offshoot/skills/good/SKILL.md", skill("good"));
    home.file("offshoot/skills/bad/SKILL.md", "---\ndescription: a: b\n---\n");
    home.file("offshoot/skills/empty/SKILL.md", "");
    home.file("offshoot/skills/zweit/SKILL.md", skill("good"));
    std::os::unix::fs::symlink(home.path("offshoot"), home.path("offshoot/skills/loop")).unwrap();
    let (system, _, run) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), ["good"]);
    for text in ["bad/SKILL.md: line 2", "empty/SKILL.md: it has no description", "has the same name, `good`"]
    {
        assert!(run.err().contains(text), "{text}: {run}");
    }
}

#[test]
fn a_template_is_sent_with_its_arguments_filled_in() {
    let home = Home::new();
    home.file("offshoot/prompts/fix.md", "---\ndescription: Fix\n---\nFix $1 in ${2:-all files}: ${@:2}\n");
    home.file("offshoot/prompts/tree.md", "Not this.");
    home.file("other/more.md", "More of $ARGUMENTS");
    let (_, prompt, run) = asked(&home, &["-p", "/fix 'the bug'"]);
    assert_eq!(prompt, "Fix the bug in all files: ");
    assert!(run.err().contains("tree.md: /tree is a command of offshoot"), "{run}");
    let path = home.path("other").display().to_string();
    let (_, prompt, _) = asked(&home, &["-p", "/more of it", "--prompt-template", &path]);
    assert_eq!(prompt, "More of of it");
    let (_, prompt, _) = asked(&home, &["-p", " /fix it"]);
    assert_eq!(prompt, " /fix it", "a space before the slash makes it a prompt");
    let (_, prompt, _) = asked_with_input(&home, &["-p", "really"], b"/fix it");
    assert_eq!(prompt, "/fix it\n\nreally", "a pipe may have any author");
    let run = home.run(&["-p", "/fix it", "--no-session", "--no-prompt-templates"]);
    assert!(run.code != 0 && run.err().contains("there is no command /fix"), "{run}");
}

#[test]
fn templates_of_a_project_need_trust() {
    let home = Home::new();
    home.file("project/.pi/prompts/fix.md", "Fix it.");
    home.file("project/.offshoot/prompts/fix.md", "Fix it well.");
    assert!(home.run(&["-p", "/fix", "--no-session"]).code != 0);
    let (_, prompt, run) = asked(&home, &["-p", "/fix", "--approve"]);
    assert_eq!(prompt, "Fix it well.");
    assert!(run.err().contains("has the same name"), "{run}");
}

#[test]
fn a_program_is_told_the_commands_and_uses_them() {
    let home = Home::new();
    home.file("offshoot/skills/pdf/SKILL.md", skill("pdf"));
    home.file("offshoot/prompts/fix.md", "---\ndescription: Fix\n---\nFix $1.");
    let server = ModelServer::start([Reply::answer().text("ok")]).unwrap();
    set_up(&home, &server, "openai-completions");
    let mut program = Program::start(&home, &["--mode", "rpc", "--no-session"]);
    let commands = program.peer.data(json!({"type": "get_commands"}));
    assert_eq!(
        commands["commands"],
        json!([
            {"name": "fix", "description": "Fix", "source": "prompt"},
            {"name": "skill:pdf", "description": "Does pdf.", "source": "skill"},
        ])
    );
    program.peer.data(json!({"type": "prompt", "message": "/fix it"}));
    program.peer.event("agent_end");
    let body = server.requests().remove(0).body;
    let prompt = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(prompt.to_string().contains("Fix it."), "{prompt}");
}

#[cfg(feature = "extensions")]
#[test]
fn extensions_add_skills_and_templates() {
    let home = Home::new();
    home.file("more/skills/pdf/SKILL.md", skill("pdf"));
    home.file("more/fix.md", "Fix $1.");
    let more = home.path("more").display().to_string();
    let extension = format!(
        r#"export default (pi) => {{
            pi.on("resources_discover", () => ({{ skillPaths: ["{more}/skills"], promptPaths: ["{more}/fix.md"] }}));
            pi.registerCommand("fix", {{ handler: async () => {{}} }});
        }};"#
    );
    home.file("offshoot/extensions/x.ts", extension.replace("pi.registerCommand", "0 && pi.registerCommand"));
    let (system, prompt, _) = asked(&home, &["-p", "/fix it"]);
    assert_eq!((names(&system), prompt.as_str()), (vec!["pdf"], "Fix it."));
    home.file("offshoot/extensions/x.ts", extension);
    home.run(&["-p", "/fix it", "--no-session"]).ok();
}
