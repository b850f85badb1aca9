use std::os::unix::fs::symlink;

use super::*;

/// A package with these files.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[&str]) -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        files.iter().for_each(|file| place.write(file, ""));
        place
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("p")
    }

    fn found(&self, kind: ResourceKind) -> (Vec<String>, Vec<String>) {
        let mut package = Package::read(&self.root()).unwrap();
        let root = package.root.clone();
        let files = package.files(kind).into_iter();
        let files =
            files.map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
        (files, package.warnings)
    }

    fn files(&self, kind: ResourceKind) -> Vec<String> {
        let (files, warnings) = self.found(kind);
        assert_eq!(warnings, [] as [String; 0]);
        files
    }
}

const EXTENSIONS: ResourceKind = ResourceKind::Extensions;

#[test]
fn without_a_manifest_the_conventional_directories_count() {
    let place = Place::new(&[
        "package.json",
        "extensions/a.ts",
        "extensions/types.d.ts",
        "extensions/b/index.ts",
        "extensions/b/helper.ts",
        "extensions/lib/helper.txt",
        "skills/x/SKILL.md",
        "skills/loose.md",
        "prompts/p.md",
        "prompts/deep/q.md",
        "themes/t.json",
        "themes/readme.txt",
        "node_modules/other/extensions/c.ts",
    ]);
    place.write("package.json", r#"{"name": "@me/tools", "pi": {"image": "x.png"}}"#);
    assert_eq!(place.files(EXTENSIONS), ["extensions/a.ts", "extensions/b/index.ts"]);
    assert_eq!(place.files(ResourceKind::Skills), ["skills/loose.md", "skills/x/SKILL.md"]);
    assert_eq!(place.files(ResourceKind::Prompts), ["prompts/deep/q.md", "prompts/p.md"]);
    assert_eq!(place.files(ResourceKind::Themes), ["themes/t.json"]);
    assert!(Package::read(&place.root()).unwrap().has_resources());
}

#[test]
fn a_manifest_lists_paths_globs_and_exclusions_and_no_other_directory_counts() {
    let place = Place::new(&[
        "src/main.ts",
        "src/util.ts",
        "src/old.ts",
        "dir/index.ts",
        "dir/helper.ts",
        "many/one.ts",
        "many/two.ts",
        "many/three/index.ts",
        "skills/x/SKILL.md",
        "node_modules/dep/extensions/d.ts",
    ]);
    let manifest = |extensions: &str| {
        place.write("package.json", &format!(r#"{{"pi": {{"extensions": {extensions}}}}}"#));
        place.files(EXTENSIONS)
    };
    assert_eq!(manifest(r#"["./src/main.ts", "gone.ts"]"#), ["src/main.ts"]);
    assert_eq!(manifest(r#"["dir"]"#), ["dir/index.ts"], "a directory with an index is its index");
    assert_eq!(manifest(r#"["./many/"]"#), ["many/one.ts", "many/three/index.ts", "many/two.ts"]);
    assert_eq!(manifest(r#"["src/*.ts", "!**/old.ts"]"#), ["src/main.ts", "src/util.ts"]);
    assert_eq!(manifest(r#"["./src/*.ts", "-src/util.ts"]"#), ["src/main.ts", "src/old.ts"]);
    assert_eq!(manifest(r#"["node_modules/dep/extensions"]"#), ["node_modules/dep/extensions/d.ts"]);
    assert_eq!(manifest(r#"["node_modules/dep/**/*.ts"]"#), ["node_modules/dep/extensions/d.ts"]);
    assert_eq!(place.files(ResourceKind::Skills), [] as [&str; 0]);
    place.write("package.json", r#"{"pi": {"extensions": []}, "offshoot": {"extensions": ["dir"]}}"#);
    assert_eq!(place.files(EXTENSIONS), ["dir/index.ts"], "our own key goes first");
}

#[test]
fn files_outside_the_package_are_left_out() {
    let place = Place::new(&["in.ts", "../secret.ts", "../other/SKILL.md"]);
    symlink(place.root().join("../secret.ts"), place.root().join("link.ts")).unwrap();
    symlink(place.root().join("../other"), place.root().join("skill")).unwrap();
    let absolute = place.root().join("../secret.ts").display().to_string();
    let list =
        format!(r#"["in.ts", "../secret.ts", "link.ts", "./sub/../../secret.ts", "{absolute}", "/etc"]"#);
    place.write("package.json", &format!(r#"{{"pi": {{"extensions": {list}, "skills": ["skill", "*"]}}}}"#));
    let (files, warnings) = place.found(EXTENSIONS);
    assert_eq!(files, ["in.ts"]);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings.iter().all(|text| text.contains("lies outside of it")), "{warnings:?}");
    let (files, warnings) = place.found(ResourceKind::Skills);
    assert!(!files.iter().any(|file| file.contains("SKILL")), "{files:?}");
    assert!(!warnings.is_empty());
}

#[test]
fn links_in_a_circle_end() {
    let place = Place::new(&["extensions/a.ts", "prompts/p.md", "skills/x/SKILL.md"]);
    for name in ["extensions/loop", "prompts/loop", "skills/loop"] {
        symlink(place.root(), place.root().join(name)).unwrap();
    }
    for kind in ResourceKind::ALL {
        place.found(kind);
    }
    place.write("package.json", r#"{"pi": {"prompts": ["**/*.md"]}}"#);
    assert!(place.files(ResourceKind::Prompts).contains(&"prompts/p.md".to_owned()));
}

#[test]
fn a_damaged_manifest_is_an_error_and_an_empty_package_has_nothing() {
    let place = Place::new(&["readme"]);
    assert!(!Package::read(&place.root()).unwrap().has_resources());
    for text in ["", "{", "[1,"] {
        place.write("package.json", text);
        assert!(Package::read(&place.root()).unwrap_err().contains("package.json"));
    }
    for text in
        ["[]", "1", r#"{"pi": 1}"#, r#"{"pi": {"extensions": "x"}}"#, r#"{"pi": {"skills": [1, {}]}}"#]
    {
        place.write("package.json", text);
        place.found(EXTENSIONS);
        place.found(ResourceKind::Skills);
    }
    assert!(Package::read(&place.root().join("gone")).is_err());
}
