//! Sessions in a PostgreSQL database.

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use testkit::model_server::{ModelServer, Reply};
use testkit::postgres::PostgresServer;

use crate::interactive::screen::Screen;
use crate::support::{Home, files};
use crate::talk::set_up;

const SESSION: &str = concat!(
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/project"}"#,
    "\n",
    r#"{"type":"message","id":"aaaaaaa1","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"Build a CLI","timestamp":1}}"#,
    "\n",
    r#"{"type":"message","id":"aaaaaaa2","parentId":"aaaaaaa1","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"Use Rust","timestamp":2}}"#,
    "\n",
);

/// Runs a command that has to work, and returns its output.
fn run(home: &Home, words: &[&str]) -> String {
    let run = home.run(words);
    assert_eq!(run.code, 0, "{words:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn commands_work_on_a_session_in_a_database() {
    let (home, server) = (Home::new(), PostgresServer::start());
    let database = server.database();
    let session = database.replacen('?', "/team-session?", 1);
    let file = home.file("project/s.jsonl", SESSION);

    // Before there are tables, the message says what to do.
    let early = home.run(&["tree", &session]);
    assert_eq!(early.code, 1);
    let told = String::from_utf8_lossy(&early.stderr).into_owned();
    assert!(told.contains("has no tables for sessions") && told.contains("offshoot db init"), "{told}");

    run(&home, &["db", "init", &database]);
    assert!(run(&home, &["db", "status", &database]).contains("tenant  default"));
    assert!(run(&home, &["db", "push", &file, &session]).starts_with("3 lines to postgres://"));
    assert!(run(&home, &["db", "push", &file, &session]).starts_with("0 lines"));
    assert!(run(&home, &["db", "list", &database]).starts_with("team-session "));

    // The same commands print the same for the file and for the database.
    for command in ["tree", "path", "branches"] {
        assert_eq!(run(&home, &[command, &session]), run(&home, &[command, &file]), "{command}");
    }
    assert_eq!(run(&home, &["context", &session, "--json"]), run(&home, &["context", &file, "--json"]));
    assert_eq!(home.run(&["check", &session]).code, 0);

    run(&home, &["label", &session, "aaaaaaa1", "start"]);
    run(&home, &["switch", &session, "aaaaaaa1", "--exact"]);
    let draft = r#"{"type":"message","message":{"role":"user","content":"Use Python"}}"#;
    let appended = home.run_with_input(&["append", &session], draft.as_bytes());
    assert_eq!(appended.code, 0, "{}", String::from_utf8_lossy(&appended.stderr));
    let tree = run(&home, &["tree", &session]);
    assert!(tree.contains("Use Python") && tree.contains("Use Rust") && tree.contains("start"), "{tree}");

    run(&home, &["db", "pull", &session, &file]);
    assert_eq!(run(&home, &["tree", &file]), tree);
    assert!(fs::read_to_string(&file).unwrap().starts_with(SESSION));
    let copy = home.path("project/copy.jsonl");
    run(&home, &["db", "pull", &session, copy.to_str().unwrap()]);
    assert_eq!(fs::read(copy).unwrap(), fs::read(&file).unwrap());

    let page = home.path("project/page.html");
    run(&home, &["export", &session, "-o", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains("Use Python"));
}

/// Runs a command with further variables, which has to work, and returns its output and its messages.
fn run_with(home: &Home, variables: &[(&str, &str)], words: &[&str]) -> (String, String) {
    let mut command = home.command(words);
    let run = command.envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(run.status.success(), "{words:?}: {}", text(&run.stderr));
    (text(&run.stdout), text(&run.stderr))
}

/// Returns the messages of a session in a database, in the order of its lines.
fn messages(home: &Home, variables: &[(&str, &str)], session: &str) -> Vec<String> {
    let json = run_with(home, variables, &["tree", session, "--flat", "--json"]).0;
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    let messages = rows.iter().map(|row| &row["entry"]["message"]).filter(|message| message.is_object());
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    messages.map(text).collect()
}

#[test]
fn a_database_is_the_default_of_the_environment_or_a_setting() {
    let (home, server) = (Home::new(), PostgresServer::start());
    let database = server.database();
    let model =
        ModelServer::start(["One.", "Two.", "Three.", "Four."].map(|text| Reply::answer().text(text)));
    let model = model.unwrap();
    set_up(&home, &model, "anthropic-messages");
    let store = [("OFFSHOOT_STORE", database.as_str()), ("OFFSHOOT_IDS", "500")];
    run_with(&home, &store, &["db", "init"]);
    assert!(run_with(&home, &store, &["db", "status"]).0.contains("tenant  default"));

    // A prompt makes a session in the database, and `-c` continues it.
    run_with(&home, &store, &["-p", "first"]);
    run_with(&home, &[store[0], ("OFFSHOOT_IDS", "600")], &["-c", "-p", "second"]);
    assert!(!home.path("offshoot/sessions").exists(), "no file was made");
    let listed = run_with(&home, &store, &["sessions", "--json"]).0;
    let rows: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let id = rows[0]["id"].as_str().unwrap();
    assert_eq!((rows.len(), id, &rows[0]["messageCount"]), (1, "session-501", &Value::from(4)));
    assert_eq!(rows[0]["firstMessage"], "first");
    assert_eq!(messages(&home, &store, "-"), ["first", "One.", "second", "Two."]);
    assert!(run_with(&home, &store, &["sessions", "second"]).0.contains("first"), "the text is searched");

    // `append --create` makes a session under its address.
    let named = database.replacen('?', "/named?", 1);
    for text in ["one", "two"] {
        let draft =
            format!("{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}");
        let appended = home.run_with_input(&["append", "--create", &named], draft.as_bytes());
        assert_eq!(appended.code, 0, "{}", String::from_utf8_lossy(&appended.stderr));
    }
    assert_eq!(messages(&home, &[], &named), ["one", "two"]);
    run_with(&home, &[], &["db", "delete", &named]);

    // A fork goes to the database and shares lines, also without a default.
    let address = database.replacen('?', "/session-501?", 1);
    let lines = |table: &str| {
        let name = database.trim_start_matches("postgres:///").split('?').next().unwrap();
        server.sql(name, &format!("SELECT count(*) FROM offshoot.{table}")).unwrap().parse::<u32>().unwrap()
    };
    let before = lines("line");
    let (fork, words) = run_with(&home, &[("OFFSHOOT_IDS", "700")], &["fork", &address, "leaf~1"]);
    assert!(
        fork.trim_end().ends_with("/session-701") && words.contains("undo: offshoot db delete"),
        "{words}"
    );
    assert_eq!((lines("line"), lines("part")), (before + 1, 1), "only the header is new");
    let (copy, _) = run_with(&home, &[("OFFSHOOT_IDS", "750")], &["clone", &address, "--all"]);
    let copy = database.replacen('?', &format!("/{}?", copy.trim_end().rsplit('/').next().unwrap()), 1);
    assert_eq!(messages(&home, &[], &copy), messages(&home, &[], &address));
    assert_eq!(run_with(&home, &store, &["sessions", "--json"]).0.matches("\"id\"").count(), 3);
    run_with(&home, &[], &["db", "delete", &copy]);

    // `--session` with a database begins a session in it; with a session it continues there.
    run_with(&home, &[("OFFSHOOT_IDS", "800")], &["--session", &database, "-p", "third"]);
    let third = database.replacen('?', "/session-801?", 1);
    run_with(&home, &[("OFFSHOOT_IDS", "900")], &["--session", &third, "-p", "fourth"]);
    assert_eq!(messages(&home, &[], &third), ["third", "Three.", "fourth", "Four."]);

    // The setting of the user counts, and may name a variable; that of a project counts once it is trusted.
    let settings: Value =
        serde_json::from_slice(&fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    let with_store = |store: &str| {
        let mut settings = settings.clone();
        settings["store"] = store.into();
        home.file("offshoot/settings.json", settings.to_string());
    };
    with_store("$TEAM");
    let unset = home.run(&["sessions"]);
    assert!(String::from_utf8_lossy(&unset.stderr).contains("the variable TEAM, which is not set"));
    assert!(run_with(&home, &[("TEAM", &database)], &["sessions"]).0.contains("third"));
    with_store(&database);
    assert!(run(&home, &["sessions"]).contains("third"));
    assert!(!run(&home, &["sessions", "--session-dir", "."]).contains("third"));
    home.file("offshoot/settings.json", settings.to_string());
    home.file("project/.offshoot/settings.json", serde_json::json!({"store": database}).to_string());
    assert!(!run(&home, &["sessions"]).contains("third"), "an untrusted project chooses no database");
    run(&home, &["trust", "--yes"]);
    assert!(run(&home, &["sessions"]).contains("third"));
}

#[test]
fn the_chat_works_on_a_database() {
    let (home, server) = (Home::new(), PostgresServer::start());
    let database = server.database();
    run(&home, &["db", "init", &database]);
    let answers = ["Node it is.", "Rust it is.", "Go it is."].map(|text| Reply::answer().text(text));
    let model = ModelServer::start(answers).unwrap();
    set_up(&home, &model, "anthropic-messages");
    let start = |words: &[&str]| {
        let mut command = home.command(words);
        Screen::start(command.env("OFFSHOOT_STORE", &database).env_remove("OFFSHOOT_IDS"), 100, 30)
    };
    let mut screen = start(&[]);
    screen.wait_for("every conversation is a tree");
    screen.ask("Use Node", "Node it is.");
    screen.say("/undo");
    screen.wait_for("› Use Node");
    screen.send("\x15");
    screen.ask("Use Rust", "Rust it is.");
    screen.say("/clone");
    screen.wait_for("cloned");
    screen.ask("Use Go", "Go it is.");
    screen.say("/quit");
    screen.end();
    let store = [("OFFSHOOT_STORE", database.as_str())];
    let rows: Vec<Value> = serde_json::from_str(&run_with(&home, &store, &["sessions", "--json"]).0).unwrap();
    let named =
        |first: &str| rows.iter().find(|row| row["firstMessage"] == first).unwrap()["id"].as_str().unwrap();
    let spoken = messages(&home, &store, named("Use Node"));
    assert_eq!(spoken, ["Use Node", "Node it is.", "Use Rust", "Rust it is."]);
    assert_eq!(
        messages(&home, &store, named("Use Rust")),
        ["Use Rust", "Rust it is.", "Use Go", "Go it is."]
    );

    // The list of sessions opens one of the database.
    let mut screen = start(&["-r"]);
    screen.wait_for("Use Node");
    screen.send("Node\r");
    screen.wait_for("Rust it is.");
    screen.wait_without("Go it is.");
    screen.say("/quit");
    screen.end();
    assert!(!home.path("offshoot/sessions").exists(), "no file was made");
}

#[test]
fn the_chat_continues_while_the_server_is_away() {
    let (home, mut server) = (Home::new(), PostgresServer::start());
    let database = server.database();
    run(&home, &["db", "init", &database]);
    let answers = (1..=5).map(|number| Reply::answer().text(&format!("Answer {number}.")));
    let model = ModelServer::start(answers).unwrap();
    set_up(&home, &model, "anthropic-messages");
    let mut command = home.command(&[]);
    let start = |command: &mut std::process::Command| {
        Screen::start(command.env("OFFSHOOT_STORE", &database).env_remove("OFFSHOOT_IDS"), 100, 30)
    };
    let mut screen = start(&mut command);
    screen.wait_for("every conversation is a tree");
    screen.ask("Prompt 1", "Answer 1.");
    server.kill();
    screen.wait_for("continuing in a local file");
    screen.ask("Prompt 2", "Answer 2.");
    screen.ask("Prompt 3", "Answer 3.");
    server.resume();
    screen.wait_without("continuing in a local file");
    screen.ask("Prompt 4", "Answer 4.");
    let store = [("OFFSHOOT_STORE", database.as_str())];
    let spoken = |last: u32| -> Vec<String> {
        (1..=last).flat_map(|number| [format!("Prompt {number}"), format!("Answer {number}.")]).collect()
    };
    assert_eq!(messages(&home, &store, "-"), spoken(4));
    server.kill();
    screen.wait_for("continuing in a local file");
    screen.ask("Prompt 5", "Answer 5.");
    // The program dies; the next one brings its entries to the database.
    let killed = std::process::Command::new("kill").args(["-KILL", &screen.process().to_string()]).status();
    assert!(killed.unwrap().success());
    screen.end();
    server.resume();
    assert_eq!(messages(&home, &store, "-"), spoken(5));
    assert_eq!(fs::read_dir(home.path("offshoot/state/spool")).unwrap().count(), 0);
}

#[test]
fn a_password_comes_from_the_environment_and_stays_there() {
    let (home, server) = (Home::new(), PostgresServer::start());
    server.add_role_with_password("ann", "s3cret-word");
    let database = server.database().replace("user=postgres", "user=ann");
    let address =
        database.replacen("postgres:///", "postgres://ann:s3cret-word@/", 1).replace("&user=ann", "");
    let wrong = home.run(&["db", "init", &database]);
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.code == 1 && told.contains("PGPASSWORD"), "{told}");
    let wrong = home.run(&["db", "init", &address.replace("s3cret-word", "other-word")]);
    let told = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        told.contains("does not accept the user or the password") && !told.contains("other-word"),
        "{told}"
    );

    run_with(&home, &[("PGPASSWORD", "s3cret-word")], &["db", "init", &database]);
    let file = home.file("passwords", "localhost:*:*:ann:s3cret-word\n");
    run_with(&home, &[("PGPASSFILE", &file)], &["db", "status", &database]);
    home.file(".pgpass", "*:*:*:*:s3cret-word\n");
    run(&home, &["db", "status", &database]);
    fs::remove_file(home.path(".pgpass")).unwrap();

    // The password is in no output, no log, no session and no file but that of the settings.
    let model = ModelServer::start([Reply::answer().text("Yes."), Reply::answer().text("Yes.")]).unwrap();
    set_up(&home, &model, "anthropic-messages");
    let path = home.path("offshoot/settings.json");
    let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    settings["store"] = address.clone().into();
    home.file("offshoot/settings.json", settings.to_string());
    let log = [("OFFSHOOT_LOG", "trace"), ("OFFSHOOT_IDS", "500")];
    let mut output = String::new();
    for words in [
        &["-p", "hello"][..],
        &["sessions", "--json"],
        &["fork", "-", "leaf"],
        &["settings"],
        &["settings", "--json"],
        &["report"],
        &["tree", &address.replacen('?', "/session-501?", 1)],
        &["export", "-", "--all", "-o", "all.jsonl"],
    ] {
        let ids = if words[0] == "fork" { "600" } else { "500" };
        let (out, words) = run_with(&home, &[log[0], ("OFFSHOOT_IDS", ids)], words);
        output.extend([out, words]);
    }
    assert!(output.contains("postgres://") && !output.contains("s3cret-word"), "{output}");
    for (path, bytes) in files(&home.path("offshoot")) {
        let is_settings = path.ends_with("settings.json");
        assert!(
            is_settings || !String::from_utf8_lossy(&bytes).contains("s3cret-word"),
            "{}",
            path.display()
        );
    }
    let lines =
        server.sql("db0", "SELECT string_agg(encode(line, 'escape'), '') FROM offshoot.line").unwrap();
    assert!(lines.contains("hello") && !lines.contains("s3cret-word"), "{lines}");
}

#[test]
fn passwords_of_addresses_are_never_printed() {
    let home = Home::new();
    for words in [
        &["tree", "postgres://ann:s3cret@127.0.0.1:1/team/x?connect_timeout=1"][..],
        &["check", "postgres://ann:s3cret@127.0.0.1:1/team/x?connect_timeout=1", "missing.jsonl"],
        &[
            "tree",
            "postgres://ann:s3cret@127.0.0.1:1/team/x?connect_timeout=1&password=s3cret",
            "missing.jsonl",
        ],
        &["db", "status", "postgres://ann:s3cret@127.0.0.1:port/team"],
        &["repair", "postgres://ann:s3cret@127.0.0.1:1/team/x"],
    ] {
        let run = home.run(words);
        assert_ne!(run.code, 0, "{words:?}");
        let output = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
        assert!(!output.contains("s3cret"), "{output}");
    }
}
