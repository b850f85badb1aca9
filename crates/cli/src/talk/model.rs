//! Chooses the model and the thinking level: from the command line, the session or the settings.

use std::sync::Arc;

use offshoot_agent::model::{Model, ThinkingLevel};
use offshoot_providers::{OfflineModel, Providers};
use session_tree::{Kind, Position, Session};

use crate::app::App;
use crate::error::{CommandError, Failure};
use crate::extensions;
use crate::setup::Setup;

/// The requested model.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The model: `provider/id`, or a unique part of it.
    #[arg(long, value_name = "NAME", conflicts_with = "no_model")]
    model: Option<String>,
    /// Use no model.
    #[arg(long)]
    no_model: bool,
    /// The thinking level: off, minimal, low, medium, high, xhigh, max.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    thinking: Option<ThinkingLevel>,
}

impl Args {
    /// Returns true if the settings name a model that only an extension can have.
    fn is_set_by_extension(
        &self,
        providers: &Providers,
        setup: &Setup,
        extensions: &extensions::Args,
        app: &App,
    ) -> bool {
        let Some(name) = setup.settings.model() else { return false };
        match providers.model(&name) {
            Ok(_) => false,
            Err(error) => extensions.want_model(&name, error_of(&error), setup, app),
        }
    }
}

/// A model and its thinking level.
pub(crate) type Choice = (Arc<dyn Model>, ThinkingLevel);

fn level(text: &str) -> Result<ThinkingLevel, String> {
    ThinkingLevel::from_name(text).ok_or_else(|| "no such level".to_owned())
}

impl Args {
    /// Returns the model of the command line, of the session or of the settings, or the first available one.
    pub(super) fn choose(
        &self,
        session: &Session,
        setup: &Setup,
        extensions: &extensions::Args,
        app: &mut App,
    ) -> Result<Option<Choice>, CommandError> {
        if self.no_model {
            return Ok(None);
        }
        let providers = setup.providers()?;
        let model = match &self.model {
            Some(name) => match providers.model(name) {
                // An extension may register it; until then another one has its place.
                Err(error) if extensions.want_model(name, error_of(&error), setup, app) => {
                    providers.default_model()
                }
                found => found?,
            },
            None if self.is_set_by_extension(&providers, setup, extensions, app) => providers.default_model(),
            None => restored_or_default(session, setup, &providers, app)?,
        };
        let level = self.thinking.or(stored_level(session)?).or(setup.settings.thinking_level());
        Ok(Some((model, level.unwrap_or_default())))
    }
}

fn error_of(error: &offshoot_providers::Error) -> Failure {
    let hint = error.hint();
    let failure = Failure::new(error.to_string());
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns the model of the session if it is configured here, else the one for new sessions.
///
/// A session from elsewhere only names one of the user's models. The offline model is never restored, because no user
/// chose it.
fn restored_or_default(
    session: &Session,
    setup: &Setup,
    providers: &Providers,
    app: &mut App,
) -> Result<Arc<dyn Model>, CommandError> {
    let usual = || match setup.settings.model().as_deref() {
        Some(name) => providers.model(name),
        None => Ok(providers.default_model()),
    };
    let said = session.context()?.model.filter(|said| said.provider != OfflineModel::PROVIDER);
    let Some(said) = said else { return Ok(usual()?) };
    let name = format!("{}/{}", said.provider, said.model_id);
    let reason = match providers.model(&name) {
        Ok(model) if model.spec().full_name() == name => return Ok(model),
        Ok(_) => format!("no model `{name}`"),
        Err(error) => error.to_string(),
    };
    let usual = usual()?;
    let instead = usual.spec().full_name();
    app.ui
        .tell(&format!("note: the session had {name}, which cannot be used ({reason}); {instead} answers"))?;
    Ok(usual)
}

/// Returns the thinking level of the path, if it sets one.
fn stored_level(session: &Session) -> Result<Option<ThinkingLevel>, CommandError> {
    let path = session.branch_path(Position::Leaf);
    if !path.into_iter().any(|node| session.tree().kind(node) == Kind::ThinkingLevelChange) {
        return Ok(None);
    }
    Ok(ThinkingLevel::from_name(&session.context()?.thinking_level))
}
