use std::fs;
use std::path::PathBuf;

use super::*;
use crate::session::{Options, Session};

struct Setup {
    dir: tempfile::TempDir,
    file: PathBuf,
}

/// Creates a session that is large enough for a sidecar, with branches, labels, an odd id and an orphan.
fn setup() -> Setup {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.jsonl");
    let mut text = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"cwd\":\"/\"}\n\n",
    );
    let filler = "x".repeat(900);
    for at in 0..1500_u32 {
        let id = if at == 70 { "odd-id".to_owned() } else { format!("{at:08x}") };
        let parent = match at {
            0 => "null".to_owned(),
            71 => "\"odd-id\"".to_owned(),
            500 => "\"gone\"".to_owned(),
            at if at % 100 == 0 => format!("\"{:08x}\"", at - 50),
            at => format!("\"{:08x}\"", at - 1),
        };
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{filler}\"}}}}\n"
        ));
    }
    text.push_str("{\"type\":\"label\",\"id\":\"aaaaaaaa\",\"parentId\":\"000005db\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"targetId\":\"00000007\",\"label\":\"here\"}\n");
    fs::write(&file, text).unwrap();
    Setup { dir, file }
}

impl Setup {
    fn options(&self) -> Options {
        Options::new().sidecar_dir(self.dir.path().join("cache"))
    }

    fn open(&self) -> Session {
        self.options().open(&self.file).unwrap()
    }

    fn sidecar(&self) -> PathBuf {
        fs::read_dir(self.dir.path().join("cache")).unwrap().next().unwrap().unwrap().path()
    }

    fn stored(&self) -> Option<Index> {
        let session = Session::open_read_only(&self.file).unwrap();
        let fs = crate::fs::RealFs;
        let meta = fs.metadata(&self.file).unwrap();
        Sidecar::of(&self.dir.path().join("cache"), meta.id).load(&fs, &*session.journal, &meta)
    }
}

fn assert_same(one: &Session, other: &Session) {
    assert_eq!(one.leaf_id(), other.leaf_id());
    let labels = |session: &Session| {
        let labels = session.labels().into_iter();
        labels.map(|(node, label)| (node.index(), label.clone())).collect::<Vec<_>>()
    };
    assert_eq!(labels(one), labels(other));
    assert_eq!(one.diagnostics(), other.diagnostics());
    let (ours, theirs) = (one.tree().ordered(), other.tree().ordered());
    assert_eq!(ours.len(), theirs.len());
    for ((node, depth), (other_node, other_depth)) in ours.into_iter().zip(theirs) {
        assert_eq!((node.index(), depth), (other_node.index(), other_depth));
        assert_eq!(one.tree().place(node), other.tree().place(other_node));
        assert_eq!(other.tree().node(one.tree().id(node).as_str()), Some(other_node));
    }
}

#[test]
fn opening_from_the_sidecar_gives_the_same_session() {
    let setup = setup();
    let first = setup.open();
    assert!(setup.stored().is_some());
    assert_same(&first, &setup.open());
    assert_same(&first, &Session::open(&setup.file).unwrap());
}

#[test]
fn later_lines_are_read_from_the_file() {
    let setup = setup();
    setup.open();
    let mut writer = Session::open(&setup.file).unwrap();
    writer.append(crate::Message::user("new")).unwrap();
    writer.append_label_change("00000008", Some("there")).unwrap();
    drop(writer);
    assert_same(&Session::open(&setup.file).unwrap(), &setup.open());
}

#[test]
fn an_id_that_is_used_again_counts_once() {
    let setup = setup();
    setup.open();
    let line = "{\"type\":\"message\",\"id\":\"00000010\",\"parentId\":null,\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"again\"}}\n";
    let text = fs::read_to_string(&setup.file).unwrap() + line;
    fs::OpenOptions::new()
        .append(true)
        .open(&setup.file)
        .and_then(|mut f| io::Write::write_all(&mut f, line.as_bytes()))
        .unwrap();
    assert!(setup.stored().is_some());
    assert_same(&Session::from_bytes(text.into_bytes()).unwrap(), &setup.open());
}

#[test]
fn a_sidecar_with_any_flipped_bit_is_not_used() {
    let setup = setup();
    let first = setup.open();
    let path = setup.sidecar();
    let good = fs::read(&path).unwrap();
    for at in (0..good.len()).step_by(good.len() / 50) {
        let mut bad = good.clone();
        bad[at] ^= 4;
        fs::write(&path, bad).unwrap();
        assert!(setup.stored().is_none(), "byte {at}");
    }
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    assert!(setup.stored().is_none());
    assert_same(&first, &setup.open());
}

#[test]
fn a_session_that_was_changed_in_place_is_read_again() {
    let setup = setup();
    setup.open();
    let mut text = fs::read(&setup.file).unwrap();
    let at = text.len() / 2;
    text[at] = b'y';
    fs::write(&setup.file, &text).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().write(true).open(&setup.file).unwrap().set_modified(later).unwrap();
    assert!(setup.stored().is_none());
}

#[test]
fn a_sound_sidecar_of_another_version_is_replaced() {
    let setup = setup();
    let first = setup.open();
    let path = setup.sidecar();
    let ours = fs::read(&path).unwrap();
    for version in [0, ours[7] - 1, ours[7] + 1, 0xff] {
        let mut other = ours.clone();
        other[7] = version;
        fs::write(&path, other).unwrap();
        assert!(setup.stored().is_none(), "version {version}");
        assert_same(&first, &setup.open());
        assert!(fs::read(&path).unwrap() == ours, "version {version}: written again");
    }
}

#[test]
fn the_numbers_that_sidecars_store_for_kinds_and_roles_are_pinned() {
    use crate::kind::{Kind, Role};
    let kinds = [
        Kind::Opaque,
        Kind::Message,
        Kind::Usage,
        Kind::BranchSummary,
        Kind::SessionInfo,
        Kind::ResetBoundary,
    ];
    assert_eq!(kinds.map(|kind| kind as u8), [0, 1, 4, 6, 10, 15]);
    let roles = [Role::Other, Role::User, Role::ToolResult, Role::Custom, Role::FileMention];
    assert_eq!(roles.map(|role| role as u8), [0, 1, 3, 5, 10]);
    for number in 0..=u8::MAX {
        let (kind, role) = (Kind::from_u8(number), Role::from_u8(number));
        assert!(kind as u8 == number || kind == Kind::Opaque);
        assert!(role as u8 == number || role == Role::Other);
    }
}
