//! Tool calls: the answer that made the call of a result, and one line that describes a call.

use crate::excerpt::{clip, excerpt, single_line};
use crate::json::ValueRef;
use crate::kind::{Kind, Role};
use crate::tree::{Node, Tree};

/// The greatest distance between a result and the answer with its call. Only results of calls made together and
/// bookkeeping are between them.
const MAX_DISTANCE: usize = 256;
/// The greatest length of a path, a pattern or a name in a description.
const MAX_NAME: usize = 200;

impl Tree {
    /// Returns the answer with the call that a tool result belongs to, or `None` if it is missing.
    ///
    /// The call is the one with the id of the result; later turns may use the same id again.
    pub fn answer_above(&self, result: Node) -> Option<Node> {
        for node in self.ancestors(result).skip(1).take(MAX_DISTANCE) {
            match self.role(node) {
                Some(Role::Assistant) => return Some(node),
                Some(Role::ToolResult) => {}
                _ if self.is_bookkeeping(node) || self.kind(node) == Kind::ContextEdit => {}
                _ => return None,
            }
        }
        None
    }
}

/// Describes a tool call in one line, such as `[read: src/main.rs:1-20]`. Paths below `home` begin with `~`.
pub fn describe_call(name: &str, arguments: Option<ValueRef<'_>>, home: Option<&str>) -> String {
    let text = |key: &str| arguments.and_then(|all| all.get(key)?.as_str()).unwrap_or_default();
    let path = || {
        let path = text("path");
        shorten(if path.is_empty() { text("file_path") } else { path }.as_ref(), home)
    };
    let folder = || Some(path()).filter(|path| !path.is_empty()).unwrap_or_else(|| ".".into());
    let pattern = || excerpt(&text("pattern"), MAX_NAME);
    match name {
        "read" => ["[read: ", &path(), &line_range(arguments), "]"].concat(),
        "write" => ["[write: ", &path(), "]"].concat(),
        "edit" => ["[edit: ", &path(), "]"].concat(),
        "bash" => ["[bash: ", &clip_with_dots(&text("command"), 50), "]"].concat(),
        "grep" => ["[grep: /", &pattern(), "/ in ", &folder(), "]"].concat(),
        "find" => ["[find: ", &pattern(), " in ", &folder(), "]"].concat(),
        "ls" => ["[ls: ", &folder(), "]"].concat(),
        _ => {
            let json = arguments.map_or_else(|| "{}".into(), ValueRef::js_string);
            format!("[{}: {}]", excerpt(name, MAX_NAME), clip_with_dots(&json, 40))
        }
    }
}

/// Returns `:start` or `:start-end` if the arguments name lines.
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

/// Replaces the home directory at the start of a path by `~`.
fn shorten(path: &str, home: Option<&str>) -> String {
    let rest = home.filter(|home| !home.is_empty()).and_then(|home| path.strip_prefix(home));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            excerpt(&format!("~{rest}"), MAX_NAME)
        }
        _ => excerpt(path, MAX_NAME),
    }
}

/// Returns the first characters of a text on one line, followed by dots if that is not all of it.
fn clip_with_dots(text: &str, limit: usize) -> String {
    let text = text.trim();
    let head = clip(text, limit);
    let dots = if head.len() < text.len() { "..." } else { "" };
    [&*single_line(head), dots].concat()
}
