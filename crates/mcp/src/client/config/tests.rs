use std::path::Path;

use serde_json::{Value as Json, json};

use super::*;

fn variable(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/ann".to_owned()),
        "TOKEN" => Some("t0k".to_owned()),
        "ANTHROPIC_API_KEY" => Some("sk".to_owned()),
        _ => None,
    }
}

fn read(files: &[(&str, Json, bool)]) -> (Vec<ServerConfig>, Vec<String>) {
    let texts: Vec<String> = files.iter().map(|(_, json, _)| json.to_string()).collect();
    let files: Vec<ConfigFile<'_>> = files
        .iter()
        .zip(&texts)
        .map(|((path, _, is_project), text)| ConfigFile {
            path: Path::new(path),
            text,
            is_project: *is_project,
        })
        .collect();
    let secrets = Secrets::new().withholding(["ANTHROPIC_API_KEY".to_owned()]);
    let (configs, problems) = read_configs(&files, &secrets, &variable);
    (configs, problems.iter().map(ToString::to_string).collect())
}

fn one(entry: &Json) -> Result<ServerConfig, String> {
    let (mut configs, problems) = read(&[("mcp.json", json!({"mcpServers": {"s": entry}}), false)]);
    problems.into_iter().next().map_or_else(|| Ok(configs.remove(0)), Err)
}

#[test]
fn the_shapes_of_claude_code_and_pi_are_read() {
    let config = one(&json!({
        "type": "stdio", "command": "~/bin/${NAME:-server}", "args": ["--key=${TOKEN}", "."], "env": {"K": "a${TOKEN}b"},
        "cwd": "~/x", "timeout": 90000,
    }));
    let config = config.unwrap();
    let Transport::Stdio { command, args, env, cwd } = &config.transport else { panic!("{config:?}") };
    assert_eq!(
        (command.as_str(), args.as_slice()),
        ("/home/ann/bin/server", &["--key=t0k".to_owned(), ".".to_owned()][..])
    );
    assert_eq!((env["K"].as_str(), cwd.as_deref()), ("at0kb", Some(Path::new("/home/ann/x"))));
    assert_eq!(config.timeout, Duration::from_secs(90));
    let config = one(
        &json!({"url": "https://x.example/mcp?key=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}"},
        "timeout": 5, "exposure": "hidden", "toolExposure": {"get_*": "direct", "get_all": "hidden"}}),
    );
    let config = config.unwrap();
    assert_eq!(
        (config.timeout, config.transport.target().as_str()),
        (Duration::from_secs(5), "https://x.example/mcp")
    );
    let exposure = [("get_all".to_owned(), false), ("get_*".to_owned(), true), ("*".to_owned(), false)];
    assert_eq!(config.exposure, exposure);
    assert!(!format!("{config:?}").contains("t0k"), "values may be secret: {config:?}");
}

#[test]
fn a_wrong_entry_is_named_and_the_others_are_used() {
    for (entry, expected) in [
        (
            json!({"command": "x", "env": {"A": "${NOPE}"}}),
            "the variable `NOPE` is not set; set it, or write `${NOPE:-default}`",
        ),
        (json!({"command": "x", "env": {"A": "${NOPE"}}), "a `${` has no `}`"),
        (json!({"command": "x", "env": {"A": "!pass show x"}}), "`A` is a command, which is not supported"),
        (json!({"type": "sse", "url": "http://x/sse"}), "the transport `sse` is not supported"),
        (json!({"command": "x", "url": "http://x"}), "it has both `command` and `url`"),
        (json!({"type": "stdio"}), "it has no `command`"),
        (json!({"type": "ws", "url": "x"}), "there is no type `ws`"),
        (json!({}), "it has neither `command` nor `url`"),
        (json!({"command": ["x"]}), "invalid type: sequence, expected a string"),
        (json!({"command": "x", "timeout": 0}), "the timeout 0 is not a number of seconds"),
    ] {
        let error = one(&entry).unwrap_err();
        assert!(error.starts_with(&format!("mcp.json: server `s`: {expected}")), "{entry}: {error}");
    }
    let servers = json!({"mcpServers": {"a b": {"command": "x"}, "ok": {"command": "x"}}});
    let (configs, problems) = read(&[("mcp.json", servers, false)]);
    assert_eq!((configs.len(), problems.len()), (1, 1));
    let (_, problems) = read(&[("mcp.json", json!({"servers": {}}), false), ("b.json", json!([]), false)]);
    assert_eq!(
        problems,
        ["mcp.json: write `mcpServers` instead of `servers`", "b.json: there is no `mcpServers`"]
    );
}

#[test]
fn a_project_turns_servers_off_but_replaces_none_and_gets_no_key() {
    let own = json!({"mcpServers": {"git-hub": {"command": "mine"}, "b": {"command": "mine"}}});
    let project = json!({"mcpServers": {
        "git_hub": {"command": "theirs"}, "b": {"enabled": false},
        "key": {"command": "x", "args": ["${ANTHROPIC_API_KEY}"]},
        "hint": {"command": "x", "trustReadOnlyHint": true},
        "fine": {"command": "x", "env": {"T": "${TOKEN}"}},
    }});
    let (configs, problems) = read(&[("own.json", own, false), (".mcp.json", project, true)]);
    let found: Vec<(&str, String, bool)> = configs
        .iter()
        .map(|config| (config.name.as_str(), config.transport.target(), config.enabled))
        .collect();
    let expected = [("git-hub", "mine", true), ("b", "mine", false), ("fine", "x", true)];
    assert_eq!(found, expected.map(|(name, target, enabled)| (name, target.to_owned(), enabled)));
    assert_eq!(
        problems,
        [
            ".mcp.json: server `git_hub`: not used: own.json has a server of this name",
            ".mcp.json: server `key`: a project cannot use `ANTHROPIC_API_KEY`, the key of a model service",
            ".mcp.json: server `hint`: only your own mcp.json can have `trustReadOnlyHint`",
        ]
    );
    let own = json!({"mcpServers": {"key": {"command": "x", "env": {"K": "${ANTHROPIC_API_KEY}"}}}});
    assert_eq!(
        read(&[("own.json", own, false)]).1,
        Vec::<String>::new(),
        "the user may pass a key on purpose"
    );
}
