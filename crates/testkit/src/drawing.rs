//! Drawings: a session file written down as a small tree of words.
//!
//! One line per entry: its id, `<` and its parent (none for a root), a word for its type, and what it says. The
//! bytes are spelled as pi spells them; entry number `k` is written `k` seconds after the header. Tests say what a
//! file means instead of showing forty lines of JSON.
//!
//! | word | entry |
//! |---|---|
//! | `user TEXT`, `assistant TEXT`, `system TEXT` | a message of that role |
//! | `call TOOL TEXT` | an answer that calls a tool |
//! | `tool NAME RESULT` | the result of a tool, of the parent's call if that is one |
//! | `bash COMMAND` | a shell run of the user |
//! | `compaction keep=ID SUMMARY` | a compaction that keeps from `ID` on |
//! | `summary from=ID TEXT` | a branch summary |
//! | `custom TYPE`, `custom_message TYPE TEXT` | state and message of an extension |
//! | `label TARGET NAME` | a label; without a name it is cleared |
//! | `model PROVIDER/MODEL`, `thinking LEVEL`, `info NAME`, `usage KIND` | bookkeeping |
//! | `edit TARGET omit`, `edit TARGET TEXT` | a context edit |
//! | `marker TARGET` | a leaf marker; `-` means before the first entry |
//! | `! BYTES` at the start of a line | the rest of the line as it is |
//!
//! ```
//! use session_tree::Session;
//! use testkit::drawing::session_text;
//!
//! let text = session_text(
//!     "a user hello
//!      b<a assistant hi
//!      c<b user try A
//!      d<b user try B",
//! );
//! let session = Session::from_bytes(text)?;
//! assert_eq!(session.leaf_id().unwrap(), "d");
//! let b = session.tree().node("b").unwrap();
//! assert_eq!(session.tree().children(b).count(), 2);
//! # Ok::<(), session_tree::Error>(())
//! ```

use std::collections::HashSet;
use std::fmt;

use serde_json::{Value, json};
use session_tree::Timestamp;

/// One entry of every type that can be selected.
pub const EVERY_TYPE: &str = "
    u1 user first prompt
    a2<u1 assistant an answer
    u3<a2 user second prompt
    c4<u3 call read notes.md
    r5<c4 tool read the notes
    b6<r5 bash ls
    m7<b6 custom_message reminder mind the gap
    k8<m7 compaction keep=u3 what was said
    s8<a2 summary from=k8 what was tried
    p8<s8 model a/b
    t8<p8 thinking high
    x8<t8 custom state
    u9<x8 user last prompt
    w1 custom_message welcome hello
";

/// The time of the header, in milliseconds.
const START: i64 = 1_735_689_600_000;

/// A line of a drawing that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadDrawing {
    /// The line.
    pub line: String,
    /// The reason.
    pub reason: &'static str,
}

impl fmt::Display for BadDrawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.line, self.reason)
    }
}

impl std::error::Error for BadDrawing {}

/// Returns the session file that a drawing shows: a header and one line per entry.
///
/// # Panics
///
/// Panics when the drawing cannot be understood.
pub fn session_text(drawing: &str) -> Vec<u8> {
    [header_line().into_bytes(), entry_lines(drawing)].concat()
}

/// Returns the lines of a drawing's entries, without a header.
///
/// # Panics
///
/// Panics when the drawing cannot be understood.
#[allow(clippy::panic, reason = "a wrong drawing is a wrong test")]
pub fn entry_lines(drawing: &str) -> Vec<u8> {
    try_entry_lines(drawing).unwrap_or_else(|error| panic!("bad drawing: {error}"))
}

/// Returns the lines of a drawing's entries, or what is wrong with it.
pub fn try_entry_lines(drawing: &str) -> Result<Vec<u8>, BadDrawing> {
    let mut out = Vec::new();
    let mut calls = HashSet::new();
    let lines = drawing.lines().map(str::trim).filter(|line| !line.is_empty());
    for (position, line) in lines.enumerate() {
        match line.strip_prefix("! ") {
            Some(raw) => out.extend_from_slice(raw.as_bytes()),
            None => {
                let time = START + 1_000 * (position as i64 + 1);
                let entry = Drawn::read(line, time, &mut calls)
                    .map_err(|reason| BadDrawing { line: line.into(), reason })?;
                out.extend_from_slice(entry.to_string().as_bytes());
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// Returns the header line of every drawing, with its line feed.
pub fn header_line() -> String {
    let time = Timestamp::from_millis(START);
    let header =
        json!({"type": "session", "version": 3, "id": "ses", "timestamp": time.to_string(), "cwd": "/w"});
    format!("{header}\n")
}

/// An entry as it is being read: its envelope and the words after it.
struct Drawn<'d> {
    id: &'d str,
    parent: Option<&'d str>,
    time: i64,
    rest: &'d str,
}

type Read<T> = Result<T, &'static str>;

impl<'d> Drawn<'d> {
    fn read(line: &'d str, time: i64, calls: &mut HashSet<&'d str>) -> Read<Value> {
        let (place, rest) = first_word(line);
        let (id, parent) = match place.split_once('<') {
            Some((id, parent)) => (id, Some(parent)),
            None => (place, None),
        };
        if id.is_empty() || parent == Some("") {
            return Err("an id is missing");
        }
        let (word, rest) = first_word(rest);
        let mut entry = Self { id, parent, time, rest };
        if word == "call" {
            calls.insert(id);
        }
        entry.body(word, calls)
    }

    fn body(&mut self, word: &str, calls: &HashSet<&str>) -> Read<Value> {
        match word {
            "user" => Ok(self.message(json!({"role": "user", "content": self.rest}))),
            "system" => Ok(self.message(json!({"role": "system", "content": self.rest}))),
            "assistant" => Ok(self.answer(&text_blocks(self.rest), "stop")),
            "call" => self.call(),
            "tool" => self.tool_result(calls),
            "bash" => Ok(self.message(json!({"role": "bashExecution", "command": self.rest, "output": "",
                "exitCode": 0, "cancelled": false, "truncated": false}))),
            "compaction" => self.compaction(),
            "summary" => self.summary(),
            "custom" => self.custom(),
            "custom_message" => self.custom_message(),
            "label" => self.label(),
            "model" => self.model(),
            "thinking" => Ok(self.entry("thinking_level_change", json!({"thinkingLevel": self.rest}))),
            "info" => Ok(self.entry("session_info", json!({"name": self.rest}))),
            "usage" => Ok(self.entry(
                "usage",
                json!({"kind": self.rest, "provider": "prov",
                "model": "mod", "usage": usage()}),
            )),
            "edit" => self.edit(),
            "marker" => self.marker(),
            "" => Err("a word for the type is missing"),
            _ => Err("no such word"),
        }
    }

    /// Takes the next word of the rest.
    fn word(&mut self, missing: &'static str) -> Read<&'d str> {
        let (word, rest) = first_word(self.rest);
        self.rest = rest;
        if word.is_empty() { Err(missing) } else { Ok(word) }
    }

    /// Takes `key=VALUE` from the rest.
    fn named(&mut self, key: &str, missing: &'static str) -> Read<&'d str> {
        self.word(missing)?.strip_prefix(key).filter(|value| !value.is_empty()).ok_or(missing)
    }

    fn timestamp(&self) -> String {
        Timestamp::from_millis(self.time).to_string()
    }

    fn entry(&self, kind: &str, fields: Value) -> Value {
        let envelope = json!({"type": kind, "id": self.id, "parentId": self.parent,
            "timestamp": self.timestamp()});
        joined(envelope, fields)
    }

    /// Entries of extensions have their own fields first.
    fn extension_entry(&self, kind: &str, fields: Value) -> Value {
        let envelope = json!({"id": self.id, "parentId": self.parent, "timestamp": self.timestamp()});
        joined(joined(json!({"type": kind}), fields), envelope)
    }

    fn message(&self, fields: Value) -> Value {
        let message = joined(fields, json!({"timestamp": self.time}));
        self.entry("message", json!({"message": message}))
    }

    fn answer(&self, content: &Value, stop_reason: &str) -> Value {
        self.message(json!({"role": "assistant", "content": content, "api": "api", "provider": "prov",
            "model": "mod", "usage": usage(), "stopReason": stop_reason}))
    }

    fn call(&mut self) -> Read<Value> {
        let tool = self.word("the tool is missing")?;
        let call =
            json!({"type": "toolCall", "id": format!("call-{}", self.id), "name": tool, "arguments": {}});
        let mut content = text_blocks(self.rest);
        if let Value::Array(blocks) = &mut content {
            blocks.push(call);
        }
        Ok(self.answer(&content, "toolUse"))
    }

    fn tool_result(&mut self, calls: &HashSet<&str>) -> Read<Value> {
        let tool = self.word("the tool is missing")?;
        let caller = self.parent.filter(|parent| calls.contains(parent)).unwrap_or(self.id);
        Ok(self.message(json!({"role": "toolResult", "toolCallId": format!("call-{caller}"),
            "toolName": tool, "content": text_blocks(self.rest), "isError": false})))
    }

    fn compaction(&mut self) -> Read<Value> {
        let kept = self.named("keep=", "`keep=ID` is missing")?;
        Ok(self.entry(
            "compaction",
            json!({"summary": self.rest, "firstKeptEntryId": kept, "tokensBefore": 1000}),
        ))
    }

    fn summary(&mut self) -> Read<Value> {
        let from = self.named("from=", "`from=ID` is missing")?;
        Ok(self.entry("branch_summary", json!({"fromId": from, "summary": self.rest})))
    }

    fn custom(&mut self) -> Read<Value> {
        let custom_type = self.word("the custom type is missing")?;
        Ok(self.extension_entry("custom", json!({"customType": custom_type})))
    }

    fn custom_message(&mut self) -> Read<Value> {
        let custom_type = self.word("the custom type is missing")?;
        let fields = json!({"customType": custom_type, "content": self.rest, "display": true});
        Ok(self.extension_entry("custom_message", fields))
    }

    fn label(&mut self) -> Read<Value> {
        let target = self.word("the target is missing")?;
        let fields = match self.rest {
            "" => json!({"targetId": target}),
            name => json!({"targetId": target, "label": name}),
        };
        Ok(self.entry("label", fields))
    }

    fn model(&mut self) -> Read<Value> {
        let (provider, model) = self.rest.split_once('/').ok_or("`PROVIDER/MODEL` is missing")?;
        Ok(self.entry("model_change", json!({"provider": provider, "modelId": model})))
    }

    fn edit(&mut self) -> Read<Value> {
        let target = self.word("the target is missing")?;
        let replacement = match self.rest {
            "" => return Err("`omit` or a text is missing"),
            "omit" => Value::Null,
            text => json!({"content": text}),
        };
        Ok(self.entry("context_edit", json!({"targetId": target, "replacement": replacement})))
    }

    fn marker(&mut self) -> Read<Value> {
        let target = Some(self.word("the target is missing")?).filter(|target| *target != "-");
        let fields = json!({"customType": session_tree::LEAF_MARKER, "data": {"targetId": target}});
        Ok(self.extension_entry("custom", fields))
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn joined(mut first: Value, second: Value) -> Value {
    if let (Value::Object(first), Value::Object(second)) = (&mut first, second) {
        first.extend(second);
    }
    first
}

fn text_blocks(text: &str) -> Value {
    if text.is_empty() { json!([]) } else { json!([{"type": "text", "text": text}]) }
}

fn usage() -> Value {
    json!({"input": 9, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}})
}

#[cfg(test)]
mod tests;
