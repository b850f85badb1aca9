//! The list `packages` of a settings file, and pi's own installed packages.

use std::path::{Path, PathBuf};

use offshoot_agent::small_file::SmallFile;
use serde_json::{Map, Value as Json};

use super::Source;
use crate::error::{CommandError, Failure};
use crate::project_file::read_if_present;

/// Returns the source of an entry: the text, or the member `source`.
pub(crate) fn entry_source(entry: &Json) -> &str {
    entry.as_str().or_else(|| entry["source"].as_str()).unwrap_or_default()
}

/// Changes the list of packages of a settings file. The rest of the file stays.
pub(crate) fn change_settings<T>(
    path: &Path,
    change: impl FnOnce(&mut Vec<Json>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let failed = |error| CommandError::system("write", path, &error);
    let file = SmallFile::lock(path).map_err(failed)?;
    let text = read_if_present(path)?.unwrap_or_default();
    let mut settings: Map<String, Json> = match text.trim() {
        "" => Map::new(),
        text => serde_json::from_str(text)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?,
    };
    let before = settings.get("packages").cloned();
    let mut packages = before.as_ref().and_then(Json::as_array).cloned().unwrap_or_default();
    let done = change(&mut packages)?;
    let after = Json::Array(packages);
    if before.as_ref() != Some(&after) {
        settings.insert("packages".to_owned(), after);
        file.replace(format!("{:#}\n", Json::Object(settings)).as_bytes()).map_err(failed)?;
    }
    Ok(done)
}

/// Returns the directory to which pi installs a package of the user.
pub(super) fn pi_root(source: &Source, pi: &Path) -> PathBuf {
    match source {
        Source::Npm { name, .. } => pi.join("npm/node_modules").join(name),
        Source::Git { key, .. } => pi.join("git").join(key),
        Source::Path(path) => path.clone(),
    }
}
