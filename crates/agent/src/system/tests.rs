use super::*;

fn tool(name: &str, description: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: description.into(), parameters: serde_json::json!({}) }
}

#[test]
fn files_of_outer_directories_come_first_and_agents_wins_over_claude() {
    let home = tempfile::tempdir().unwrap();
    let inner = home.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    fs::write(home.path().join("a/CLAUDE.md"), "outer\n").unwrap();
    fs::write(inner.join("AGENTS.md"), "inner").unwrap();
    fs::write(inner.join("CLAUDE.md"), "not this").unwrap();
    let texts = |root: &Path| -> Vec<String> {
        context_files(root, &inner).into_iter().map(|file| file.text).collect()
    };
    assert_eq!(texts(home.path()), ["outer", "inner"]);
    assert_eq!(texts(&inner), ["inner"], "what lies above the root is not of the project");
    assert_eq!(texts(Path::new("/elsewhere")), ["inner"]);
}

#[test]
fn a_link_that_leads_out_of_the_project_is_not_followed() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    fs::create_dir_all(project.join("docs")).unwrap();
    fs::write(home.path().join("key"), "secret").unwrap();
    fs::write(project.join("docs/agents.md"), "inside").unwrap();
    symlink(home.path().join("key"), project.join("AGENTS.md")).unwrap();
    assert_eq!(context_files(&project, &project), []);
    fs::remove_file(project.join("AGENTS.md")).unwrap();
    symlink("docs/agents.md", project.join("AGENTS.md")).unwrap();
    assert_eq!(context_files(&project, &project)[0].text, "inside");
}

#[test]
fn a_directory_is_no_context_file_and_invalid_utf8_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("AGENTS.md")).unwrap();
    assert_eq!(context_file(home.path()), None);
    fs::write(home.path().join("CLAUDE.md"), [b'a', 0xff, b'b']).unwrap();
    assert_eq!(context_file(home.path()).unwrap().text, "a\u{fffd}b");
}

#[test]
fn instructions_of_the_user_replace_the_default() {
    let instructions = Instructions {
        base: Some("You are a poet.\n".into()),
        appended: vec!["Rhyme.".into()],
        ..Instructions::default()
    };
    let prompt = system_prompt(Path::new("/p"), &[tool("read", "Reads.")], &instructions);
    assert_eq!(prompt, "You are a poet.\n\nRhyme.\n\nThe working directory is /p.");
}

#[test]
fn a_context_file_that_never_ends_is_cut_between_two_characters() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("AGENTS.md"), format!("a{}", "ä".repeat(100_000))).unwrap();
    let text = context_file(home.path()).unwrap().text;
    assert_eq!(text.len() as u64, LONGEST - 1);
    assert!(text.ends_with('ä'));
}

#[test]
fn the_same_project_gives_the_same_prompt() {
    let tools = [tool("read", "Reads a file. More words."), tool("bash", "Runs a command")];
    let files = vec![ContextFile { path: "/p/AGENTS.md".into(), text: "Use tabs.".into() }];
    let instructions = Instructions { files, ..Instructions::default() };
    let prompt = system_prompt(Path::new("/p"), &tools, &instructions);
    assert!(prompt.contains("\n- read: Reads a file\n- bash: Runs a command\n"), "{prompt}");
    assert!(prompt.ends_with("\n\n# /p/AGENTS.md\n\nUse tabs.\n\nThe working directory is /p."), "{prompt}");
    assert_eq!(prompt, system_prompt(Path::new("/p"), &tools, &instructions));
}
