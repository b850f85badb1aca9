//! Calls of tools: which call a result answers, and how a call reads in one line.

use super::result::call_in;
use super::text::{clip_dots, shown};
use crate::error::Result;
use crate::json::{Doc, ValueRef};
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::{Node, Tree};

/// How far above a result its call is looked for. Results follow their call at once; what comes between are the
/// results of calls made together, and bookkeeping.
const REACH: usize = 256;

/// Finds the answer whose call a tool result answers.
pub(crate) fn answer_above(tree: &Tree, result: Node) -> Option<Node> {
    let above = tree.ancestors(result).skip(1).take(REACH);
    for node in above {
        match tree.role(node) {
            Some(Role::Assistant) => return Some(node),
            Some(Role::ToolResult) => {}
            _ if tree.is_bookkeeping(node) || tree.kind(node) == Kind::ContextEdit => {}
            _ => return None,
        }
    }
    None
}

impl Session {
    /// Returns the answer whose call a tool result answers, wherever in its turn it stands; `None` if there is none.
    ///
    /// The call is the one with the id of the result; ids are used again in later turns.
    pub fn answer_above(&self, result: Node) -> Option<Node> {
        answer_above(self.tree(), result)
    }
}

/// Gives the line that tells of the call behind a tool result; `None` if the call is not found.
pub(super) fn call_of(
    session: &Session,
    result: Node,
    call_id: &str,
    home: Option<&str>,
) -> Result<Option<String>> {
    let Some(answer) = answer_above(session.tree(), result) else { return Ok(None) };
    if let Some(call) = call_in(session, answer, call_id)? {
        return Ok(Some(describe(&call.tool, Some(call.arguments.root()), home)));
    }
    let doc = session.doc_at(answer)?;
    let content = doc.as_ref().and_then(message).and_then(|message| message.get("content"));
    // Only the call itself is read; answers can say a lot before it.
    let call = |block: ValueRef<'_>| {
        let [id, kind, name, arguments] = block.get_each(["id", "type", "name", "arguments"]);
        let is = |value: Option<ValueRef<'_>>, text| value.is_some_and(|value| value.is_str(text));
        let name = || name.and_then(ValueRef::as_str).unwrap_or_default();
        (is(id, call_id) && is(kind, "toolCall")).then(|| describe(&name(), arguments, home))
    };
    Ok(content.into_iter().flat_map(ValueRef::items).find_map(call))
}

/// Describes a call in one line.
pub(crate) fn describe(name: &str, arguments: Option<ValueRef<'_>>, home: Option<&str>) -> String {
    let text = |key: &str| arguments.and_then(|all| all.get(key)?.as_str()).unwrap_or_default();
    let path = || {
        let path = text("path");
        shorten(if path.is_empty() { text("file_path") } else { path }.as_ref(), home)
    };
    let folder = || Some(path()).filter(|path| !path.is_empty()).unwrap_or_else(|| ".".into());
    match name {
        "read" => ["[read: ", &path(), &line_range(arguments), "]"].concat(),
        "write" => ["[write: ", &path(), "]"].concat(),
        "edit" => ["[edit: ", &path(), "]"].concat(),
        "bash" => ["[bash: ", &clip_dots(&text("command"), 50), "]"].concat(),
        "grep" => ["[grep: /", &shown(&text("pattern")), "/ in ", &folder(), "]"].concat(),
        "find" => ["[find: ", &shown(&text("pattern")), " in ", &folder(), "]"].concat(),
        "ls" => ["[ls: ", &folder(), "]"].concat(),
        _ => {
            let json = arguments.map_or_else(|| "{}".into(), ValueRef::js_string);
            format!("[{}: {}]", shown(name), clip_dots(&json, 40))
        }
    }
}

/// `:start` or `:start-end`, if the call names lines at all.
fn line_range(arguments: Option<ValueRef<'_>>) -> String {
    let number = |key: &str| arguments.and_then(|all| all.get(key)?.as_i64());
    match (number("offset"), number("limit")) {
        (None, None) => String::new(),
        (start, None) => format!(":{}", start.unwrap_or(1)),
        (start, Some(limit)) => {
            let start = start.unwrap_or(1);
            format!(":{start}-{}", start.saturating_add(limit).saturating_sub(1))
        }
    }
}

/// Shortens a path inside the home directory to `~`.
fn shorten(path: &str, home: Option<&str>) -> String {
    let rest = home.filter(|home| !home.is_empty()).and_then(|home| path.strip_prefix(home));
    let path = match rest {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => format!("~{rest}"),
        _ => path.to_owned(),
    };
    shown(&path)
}

/// Reads the message of a document.
pub(super) fn message(doc: &Doc) -> Option<ValueRef<'_>> {
    doc.root().get("message").filter(|message| !message.is_null())
}
