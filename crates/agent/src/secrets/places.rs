//! Well-known places that hold secrets: keys, tokens, cookies.
//!
//! A place is recognised by the names in a path at any depth, so the home directory of another user or a backup counts
//! too. Names that projects use for other purposes count only in the home directory.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::tools::paths;

/// Files and directories that hold secrets at any depth: keys and tokens, browser profiles, credentials of other agents.
const ANYWHERE: &str = ".ssh, .gnupg, .aws, .azure, .kube, .netrc, _netrc, .pgpass, .git-credentials, .vault-token, \
    .password-store, .pypirc, .docker/config.json, .cargo/credentials, .cargo/credentials.toml, \
    .gem/credentials, .terraform.d/credentials.tfrc.json, .config/gcloud, .config/gh, \
    .config/git/credentials, .config/hub, .config/op, .config/rclone, .local/share/keyrings, \
    Library/Keychains, .mozilla, .librewolf, .thunderbird, .config/google-chrome, .config/chromium, \
    .config/BraveSoftware, .config/microsoft-edge, .config/opera, .config/vivaldi, snap/firefox, \
    snap/chromium, .var/app/org.mozilla.firefox, .var/app/com.google.Chrome, \
    .var/app/org.chromium.Chromium, .var/app/com.brave.Browser, Library/Application Support/Google/Chrome, \
    Library/Application Support/Chromium, Library/Application Support/Firefox, \
    Library/Application Support/BraveSoftware, Library/Application Support/Microsoft Edge, \
    Library/Application Support/Vivaldi, Library/Application Support/Arc, Library/Cookies, Library/Safari, \
    .claude/.credentials.json, .claude.json, .codex/auth.json, .gemini/oauth_creds.json, \
    .qwen/oauth_creds.json, .pi/agent/auth.json, .omp/agent/auth.json, .local/share/opencode/auth.json, \
    .local/share/amp/secrets.json, .config/github-copilot, .config/goose/secrets.yaml, \
    .config/cursor/auth.json, .config/offshoot/credentials.json";

/// Files that hold secrets only in the home directory; in a project they are configuration.
const IN_HOME: &[&str] = &[".npmrc", ".yarnrc.yml", ".my.cnf", ".aider.conf.yml", ".continue/config.json"];

/// The names in each place of [`ANYWHERE`].
static PLACES: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| ANYWHERE.split(", ").map(names).collect());

/// Returns the files of [`IN_HOME`], with all links of the home directory followed.
pub(super) fn in_home() -> impl Iterator<Item = PathBuf> {
    let home = env::home_dir().and_then(|home| paths::real(&home).ok());
    home.into_iter().flat_map(|home| IN_HOME.iter().map(move |place| home.join(place)))
}

/// Returns true if a path, whose links were followed, is a place of [`ANYWHERE`] or lies in one.
pub(super) fn contains(real: &Path) -> bool {
    let names: Vec<String> = names(real);
    PLACES.iter().any(|place| names.windows(place.len()).any(|part| part == place))
}

/// The names of a path in lower case: some file systems ignore case.
fn names(path: impl AsRef<Path>) -> Vec<String> {
    path.as_ref().iter().map(|name| name.to_string_lossy().to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
