//! `config`: enables and disables the extensions, skills, prompt templates and themes of packages.

use offshoot_extensions::package::ResourceKind;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::install::{ScopeArgs, Target};
use crate::app::App;
use crate::ask;
use crate::error::{CommandError, Failure};
use crate::packages::Declared;
use crate::ui::{Column, Table, Tone};

/// Enable or disable the resources of packages.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without an option it shows a list; at a terminal the number of a resource changes it. The choice is
stored as patterns of the package in `packages` of the settings.

Example:
  offshoot config --disable skills/pdf/SKILL.md")]
pub(crate) struct Args {
    /// Enable this resource, as the list shows it; can be repeated.
    #[arg(long, value_name = "RESOURCE")]
    enable: Vec<String>,
    /// Disable this resource; can be repeated.
    #[arg(long, value_name = "RESOURCE")]
    disable: Vec<String>,
    /// Only those of this package.
    #[arg(long, value_name = "PACKAGE")]
    package: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

/// The JSON of a resource.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ListedResource {
    /// The source of the package.
    package: String,
    /// `extensions`, `skills`, `prompts` or `themes`.
    #[schemars(with = "String")]
    kind: ResourceKind,
    /// The file, seen from the package.
    resource: String,
    /// True if it is loaded.
    enabled: bool,
}

pub(crate) fn run(args: &Args, app: &mut App) -> Result<(), CommandError> {
    let is_change = !args.enable.is_empty() || !args.disable.is_empty();
    for (names, enables) in [(&args.enable, true), (&args.disable, false)] {
        for name in names {
            let found =
                resources(args, app)?.into_iter().filter(|one| one.resource == *name).collect::<Vec<_>>();
            match found.as_slice() {
                [one] => set(one, enables, args, app)?,
                [] => {
                    return Err(Failure::new(format!("there is no resource {name}"))
                        .hint("`offshoot config` lists the resources of all packages")
                        .into());
                }
                _ => {
                    return Err(Failure::new(format!("several packages have {name}"))
                        .hint("`--package` chooses one of them")
                        .into());
                }
            }
        }
    }
    loop {
        let listed = resources(args, app)?;
        if args.json {
            return app.ui.json_list(listed.iter().map(Ok));
        }
        show(&listed, app)?;
        app.ui.flush()?;
        if is_change || listed.is_empty() || !ask::is_possible() {
            return Ok(());
        }
        let question = "number of the resource to change, or Enter to end";
        let Some(number) = ask::number(&mut app.ui, question, listed.len())? else { return Ok(()) };
        let one = &listed[number - 1];
        set(one, !one.enabled, args, app)?;
    }
}

/// Lists the resources of the packages of a scope.
fn resources(args: &Args, app: &App) -> Result<Vec<ListedResource>, CommandError> {
    let target = Target::open(args.scope, app)?;
    let packages = match &args.package {
        Some(text) => vec![target.find(text, app)?],
        None => target.declared(app),
    };
    let mut listed = Vec::new();
    for declared in &packages {
        let Ok(mut package) = declared.read() else { continue };
        for kind in ResourceKind::ALL {
            listed.extend(declared.files(&mut package, kind).into_iter().map(|file| ListedResource {
                package: declared.text.clone(),
                kind,
                resource: file.path.strip_prefix(&package.root).unwrap_or(&file.path).display().to_string(),
                enabled: file.is_enabled,
            }));
        }
    }
    Ok(listed)
}

fn show(listed: &[ListedResource], app: &mut App) -> Result<(), CommandError> {
    let rows = listed.iter().zip(1..).map(|(one, number)| {
        let state = if one.enabled { (Tone::Good, "on") } else { (Tone::Dim, "off") };
        Ok([
            (Tone::Dim, number.to_string()),
            (state.0, state.1.to_owned()),
            (Tone::Accent, one.resource.clone()),
            (Tone::Plain, one.package.clone()),
        ])
    });
    let columns = [Column::numbers(""), Column::words(""), Column::words(""), Column::wide("")];
    Table::show(columns, rows, &mut app.ui)
}

/// Stores the choice in the settings.
fn set(one: &ListedResource, enables: bool, args: &Args, app: &App) -> Result<(), CommandError> {
    let target = Target::open(args.scope, app)?;
    let declared: Declared = target.find(&one.package, app)?;
    target.change(app, |packages, target| {
        let Some(entry) = packages.iter_mut().find(|entry| target.is(entry, &declared.source, app)) else {
            return Ok(());
        };
        if entry.is_string() {
            *entry = json!({"source": entry});
        }
        let mut patterns: Vec<String> = entry[one.kind.key()]
            .as_array()
            .map(|list| list.iter().filter_map(Json::as_str).map(str::to_owned).collect())
            .unwrap_or_default();
        let is_none = entry[one.kind.key()].as_array().is_some_and(Vec::is_empty);
        patterns.retain(|pattern| pattern.trim_start_matches(['+', '-']) != one.resource);
        let mark = match (enables, is_none) {
            (false, _) => "-",
            (true, false) => "+",
            // In an empty list, which means none, the resource itself is the only one.
            (true, true) => "",
        };
        patterns.push(format!("{mark}{}", one.resource));
        entry[one.kind.key()] = json!(patterns);
        Ok(())
    })
}
