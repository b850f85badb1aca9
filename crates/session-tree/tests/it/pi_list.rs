//! Rows of a list equal those of pi, for every recorded file.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use session_tree::json::ValueRef;
use session_tree::{Catalog, SessionSummary, Timestamp};

use crate::support::recorded::recorded;

/// Intended differences: file, fields, reason. `hidden`: pi omits the file, we list it.
const DIFFERENT: &[(&str, &[&str], &str)] = &[
    ("byte-order-mark", &["hidden"], "a byte order mark before the header is ignored"),
    (
        "duplicate-ids",
        &["messageCount", "allMessagesText"],
        "of entries with one id the last one counts, once",
    ),
    ("messages-missing", &["hidden"], "an entry without message does not hide the session"),
    ("null-contents", &["hidden"], "a message without content does not hide the session"),
    ("objects-without-id", &["messageCount", "allMessagesText"], "a line without id is no entry"),
    ("oh-my-pi-extras", &["name"], "a title of oh-my-pi is a name"),
    ("title-slot-first", &["hidden"], "a title slot of oh-my-pi may stand before the header"),
    ("v1-linear", &["parentSessionPath"], "`branchedFrom` is the old name of the parent"),
];

/// The modification time of the recorded files when pi listed them.
const CHANGED: &str = "2001-02-03T04:05:06.000Z";

#[test]
fn rows_of_a_list_equal_those_of_pi() {
    let dir = tempfile::tempdir().unwrap();
    let files = recorded();
    for file in &files {
        let path = dir.path().join(format!("{}.jsonl", file.name));
        fs::write(&path, &file.bytes).unwrap();
        let millis = Timestamp::parse(CHANGED).unwrap().as_millis().unsigned_abs();
        let opened = fs::File::options().append(true).open(&path).unwrap();
        opened.set_modified(UNIX_EPOCH + Duration::from_millis(millis)).unwrap();
    }
    let catalog = Catalog::new(dir.path()).flat();
    let rows = catalog.list_all().rows();
    assert_eq!(rows.len(), files.len(), "every file has a row, whatever it holds");

    let mut wrong = String::new();
    for file in &files {
        let row = rows.iter().find(|row| row.path.file_stem().unwrap() == file.name.as_str()).unwrap();
        let ours = row.is_session().then(|| our_fields(&catalog, row));
        let info = file.answer.root().get("info").filter(|info| !info.is_null());
        let found = differences(ours.as_ref(), info.map(their_fields).as_ref());
        let expected =
            DIFFERENT.iter().find(|(name, ..)| *name == file.name).map_or(&[][..], |entry| entry.1);
        if found != expected {
            let _ = writeln!(wrong, "{}: {found:?} differ\nours {ours:#?}\npi's {info:#?}", file.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The fields of a row in a fixed order; `None` for absent ones.
type Fields = Vec<(&'static str, Option<String>)>;

fn differences(ours: Option<&Fields>, theirs: Option<&Fields>) -> Vec<&'static str> {
    match (ours, theirs) {
        (None, None) => Vec::new(),
        (Some(_), None) => vec!["hidden"],
        (None, Some(_)) => vec!["lost"],
        (Some(ours), Some(theirs)) => {
            ours.iter().zip(theirs).filter(|(our, their)| our != their).map(|(our, _)| our.0).collect()
        }
    }
}

fn our_fields(catalog: &Catalog, row: &SessionSummary) -> Fields {
    let first = row.first_message.as_deref().unwrap_or("(no messages)");
    vec![
        ("id", Some(row.id.clone())),
        ("cwd", Some(row.cwd.clone())),
        ("created", row.created.map(|time| time.to_string())),
        ("modified", Some(row.modified.to_string())),
        ("messageCount", Some(row.message_count.to_string())),
        ("firstMessage", Some(first.to_owned())),
        ("allMessagesText", catalog.text(&row.path).ok()),
        ("name", row.name.clone()),
        ("parentSessionPath", row.parent_session.clone()),
    ]
}

fn their_fields(info: ValueRef<'_>) -> Fields {
    let text = |key: &str| {
        let value = info.get(key)?;
        value.as_str().map(Into::into).or_else(|| value.as_i64().map(|number| number.to_string()))
    };
    let keys = [
        "id",
        "cwd",
        "created",
        "modified",
        "messageCount",
        "firstMessage",
        "allMessagesText",
        "name",
        "parentSessionPath",
    ];
    keys.into_iter().map(|key| (key, text(key))).collect()
}
