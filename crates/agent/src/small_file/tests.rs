use super::*;

#[test]
fn changes_of_several_threads_are_all_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/numbers");
    thread::scope(|scope| {
        for number in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let file = SmallFile::lock(path).unwrap();
                let before = fs::read_to_string(path).unwrap_or_default();
                file.replace(format!("{before}{number}\n").as_bytes()).unwrap();
            });
        }
    });
    let mut numbers: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    numbers.sort();
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn unfinished_files_of_killed_processes_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    for name in [".keys.json.abc.tmp", ".other.json.abc.tmp"] {
        fs::write(dir.path().join(name), "secret").unwrap();
    }
    SmallFile::lock(&path).unwrap().replace(b"{}").unwrap();
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".other.json.abc.tmp", "keys.json"]);
}
