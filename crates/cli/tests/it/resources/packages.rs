//! Packages: installed from archives and local repositories with the real npm and git, without a network.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use super::{asked, names, skill};
use crate::support::{Home, Run, files};

/// Runs the program with the programs of this machine.
fn run(home: &Home, arguments: &[&str]) -> Run {
    run_with_path(home, arguments, &std::env::var_os("PATH").unwrap())
}

fn run_with_path(home: &Home, arguments: &[&str], path: &OsString) -> Run {
    let output = home.command(arguments).env("PATH", path).stdin(Stdio::null()).output().unwrap();
    Run::of(home, output)
}

fn program(home: &Home, directory: &str, program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(home.path(directory)).env("HOME", home.path(""));
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env(name, "me@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Writes the files of a package below `DIRECTORY/package`.
fn write(home: &Home, directory: &str, version: &str, skill_name: &str) {
    let manifest = json!({
        "name": "tools", "version": version, "pi": {"skills": ["skills"], "prompts": ["prompts/*.md"]},
        "scripts": {"postinstall": "touch ran", "preinstall": "touch ran"},
    });
    home.file(&format!("{directory}/package/package.json"), manifest.to_string());
    home.file(&format!("{directory}/package/skills/{skill_name}/SKILL.md"), skill(skill_name));
    home.file(&format!("{directory}/package/prompts/fix.md"), "Fix $1 soon.");
}

/// Makes an archive as `npm pack` does. Gives its source.
fn pack(home: &Home, directory: &str, version: &str, skill_name: &str) -> String {
    write(home, directory, version, skill_name);
    program(home, directory, "tar", &["czf", "tools.tgz", "package"]);
    format!("npm:tools@file:{}", home.path(&format!("{directory}/tools.tgz")).display())
}

/// The names in the directory of packages, without the lock file.
fn installed(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path("offshoot/packages")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "lock.json");
    names.sort();
    names
}

fn settings(home: &Home) -> Json {
    serde_json::from_slice(&std::fs::read(home.path("offshoot/settings.json")).unwrap()).unwrap()
}

#[test]
fn a_package_of_npm_is_installed_used_updated_and_removed() {
    let home = Home::new();
    let source = pack(&home, "one", "1.0.0", "first");
    home.file("offshoot/settings.json", r#"{"thinkingLevel": "low"}"#);
    let change: Json = run(&home, &["install", &source, "--json"]).json();
    assert_eq!((&change[0]["version"], &change[0]["source"]), (&json!("1.0.0"), &json!(source)));
    assert_eq!(settings(&home), json!({"thinkingLevel": "low", "packages": [source]}));
    let lock: Json =
        serde_json::from_slice(&std::fs::read(home.path("offshoot/packages/lock.json")).unwrap()).unwrap();
    assert_eq!(lock["npm:tools"]["version"], "1.0.0");
    assert!(lock["npm:tools"]["integrity"].as_str().unwrap().starts_with("sha512-"), "{lock}");
    let place = files(&home.path("offshoot/packages"));
    assert!(!place.iter().any(|(path, _)| path.ends_with("ran")), "scripts ran");
    let (system, prompt, _) = asked(&home, &["-p", "/fix it"]);
    assert_eq!((names(&system), prompt.as_str()), (vec!["first"], "Fix it soon."));
    let listed: Json = run(&home, &["list", "--json"]).json();
    assert_eq!((&listed[0]["isInstalled"], &listed[0]["owner"]), (&json!(true), &json!("user")));
    pack(&home, "one", "1.1.0", "second");
    run(&home, &["update", "tools"]).ok();
    assert_eq!(run(&home, &["list", "--json"]).json()[0]["version"], "1.1.0");
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first", "second"]);
    run(&home, &["remove", "tools"]).ok();
    assert_eq!((settings(&home)["packages"].clone(), installed(&home)), (json!([]), vec![]));
    assert_ne!(run(&home, &["remove", "tools"]).code, 0);
}

#[test]
fn scripts_run_only_if_they_are_allowed() {
    let home = Home::new();
    let source = pack(&home, "one", "1.0.0", "first");
    run(&home, &["install", &source, "--allow-scripts"]).ok();
    let place = files(&home.path("offshoot/packages"));
    assert!(place.iter().any(|(path, _)| path.ends_with("ran")));
}

#[test]
fn a_failed_installation_changes_nothing() {
    let home = Home::new();
    let source = pack(&home, "one", "1.0.0", "first");
    run(&home, &["install", &source]).ok();
    let before = (installed(&home), settings(&home));
    let unchanged = |run: Run, expected: &str| {
        assert_ne!(run.code, 0, "{run}");
        assert!(run.err().contains(expected), "{expected}: {run}");
        assert_eq!((installed(&home), settings(&home)), before, "{run}");
    };
    std::fs::write(home.path("one/tools.tgz"), b"not an archive").unwrap();
    unchanged(run(&home, &["update"]), "npm failed");
    unchanged(run(&home, &["install", "npm:gone@file:/nowhere/gone.tgz"]), "npm failed");
    unchanged(run(&home, &["install", "git:/nowhere/repository"]), "git failed");
    unchanged(run(&home, &["install", "./nowhere"]), "nowhere is no directory");
    let nothing = OsString::from("/nowhere");
    unchanged(run_with_path(&home, &["install", "npm:other"], &nothing), "npm is not installed");
    unchanged(run_with_path(&home, &["install", "git:/srv/other"], &nothing), "git is not installed");
    home.file("empty/package/package.json", r#"{"name": "empty", "version": "1.0.0"}"#);
    program(&home, "empty", "tar", &["czf", "empty.tgz", "package"]);
    let empty = format!("npm:empty@file:{}", home.path("empty/empty.tgz").display());
    unchanged(run(&home, &["install", &empty]), "it has no extensions, skills, prompt templates or themes");
    let directory = home.path("empty/package").display().to_string();
    unchanged(run(&home, &["install", &directory]), "has nothing that can be loaded");
    // The content of a version must not change.
    pack(&home, "one", "1.0.0", "other");
    unchanged(run(&home, &["update"]), "version 1.0.0 has changed");
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first"]);
}

#[test]
fn leftovers_of_an_interrupted_installation_are_no_packages_and_are_removed() {
    let home = Home::new();
    home.file("offshoot/packages/.unfinished-x/node_modules/tools/skills/x/SKILL.md", skill("x"));
    let source = pack(&home, "one", "1.0.0", "first");
    home.file("offshoot/settings.json", json!({"packages": [source, "npm:half"]}).to_string());
    let (system, _, run_before) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), [] as [&str; 0]);
    assert!(run_before.err().contains("package npm:half is not installed"), "{run_before}");
    run(&home, &["install", &source]).ok();
    assert_eq!(installed(&home).len(), 1, "{:?}", installed(&home));
}

#[test]
fn an_archive_cannot_write_outside_of_its_directory() {
    let home = Home::new();
    write(&home, "one", "1.0.0", "first");
    home.file("one/package/evil", "evil");
    let rename = "s,^package/evil$,package/../../../../../evil,";
    program(&home, "one", "tar", &["-P", "-czf", "tools.tgz", "--transform", rename, "package"]);
    let source = format!("npm:tools@file:{}", home.path("one/tools.tgz").display());
    drop(run(&home, &["install", &source]));
    let evil: Vec<_> = files(&home.path("")).into_iter().filter(|(path, _)| path.ends_with("evil")).collect();
    assert_eq!(evil.len(), 1, "only the one that was packed: {evil:?}");
}

#[test]
fn a_repository_is_cloned_at_its_reference() {
    let home = Home::new();
    write(&home, "repo", "1.0.0", "first");
    let git = |arguments: &[&str]| program(&home, "repo/package", "git", arguments);
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "one"]);
    git(&["tag", "v1"]);
    home.file("repo/package/skills/second/SKILL.md", skill("second"));
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "two"]);
    let source = format!("git:{}", home.path("repo/package").display());
    run(&home, &["install", &format!("{source}@v1")]).ok();
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first"]);
    run(&home, &["update"]).ok();
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first"], "a reference stays");
    run(&home, &["install", &source]).ok();
    assert_eq!(settings(&home)["packages"], json!([source]), "another version of the same package");
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first", "second"]);
    assert_eq!(installed(&home).len(), 1);
}

#[test]
fn a_directory_is_used_where_it_is_and_filters_choose_its_resources() {
    let home = Home::new();
    write(&home, "one", "1.0.0", "first");
    home.file("one/package/skills/second/SKILL.md", skill("second"));
    let directory = home.path("one/package").canonicalize().unwrap().display().to_string();
    run(&home, &["install", &directory]).ok();
    assert_eq!(installed(&home), [] as [&str; 0]);
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first", "second"]);
    run(&home, &["config", "--disable", "skills/first/SKILL.md"]).ok();
    assert_eq!(
        settings(&home)["packages"],
        json!([{"source": directory, "skills": ["-skills/first/SKILL.md"]}])
    );
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["second"]);
    let listed: Json = run(&home, &["config", "--enable", "skills/first/SKILL.md", "--json"]).json();
    let states: Vec<_> =
        listed.as_array().unwrap().iter().map(|one| one["enabled"].as_bool().unwrap()).collect();
    assert_eq!(states, [true, true, true], "{listed}");
    for (filter, expected) in [
        (json!({"skills": []}), &[] as &[&str]),
        (json!({"skills": ["*", "!**/second/**"]}), &["first"]),
        (json!({"skills": ["skills/sec*"], "prompts": []}), &["second"]),
    ] {
        let mut entry = filter;
        entry["source"] = json!(directory);
        home.file("offshoot/settings.json", json!({"packages": [entry]}).to_string());
        assert_eq!(names(&asked(&home, &["-p", "hi"]).0), expected);
    }
    assert_ne!(run(&home, &["config", "--enable", "gone"]).code, 0);
}

#[test]
fn the_packages_of_a_project_need_trust_and_are_installed_outside_of_it() {
    let home = Home::new();
    home.file("project/.git/HEAD", "");
    let source = pack(&home, "one", "1.0.0", "first");
    run(&home, &["install", "--local", &source]).ok();
    assert!(home.path("project/.offshoot/packages.lock.json").exists());
    assert!(!home.path("project/.offshoot/packages").exists());
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), ["first"], "our own change keeps the trust");
    // The same project elsewhere: nothing is installed before its user agrees.
    run(&home, &["trust", "--remove"]).ok();
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), [] as [&str; 0]);
    let refused = run(&home, &["install", "--local", &source]);
    assert!(refused.err().contains("it is not trusted"), "{refused}");
    run(&home, &["trust", "--yes"]).ok();
    run(&home, &["remove", "--local", "tools"]).ok();
    assert_eq!(names(&asked(&home, &["-p", "hi"]).0), [] as [&str; 0]);
}

#[test]
fn the_set_up_of_pi_is_used_after_a_yes_and_never_written() {
    let home = Home::new();
    home.file("pi/npm/node_modules/tools/package.json", r#"{"name": "tools", "pi": {"skills": ["skills"]}}"#);
    home.file("pi/npm/node_modules/tools/skills/first/SKILL.md", skill("first"));
    home.file("pi/git/example.org/me/more/skills/second/SKILL.md", skill("second"));
    home.file("pi/npm/node_modules/half/README.md", "");
    home.file("elsewhere/third/SKILL.md", skill("third"));
    let of_pi = json!({
        "packages": ["npm:tools@^1", "git:example.org/me/more@v1", "npm:half"],
        "skills": ["~/elsewhere"], "prompts": ["gone"], "extensions": ["-builtin:mcp"],
    });
    home.file("pi/settings.json", of_pi.to_string());
    home.file("pi/AGENTS.md", "Be as in pi.");
    let before = files(&home.path("pi"));
    let (system, _, run_before) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), [] as [&str; 0]);
    assert!(run_before.err().contains("of pi are not used"), "{run_before}");
    home.file("offshoot/state/pi.json", r#"{"use": true}"#);
    let (system, _, run_after) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), ["third", "first", "second"]);
    assert!(system.contains("Be as in pi."), "{system}");
    assert!(run_after.err().contains("package npm:half is not installed"), "{run_after}");
    let listed: Json = run(&home, &["list", "--json"]).json();
    assert_eq!(listed[0]["owner"], "pi");
    home.file("offshoot/settings.json", r#"{"piExtensions": false}"#);
    let (system, _, run_never) = asked(&home, &["-p", "hi"]);
    assert_eq!(names(&system), [] as [&str; 0]);
    assert!(!run_never.err().contains("of pi"), "{run_never}");
    assert_eq!(files(&home.path("pi")), before);
}

#[test]
fn a_package_of_the_command_line_is_loaded_as_a_whole() {
    let home = Home::new();
    write(&home, "one", "1.0.0", "first");
    let directory = home.path("one/package").display().to_string();
    let (system, prompt, _) = asked(&home, &["-p", "/fix it", "-e", &directory, "--no-skills"]);
    assert_eq!((names(&system), prompt.as_str()), (vec!["first"], "Fix it soon."));
    let run = home.run(&["-p", "hi", "-e", &home.path("one").display().to_string()]);
    assert!(run.code != 0 && run.err().contains("there is no extension at"), "{run}");
}
