//! Extensions in the chat: dialogs, rows, drawings, commands, keys, the tree, reloading, trust.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::model_server::{ModelServer, Reply};

use super::screen::{ENTER, ESCAPE, Screen, UP};
use super::{answering, said, session, start, start_again};
use crate::extensions::projects::MARK;
use crate::support::Home;
use crate::talk::set_up;

/// A conversation with one extension, `project/x.ts`, and these answers.
fn begin(text: &str, answers: &[&str]) -> (Home, ModelServer, Screen) {
    let (home, server) = (Home::new(), answering(answers));
    set_up(&home, &server, "anthropic-messages");
    home.file("project/x.ts", text);
    let screen = start(&home, &["-e", "x.ts"]);
    screen.wait_for("every conversation is a tree");
    screen.wait_without("Loading extensions");
    (home, server, screen)
}

fn talk(screen: &mut Screen, prompt: &str, answer: &str) {
    screen.ask(prompt, answer);
}

fn quit(mut screen: Screen) {
    screen.say("/quit");
    assert_eq!(screen.end().0, 0);
}

/// Goes to an answer in the tree and chooses a summary for the abandoned branch.
fn walk(screen: &mut Screen, to: &str, choice: &str) {
    screen.say("/tree");
    screen.wait_for("Session Tree");
    screen.send(to);
    screen.wait_for("1 match");
    screen.send(ENTER);
    screen.wait_for("No summary");
    screen.send(choice);
}

#[test]
fn a_custom_summarizer_sums_the_branch_up_that_is_left() {
    let text = include_str!("../../../../extensions/tests/fixtures/seeds/custom-summarizer.ts");
    let (home, server, mut screen) = begin(text, &["First.", "Second."]);
    talk(&mut screen, "one", "First.");
    talk(&mut screen, "two", "Second.");
    walk(&mut screen, "First.", "2");
    screen.wait_for("custom summary of");
    screen.wait_for("moved; /back returns");
    assert_eq!(server.requests().len(), 2, "no model was asked for it");
    let summary = session(&home).1.into_iter().find(|entry| entry["type"] == "branch_summary").unwrap();
    assert_eq!((&summary["details"], &summary["fromHook"]), (&json!({"custom": true}), &json!(true)));
    quit(screen);
}

const WRITES_DOWN: &str = r#"
import both from "./both.ts";
import * as fs from "node:fs";
export default (pi: any) => both({
  getFlag: (name: string) => pi.getFlag(name),
  on: (name: string, handler: any) => pi.on(name, async (event: any, ctx: any) => {
    await handler(event, ctx);
    const summary = event.summaryEntry?.summary.split("\n").pop();
    fs.appendFileSync("seen", [name, summary].filter(Boolean).join(" ") + "\n");
  }),
});
"#;

#[test]
fn both_handlers_of_a_move_change_it_and_hear_of_it() {
    let (home, server) = (Home::new(), answering(&["First.", "Second.", "what the parser did"]));
    set_up(&home, &server, "anthropic-messages");
    let seed = include_str!("../../../../extensions/tests/fixtures/seeds/tree-methods.ts");
    home.file("project/both.ts", seed);
    // The same, with an extension that records the calls of its handlers.
    home.file("project/x.ts", WRITES_DOWN);
    let mut screen = start(&home, &["-e", "x.ts"]);
    screen.wait_for("every conversation is a tree");
    talk(&mut screen, "one", "First.");
    talk(&mut screen, "two", "Second.");
    // The user requests no summary; the extension supplies one.
    walk(&mut screen, "First.", "1");
    screen.wait_for("what the parser did");
    screen.wait_for("moved; /back returns");
    let asked = server.requests()[2].body.to_string();
    assert!(asked.contains("only the parser"), "{asked}");
    let seen = std::fs::read_to_string(home.path("project/seen")).unwrap();
    assert_eq!(
        seen,
        "session_before_tree\nsession_tree what the parser did\nsession_tree what the parser did\n"
    );
    quit(screen);
}

const ASKS_AFTER_A_MOVE: &str = r#"
export default (pi: any) => {
  pi.on("session_tree", async (_event: any, ctx: any) => {
    const restore = await ctx.ui.confirm("Restore?", "the files of this branch");
    ctx.ui.notify(`restored: ${restore}`, "info");
  });
};
"#;

/// The move waits for the handler and the handler for the person, who must be able to answer.
#[test]
fn a_handler_of_a_move_asks_the_person_while_the_move_waits() {
    let (_home, _server, mut screen) = begin(ASKS_AFTER_A_MOVE, &["First.", "Second."]);
    talk(&mut screen, "one", "First.");
    talk(&mut screen, "two", "Second.");
    walk(&mut screen, "First.", "1");
    screen.wait_for("Restore?");
    screen.answer("1");
    screen.wait_for("restored: true");
    screen.wait_for("moved; /back returns");
    // Who does not answer stops the handler, not the move that is made already.
    screen.say("/back");
    screen.wait_for("Restore?");
    screen.send(ESCAPE);
    screen.wait_for("restored: false");
    screen.wait_for("back; /forward returns");
    quit(screen);
}

const NEVER_ENDS_A_MOVE: &str = r#"
export default (pi: any) => {
  pi.on("session_before_tree", () => new Promise(() => {}));
};
"#;

#[test]
fn escape_stops_a_move_without_a_summary_too() {
    let (home, _server, mut screen) = begin(NEVER_ENDS_A_MOVE, &["First.", "Second."]);
    talk(&mut screen, "one", "First.");
    talk(&mut screen, "two", "Second.");
    let before = session(&home).1.len();
    walk(&mut screen, "First.", "1");
    screen.wait_for("Moving");
    screen.send(ESCAPE);
    screen.wait_without("Moving...");
    screen.wait_for("Session Tree");
    assert_eq!(session(&home).1.len(), before);
    // The query is still there; Escape takes it back first.
    screen.send(ESCAPE);
    screen.wait_for("type to search");
    screen.send(ESCAPE);
    screen.wait_without("Session Tree");
    quit(screen);
}

const SPEAKS_WHEN_TOLD: &str = r#"
import * as fs from "node:fs";
export default (pi: any) => {
  const timer = setInterval(() => {
    if (!fs.existsSync("go")) return;
    clearInterval(timer);
    pi.sendUserMessage("from x");
  }, 50);
};
"#;

#[test]
fn a_review_that_is_answered_while_an_extension_speaks_stays_open() {
    let (home, server, mut screen) = begin(SPEAKS_WHEN_TOLD, &["First."]);
    talk(&mut screen, "one", "First.");
    server.push(Reply::answer().text("a long story").stall_after(3));
    screen.say("/cherry-pick root --again");
    screen.wait_for("Copy here");
    home.file("project/go", "");
    screen.wait_until("a question to the model", |_| server.requests().len() == 2);
    screen.send(ENTER);
    let shown = screen.wait_for("not while something runs");
    assert!(shown.contains("Copy here"), "{shown}");
    screen.send(ESCAPE);
    screen.wait_without("Copy here");
    screen.send(ESCAPE);
    screen.wait_without("Working");
    screen.send("\x15");
    quit(screen);
}

const ASKS: &str = r#"
export default (pi: any) => {
  pi.registerCommand("lunch", {
    description: "Decides about lunch",
    getArgumentCompletions: async (prefix: string) => (await new Promise((done) => setTimeout(done, 20)), ["today", "tomorrow"].filter((word) => word.startsWith(prefix)).map((value) => ({ value, label: value }))),
    handler: async (args: string, ctx: any) => {
      const what = await ctx.ui.select("What to eat?", ["soup", "bread"]);
      const sure = await ctx.ui.confirm("Sure?", `${what} it is`);
      const note = await ctx.ui.input("A note", "optional");
      ctx.ui.notify(`${args}: ${what} ${sure} ${note}`, "info");
    },
  });
  pi.registerShortcut("ctrl+alt+l", { description: "Says so", handler: async (ctx: any) => ctx.ui.notify("pressed the key") });
};
"#;

#[test]
fn a_command_is_offered_completed_and_asks_the_person() {
    let (_home, _server, mut screen) = begin(ASKS, &[]);
    screen.send("/lun");
    screen.wait_for("Decides about lunch");
    screen.send("\t");
    // The command is complete when its arguments are offered.
    screen.wait_for("› today");
    screen.send("tom");
    screen.wait_for("› tomorrow");
    screen.send("\t\r");
    screen.wait_for("What to eat?");
    screen.answer("2");
    screen.wait_for("bread it is");
    screen.answer("1");
    screen.wait_for("A note (optional)");
    screen.answer("with cheese\r");
    screen.wait_for("tomorrow: bread true with cheese");
    // A dialog that is closed answers nothing.
    screen.say("/lunch now");
    screen.wait_for("What to eat?");
    screen.send(ESCAPE);
    screen.wait_for("Sure?");
    screen.send(ESCAPE);
    screen.wait_for("A note");
    screen.send(ESCAPE);
    screen.wait_for("now: undefined false undefined");
    screen.send("\x1b\x0c");
    screen.wait_for("pressed the key");
    screen.say("/help lunch");
    screen.wait_for("/lunch  Decides about lunch");
    quit(screen);
}

const SHOWS: &str = r#"
export default (pi: any) => {
  pi.on("session_start", (_event: any, ctx: any) => {
    ctx.ui.setStatus("s", "status of x");
    ctx.ui.setWidget("w", ["first row", "second row"]);
    ctx.ui.setTitle("a title");
  });
  pi.registerCommand("more", { handler: async (_args: string, ctx: any) => {
    ctx.ui.setWidget("w", (_tui: any, theme: any) => ({ render: (width: number) => [theme.fg("accent", "drawn at " + width)], invalidate() {} }), { placement: "belowEditor" });
    ctx.ui.setStatus("s", undefined);
    ctx.ui.setEditorText("typed by x");
  } });
};
"#;

#[test]
fn statuses_and_widgets_stand_around_the_editor() {
    let (_home, _server, mut screen) = begin(SHOWS, &[]);
    screen.wait_for("status of x");
    screen.wait_for("first row\nsecond row");
    screen.say("/more");
    let shown = screen.wait_for("drawn at 100");
    assert!(!shown.contains("first row"), "{shown}");
    screen.wait_without("status of x");
    screen.wait_for("› typed by x");
    screen.resize(80, 30);
    screen.wait_for("drawn at 80");
    screen.send("\x15");
    screen.wait_without("typed by x");
    screen.say("/quit");
    let (_, bytes) = screen.end();
    assert!(String::from_utf8_lossy(&bytes).contains("\x1b]0;a title\x07"));
}

const DRAWS: &str = r#"
export default (pi: any) => {
  pi.registerMessageRenderer("poem", (message: any) => ({ render: () => ["~ " + message.content + " ~"], invalidate() {} }));
  pi.registerEntryRenderer("mark", (entry: any) => ({ render: () => ["<< " + entry.data.text + " >>"], invalidate() {} }));
  pi.registerCommand("poem", { handler: async () => { pi.sendMessage({ customType: "poem", content: "roses", display: true }); } });
  pi.registerCommand("mark", { handler: async () => { pi.appendEntry("mark", { text: "here" }); } });
  pi.registerCommand("count", { handler: async (_args: string, ctx: any) => {
    const keys = await ctx.ui.custom((_tui: any, _theme: any, _kb: any, done: any) => {
      let typed = "";
      return {
        render: (width: number) => [`typed ${typed} of ${width}`],
        handleInput(data: string) { if (data === "\r") done(typed); else typed += data === "\x1b[A" ? "^" : data; },
        invalidate() {},
      };
    });
    ctx.ui.notify(`it was ${keys}`);
  } });
};
"#;

#[test]
fn messages_entries_and_components_are_drawn_by_their_extension() {
    let (home, _server, mut screen) = begin(DRAWS, &["Done."]);
    talk(&mut screen, "hi", "Done.");
    screen.say("/poem");
    screen.wait_for("~ roses ~");
    screen.say("/mark");
    screen.wait_for("<< here >>");
    screen.say("/count");
    screen.wait_for("typed  of 100");
    screen.send("ab");
    screen.wait_for("typed ab of 100");
    screen.send(UP);
    screen.wait_for("typed ab^ of 100");
    screen.send(ENTER);
    screen.wait_for("it was ab^");
    // Who asks twice to end it ends it.
    screen.say("/count");
    screen.wait_for("typed  of 100");
    screen.send("\x03");
    screen.send("\x03");
    screen.wait_for("it was undefined");
    quit(screen);
    // They are drawn again after the return.
    let screen = start_again(&home, 900, &["-c", "-e", "x.ts"]);
    screen.wait_for("~ roses ~");
    screen.wait_for("<< here >>");
    quit(screen);
}

const OLDER_FORM: &str = r#"
export default (pi: any) => {
  const component = (name: string, more: object) => ({ render: () => [`shown ${name}`], ...more });
  pi.registerCommand("plain", { handler: async (ctx: any) => {
    ctx.ui.custom(component("plain", { handleInput() {} }), () => ctx.ui.notify("plain is closed"));
  } });
  pi.registerCommand("deaf", { handler: async (ctx: any) => {
    ctx.ui.custom(component("deaf", { handleInput: () => new Promise(() => {}) }), () => ctx.ui.notify("deaf is closed"));
  } });
  pi.registerCommand("send", { handler: async (ctx: any) => `A prompt of ${ctx.args}` });
  pi.on("session_label", async (event: any, ctx: any) => {
    await ctx.branchInPlace(ctx.entries[0].id, "what the label was for");
  });
};
"#;

#[test]
fn an_extension_in_the_older_form_shows_sends_and_branches() {
    let (_home, _server, mut screen) = begin(OLDER_FORM, &["Done.", "Sent."]);
    talk(&mut screen, "hi", "Done.");
    screen.say("/plain");
    screen.wait_for("shown plain");
    screen.send("\x1b");
    screen.wait_for("plain is closed");
    screen.wait_without("shown plain");
    // A component that never gets done with a key is closed by the second Escape.
    screen.say("/deaf");
    screen.wait_for("shown deaf");
    screen.send("x");
    // Spelled so that the terminal cannot take two of them for one key.
    screen.send("\x1b[27u\x1b[27u");
    screen.wait_for("deaf is closed");
    screen.say("/send mine");
    screen.wait_for("A prompt of mine");
    screen.wait_for("Sent.");
    // A move of the leaf in an event is shown like any other.
    screen.say("/label here");
    screen.wait_for("what the label was for");
    quit(screen);
}

const TOOL: &str = r#"
import { Type } from "typebox";
import { Text } from "@earendil-works/pi-tui";
export default (pi: any) => pi.registerTool({
  name: "dice", label: "Dice", description: "Throws dice", parameters: Type.Object({ sides: Type.Number() }),
  async execute(_id: string, args: any) { return { content: [{ type: "text", text: "seven" }], details: { thrown: 7 } }; },
  renderCall: (args: any) => new Text(`throwing a die of ${args.sides}`, 0, 0),
  renderResult: (result: any) => new Text(`it shows ${result.details.thrown}`, 0, 0),
});
"#;

#[test]
fn a_tool_of_an_extension_is_asked_about_and_draws_its_calls() {
    let (home, server) = (Home::new(), ModelServer::start([]).unwrap());
    set_up(&home, &server, "anthropic-messages");
    server.push(Reply::answer().call("c1", "dice", json!({"sides": 20})));
    server.push(Reply::answer().text("Thrown."));
    home.file("project/x.ts", TOOL);
    let mut screen = start(&home, &["-e", "x.ts"]);
    screen.wait_for("every conversation is a tree");
    screen.say("throw");
    let shown = screen.wait_for("May dice do this?");
    assert!(shown.contains("the tool `dice` of the extension `x` with {\"sides\":20}"), "{shown}");
    assert!(shown.contains("Always                  extension(x), until you leave"), "{shown}");
    screen.answer("1");
    screen.wait_for("throwing a die of 20\nit shows 7");
    screen.wait_for("Thrown.");
    screen.wait_without("Working");
    quit(screen);
    let screen = start_again(&home, 900, &["-c", "-e", "x.ts"]);
    screen.wait_for("throwing a die of 20\nit shows 7");
    quit(screen);
}

#[test]
fn a_trusted_extension_is_not_asked_about_again_until_it_is_revoked() {
    let (home, server) = (Home::new(), ModelServer::start([]).unwrap());
    set_up(&home, &server, "anthropic-messages");
    let mut calls = 0;
    let mut throw = |text: &str| {
        calls += 1;
        server.push(Reply::answer().call(&format!("c{calls}"), "dice", json!({"sides": 6})));
        server.push(Reply::answer().text(text));
    };
    home.file("project/x.ts", TOOL);
    let mut screen = start(&home, &["-e", "x.ts"]);
    screen.wait_for("every conversation is a tree");
    throw("First.");
    screen.say("throw");
    screen.wait_for("Always in all projects  extension(x)");
    screen.answer("4");
    screen.wait_for("First.");
    screen.wait_without("Working");
    quit(screen);

    let mut screen = start_again(&home, 900, &["-e", "x.ts"]);
    screen.wait_for("every conversation is a tree");
    throw("Second.");
    screen.say("throw");
    let shown = screen.wait_for("Second.");
    assert!(!shown.contains("May dice"), "{shown}");
    screen.wait_without("Working");
    screen.say("/permissions");
    screen.wait_for("allow  extension(x)  all projects");
    screen.say("/permissions --revoke extension(x)");
    screen.wait_for("revoked the rule `extension(x)`");
    throw("Third.");
    screen.say("throw");
    screen.wait_for("May dice do this?");
    screen.answer("1");
    screen.wait_for("Third.");
    screen.wait_without("Working");
    quit(screen);
}

#[test]
fn an_extension_of_a_project_is_trusted_only_there() {
    let (home, server) = (Home::new(), ModelServer::start([]).unwrap());
    set_up(&home, &server, "anthropic-messages");
    server.push(Reply::answer().call("c1", "dice", json!({"sides": 6})));
    server.push(Reply::answer().text("Thrown."));
    home.file("project/.offshoot/extensions/x.ts", TOOL);
    let mut screen = start(&home, &["--approve"]);
    screen.wait_for("every conversation is a tree");
    screen.say("throw");
    let shown = screen.wait_for("Always in this project  extension(./x)");
    assert!(!shown.contains("all projects"), "{shown}");
    screen.answer("3");
    screen.wait_for("Thrown.");
    screen.wait_without("Working");
    screen.say("/permissions");
    screen.wait_for("allow  extension(./x)  this project");
    quit(screen);
}

#[test]
fn a_flood_of_notifications_is_collapsed_and_stays_in_the_log() {
    let text = r#"export default (pi: any) => pi.registerCommand("flood", { handler: async (_a: string, ctx: any) => {
        for (let turn = 1; turn <= 120; turn += 1) ctx.ui.notify(`wave ${turn}.`, turn === 60 ? "warning" : "info");
    } });"#;
    let (_home, _server, mut screen) = begin(text, &[]);
    screen.say("/flood");
    screen.wait_for("100 more notifications of the extension x are in the log");
    let shown = screen.wait_for("wave 20.");
    assert!(!shown.contains("wave 21."), "{shown}");
    screen.say("/log 200");
    screen.wait_for("notification: wave 120.");
    quit(screen);
}

#[test]
fn hooks_see_prompts_and_an_extension_may_move_and_send() {
    let text = r#"
    export default (pi: any) => {
      pi.on("input", (e: any) => e.text === "shout" ? { action: "transform", text: "SHOUT" } : undefined);
      pi.registerCommand("first", { handler: async (_a: string, ctx: any) => {
        const prompts = ctx.sessionManager.getBranch().filter((e: any) => e.message?.role === "user");
        await ctx.navigateTree(prompts[0].id, { summarize: false });
      } });
      pi.registerCommand("go", { handler: async () => { pi.sendUserMessage("sent by x"); } });
    };"#;
    let (home, _server, mut screen) = begin(text, &["Loud.", "Sent."]);
    talk(&mut screen, "shout", "Loud.");
    screen.say("/first");
    screen.wait_for("an extension went here; /back returns");
    screen.wait_for("› SHOUT");
    screen.send("\x15");
    screen.wait_without("› SHOUT");
    screen.say("/go");
    screen.wait_for("Sent.");
    screen.wait_for("branch 1/2");
    assert_eq!(said(&session(&home).1, "user"), ["SHOUT", "sent by x"]);
    quit(screen);
}

#[test]
fn a_changed_file_counts_after_a_reload() {
    let greet = |word: &str| {
        format!(
            "export default (pi: any) => pi.registerCommand('greet', {{ handler: async (_a: string, ctx: any) => ctx.ui.notify('{word}') }});"
        )
    };
    let (home, _server, mut screen) = begin(&greet("good morning"), &[]);
    screen.say("/greet");
    screen.wait_for("good morning");
    home.file("project/x.ts", greet("good evening"));
    screen.say("/reload");
    screen.wait_for("reloaded 1 extension,");
    screen.say("/greet");
    screen.wait_for("good evening");
    // An extension that cannot be loaded is reported with its path, and the others are loaded.
    home.file("project/x.ts", "const b: = 2;");
    screen.say("/reload");
    screen.wait_for("x.ts:1:");
    screen.wait_for("reloaded 0 extensions,");
    quit(screen);
}

#[test]
fn a_project_is_asked_about_and_asked_about_again_when_it_changes() {
    let home = Home::new();
    let greet = |word: &str| {
        format!(
            "export default (pi: any) => pi.registerCommand('greet', {{ handler: async (_a: string, ctx: any) => ctx.ui.notify('{word}') }});"
        )
    };
    home.file("project/.offshoot/extensions/x.ts", greet("good morning"));
    let mut screen = start(&home, &[]);
    let shown = screen.wait_for("trust all of this? [yes/no/never]");
    assert!(shown.contains(".offshoot/extensions/x.ts"), "{shown}");
    assert!(shown.contains("a loaded extension runs with your rights"), "{shown}");
    screen.send("no\r");
    screen.wait_for("every conversation is a tree");
    screen.say("/greet");
    screen.wait_for("there is no command /greet");
    screen.wait_for("› /greet");
    screen.send("\x15");
    quit(screen);

    let mut screen = start(&home, &[]);
    screen.wait_for("trust all of this?");
    screen.send("yes\r");
    screen.wait_for("every conversation is a tree");
    screen.say("/greet");
    screen.wait_for("good morning");
    home.file("project/.offshoot/extensions/x.ts", greet("good evening"));
    screen.say("/reload");
    let shown = screen.wait_for("This project changed since you trusted it");
    assert!(shown.contains("a loaded extension runs with your rights"), "{shown}");
    screen.send("2");
    screen.wait_for("reloaded 1 extension,");
    screen.say("/greet");
    screen.wait_for("good evening");
    quit(screen);
    let screen = start(&home, &[]);
    let shown = screen.wait_for("every conversation is a tree");
    assert!(!shown.contains("trust all of this?"), "{shown}");
    quit(screen);
}

#[test]
fn a_new_session_has_new_extensions() {
    let text = r#"
    let count = 0;
    export default (pi: any) => {
      pi.on("session_start", (e: any, ctx: any) => ctx.ui.setStatus("s", `began ${e.reason} ${++count}`));
    };"#;
    let (home, server) = (Home::new(), answering(&["One."]));
    set_up(&home, &server, "anthropic-messages");
    home.file("project/x.ts", text);
    // A new session needs a new id.
    let mut screen = Screen::start(home.command(&["-e", "x.ts"]).env_remove("OFFSHOOT_IDS"), 100, 30);
    screen.wait_for("began startup 1");
    talk(&mut screen, "hi", "One.");
    screen.say("/new");
    screen.wait_for("began new 1");
    quit(screen);
}

#[test]
fn a_session_from_elsewhere_brings_no_extensions() {
    let home = Home::new();
    for place in [".pi/extensions", ".offshoot/extensions"] {
        home.file(&format!("elsewhere/{place}/x.ts"), MARK);
    }
    let cwd = home.path("elsewhere");
    let header = json!({"type": "session", "version": 3, "id": "evil", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": cwd});
    let entries = testkit::drawing::entry_lines("u1 user hello from elsewhere");
    let file = home.file("elsewhere/evil.jsonl", [format!("{header}\n").into_bytes(), entries].concat());
    let screen = start(&home, &["--session", &file]);
    screen.wait_for("hello from elsewhere");
    let shown = screen.wait_for("offshoot/offline");
    assert!(!shown.contains("trust all of this?"), "{shown}");
    quit(screen);
    for mark in ["project/loaded", "elsewhere/loaded"] {
        assert!(!home.path(mark).exists(), "{mark}");
    }
}

const CANCELS: &str = r#"
import * as fs from "node:fs";
export default (pi: any) => {
  pi.on("session_before_tree", () => { fs.writeFileSync("asked", "yes"); return { cancel: true }; });
};
"#;

/// Waits until the hook of [`CANCELS`] was called; a silent hook changes nothing on the screen.
fn wait_for_hook(home: &Home) {
    let patience = Instant::now() + Duration::from_secs(90);
    while !home.path("project/asked").exists() {
        assert!(Instant::now() < patience, "the hook was not called");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_hook_that_cancels_is_silent_unless_a_setting_shows_it() {
    for is_shown in [false, true] {
        let (home, server) = (Home::new(), answering(&["First.", "Second.", "Third."]));
        set_up(&home, &server, "anthropic-messages");
        let mut settings: serde_json::Value =
            serde_json::from_slice(&std::fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap();
        if is_shown {
            settings["showHookCancel"] = json!(true);
        }
        home.file("offshoot/settings.json", settings.to_string());
        home.file("project/x.ts", CANCELS);
        let mut screen = start(&home, &["-e", "x.ts"]);
        screen.wait_for("every conversation is a tree");
        screen.wait_without("Loading extensions");
        talk(&mut screen, "one", "First.");
        talk(&mut screen, "two", "Second.");
        walk(&mut screen, "First.", "1");
        screen.wait_without("No summary");
        wait_for_hook(&home);
        // The chat takes keys again once the move has ended.
        screen.wait_without("Moving");
        if is_shown {
            screen.wait_for("cancelled by the extension");
        }
        talk(&mut screen, "three", "Third.");
        assert_eq!(said(&session(&home).1, "user"), ["one", "two", "three"]);
        screen.say("/quit");
        // A line may be replaced by the next one, so all bytes count.
        let bytes = String::from_utf8_lossy(&screen.end().1).into_owned();
        let lines = ["ancelled", "nothing changed", "did not want"];
        assert_eq!(lines.iter().any(|line| bytes.contains(line)), is_shown, "{bytes}");
    }
}
