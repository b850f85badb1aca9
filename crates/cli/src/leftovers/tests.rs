use super::*;

#[test]
fn files_of_killed_runs_are_removed_and_others_stay() {
    let dir = tempfile::tempdir().unwrap();
    let old = SystemTime::now() - Duration::from_secs(3600);
    let put = |name: &str| {
        let file = File::create(dir.path().join(name)).unwrap();
        file.set_modified(old).unwrap();
        file
    };
    drop(put(".export-killed.offshoot.tmp"));
    drop(put(".export-foreign.tmp"));
    let in_use = put(".export-running.offshoot.tmp");
    in_use.lock().unwrap();
    let new = create_in(dir.path(), "export", |_| {}).unwrap();
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(!dir.path().join(".export-killed.offshoot.tmp").exists());
    drop(new);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "a run that ends removes its own");
}
