//! Bad files are listed and marked, and never keep others from being listed.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::fs::{Access, FsFile, Meta};

/// The real file system, except that it counts bytes read, fails for certain file names, and refuses to rename or
/// remove a session.
#[derive(Debug, Default)]
struct FaultyFs {
    read: Arc<AtomicU64>,
}

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn FsFile>,
    read: Arc<AtomicU64>,
    is_broken: bool,
}

fn is_named(path: &Path, part: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains(part))
}

fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

impl Fs for FaultyFs {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FsFile>> {
        if is_named(path, "locked") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let file = RealFs.open(path, access)?;
        Ok(Box::new(FaultyFile { file, read: self.read.clone(), is_broken: is_named(path, "broken") }))
    }

    fn metadata(&self, path: &Path) -> io::Result<Meta> {
        if is_named(path, "hidden") {
            Err(io::ErrorKind::PermissionDenied.into())
        } else {
            RealFs.metadata(path)
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        RealFs.canonical(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        if is_named(path, "secret") {
            Err(io::ErrorKind::PermissionDenied.into())
        } else {
            RealFs.read_dir(path)
        }
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        RealFs.create_dir_all(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        assert!(!is_session(from) && !is_session(to), "{} is renamed", from.display());
        RealFs.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        assert!(!is_session(path), "{} is removed", path.display());
        RealFs.remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.sync_dir(path)
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        RealFs.free_space(path)
    }
}

impl FsFile for FaultyFile {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_broken {
            return Err(io::Error::other("bad sector"));
        }
        let count = self.file.read_at(position, buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.file.append(bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn metadata(&self) -> io::Result<Meta> {
        self.file.metadata()
    }

    fn make_private(&self) -> io::Result<()> {
        self.file.make_private()
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}

fn damage_by_name(rows: &[SessionSummary]) -> Vec<(String, String)> {
    let told = |row: &SessionSummary| {
        let name = row.path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, row.damage.as_ref().map_or_else(String::new, ToString::to_string))
    };
    let mut all: Vec<_> = rows.iter().map(told).collect();
    all.sort();
    all
}

fn write_bad_files(place: &Place) {
    place.write("/w", "a-good.jsonl", session("good", "/w", 5000));
    place.write("/w", "b-broken.jsonl", session("broken", "/w", 5000));
    place.write("/w", "c-empty.jsonl", "");
    place.write("/w", "d-garbage.jsonl", b"\xFF\x00 garbage\n");
    place.write("/w", "e-hidden.jsonl", session("hidden", "/w", 5000));
    place.write("/w", "f-locked.jsonl", session("locked", "/w", 5000));
    place.write("/w", "g-no-header.jsonl", message("a", "user", 5000, "\"x\""));
    place.write("/w", "h-torn.jsonl", session("torn", "/w", 5000) + "null\n{\"type\":\"mess");
    place.write("/w", "i-nulls.jsonl", header("nulls", "/w") + &message("a", "user", 5000, "null"));
    fs::create_dir(place.catalog().project_dir("/w").join("j-directory.jsonl")).unwrap();
}

#[test]
fn files_that_cannot_be_read_are_listed_and_marked() {
    let place = Place::new();
    write_bad_files(&place);
    let catalog = place.catalog().file_system(Arc::new(FaultyFs::default()));
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    let expected = [
        ("a-good", String::new()),
        ("b-broken", "cannot be read: bad sector".into()),
        ("c-empty", "not a session: it has no session header".into()),
        ("d-garbage", "not a session: it has no session header".into()),
        ("e-hidden", format!("cannot be read: {denied}")),
        ("f-locked", format!("cannot be read: {denied}")),
        ("g-no-header", "not a session: its first entry is not a session header".into()),
        ("h-torn", "2 damaged lines".into()),
        ("i-nulls", String::new()),
    ];
    let expected: Vec<_> = expected.into_iter().map(|(name, damage)| (name.to_owned(), damage)).collect();
    assert_eq!(damage_by_name(&catalog.list("/w").rows()), expected);
    assert_eq!(damage_by_name(&catalog.list_all().rows()), expected);
    assert_eq!(damage_by_name(&catalog.list("/w").quick().collect::<Vec<_>>()), expected);
    assert!(catalog.most_recent("/w").unwrap().is_session());
}

#[test]
fn a_file_that_could_not_be_read_is_tried_again_in_spite_of_the_cache() {
    let place = Place::new();
    write_bad_files(&place);
    place.cached().file_system(Arc::new(FaultyFs::default())).list("/w").rows();
    let rows = place.cached().list("/w").rows();
    assert!(rows.iter().any(|row| row.id == "broken"));
    assert_eq!(rows, place.catalog().list("/w").rows());
}

#[test]
fn a_directory_that_cannot_be_listed_is_reported_and_the_others_are_listed() {
    let place = Place::new();
    place.write("/w", "a.jsonl", session("a", "/w", 5000));
    place.write("/secret", "b.jsonl", session("b", "/secret", 5000));
    let listing = place.catalog().file_system(Arc::new(FaultyFs::default())).list_all();
    let problems: Vec<String> = listing.problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems, [format!("cannot list {}", place.catalog().project_dir("/secret").display())]);
    assert_eq!(ids(&listing.rows()), ["a"]);
}

#[test]
fn quick_rows_read_only_the_beginning_of_each_file() {
    let place = Place::new();
    let filler = message("b<a", "toolResult", 5000, &format!("\"{}\"", "x".repeat(1 << 20)));
    for number in 0..3 {
        place.write("/w", &format!("{number}.jsonl"), session("s", "/w", 5000) + &filler);
    }
    let moody = FaultyFs::default();
    let read = moody.read.clone();
    let catalog = place.catalog().file_system(Arc::new(moody));
    assert_eq!(catalog.list("/w").quick().count(), 3);
    assert_eq!(read.load(Ordering::Relaxed), 3 * 8 * 1024);
}

#[test]
fn a_file_that_begins_with_something_else_is_not_read_to_its_end() {
    let place = Place::new();
    let log = message("a", "user", 5000, "\"x\"").repeat(40_000);
    assert!(log.len() > 5 << 20);
    place.write("/w", "log.jsonl", &log);
    let refused = "not a session: its first entry is not a session header".to_owned();
    for (is_quick, most) in [(true, 8 << 10), (false, 256 << 10)] {
        let moody = FaultyFs::default();
        let read = moody.read.clone();
        let listing = place.catalog().file_system(Arc::new(moody)).list("/w");
        let rows = if is_quick { listing.quick().collect() } else { listing.rows() };
        assert_eq!(damage_by_name(&rows), [("log".to_owned(), refused.clone())]);
        assert!(read.load(Ordering::Relaxed) <= most, "{} bytes", read.load(Ordering::Relaxed));
    }
}

#[test]
fn a_text_that_is_no_session_is_not_read_to_its_end() {
    let place = Place::new();
    place.write("/w", "log.jsonl", "11:45 a line of a log, not of a session\n".repeat(500_000));
    let moody = FaultyFs::default();
    let read = moody.read.clone();
    let rows = place.catalog().file_system(Arc::new(moody)).list("/w").rows();
    let refused = "not a session: it has no session header".to_owned();
    assert_eq!(damage_by_name(&rows), [("log".to_owned(), refused)]);
    assert!(read.load(Ordering::Relaxed) < 8 << 20, "{} bytes", read.load(Ordering::Relaxed));
}

#[test]
fn whatever_bytes_a_file_holds_its_row_agrees_with_opening_it() {
    let place = Place::new();
    let files: Vec<_> = testkit::mangle::files(7, 300).collect();
    for file in &files {
        place.write("/w", &file.name, &file.bytes);
    }
    let rows = place.cached().list_all().rows();
    assert_eq!(rows.len(), files.len());
    for row in &rows {
        let session = crate::Session::from_bytes(fs::read(&row.path).unwrap());
        assert_eq!(session.is_ok(), row.is_session(), "{}", row.path.display());
        let Ok(session) = session else { continue };
        assert_eq!(session.tree().len() as u64, row.entry_count, "{}", row.path.display());
        let cut = session.name().map(|name| &name[..name.floor_char_boundary(1000)]);
        assert_eq!(cut, row.name.as_deref(), "{}", row.path.display());
        assert_eq!(session.header().id(), row.id, "{}", row.path.display());
    }
    assert_eq!(place.cached().list_all().rows(), rows);
}

#[test]
fn a_message_without_a_message_hides_no_session() {
    let place = Place::new();
    let bare = r#"{"type":"message","id":"b","parentId":"a","timestamp":"1970-01-01T00:00:02.000Z"}"#;
    place.write("/w", "a.jsonl", session("a", "/w", 5000) + "{\"type\":\"message\"}\n");
    place.write("/w", "b.jsonl", session("b", "/w", 5000) + bare + "\n");
    place.write("/w", "c.jsonl", header("c", "/w") + &bare.replace("\"a\"", "null") + "\n");
    let (scan, cached) = (place.catalog().list("/w").rows(), place.cached().list("/w").rows());
    let quick: Vec<_> = place.catalog().list("/w").quick().collect();
    for rows in [scan, cached, quick] {
        let mut found = ids(&rows);
        found.sort_unstable();
        assert_eq!(found, ["a", "b", "c"]);
        assert!(rows.iter().all(SessionSummary::is_session));
    }
}

#[test]
fn sessions_of_any_age_are_listed_and_never_removed() {
    let place = Place::new();
    let old = [("/w", "a"), ("/w", "b"), ("/x", "c")]
        .map(|(cwd, id)| place.write(cwd, &format!("{id}.jsonl"), session(id, cwd, 0)));
    let before = old.each_ref().map(|path| fs::read(path).unwrap());
    for path in &old {
        touch(path, 0);
    }
    for catalog in [place.catalog(), place.cached(), place.cached()] {
        let catalog = catalog.file_system(Arc::new(FaultyFs::default()));
        assert_eq!(catalog.list_all().rows().len(), 3);
        assert_eq!(catalog.list("/w").quick().count(), 2);
        assert!(catalog.most_recent("/w").is_some());
        assert_eq!(catalog.find("c", None).unwrap(), old[2]);
    }
    assert_eq!(old.each_ref().map(|path| fs::read(path).unwrap()), before);
}

/// Extends a file by a hole, which takes no space on disk.
fn add_hole(path: &Path, len: u64, tail: &str) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() + len).unwrap();
    file.write_all(tail.as_bytes()).unwrap();
}

/// Returns the start and the end of a message; its text goes between.
fn message_around(link: &str) -> (String, String) {
    let line = message(link, "user", 6000, "\"~\"");
    let (head, tail) = line.split_once('~').unwrap();
    (head.to_owned(), tail.to_owned())
}

#[test]
fn a_line_beyond_the_limit_is_reported_and_hides_no_session() {
    let place = Place::new();
    place.write("/w", "a.jsonl", session("a", "/w", 5000));
    let (head, tail) = message_around("long<a");
    for (name, head, tail) in [("b", head.as_str(), tail.as_str()), ("c", "no line of ours ", "\n")] {
        let path = place.write("/w", &format!("{name}.jsonl"), session(name, "/w", 6000) + head);
        add_hole(&path, 520 << 20, tail);
    }
    let rows = place.catalog().list("/w").rows();
    let told = damage_by_name(&rows);
    let told: Vec<_> = told.iter().map(|(name, damage)| (name.as_str(), damage.as_str())).collect();
    assert_eq!(told, [("a", ""), ("b", ""), ("c", "1 damaged line")]);
    let long = crate::Session::open_read_only(place.catalog().project_dir("/w").join("c.jsonl")).unwrap();
    assert_eq!(long.diagnostics()[0].problem.code(), "line-too-long");
    assert_eq!(long.context().unwrap().items.len(), 1);
}

#[test]
fn a_file_of_more_than_512_mb_is_a_row_like_others() {
    let place = Place::new();
    let path = place.write("/w", "a.jsonl", session("a", "/w", 5000));
    for number in 0..600 {
        let parent = if number == 0 { "a".to_owned() } else { format!("l{}", number - 1) };
        let (head, tail) = message_around(&format!("l{number}<{parent}"));
        fs::File::options().append(true).open(&path).unwrap().write_all(head.as_bytes()).unwrap();
        add_hole(&path, 1 << 20, &tail);
    }
    // The last line is read in full, and a hole is not text.
    add_hole(&path, 0, &message("end<l599", "user", 7000, "\"end\""));
    place.write("/w", "b.jsonl", session("b", "/w", 4000));
    let rows = place.catalog().list("/w").rows();
    assert_eq!(ids(&rows), ["a", "b"]);
    assert!(rows[0].size > 512 << 20);
    assert_eq!((rows[0].entry_count, rows[0].tip_count), (602, 1));
}
