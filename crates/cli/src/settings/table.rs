//! The table of settings: name, kind, default and help of each. Checking, the list and the schema are made from it.

use offshoot_extensions::package::ResourceKind;
use serde_json::{Map, Value as Json, json};

use Kind::{Flag, Number, Packages, Providers, Text, Texts, Word};

/// One setting.
pub(super) struct Setting {
    /// The name, with dots between its parts.
    pub(super) key: &'static str,
    /// The kind of its value.
    pub(super) kind: Kind,
    default: &'static str,
    help: &'static str,
    /// True if only the user's own settings may contain it: a project must not send keys elsewhere, or allow itself
    /// what its user has not allowed.
    pub(super) only_own: bool,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    Flag,
    Number,
    Word(&'static [&'static str]),
    Texts,
    /// Sources of packages, or objects with a source and filters.
    Packages,
    /// Objects as `offshoot_providers` defines them, by name.
    Providers,
}

const QUEUE: Kind = Word(&["one-at-a-time", "all"]);
const LEVELS: Kind = Word(&["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
const FILTERS: Kind = Word(&["default", "no-tools", "user-only", "labeled-only", "all", "turns", "branches"]);

/// All settings.
pub(super) const SETTINGS: &[Setting] = &[
    any("model", Text, "", "The model for new sessions: `provider/id`, or a unique part of it."),
    any("thinkingLevel", LEVELS, "off", "How hard the model thinks."),
    any("compaction.enabled", Flag, "true", "Whether to compact automatically."),
    any("compaction.reserveTokens", Number, "16384", "Compact when fewer tokens are left."),
    any("compaction.keepRecentTokens", Number, "20000", "How many of the latest tokens are kept."),
    any("branchSummary.reserveTokens", Number, "16384", "How many tokens a summary leaves free."),
    any("branchSummary.throughCompactions", Flag, "false", "Whether to go beyond the last compaction."),
    any("branchSummary.skipPrompt", Flag, "false", "Whether to leave branches without a question."),
    any("retry.maxRetries", Number, "3", "How often to retry after a temporary failure of a service."),
    any(
        "retry.baseDelayMs",
        Number,
        "2000",
        "The delay before the first retry; each further one doubles it.",
    ),
    any("steeringMode", QUEUE, "one-at-a-time", "How queued steering messages are sent."),
    any("followUpMode", QUEUE, "one-at-a-time", "How messages that wait for the end of a turn are sent."),
    any(
        "store",
        Text,
        "",
        "The database for new sessions and lists: `postgres://…`, or `$NAME` for a variable with the address.",
    ),
    any(
        "theme",
        Text,
        "auto",
        "The colours of the chat: `auto`, `dark`, `light`, `plain`, or the name of a theme.",
    ),
    any("keymap", Word(&["offshoot", "pi"]), "offshoot", "The default keys."),
    any("doubleEscapeAction", Word(&["tree", "fork", "none"]), "tree", "What Escape twice does."),
    any("treeFilterMode", FILTERS, "default", "The filter that the tree starts with."),
    any("showHookCancel", Flag, "false", "Whether to show when an extension cancels a command."),
    own("permissions.allow", Texts, "", "Tool calls that run without a question, such as `bash(cargo *)`."),
    any("permissions.ask", Texts, "", "Tool calls that need a confirmation; overrides `allow`."),
    any("permissions.deny", Texts, "", "Tool calls that never run; overrides all other rules."),
    own("shell.passVariables", Texts, "", "Variables that commands inherit although they look secret."),
    own("extensions", Texts, "", "Extensions to load: paths relative to this file or to `~`."),
    own("extensionHosts", Texts, "", "Hosts that extensions may reach: names, `*.domain`, or `*` for all."),
    own("skills", Texts, "", "Skills to load: files or directories; `!pattern` excludes."),
    own("prompts", Texts, "", "Prompt templates to load: files or directories; `!pattern` excludes."),
    own("themes", Texts, "", "Themes to load: files or directories; `!pattern` excludes."),
    any(
        "packages",
        Packages,
        "",
        "Packages to load: `npm:NAME`, `git:URL`, a path, or an object with filters.",
    ),
    own("piExtensions", Flag, "", "Whether to use what is installed for pi; without it you are asked once."),
    own(
        "extensionEngine",
        Word(&["auto", "embedded", "node"]),
        "auto",
        "The engine of extensions: the embedded one, Node, or Node for those that need it.",
    ),
    own("defaultProjectTrust", Word(&["ask", "always", "never"]), "ask", "The trust in undecided projects."),
    own("providers", Providers, "", "Your own model services, by name."),
];

/// A setting of any file.
const fn any(key: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Setting {
    Setting { key, kind, default, help, only_own: false }
}

/// A setting of the user's own file.
const fn own(key: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Setting {
    Setting { only_own: true, ..any(key, kind, default, help) }
}

impl Setting {
    /// Returns the default, or null.
    pub(super) fn default(&self) -> Json {
        match self.default {
            "" => Json::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        }
    }

    fn schema(&self) -> Json {
        let mut schema = match self.kind {
            Text => json!({"type": ["string", "null"]}),
            Flag => json!({"type": ["boolean", "null"]}),
            Number => json!({"type": ["integer", "null"], "minimum": 0}),
            Word(words) => json!({"enum": words}),
            Texts => json!({"type": "array", "items": {"type": "string"}}),
            Packages => package_schema(),
            Providers => providers_schema()["properties"]["providers"].clone(),
        };
        schema["description"] = self.help.into();
        if !self.default.is_empty() {
            schema["default"] = self.default();
        }
        schema
    }
}

/// Finds a setting.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Returns the JSON schema of a settings file.
pub(crate) fn schema() -> Json {
    let mut properties = Map::from_iter([("$schema".to_owned(), json!({"type": "string"}))]);
    for setting in SETTINGS {
        match setting.key.split_once('.') {
            None => drop(properties.insert(setting.key.to_owned(), setting.schema())),
            Some((group, key)) => {
                let group =
                    properties.entry(group).or_insert_with(|| json!({"type": "object", "properties": {}}));
                group["properties"][key] = setting.schema();
            }
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "offshoot settings", "type": "object",
        "properties": properties, "$defs": providers_schema()["$defs"],
    })
}

/// Returns the schema of the setting `packages`.
fn package_schema() -> Json {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let mut properties = Map::from_iter([("source".to_owned(), json!({"type": "string"}))]);
    for kind in ResourceKind::ALL {
        properties.insert(kind.key().to_owned(), texts.clone());
    }
    let entry = json!({"type": "object", "properties": properties, "required": ["source"]});
    json!({"type": "array", "items": {"anyOf": [{"type": "string"}, entry]}})
}

/// Returns the schema of an object with the setting `providers`.
pub(super) fn providers_schema() -> Json {
    schemars::schema_for!(offshoot_providers::Settings).to_value()
}
