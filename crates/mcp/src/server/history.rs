//! `file_history`: the entries that read or changed a file, in all sessions and on all branches.

use serde_json::json;
use session_tree::{FileOps, Node, Session, excerpt};
use session_view::{Branch, Query};
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::arguments::FileHistoryArguments;
use super::library::{Library, reference, words};
use super::{search, text};

pub(super) fn run(
    library: &Library,
    wanted: &FileHistoryArguments,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let condition = search::condition("file", &wanted.path)?;
    let query = Query::parse_strict(&condition).map_err(|error| error.to_string())?;
    let mut answer = Answer::new("entries", wanted.page);
    let remark = library.each(wanted.project.as_deref(), cancel, |summary, session| {
        let mut branches = None;
        for node in search::hits(session, &query)?.into_iter().rev() {
            let touched = touched(session, node, &wanted.path)?;
            if touched.is_empty() || answer.skips() {
                continue;
            }
            let branches = match &branches {
                Some(branches) => branches,
                None => branches.insert(session_view::branches(session).map_err(words)?),
            };
            answer.push(&json!({
                "reference": reference(&summary.id, session.tree().id(node)),
                "time": session.tree().timestamp(node).to_string(),
                "files": touched,
                "state": text::state(session, node),
                "branch": branch_of(session, node, branches),
                "project": summary.cwd,
            }));
            if answer.is_full() {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if let Some(remark) = remark {
        answer.field("incomplete", remark);
    }
    Ok(answer.finish())
}

/// Returns what an entry does with the file: the operation and the path, for each path that ends with `wanted`.
fn touched(session: &Session, node: Node, wanted: &str) -> Result<Vec<String>, String> {
    let mut files = FileOps::default();
    if let Some(message) = session.entry_at(node).map_err(words)?.to_message() {
        files.add_message(&message);
    }
    let is_wanted = |path: &&String| {
        path.strip_suffix(wanted)
            .is_some_and(|before| before.is_empty() || before.ends_with('/') || wanted.starts_with('/'))
    };
    let of = |name: &'static str, paths: std::collections::BTreeSet<String>| -> Vec<String> {
        paths.iter().filter(is_wanted).map(|path| format!("{name} {path}")).collect()
    };
    Ok([of("read", files.read), of("write", files.written), of("edit", files.edited)].concat())
}

/// Returns the name of the branch with the latest activity that contains an entry.
fn branch_of(session: &Session, node: Node, branches: &[Branch]) -> Option<String> {
    let branch = branches.iter().find(|branch| session.tree().is_on_path(node, branch.tip))?;
    Some(excerpt(&branch.name, 80))
}
