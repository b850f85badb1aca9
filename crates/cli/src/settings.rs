//! The settings file: what a person chose once and for all. `docs/settings.md` describes it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::permission::{Decision, Mode, Permissions};
use offshoot_agent::settings::Settings as AgentSettings;
use offshoot_agent::turn::QueueMode;
use serde::Deserialize;

use crate::error::{CommandError, Failure};

/// What a settings file says; whatever it leaves out is as usual.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) model: Option<String>,
    pub(crate) thinking_level: Option<ThinkingLevel>,
    compaction: Compaction,
    branch_summary: BranchSummary,
    retry: Retry,
    steering_mode: Queue,
    follow_up_mode: Queue,
    permissions: Rules,
    #[serde(flatten)]
    pub(crate) models: offshoot_providers::Settings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Compaction {
    enabled: Option<bool>,
    reserve_tokens: Option<u64>,
    keep_recent_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BranchSummary {
    reserve_tokens: Option<u64>,
    through_compactions: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Retry {
    max_retries: Option<u32>,
    base_delay_ms: Option<u64>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Queue {
    #[default]
    OneAtATime,
    All,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rules {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

impl Settings {
    /// Reads the settings of a person; without a file everything is as usual.
    pub(crate) fn read(config: &Path) -> Result<Self, CommandError> {
        let path = config.join("settings.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Settings::default()),
            Err(error) => return Err(CommandError::system("read", &path, &error)),
        };
        let bad = |error: serde_json::Error| {
            Failure::new(format!("{} is wrong: {error}", path.display()))
                .hint("docs/settings.md tells what it may hold")
        };
        Ok(serde_json::from_str(&text).map_err(bad)?)
    }

    /// Returns how the agent behaves.
    pub(crate) fn agent(&self) -> AgentSettings {
        let mut settings = AgentSettings::default();
        let set = |from: Option<u64>, to: &mut u64| *to = from.unwrap_or(*to);
        settings.compaction.enabled = self.compaction.enabled.unwrap_or(true);
        set(self.compaction.reserve_tokens, &mut settings.compaction.reserve_tokens);
        set(self.compaction.keep_recent_tokens, &mut settings.compaction.keep_recent_tokens);
        set(self.branch_summary.reserve_tokens, &mut settings.branch_summary.reserve_tokens);
        settings.branch_summary.through_compactions =
            self.branch_summary.through_compactions.unwrap_or(false);
        settings.retry.most = self.retry.max_retries.unwrap_or(settings.retry.most);
        if let Some(delay) = self.retry.base_delay_ms {
            settings.retry.first_delay = Duration::from_millis(delay);
        }
        settings.steering_mode = self.steering_mode.into();
        settings.follow_up_mode = self.follow_up_mode.into();
        settings
    }

    /// Returns which tool calls may run, with more rules that allow.
    pub(crate) fn permissions(&self, mode: Mode, allowed: &[String]) -> Result<Permissions, CommandError> {
        let lists = [
            (Decision::Allow, self.permissions.allow.as_slice()),
            (Decision::Allow, allowed),
            (Decision::Ask, self.permissions.ask.as_slice()),
            (Decision::Deny, self.permissions.deny.as_slice()),
        ];
        let bad = |error| {
            Failure::new(format!("bad rule for tools: {error}"))
                .hint("a rule is `read`, `bash(cargo *)` or `write(src/**)`")
        };
        Ok(Permissions::parse(mode, lists).map_err(bad)?)
    }
}

impl From<Queue> for QueueMode {
    fn from(queue: Queue) -> Self {
        match queue {
            Queue::OneAtATime => QueueMode::OneAtATime,
            Queue::All => QueueMode::All,
        }
    }
}
