//! Recognises environment variables that hold credentials.
//!
//! Programs that an agent or an extension starts inherit the environment of this process, and with it the API keys of
//! the user. This module decides which variables are withheld. It looks at names and values only and never reads the
//! environment itself.

/// Words that mark a credential wherever they stand in a name.
const CREDENTIAL_WORDS: [&str; 12] = [
    "apikey",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "secrets",
    "token",
    "authtoken",
    "bearer",
    "jwt",
];

/// Words that mark a credential only at the end of a name: `SSH_AUTH_SOCK` is a socket, `NPM_AUTH` a credential.
const LAST_WORDS: [&str; 6] = ["auth", "authorization", "cookie", "pass", "pat", "pin"];

/// Returns true if a variable of this name usually holds a credential: an API key, a token, a password.
///
/// Compares whole words, so that `KEYMAP`, `TOKENIZERS_PARALLELISM` and `MAX_OUTPUT_TOKENS` pass.
///
/// ```
/// use offshoot_agent::secrets::is_credential_name;
///
/// assert!(is_credential_name("ANTHROPIC_API_KEY") && is_credential_name("MYSQL_PWD"));
/// assert!(!is_credential_name("PATH") && !is_credential_name("PWD"));
/// ```
pub fn is_credential_name(name: &str) -> bool {
    let words = words(name);
    let marks = |word: &String| {
        CREDENTIAL_WORDS.contains(&word.as_str())
            // `PGPASSWORD`, `SSHPASS`, `CLIENTSECRET`, `ACCESSKEY`
            || ["password", "secret", "apikey", "accesskey", "sshpass"].iter().any(|end| word.ends_with(end))
    };
    // A key is named by what it is for (`OPENAI_API_KEY`); `KEY` alone and `KEY_REPEAT` name something else.
    let is_key = words.iter().skip(1).any(|word| word == "key");
    let last = words.last().map(String::as_str).unwrap_or_default();
    let is_named_last = words.len() > 1 && (LAST_WORDS.contains(&last) || last == "pwd");
    words.iter().any(marks) || is_key || is_named_last || name.to_lowercase().ends_with("connection_string")
}

/// Returns true if a variable holds a credential, judged by its name and its value: a URL may contain a password.
pub fn is_credential(name: &str, value: &str) -> bool {
    is_credential_name(name) || has_password(value)
}

/// Returns true for `scheme://user:password@host`.
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Splits a name into lower-case words, at everything that is no letter or digit and before a capital in camel case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (after_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
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
        assert!(is_credential("DATABASE_URL", "postgres://app:hunter2@db.example/app"));
        assert!(!is_credential("DATABASE_URL", "postgres://app@db.example/app"));
        assert!(!is_credential("PROXY", "http://localhost:8080/a:b@c"));
        assert!(!is_credential("GREETING", "a:b@c"));
    }
}
