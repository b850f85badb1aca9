use std::fs;

use super::*;

fn export(session: &Session, path: &Path, stop: &Cancel) -> Result<(usize, u64), CommandError> {
    let header = session_tree::Options::new().new_header("/");
    let export =
        Export { form: Form::of(path).unwrap(), options: ExportOptions::default(), has_all: false, header };
    export.write_file(session, path, false, &mut |_, _| {}, stop)
}

#[test]
fn an_export_that_is_stopped_leaves_no_file_and_an_ordinary_one_replaces_none() {
    let dir = tempfile::tempdir().unwrap();
    let session =
        Session::from_bytes(testkit::drawing::session_text("a user hello\nb<a assistant hi")).unwrap();
    let stopped = Cancel::new();
    stopped.cancel();
    for name in ["a.html", "a.md", "a.jsonl"] {
        let path = dir.path().join(name);
        assert!(export(&session, &path, &stopped).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{name}");
        export(&session, &path, &Cancel::new()).unwrap();
        let written = fs::read(&path).unwrap();
        assert!(export(&session, &path, &Cancel::new()).is_err());
        assert_eq!(fs::read(&path).unwrap(), written);
        fs::remove_file(&path).unwrap();
    }
}
