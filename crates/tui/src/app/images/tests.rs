use std::fs;

use super::*;

#[test]
fn a_dragged_file_is_found_however_the_terminal_spells_it() {
    let cwd = Path::new("/work");
    let read = |text: &str| dropped_path(text, cwd).map(|path| path.display().to_string());
    for spelled in ["/a b/c.png", "'/a b/c.png' ", "\"/a b/c.png\"", "/a\\ b/c.png", "file:///a%20b/c.png"] {
        assert_eq!(read(spelled).as_deref(), Some("/a b/c.png"), "{spelled}");
    }
    assert_eq!(read("shot.png").as_deref(), Some("/work/shot.png"));
    assert_eq!(read("two\nlines.png"), None);
    assert_eq!(read("file:///%ff.png"), None);
}

#[test]
fn only_images_are_attached() {
    let dir = tempfile::tempdir().unwrap();
    let (text, image) = (dir.path().join("a.png"), dir.path().join("b"));
    fs::write(&text, "no image").unwrap();
    fs::write(&image, b"\x89PNG\r\n\x1a\n....").unwrap();
    assert_eq!(prompt_image_at(&text), None);
    assert_eq!(prompt_image_at(dir.path()), None);
    assert_eq!(prompt_image_at(&image).unwrap().mime_type, "image/png");
}
