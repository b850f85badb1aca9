use super::*;

fn find(base: &Path, name: &str) -> Result<Target, String> {
    Finder::default().find(base.to_str().unwrap(), name, false)
}

fn found(base: &Path, name: &str) -> Option<PathBuf> {
    match find(base, name) {
        Ok(Target::File(path)) => Some(path),
        _ => None,
    }
}

/// Writes files below a directory; a directory is made for each.
fn write(home: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn packages_of_pi_and_of_node_are_our_own() {
    for name in ["@mariozechner/pi-tui", "node:fs", "fs", "@sinclair/typebox", "node:fs/promises"] {
        assert!(matches!(find(Path::new("/x/a.ts"), name), Ok(Target::Own(_))), "{name}");
    }
}

#[test]
fn a_module_that_only_node_has_is_named() {
    let error = find(Path::new("/x/a.ts"), "node:http").unwrap_err();
    assert_eq!(
        error,
        "`node:http` needs Node, which the embedded engine does not have (imported by /x/a.ts)"
    );
    assert!(NODE_ONLY_MODULES.iter().all(|name| !crate::EMBEDDED_MODULES.contains(name)));
}

#[test]
fn a_file_is_found_as_typescript_projects_write_it() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("a.ts");
    let files = ["utils.ts", "lib/index.js", "main/package.json", "main/b.js", "two.cjs", "with space.ts"]
        .map(|name| (name, ""));
    write(home.path(), &files);
    write(home.path(), &[("main/package.json", r#"{"main":"./b"}"#)]);
    let find = |name: &str| found(&base, name);
    assert_eq!(find("./utils.js"), Some(home.path().join("utils.ts")));
    assert_eq!(find("./utils"), Some(home.path().join("utils.ts")));
    assert_eq!(find("./lib"), Some(home.path().join("lib/index.js")));
    assert_eq!(find("./main"), Some(home.path().join("main/b.js")));
    assert_eq!(find("./two"), Some(home.path().join("two.cjs")));
    assert_eq!(
        find(&format!("file://{}/with%20space.ts", home.path().display())),
        Some(home.path().join("with space.ts"))
    );
    assert_eq!(find("./gone"), None);
}

#[test]
fn a_package_exports_what_its_manifest_says() {
    let home = tempfile::tempdir().unwrap();
    let real = fs::canonicalize(home.path()).unwrap();
    let manifest = r##"{"name": "@s/p", "exports": {
        ".": {"types": "./t.d.ts", "import": "./esm/x.mjs", "require": "./x.cjs"},
        "./sub": {"node": {"import": "./esm/sub.mjs"}},
        "./features/*.js": "./src/*.js",
        "./features/private/*": null,
        "./only": {"require": "./x.cjs"},
        "./out": "../../../a.ts"
    }, "imports": {"#own": "./esm/sub.mjs", "#dep/*": "q/*"}}"##;
    let files = [
        ("node_modules/@s/p/package.json", manifest),
        ("node_modules/@s/p/esm/x.mjs", ""),
        ("node_modules/@s/p/esm/sub.mjs", ""),
        ("node_modules/@s/p/x.cjs", ""),
        ("node_modules/@s/p/src/a/b.js", ""),
        ("node_modules/q/lib/z.js", ""),
        ("node_modules/q/package.json", r#"{"main": "lib"}"#),
        ("node_modules/q/lib/index.js", ""),
    ];
    write(&real, &files);
    let (package, base) = (real.join("node_modules/@s/p"), real.join("deep/er/a.ts"));
    let find =
        |name: &str| found(&base, name).map(|path| path.strip_prefix(&real).unwrap().display().to_string());
    assert_eq!(find("@s/p").as_deref(), Some("node_modules/@s/p/esm/x.mjs"));
    assert_eq!(find("@s/p/sub").as_deref(), Some("node_modules/@s/p/esm/sub.mjs"));
    assert_eq!(find("@s/p/features/a/b.js").as_deref(), Some("node_modules/@s/p/src/a/b.js"));
    assert_eq!(
        find("@s/p/only").as_deref(),
        Some("node_modules/@s/p/x.cjs"),
        "the conditions of `require` come second"
    );
    assert_eq!(find("q").as_deref(), Some("node_modules/q/lib/index.js"));
    assert_eq!(find("q/lib/z").as_deref(), Some("node_modules/q/lib/z.js"));
    for name in ["@s/p/esm/x.mjs", "@s/p/features/private/x", "@s/p/out", "gone"] {
        assert_eq!(find(name), None, "{name}");
    }
    let inside = package.join("esm/x.mjs");
    assert_eq!(found(&inside, "#own"), Some(package.join("esm/sub.mjs")));
    assert_eq!(found(&inside, "#dep/lib/z.js"), Some(real.join("node_modules/q/lib/z.js")));
    assert_eq!(found(&inside, "@s/p/sub"), Some(package.join("esm/sub.mjs")), "a package may import itself");
    let required = Finder::default().find(base.to_str().unwrap(), "@s/p", true);
    assert_eq!(required, Ok(Target::File(package.join("x.cjs"))));
    let error = self::find(&base, "@s/p/esm/x.mjs").unwrap_err();
    assert!(error.starts_with("the package `@s/p` does not export `./esm/x.mjs` ("), "{error}");
}
