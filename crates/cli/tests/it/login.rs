//! Keys: asked for without an echo or read from a pipe, kept in a file of their owner alone, never shown.

use std::fs;

use insta::assert_snapshot;

use crate::support::Home;

const KEY: &str = "sk-ant-0123456789";

fn stored(home: &Home) -> String {
    fs::read_to_string(home.path("offshoot/credentials.json")).unwrap_or_default()
}

#[test]
fn a_key_from_a_pipe_is_stored_for_its_owner_alone() {
    let home = Home::new();
    let run = home.run_with_input(&["login", "anthropic"], format!("{KEY}\n").as_bytes());
    assert_snapshot!(run, @"
    --- words
    stored the key of anthropic in [home]/offshoot/credentials.json
    ");
    assert!(stored(&home).contains(KEY));
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(home.path("offshoot/credentials.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let list = home.run(&["login", "--list"]);
    assert!(!format!("{list}").contains(KEY));
    let row = |name: &str| list.ok().lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row("anthropic").contains("yes") && row("anthropic").contains("credentials.json"), "{list}");
    assert!(row("openai").contains("no") && row("openai").contains("set OPENAI_API_KEY"), "{list}");
    assert!(row("ollama").contains("not needed"), "{list}");
    assert!(home.run(&["models", "anthropic/claude-haiku-4-5"]).ok().contains("yes"));
    assert_snapshot!(home.run(&["logout", "anthropic"]), @"
    --- words
    forgot the key of anthropic
    ");
    assert_snapshot!(home.run(&["logout", "anthropic"]), @"
    --- words
    error: there is no key of anthropic in [home]/offshoot/credentials.json
    hint: `offshoot login --list` tells where keys are
    --- exit code 1
    ");
    assert!(!stored(&home).contains(KEY));
}

#[test]
fn a_key_that_is_typed_is_not_shown() {
    let home = Home::new();
    let seen = home.at_terminal(100, &["login", "openai"], "(not shown): ", &format!("wrong\u{15}{KEY}\r"));
    assert!(!seen.contains(KEY) && !seen.contains("wrong"), "{seen:?}");
    assert!(seen.contains("stored the key of openai"), "{seen:?}");
    assert!(stored(&home).contains(KEY) && !stored(&home).contains("wrong"));
    let seen = home.at_terminal(100, &["login", "google"], "(not shown): ", &format!("{KEY}\u{3}"));
    assert!(!seen.contains("stored") && !stored(&home).contains("google"), "{seen:?}");
}

#[test]
fn a_user_at_a_terminal_chooses_the_service_from_a_list() {
    let home = Home::new();
    let seen = home.at_terminal(100, &["login"], "which service?", "999\n");
    assert!(seen.contains("  1  anthropic") && seen.contains("no service was chosen"), "{seen:?}");
}

#[test]
fn what_is_no_key_is_refused_without_being_shown() {
    let home = Home::new();
    assert_snapshot!(home.run_with_input(&["login", "anthropic"], b"  \n"), @"
    --- words
    error: no key was given; nothing was changed
    --- exit code 1
    ");
    assert_snapshot!(home.run_with_input(&["login", "anthropic"], b"my secret\npassword"), @"
    --- words
    error: this is no key: it has spaces or other characters that keys do not have
    --- exit code 1
    ");
    assert_snapshot!(home.run_with_input(&["login", "nobody"], KEY.as_bytes()), @"
    --- words
    error: no model service `nobody`
    hint: the services are: anthropic, cerebras, deepseek, google, groq, llamacpp, lmstudio, mistral, ollama, openai, openrouter, vllm, xai
    hint: your own services are named in the setting `providers`
    --- exit code 1
    ");
    assert_snapshot!(home.run_with_input(&["login"], KEY.as_bytes()), @"
    --- words
    error: which service?
    hint: `offshoot login --list` lists them
    --- exit code 2
    ");
    assert_eq!(stored(&home), "");
}

#[test]
fn a_variable_that_overrides_the_file_is_reported() {
    let home = Home::new();
    let mut child = home.command(&["login", "openai"]).env("OPENAI_API_KEY", "sk-env").spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), KEY.as_bytes()).unwrap();
    let words = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(words.contains("note: as long as OPENAI_API_KEY is set, that key is used"), "{words}");
    assert!(!words.contains("sk-"), "{words}");
}

#[test]
fn keys_and_decisions_of_many_processes_at_once_are_all_kept() {
    let home = Home::new();
    let providers = ["anthropic", "openai", "google", "mistral", "xai", "groq", "openrouter", "deepseek"];
    let mut children = Vec::new();
    for provider in providers {
        let mut child = home.command(&["login", provider]).spawn().unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("{KEY}-{provider}\n").as_bytes())
            .unwrap();
        drop(child.stdin.take());
        children.push(child);
    }
    for number in 0..8 {
        let project = format!("project/p{number}");
        home.file(&format!("{project}/.offshoot/SYSTEM.md"), "x");
        children.push(home.command(&["trust", "--yes"]).current_dir(home.path(&project)).spawn().unwrap());
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let keys = stored(&home);
    for provider in providers {
        assert!(keys.contains(&format!("{KEY}-{provider}")), "{provider} is missing");
    }
    let trusted = home.run(&["trust", "--list"]).ok().to_owned();
    assert_eq!(trusted.lines().count(), 8, "{trusted}");
}
