//! The sample session: a greeter, tried in Node, in Rust and as a web page.

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use session_tree::merge::{MergeContent, MergeRequest};
use session_tree::{
    AssistantBuilder, Clock, EntryId, Image, KeepFrom, Message, NewBranchSummary, NewCompaction, Position,
    Session, Timestamp, Usage,
};

use crate::error::CommandError;

/// The project of the sample session.
pub(super) const CWD: &str = "/home/ann/greeter";

/// A picture of a face, 12 by 12 pixels.
const PICTURE: &str = concat!(
    "iVBORw0KGgoAAAANSUhEUgAAAAwAAAAMCAMAAABhq6zVAAAABlBMVEX/7KA8KBSLGkf7AAAAJElEQVR42mNgQAOMYABlI1GMyBQahwGhDl0G",
    "Yhgjummo9uAAAAxKACWP8w9kAAAAAElFTkSuQmCC",
);

/// A clock that starts some days ago and advances by minutes, so that the sample has a history.
#[derive(Debug)]
pub(super) struct PastClock(AtomicI64);

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

impl PastClock {
    pub(super) fn before(now: Timestamp) -> Self {
        PastClock(AtomicI64::new(now.as_millis() - 2 * DAY))
    }
}

impl Clock for PastClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(20 * MINUTE, Ordering::Relaxed))
    }
}

/// Writes the sample session.
pub(super) fn write(session: &mut Session) -> Result<(), CommandError> {
    let mut play = SampleWriter { session, spent: 900 };
    play.session.append_model_change("demo", "sonnet")?;
    play.session.append_session_info("Greeter")?;
    let start = play.prompt("Build a CLI that greets people")?;
    play.answer("Which language do you have in mind?")?;
    let question = play.here();

    play.prompt("Use Node")?;
    play.tool("write", json!({"path": "greet.js", "content": NODE}), "wrote 4 lines", false)?;
    play.tool("bash", json!({"command": "time node greet.js Ann"}), "Hello, Ann!\n\nreal 0m0.061s", false)?;
    play.answer("It works, but needs 60 ms to say hello: that is how long Node takes to start.")?;

    let summary = "## Goal\nA CLI that greets people\n\n## Progress\n- greet.js works\n\n## Critical Context\n- Node \
                   needs 60 ms to start";
    let summary = NewBranchSummary { summary: summary.into(), ..NewBranchSummary::default() };
    play.session.branch_with_summary(Position::entry_or_start(question), summary)?;
    let rust = play.prompt("Too slow. Use Rust instead")?;
    play.tool("bash", json!({"command": "cargo new greeter"}), "error: `cargo` not found", true)?;
    play.tool(
        "bash",
        json!({"command": "~/.cargo/bin/cargo new greeter"}),
        "Created binary `greeter`",
        false,
    )?;
    play.tool(
        "edit",
        json!({"path": "src/main.rs", "oldText": "println!(\"Hello, world!\");", "newText": RUST}),
        "edited src/main.rs",
        false,
    )?;
    play.answer("It starts in one millisecond.")?;
    play.session.append_label_change(rust.as_str(), Some("rust"))?;
    play.compact("A greeter in Rust, after a try with Node that was too slow to start.", rust)?;
    play.prompt("Add a --shout flag")?;
    play.tool(
        "edit",
        json!({"path": "src/main.rs", "oldText": "let name", "newText": "let mut name"}),
        "edited",
        false,
    )?;
    play.answer("HELLO, ANN!")?;
    let shouting = play.here();

    play.session.branch(start.as_str())?;
    play.prompt_with_picture("No CLI after all: a web page that looks like this")?;
    play.tool("write", json!({"path": "index.html", "content": "<h1>Hello</h1>"}), "wrote 1 line", false)?;
    play.answer("A page that greets with a face.")?;
    let page = play.session.leaf();

    if let (Some(shouting), Some(page)) = (shouting, page) {
        play.session.branch(shouting.as_str())?;
        let text =
            "The web page of the other branch greets with a smiling face; its markup is in index.html.";
        let request = MergeRequest { content: MergeContent::Text(text.into()), ..MergeRequest::default() };
        let plan = play.session.plan_merge(play.session, page, &request)?;
        play.session.apply_merge(&plan)?;
    }
    play.prompt("Print that face below the greeting")?;
    play.answer("Done: the greeter smiles now.")?;
    Ok(())
}

const NODE: &str = "const name = process.argv[2] ?? 'world';\n\nconsole.log(`Hello, ${name}!`);\n";
const RUST: &str =
    "let name = std::env::args().nth(1).unwrap_or_else(|| \"world\".into());\nprintln!(\"Hello, {name}!\");";

/// The session that is being written, and the tokens of the next answer.
struct SampleWriter<'s> {
    session: &'s mut Session,
    spent: u64,
}

impl SampleWriter<'_> {
    fn here(&self) -> Option<EntryId> {
        self.session.leaf_id()
    }

    fn prompt(&mut self, text: &str) -> Result<EntryId, CommandError> {
        Ok(self.session.append(Message::user(text))?)
    }

    fn prompt_with_picture(&mut self, text: &str) -> Result<EntryId, CommandError> {
        let image = Image { data: PICTURE.to_owned(), mime_type: "image/png".to_owned() };
        Ok(self.session.append(Message::user_with_images(text, &[image]))?)
    }

    fn answer(&mut self, text: &str) -> Result<EntryId, CommandError> {
        let answer = self.start_answer().text(text).build();
        Ok(self.session.append(answer)?)
    }

    fn tool(
        &mut self,
        name: &str,
        arguments: Value,
        result: &str,
        failed: bool,
    ) -> Result<EntryId, CommandError> {
        let call = format!("call-{}", self.session.tree().len());
        let answer = self.start_answer().tool_call(&call, name, arguments).build();
        self.session.append(answer)?;
        Ok(self.session.append(Message::tool_result(call, name).text(result).is_error(failed).build())?)
    }

    fn compact(&mut self, summary: &str, first_kept: EntryId) -> Result<EntryId, CommandError> {
        Ok(self.session.append_compaction(&NewCompaction {
            summary: summary.into(),
            keep: KeepFrom::Entry(first_kept),
            tokens_before: self.spent,
            details: None,
            usage: None,
            from_hook: false,
        })?)
    }

    /// Starts an answer. Each costs a little more than the previous one, as the context grows.
    fn start_answer(&mut self) -> AssistantBuilder {
        let (input, output) = (self.spent, 140);
        self.spent += 420;
        let cost = input as f64 * 3e-6 + output as f64 * 15e-6;
        let usage = Usage { input, output, total: input + output, cost, ..Usage::default() };
        Message::assistant().api("demo").model("demo", "sonnet").usage(usage)
    }
}
