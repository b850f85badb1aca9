//! `mcp.json`: the servers that a user or a project wants, in the shape that Claude Code, pi and others share.
//!
//! ```json
//! {"mcpServers": {
//!     "files": {"command": "npx", "args": ["-y", "server-filesystem", "."], "env": {"KEY": "${KEY}"}},
//!     "docs": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}}
//! }}
//! ```
//!
//! An entry that cannot be used is a [`ConfigProblem`]; the others are used.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_agent::secrets::Secrets;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::names::is_server_name;

/// How long a call may take without progress, if the configuration says nothing else.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest time limit.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// A server to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// The name.
    pub name: String,
    /// The way to reach it.
    pub transport: Transport,
    /// How long a call may take without progress.
    pub timeout: Duration,
    /// False if the entry is kept but not used.
    pub enabled: bool,
    /// True if tools that claim to only read are called without asking. Only the user's own file can set it.
    pub trusts_read_only: bool,
    /// Patterns of tools, and whether models get them; the first that matches counts.
    pub exposure: Vec<(String, bool)>,
    /// The file that configures it.
    pub source: PathBuf,
}

/// The way to reach a server.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program, spoken to on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that are added to its environment.
        env: BTreeMap<String, String>,
        /// Its working directory, seen from that of the session.
        cwd: Option<PathBuf>,
    },
    /// An address.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl Transport {
    /// Describes the server in one line, without values of variables and headers.
    pub fn target(&self) -> String {
        match self {
            Transport::Stdio { command, args, .. } => {
                std::iter::once(command).chain(args).map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Transport::Http { url, .. } => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }
}

/// Values of variables and headers may be secret.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target())
    }
}

/// A configuration file.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// True for a file of a project, whose author is not the user.
    pub is_project: bool,
}

/// A part of a configuration that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file.
    pub file: PathBuf,
    /// The name of the server, if it is about one.
    pub server: Option<String>,
    /// A description of the problem, and of the remedy.
    pub text: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some(server) = &self.server {
            write!(f, "server `{server}`: ")?;
        }
        f.write_str(&self.text)
    }
}

/// Reads configuration files; of two servers of one name the one of the earlier file counts.
///
/// A later entry without a command and an address may still turn a server off, as in pi.
pub fn read_configs(
    files: &[ConfigFile<'_>],
    secrets: &Secrets,
    variable: &dyn Fn(&str) -> Option<String>,
) -> (Vec<ServerConfig>, Vec<ConfigProblem>) {
    let (mut configs, mut problems) = (Vec::<ServerConfig>::new(), Vec::new());
    for file in files {
        let problem = |server: Option<&str>, text: String| ConfigProblem {
            file: file.path.to_owned(),
            server: server.map(str::to_owned),
            text,
        };
        let entries = match entries(file.text) {
            Ok(entries) => entries,
            Err(text) => {
                problems.push(problem(None, text));
                continue;
            }
        };
        let expand = Expand { is_project: file.is_project, secrets, variable };
        for (name, entry) in entries {
            let same = |config: &&mut ServerConfig| spelled(&config.name) == spelled(&name);
            match (read_entry(&name, entry, file, &expand), configs.iter_mut().find(same)) {
                (Err(text), _) => problems.push(problem(Some(&name), text)),
                (Ok(Entry::Server(config)), None) => configs.push(config),
                (Ok(Entry::Server(_)), Some(other)) => {
                    let text = format!("not used: {} has a server of this name", other.source.display());
                    problems.push(problem(Some(&name), text));
                }
                (Ok(Entry::Override { enabled }), Some(other)) => other.enabled &= enabled,
                (Ok(Entry::Override { .. }), None) => {
                    problems.push(problem(Some(&name), "it has neither `command` nor `url`".to_owned()));
                }
            }
        }
    }
    (configs, problems)
}

/// Names that differ in `-` and `_` only give the same names of tools.
fn spelled(name: &str) -> String {
    name.replace('-', "_")
}

fn entries(text: &str) -> Result<Map<String, Json>, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match json.get("mcpServers") {
        Some(Json::Object(servers)) => Ok(servers.clone()),
        Some(_) => Err("`mcpServers` must be an object".to_owned()),
        None if json.get("servers").is_some() => Err("write `mcpServers` instead of `servers`".to_owned()),
        None => Err("there is no `mcpServers`".to_owned()),
    }
}

/// An entry as files spell it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    timeout: Option<f64>,
    enabled: Option<bool>,
    disabled: Option<bool>,
    exposure: Option<String>,
    #[serde(default)]
    tool_exposure: Map<String, Json>,
    #[serde(default)]
    trust_read_only_hint: bool,
}

enum Entry {
    Server(ServerConfig),
    Override { enabled: bool },
}

fn read_entry(name: &str, entry: Json, file: &ConfigFile<'_>, expand: &Expand<'_>) -> Result<Entry, String> {
    if !is_server_name(name) {
        return Err("a name consists of letters, digits, `_` and `-`".to_owned());
    }
    let raw: Raw = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    let enabled = raw.enabled.unwrap_or(true) && !raw.disabled.unwrap_or(false);
    if raw.command.is_none() && raw.url.is_none() && raw.kind.is_none() {
        return Ok(Entry::Override { enabled });
    }
    if raw.trust_read_only_hint && file.is_project {
        return Err("only your own mcp.json can have `trustReadOnlyHint`".to_owned());
    }
    let transport = match (raw.kind.as_deref(), raw.command, raw.url) {
        (None | Some("stdio"), Some(command), None) => Transport::Stdio {
            command: expand.path(&command)?,
            args: raw.args.iter().map(|text| expand.path(text)).collect::<Result<_, _>>()?,
            env: expand.values(&raw.env)?,
            cwd: raw.cwd.as_deref().map(|cwd| expand.path(cwd)).transpose()?.map(PathBuf::from),
        },
        (None | Some("http" | "streamable-http"), None, Some(url)) => {
            Transport::Http { url: expand.text(&url)?, headers: expand.values(&raw.headers)? }
        }
        (Some("sse"), ..) => {
            return Err("the transport `sse` is not supported; most servers have `http` at /mcp".to_owned());
        }
        (_, Some(_), Some(_)) => return Err("it has both `command` and `url`".to_owned()),
        (Some("stdio"), None, _) => return Err("it has no `command`".to_owned()),
        (Some("http" | "streamable-http"), _, None) => return Err("it has no `url`".to_owned()),
        (Some(other), ..) => return Err(format!("there is no type `{other}`; there are `stdio` and `http`")),
        (None, None, None) => return Err("it has neither `command` nor `url`".to_owned()),
    };
    let shown = |exposure: &str| exposure != "hidden";
    let mut exposure: Vec<(String, bool)> = raw
        .tool_exposure
        .iter()
        .map(|(pattern, value)| (pattern.clone(), shown(value.as_str().unwrap_or_default())))
        .collect();
    // A name counts before a pattern.
    exposure.sort_by_key(|(pattern, _)| pattern.contains('*'));
    exposure.push(("*".to_owned(), raw.exposure.as_deref().is_none_or(shown)));
    Ok(Entry::Server(ServerConfig {
        name: name.to_owned(),
        transport,
        timeout: time_limit(raw.timeout)?,
        enabled,
        trusts_read_only: raw.trust_read_only_hint,
        exposure,
        source: file.path.to_owned(),
    }))
}

/// Reads a time limit: pi writes seconds, Claude Code milliseconds.
fn time_limit(given: Option<f64>) -> Result<Duration, String> {
    let Some(given) = given else { return Ok(TIMEOUT) };
    let seconds = if given >= 1000.0 { given / 1000.0 } else { given };
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if !limit.is_zero() => Ok(limit.min(MAX_TIMEOUT)),
        _ => Err(format!("the timeout {given} is not a number of seconds")),
    }
}

/// Replaces `${NAME}` and `${NAME:-default}` by environment variables.
struct Expand<'a> {
    is_project: bool,
    secrets: &'a Secrets,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Expand<'_> {
    fn values(&self, values: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
        values.iter().map(|(name, value)| Ok((name.clone(), self.value(name, value)?))).collect()
    }

    fn value(&self, name: &str, value: &str) -> Result<String, String> {
        match value.strip_prefix('!') {
            Some(_) => {
                Err(format!("`{name}` is a command, which is not supported; use an environment variable"))
            }
            None => self.text(value),
        }
    }

    /// Expands a text in which a `~/` at the beginning is the home directory.
    fn path(&self, text: &str) -> Result<String, String> {
        let text = self.text(text)?;
        match (text.strip_prefix("~/"), (self.variable)("HOME")) {
            (Some(rest), Some(home)) => Ok(format!("{home}/{rest}")),
            _ => Ok(text),
        }
    }

    fn text(&self, text: &str) -> Result<String, String> {
        let (mut expanded, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            let (inside, after) = after.split_once('}').ok_or("a `${` has no `}`")?;
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            expanded.push_str(before);
            expanded.push_str(&self.variable(name, default)?);
            rest = after;
        }
        Ok(expanded + rest)
    }

    fn variable(&self, name: &str, default: Option<&str>) -> Result<String, String> {
        if self.is_project && self.secrets.is_listed(name) {
            return Err(format!("a project cannot use `{name}`, the key of a model service"));
        }
        let found =
            (self.variable)(name).filter(|value| !value.is_empty()).or_else(|| default.map(str::to_owned));
        found.ok_or_else(|| {
            format!("the variable `{name}` is not set; set it, or write `${{{name}:-default}}`")
        })
    }
}

#[cfg(test)]
mod tests;
