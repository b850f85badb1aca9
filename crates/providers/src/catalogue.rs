//! The catalogue: models, their services, abilities and prices.
//!
//! built-in models + the user's own -> **catalogue** -> target
//!
//! Both come in the same shape ([`Settings`]); the user's own go over the built-in ones. Never touches files,
//! environments or networks.

mod dialect;
mod family;
mod settings;
mod suggest;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_agent::model::ModelSpec;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::wire::Api;

pub use dialect::{Dialect, ThinkingStyle};
pub use settings::{ModelSettings, ProviderSettings, Settings};

/// The models that can be asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    providers: BTreeMap<String, ProviderSettings>,
    /// The models that the user's settings describe, as (provider, id).
    own: BTreeSet<(String, String)>,
}

/// Everything needed to ask a model but its key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    /// The description of the model.
    pub(crate) spec: ModelSpec,
    /// The wire format.
    pub(crate) api: Api,
    /// The address of the service, without a slash at the end.
    pub(crate) base_url: String,
    /// Headers to send besides those of the wire format.
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Environment variables that may hold the key; empty if the service wants none.
    pub(crate) key_variables: Vec<String>,
    /// The peculiarities of this service and this model.
    pub(crate) dialect: Dialect,
}

/// The services that are built in, without their models.
const PROVIDERS: &str = include_str!("catalogue/providers.json");
/// Their models, which `scripts/update-models` generates.
const MODELS: &str = include_str!("catalogue/models.json");

/// The generated list of models.
#[derive(Debug, Default, Deserialize)]
struct Models {
    /// The models of each provider, the preferred one first and then the newest of each family first.
    models: BTreeMap<String, Vec<ModelSettings>>,
}

impl Catalogue {
    /// Returns the models that are built in.
    pub fn built_in() -> Self {
        let mut providers = serde_json::from_str::<Settings>(PROVIDERS).unwrap_or_default().providers;
        for (name, models) in serde_json::from_str::<Models>(MODELS).unwrap_or_default().models {
            if let Some(provider) = providers.get_mut(&name) {
                provider.models = models;
            }
        }
        Self { providers, own: BTreeSet::new() }
    }

    /// Puts the user's own providers and models over those that are there.
    ///
    /// A provider of the same name keeps what the user does not mention; a model of the same id is replaced.
    #[must_use]
    pub fn merged(mut self, settings: Settings) -> Self {
        for (name, provider) in settings.providers {
            self.own.extend(provider.models.iter().map(|model| (name.clone(), model.id.clone())));
            match self.providers.get_mut(&name) {
                Some(known) => known.merge(provider),
                None => {
                    self.providers.insert(name, provider);
                }
            }
        }
        self
    }

    /// Returns true if the user's settings describe a model.
    pub(crate) fn is_own(&self, spec: &ModelSpec) -> bool {
        self.own.contains(&(spec.provider.clone(), spec.id.clone()))
    }

    /// Returns all providers with the environment variables that may hold their keys.
    pub(crate) fn providers(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.providers.iter().map(|(name, provider)| (name.as_str(), provider.key_variables.as_slice()))
    }

    /// Returns the values of headers whose names say that they hold a key: `authorization`, `x-api-key`.
    pub(crate) fn secret_headers(&self) -> impl Iterator<Item = Secret> {
        const WORDS: [&str; 5] = ["auth", "cookie", "key", "secret", "token"];
        let headers = self.providers.values().flat_map(|provider| &provider.headers);
        let is_secret = |name: &str| WORDS.iter().any(|word| name.to_ascii_lowercase().contains(word));
        // `Bearer` is no part of the key.
        let key = |value: &Secret| value.reveal().split_whitespace().next_back().map(Secret::new);
        headers.filter(move |(name, _)| is_secret(name)).filter_map(move |(_, value)| key(value))
    }

    /// Returns all models that can be listed, by provider and then as the catalogue lists them.
    pub(crate) fn targets(&self) -> impl Iterator<Item = Target> {
        let of = |(name, provider): (&String, &ProviderSettings)| -> Vec<Target> {
            provider.models.iter().filter_map(|model| target(name, provider, model).ok()).collect()
        };
        self.providers.iter().flat_map(of)
    }

    /// Finds a model by `provider/id`, by its id, or by a part of these that only one model has.
    ///
    /// A provider that hosts what its user put there (`anyModel`) accepts any id. The others accept ids that are not
    /// listed if they belong to a family that is: services publish models faster than lists follow.
    pub(crate) fn find(&self, name: &str) -> Result<Target> {
        let all: Vec<Target> = self.targets().collect();
        let matching = |matches: &dyn Fn(&Target) -> bool| -> Vec<&Target> {
            all.iter().filter(|target| matches(target)).collect()
        };
        let full = matching(&|target| target.spec.full_name() == name);
        let ids = matching(&|target| target.spec.id == name);
        let parts = matching(&|target| !name.is_empty() && target.spec.full_name().contains(name));
        if let Some(target) = one(name, &full).or_else(|| one(name, &ids)) {
            return target;
        }
        if let Some(target) = self.at_provider(name, parts.is_empty()) {
            return target;
        }
        one(name, &parts).unwrap_or_else(|| self.unknown(name))
    }

    /// Finds a model that is not listed by `provider/id`. An id without a number may also be a part of listed ids
    /// (`anthropic/claude-opus`), which then go first.
    fn at_provider(&self, name: &str, is_no_part: bool) -> Option<Result<Target>> {
        let (provider_name, id) = name.split_once('/').filter(|(_, id)| !id.is_empty())?;
        let provider = self.providers.get(provider_name)?;
        let has_number = id.contains(|char: char| char.is_ascii_digit());
        let relative = || family::relative(id, &self.built_in_models(provider_name));
        let model = match provider.any_model {
            true => relative().unwrap_or_else(|| ModelSettings::new(id)),
            false if is_no_part || has_number => relative()?,
            false => return None,
        };
        Some(target(provider_name, provider, &model))
    }

    /// The models of a provider that the user's settings do not describe.
    fn built_in_models(&self, name: &str) -> Vec<&ModelSettings> {
        let models = self.providers.get(name).into_iter().flat_map(|provider| &provider.models);
        models.filter(|model| !self.own.contains(&(name.to_owned(), model.id.clone()))).collect()
    }

    /// Makes the error about a name that no model has. A model whose wire format is unknown is named as such.
    fn unknown(&self, name: &str) -> Result<Target> {
        let has = |(provider_name, id): (&str, &str)| {
            let provider = self.providers.get(provider_name)?;
            let model = provider.models.iter().find(|model| model.id == id)?;
            target(provider_name, provider, model).err()
        };
        let unknown = || {
            let names: Vec<String> = self.targets().map(|target| target.spec.full_name()).collect();
            Error::UnknownModel { name: name.into(), suggestions: suggest::nearest(name, &names) }
        };
        Err(name.split_once('/').and_then(has).unwrap_or_else(unknown))
    }
}

/// Returns the only target of a list, or an error if there are several.
fn one(name: &str, found: &[&Target]) -> Option<Result<Target>> {
    match found {
        [] => None,
        [target] => Some(Ok((*target).clone())),
        [..] => {
            let candidates = found.iter().map(|target| target.spec.full_name()).collect();
            Some(Err(Error::AmbiguousModel { name: name.into(), candidates }))
        }
    }
}

fn target(provider_name: &str, provider: &ProviderSettings, model: &ModelSettings) -> Result<Target> {
    let api_name = model.api.clone().or_else(|| provider.api.clone()).unwrap_or_default();
    let api = Api::from_name(&api_name).ok_or_else(|| {
        Error::bad_provider(provider_name, format!("no wire format is called `{api_name}`"))
    })?;
    Ok(Target {
        spec: model.spec(provider_name, &api_name),
        api,
        base_url: provider.base_url.as_deref().unwrap_or_default().trim_end_matches('/').into(),
        headers: provider.headers.clone(),
        key_variables: provider.key_variables.clone(),
        dialect: model.dialect.clone().or_else(|| provider.dialect.clone()).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
