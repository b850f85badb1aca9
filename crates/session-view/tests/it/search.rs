//! Search and the default outline: which entries they show, compared with a slow reference.

use proptest::prelude::*;
use serde_json::{Value, json};
use session_tree::{Message, Session};
use session_view::{Outline, OutlineOptions, Query, Search};
use testkit::drawing::session_text;
use testkit::rng::Rng;

use crate::support::drawn;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-06-02T00:00:00.000Z","cwd":"/"}"#;

/// A session of one chain; `entries` are the members of each entry besides its envelope.
fn chain(entries: &[String]) -> Session {
    let mut text = format!("{HEADER}\n");
    let mut parent = "null".to_owned();
    for (at, members) in entries.iter().enumerate() {
        let id = format!("{at:08x}");
        let envelope =
            format!("\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-06-02T00:00:01.000Z\"");
        // The envelope of every other message stands where pi writes it.
        match members.strip_prefix("\"type\":\"message\",\"message\":").filter(|_| at % 2 == 0) {
            Some(message) => {
                text.push_str(&format!("{{\"type\":\"message\",{envelope},\"message\":{message}}}\n"));
            }
            None => text.push_str(&format!("{{{members},{envelope}}}\n")),
        }
        parent = format!("\"{id}\"");
    }
    Session::from_bytes(text.into_bytes()).unwrap()
}

fn message(members: &str) -> String {
    format!(r#""type":"message","message":{{{members}}}"#)
}

/// The numbers of the entries that a query finds, by a run through the file and entry by entry.
fn found(session: &Session, query: &str) -> Vec<usize> {
    let mut search = Search::new(session, Query::parse(query));
    search.run(session).unwrap();
    let hits = search.hits(session);
    let nodes: Vec<_> = session.tree().nodes().collect();
    let mut single = Search::new(session, Query::parse(query));
    single.test(session, &nodes).unwrap();
    assert_eq!(single.hits(session), hits, "{query}");
    nodes.iter().enumerate().filter(|(_, node)| hits.contains(node)).map(|(at, _)| at).collect()
}

fn default_rows(session: &Session) -> Vec<String> {
    let outline = Outline::new(session, OutlineOptions::default());
    outline.rows(session, 0..outline.len()).unwrap().into_iter().map(|row| row.text).collect()
}

#[test]
fn an_answer_whose_content_is_a_plain_string_has_a_row() {
    let answers = [
        r#""role":"assistant","content":"hello there","stopReason":"stop","timestamp":1"#,
        r#""role":"assistant","content":"hello there","stopReason":"error""#,
        r#""role":"assistant","content":"\n hello there""#,
        r#""role":"assistant","content":"\u0068ello there""#,
        r#""role":"assistant","stopReason":"stop","content":"hello there""#,
        r#""stopReason":"stop","content":"hello there","role":"assistant""#,
        r#""role":"assistant","content":[{"t\u0079pe":"te\u0078t","te\u0078t":"hello there"}],"stopReason":"stop""#,
    ];
    for answer in answers {
        let session = chain(&[
            message(r#""role":"user","content":"hi""#),
            message(answer),
            message(r#""role":"user","content":"next""#),
        ]);
        let rows = default_rows(&session);
        assert_eq!(rows.len(), 3, "{answer}: {rows:?}");
        assert!(rows[1].contains("hello there"), "{answer}: {rows:?}");
    }
}

#[test]
fn an_answer_whose_content_is_a_blank_string_has_no_row() {
    for content in [r#""""#, r#"" \n\t""#, r#""\u0020\u000a""#] {
        let answer = message(&format!(r#""role":"assistant","content":{content},"stopReason":"stop""#));
        let session = chain(&[
            message(r#""role":"user","content":"hi""#),
            answer,
            message(r#""role":"user","content":"next""#),
        ]);
        assert_eq!(default_rows(&session).len(), 2, "{content}");
    }
}

#[test]
fn a_result_is_found_by_its_own_call_although_ids_repeat() {
    let call = |id: &str, path: &str| {
        format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{"path":"{path}"}}}}"#)
    };
    let answer = |calls: &[String]| {
        message(&format!(r#""role":"assistant","content":[{}],"stopReason":"toolUse""#, calls.join(",")))
    };
    let result = |id: &str| {
        message(&format!(
            r#""role":"toolResult","toolCallId":"{id}","toolName":"read","content":[],"isError":false,"timestamp":1"#
        ))
    };
    let session = chain(&[
        answer(&[call("c1", "alpha.rs")]),
        result("c1"),
        answer(&[call("c1", "beta.rs")]),
        result("c1"),
        // Two calls of one answer total an id: the row shows the first one.
        answer(&[call("c1", "gamma.rs"), call("c1", "delta.rs"), call("c2", "alpha.rs")]),
        result("c1"),
        result("c2"),
    ]);
    assert_eq!(found(&session, "alpha.rs"), [0, 1, 4, 6]);
    assert_eq!(found(&session, "beta.rs"), [2, 3]);
    assert_eq!(found(&session, "gamma.rs"), [4, 5]);
    assert_eq!(found(&session, "delta.rs"), [4]);
    assert_eq!(found(&session, "role:toolresult -alpha.rs"), [3, 5]);
    assert_eq!(found(&session, "file:beta"), [2, 3]);
}

#[test]
fn text_inside_the_details_of_a_result_is_not_searched_whatever_the_order_of_the_keys() {
    let nested = r#""details":{"messages":[{"role":"toolResult","toolName":"zebra","summary":"zebra","content":[{"type":"text","text":"zebra"}]}]}"#;
    let own = r#""toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"horse"}]"#;
    let session = chain(&[
        message(&format!(r#""role":"toolResult",{own},{nested},"isError":false"#)),
        message(&format!(r#""role":"toolResult",{nested},{own},"isError":false"#)),
        message(&format!(r#"{nested},{own},"role":"toolResult""#)),
        message(&format!(r#""role":"user","content":"horse",{nested}"#)),
    ]);
    assert_eq!(found(&session, "zebra"), [] as [usize; 0]);
    assert_eq!(found(&session, "tool:zebra"), [] as [usize; 0]);
    assert_eq!(found(&session, "horse"), [0, 1, 2, 3]);
    assert_eq!(found(&session, "tool:read"), [0, 1, 2]);
}

/// Words that meet each other's beginnings, names of keys, and letters whose lower case is another length.
const WORDS: [&str; 12] = [
    "alpha",
    "nalpha",
    "type",
    "text",
    "toolName",
    "summary",
    "00e9",
    "é",
    "K\u{212a}k",
    "a/b",
    "say \"x\"",
    "c:\\tmp",
];

struct Writer(Rng);

impl Writer {
    fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn words(&mut self) -> String {
        let count = 1 + self.below(3);
        (0..count).map(|_| *self.0.pick(&WORDS)).collect::<Vec<_>>().join(if self.below(2) == 0 {
            " "
        } else {
            "\n"
        })
    }

    /// Writes a value as JSON with keys in any order and, now and then, plain letters as escapes.
    fn write(&mut self, value: &Value) -> String {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.write(item)).collect();
                format!("[{}]", items.join(","))
            }
            Value::Object(members) => {
                let mut parts: Vec<String> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{}", self.write(value))).collect();
                for at in (1..parts.len()).rev() {
                    let other = usize::try_from(self.below(at as u64 + 1)).unwrap();
                    parts.swap(at, other);
                }
                format!("{{{}}}", parts.join(","))
            }
            other => other.to_string(),
        }
    }

    fn string(&mut self, text: &str) -> String {
        if self.below(4) > 0 {
            return Value::from(text).to_string();
        }
        let units =
            text.encode_utf16().map(|unit| match u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric) {
                Some(byte) if self.below(2) == 0 => char::from(byte).to_string(),
                _ => format!("\\u{unit:04x}"),
            });
        format!("\"{}\"", units.collect::<String>())
    }

    /// Writes a result without details in the order of pi.
    fn plain_result(&mut self, entry: &Value) -> Option<String> {
        let result = &entry["message"];
        (result["timestamp"] == 17).then(|| {
            let [id, tool, text] = [&result["toolCallId"], &result["toolName"], &result["content"][0]["text"]];
            let text = self.write(text);
            message(&format!(
                r#""role":"toolResult","toolCallId":{id},"toolName":{tool},"content":[{{"type":"text","text":{text}}}],"isError":true,"timestamp":17"#
            ))
        })
    }

    fn text_block(&mut self) -> Value {
        json!({"type": "text", "text": self.words()})
    }

    fn call(&mut self) -> Value {
        let id = format!("c{}", self.below(2));
        let name = *self.0.pick(&["read", "bash", "alpha"]);
        let arguments = match self.below(3) {
            0 => json!({"path": self.words()}),
            1 => json!({"command": self.words(), "deep": [{"text": self.words()}]}),
            _ => json!({}),
        };
        json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
    }

    fn content(&mut self, has_calls: bool) -> Value {
        if self.below(4) == 0 {
            return self.words().into();
        }
        let count = self.below(3);
        let blocks = (0..count).map(|_| match self.below(4) {
            0 => json!({"type": "thinking", "thinking": self.words()}),
            1 | 2 if has_calls => self.call(),
            _ => self.text_block(),
        });
        blocks.collect()
    }

    fn details(&mut self) -> Value {
        json!({"messages": [{"toolName": self.words(), "content": [self.text_block()]}], "summary": self.words()})
    }

    fn entry(&mut self) -> Value {
        let message = match self.below(9) {
            0 | 1 => json!({"role": "user", "content": self.content(false), "toolName": self.words()}),
            2 | 3 => {
                json!({"role": "assistant", "content": self.content(true), "stopReason": "stop", "errorMessage": self.words()})
            }
            4 | 5 => {
                json!({"role": "toolResult", "toolCallId": format!("c{}", self.below(2)), "toolName": self.0.pick(&["read", "alpha"]), "content": self.content(false), "details": self.details(), "isError": false})
            }
            7 => {
                json!({"role": "toolResult", "toolCallId": "c0", "toolName": self.0.pick(&["read", "alpha"]), "content": [self.text_block()], "isError": true, "timestamp": 17})
            }
            6 => {
                json!({"role": "bashExecution", "command": self.words(), "output": self.words(), "note": self.words()})
            }
            _ => {
                return json!({"type": "branch_summary", "fromId": "x", "summary": self.words(), "details": {"readFiles": [self.words()], "other": self.words()}});
            }
        };
        json!({"type": "message", "message": message})
    }
}

/// A string that a search has to find.
struct SearchedText {
    text: String,
    is_tool: bool,
    is_file: bool,
}

impl SearchedText {
    fn of(value: &Value, is_tool: bool, is_file: bool) -> Option<Self> {
        value.as_str().map(|text| Self { text: text.to_owned(), is_tool, is_file })
    }

    fn holds(&self, wanted: &str) -> bool {
        match wanted.is_ascii() {
            true => self.text.to_ascii_lowercase().contains(wanted),
            false => self.text.to_lowercase().contains(wanted),
        }
    }
}

/// Returns the strings of an entry that a search has to find.
fn searched(entry: &Value) -> Vec<SearchedText> {
    let mut found = Vec::new();
    let mut add = |value: &Value, tool: bool, file: bool| found.extend(SearchedText::of(value, tool, file));
    if entry["type"] == "branch_summary" {
        add(&entry["summary"], false, false);
        add(&entry["details"]["readFiles"][0], false, true);
        return found;
    }
    let message = &entry["message"];
    for key in ["errorMessage", "command", "output", "content"] {
        add(&message[key], false, false);
    }
    if message["role"] == "toolResult" {
        add(&message["toolName"], true, false);
    }
    for block in message["content"].as_array().into_iter().flatten() {
        if block["type"] == "text" {
            add(&block["text"], false, false);
        }
        found_in_call(block, &mut add);
    }
    found
}

fn found_in_call(block: &Value, add: &mut dyn FnMut(&Value, bool, bool)) {
    if block["type"] == "toolCall" {
        let arguments = &block["arguments"];
        add(&block["name"], true, false);
        add(&arguments["path"], false, true);
        add(&arguments["command"], false, false);
        add(&arguments["deep"][0]["text"], false, false);
    }
}

/// The strings that find the entry at `at`: its own, and for a result those of its call.
fn searched_at(entries: &[Value], at: usize) -> Vec<SearchedText> {
    let mut found = searched(&entries[at]);
    let role = |at: usize| entries[at]["message"]["role"].as_str().unwrap_or_default();
    if role(at) != "toolResult" {
        return found;
    }
    let above =
        (0..at).rev().find(|above| role(*above) != "toolResult").filter(|above| role(*above) == "assistant");
    let blocks = above.and_then(|above| entries[above]["message"]["content"].as_array());
    let id = &entries[at]["message"]["toolCallId"];
    let call = blocks.into_iter().flatten().find(|block| block["type"] == "toolCall" && block["id"] == *id);
    if let Some(call) = call {
        found_in_call(call, &mut |value, tool, file| found.extend(SearchedText::of(value, tool, file)));
    }
    found
}

proptest! {
    #![proptest_config(drawn(300))]

    #[test]
    fn a_search_finds_what_reading_every_decoded_entry_finds(seed in any::<u64>()) {
        let mut writer = Writer(Rng::new(seed));
        let entries: Vec<Value> = (0..12).map(|_| writer.entry()).collect();
        let lines: Vec<String> = entries.iter().map(|entry| {
            writer.plain_result(entry).unwrap_or_else(|| {
                let object = writer.write(entry);
                object[1..object.len() - 1].to_owned()
            })
        }).collect();
        let session = chain(&lines);
        let matching = |test: &dyn Fn(&SearchedText) -> bool| -> Vec<usize> {
            (0..entries.len()).filter(|at| searched_at(&entries, *at).iter().any(test)).collect()
        };
        for term in ["alpha", "nalpha", "text", "toolname", "00e9", "é", "é kkk", "kkk", "a/b", "c:\\tmp", "zzz"] {
            let cases = [
                (format!("\"{term}\""), matching(&|found| found.holds(term))),
                (format!("tool:\"{term}\""), matching(&|found| found.is_tool && found.holds(term))),
                (format!("file:\"{term}\""), matching(&|found| found.is_file && found.holds(term))),
            ];
            for (query, expected) in cases {
                prop_assert_eq!(found(&session, &query), expected, "query {} in\n{}", query, lines.join("\n"));
            }
        }
        // A quote begins a phrase, so quotes are searched for with a pattern.
        prop_assert_eq!(found(&session, "re:y \"x"), matching(&|found| found.text.contains("y \"x")), "seed {}", seed);
    }
}

#[test]
fn a_search_starts_again_if_the_replaced_file_has_fewer_entries() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, session_text("a1 user one\na2<a1 user two\na3<a2 user five\na4<a3 user six"))
        .unwrap();
    let mut session = Session::open(&path).unwrap();
    let mut search = Search::new(&session, Query::parse("five"));
    let copy = dir.path().join("copy.jsonl");
    std::fs::write(&copy, session_text("a3 user five\na4<a3 user six")).unwrap();
    std::fs::rename(&copy, &path).unwrap();
    session.append(Message::user("more")).unwrap();
    assert_eq!(session.tree().len(), 3);
    assert_eq!(search.run(&session).unwrap().hits, 1);
    assert_eq!(search.hits(&session), [session.tree().node("a3").unwrap()]);
}
