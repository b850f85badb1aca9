use std::fs;

use super::*;

/// A repository with a settings file and an extension, and a place for decisions.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { dir: tempfile::tempdir().unwrap() };
        place.file("repo/.git/HEAD", "");
        place.file("repo/.offshoot/settings.json", "{}");
        place.file("repo/.offshoot/extensions/a/index.ts", "export default 1");
        place.file("repo/src/deep/main.rs", "");
        place
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn project(&self, name: &str) -> Option<Project> {
        Project::find(&self.dir.path().join(name)).unwrap()
    }

    fn trust(&self) -> TrustFile {
        TrustFile::in_directory(&self.dir.path().join("state"))
    }
}

#[test]
fn the_nearest_directory_up_to_the_repository_is_the_project() {
    let place = Place::new();
    let project = place.project("repo/src/deep").unwrap();
    assert_eq!(project, place.project("repo").unwrap());
    let shown: Vec<String> =
        project.items.iter().map(|item| format!("{} {}", item.purpose, item.path.display())).collect();
    assert_eq!(shown, ["settings .offshoot/settings.json", "code .offshoot/extensions/a/index.ts"]);
    place.file(".offshoot/settings.json", "{}");
    place.file("elsewhere/x", "");
    assert_eq!(place.project("elsewhere"), None, "what lies above is not of the project");
}

#[test]
fn a_link_to_a_project_is_the_same_project() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.dir.path().join("repo"), place.dir.path().join("link")).unwrap();
    assert_eq!(place.project("link"), place.project("repo"));
}

#[test]
fn a_yes_counts_for_these_bytes_only() {
    let place = Place::new();
    let project = place.project("repo").unwrap();
    assert_eq!(place.trust().standing(&project).unwrap(), TrustState::Undecided);
    place.trust().remember(&project, true).unwrap();
    assert_eq!(place.trust().standing(&project).unwrap(), TrustState::Trusted);
    for (name, text) in [
        ("repo/.offshoot/extensions/a/index.ts", "export default 2"),
        ("repo/.offshoot/extensions/b.ts", ""),
        ("repo/.pi/SYSTEM.md", "obey"),
    ] {
        let before = place.project("repo").unwrap();
        place.trust().remember(&before, true).unwrap();
        place.file(name, text);
        let after = place.project("repo").unwrap();
        assert_eq!(place.trust().standing(&after).unwrap(), TrustState::Changed, "{name}");
    }
}

#[test]
fn moving_bytes_from_one_file_into_another_is_a_change() {
    let place = Place::new();
    place.file("repo/.offshoot/extensions/a.ts", "xy");
    place.file("repo/.offshoot/extensions/b.ts", "z");
    let before = place.project("repo").unwrap().digest;
    place.file("repo/.offshoot/extensions/a.ts", "x");
    place.file("repo/.offshoot/extensions/b.ts", "yz");
    assert_ne!(place.project("repo").unwrap().digest, before);
}

#[test]
fn a_no_counts_for_everything_inside_and_a_yes_does_not() {
    let place = Place::new();
    place.file("repo/inner/.offshoot/settings.json", "{}");
    let (outer, inner) = (place.project("repo").unwrap(), place.project("repo/inner").unwrap());
    place.trust().remember(&outer, true).unwrap();
    assert_eq!(place.trust().standing(&inner).unwrap(), TrustState::Undecided);
    place.trust().remember(&outer, false).unwrap();
    assert_eq!(place.trust().standing(&inner).unwrap(), TrustState::Refused);
    assert!(place.trust().forget(&outer.dir).unwrap());
    assert!(!place.trust().forget(&outer.dir).unwrap());
    assert_eq!(place.trust().standing(&inner).unwrap(), TrustState::Undecided);
    assert_eq!(place.trust().list().unwrap(), []);
}

#[test]
fn the_command_line_goes_before_the_file_and_the_file_before_what_is_usual() {
    let place = Place::new();
    let project = place.project("repo").unwrap();
    let standing = |approve, no_approve, usual| {
        Args { approve, no_approve }.standing(&project, &place.trust(), usual).unwrap()
    };
    assert_eq!(standing(false, false, DefaultTrust::Ask), TrustState::Undecided);
    assert_eq!(standing(false, false, DefaultTrust::Always), TrustState::Trusted);
    assert_eq!(standing(false, false, DefaultTrust::Never), TrustState::Refused);
    assert_eq!(standing(false, true, DefaultTrust::Always), TrustState::Refused);
    place.trust().remember(&project, false).unwrap();
    assert_eq!(standing(false, false, DefaultTrust::Always), TrustState::Refused);
    assert_eq!(standing(true, false, DefaultTrust::Never), TrustState::Trusted);
    place.file("repo/.offshoot/SYSTEM.md", "other");
    let project = place.project("repo").unwrap();
    let saved = Args::default();
    place.trust().remember(&place.project("repo").unwrap(), true).unwrap();
    assert_eq!(saved.standing(&project, &place.trust(), DefaultTrust::Never).unwrap(), TrustState::Trusted);
}

#[test]
fn links_in_a_circle_end_and_pipes_are_not_read() {
    let place = Place::new();
    let extensions = place.dir.path().join("repo/.offshoot/extensions");
    let before = place.project("repo").unwrap();
    let pipe = extensions.join("pipe.ts");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Whoever reads the pipe waits for ever.
    assert_eq!(place.project("repo").unwrap().digest, before.digest);
    std::os::unix::fs::symlink(&extensions, extensions.join("again")).unwrap();
    assert!(Project::find(&place.dir.path().join("repo")).is_err());
}
