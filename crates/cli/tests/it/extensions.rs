//! Extensions in the program: found, loaded and used by print and JSON mode, against a scripted model.

pub(crate) mod projects;

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply};

use crate::support::{Home, Run};
use crate::talk::{said, set_up};

/// A home with one extension, `project/x.ts`, and a model that says these things.
fn stage(text: &str, replies: impl IntoIterator<Item = Reply>) -> (Home, ModelServer) {
    let (home, server) = (Home::new(), ModelServer::start(replies).unwrap());
    set_up(&home, &server, "anthropic-messages");
    home.file("project/x.ts", text);
    (home, server)
}

fn one(text: &str) -> [Reply; 1] {
    [Reply::answer().text(text)]
}

/// Says something with the extension loaded.
fn print(home: &Home, arguments: &[&str]) -> Run {
    home.run(&[&["-e", "x.ts", "-p"], arguments].concat())
}

const DICE: &str = r#"
import { Type } from "typebox";
export default function (pi: any) {
  pi.registerTool({
    name: "dice",
    label: "Dice",
    description: "Throws dice",
    promptSnippet: "throw dice when luck decides",
    parameters: Type.Object({ sides: Type.Number() }),
    async execute(_id: string, { sides }: { sides: number }) {
      return { content: [{ type: "text", text: `a ${sides}-sided seven` }], details: { sides } };
    },
  });
}
"#;

#[test]
fn a_tool_of_an_extension_is_offered_called_and_answered() {
    let call = Reply::answer().call("c1", "dice", json!({"sides": 20}));
    let (home, server) = stage(DICE, [call, Reply::answer().text("seven it is")]);
    let run = print(&home, &["throw", "--allow", "dice"]);
    assert_eq!(run.ok(), "seven it is\n", "{run}");
    let requests = server.requests();
    let offered = requests[0].body["tools"].as_array().unwrap();
    assert!(offered.iter().any(|tool| tool["name"] == "dice"), "{offered:?}");
    assert!(requests[0].body["system"].to_string().contains("throw dice when luck decides"));
    assert!(requests[1].body.to_string().contains("a 20-sided seven"), "{}", requests[1].body);
}

#[test]
fn a_tool_of_an_extension_runs_only_with_approval() {
    let call = Reply::answer().call("c1", "dice", json!({"sides": 6}));
    let (home, server) = stage(DICE, [call, Reply::answer().text("oh")]);
    assert_eq!(print(&home, &["throw"]).ok(), "oh\n");
    let body = server.requests()[1].body.to_string();
    assert!(body.contains("not allowed") && !body.contains("seven"), "{body}");
}

#[test]
fn tools_are_named_on_the_command_line_wherever_they_come_from() {
    let (home, server) = stage(DICE, one("ok"));
    assert_eq!(print(&home, &["hi", "--tools", "dice,read"]).ok(), "ok\n");
    let names: Vec<String> = server.requests()[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["read", "dice"]);
    let run = print(&home, &["hi", "--tools", "dance", "--no-session"]);
    assert!(run.err().contains("there is no tool `dance`") && run.err().contains("dice"), "{run}");
}

#[test]
fn a_permission_gate_blocks_a_command_and_tells_the_model_why() {
    let gate = include_str!("../../../../examples/extensions/permission-gate.ts");
    let call = Reply::answer().call("c1", "bash", json!({"command": "rm -rf notes"}));
    let (home, server) = stage(gate, [call, Reply::answer().text("then not")]);
    home.file("project/notes/a", "kept");
    assert_eq!(print(&home, &["clean up", "--yes"]).ok(), "then not\n");
    assert!(home.path("project/notes/a").exists());
    assert!(server.requests()[1].body.to_string().contains("nobody is there to be asked"));
}

#[test]
fn a_command_runs_by_its_name_and_may_give_a_prompt() {
    let text = r#"
    export const dialect = "hooks";
    export default (pi: any) => {
      pi.registerCommand("remember", { handler: async (ctx: any) => { pi.appendEntry("note", { text: ctx.args }); } });
      pi.registerCommand("ask", { handler: async (ctx: any) => `tell me about ${ctx.args}` });
      pi.registerCommand("fail", { handler: async () => { throw new Error("so it is"); } });
    };"#;
    let (home, server) = stage(text, one("a tree"));
    assert_eq!(print(&home, &["/remember", "buy", "milk", "--no-session"]).ok(), "");
    assert_eq!(server.requests().len(), 0, "no model is asked");
    assert_eq!(print(&home, &["/ask birches"]).ok(), "a tree\n");
    assert_eq!(said(&home)[0], "user: tell me about birches");
    let run = print(&home, &["/fail", "--no-session"]);
    assert_eq!(run.code, 1);
    assert!(run.err().contains("error: /fail failed: so it is"), "{run}");
    assert!(run.err().contains("x.ts:6:"), "{run}");
}

#[test]
fn what_a_command_says_is_printed_and_what_is_said_beside_an_answer_is_not_part_of_it() {
    let text = r#"
    export default (pi: any) => {
      pi.registerCommand("hello", { handler: async (_args: string, ctx: any) => {
        ctx.ui.notify("hello, world");
        ctx.ui.notify("mind the gap", "warning");
        pi.sendMessage({ customType: "greeting", content: "a message", display: true });
      } });
      pi.on("agent_end", async (_event: any, ctx: any) => ctx.ui.notify("it is done"));
    };"#;
    let (home, _server) = stage(text, one("an answer"));
    let run = print(&home, &["/hello", "--no-session"]);
    assert_eq!(run.ok(), "hello, world\na message\n", "{run}");
    assert_eq!(run.err(), "warning: mind the gap\n");
    let run = print(&home, &["hi", "--no-session"]);
    assert_eq!((run.ok(), run.err()), ("an answer\n", "it is done\n"));
    let run = print(&home, &["/hello", "--no-session", "--mode", "json"]);
    let first: Value = serde_json::from_str(run.ok().lines().next().unwrap()).unwrap();
    assert_eq!((&first["type"], &first["message"]), (&json!("notify"), &json!("hello, world")));
}

#[test]
fn what_a_pipe_brings_names_no_command() {
    let text = r#"export default (pi: any) => pi.registerCommand("go", { handler: async () => { throw new Error("ran"); } });"#;
    let (home, _server) = stage(text, one("ok"));
    assert_eq!(home.run_with_input(&["-e", "x.ts", "-p"], b"/go\n").ok(), "ok\n");
    assert_eq!(said(&home)[0], "user: /go");
}

#[test]
fn input_can_be_changed_or_handled() {
    let text = r#"
    export default (pi: any) => pi.on("input", (event: any) => {
      if (event.text === "ping") return { action: "handled" };
      return { action: "transform", text: event.text.toUpperCase() };
    });"#;
    let (home, server) = stage(text, one("ok"));
    assert_eq!(print(&home, &["ping", "--no-session"]).ok(), "");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(print(&home, &["hello"]).ok(), "ok\n");
    assert_eq!(said(&home)[0], "user: HELLO");
}

#[test]
fn a_broken_extension_is_reported_with_its_position_and_the_program_continues() {
    let (home, _server) =
        stage("export default function (pi: any) {\n  pi.on('input', () => { boom(); });\n}\n", one("ok"));
    let bad = home.file("project/bad.ts", "type A = string;\n\nconst b: = 2;\n");
    let run = print(&home, &["hi", "-e", &bad]);
    assert_eq!(run.ok(), "ok\n");
    assert!(
        run.err().contains("warning: cannot load extension ") && run.err().contains("bad.ts:3:10"),
        "{run}"
    );
    assert!(run.err().contains("warning: extension `x` (input): ") && run.err().contains("x.ts:2:"), "{run}");
}

#[test]
fn an_extension_that_never_ends_is_stopped_and_used_no_more() {
    let text = "export default (pi: any) => { pi.on('input', () => { for (;;) {} }); pi.on('context', () => { throw new Error('asked again'); }); };";
    let (home, _server) = stage(text, one("ok"));
    let run = print(&home, &["hi"]);
    assert_eq!(run.ok(), "ok\n");
    assert!(run.err().contains("the extension is disabled"), "{run}");
    assert!(!run.err().contains("asked again"), "{run}");
}

#[test]
fn the_start_and_the_end_are_reported() {
    let text = r#"
    import * as fs from "node:fs";
    export default (pi: any) => {
      for (const event of ["session_start", "session_shutdown"])
        pi.on(event, (e: any) => fs.appendFileSync("seen", `${e.type} ${e.reason}\n`));
    };"#;
    let (home, _server) = stage(text, one("ok"));
    print(&home, &["hi"]).ok();
    let seen = std::fs::read_to_string(home.path("project/seen")).unwrap();
    assert_eq!(seen, "session_start startup\nsession_shutdown quit\n");
}

#[test]
fn options_of_extensions_stand_on_the_command_line() {
    let text = r#"
    export default (pi: any) => {
      pi.registerFlag("loud", { type: "boolean", default: false });
      pi.registerFlag("greeting", { type: "string" });
      pi.on("input", (e: any) => ({ action: "transform", text: `${pi.getFlag("greeting")} ${pi.getFlag("loud")} ${e.text}` }));
    };"#;
    let (home, _server) = stage(text, one("ok"));
    assert_eq!(print(&home, &["hi", "--loud", "--greeting=moin"]).ok(), "ok\n");
    assert_eq!(said(&home)[0], "user: moin true hi");
    let run = print(&home, &["hi", "--laud", "--no-session"]);
    assert_eq!(run.code, 2);
    assert!(run.err().contains("there is no option `--laud`"), "{run}");
    let run = home.run(&["-p", "hi", "--prnt", "--no-session"]);
    assert_eq!((run.code, run.err()), (2, "error: there is no option `--prnt`\nhint: there is `--print`\n"));
    assert!(home.run(&["tree", "--laud"]).err().contains("unexpected argument '--laud'"));
}

#[test]
fn a_model_of_an_extension_is_asked_with_its_key_and_headers() {
    let (home, server) = stage("", one("from mine"));
    let provider = json!({
        "baseUrl": server.url(), "api": "anthropic-messages", "apiKey": "a-literal-key", "headers": {"x-extra": "1"},
        "models": [{"id": "one", "name": "One", "reasoning": false, "input": ["text"], "contextWindow": 50_000, "maxTokens": 500}],
    });
    home.file("project/x.ts", format!("export default (pi) => pi.registerProvider('mine', {provider});"));
    assert_eq!(print(&home, &["hi", "--model", "mine/one"]).ok(), "from mine\n");
    let requests = server.requests();
    assert_eq!(requests[0].body["model"], "one");
    assert_eq!(requests[0].body["max_tokens"], 500);
    assert_eq!(
        (requests[0].header("x-api-key"), requests[0].header("x-extra")),
        (Some("a-literal-key"), Some("1"))
    );
    let unknown = print(&home, &["hi", "--no-session", "--model", "mine/two"]);
    assert_eq!(unknown.code, 1, "{unknown}");
    assert!(unknown.err().contains("mine/two"), "{unknown}");
}

#[test]
fn a_model_of_an_extension_answers_in_script_and_may_be_the_default() {
    let (home, server) = stage(
        "export default (pi) => pi.registerProvider('own', { api: 'own', apiKey: 'x', models: [{ id: 'm' }], 
             streamSimple: () => { const message = { role: 'assistant', content: [{ type: 'text', text: 'script speaks' }], stopReason: 'stop', usage: {} };
                 return { async *[Symbol.asyncIterator]() { yield { type: 'done', reason: 'stop', message }; } }; } })",
        [],
    );
    home.file("offshoot/settings.json", json!({"model": "own/m"}).to_string());
    assert_eq!(print(&home, &["hi"]).ok(), "script speaks\n");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn json_mode_reports_extensions_as_events() {
    let (home, _server) =
        stage("export default (pi: any) => pi.on('input', () => { throw new Error('no'); });", one("ok"));
    let run = print(&home, &["hi", "--mode", "json"]);
    let lines: Vec<Value> = run.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = lines.iter().find(|line| line["type"] == "extension_error").unwrap();
    assert_eq!((&told["extension"], &told["event"]), (&json!("x"), &json!("input")));
}

#[test]
fn extensions_come_from_the_command_line_the_directories_and_the_settings_each_once() {
    let server = ModelServer::start(one("ok")).unwrap();
    let home = Home::new();
    set_up(&home, &server, "anthropic-messages");
    let add = |name: &str| {
        let text = format!(
            "export default (pi: any) => pi.on('input', (e: any) => ({{ action: 'transform', text: e.text + ' {name}' }}));"
        );
        home.file(&format!("{name}.ts"), text)
    };
    let given = add("given");
    add("offshoot/extensions/own");
    add("offshoot/hooks/old");
    home.file("offshoot/state/pi.json", r#"{"use": true}"#);
    add("pi/extensions/of-pi");
    add("listed");
    let mut settings: Value =
        serde_json::from_slice(&std::fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
    settings["extensions"] = json!(["../listed.ts", "~/given.ts"]);
    home.file("offshoot/settings.json", settings.to_string());
    assert_eq!(home.run(&["-p", "x", "-e", &given]).ok(), "ok\n");
    assert_eq!(
        said(&home)[0],
        "user: x given offshoot/extensions/own offshoot/hooks/old pi/extensions/of-pi listed"
    );
}

#[test]
fn without_extensions_means_only_those_that_are_named() {
    let (home, _server) = stage(
        "export default (pi: any) => pi.on('input', (e: any) => ({ action: 'transform', text: e.text + '!' }));",
        one("ok"),
    );
    home.file(
        "offshoot/extensions/own.ts",
        "export default (pi: any) => pi.on('input', () => ({ action: 'handled' }));",
    );
    assert_eq!(print(&home, &["hi", "--no-extensions"]).ok(), "ok\n");
    assert_eq!(said(&home)[0], "user: hi!");
    let run = home.run(&["-p", "hi", "-e", "gone.ts", "--no-session"]);
    assert_eq!(run.code, 1);
    assert!(run.err().starts_with("error: there is no extension at gone.ts\nhint: "), "{run}");
}

#[test]
fn a_new_extension_works_as_it_is() {
    let home = Home::new();
    let made = home.run(&["extension", "new", "hello"]);
    assert_eq!(made.ok().trim_end(), home.path("offshoot/extensions/hello.ts").to_str().unwrap());
    assert!(home.run(&["extension", "new", "hello"]).err().starts_with("error: cannot write "));
    assert_eq!(home.run(&["extension", "new", "../x"]).code, 2);
    let run = home.run(&["-p", "/hello", "--no-session"]);
    assert_eq!((run.ok(), run.err()), ("0 entries up to the start\n", ""));
    let run = home.run(&["-p", "hi", "--no-session"]);
    assert!(run.ok().starts_with("No model is configured") && run.err().is_empty(), "{run}");
    home.run(&["extension", "new", "other", "--dir", "tools"]).ok();
    assert!(home.path("project/tools/other.ts").exists());
    let listed = home.run(&["extension", "list", "--json"]).json();
    assert_eq!((&listed[0]["name"], &listed[0]["dialect"]), (&json!("hello"), &json!("extension")));
    assert!(home.run(&["types"]).ok().contains("interface ExtensionAPI"));
}

#[test]
fn the_first_example_of_the_document_works() {
    let document = include_str!("../../../../docs/extensions.md");
    let code = document.split("```ts\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let (home, _server) = stage(code, one("ok"));
    assert_eq!(print(&home, &["hi"]).err(), "");
    let run = print(&home, &["/hello", "--no-session"]);
    assert_eq!((run.code, run.err()), (0, ""));
}

const READS_ENVIRONMENT: &str = r#"
import { execSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
export default (pi: any) => pi.on("session_start", async (_event: any, ctx: any) => {
  const outcome = (work: () => unknown) => { try { return String(work()); } catch (error: any) { return error.code; } };
  writeFileSync("got.json", JSON.stringify({
    own: Object.entries(process.env).flat().join(" "),
    exec: (await pi.exec("env", [])).stdout,
    sync: execSync("env", { encoding: "utf8" }),
    given: execSync("env", { encoding: "utf8", env: { ...process.env, MY_TOKEN: "own" } }),
    file: outcome(() => readFileSync("../offshoot/credentials.json", "utf8")),
  }));
});
"#;

#[test]
fn extensions_and_their_programs_do_not_get_keys() {
    let (home, _server) = stage(READS_ENVIRONMENT, one("ok"));
    home.file("offshoot/credentials.json", r#"{"lab":{"type":"api_key","key":"sk-four"}}"#);
    let file = home.path("offshoot/credentials.json");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let secrets = ["sk-one", "two-secret", "three-secret", "sk-four", "five-secret"];
    let mut command = home.command(&["-e", "x.ts", "-p", "hi"]);
    command.env("ANTHROPIC_API_KEY", secrets[0]).env("GITHUB_TOKEN", secrets[1]).env("COLOUR", "blue");
    // The settings name a variable that does not look like a key.
    let settings = std::fs::read_to_string(home.path("offshoot/settings.json")).unwrap();
    let settings = settings.replacen(r#""api":"#, r#""keyVariables":["LAB"],"api":"#, 1);
    let settings = settings.replacen('{', r#"{"shell":{"passVariables":["PASSED_TOKEN"]},"#, 1);
    command.env("PASSED_TOKEN", "passed");
    home.file("offshoot/settings.json", settings);
    command.env("LAB", secrets[4]);
    command.env("DATABASE_URL", format!("postgres://me:{}@db/app", secrets[2]));
    let run = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let got = std::fs::read_to_string(home.path("project/got.json")).unwrap();
    for secret in secrets {
        assert!(!got.contains(secret), "{secret}: {got}");
    }
    let got: Value = serde_json::from_str(&got).unwrap();
    for part in ["own", "exec", "sync", "given"] {
        let text = got[part].as_str().unwrap();
        assert!(text.contains("blue") && text.contains("passed"), "{part}: {got}");
    }
    assert!(got["given"].as_str().unwrap().contains("MY_TOKEN=own"), "what it sets itself is passed on");
    assert_eq!(got["file"], "EACCES");
}

#[test]
fn the_list_shows_what_extensions_register() {
    let text = r#"export default (pi: any) => {
        pi.registerCommand("greet", { handler: async () => {} });
        pi.registerFlag("loud", { type: "boolean", description: "Loud" });
        pi.registerShortcut("ctrl+alt+g", { handler: async () => {} });
        pi.registerTool({ name: "look", description: "Look", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) });
    };"#;
    let home = Home::new();
    home.file("project/x.ts", text);
    home.file("project/bad.ts", "export default 1 +;");
    let run = home.run(&["extension", "list", "--registered", "-e", "x.ts"]);
    assert!(run.ok().contains("/greet look --loud ctrl+alt+g"), "{run}");
    let run = home.run(&["extension", "list", "--registered", "--json", "-e", "x.ts", "-e", "bad.ts"]);
    let listed: Value = serde_json::from_str(run.ok()).unwrap();
    let expected =
        json!({"commands": ["greet"], "tools": ["look"], "flags": ["loud"], "shortcuts": ["ctrl+alt+g"]});
    assert_eq!(listed[0]["registered"], expected, "{run}");
    assert!(listed[1].get("registered").is_none() && run.err().contains("bad.ts"), "{run}");
}
