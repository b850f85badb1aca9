//! The network of extensions: the client of the program, and the hosts that the user allows them.
//!
//! The setting `extensionHosts` allows hosts to all extensions; answers of the user are kept in `extension-hosts.json`
//! beside the settings, by the file of the extension.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::stream;
use offshoot_agent::small_file::SmallFile;
use offshoot_extensions::host::HostFuture;
use offshoot_extensions::network::{HttpError, HttpRequest, HttpResponse, Network};
use offshoot_providers::{HttpOptions, WebClient, WebError};

/// The hosts by the file of an extension.
type Allowed = BTreeMap<String, Vec<String>>;

/// The network of the extensions of one agent.
#[derive(Debug)]
pub(super) struct ExtensionNetwork {
    client: Arc<WebClient>,
    file: PathBuf,
    hosts: Vec<String>,
}

impl ExtensionNetwork {
    /// Makes the network with the hosts that the settings allow.
    pub(super) fn new(config: &Path, hosts: Vec<String>) -> Self {
        let client = Arc::new(WebClient::new(HttpOptions::default()));
        ExtensionNetwork { client, file: config.join("extension-hosts.json"), hosts }
    }

    fn read(&self) -> Result<Allowed, String> {
        match std::fs::read_to_string(&self.file) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", self.file.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Allowed::new()),
            Err(error) => Err(format!("cannot read {}: {error}", self.file.display())),
        }
    }
}

/// Returns true if an entry allows a host: the host itself, `*.` and its domain, or `*`.
fn allows(entry: &str, host: &str) -> bool {
    match entry.strip_prefix('*') {
        Some("") => true,
        Some(domain) => domain.starts_with('.') && host.len() > domain.len() && host.ends_with(domain),
        None => entry.eq_ignore_ascii_case(host),
    }
}

fn error(error: WebError) -> HttpError {
    HttpError { code: error.code, message: error.message }
}

impl Network for ExtensionNetwork {
    fn send(&self, request: HttpRequest) -> HostFuture<Result<HttpResponse, HttpError>> {
        let client = self.client.clone();
        Box::pin(async move {
            let HttpRequest { method, url, headers, body } = request;
            let response = client.send(&method, &url, &headers, body).await.map_err(error)?;
            let (status, headers) = (response.status(), response.headers());
            let pieces = stream::try_unfold(response, |mut response| async move {
                let piece = response.piece().await.map_err(error)?;
                Ok(piece.map(|piece| (piece, response)))
            });
            Ok(HttpResponse { status, headers, body: Box::pin(pieces) })
        })
    }

    fn is_allowed(&self, extension: &str, host: &str) -> bool {
        let kept = || self.read().ok().and_then(|mut kept| kept.remove(extension)).unwrap_or_default();
        self.hosts.iter().any(|entry| allows(entry, host)) || kept().iter().any(|known| known == host)
    }

    fn allow(&self, extension: &str, host: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", self.file.display());
        let file = SmallFile::lock(&self.file).map_err(failed)?;
        let mut allowed = self.read()?;
        let hosts = allowed.entry(extension.to_owned()).or_default();
        if !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
        let text = serde_json::to_string_pretty(&allowed).map_err(|error| error.to_string())?;
        file.replace(text.as_bytes()).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_by_the_settings_or_for_one_extension() {
        let home = tempfile::tempdir().unwrap();
        let hosts = ["api.example.org", "*.example.net"].map(str::to_owned).to_vec();
        let network = ExtensionNetwork::new(home.path(), hosts);
        assert!(
            network.is_allowed("/a.ts", "api.example.org") && network.is_allowed("/a.ts", "x.example.net")
        );
        for host in ["example.org", "example.net", "badexample.net", "api.example.org.evil"] {
            assert!(!network.is_allowed("/a.ts", host), "{host}");
        }
        network.allow("/a.ts", "localhost").unwrap();
        network.allow("/a.ts", "localhost").unwrap();
        assert!(network.is_allowed("/a.ts", "localhost") && !network.is_allowed("/b.ts", "localhost"));
        let again = ExtensionNetwork::new(home.path(), Vec::new());
        assert!(again.is_allowed("/a.ts", "localhost"));
        assert!(ExtensionNetwork::new(home.path(), vec!["*".to_owned()]).is_allowed("/b.ts", "anything"));
    }
}
