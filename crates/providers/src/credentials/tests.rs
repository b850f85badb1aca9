use std::fs;

use super::*;
use crate::catalogue::Catalogue;
use crate::error::Error;

fn target(name: &str) -> Target {
    Catalogue::built_in().find(name).unwrap()
}

fn revealed(credentials: &Credentials, name: &str) -> Option<String> {
    credentials.key(&target(name)).map(|key| key.reveal().to_owned())
}

#[test]
fn a_variable_goes_before_the_file_and_the_first_variable_before_the_second() {
    let directory = tempfile::tempdir().unwrap();
    let file = CredentialsFile::new(directory.path().join("deep/credentials.json"));
    assert_eq!(file.keys().unwrap(), []);
    file.set("google", &Secret::new("from-file")).unwrap();
    file.set("anthropic", &Secret::new("from-file")).unwrap();
    let variables = |name: &str| match name {
        "GOOGLE_API_KEY" => Some("second".to_owned()),
        "ANTHROPIC_API_KEY" => Some("  ".to_owned()),
        _ => None,
    };
    let credentials = Credentials::of(variables).with_file(&file).unwrap();
    assert_eq!(revealed(&credentials, "gemini-2.5-pro").as_deref(), Some("second"));
    assert_eq!(revealed(&credentials, "claude-haiku-4-5").as_deref(), Some("from-file"));
    assert_eq!(revealed(&credentials, "gpt-5"), None);
    let source = |name: &str| {
        let target = target(name);
        credentials.source(&target.spec.provider, &target.key_variables)
    };
    assert_eq!(source("gemini-2.5-pro"), Some(KeySource::Variable("GOOGLE_API_KEY".into())));
    assert_eq!(source("claude-haiku-4-5"), Some(KeySource::File));
    assert_eq!(source("gpt-5"), None);
    let shown = format!("{credentials:?} {file:?}");
    assert!(!shown.contains("from-file") && !shown.contains("second"), "{shown}");
}

#[test]
fn the_file_belongs_to_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    let file = CredentialsFile::new(&path);
    file.set("openai", &Secret::new("k1")).unwrap();
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");

    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let error = Credentials::none().with_file(&file).unwrap_err();
    assert!(matches!(error, Error::ExposedCredentials { mode: 0o640, .. }), "{error:?}");
    assert_eq!(error.hint(), Some(format!("chmod 600 {}", path.display())));
    assert!(
        file.set("openai", &Secret::new("k2")).is_err(),
        "and is not made private as if nothing had happened"
    );
    assert_eq!(mode(), 0o640);
}

#[test]
fn other_entries_of_the_file_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    let file = CredentialsFile::new(&path);
    file.set("a", &Secret::new("1")).unwrap();
    let text = fs::read_to_string(&path).unwrap().replacen(
        '{',
        "{\"x\": {\"type\": \"oauth\", \"refresh\": \"r\"},",
        1,
    );
    fs::write(&path, text).unwrap();
    file.set("b", &Secret::new("2")).unwrap();
    assert!(file.remove("a").unwrap());
    assert!(!file.remove("a").unwrap());
    assert_eq!(file.keys().unwrap(), [("b".to_owned(), Secret::new("2"))]);
    assert!(fs::read_to_string(&path).unwrap().contains("\"refresh\": \"r\""));
}

#[test]
fn a_broken_file_is_refused_without_being_quoted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    let file = CredentialsFile::new(&path);
    file.set("a", &Secret::new("1")).unwrap();
    fs::write(&path, "{\"a\": {\"key\": \"sk-broken").unwrap();
    let error = file.keys().unwrap_err();
    assert!(matches!(error, Error::BadCredentials { .. }));
    assert!(!format!("{error:?} {error}").contains("sk-broken"));
}
