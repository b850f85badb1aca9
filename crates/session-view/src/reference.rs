//! References: the short ways in which people and scripts name an entry.
//!
//! A side branch of *tree*, used by every command. Reads the index; bodies are never needed.

use crate::branches::{branches, tips_by_activity};
use session_tree::{EntryId, Error, Node, Result, Role, Session};

/// How many characters of an id are enough.
const SHORTEST_PREFIX: usize = 4;
/// The start of a reference to a branch.
const BRANCH: &str = "branch:";

/// Finds the entry that a reference names.
///
/// A reference is a full id, a unique prefix of one (at least four characters), `@label`, `leaf` or `.`, `root`,
/// `branch:n` (the tip of the nth of [`branches`], also written `%n` or `#n`) or `branch:name`
/// (the tip of the branch with this name). Any of these may be followed by steps; steps alone start at the leaf:
/// `^` is the parent, `^n` the nth ancestor, `~n` the nth prompt going back. `~1` is the latest prompt, also if the
/// path ends with it; `~~` is `~2`. A shell leaves `branch:2` and `leaf~1` alone, but not `#2` and `~1`.
///
/// ```
/// # use session_tree::Session;
/// # use session_view::resolve;
/// # let bytes = concat!(
/// #     r#"{"type":"session","version":3,"id":"s1","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/"}"#, "\n",
/// #     r#"{"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}"#, "\n",
/// #     r#"{"type":"message","id":"b1b2c3d4","parentId":"a1b2c3d4","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"assistant","content":[]}}"#, "\n",
/// # );
/// let session = Session::from_bytes(bytes.into())?;
/// assert_eq!(resolve(&session, "a1b2")?, resolve(&session, "leaf^")?);
/// # Ok::<(), session_tree::Error>(())
/// ```
pub fn resolve(session: &Session, reference: &str) -> Result<Node> {
    resolve_from(session, reference, None)
}

/// Finds the entry that a reference names; `previous` is where `-` goes: the leaf before the last move.
pub fn resolve_from(session: &Session, reference: &str, previous: Option<Node>) -> Result<Node> {
    let reference = reference.trim();
    // Ids are opaque: one that looks like something else is still an id. So are labels.
    if let Some(node) = session.tree().node(reference) {
        return Ok(node);
    }
    if let Some(label) = reference.strip_prefix('@')
        && let Some(found) = with_label(session, label)?
    {
        return Ok(found);
    }
    // Names may contain `^` and `~`.
    if let Some(name) = reference.strip_prefix(BRANCH)
        && let Some(found) = with_branch_name(session, name)?
    {
        return Ok(found);
    }
    let (base, steps) = reference.split_at(reference.find(['^', '~']).unwrap_or(reference.len()));
    let start = resolve_base(session, reference, base, previous)?;
    walk_back(session, reference, start, steps)
}

fn resolve_base(session: &Session, reference: &str, base: &str, previous: Option<Node>) -> Result<Node> {
    let bad = |reason| Error::BadReference { reference: reference.to_owned(), reason };
    match base {
        "" if reference.is_empty() => Err(bad("it is empty")),
        "" | "leaf" | "." => session.leaf().ok_or_else(|| bad("there is no leaf")),
        "root" => root_of_leaf(session).ok_or_else(|| bad("there are no entries")),
        "-" => previous.ok_or_else(|| bad("there is no previous leaf here")),
        _ => match (base.strip_prefix('@'), base.strip_prefix(BRANCH).or(base.strip_prefix(['#', '%']))) {
            (Some(label), _) => with_label(session, label)?.ok_or_else(|| bad("no entry has this label")),
            (_, Some(branch)) => {
                let tips = tips_by_activity(session.tree());
                let number: Option<usize> = branch.parse().ok();
                let tip = number.and_then(|number| tips.get(number.checked_sub(1)?)).copied();
                tip.ok_or_else(|| bad("there is no such branch"))
            }
            (None, None) => by_prefix(session, base, &bad),
        },
    }
}

/// Returns the tip of the only branch with this name.
fn with_branch_name(session: &Session, name: &str) -> Result<Option<Node>> {
    let mut found = Vec::new();
    for branch in branches(session)?.into_iter().filter(|branch| branch.name == name) {
        found.push(branch.tip);
    }
    match found[..] {
        [] => Ok(None),
        [tip] => Ok(Some(tip)),
        _ => Err(Error::AmbiguousPrefix { prefix: name.to_owned(), candidates: ids_of(session, &found) }),
    }
}

/// The root of the path to the leaf, or the first one.
fn root_of_leaf(session: &Session) -> Option<Node> {
    let of_leaf = session.leaf().and_then(|leaf| session.tree().ancestors(leaf).last());
    of_leaf.or_else(|| session.tree().roots().next())
}

fn with_label(session: &Session, text: &str) -> Result<Option<Node>> {
    let all = session.labels().into_iter().filter(|(_, label)| label.text == text);
    let found: Vec<Node> = all.map(|(node, _)| node).collect();
    match found[..] {
        [] => Ok(None),
        [node] => Ok(Some(node)),
        _ => Err(Error::AmbiguousLabel { label: text.to_owned(), candidates: ids_of(session, &found) }),
    }
}

fn by_prefix(session: &Session, prefix: &str, bad: &dyn Fn(&'static str) -> Error) -> Result<Node> {
    if let Some(node) = session.tree().node(prefix) {
        return Ok(node);
    }
    let missing_at = || session.labels().iter().any(|(_, label)| label.text == prefix);
    if prefix.chars().count() < SHORTEST_PREFIX {
        return Err(match missing_at() {
            true => Error::LabelWithoutAt { label: prefix.to_owned() },
            false => bad("the prefix of an id has at least four characters"),
        });
    }
    let tree = session.tree();
    let found: Vec<Node> = tree.nodes().filter(|node| tree.id(*node).as_str().starts_with(prefix)).collect();
    match found[..] {
        [] if missing_at() => Err(Error::LabelWithoutAt { label: prefix.to_owned() }),
        [] => Err(Error::UnknownEntry { id: EntryId::from(prefix) }),
        [node] => Ok(node),
        _ => {
            let candidates = ids_of(session, &found);
            Err(Error::AmbiguousPrefix { prefix: prefix.to_owned(), candidates })
        }
    }
}

fn ids_of(session: &Session, nodes: &[Node]) -> Vec<EntryId> {
    nodes.iter().map(|node| session.tree().id(*node)).collect()
}

/// Walks up as the steps say: `^`, `^n`, `~`, `~n`, one after the other.
fn walk_back(session: &Session, reference: &str, start: Node, steps: &str) -> Result<Node> {
    let bad = |reason| Error::BadReference { reference: reference.to_owned(), reason };
    let mut at = start;
    let mut rest = steps.chars();
    // A prompt that a step went to is behind us; one that we start from is not.
    let mut is_counted = false;
    while let Some(step) = rest.next() {
        let digits = rest.as_str().bytes().take_while(u8::is_ascii_digit).count();
        let (count, after) = rest.as_str().split_at(digits);
        let count = match count {
            "" => 1,
            digits => digits.parse().map_err(|_| bad("the number is too large"))?,
        };
        at = match step {
            '^' => session.tree().ancestors(at).nth(count),
            '~' => prompt_back(session, at, count, is_counted),
            _ => return Err(bad("only `^`, `~` and numbers may follow")),
        }
        .ok_or_else(|| bad("the path does not go back that far"))?;
        is_counted = step == '~';
        rest = after.chars();
    }
    Ok(at)
}

fn prompt_back(session: &Session, node: Node, count: usize, is_counted: bool) -> Option<Node> {
    let Some(skipped) = count.checked_sub(1) else { return Some(node) };
    let tree = session.tree();
    let path = tree.ancestors(node).skip(usize::from(is_counted));
    path.filter(|node| tree.role(*node) == Some(Role::User)).nth(skipped)
}

/// Splits `path.jsonl:ref` or `session-id:ref` into the session and the reference inside it.
///
/// ```
/// use session_view::split_reference;
///
/// assert_eq!(split_reference("old.jsonl:@done^"), (Some("old.jsonl"), "@done^"));
/// assert_eq!(split_reference("a1b2"), (None, "a1b2"));
/// assert_eq!(split_reference("@done: all"), (None, "@done: all"));
/// assert_eq!(split_reference("branch:2"), (None, "branch:2"));
/// assert_eq!(split_reference("postgres://db.example:6432/team/one"), (None, "postgres://db.example:6432/team/one"));
/// assert_eq!(split_reference("postgres://db/team/one:leaf~1"), (Some("postgres://db/team/one"), "leaf~1"));
/// ```
pub fn split_reference(text: &str) -> (Option<&str>, &str) {
    const ENDING: &str = ".jsonl:";
    if let Some(at) = text.find(ENDING) {
        return (Some(&text[..at + ENDING.len() - 1]), &text[at + ENDING.len()..]);
    }
    if text.starts_with('@') || text.starts_with(BRANCH) {
        return (None, text);
    }
    // The address of a session in a database has a colon itself.
    let parts = if text.contains("://") { text.rsplit_once(':') } else { text.split_once(':') };
    match parts {
        // A drive letter, or a path that merely has a colon in it.
        Some((_, reference)) if reference.contains(['/', '\\']) => (None, text),
        Some((session, reference)) if !session.is_empty() => (Some(session), reference),
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests;
