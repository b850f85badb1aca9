use std::fs;

/// Creates a directory with these files: path and content.
pub(in crate::tools) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

/// Creates a directory with a subdirectory that cannot be opened, because its path is too long.
pub(in crate::tools) fn too_deep() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let name = "n".repeat(250);
    let deep = |first: &str| (0..9).fold(dir.path().join(first), |path, _| path.join(&name));
    for first in ["a", "b"] {
        fs::create_dir_all(deep(first)).unwrap();
    }
    fs::rename(dir.path().join("b"), deep("a").join("b")).unwrap();
    dir
}
