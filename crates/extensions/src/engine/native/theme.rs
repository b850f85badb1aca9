//! Colours and themes as script asks for them.

use serde_json::{Value as Json, json};

use super::{Answer, json as spelled, text, unknown};
use crate::engine::Shared;
use crate::theme::{Color, ThemeFile};

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    let themes = &shared.setting.host.themes;
    match name {
        "color" => {
            let color = match &arguments["text"] {
                Json::Number(index) => {
                    index.as_u64().and_then(|index| u8::try_from(index).ok()).map(Color::Indexed)
                }
                value => Color::parse(value.as_str().unwrap_or_default()),
            };
            spelled(match color.ok_or_else(|| format!("{} is not a colour", arguments["text"]))? {
                Color::Default => Json::Null,
                Color::Indexed(index) => json!(index),
                Color::Rgb(red, green, blue) => json!([red, green, blue]),
            })
        }
        "indexed" => {
            let index = arguments["index"].as_u64().and_then(|index| u8::try_from(index).ok()).unwrap_or(7);
            let (red, green, blue) = Color::Indexed(index).rgb().unwrap_or_default();
            spelled(json!([red, green, blue]))
        }
        "nearest" => {
            let part = |at: usize| arguments["rgb"][at].as_u64().unwrap_or_default().min(255) as u8;
            spelled(Color::Rgb(part(0), part(1), part(2)).nearest())
        }
        "mode" => spelled(themes.mode()),
        "list" => spelled(
            themes
                .list()
                .into_iter()
                .map(|(name, path)| json!({"name": name, "path": path}))
                .collect::<Vec<_>>(),
        ),
        "get" => spelled(themes.find(text(arguments, "name")?).map(|theme| described(&theme, themes.mode()))),
        // Null while script has the current one.
        "current" => {
            let (version, theme) = themes.current();
            let is_known = arguments["version"].as_u64() == Some(version);
            let theme = theme.map(|theme| described(&theme, themes.mode()));
            spelled(if is_known { Json::Null } else { json!({"version": version, "theme": theme}) })
        }
        "choose" => {
            let wanted = text(arguments, "name")?;
            match themes.choose(wanted) {
                Ok(theme) => {
                    shared.setting.host.send(crate::host::HostEvent::Theme(theme));
                    spelled(json!({"success": true}))
                }
                Err(error) => spelled(json!({"success": false, "error": error})),
            }
        }
        _ => unknown("theme", name),
    }
}

/// Spells a theme: the escape code of each token.
fn described(theme: &ThemeFile, mode: &str) -> Json {
    let codes = theme.colors.iter().map(|(token, color)| {
        let base = if crate::theme::is_background(token) { 40 } else { 30 };
        (token.clone(), Json::from(color.code(base, mode)))
    });
    json!({"name": theme.name, "path": theme.path, "codes": codes.collect::<serde_json::Map<_, _>>()})
}
