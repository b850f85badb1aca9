//! Draws the entries of one file, one after the other, the way a session grows.
//!
//! draw -> **entries** -> objects in file order, the header first
//!
//! Uses `messages` for what entries carry. Never damages anything: whatever it makes is something that
//! the program, an older version of it or a sibling could have written.

use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::messages;

/// One line of a file before it becomes text.
pub(super) type Object = Map<String, Value>;

/// First instant of every drawn session, in milliseconds since 1970.
const START: u64 = 1_735_689_600_000;

/// Which entries a file is mostly made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mix {
    Everything,
    Branches,
    Compactions,
    Edits,
    Labels,
    Systems,
    Foreign,
    /// Version 2: what existed then, and hook messages.
    Hooks,
    /// Version 1: what existed at first.
    First,
}

#[derive(Clone, Copy)]
enum Kind {
    User,
    Assistant,
    ToolResult,
    Bash,
    CustomRole,
    HookRole,
    UnknownRole,
    System,
    Model,
    Thinking,
    Usage,
    Compaction,
    BranchSummary,
    Custom,
    CustomMessage,
    Label,
    Name,
    Edit,
    Unknown,
    OhMyPi,
}

impl Mix {
    /// Kinds of this mix; a kind named twice comes twice as often.
    fn kinds(self) -> &'static [Kind] {
        use Kind::{
            Assistant, Bash, BranchSummary, Compaction, Custom, CustomMessage, CustomRole, Edit, HookRole,
            Label, Model, Name, OhMyPi, System, Thinking, ToolResult, Unknown, UnknownRole, Usage, User,
        };
        match self {
            Self::Everything => &[
                User,
                User,
                User,
                Assistant,
                Assistant,
                Assistant,
                ToolResult,
                ToolResult,
                Bash,
                CustomRole,
                System,
                Model,
                Thinking,
                Usage,
                Compaction,
                BranchSummary,
                Custom,
                CustomMessage,
                Label,
                Name,
                Edit,
            ],
            Self::Branches => {
                &[User, User, Assistant, Assistant, Model, Thinking, BranchSummary, Label, Custom]
            }
            Self::Compactions => &[
                User,
                User,
                Assistant,
                Assistant,
                Compaction,
                Compaction,
                ToolResult,
                BranchSummary,
                Label,
                Edit,
            ],
            Self::Edits => &[
                User,
                User,
                Assistant,
                Assistant,
                ToolResult,
                CustomMessage,
                Edit,
                Edit,
                Edit,
                Bash,
                BranchSummary,
                Compaction,
            ],
            Self::Labels => &[User, User, Assistant, Label, Label, Label, Compaction, Custom, Name],
            Self::Systems => &[System, System, User, Assistant, Compaction, Edit],
            Self::Foreign => &[User, Assistant, Unknown, OhMyPi, OhMyPi, UnknownRole, Compaction, Label],
            Self::Hooks => &[
                User,
                User,
                Assistant,
                Assistant,
                ToolResult,
                HookRole,
                Compaction,
                BranchSummary,
                Label,
                Custom,
                CustomMessage,
                Model,
                Thinking,
            ],
            Self::First => &[User, User, Assistant, Assistant, ToolResult, Bash, Model, Thinking, Compaction],
        }
    }

    /// How often, in percent, the leaf moves before an entry is appended.
    fn restlessness(self) -> usize {
        match self {
            Self::Branches => 40,
            Self::First => 0,
            Self::Everything | Self::Compactions | Self::Labels | Self::Foreign | Self::Hooks => 15,
            Self::Edits | Self::Systems => 8,
        }
    }
}

/// A session while it is drawn.
pub(super) struct SessionGenerator {
    mix: Mix,
    /// Ids of all entries, drawn in advance so that an entry can name a later one.
    ids: Vec<String>,
    /// Position of the parent of each entry made so far.
    parents: Vec<Option<usize>>,
    leaf: Option<usize>,
    objects: Vec<Object>,
}

impl SessionGenerator {
    /// Draws the size of the session and the ids of its entries.
    pub(super) fn new(draw: &mut Draw, mix: Mix) -> Self {
        let count = if draw.chance(60) { draw.between(2, 12) } else { draw.between(13, 60) };
        let mut ids: Vec<String> = Vec::new();
        while ids.len() < count {
            let id = if draw.chance(95) {
                format!("{:08x}", draw.next() >> 32)
            } else {
                format!("n_{}-é", ids.len())
            };
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Self { mix, ids, parents: Vec::new(), leaf: None, objects: Vec::new() }
    }

    /// Draws a file of version 3.
    pub(super) fn v3(self, draw: &mut Draw) -> Vec<Object> {
        let mut header = json!({
            "type": "session", "version": 3, "id": "01940000-0000-7000-8000-000000000000",
            "timestamp": iso(START), "cwd": "/home/user/project",
        });
        if draw.chance(15) {
            header["parentSession"] = json!("/home/user/parent.jsonl");
        }
        self.grow(header, draw)
    }

    /// Draws a file of version 2.
    pub(super) fn v2(self, draw: &mut Draw) -> Vec<Object> {
        let header =
            json!({"type": "session", "version": 2, "id": "two", "timestamp": iso(START), "cwd": "/w"});
        self.grow(header, draw)
    }

    /// Draws a file of version 1: a line of entries without ids.
    pub(super) fn v1(self, draw: &mut Draw) -> Vec<Object> {
        let mut header = json!({
            "type": "session", "id": "one", "timestamp": iso(START), "cwd": "/w",
            "provider": "anthropic", "modelId": "large", "thinkingLevel": "off",
        });
        if draw.chance(15) {
            header["version"] = json!(1);
        }
        if draw.chance(15) {
            header["branchedFrom"] = json!("/w/older.jsonl");
        }
        let mut objects = self.grow(header, draw);
        let count = objects.len();
        for (position, object) in objects.iter_mut().enumerate().skip(1) {
            object.shift_remove("id");
            object.shift_remove("parentId");
            if object.shift_remove("firstKeptEntryId").is_some() || object["type"] == "compaction" {
                first_kept_index(object, position, count, draw);
            }
        }
        objects
    }

    fn grow(mut self, header: Value, draw: &mut Draw) -> Vec<Object> {
        self.objects.extend(object(header));
        for position in 0..self.ids.len() {
            if draw.chance(self.mix.restlessness()) {
                // One move in ten leaves the tree, so that the next entry is a root.
                self.leaf = if draw.chance(10) { None } else { self.any(draw) };
            }
            let kind = *draw.pick(self.mix.kinds());
            let ms = START + 1000 * (position as u64 + 1) + draw.below(3) as u64 * 400;
            self.append(kind, ms, draw);
        }
        self.objects
    }

    fn append(&mut self, kind: Kind, ms: u64, draw: &mut Draw) {
        let position = self.parents.len();
        let (name, body) = self.body(kind, ms, draw);
        let parent = self.leaf.map(|at| self.ids[at].clone());
        let mut entry = Object::new();
        entry.insert("type".into(), json!(name));
        // The program writes the fields of these two before the envelope.
        let body_first = matches!(kind, Kind::Custom | Kind::CustomMessage);
        if body_first {
            entry.extend(object(body.clone()).into_iter().flatten());
        }
        entry.insert("id".into(), json!(self.ids[position]));
        entry.insert("parentId".into(), json!(parent));
        entry.insert("timestamp".into(), json!(iso(ms)));
        if !body_first {
            entry.extend(object(body).into_iter().flatten());
        }
        self.objects.push(entry);
        self.parents.push(self.leaf);
        self.leaf = Some(position);
    }

    /// Draws type and own fields of an entry.
    fn body(&self, kind: Kind, ms: u64, draw: &mut Draw) -> (&'static str, Value) {
        let message = |message: Value| ("message", json!({"message": message}));
        match kind {
            Kind::User => message(messages::user(draw, ms)),
            Kind::Assistant => message(messages::assistant(draw, ms)),
            Kind::ToolResult => message(messages::tool_result(draw, ms)),
            Kind::Bash => message(messages::bash(draw, ms)),
            Kind::CustomRole => message(messages::custom(draw, ms, "custom")),
            Kind::HookRole => message(messages::custom(draw, ms, "hookMessage")),
            Kind::UnknownRole => message(messages::unknown_role(draw, ms)),
            Kind::System => message(messages::system(draw, ms)),
            Kind::Model => {
                ("model_change", json!({"provider": "openai", "modelId": *draw.pick(&["large", "tiny"])}))
            }
            Kind::Thinking => (
                "thinking_level_change",
                json!({"thinkingLevel": *draw.pick(&["off", "low", "high", "max", "odd"])}),
            ),
            Kind::Usage => (
                "usage",
                json!({"kind": "cache_warm", "provider": "p", "model": "m", "usage": messages::usage(draw)}),
            ),
            Kind::Compaction => ("compaction", self.compaction(ms, draw)),
            Kind::BranchSummary => ("branch_summary", self.branch_summary(draw)),
            Kind::Custom => ("custom", custom(draw)),
            Kind::CustomMessage => ("custom_message", custom_message(draw)),
            Kind::Label => ("label", self.label(draw)),
            Kind::Name => ("session_info", name(draw)),
            Kind::Edit => ("context_edit", self.edit(draw)),
            Kind::Unknown => (
                *draw.pick(&["future", "Message", "", "record"]),
                json!({"targetId": self.any_id(draw), "label": "no label", "data": {"z": 1, "a": [null, 1.5]}}),
            ),
            Kind::OhMyPi => self.oh_my_pi(draw),
        }
    }

    fn compaction(&self, ms: u64, draw: &mut Draw) -> Value {
        let mut body = json!({"summary": messages::text(draw)});
        let own = self.parents.len();
        let path = self.path();
        match draw.below(12) {
            0 => body["firstKeptEntryId"] = json!(self.ids[own]),
            1 => {}
            2 => body["firstKeptEntryId"] = json!("deadbeef"),
            3 => body["firstKeptEntryId"] = json!(self.any_id(draw)),
            4 => body["firstKeptEntryId"] = json!(draw.pick(&self.ids[own..])),
            5 => body["firstKeptEntryId"] = draw.pick(&[Value::Null, json!(""), json!(3)]).clone(),
            _ if path.is_empty() => body["firstKeptEntryId"] = json!(self.ids[own]),
            _ => body["firstKeptEntryId"] = json!(self.ids[*draw.pick(&path)]),
        }
        body["tokensBefore"] = json!(draw.below(200_000));
        if draw.chance(40) {
            body["details"] = details(draw);
        }
        if draw.chance(40) {
            body["fromHook"] = json!(draw.chance(40));
        }
        if draw.chance(if self.mix == Mix::Systems { 70 } else { 8 }) {
            body["systemMessage"] = messages::system(draw, ms);
        }
        body
    }

    fn branch_summary(&self, draw: &mut Draw) -> Value {
        let from = if draw.chance(80) { self.any_id(draw) } else { json!("root") };
        let mut body = json!({"fromId": from, "summary": messages::text(draw)});
        if draw.chance(60) {
            body["details"] = details(draw);
        }
        if draw.chance(60) {
            body["fromHook"] = json!(draw.chance(40));
        }
        body
    }

    fn label(&self, draw: &mut Draw) -> Value {
        let mut body = json!({"targetId": self.any_id(draw)});
        match draw.below(10) {
            0 => {}
            1 => body["label"] = json!(""),
            2 => body["label"] = Value::Null,
            3 => body["label"] = json!("  "),
            _ => body["label"] = json!(*draw.pick(&["start", "good idea", "ä 😀", " spaced ", "v2"])),
        }
        body
    }

    fn edit(&self, draw: &mut Draw) -> Value {
        let path = self.path();
        let target = if path.is_empty() || draw.chance(10) {
            self.any_id(draw)
        } else {
            json!(self.ids[*draw.pick(&path)])
        };
        let replacement = match draw.below(5) {
            0 | 1 => Value::Null,
            2 => json!({"content": messages::text(draw)}),
            3 => json!({"content": messages::blocks(draw)}),
            _ => json!({"content": [{"type": "text", "text": "edited"}], "extra": 1}),
        };
        json!({"targetId": target, "replacement": replacement})
    }

    fn oh_my_pi(&self, draw: &mut Draw) -> (&'static str, Value) {
        match draw.below(9) {
            0 => (
                "model_change",
                json!({"model": "anthropic/large/x", "role": *draw.pick(&["default", "smol"])}),
            ),
            1 => ("thinking_level_change", json!({"thinkingLevel": null, "configured": "auto"})),
            2 => ("mode_change", json!({"mode": *draw.pick(&["plan", "none"]), "data": {"step": 1}})),
            3 => ("ttsr_injection", json!({"injectedRules": ["rule-a", "rule-b"]})),
            4 => ("reset_boundary", json!({})),
            5 => ("title_change", json!({"title": messages::text(draw)})),
            6 => ("session_init", json!({"systemPrompt": "p", "tools": ["read"]})),
            7 => ("leaf", json!({"targetId": self.any_id(draw)})),
            _ => (
                "custom_message",
                json!({"customType": "n", "content": messages::content(draw), "display": true, "attribution": "agent"}),
            ),
        }
    }

    /// Positions on the path of the leaf, newest first.
    fn path(&self) -> Vec<usize> {
        std::iter::successors(self.leaf, |&at| self.parents[at]).collect()
    }

    fn any(&self, draw: &mut Draw) -> Option<usize> {
        if self.parents.is_empty() { None } else { Some(draw.below(self.parents.len())) }
    }

    /// The id of any entry made so far; now and then one that does not exist.
    fn any_id(&self, draw: &mut Draw) -> Value {
        match self.any(draw) {
            Some(at) if draw.chance(95) => json!(self.ids[at]),
            _ => json!("nowhere"),
        }
    }
}

/// Adds what version 1 had instead of an id: a position among the objects of the file.
fn first_kept_index(object: &mut Object, position: usize, count: usize, draw: &mut Draw) {
    let index = match draw.below(14) {
        0 => json!(0),
        1 => json!(position),
        2 => json!(draw.between(position, count)),
        3 => json!(count + 40),
        4 => json!("1"),
        5 => json!(-1),
        6 => json!(1.5),
        7 => Value::Null,
        8 => return,
        _ => json!(draw.between(1, position)),
    };
    object.insert("firstKeptEntryIndex".into(), index);
}

fn details(draw: &mut Draw) -> Value {
    match draw.below(4) {
        0 => json!({"any": [1, {"deep": null}]}),
        1 => json!({"readFiles": [messages::path(draw)]}),
        _ => {
            json!({"readFiles": [messages::path(draw), messages::path(draw)], "modifiedFiles": [messages::path(draw)]})
        }
    }
}

fn custom(draw: &mut Draw) -> Value {
    let mut body = json!({"customType": "state"});
    if draw.chance(70) {
        body["data"] = json!({"n": draw.below(100), "text": messages::text(draw)});
    }
    body
}

fn custom_message(draw: &mut Draw) -> Value {
    let mut body =
        json!({"customType": "note", "content": messages::content(draw), "display": draw.chance(70)});
    if draw.chance(30) {
        body["details"] = json!({"k": "v"});
    }
    body
}

fn name(draw: &mut Draw) -> Value {
    match draw.below(8) {
        0 => json!({"name": ""}),
        1 => json!({}),
        2 => json!({"name": " two\nlines "}),
        _ => json!({"name": messages::text(draw)}),
    }
}

/// The members of a value made by `json!({..})`.
fn object(value: Value) -> Option<Object> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// Spells an instant of the first hours of 2025, which is all that drawn sessions need.
fn iso(ms: u64) -> String {
    let since = ms - START;
    let (seconds, rest) = (since / 1000, since % 1000);
    format!("2025-01-01T{:02}:{:02}:{:02}.{rest:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
