//! Themes: JSON files in pi's format, and the one that is used.
//!
//! file -> **[`ThemeFile`]** -> [`Themes`] -> components of extensions, the chat

mod color;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value as Json;

pub use color::Color;

/// A theme: a colour for each token.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ThemeFile {
    /// The name.
    pub name: String,
    /// The file; none for a built-in theme.
    pub path: Option<PathBuf>,
    /// The colours by token; none for a built-in theme, whose colours depend on the terminal.
    pub colors: BTreeMap<String, Color>,
}

/// The tokens that each theme has.
const TOKENS: &str = "accent border borderAccent borderMuted success error warning muted dim text thinkingText selectedBg \
    userMessageBg userMessageText customMessageBg customMessageText customMessageLabel toolPendingBg toolSuccessBg \
    toolErrorBg toolTitle toolOutput mdHeading mdLink mdLinkUrl mdCode mdCodeBlock mdCodeBlockBorder mdQuote \
    mdQuoteBorder mdHr mdListBullet toolDiffAdded toolDiffRemoved toolDiffContext syntaxComment syntaxKeyword \
    syntaxFunction syntaxVariable syntaxString syntaxNumber syntaxType syntaxOperator syntaxPunctuation thinkingOff \
    thinkingMinimal thinkingLow thinkingMedium thinkingHigh thinkingXhigh bashMode";

/// Tokens that may be missing, each with the one whose colour it has then.
const OPTIONAL: [(&str, &str); 5] = [
    ("scrollbarTrack", "muted"),
    ("scrollbarThumb", "text"),
    ("searchMatchBg", "selectedBg"),
    ("searchMatchText", "text"),
    ("thinkingMax", "thinkingXhigh"),
];

/// The longest theme file that is read.
const LONGEST: u64 = 1 << 20;

/// Returns true if a token is the colour of a background.
pub fn is_background(token: &str) -> bool {
    token.ends_with("Bg")
}

/// The content of a theme file.
#[derive(Deserialize)]
struct ThemeJson {
    name: Option<String>,
    #[serde(default)]
    vars: BTreeMap<String, Json>,
    #[serde(default)]
    colors: BTreeMap<String, Json>,
}

impl ThemeFile {
    /// Reads a theme file.
    ///
    /// # Errors
    ///
    /// The reason with the file, its line and the field.
    pub fn read(path: &Path) -> Result<Self, String> {
        let failed = |reason: String| format!("{}: {reason}", path.display());
        let length = fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
        if length > LONGEST {
            return Err(failed(format!("the file is larger than {LONGEST} bytes")));
        }
        let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let theme = Self::parse(&text, &stem).map_err(|reason| format!("{}:{reason}", path.display()))?;
        Ok(ThemeFile { path: Some(path.to_owned()), ..theme })
    }

    /// Reads the text of a theme file. A theme without a name gets the one of its file.
    fn parse(text: &str, file_name: &str) -> Result<Self, String> {
        let written: ThemeJson =
            serde_json::from_str(text).map_err(|error| format!("{}: {error}", error.line()))?;
        let mut colors = BTreeMap::new();
        for (token, value) in &written.colors {
            let color = resolved(value, &written.vars)
                .map_err(|reason| format!("{}: `colors.{token}`: {reason}", line_of(text, token)))?;
            colors.insert(token.clone(), color);
        }
        let missing: Vec<&str> =
            TOKENS.split_whitespace().filter(|token| !colors.contains_key(*token)).collect();
        if !missing.is_empty() {
            return Err(format!("{}: `colors` lacks {}", line_of(text, "colors"), missing.join(", ")));
        }
        for (token, other) in OPTIONAL {
            if let (false, Some(color)) = (colors.contains_key(token), colors.get(other).copied()) {
                colors.insert(token.to_owned(), color);
            }
        }
        let name = written.name.filter(|name| !name.is_empty()).unwrap_or_else(|| file_name.to_owned());
        if name.contains('/') {
            return Err(format!("{}: `name`: a name has no slash", line_of(text, "name")));
        }
        Ok(ThemeFile { name, path: None, colors })
    }
}

/// Returns the line of a key in a JSON text.
fn line_of(text: &str, key: &str) -> usize {
    let quoted = format!("\"{key}\"");
    let is_key =
        |line: &str| line.split_once(&quoted).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'));
    text.lines().position(is_key).map_or(1, |at| at + 1)
}

/// Follows variables to a colour.
fn resolved(value: &Json, vars: &BTreeMap<String, Json>) -> Result<Color, String> {
    let mut value = value;
    // Variables may name each other, but not in a circle.
    for _ in 0..=vars.len() {
        match value {
            Json::Number(index) => {
                let index = index.as_u64().and_then(|index| u8::try_from(index).ok());
                return index.map(Color::Indexed).ok_or_else(|| format!("{value} is not a number up to 255"));
            }
            Json::String(text) => match vars.get(text.trim_start_matches('$')) {
                Some(next) => value = next,
                None => {
                    return Color::parse(text)
                        .ok_or_else(|| format!("`{text}` is neither a colour nor a variable"));
                }
            },
            other => return Err(format!("{other} is not a colour")),
        }
    }
    Err("its variables name each other in a circle".to_owned())
}

/// The themes that can be chosen, and the one that is used.
#[derive(Debug, Default)]
pub struct Themes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    files: Vec<ThemeFile>,
    current: Option<ThemeFile>,
    version: u64,
    mode: Option<&'static str>,
}

/// The themes that are built in.
const BUILT_IN: [&str; 2] = ["dark", "light"];

impl Themes {
    /// Reads the theme files of directories, and single files. Returns why some cannot be used.
    pub fn load(&self, paths: &[PathBuf]) -> Vec<String> {
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        for path in paths.iter().flat_map(|path| theme_files(path)) {
            match ThemeFile::read(&path) {
                // The first of a name counts.
                Ok(theme) if files.iter().any(|other: &ThemeFile| other.name == theme.name) => {}
                Ok(theme) => files.push(theme),
                Err(problem) => problems.push(problem),
            }
        }
        self.0.lock().files = files;
        problems
    }

    /// Sets how many colours the terminal has: `truecolor`, `256color`, `16color` or `none`.
    pub fn set_mode(&self, mode: &'static str) {
        self.0.lock().mode = Some(mode);
    }

    /// Returns how many colours the terminal has.
    pub fn mode(&self) -> &'static str {
        self.0.lock().mode.unwrap_or("256color")
    }

    /// Returns the names of all themes with their files.
    pub fn list(&self) -> Vec<(String, Option<PathBuf>)> {
        let state = self.0.lock();
        let built_in = BUILT_IN.iter().map(|name| ((*name).to_owned(), None));
        built_in.chain(state.files.iter().map(|theme| (theme.name.clone(), theme.path.clone()))).collect()
    }

    /// Returns the theme of a name. Files replace built-in themes.
    pub fn find(&self, name: &str) -> Option<ThemeFile> {
        let found = self.0.lock().files.iter().find(|theme| theme.name == name).cloned();
        let built_in =
            || BUILT_IN.contains(&name).then(|| ThemeFile { name: name.to_owned(), ..ThemeFile::default() });
        found.or_else(built_in)
    }

    /// Uses a theme.
    pub fn choose(&self, name: &str) -> Result<ThemeFile, String> {
        let theme = self.find(name).ok_or_else(|| {
            let names: Vec<String> = self.list().into_iter().map(|(name, _)| name).collect();
            format!("there is no theme `{name}`; the themes are: {}", names.join(", "))
        })?;
        let mut state = self.0.lock();
        state.version += 1;
        state.current = Some(theme.clone());
        Ok(theme)
    }

    /// Returns the number of the last choice, and the theme.
    pub fn current(&self) -> (u64, Option<ThemeFile>) {
        let state = self.0.lock();
        (state.version, state.current.clone())
    }
}

/// Returns the theme files that a path means, by name.
fn theme_files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else {
        return if path.is_file() { vec![path.to_owned()] } else { Vec::new() };
    };
    let is_theme = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_theme).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests;
