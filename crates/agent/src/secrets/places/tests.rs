use super::*;

#[test]
fn secret_places_are_recognised_wherever_they_are() {
    let is_secret_place = |path: &Path| contains(path) || in_home().any(|place| path.starts_with(place));
    for path in [
        "/home/ada/.ssh/id_rsa",
        "/home/ada/.ssh",
        "/root/.aws/credentials",
        "/backup/ada/.config/gcloud/x/y",
        "/home/ada/.netrc",
        "/home/ada/.mozilla/firefox/x/cookies.sqlite",
        "/Users/ada/Library/Application Support/Google/Chrome/Default/Cookies",
        "/home/ada/.claude/.credentials.json",
        "/home/ada/.codex/auth.json",
        "/home/ada/.SSH/id_rsa",
    ] {
        assert!(is_secret_place(Path::new(path)), "{path}");
    }
    for path in [
        "/home/ada/project/src/ssh.rs",
        "/home/ada/.claude/settings.json",
        "/home/ada/.config/git/config",
        "/home/ada/project/.npmrc",
        "/home/ada/.netrc.md",
        "/",
    ] {
        assert!(!is_secret_place(Path::new(path)), "{path}");
    }
    let home = paths::real(&env::home_dir().unwrap()).unwrap();
    assert!(is_secret_place(&home.join(".npmrc")));
    assert!(!is_secret_place(&home.join("project/.npmrc")));
}
