//! Models by name, with their keys.

use std::sync::Arc;

use offshoot_agent::model::{Model, ModelSpec};

use crate::catalogue::{Catalogue, ProviderSettings, Settings, Target};
use crate::credentials::{Credentials, KeySource};
use crate::error::{Error, Result};
#[cfg(feature = "network")]
use crate::http::{Http, HttpOptions};
use crate::offline::OfflineModel;
use crate::secret::Secret;
#[cfg(feature = "network")]
use crate::service::ServiceModel;

/// All models that can be asked.
///
/// ```
/// use offshoot_providers::{Catalogue, Credentials, Providers};
///
/// let providers = Providers::new(Catalogue::built_in(), Credentials::none());
/// assert_eq!(providers.model("offshoot/offline")?.spec().id, "offline");
/// assert_eq!(providers.model("ollama/qwen3")?.spec().provider, "ollama");
/// let error = providers.model("claude-haiku-4-5").unwrap_err();
/// assert_eq!(error.hint().as_deref(), Some("set ANTHROPIC_API_KEY"));
/// # Ok::<(), offshoot_providers::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Providers {
    catalogue: Catalogue,
    credentials: Credentials,
    #[cfg(feature = "network")]
    http: Arc<Http>,
}

/// A model of the list, and whether it can be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Available {
    /// The description of the model.
    pub spec: ModelSpec,
    /// Whether its key is there, or it needs none.
    pub has_key: bool,
    /// Whether the user's settings describe it.
    pub is_own: bool,
}

/// A provider, and where its key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderKey {
    /// The provider.
    pub provider: String,
    /// Environment variables that may hold the key; none if the service wants no key.
    pub variables: Vec<String>,
    /// The source of the key, if a key is configured.
    pub source: Option<KeySource>,
}

/// The order in which providers are tried if no model is named.
const PREFERRED: [&str; 4] = ["anthropic", "openai", "google", "openrouter"];

impl Providers {
    /// Puts a catalogue and keys together. Nothing is read or sent yet.
    pub fn new(catalogue: Catalogue, credentials: Credentials) -> Self {
        Self {
            catalogue,
            credentials,
            #[cfg(feature = "network")]
            http: Arc::new(Http::new(HttpOptions::default())),
        }
    }

    /// Says how patient and how generous the client is.
    #[cfg(feature = "network")]
    #[must_use]
    pub fn with_http(mut self, options: HttpOptions) -> Self {
        self.http = Arc::new(Http::new(options));
        self
    }

    /// Returns all models that can be listed, the offline one last.
    pub fn models(&self) -> Vec<Available> {
        let listed = self.catalogue.targets().map(|target| {
            let has_key = target.key_variables.is_empty() || self.credentials.key(&target).is_some();
            Available { is_own: self.catalogue.is_own(&target.spec), spec: target.spec, has_key }
        });
        let offline = Available { spec: OfflineModel::new().spec().clone(), has_key: true, is_own: false };
        listed.chain([offline]).collect()
    }

    /// Returns all providers of the catalogue, and where their keys are.
    pub fn keys(&self) -> Vec<ProviderKey> {
        let of = |(provider, variables): (&str, &[String])| ProviderKey {
            source: self.credentials.source(provider, variables),
            provider: provider.to_owned(),
            variables: variables.to_owned(),
        };
        self.catalogue.providers().map(of).collect()
    }

    /// Returns every key that is configured: in the environment, in the credentials file, in headers of settings.
    pub fn secrets(&self) -> Vec<Secret> {
        let variables = self.catalogue.providers().flat_map(|(_, variables)| variables);
        let headers = self.catalogue.secret_headers();
        self.credentials.all(variables).into_iter().chain(headers).filter(|key| !key.is_empty()).collect()
    }

    /// Finds a model by `provider/id`, by its id, or by a part of these that only one model has.
    pub fn model(&self, name: &str) -> Result<Arc<dyn Model>> {
        let offline = OfflineModel::new();
        if name == offline.spec().full_name() || name == offline.spec().id {
            return Ok(Arc::new(offline));
        }
        let target = self.catalogue.find(name)?;
        let key = self.credentials.key(&target);
        if key.is_none() && !target.key_variables.is_empty() {
            return Err(Error::MissingKey {
                provider: target.spec.provider,
                variables: target.key_variables,
            });
        }
        self.connect(target, key)
    }

    /// Connects a provider that is not in the catalogue, or one that is with other settings. Returns its models: those of
    /// the settings if they have any. `key` goes before the keys that are configured.
    pub fn connect_provider(
        &self,
        name: &str,
        settings: ProviderSettings,
        key: Option<&Secret>,
    ) -> Result<Vec<Arc<dyn Model>>> {
        let own: Vec<String> = settings.models.iter().map(|model| format!("{name}/{}", model.id)).collect();
        let providers = [(name.to_owned(), settings)].into();
        let catalogue = self.catalogue.clone().merged(Settings { providers });
        let names = if own.is_empty() {
            let known = catalogue.targets().filter(|target| target.spec.provider == name);
            known.map(|target| target.spec.full_name()).collect()
        } else {
            own
        };
        let connect = |name: &String| {
            let target = catalogue.find(name)?;
            let key = key.cloned().or_else(|| self.credentials.key(&target));
            if key.is_none() && !target.key_variables.is_empty() {
                let (provider, variables) = (target.spec.provider, target.key_variables);
                return Err(Error::MissingKey { provider, variables });
            }
            self.connect(target, key)
        };
        names.iter().map(connect).collect()
    }

    #[cfg(feature = "network")]
    fn connect(&self, target: Target, key: Option<Secret>) -> Result<Arc<dyn Model>> {
        Ok(Arc::new(ServiceModel::new(target, key, Arc::clone(&self.http))?))
    }

    #[cfg(not(feature = "network"))]
    #[allow(clippy::needless_pass_by_value, clippy::unused_self)]
    fn connect(&self, target: Target, _key: Option<Secret>) -> Result<Arc<dyn Model>> {
        Err(Error::NoNetwork { provider: target.spec.provider })
    }

    /// Returns the default model: the first of the catalogue with a key, or the offline model.
    pub fn default_model(&self) -> Arc<dyn Model> {
        let with_key: Vec<ModelSpec> =
            self.models().into_iter().filter(|model| model.has_key).map(|model| model.spec).collect();
        let preferred = PREFERRED.iter().find_map(|name| with_key.iter().find(|spec| spec.provider == *name));
        let found = preferred.or(with_key.first()).and_then(|spec| self.model(&spec.full_name()).ok());
        found.unwrap_or_else(|| Arc::new(OfflineModel::new()))
    }
}

#[cfg(test)]
mod tests;
