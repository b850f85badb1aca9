//! The catalogue: which models there are, where they are hosted, what they can do and what they cost.
//!
//! built-in models + the user's own -> **catalogue** -> target
//!
//! Both come in the same shape ([`Settings`]); the user's own go over the built-in ones. Never touches files,
//! environments or networks.

mod dialect;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use offshoot_agent::model::ModelSpec;

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
    /// What the agent knows about the model.
    pub(crate) spec: ModelSpec,
    /// The wire format.
    pub(crate) api: Api,
    /// Where the service is, without a slash at the end.
    pub(crate) base_url: String,
    /// Headers to send besides those of the wire format.
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Environment variables that may hold the key; empty if the service wants none.
    pub(crate) key_variables: Vec<String>,
    /// What is special about this service and this model.
    pub(crate) dialect: Dialect,
}

const BUILT_IN: &str = include_str!("catalogue/models.json");

impl Catalogue {
    /// Returns the models that are built in.
    pub fn built_in() -> Self {
        let settings: Settings = serde_json::from_str(BUILT_IN).unwrap_or_default();
        Self { providers: settings.providers, own: BTreeSet::new() }
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

    /// Tells whether the user's settings describe a model.
    pub(crate) fn is_own(&self, spec: &ModelSpec) -> bool {
        self.own.contains(&(spec.provider.clone(), spec.id.clone()))
    }

    /// Returns all providers with the environment variables that may hold their keys.
    pub(crate) fn providers(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.providers.iter().map(|(name, provider)| (name.as_str(), provider.key_variables.as_slice()))
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
    /// Providers that host whatever their user put there (`anyModel`) answer to any id behind their name.
    pub(crate) fn find(&self, name: &str) -> Result<Target> {
        let all: Vec<Target> = self.targets().collect();
        let full: Vec<&Target> = all.iter().filter(|target| target.spec.full_name() == name).collect();
        if let [target] = full[..] {
            return Ok(target.clone());
        }
        if let Some(target) = self.snapshot(name).or_else(|| self.any_model(name)) {
            return target;
        }
        let ids: Vec<&Target> = all.iter().filter(|target| target.spec.id == name).collect();
        let parts: Vec<&Target> =
            all.iter().filter(|target| target.spec.full_name().contains(name)).collect();
        only(name, &ids).or_else(|| only(name, &parts)).unwrap_or_else(|| self.unknown(name))
    }

    /// Finds a model by the name of one of its dated versions: `provider/id-20250929` or `provider/id-2025-09-29`.
    fn snapshot(&self, name: &str) -> Option<Result<Target>> {
        let (provider_name, id) = name.split_once('/')?;
        let provider = self.providers.get(provider_name)?;
        let is_version = |model: &&ModelSettings| {
            let date = id.strip_prefix(&*model.id).and_then(|rest| rest.strip_prefix('-'));
            date.is_some_and(is_date)
        };
        let model = provider.models.iter().find(is_version)?;
        Some(target(provider_name, provider, &ModelSettings { id: id.into(), ..model.clone() }))
    }

    fn any_model(&self, name: &str) -> Option<Result<Target>> {
        let (provider_name, id) = name.split_once('/')?;
        let provider =
            self.providers.get(provider_name).filter(|provider| provider.any_model && !id.is_empty())?;
        Some(target(provider_name, provider, &ModelSettings::new(id)))
    }

    /// A model that is there but has a wire format nobody speaks says so.
    fn unknown(&self, name: &str) -> Result<Target> {
        let has = |(provider_name, id): (&str, &str)| {
            let provider = self.providers.get(provider_name)?;
            let model = provider.models.iter().find(|model| model.id == id)?;
            target(provider_name, provider, model).err()
        };
        Err(name.split_once('/').and_then(has).unwrap_or_else(|| Error::UnknownModel { name: name.into() }))
    }
}

/// The one target of a list; nothing if there is none, an error if there are several.
fn only(name: &str, found: &[&Target]) -> Option<Result<Target>> {
    match found {
        [] => None,
        [target] => Some(Ok((*target).clone())),
        [..] if name.is_empty() => None,
        [..] => {
            let candidates = found.iter().map(|target| target.spec.full_name()).collect();
            Some(Err(Error::AmbiguousModel { name: name.into(), candidates }))
        }
    }
}

fn is_date(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits == 8 && (text.len() == 8 || text.len() == 10 && text.split('-').count() == 3)
}

fn target(provider_name: &str, provider: &ProviderSettings, model: &ModelSettings) -> Result<Target> {
    let api_name = model.api.clone().or_else(|| provider.api.clone()).unwrap_or_default();
    let api = Api::from_name(&api_name)
        .ok_or_else(|| Error::UnknownApi { provider: provider_name.into(), api: api_name.clone() })?;
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
