//! `offshoot models`: lists the available models, their features and prices.

use offshoot_agent::model::{ModelSpec, ThinkingLevel};
use offshoot_providers::Available;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::CommandError;
use crate::setup::Setup;
use crate::trust;
use crate::ui::{Column, Table, Tone, count, tokens};

/// List the available models.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List only models whose name has all of these words in it.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// List only models with a key.
    #[arg(long, short)]
    ready: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let setup = Setup::load(app, trust::Args::none_of_project())?;
    let all = setup.providers()?.models();
    let total = all.len();
    let found: Vec<Available> = all.into_iter().filter(|model| args.wants(model)).collect();
    if args.json {
        return app.ui.json_list(found.iter().map(|Available { spec, has_key, is_own }| {
            Ok(ListedModel { spec, has_key: *has_key, is_own: *is_own })
        }));
    }
    if found.is_empty() {
        return app.ui.tell(&format!("none of {} fits", count(total, "model")));
    }
    print(&found, app)
}

impl Args {
    fn wants(&self, model: &Available) -> bool {
        let name = format!("{} {}", model.spec.full_name(), model.spec.name).to_lowercase();
        let has_words = self.words.iter().all(|word| name.contains(&word.to_lowercase()));
        has_words && (model.has_key || !self.ready)
    }
}

fn print(found: &[Available], app: &mut App) -> Result<(), CommandError> {
    let columns = [
        Column::wide("model"),
        Column::numbers("window"),
        Column::numbers("output"),
        Column::numbers("$ in").spare(3),
        Column::numbers("$ out").spare(2),
        Column::words("thinking").spare(4),
        Column::words("key"),
        Column::words("").spare(1),
    ];
    let row = |Available { spec, has_key, is_own }: &Available| {
        let tone = if *has_key { Tone::Plain } else { Tone::Dim };
        Ok([
            (tone, spec.full_name()),
            (tone, tokens(spec.context_window)),
            (tone, tokens(spec.max_output)),
            (tone, price(spec.price.input)),
            (tone, price(spec.price.output)),
            (tone, levels(spec)),
            if *has_key { (Tone::Good, "yes".to_owned()) } else { (Tone::Dim, "no".to_owned()) },
            (Tone::Notice, if *is_own { "yours".to_owned() } else { String::new() }),
        ])
    };
    Table::show(columns, found.iter().map(row), &mut app.ui)
}

/// Formats a price in dollars per million tokens.
fn price(dollars: f64) -> String {
    if dollars == 0.0 { String::new() } else { format!("{dollars:.2}") }
}

fn levels(spec: &ModelSpec) -> String {
    let levels = spec.thinking_levels.iter().filter(|level| **level != ThinkingLevel::Off);
    levels.map(|level| level.name()).collect::<Vec<_>>().join(" ")
}

/// One model of `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedModel<'m> {
    #[serde(flatten)]
    spec: &'m ModelSpec,
    /// True if a key is configured.
    has_key: bool,
    /// True if the settings define it.
    is_own: bool,
}
