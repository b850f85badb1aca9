//! The settings of the user, and of a project the user trusts. `docs/settings.md` describes them.
//!
//! file -> check against the table -> **layer**; user, then project -> **settings**
//!
//! A project may choose values and may be stricter; it never allows a tool call, names a service or decides about
//! trust. Asks no questions and writes nothing.

mod file;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::permission::{Decision, Mode, Permissions, RuleError};
use offshoot_agent::settings::Settings as AgentSettings;
use offshoot_agent::turn::QueueMode;
use offshoot_extensions::EngineChoice;
use offshoot_tui::chat::DoubleEscape;
use offshoot_tui::keys::Preset;
use offshoot_tui::theme::Theme;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use session_view::Filter;

use crate::database;
use crate::error::{CommandError, Failure};

use file::{FileOwner, Layer};
pub(crate) use table::schema;

/// The effective settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Weakest first: the user's own, then those of the project.
    layers: Vec<Layer>,
}

/// One setting of the list.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    /// The name, with dots between its parts.
    pub(crate) key: String,
    /// The effective value; null if it is not set and has no default.
    pub(crate) value: Json,
    /// The files it comes from, weakest first; empty for a default.
    pub(crate) files: Vec<String>,
}

/// An entry of a list of paths and patterns.
#[derive(Debug, Clone)]
pub(crate) struct ListedPath {
    /// The entry as it was written.
    pub(crate) text: String,
    /// The path that it names.
    pub(crate) path: PathBuf,
}

impl ListedPath {
    /// Reads an entry of a settings file in `directory`.
    pub(crate) fn new(text: String, directory: &Path, home: Option<&Path>) -> Self {
        let path = match (text.strip_prefix("~/"), home) {
            (Some(path), Some(home)) => home.join(path),
            _ => directory.join(&text),
        };
        ListedPath { text, path }
    }
}

/// How to treat projects without a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefaultTrust {
    /// Ask the user, or do not trust them without a user.
    Ask,
    /// Trust them.
    Always,
    /// Do not trust them.
    Never,
}

impl Settings {
    /// Reads the settings of the user; all defaults if there is no file.
    pub(crate) fn read(config: &Path) -> Result<Self, CommandError> {
        let layer = Layer::read(config.join("settings.json"), FileOwner::User)?;
        Ok(Settings { layers: layer.into_iter().collect() })
    }

    /// Adds the settings of a trusted project.
    pub(crate) fn with_project(mut self, path: PathBuf, text: &str) -> Result<Self, CommandError> {
        self.layers.push(Layer::parse(path, text, FileOwner::Project)?);
        Ok(self)
    }

    /// Returns the warnings about the files.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flat_map(|layer| layer.warnings.iter().map(String::as_str))
    }

    /// Lists all settings, and the user's own services without their headers.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let settings = table::SETTINGS.iter().filter(|setting| setting.key != "providers");
        let mut listed: Vec<Listed> = settings.map(|setting| self.listed(setting)).collect();
        for layer in &self.layers {
            let providers = layer.get("providers").and_then(Json::as_object).into_iter().flatten();
            listed.extend(providers.map(|(name, provider)| Listed {
                key: format!("providers.{name}"),
                value: provider.get("baseUrl").cloned().unwrap_or(json!("")),
                files: vec![layer.path.display().to_string()],
            }));
        }
        listed
    }

    /// Returns a setting with its value. Lists of all files are joined; of other values the strongest counts.
    fn listed(&self, setting: &table::Setting) -> Listed {
        let mut listed = Listed { key: setting.key.to_owned(), value: setting.default(), files: Vec::new() };
        for layer in &self.layers {
            let Some(value) = layer.get(setting.key) else { continue };
            match (&mut listed.value, value) {
                (Json::Array(all), Json::Array(more)) => all.extend(more.iter().cloned()),
                (known, value) => {
                    *known = value.clone();
                    listed.files.clear();
                }
            }
            listed.files.push(layer.path.display().to_string());
        }
        if let ("store", Json::String(address)) = (setting.key, &mut listed.value) {
            *address = database::shown(address.as_ref()).into_owned();
        }
        listed
    }

    /// Returns the effective value of a setting of the table.
    fn value(&self, key: &str) -> Json {
        debug_assert!(table::find(key).is_some(), "{key}");
        let set = self.layers.iter().rev().find_map(|layer| layer.get(key)).cloned();
        set.or_else(|| Some(table::find(key)?.default())).unwrap_or_default()
    }

    fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.value(key)).ok()
    }

    fn flag(&self, key: &str) -> bool {
        self.get(key).unwrap_or(false)
    }

    fn word(&self, key: &str) -> String {
        self.get(key).unwrap_or_default()
    }

    /// Returns the texts of a list, each with the directory of its file.
    fn texts(&self, key: &'static str) -> impl Iterator<Item = (&Path, String)> {
        self.layers.iter().flat_map(move |layer| {
            let directory = layer.path.parent().unwrap_or(Path::new("."));
            let items = layer.get(key).and_then(Json::as_array).into_iter().flatten();
            items.filter_map(move |item| Some((directory, item.as_str()?.to_owned())))
        })
    }

    /// Returns the database for sessions without an address, or the name of a variable, after `$`, that holds its address.
    pub(crate) fn store(&self) -> Option<String> {
        self.get("store")
    }

    /// Returns the model for new sessions.
    pub(crate) fn model(&self) -> Option<String> {
        self.get("model")
    }

    /// Returns the thinking level for new sessions, if it is set.
    pub(crate) fn thinking_level(&self) -> Option<ThinkingLevel> {
        self.layers
            .iter()
            .any(|layer| layer.get("thinkingLevel").is_some())
            .then(|| self.get("thinkingLevel"))?
    }

    /// Returns how to treat projects without a decision.
    pub(crate) fn default_trust(&self) -> DefaultTrust {
        match self.word("defaultProjectTrust").as_str() {
            "always" => DefaultTrust::Always,
            "never" => DefaultTrust::Never,
            _ => DefaultTrust::Ask,
        }
    }

    /// Returns the entries of the list of a kind of resource.
    pub(crate) fn resources(&self, key: &'static str, home: Option<&Path>) -> Vec<ListedPath> {
        self.texts(key).map(|(directory, text)| ListedPath::new(text, directory, home)).collect()
    }

    /// Returns the environment variables that commands inherit although they look like credentials.
    pub(crate) fn passed_variables(&self) -> impl Iterator<Item = String> {
        self.texts("shell.passVariables").map(|(_, name)| name)
    }

    /// Returns the hosts that extensions may reach without a question.
    #[cfg(feature = "network")]
    pub(crate) fn extension_hosts(&self) -> Vec<String> {
        self.texts("extensionHosts").map(|(_, host)| host).collect()
    }

    /// Returns whether pi's set-up is used, if it is set.
    pub(crate) fn uses_pi(&self) -> Option<bool> {
        self.get("piExtensions")
    }

    /// Returns the entries of the list of packages of the user or of the project.
    pub(crate) fn packages(&self, of_project: bool) -> Vec<Json> {
        let layers = self.layers.iter().filter(|layer| layer.is_of_project() == of_project);
        layers.filter_map(|layer| layer.get("packages")?.as_array()).flatten().cloned().collect()
    }

    /// Returns the engine of extensions that do not choose one themselves.
    pub(crate) fn extension_engine(&self) -> EngineChoice {
        self.word("extensionEngine").parse().unwrap_or_default()
    }

    /// Returns the user's own model services.
    pub(crate) fn models(&self) -> offshoot_providers::Settings {
        self.layers
            .iter()
            .filter_map(|layer| layer.get("providers"))
            .filter_map(|providers| serde_json::from_value(json!({"providers": providers})).ok())
            .next_back()
            .unwrap_or_default()
    }

    /// Returns the settings of the agent.
    pub(crate) fn agent(&self) -> AgentSettings {
        let number = |key: &str| self.get::<u64>(key).unwrap_or_default();
        let queue = |key: &str| match self.word(key).as_str() {
            "all" => QueueMode::All,
            _ => QueueMode::OneAtATime,
        };
        let mut settings = AgentSettings::default();
        settings.compaction.enabled = self.flag("compaction.enabled");
        settings.compaction.reserve_tokens = number("compaction.reserveTokens");
        settings.compaction.keep_recent_tokens = number("compaction.keepRecentTokens");
        settings.branch_summary.reserve_tokens = number("branchSummary.reserveTokens");
        settings.branch_summary.through_compactions = self.flag("branchSummary.throughCompactions");
        settings.retry.most = u32::try_from(number("retry.maxRetries")).unwrap_or(u32::MAX);
        settings.retry.first_delay = Duration::from_millis(number("retry.baseDelayMs"));
        settings.steering_mode = queue("steeringMode");
        settings.follow_up_mode = queue("followUpMode");
        settings
    }

    /// Returns the rules for tool calls, each with its file.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (Decision, &str, &Path)> {
        let keys = [
            (Decision::Allow, "permissions.allow"),
            (Decision::Ask, "permissions.ask"),
            (Decision::Deny, "permissions.deny"),
        ];
        keys.into_iter().flat_map(move |(decision, key)| {
            self.layers.iter().flat_map(move |layer| {
                let rules = layer.get(key).and_then(Json::as_array).into_iter().flatten();
                rules.filter_map(move |rule| Some((decision, rule.as_str()?, layer.path.as_path())))
            })
        })
    }

    /// Returns the rules for tool calls; `allowed` are further rules that allow.
    pub(crate) fn permissions(&self, mode: Mode, allowed: &[String]) -> Result<Permissions, CommandError> {
        let own = self.rules().map(|(decision, rule, _)| (decision, rule));
        let rules = own.chain(allowed.iter().map(|rule| (Decision::Allow, rule.as_str())));
        Ok(Permissions::parse(mode, rules).map_err(|error| bad_rule(&error))?)
    }

    /// Returns the chosen colours; `None` if they depend on the terminal.
    pub(crate) fn theme(&self) -> Option<Theme> {
        match self.word("theme").as_str() {
            "dark" => Some(Theme::dark()),
            "light" => Some(Theme::light()),
            "plain" => Some(Theme::plain()),
            _ => None,
        }
    }

    /// Returns the name of the chosen theme, unless it is one of those that need no file.
    pub(crate) fn theme_name(&self) -> Option<String> {
        let name = self.word("theme");
        (!["", "auto", "plain", "dark", "light"].contains(&name.as_str())).then_some(name)
    }

    /// Returns the settings as extensions read them: values by name, without keys and addresses.
    pub(crate) fn shown(&self) -> Json {
        let hidden = |key: &str| key.starts_with("providers") || key == "store";
        let listed =
            self.list().into_iter().filter(|setting| !hidden(&setting.key) && !setting.value.is_null());
        Json::Object(listed.map(|setting| (setting.key, setting.value)).collect())
    }

    /// Returns the default keys.
    pub(crate) fn keymap(&self) -> Preset {
        if self.word("keymap") == "pi" { Preset::Pi } else { Preset::Offshoot }
    }

    /// Returns the action of a double Escape.
    pub(crate) fn double_escape(&self) -> DoubleEscape {
        match self.word("doubleEscapeAction").as_str() {
            "fork" => DoubleEscape::Fork,
            "none" => DoubleEscape::Nothing,
            _ => DoubleEscape::Tree,
        }
    }

    /// Returns true if the user has set that Escape twice opens the tree; the default does not count.
    pub(crate) fn chooses_tree(&self) -> bool {
        self.layers.iter().any(|layer| layer.get("doubleEscapeAction").is_some())
            && self.word("doubleEscapeAction") == "tree"
    }

    /// Returns the filter that the tree starts with.
    pub(crate) fn tree_filter(&self) -> Filter {
        Filter::from_name(&self.word("treeFilterMode")).unwrap_or_default()
    }

    /// Returns true if the chat shows that a hook cancelled a command.
    pub(crate) fn shows_hook_cancel(&self) -> bool {
        self.flag("showHookCancel")
    }

    /// Returns true if branches are left without asking for a summary.
    pub(crate) fn skips_summary_question(&self) -> bool {
        self.flag("branchSummary.skipPrompt")
    }
}

/// Returns the error for a text that is not a rule.
pub(crate) fn bad_rule(error: &RuleError) -> Failure {
    Failure::new(format!("bad rule for tools: {error}"))
        .hint("a rule is `read`, `bash(cargo *)` or `write(src/**)`")
}

#[cfg(test)]
mod tests;
