//! The call that a tool result belongs to, in one line.

use super::peek;
use session_tree::json::{Doc, ValueRef};
use session_tree::{Node, Result, Session, describe_call};

/// Describes the call that a tool result belongs to; `None` if the call is not found.
pub(super) fn call_of(
    session: &Session,
    result: Node,
    call_id: &str,
    home: Option<&str>,
) -> Result<Option<String>> {
    let Some(answer) = session.tree().answer_above(result) else { return Ok(None) };
    if let Some((tool, arguments)) = peek::call(session, answer, call_id)? {
        return Ok(Some(describe_call(&tool, arguments.as_ref().map(Doc::root), home)));
    }
    let answer = session.entry_at(answer)?;
    let content = answer.message().and_then(|message| message.get("content"));
    // Only the call itself is decoded; an answer can have long text before it.
    let call = |block: ValueRef<'_>| {
        let [id, kind, name, arguments] = block.get_each(["id", "type", "name", "arguments"]);
        let is = |value: Option<ValueRef<'_>>, text| value.is_some_and(|value| value.is_str(text));
        let name = || name.and_then(ValueRef::as_str).unwrap_or_default();
        (is(id, call_id) && is(kind, "toolCall")).then(|| describe_call(&name(), arguments, home))
    };
    Ok(content.into_iter().flat_map(ValueRef::items).find_map(call))
}
