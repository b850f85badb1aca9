//! Rows of small trees, drawn as text.

mod golden;
mod keys;
mod looks;
mod many;
mod rows;
mod turns;

use super::*;

/// Builds sessions line by line. Every entry comes one second after the one before it.
#[derive(Default)]
pub(super) struct Draw {
    lines: Vec<String>,
}

impl Draw {
    pub(super) fn entry(&mut self, id: &str, parent: &str, rest: &str) -> &mut Self {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        let second = self.lines.len() + 1;
        let time = format!("2025-06-02T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60);
        self.lines.push(format!(r#"{{{rest},"id":"{id}","parentId":{parent},"timestamp":"{time}"}}"#));
        self
    }

    pub(super) fn message(&mut self, id: &str, parent: &str, message: &str) -> &mut Self {
        self.entry(id, parent, &format!(r#""type":"message","message":{{{message}}}"#))
    }

    pub(super) fn user(&mut self, id: &str, parent: &str, text: &str) -> &mut Self {
        let content = format!(r#""role":"user","content":[{{"type":"text","text":{text:?}}}]"#);
        self.message(id, parent, &content)
    }

    pub(super) fn assistant(&mut self, id: &str, parent: &str, text: &str) -> &mut Self {
        let content = format!(
            r#""role":"assistant","content":[{{"type":"text","text":{text:?}}}],"stopReason":"stop""#
        );
        self.message(id, parent, &content)
    }

    /// An answer that only calls a tool.
    pub(super) fn call(&mut self, id: &str, parent: &str, tool: &str, arguments: &str) -> &mut Self {
        let call =
            format!(r#"{{"type":"toolCall","id":"call-{id}","name":"{tool}","arguments":{arguments}}}"#);
        self.message(id, parent, &format!(r#""role":"assistant","content":[{call}],"stopReason":"toolUse""#))
    }

    /// The result of the call made by its parent.
    pub(super) fn result(&mut self, id: &str, parent: &str, tool: &str, text: &str) -> &mut Self {
        let content = format!(
            r#""role":"toolResult","toolCallId":"call-{parent}","toolName":"{tool}","content":[{{"type":"text","text":{text:?}}}],"isError":false"#
        );
        self.message(id, parent, &content)
    }

    pub(super) fn label(&mut self, id: &str, parent: &str, target: &str, text: &str) -> &mut Self {
        self.entry(id, parent, &format!(r#""type":"label","targetId":"{target}","label":"{text}""#))
    }

    pub(super) fn settings(&mut self, id: &str, parent: &str) -> &mut Self {
        self.entry(id, parent, r#""type":"model_change","provider":"p","modelId":"m""#)
    }

    pub(super) fn session(&self) -> Session {
        let header =
            r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-06-02T00:00:00.000Z","cwd":"/"}"#;
        let mut text = format!("{header}\n");
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        Session::from_bytes(text.into_bytes()).unwrap()
    }

    /// A session whose leaf is at `leaf`, as another writer's marker would put it.
    pub(super) fn session_at(&mut self, leaf: &str) -> Session {
        self.entry(
            "leafmark",
            leaf,
            &format!(r#""type":"custom","customType":"session-tree.leaf","data":{{"targetId":"{leaf}"}}"#),
        )
        .session()
    }
}

pub(super) fn outline(session: &Session, filter: Filter) -> Outline {
    Outline::new(session, OutlineOptions { filter, ..OutlineOptions::default() })
}

pub(super) fn all_rows(outline: &Outline, session: &Session) -> Vec<OutlineRow> {
    outline.rows(session, 0..outline.len()).unwrap()
}

/// The rows as a terminal would print them.
pub(super) fn print(outline: &Outline, session: &Session) -> String {
    let lines = all_rows(outline, session).into_iter().map(|row| {
        let dot = if row.on_path { "• " } else { "" };
        let label = row.label.as_ref().map_or_else(String::new, |label| format!("[{}] ", label.text));
        format!("{}{dot}{label}{}\n", row.prefix(Charset::Unicode), row.text)
    });
    lines.collect()
}

pub(super) fn ids(outline: &Outline, session: &Session) -> Vec<String> {
    (0..outline.len()).map(|row| session.tree().id(outline.node(row).unwrap()).to_string()).collect()
}
