//! `offshoot show`: shows one entry in full.

use schemars::JsonSchema;
use serde::Serialize;
use session_tree::json::ValueRef;
use session_tree::{Block, Body, Content, Entry, EntryId, Label, Replacement, Role, Session};
use similar::{ChangeTag, TextDiff};

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::reading::SessionAt;
use crate::ui::{Tone, Ui, bytes, thousands};

/// Show one entry in full.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionAt,
    /// Print the exact bytes of the line, and a line feed.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

/// The JSON form: the position of the entry, and its line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownEntry {
    /// The line in the file, counted from 1.
    line: u64,
    /// The number of ancestors.
    depth: usize,
    /// The ids of the children.
    children: Vec<EntryId>,
    /// True if the entry is on the path to the leaf.
    on_path: bool,
    is_leaf: bool,
    #[serde(flatten)]
    label: Option<Label>,
    entry: Entry,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    args.session.each(app, &mut |app, session| {
        let node = crate::app::resolve(session, args.session.at())?;
        let none = || match session.tree().is_empty() {
            true => Failure::new("the session has no entries"),
            false => {
                Failure::new("the position is before the first entry").hint("name an entry, such as `root`")
            }
        };
        let entry = session.entry_at(node.ok_or_else(none)?)?;
        if args.raw {
            app.ui.raw(entry.raw())?;
            return app.ui.raw(b"\n");
        }
        if args.session.output.json {
            return app.ui.json(&as_json(session, entry));
        }
        head(session, &entry, &mut app.ui)?;
        body(&entry, &mut app.ui)
    })
}

fn as_json(session: &Session, entry: Entry) -> ShownEntry {
    let (tree, node) = (session.tree(), entry.node());
    ShownEntry {
        line: session.line_number(node),
        depth: tree.ancestors(node).skip(1).count(),
        children: tree.children(node).map(|child| tree.id(child)).collect(),
        on_path: session.leaf().is_some_and(|leaf| tree.is_on_path(node, leaf)),
        is_leaf: session.leaf() == Some(node),
        label: session.label(node).cloned(),
        entry,
    }
}

fn head(session: &Session, entry: &Entry, ui: &mut Ui) -> Result<(), CommandError> {
    let (tree, node) = (session.tree(), entry.node());
    let mut kind = entry.type_name().into_owned();
    if let Some(role) = tree.role(node) {
        kind.push_str(&format!(", {role}"));
    }
    ui.line(&[
        (Tone::Dim, "entry   "),
        (Tone::Accent, entry.id().as_str()),
        (Tone::Plain, &format!(" ({kind})")),
    ])?;
    let parent = entry.parent_id().map_or_else(|| "none: a root".into(), ToString::to_string);
    field(ui, "parent  ", &parent)?;
    let children: Vec<String> = tree.children(node).map(|child| tree.id(child).to_string()).collect();
    if !children.is_empty() {
        field(ui, "children", &children.join(", "))?;
    }
    field(ui, "time    ", &entry.timestamp().to_string())?;
    let line = session.line_number(node);
    field(ui, "line    ", &format!("{}, {}", thousands(line), bytes(entry.raw().len() as u64)))?;
    if let Some(label) = session.label(node) {
        field(ui, "label   ", &label.text)?;
    }
    ui.plain("")
}

fn field(ui: &mut Ui, name: &str, value: &str) -> Result<(), CommandError> {
    ui.line(&[(Tone::Dim, name), (Tone::Plain, " "), (Tone::Plain, value)])
}

fn body(entry: &Entry, ui: &mut Ui) -> Result<(), CommandError> {
    match entry.body() {
        Body::Message(Some(message)) => show_message(message, ui),
        Body::CustomMessage { content, custom_type, .. } => {
            said(ui, "from", custom_type.as_deref())?;
            show_content(Content::of(content), ui)
        }
        Body::Compaction { summary, first_kept, .. } => {
            said(ui, "keeps from", first_kept.as_deref())?;
            text(ui, summary.as_deref())
        }
        Body::BranchSummary { summary, from_id, .. } => {
            said(ui, "of the branch to", from_id.as_deref())?;
            text(ui, summary.as_deref())
        }
        Body::Label { target, label } => {
            said(ui, "target", target.as_deref())?;
            said(ui, "label", Some(label.as_deref().unwrap_or("(cleared)")))
        }
        Body::SessionInfo { name } => said(ui, "name", name.as_deref()),
        Body::ThinkingLevelChange { level } => said(ui, "thinking level", level.as_deref()),
        Body::ModelChange { provider, model_id, .. } => {
            said(ui, "provider", provider.as_deref())?;
            said(ui, "model", model_id.as_deref())
        }
        Body::ContextEdit { target, replacement } => {
            said(ui, "target", target.as_deref())?;
            match replacement {
                Replacement::Content(content) => show_content(Content::of(Some(content)), ui),
                Replacement::Omit => ui.plain("(left out of the context)"),
                Replacement::Unreadable => ui.plain("(cannot be read, and is ignored)"),
            }
        }
        Body::Placeholder => ui.plain("the line cannot be read; --raw prints its bytes"),
        Body::Message(None)
        | Body::Usage { .. }
        | Body::Custom { .. }
        | Body::LeafMove { .. }
        | Body::ModeChange { .. }
        | Body::RuleInjection { .. }
        | Body::ResetBoundary
        | Body::Opaque { .. } => entry.value().map_or(Ok(()), |value| pretty(value, ui)),
    }
}

fn said(ui: &mut Ui, name: &str, value: Option<&str>) -> Result<(), CommandError> {
    ui.line(&[(Tone::Dim, name), (Tone::Plain, " "), (Tone::Plain, value.unwrap_or("(none)"))])
}

fn text(ui: &mut Ui, text: Option<&str>) -> Result<(), CommandError> {
    ui.block(Tone::Plain, 0, text.unwrap_or_default())
}

fn show_message(message: ValueRef<'_>, ui: &mut Ui) -> Result<(), CommandError> {
    let string = |key| message.get(key).and_then(ValueRef::as_str);
    let role = string("role").map(|role| Role::from_name(role.as_bytes()));
    match role {
        Some(Role::BashExecution) => {
            ui.line(&[(Tone::Accent, "$ "), (Tone::Plain, &string("command").unwrap_or_default())])?;
            text(ui, string("output").as_deref())?;
            match message.get("exitCode").and_then(ValueRef::as_i64) {
                Some(0) | None => Ok(()),
                Some(code) => ui.line(&[(Tone::Bad, &format!("exit code {code}"))]),
            }
        }
        Some(Role::ToolResult) => {
            let is_error = message.get("isError").and_then(ValueRef::as_bool) == Some(true);
            let outcome = if is_error { (Tone::Bad, "error") } else { (Tone::Good, "ok") };
            let name = string("toolName").unwrap_or_default();
            ui.line(&[(Tone::Dim, "result of "), (Tone::Accent, &name), (Tone::Plain, ": "), outcome])?;
            show_content(Content::of(message.get("content")), ui)?;
            match message.get("details").and_then(|details| details.get("diff")).and_then(ValueRef::as_str) {
                Some(diff) => print_diff(&diff, ui),
                None => Ok(()),
            }
        }
        _ => {
            show_content(Content::of(message.get("content")), ui)?;
            match string("errorMessage") {
                Some(error) => ui.line(&[(Tone::Bad, "error: "), (Tone::Plain, &error)]),
                None => Ok(()),
            }
        }
    }
}

fn show_content(content: Content<'_>, ui: &mut Ui) -> Result<(), CommandError> {
    for block in content.blocks() {
        match block {
            Block::Text(text) => ui.block(Tone::Plain, 0, &text)?,
            Block::Thinking(text) => {
                ui.line(&[(Tone::Dim, "thinking:")])?;
                ui.block(Tone::Dim, 2, &text)?;
            }
            Block::Image { data, mime_type } => {
                let size = bytes(data.len() as u64 / 4 * 3);
                ui.line(&[(Tone::Notice, &format!("[image {mime_type}, {size}]"))])?;
            }
            Block::ToolCall { name, arguments, .. } => {
                ui.line(&[(Tone::Dim, "call of "), (Tone::Accent, &name)])?;
                show_arguments(arguments, ui)?;
            }
            Block::Other(value) => pretty(value, ui)?,
        }
    }
    Ok(())
}

/// Shows the arguments of a tool: texts unchanged, a replacement as a diff.
fn show_arguments(arguments: Option<ValueRef<'_>>, ui: &mut Ui) -> Result<(), CommandError> {
    let Some(arguments) = arguments else { return Ok(()) };
    for (key, value) in arguments.members() {
        let key = key.as_str().unwrap_or_default();
        match value.as_str() {
            Some(_) if matches!(&*key, "oldText" | "newText") => {}
            Some(text) if text.contains('\n') => {
                ui.line(&[(Tone::Dim, "  "), (Tone::Dim, &key), (Tone::Dim, ":")])?;
                ui.block(Tone::Plain, 4, &text)?;
            }
            Some(text) => {
                ui.line(&[(Tone::Dim, "  "), (Tone::Dim, &key), (Tone::Dim, ": "), (Tone::Plain, &text)])?;
            }
            None if key == "edits" => {}
            None => {
                ui.line(&[
                    (Tone::Dim, "  "),
                    (Tone::Dim, &key),
                    (Tone::Dim, ": "),
                    (Tone::Plain, &lossy(value)),
                ])?;
            }
        }
    }
    let edits = arguments.get("edits").into_iter().flat_map(ValueRef::items);
    for edit in std::iter::once(arguments).chain(edits) {
        let side = |key| edit.get(key).and_then(ValueRef::as_str);
        if let (Some(old), Some(new)) = (side("oldText"), side("newText")) {
            diff_between(&old, &new, ui)?;
        }
    }
    Ok(())
}

fn lossy(value: ValueRef<'_>) -> String {
    String::from_utf8_lossy(value.raw()).into_owned()
}

fn pretty(value: ValueRef<'_>, ui: &mut Ui) -> Result<(), CommandError> {
    let pretty = value.to_serde().and_then(|value| serde_json::to_string_pretty(&value).ok());
    ui.block(Tone::Plain, 0, &pretty.unwrap_or_else(|| lossy(value)))
}

/// The maximum length of texts to compare; longer ones are shown one after the other.
const LONGEST: usize = 1 << 20;

/// Prints the difference between two texts.
fn diff_between(old: &str, new: &str, ui: &mut Ui) -> Result<(), CommandError> {
    if old.len() + new.len() > LONGEST {
        ui.block(Tone::Bad, 2, old)?;
        return ui.block(Tone::Good, 2, new);
    }
    let diff = TextDiff::from_lines(old, new);
    for change in diff.iter_all_changes() {
        let (tone, sign) = match change.tag() {
            ChangeTag::Delete => (Tone::Bad, "  - "),
            ChangeTag::Insert => (Tone::Good, "  + "),
            ChangeTag::Equal => (Tone::Dim, "    "),
        };
        let line = change.value().trim_end_matches(['\n', '\r']).replace('\t', "    ");
        ui.line(&[(tone, sign), (tone, &line)])?;
    }
    Ok(())
}

/// Prints a diff that a tool recorded.
fn print_diff(diff: &str, ui: &mut Ui) -> Result<(), CommandError> {
    for line in diff.lines() {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            _ => Tone::Dim,
        };
        ui.line(&[(tone, &line.replace('\t', "    "))])?;
    }
    Ok(())
}
