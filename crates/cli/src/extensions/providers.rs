//! Connects providers of extensions with their services.
//!
//! Their keys come from the environment or from `offshoot login`, unless the extension brings one along.

use std::sync::Arc;

use offshoot_agent::model::Model;
use offshoot_extensions::host::{Connect, ModelConfig, ProviderConfig};
use offshoot_providers::{ModelSettings, ProviderSettings, Providers, Secret};

use crate::env::Environment as Env;

/// Returns the function that connects a provider.
pub(super) fn connect(providers: Providers, env: Env) -> Connect {
    Arc::new(move |config| models(config, &providers, &env))
}

fn models(config: &ProviderConfig, providers: &Providers, env: &Env) -> Result<Vec<Arc<dyn Model>>, String> {
    let name = &config.provider;
    let (variable, literal) = match config.api_key.as_deref() {
        Some(command) if command.starts_with('!') => {
            return Err(
                "its key is the output of a command, which is not supported; name a variable".to_owned()
            );
        }
        Some(text) => match variable_name(text) {
            Some(variable) => (Some(variable.to_owned()), None),
            None => (None, Some(Secret::new(text))),
        },
        None => (None, None),
    };
    let value = |text: &str| match text.strip_prefix('$').and_then(variable_name) {
        Some(variable) => env.variable(variable).unwrap_or_default(),
        None => text.to_owned(),
    };
    let mut settings = ProviderSettings {
        base_url: config.base_url.clone(),
        api: config.api.clone(),
        headers: config
            .headers
            .iter()
            .map(|(name, text)| (name.clone(), Secret::new(&value(text))))
            .collect(),
        key_variables: variable.clone().into_iter().collect(),
        models: config.models.iter().map(model).collect(),
        ..ProviderSettings::default()
    };
    if config.auth_header {
        let key = literal.as_ref().map(|key| key.reveal().to_owned());
        if let Some(key) = key.or_else(|| env.variable(variable.as_deref()?)) {
            settings.headers.insert("authorization".to_owned(), Secret::new(&format!("Bearer {key}")));
        }
    }
    let connected = providers.connect_provider(name, settings, literal.as_ref());
    connected.map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// Returns the variable that a text names: `NAME`, `$NAME` or `${NAME}`.
fn variable_name(text: &str) -> Option<&str> {
    let plain = text.strip_prefix('$').unwrap_or(text);
    let plain = plain.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(plain);
    let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_name =
        plain.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && plain.chars().all(is_letter);
    is_name.then_some(plain)
}

fn model(config: &ModelConfig) -> ModelSettings {
    ModelSettings {
        name: config.name.clone(),
        api: config.api.clone(),
        context_window: config.context_window,
        max_output: config.max_tokens,
        thinking_levels: config.thinking_levels(),
        reads_images: config.reads_images(),
        price: config.cost,
        ..ModelSettings::new(&config.id)
    }
}
