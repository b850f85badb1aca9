//! Texts, blocks and messages that the drawn entries carry.
//!
//! Uses `draw`. Never decides about ids, parents or times.

use serde_json::{Value, json};

use super::draw::Draw;

/// Texts with the traps of counting, trimming and escaping.
const TEXTS: &[&str] = &[
    "abcd",
    "hello",
    "fix the parser",
    "a longer question about the tree, the leaf and the path between them",
    "zwei Zeilen\nund Umlaute äöü",
    "emoji 😀😀 and 漢字かな",
    "quote \" backslash \\ slash / tab \t bell \u{7} del \u{7f}",
    "separators \u{2028} and \u{2029}",
    " padded ",
    "   ",
    "",
    "<summary>tags</summary> & `code`",
    "```\nfence\n```",
    "\u{feff}mark",
    "nul \u{0} inside",
];

const PATHS: &[&str] = &["src/lib.rs", "src/main.rs", "README.md", "a b.txt", "ä.txt", "Z.rs", "😀.md"];

/// Draws a text; one in two hundred is longer than what a summary keeps of a tool result.
pub(super) fn text(draw: &mut Draw) -> String {
    if draw.below(200) == 0 {
        let unit = *draw.pick(&["x", "é", "😀", "ab "]);
        return unit.repeat(draw.between(600, 1100)) + unit.repeat(1000).as_str();
    }
    (*draw.pick(TEXTS)).to_owned()
}

/// Draws the name of a file.
pub(super) fn path(draw: &mut Draw) -> &'static str {
    PATHS[draw.below(PATHS.len())]
}

fn text_block(draw: &mut Draw) -> Value {
    let mut block = json!({"type": "text", "text": text(draw)});
    if draw.chance(8) {
        block["textSignature"] = json!("sig");
    }
    block
}

fn image(draw: &mut Draw) -> Value {
    json!({"type": "image", "data": *draw.pick(&["aGk=", "blob:sha256:00ff", ""]), "mimeType": "image/png"})
}

/// Draws a list of text and image blocks.
pub(super) fn blocks(draw: &mut Draw) -> Value {
    let count = draw.below(4);
    (0..count).map(|_| if draw.chance(20) { image(draw) } else { text_block(draw) }).collect()
}

/// Draws what a user or an extension may say: a string or blocks.
pub(super) fn content(draw: &mut Draw) -> Value {
    if draw.chance(60) { json!(text(draw)) } else { blocks(draw) }
}

fn tool_call(draw: &mut Draw) -> Value {
    let name = *draw.pick(&["read", "read", "edit", "write", "bash", "ls"]);
    let arguments = match draw.below(6) {
        0 => json!({}),
        1 => json!({"path": 7, "flag": true, "none": null}),
        2 => json!({"command": text(draw), "timeout": 1.5, "list": [1, -2, 3e30, {"k": "é"}]}),
        3 => json!({"path": path(draw), "edits": [{"oldText": text(draw), "newText": ""}]}),
        _ => json!({"path": path(draw)}),
    };
    json!({"type": "toolCall", "id": format!("call{}", draw.below(9)), "name": name, "arguments": arguments})
}

/// Draws the usage record of an answer; old ones lack the total.
pub(super) fn usage(draw: &mut Draw) -> Value {
    let (input, output) = (draw.below(5000), draw.below(500));
    let mut usage = json!({
        "input": input, "output": output, "cacheRead": draw.below(100), "cacheWrite": 0,
        "cost": {"input": 0.001, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.251},
    });
    if draw.chance(80) {
        usage["totalTokens"] = json!(input + output);
    }
    usage
}

/// Draws a user message.
pub(super) fn user(draw: &mut Draw, ms: u64) -> Value {
    json!({"role": "user", "content": content(draw), "timestamp": ms})
}

/// Draws an answer with texts, thinking and tool calls.
pub(super) fn assistant(draw: &mut Draw, ms: u64) -> Value {
    let count = draw.below(4);
    let content: Value = (0..count)
        .map(|_| match draw.below(6) {
            0 => json!({"type": "thinking", "thinking": text(draw), "thinkingSignature": "s"}),
            1 | 2 => tool_call(draw),
            _ => text_block(draw),
        })
        .collect();
    let mut message = json!({
        "role": "assistant", "content": content, "api": "messages",
        "provider": *draw.pick(&["anthropic", "openai"]), "model": *draw.pick(&["large", "small"]),
        "usage": usage(draw), "stopReason": *draw.pick(&["stop", "stop", "toolUse", "length", "error", "aborted"]),
        "timestamp": ms,
    });
    if draw.chance(10) {
        message["errorMessage"] = json!("overloaded");
    }
    if draw.chance(10) {
        message["responseId"] = json!("r-1");
    }
    message
}

/// Draws the result of a tool.
pub(super) fn tool_result(draw: &mut Draw, ms: u64) -> Value {
    let mut message = json!({
        "role": "toolResult", "toolCallId": format!("call{}", draw.below(9)), "toolName": "read",
        "content": blocks(draw), "isError": draw.chance(20), "timestamp": ms,
    });
    if draw.chance(25) {
        message["details"] = json!({"diff": text(draw), "n": [1, 2]});
    }
    if draw.chance(10) {
        message["nestedCalls"] = json!({"calls": [tool_call(draw)], "complete": true});
    }
    message
}

/// Draws a shell run in one of its many endings.
pub(super) fn bash(draw: &mut Draw, ms: u64) -> Value {
    let mut message = json!({"role": "bashExecution", "command": text(draw), "output": text(draw)});
    match draw.below(5) {
        0 => {}
        1 => message["exitCode"] = Value::Null,
        2 => message["exitCode"] = json!(127),
        _ => message["exitCode"] = json!(0),
    }
    message["cancelled"] = json!(draw.chance(20));
    message["truncated"] = json!(draw.chance(30));
    if draw.chance(40) {
        message["fullOutputPath"] = json!("/logs/out.txt");
    }
    if draw.chance(20) {
        message["excludeFromContext"] = json!(draw.chance(80));
    }
    message["timestamp"] = json!(ms);
    message
}

/// Draws an extension's message in the form that a message entry holds.
pub(super) fn custom(draw: &mut Draw, ms: u64, role: &str) -> Value {
    let mut message =
        json!({"role": role, "customType": "note", "content": content(draw), "display": draw.chance(70)});
    if draw.chance(30) {
        message["details"] = json!({"from": "extension"});
    }
    message["timestamp"] = json!(ms);
    message
}

/// Draws a system message with sections and changes of the tool set.
pub(super) fn system(draw: &mut Draw, ms: u64) -> Value {
    let content =
        if draw.chance(70) { json!(text(draw)) } else { json!([text_block(draw), text_block(draw)]) };
    let mut message = json!({"role": "system", "content": content});
    if draw.chance(60) {
        let mut sections = json!({});
        for name in ["rules", "skills", "date"] {
            match draw.below(4) {
                0 => sections[name] = Value::Null,
                1 | 2 => sections[name] = json!(text(draw)),
                _ => {}
            }
        }
        message["sections"] = sections;
    }
    if draw.chance(50) {
        message["toolsAdded"] = json!([{"name": "read", "description": text(draw), "parameters": {"type": "object"}}, {"name": "ls"}]);
    }
    if draw.chance(25) {
        message["toolsRemoved"] = json!([{"name": *draw.pick(&["read", "ls", "none"])}]);
    }
    message["timestamp"] = json!(ms);
    message
}

/// Draws a message whose role no provider knows.
pub(super) fn unknown_role(draw: &mut Draw, ms: u64) -> Value {
    match draw.below(6) {
        0 => json!({"role": "developer", "content": text(draw), "timestamp": ms}),
        1 => json!({"role": "fileMention", "files": [{"path": path(draw), "content": "x"}], "timestamp": ms}),
        2 => json!({"role": "pythonExecution", "code": "1", "output": "1", "timestamp": ms}),
        3 => json!({"role": "branchSummary", "summary": text(draw), "fromId": "x", "timestamp": ms}),
        4 => json!({"role": "compactionSummary", "summary": text(draw), "tokensBefore": 5, "timestamp": ms}),
        _ => custom(draw, ms, "hookMessage"),
    }
}
