use std::os::unix::fs::symlink;

use super::*;

#[test]
fn names_of_keys_tokens_and_passwords_are_credentials() {
    let names = [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_PAT",
        "HF_TOKEN",
        "NPM_TOKEN",
        "npm_config__authToken",
        "NPM_CONFIG__AUTH",
        "PGPASSWORD",
        "MYSQL_PWD",
        "SSHPASS",
        "DB_PASS",
        "CLIENT_SECRET",
        "CLIENTSECRET",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SIGNING_KEY",
        "myApiKey",
        "PASSWORD",
        "TOKEN",
    ];
    for name in names {
        assert!(is_credential_name(name), "{name}");
    }
}

#[test]
fn other_names_are_not() {
    let names = [
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "LANG",
        "TERM",
        "USER",
        "SHELL",
        "TMPDIR",
        "EDITOR",
        "SSH_AUTH_SOCK",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "KEYMAP",
        "KEY_REPEAT",
        "XDG_SESSION_ID",
        "XAUTHORITY",
        "DBUS_SESSION_BUS_ADDRESS",
        "TOKENIZERS_PARALLELISM",
        "MAX_OUTPUT_TOKENS",
        "GIT_AUTHOR_NAME",
        "COMPASS_HOME",
        "CARGO_HOME",
        "NODE_OPTIONS",
        "",
    ];
    for name in names {
        assert!(!is_credential_name(name), "{name}");
    }
}

#[test]
fn a_url_with_a_password_is_a_credential() {
    let secrets = Secrets::new().passing(["PROXY_PASSED".to_owned()]);
    let is_withheld = |name: &str, value: &str| secrets.withholds_variable(name, value);
    assert!(is_withheld("DATABASE_URL", "postgres://app:hunter2@db.example/app"));
    assert!(is_withheld("APP_TOKEN", "x"));
    assert!(!is_withheld("PROXY_PASSED", "http://me:secret@proxy"));
    assert!(!is_withheld("DATABASE_URL", "postgres://app@db.example/app"));
    assert!(!is_withheld("PROXY", "http://localhost:8080/a:b@c"));
    assert!(!is_withheld("GREETING", "a:b@c"));
}

#[test]
fn a_credential_file_is_found_through_links_and_hard_links() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("config")).unwrap();
    fs::write(path("config/credentials.json"), "{}").unwrap();
    fs::write(path("other.json"), "{}").unwrap();
    fs::hard_link(path("config/credentials.json"), path("hard")).unwrap();
    symlink("config/credentials.json", path("soft")).unwrap();
    symlink("config", path("dir")).unwrap();
    let files = Secrets::new().denying([path("config/credentials.json")]);
    for name in [
        "config/credentials.json",
        "config/../config/credentials.json",
        "hard",
        "soft",
        "dir/credentials.json",
        "config/credentials.json.tmp",
    ] {
        assert!(files.is_denied(&path(name)), "{name}");
    }
    for name in ["other.json", "config", "config/settings.json", "credentials.json", "none"] {
        assert!(!files.is_denied(&path(name)), "{name}");
    }
    for (directory, expected) in [("config", true), ("dir", true), ("", true), ("other.json", false)] {
        assert_eq!(files.is_any_denied_below(&path(directory)), expected, "{directory}");
    }
    let missing = Secrets::new().denying([path("none/credentials.json")]);
    assert!(missing.is_denied(&path("none/credentials.json")), "a file that does not exist yet");
    assert!(!missing.is_denied(&path("other.json")));
}
