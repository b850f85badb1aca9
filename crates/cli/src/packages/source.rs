//! The source of a package: npm, git or a path.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Failure;

/// The source of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A package of npm.
    Npm {
        /// The name.
        name: String,
        /// The version, range or tag; also `file:` and the like.
        version: Option<String>,
    },
    /// A git repository.
    Git {
        /// The address for git.
        url: String,
        /// The host and the path, the same for all ways to reach the repository.
        key: String,
        /// The branch, tag or commit.
        reference: Option<String>,
    },
    /// A file or directory, used where it is; a `.tgz` archive is installed.
    Path(PathBuf),
}

impl Source {
    /// Parses a source. Paths start at `base`.
    pub(crate) fn parse(text: &str, base: &Path, home: Option<&str>) -> Result<Self, Failure> {
        let text = text.trim();
        let bad = |reason: &str| {
            Failure::new(format!("`{text}` is no source of a package: {reason}"))
                .hint("`npm:NAME`, `npm:NAME@VERSION`, `git:URL`, `git:URL@REF`, or a path")
        };
        if text.is_empty() || text.contains(char::is_control) {
            return Err(bad("it is empty or has control characters"));
        }
        if let Some(spec) = text.strip_prefix("npm:") {
            let spec = spec.trim();
            let at = spec.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1);
            let (name, version) = match at {
                Some(at) => (&spec[..at], Some(spec[at + 1..].to_owned())),
                None => (spec, None),
            };
            if !is_npm_name(name) || version.as_ref().is_some_and(|version| version.starts_with('-')) {
                return Err(bad("npm has no such names"));
            }
            return Ok(Source::Npm { name: name.to_owned(), version: version.filter(|it| !it.is_empty()) });
        }
        let schemes = ["https://", "http://", "ssh://", "git://", "file://"];
        let git = text.strip_prefix("git:").filter(|rest| !rest.starts_with("//"));
        match git.or_else(|| schemes.iter().any(|scheme| text.starts_with(scheme)).then_some(text)) {
            Some(address) => git_source(address.trim()).ok_or_else(|| bad("git cannot use this address")),
            None => Ok(Source::Path(match (text.strip_prefix("~/"), home) {
                (Some(path), Some(home)) => Path::new(home).join(path),
                _ => base.join(text),
            })),
        }
    }

    /// Returns the name by which two declarations of the same package are recognised.
    pub(crate) fn identity(&self) -> String {
        match self {
            Source::Npm { name, .. } => format!("npm:{name}"),
            Source::Git { key, .. } => format!("git:{key}"),
            Source::Path(path) => {
                format!("path:{}", path.canonicalize().unwrap_or_else(|_| path.clone()).display())
            }
        }
    }

    /// Returns the source with its version, as npm and git understand it.
    pub(crate) fn spec(&self) -> String {
        match self {
            Source::Npm { name, version: Some(version) } => format!("{name}@{version}"),
            Source::Npm { name, version: None } => name.clone(),
            Source::Git { url, reference: Some(reference), .. } => format!("{url}@{reference}"),
            Source::Git { url, .. } => url.clone(),
            Source::Path(path) => path.display().to_string(),
        }
    }

    /// Returns true if the source is copied when it is installed.
    pub(crate) fn is_copied(&self) -> bool {
        match self {
            Source::Npm { .. } | Source::Git { .. } => true,
            Source::Path(path) => is_archive(path),
        }
    }

    /// Returns true if an update would not change anything.
    pub(crate) fn is_pinned(&self) -> bool {
        match self {
            Source::Npm { version, .. } => version.as_ref().is_some_and(|version| is_exact(version)),
            Source::Git { reference, .. } => reference.is_some(),
            Source::Path(path) => !is_archive(path),
        }
    }

    /// Returns the name of the directory that the package is installed to.
    pub(crate) fn directory(&self) -> String {
        let identity = self.identity();
        let digest = Sha256::digest(identity.as_bytes());
        let hash: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        let readable = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let tail: String = identity.chars().map(readable).collect();
        let start = tail.len().saturating_sub(40);
        format!("{}-{hash}", tail[start..].trim_matches(['-', '.']))
    }
}

fn is_archive(path: &Path) -> bool {
    let name = path.to_string_lossy();
    (name.ends_with(".tgz") || name.ends_with(".tar.gz")) && path.is_file()
}

fn is_npm_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-', '_'])
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-._~".contains(c))
    };
    match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
        None => is_part(name),
    }
}

/// Returns true for a version such as `1.2.3`, and false for a range or a tag.
fn is_exact(version: &str) -> bool {
    let version = version.strip_prefix(['v', '=']).unwrap_or(version);
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    core.split('.').count() == 3 && core.split('.').all(is_number)
}

/// Parses the address of a repository and the reference after it.
fn git_source(address: &str) -> Option<Source> {
    let (prefix, host, path) = if let Some((scheme, rest)) = address.split_once("://") {
        let (host, path) = rest.split_once('/')?;
        (format!("{scheme}://{host}/"), host, path)
    } else if let Some((host, path)) = address.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        (format!("git@{host}:"), host, path)
    } else if let Some(path) = address.strip_prefix('/') {
        ("file:///".to_owned(), "", path)
    } else {
        let (host, path) = address.split_once('/')?;
        (format!("https://{host}/"), host, path)
    };
    let (path, reference) = match path.rsplit_once('@') {
        Some((path, reference)) if !reference.is_empty() => (path, Some(reference.to_owned())),
        _ => (path, None),
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = if host.is_empty() { "local" } else { host };
    let trimmed = path.trim_matches('/');
    let key = trimmed.strip_suffix(".git").unwrap_or(trimmed);
    let is_safe = !host.starts_with('-')
        && (host == "local" || host.contains('.') || host.starts_with("localhost"))
        && !key.is_empty()
        && key.split('/').all(|part| !part.is_empty() && part != ".." && part != ".")
        && reference.as_ref().is_none_or(|reference| !reference.starts_with('-'));
    is_safe.then(|| Source::Git { url: format!("{prefix}{path}"), key: format!("{host}/{key}"), reference })
}

#[cfg(test)]
mod tests;
