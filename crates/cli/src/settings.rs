//! What a person, and a project the person trusts, chose once and for all. `docs/settings.md` describes it.
//!
//! file -> check against the schema -> **layer**; user, then project -> **settings**
//!
//! A project may choose and may be stricter; it never allows a tool call, names a service or decides about trust. Never
//! asks anybody and writes nothing.

mod check;
mod file;
mod layer;
mod listing;
mod screen;

use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_agent::model::ThinkingLevel;
use offshoot_agent::permission::{Decision, Mode, Permissions};
use offshoot_agent::settings::Settings as AgentSettings;
use serde_json::Value as Json;

use crate::error::{CommandError, Failure};

pub(crate) use file::DefaultTrust;
use file::File;
use layer::{Layer, Owner};
pub(crate) use listing::Listed;

/// The settings that count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Weakest first: the person's own, then those of the project.
    layers: Vec<Layer>,
}

/// Returns the schema of a settings file.
pub(crate) fn schema() -> Json {
    schemars::schema_for!(File).to_value()
}

impl Settings {
    /// Reads the settings of a person; without a file everything is as usual.
    pub(crate) fn read(config: &Path) -> Result<Self, CommandError> {
        let layer = Layer::read(config.join("settings.json"), Owner::User)?;
        Ok(Settings { layers: layer.into_iter().collect() })
    }

    /// Puts the settings of a project that is trusted over them.
    pub(crate) fn with_project(mut self, path: PathBuf, text: &str) -> Result<Self, CommandError> {
        self.layers.push(Layer::parse(path, text, Owner::Project)?);
        Ok(self)
    }

    /// Returns what a person should know about the files.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flat_map(|layer| layer.warnings.iter().map(String::as_str))
    }

    /// Returns the model for new sessions.
    pub(crate) fn model(&self) -> Option<&str> {
        self.pick(|file| file.model.as_deref())
    }

    /// Returns how hard models think in new sessions.
    pub(crate) fn thinking_level(&self) -> Option<ThinkingLevel> {
        self.pick(|file| file.thinking_level)
    }

    /// Returns what becomes of projects that nobody has decided about.
    pub(crate) fn default_trust(&self) -> DefaultTrust {
        self.pick(|file| file.default_project_trust).unwrap_or_default()
    }

    /// Returns the extensions that the person wants to be loaded.
    pub(crate) fn extensions(&self, home: Option<&str>) -> Vec<PathBuf> {
        let paths = self.layers.iter().flat_map(|layer| {
            let directory = layer.path.parent().unwrap_or(Path::new("."));
            layer.values.extensions.iter().map(move |path| match (path.strip_prefix("~/"), home) {
                (Some(path), Some(home)) => Path::new(home).join(path),
                _ => directory.join(path),
            })
        });
        paths.collect()
    }

    /// Returns the environment variables that commands inherit although they look like credentials.
    pub(crate) fn passed_variables(&self) -> impl Iterator<Item = String> {
        self.layers.iter().flat_map(|layer| layer.values.shell.pass_variables.iter().cloned())
    }

    /// Tells whether the extensions in pi's own directory are loaded.
    pub(crate) fn uses_pi_extensions(&self) -> bool {
        self.pick(|file| file.pi_extensions).unwrap_or(true)
    }

    /// Returns the model services of the person's own.
    pub(crate) fn models(&self) -> offshoot_providers::Settings {
        let providers = self.layers.iter().flat_map(|layer| layer.values.providers.clone());
        offshoot_providers::Settings { providers: providers.collect() }
    }

    /// Returns how the agent behaves.
    pub(crate) fn agent(&self) -> AgentSettings {
        let mut settings = AgentSettings::default();
        let AgentSettings { compaction, branch_summary, retry, .. } = &mut settings;
        self.set(|file| file.compaction.enabled, &mut compaction.enabled);
        self.set(|file| file.compaction.reserve_tokens, &mut compaction.reserve_tokens);
        self.set(|file| file.compaction.keep_recent_tokens, &mut compaction.keep_recent_tokens);
        self.set(|file| file.branch_summary.reserve_tokens, &mut branch_summary.reserve_tokens);
        self.set(|file| file.branch_summary.through_compactions, &mut branch_summary.through_compactions);
        self.set(|file| file.retry.max_retries, &mut retry.most);
        self.set(|file| file.retry.base_delay_ms.map(Duration::from_millis), &mut retry.first_delay);
        self.set(|file| file.steering_mode.map(Into::into), &mut settings.steering_mode);
        self.set(|file| file.follow_up_mode.map(Into::into), &mut settings.follow_up_mode);
        settings
    }

    /// Returns which tool calls may run, with more rules that allow.
    pub(crate) fn permissions(&self, mode: Mode, allowed: &[String]) -> Result<Permissions, CommandError> {
        let lists = self.layers.iter().flat_map(|layer| {
            let rules = &layer.values.permissions;
            [
                (Decision::Allow, rules.allow.as_slice()),
                (Decision::Ask, rules.ask.as_slice()),
                (Decision::Deny, rules.deny.as_slice()),
            ]
        });
        let bad = |error| {
            Failure::new(format!("bad rule for tools: {error}"))
                .hint("a rule is `read`, `bash(cargo *)` or `write(src/**)`")
        };
        Ok(Permissions::parse(mode, lists.chain([(Decision::Allow, allowed)])).map_err(bad)?)
    }

    /// Returns what the strongest layer says that says something.
    fn pick<'s, T>(&'s self, of: impl Fn(&'s File) -> Option<T>) -> Option<T> {
        self.layers.iter().rev().find_map(|layer| of(&layer.values))
    }

    fn set<T>(&self, of: impl Fn(&File) -> Option<T>, to: &mut T) {
        if let Some(value) = self.pick(of) {
            *to = value;
        }
    }
}

#[cfg(test)]
mod tests;
