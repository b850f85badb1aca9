//! pi's set-up of the user: what is installed there, and whether the user wants it here.
//!
//! setting `piExtensions`, else the stored answer -> **use it, do not, or ask**
//!
//! Never writes into pi's directory.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_agent::small_file::SmallFile;
use offshoot_extensions::package::ResourceKind;
use serde_json::{Value as Json, json};

use crate::app::App;
use crate::ask;
use crate::error::CommandError;
use crate::project_file::read_if_present;
use crate::settings::{ListedPath, Settings};
use crate::ui::count;

/// The file with the answer, in the state directory.
const ANSWER: &str = "pi.json";

/// pi's set-up.
#[derive(Debug, Clone)]
pub(crate) struct PiSetup {
    /// pi's directory of the user.
    pub(crate) dir: PathBuf,
    /// pi's settings; null if they cannot be read.
    pub(crate) settings: Json,
}

/// Whether pi's set-up is used.
#[derive(Debug)]
pub(crate) enum PiUse {
    Used(PiSetup),
    /// Nothing is installed, or the user does not want it.
    Unused,
    /// The user has not decided.
    Undecided(PiSetup),
}

impl PiUse {
    /// Finds pi's set-up and the decision about it.
    pub(crate) fn find(app: &App, settings: &Settings) -> Result<Self, CommandError> {
        let Ok(dir) = app.env.pi_dir() else { return Ok(PiUse::Unused) };
        let decision = match settings.uses_pi() {
            Some(decision) => Some(decision),
            None => read_if_present(&app.env.state_dir()?.join(ANSWER))?
                .and_then(|text| serde_json::from_str::<Json>(&text).ok()?["use"].as_bool()),
        };
        if decision == Some(false) || !dir.is_dir() {
            return Ok(PiUse::Unused);
        }
        let text = fs::read_to_string(dir.join("settings.json")).unwrap_or_default();
        let pi = PiSetup { dir, settings: serde_json::from_str(&text).unwrap_or_default() };
        Ok(match decision {
            Some(_) => PiUse::Used(pi),
            None if pi.counts().is_empty() => PiUse::Unused,
            None => PiUse::Undecided(pi),
        })
    }
}

impl PiSetup {
    /// Describes what would be loaded, as a list of counts.
    fn counts(&self) -> Vec<String> {
        let listed = |key: &str| self.settings[key].as_array().map_or(0, Vec::len);
        let mut counts = Vec::new();
        let packages = listed("packages");
        counts.extend((packages > 0).then(|| count(packages, "package")));
        for (kind, word) in
            ResourceKind::ALL.into_iter().zip(["extension", "skill", "prompt template", "theme"])
        {
            let entries = fs::read_dir(self.dir.join(kind.key())).into_iter().flatten().flatten();
            let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
            let number = visible.count() + listed(kind.key());
            counts.extend((number > 0).then(|| count(number, word)));
        }
        counts
    }

    /// Returns the entries of a list of paths in pi's settings.
    pub(crate) fn listed(&self, key: &str, home: Option<&Path>) -> Vec<ListedPath> {
        let texts = self.settings[key].as_array().into_iter().flatten().filter_map(Json::as_str);
        texts.map(|text| ListedPath::new(text.to_owned(), &self.dir, home)).collect()
    }

    /// Asks whether to use the set-up, and stores the answer.
    pub(crate) fn ask(&self, app: &mut App) -> Result<(), CommandError> {
        app.ui.tell(&format!("pi has {} in {}.", self.counts().join(", "), self.dir.display()))?;
        app.ui.tell(
            "Extensions are programs: loaded, they run with your rights, as they do in pi. Skills and templates are texts \
             for the model. offshoot reads them and writes nothing there.",
        )?;
        let answer = ask::word(&mut app.ui, "use them in offshoot too?", &["yes", "no", "later"])?;
        match answer {
            Some("yes") => remember(app, true),
            Some("no") => remember(app, false),
            _ => Ok(()),
        }
    }

    /// Describes why nothing of the set-up is used.
    pub(crate) fn words(&self) -> [String; 2] {
        [
            format!("note: {} of pi are not used: you have not been asked yet", self.counts().join(", ")),
            "hint: `offshoot` at a terminal asks once; the setting `piExtensions` decides too".to_owned(),
        ]
    }
}

fn remember(app: &App, is_used: bool) -> Result<(), CommandError> {
    let path = app.env.state_dir()?.join(ANSWER);
    let failed = |error| CommandError::system("write", &path, &error);
    let file = SmallFile::lock(&path).map_err(failed)?;
    file.replace(format!("{}\n", json!({"use": is_used})).as_bytes()).map_err(failed)
}
