//! Turns: prompts, answers, tool calls and their results.
//!
//! prompt -> (call -> results)* -> answer, then perhaps one of the entries in `asides`
//!
//! The order of the keys is pi's; a reader must not depend on it, a byte comparison does.

use std::io::Write;

use super::author::{Author, Format, Kind};
use super::phrases::{Tone, base64, command, path, words};

/// Provider, API and model id of the models in use.
const MODELS: [(&str, &str, &str); 3] = [
    ("anthropic", "anthropic-messages", "claude-sonnet-4-5"),
    ("anthropic", "anthropic-messages", "claude-opus-4-5"),
    ("openai", "openai-responses", "gpt-5.1-codex"),
];
const LEVELS: [&str; 4] = ["off", "low", "medium", "high"];
pub(super) const TOOLS: [&str; 5] = ["read", "bash", "edit", "grep", "write"];

/// A tool call that waits for its result.
struct Call {
    id: String,
    tool: &'static str,
}

impl<W: Write> Author<'_, W> {
    /// Writes turns until the file is full.
    pub(super) fn conversation(&mut self) {
        self.prologue();
        let mut turn = 0_u64;
        while !self.full() {
            if self.rng.chance(self.shape.branch_rate) {
                self.branch();
            }
            self.turn();
            if turn == 0 {
                self.given_name();
            }
            self.around_turns();
            if self.context() >= self.shape.compact_after {
                self.compaction();
            }
            turn += 1;
        }
    }

    /// Writes a tree of tiny messages; `parent` gives the position of an entry's parent.
    pub(super) fn tiny_tree(&mut self, parent: impl Fn(u32) -> Option<u32>) {
        while !self.full() {
            let index = self.nodes.len() as u32;
            self.go_back_to(parent(index));
            self.wait(900.0);
            let depth = self.leaf.map_or(0, |leaf| self.nodes[leaf as usize].depth);
            if depth.is_multiple_of(2) {
                self.open_message("user");
                self.sink.raw(&format!(",\"content\":\"step {index}\""));
                self.close_message(Kind::Prompt, 1);
            } else {
                self.open_message("assistant");
                self.sink.raw(",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]");
                self.model_fields("stop", 2);
                self.close_message(Kind::Answer, 1);
            }
        }
    }

    /// Writes one turn whose tool result has `bytes` bytes.
    pub(super) fn giant_line(&mut self, bytes: u64) {
        self.prologue();
        self.prompt();
        for call in self.call(1) {
            self.text_result(&call, bytes);
        }
        self.answer();
    }

    /// The model in use: provider, API, id.
    pub(super) fn current_model(&self) -> (&'static str, &'static str, &'static str) {
        MODELS[self.model]
    }

    fn prologue(&mut self) {
        if self.format == Format::One {
            return; // The header says it.
        }
        self.clock += 3;
        self.model_change();
        self.thinking_level_change("high");
        if !self.full() {
            self.open("message");
            self.sink.raw(",\"message\":");
            self.system_message();
            self.close(Kind::Seen);
        }
    }

    fn turn(&mut self) {
        self.wait(40_000.0);
        self.prompt();
        let rounds = self.rng.size(5.0, 1.2, 40);
        for _ in 0..rounds {
            if self.full() {
                return;
            }
            let calls = match self.rng.below(100) {
                0..80 => 1,
                80..94 => 2,
                _ => 3,
            };
            for call in self.call(calls) {
                self.result(&call);
            }
        }
        self.answer();
    }

    /// Writes what happens between turns, each thing rarely.
    fn around_turns(&mut self) {
        if self.rng.chance(0.04) {
            self.label();
        }
        if self.rng.chance(0.04) {
            self.shell_run();
        }
        if self.rng.chance(0.05) {
            self.custom_message();
        }
        if self.rng.chance(0.02) {
            self.model = self.rng.below(MODELS.len() as u64) as usize;
            self.model_change();
        }
        if self.rng.chance(0.03) {
            let level = *self.rng.pick(&LEVELS);
            self.thinking_level_change(level);
        }
        if self.rng.chance(0.005) {
            let name = words(&mut self.rng, 4);
            self.session_info(&name);
        }
        if self.rng.chance(0.02) {
            self.usage_entry();
        }
        if self.rng.chance(0.006) {
            self.context_edit();
        }
    }

    fn given_name(&mut self) {
        if let Some(name) = &self.shape.name {
            self.session_info(name);
        }
    }

    fn prompt(&mut self) {
        if self.full() {
            return;
        }
        self.open_message("user");
        self.sink.raw(",\"content\":[{\"type\":\"text\",\"text\":\"");
        let opening = words(&mut self.rng, 5);
        self.sink.raw(&opening);
        self.sink.raw(": ");
        let size = self.rng.size(130.0, 1.2, 6_000);
        self.passage(Tone::Prose, size);
        self.sink.raw("\"}");
        if self.rng.chance(self.shape.image_rate) {
            self.sink.raw(",");
            self.image();
        }
        self.sink.raw("]");
        self.close_message(Kind::Prompt, 12);
        self.customs();
    }

    /// Writes an answer that calls tools and gives the calls.
    fn call(&mut self, count: u64) -> Vec<Call> {
        if self.full() {
            return Vec::new();
        }
        let before = self.clock;
        self.wait(6_000.0);
        self.open_message("assistant");
        self.sink.raw(",\"content\":[");
        if self.rng.chance(0.3) {
            self.thinking();
            self.sink.raw(",");
        }
        if self.rng.chance(0.4) {
            self.text_block(90.0);
            self.sink.raw(",");
        }
        let mut calls = Vec::new();
        for position in 0..count {
            if position > 0 {
                self.sink.raw(",");
            }
            calls.push(self.tool_call());
        }
        self.sink.raw("]");
        let tokens = self.rng.range(60, 900);
        self.model_fields("toolUse", tokens);
        let taken = self.clock - before;
        self.close_message(Kind::Call, taken);
        self.customs();
        calls
    }

    fn tool_call(&mut self) -> Call {
        let tool = match self.rng.below(100) {
            0..34 => TOOLS[0],
            34..72 => TOOLS[1],
            72..88 => TOOLS[2],
            88..96 => TOOLS[3],
            _ => TOOLS[4],
        };
        let id = self.call_id();
        self.sink
            .raw(&format!("{{\"type\":\"toolCall\",\"id\":\"{id}\",\"name\":\"{tool}\",\"arguments\":{{"));
        let file = path(&mut self.rng);
        match tool {
            "read" => {
                self.sink.raw(&format!("\"path\":\"{file}\""));
                if self.rng.chance(0.4) {
                    let (offset, limit) = (self.rng.range(1, 2000), self.rng.range(20, 400));
                    self.sink.raw(&format!(",\"offset\":{offset},\"limit\":{limit}"));
                }
            }
            "bash" => {
                self.sink.raw("\"command\":");
                let command = command(&mut self.rng);
                self.sink.quoted(&command);
            }
            "edit" => {
                self.sink.raw(&format!("\"path\":\"{file}\",\"oldText\":\""));
                let size = self.sized(240.0, 1.2, 12_000);
                self.passage(Tone::Code, size);
                self.sink.raw("\",\"newText\":\"");
                let size = self.sized(300.0, 1.2, 12_000);
                self.passage(Tone::Code, size);
                self.sink.raw("\"");
            }
            "grep" => {
                let pattern = words(&mut self.rng, 1);
                self.sink.raw(&format!("\"pattern\":\"{pattern}\\\\b\",\"path\":\"src\",\"glob\":\"*.rs\""));
            }
            _ => {
                self.sink.raw(&format!("\"path\":\"{file}\",\"content\":\""));
                let size = self.sized(1_500.0, 1.4, self.shape.body_limit / 5);
                self.passage(Tone::Code, size);
                self.sink.raw("\"");
            }
        }
        self.sink.raw("}}");
        Call { id, tool }
    }

    fn result(&mut self, call: &Call) {
        if self.rng.chance(self.shape.image_rate) {
            self.image_result(call);
            return;
        }
        let size = match call.tool {
            "edit" | "write" => 90,
            _ => self.sized(self.shape.body_median, self.shape.body_spread, self.shape.body_limit),
        };
        self.text_result(call, size);
    }

    fn text_result(&mut self, call: &Call, size: u64) {
        if self.full() {
            return;
        }
        self.open_result(call);
        self.sink.raw("{\"type\":\"text\",\"text\":\"");
        let tone = if call.tool == "bash" || call.tool == "grep" { Tone::Shell } else { Tone::Code };
        self.passage(tone, size);
        self.sink.raw("\"}]");
        if call.tool == "edit" {
            self.sink.raw(",\"details\":{\"diff\":\"");
            let size = self.sized(400.0, 1.2, 15_000);
            self.passage(Tone::Code, size);
            self.sink.raw("\",\"firstChangedLine\":");
            let line = self.rng.range(1, 900);
            self.sink.number(line);
            self.sink.raw("}");
        }
        self.close_result();
    }

    fn image_result(&mut self, call: &Call) {
        if self.full() {
            return;
        }
        self.open_result(call);
        self.sink.raw("{\"type\":\"text\",\"text\":\"Read image file [image/png]\"},");
        self.image();
        self.sink.raw("]");
        self.close_result();
    }

    fn open_result(&mut self, call: &Call) {
        self.wait(120.0);
        self.open_message("toolResult");
        self.sink
            .raw(&format!(",\"toolCallId\":\"{}\",\"toolName\":\"{}\",\"content\":[", call.id, call.tool));
    }

    fn close_result(&mut self) {
        let failed = self.rng.chance(0.04);
        self.sink.raw(if failed { ",\"isError\":true" } else { ",\"isError\":false" });
        self.close_message(Kind::Result, 0);
        self.customs();
    }

    fn answer(&mut self) {
        if self.full() {
            return;
        }
        let before = self.clock;
        self.wait(9_000.0);
        self.open_message("assistant");
        self.sink.raw(",\"content\":[");
        let aborted = self.rng.chance(0.01);
        if aborted {
            self.sink.raw("]");
            self.model_fields("aborted", 0);
        } else {
            if self.rng.chance(0.3) {
                self.thinking();
                self.sink.raw(",");
            }
            self.text_block(550.0);
            self.sink.raw("]");
            let tokens = self.rng.range(100, 1500);
            self.model_fields("stop", tokens);
        }
        self.sink.raw(",\"timestamp\":");
        self.sink.number(before);
        self.sink.raw(if aborted { ",\"errorMessage\":\"Request was aborted\"}" } else { "}" });
        self.close(Kind::Answer);
        self.customs();
    }

    fn thinking(&mut self) {
        self.sink.raw("{\"type\":\"thinking\",\"thinking\":\"");
        let size = self.sized(180.0, 1.3, 12_000);
        self.passage(Tone::Prose, size);
        self.sink.raw("\",\"thinkingSignature\":\"");
        let length = self.rng.range(120, 320);
        base64(&mut self.sink, &mut self.rng, length);
        self.sink.raw("\"}");
    }

    fn text_block(&mut self, median: f64) {
        self.sink.raw("{\"type\":\"text\",\"text\":\"");
        let size = self.sized(median, 1.1, 12_000);
        self.passage(Tone::Prose, size);
        self.sink.raw("\"}");
    }

    fn image(&mut self) {
        self.sink.raw("{\"type\":\"image\",\"data\":\"iVBORw0KGgoAAAANSUhEUgAA");
        let length = self.rng.size(70_000.0, 1.0, 250_000);
        base64(&mut self.sink, &mut self.rng, length);
        self.sink.raw("\",\"mimeType\":\"image/png\"}");
    }

    /// Writes everything of an assistant message from `api` to `stopReason`.
    fn model_fields(&mut self, stop_reason: &str, output: u64) {
        let (provider, api, model) = self.current_model();
        self.sink.raw(&format!(",\"api\":\"{api}\",\"provider\":\"{provider}\",\"model\":\"{model}\","));
        self.usage(output);
        self.sink.raw(&format!(",\"stopReason\":\"{stop_reason}\""));
    }

    pub(super) fn usage(&mut self, output: u64) {
        let context = if output == 0 { 0 } else { u64::from(self.context()) / 4 };
        let written = context / 20;
        let read = context - written;
        let input = output.min(4);
        // Prices in millionths of a dollar per token, times ten.
        let costs = [input * 30 / 10, output * 150 / 10, read * 3 / 10, written * 37 / 10];
        self.sink.raw(&format!(
            "\"usage\":{{\"input\":{input},\"output\":{output},\"cacheRead\":{read},\"cacheWrite\":{written},\
             \"totalTokens\":{},\"cost\":{{",
            input + output + context
        ));
        for (name, cost) in ["input", "output", "cacheRead", "cacheWrite"].into_iter().zip(costs) {
            self.sink.raw(&format!("\"{name}\":"));
            self.sink.money(cost);
            self.sink.raw(",");
        }
        self.sink.raw("\"total\":");
        self.sink.money(costs.iter().sum());
        self.sink.raw("}}");
    }

    /// Draws a size that keeps the average size of the file.
    pub(super) fn sized(&mut self, median: f64, spread: f64, limit: u64) -> u64 {
        let median = median * self.fit();
        self.rng.size(median, spread, limit.min(self.shape.body_limit))
    }

    pub(super) fn passage(&mut self, tone: Tone, size: u64) {
        self.phrases.passage(&mut self.sink, &mut self.rng, tone, size);
    }

    fn call_id(&mut self) -> String {
        let (a, b) = (self.rng.next_u64(), self.rng.next_u64());
        format!("toolu_01{:011x}{:011x}", a >> 20, b >> 20)
    }

    /// Begins a message entry.
    pub(super) fn open_message(&mut self, role: &str) {
        self.open("message");
        self.sink.raw(",\"message\":{\"role\":\"");
        self.sink.raw(role);
        self.sink.raw("\"");
    }

    /// Ends a message entry; the message was begun `age` milliseconds before the entry.
    pub(super) fn close_message(&mut self, kind: Kind, age: u64) {
        self.sink.raw(",\"timestamp\":");
        self.sink.number(self.clock.saturating_sub(age));
        self.sink.raw("}");
        self.close(kind);
    }
}
