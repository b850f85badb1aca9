//! The patterns of secrets.
//!
//! Order matters: what is certain comes first, so that a guess finds nothing left of it.

use regex::{Captures, Regex};

/// One kind of secret.
#[derive(Debug)]
pub(super) struct Pattern {
    kind: &'static str,
    regex: Regex,
    /// The replacement.
    instead: String,
    /// Looks twice at what the expression found.
    is_one: fn(&str) -> bool,
}

impl Pattern {
    /// A directory that becomes `~`.
    pub(super) fn home(expression: &str) -> Self {
        Self::new("home directory", expression, "~", |_| true)
    }

    /// A pattern of the user's own.
    pub(super) fn own(regex: Regex) -> Self {
        Self { kind: "own pattern", regex, instead: "[redacted own pattern]".into(), is_one: |_| true }
    }

    fn secret(kind: &'static str, expression: &str, is_one: fn(&str) -> bool) -> Self {
        Self::new(kind, expression, &format!("[redacted {kind}]"), is_one)
    }

    fn new(kind: &'static str, expression: &str, instead: &str, is_one: fn(&str) -> bool) -> Self {
        // A pattern that is never found, should one of ours not be one; a test reads them all.
        let nothing =
            || Regex::new("$^x").unwrap_or_else(|_| unreachable!("an expression without anything odd"));
        let regex = Regex::new(expression).unwrap_or_else(|_| nothing());
        Self { kind, regex, instead: instead.to_owned(), is_one }
    }

    /// Returns the text without its secrets, or `None` if it has no secret. The group `secret`, or else the whole match,
    /// is replaced.
    pub(super) fn replaced(&self, text: &str, found: &mut dyn FnMut(&str, &str)) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for captures in self.regex.captures_iter(text) {
            let Some(secret) = secret_of(&captures) else { continue };
            if !(self.is_one)(secret.as_str()) {
                continue;
            }
            found(self.kind, secret.as_str());
            out.push_str(&text[done..secret.start()]);
            out.push_str(&self.instead);
            done = secret.end();
        }
        (done > 0).then(|| out + &text[done..])
    }
}

fn secret_of<'t>(captures: &Captures<'t>) -> Option<regex::Match<'t>> {
    captures.name("secret").or_else(|| captures.get(0))
}

/// The patterns that everybody needs.
pub(super) fn known() -> Vec<Pattern> {
    let yes: fn(&str) -> bool = |_| true;
    vec![
        Pattern::secret("private key", PEM, yes),
        Pattern::secret("token", JWT, yes),
        Pattern::secret("API key", API_KEY, has_digit),
        Pattern::secret("web hook", WEB_HOOK, yes),
        Pattern::secret("password", URL_PASSWORD, is_value),
        Pattern::secret("token", AUTHORIZATION, looks_random),
        Pattern::secret("secret", ENVIRONMENT, is_value),
        Pattern::secret("password", PASSWORD, is_password),
        Pattern::secret("password", PASSWORD_ARGUMENT, is_password),
        Pattern::secret("secret", ASSIGNMENT, looks_random),
        Pattern::secret("e-mail", E_MAIL, is_person),
        Pattern::home(r"(?:/home/|/Users/|/export/home/|[A-Za-z]:\\Users\\)[A-Za-z0-9][A-Za-z0-9._-]*"),
    ]
}

const PEM: &str = r"(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)";
const JWT: &str = r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*";
const API_KEY: &str = concat!(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|pk_live_[A-Za-z0-9]{10,}",
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|rt|dt|ptt|soat)-[A-Za-z0-9_.-]{16,}",
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}",
    r"|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,}",
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}",
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|do[opr]_v1_[0-9a-f]{32,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{24,}",
    r"|dckr_pat_[A-Za-z0-9_-]{20,}|lin_api_[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|tvly-[A-Za-z0-9-]{16,}",
    r"|r8_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{16,}|sntrys_[A-Za-z0-9+/=_-]{20,}|figd_[A-Za-z0-9_-]{20,}",
    r"|AGE-SECRET-KEY-1[0-9A-Z]{20,}|hvs\.[A-Za-z0-9_-]{20,}|key-[0-9a-f]{32}|sq0[a-z]{3}-[0-9A-Za-z_-]{20,}",
    r"|[MN][A-Za-z0-9]{23}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
);
const WEB_HOOK: &str = concat!(
    r"https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)",
    r"/(?<secret>[A-Za-z0-9_/-]{16,})",
);
const URL_PASSWORD: &str = r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:(?<secret>[^\s/@"'<>]{3,})@"#;
const AUTHORIZATION: &str =
    r#"(?i)\b(?:bearer|basic|token|x-api-key["']?\s*:)\s+["']?(?<secret>[A-Za-z0-9._~+/=-]{12,})"#;
/// A line of a `.env` file: the name says what it is.
const ENVIRONMENT: &str = concat!(
    r"(?m)^\s*(?:export\s+|set\s+|-e\s+)?[A-Z][A-Z0-9_]*(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PWD|_PASS|_AUTH)[A-Z0-9_]*",
    r#"\s*=\s*["']?(?<secret>[^\s"'`]{4,})"#,
);
/// A password behind its name, without a blank or in quotes. People make up words, so it need not look random.
const PASSWORD: &str = concat!(
    r"(?i)(?:passw(?:or)?d|passphrase|[_-]pass|\bpwd)",
    r#"(?:=["']?|["']?\s*(?:=|:|=>|:=)\s*["'])(?<secret>[^\s"'`,;&()]{4,})"#,
);
/// A password among the arguments of a command: `--password secret`, `curl -u user:secret`, `mysql -psecret`.
const PASSWORD_ARGUMENT: &str = concat!(
    r#"(?:\s--(?:password|passwd|token|secret|api-key)[ =]["']?|\b(?:curl\b[^\n|;]*?\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']+:"#,
    r#"|(?:mysql|mariadb)[a-z-]*\s(?:[^\n|;]*?\s)?-p["']?"#,
    r#"|sshpass\s+-p\s*["']?|redis-cli\s[^\n|;]*?-a\s+["']?|(?:http|https|xh)\s[^\n|;]*?\s-a\s+["']?[^\s:"']+:))"#,
    r#"(?<secret>[^\s"')]+)"#,
);
const ASSIGNMENT: &str = concat!(
    r"(?i)(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|private[_-]?key|access[_-]?key|client[_-]?secret|credential|_auth|connection[_-]?string)",
    r#"[A-Za-z0-9_-]*["']?\s*(?:=|:|=>|:=)\s*["']?(?<secret>[^\s"'`,;]{8,})"#,
);
const E_MAIL: &str = r"\b[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b";

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Names and calls of a program are no secrets, nor are placeholders.
fn is_value(text: &str) -> bool {
    let is_code = text.contains(['(', ')', '{', '}', '<', '>', '[', ']']) || text.contains("::");
    let stands_for_one = text.starts_with('$') || text.starts_with('%') || is_filler(text);
    !is_code && !stands_for_one
}

fn is_filler(text: &str) -> bool {
    let first = text.as_bytes().first();
    let is_one_letter = text.bytes().all(|byte| Some(&byte) == first);
    is_one_letter
        || ["true", "false", "null", "none", "undefined"].contains(&text.to_ascii_lowercase().as_str())
}

/// A value that does not name a password, or the type of one, instead of being one.
pub(super) fn is_password(text: &str) -> bool {
    let low = text.to_ascii_lowercase();
    let is_name = ["pass", "pwd", "secret", "env", "string"].iter().any(|word| low.contains(word));
    let is_member = text.split('.').count() > 1
        && text.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    is_value(text) && !is_name && !is_member
}

/// Returns true for mixed letters and digits, which names rarely have.
fn looks_random(text: &str) -> bool {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_path =
        text.starts_with('/') || text.starts_with("./") || text.contains("://") || text.contains("..");
    is_value(text) && !is_path && digits >= 2 && letters >= 2
}

/// Addresses of programs look like those of people.
fn is_person(text: &str) -> bool {
    !text.starts_with("git@") && !is_file(text)
}

/// `icon@2x.png` is a file.
fn is_file(text: &str) -> bool {
    let end = text.rsplit('.').next().unwrap_or_default();
    ["png", "jpg", "jpeg", "gif", "svg", "webp", "js", "ts", "css", "json", "service", "target", "rs", "py"]
        .contains(&end)
}
