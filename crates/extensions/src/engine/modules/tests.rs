use super::*;

#[test]
fn packages_of_pi_and_of_node_are_our_own() {
    for name in ["@mariozechner/pi-tui", "node:fs", "fs", "@sinclair/typebox", "node:fs/promises"] {
        assert!(resolved("/x/a.ts", name).unwrap().starts_with("offshoot:"), "{name}");
    }
    assert!(resolved("/x/a.ts", "offshoot:native").is_err(), "natives are not for everybody");
}

#[test]
fn a_file_is_found_as_typescript_projects_write_it() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("a.ts");
    fs::write(home.path().join("utils.ts"), "").unwrap();
    fs::create_dir(home.path().join("lib")).unwrap();
    fs::write(home.path().join("lib/index.js"), "").unwrap();
    let find = |name: &str| resolved(base.to_str().unwrap(), name).ok().map(PathBuf::from);
    assert_eq!(find("./utils.js"), Some(home.path().join("utils.ts")));
    assert_eq!(find("./utils"), Some(home.path().join("utils.ts")));
    assert_eq!(find("./lib"), Some(home.path().join("lib/index.js")));
    assert_eq!(find("./gone"), None);
}

#[test]
fn a_package_starts_where_its_manifest_says() {
    let home = tempfile::tempdir().unwrap();
    let package = home.path().join("node_modules/@s/p");
    fs::create_dir_all(package.join("esm")).unwrap();
    fs::write(package.join("esm/x.mjs"), "").unwrap();
    fs::write(package.join("package.json"), r#"{"exports":{".":{"import":"./esm/x.mjs"}}}"#).unwrap();
    let base = home.path().join("deep/er/a.ts");
    let found = resolved(base.to_str().unwrap(), "@s/p").unwrap();
    assert_eq!(PathBuf::from(found), package.join("esm/x.mjs"));
}
