//! Runs the blocking work of a tool on a separate thread that can be stopped.

use std::path::{Path, PathBuf};

use super::paths;
use super::resolved::ResolvedPath;
use crate::secrets::Protection;
use crate::tool::{ToolOutput, ToolPlace};

/// A file or directory that a call works on.
#[derive(Debug, Clone)]
pub(crate) struct FileTarget {
    /// The path to open, with all links followed.
    pub(crate) real: PathBuf,
    /// The absolute path to show.
    pub(crate) shown: PathBuf,
}

impl FileTarget {
    /// Returns the path to show for a path at or below this one.
    pub(crate) fn shown_below(&self, real: &Path) -> PathBuf {
        match real.strip_prefix(&self.real) {
            Ok(inside) if inside.as_os_str().is_empty() => self.shown.clone(),
            Ok(inside) => self.shown.join(inside),
            Err(_) => real.to_owned(),
        }
    }
}

impl ToolPlace {
    /// Returns what a path leads to: the file that was judged, if the path was.
    ///
    /// A file that no tool may open is refused, and so is a path whose links changed since it was judged.
    pub(crate) fn target(&self, path: &Path) -> Result<FileTarget, ToolOutput> {
        let judged = self.paths.iter().find(|judged| judged.written == path).cloned();
        let path = judged.unwrap_or_else(|| ResolvedPath::new(&self.cwd, path));
        let shown = paths::shown(&self.cwd, &path.shown);
        let Some(real) = path.real else {
            return Err(ToolOutput::error(format!("cannot open {shown}: too many symbolic links")));
        };
        if paths::real(&real).ok().as_ref() != Some(&real) {
            let error = format!("{shown} was replaced after the call was judged; call the tool again");
            return Err(ToolOutput::error(error));
        }
        if self.secrets.protection(&real) == Some(Protection::Denied) {
            return Err(ToolOutput::error(format!("{shown} holds credentials; no tool may open it")));
        }
        Ok(FileTarget { real, shown: path.shown })
    }
}

/// Runs `work` on a thread that may block. The work checks for itself whether it should stop; work that hangs in the
/// file system is not waited for.
pub(crate) async fn run(
    place: &ToolPlace,
    work: impl FnOnce(&ToolPlace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    place.cancel.unless_cancelled(run_to_the_end(place, work)).await.unwrap_or_else(cancelled)
}

/// Like [`run`], for work that changes something: once begun it is waited for.
pub(crate) async fn run_to_the_end(
    place: &ToolPlace,
    work: impl FnOnce(&ToolPlace) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    if place.cancel.is_cancelled() {
        return cancelled();
    }
    let place = place.clone();
    tokio::task::spawn_blocking(move || work(&place))
        .await
        .unwrap_or_else(|_| ToolOutput::error("the tool broke off; this is a bug"))
}

/// The output of a call that was stopped before it had anything.
pub(crate) fn cancelled() -> ToolOutput {
    ToolOutput::error("cancelled")
}
