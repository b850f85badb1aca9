//! Redaction: a copy of a session file without keys, tokens, addresses and the names of homes.
//!
//! file -> line -> strings -> **copy**
//!
//! Exports are made from the copy, so no row, label, name or cut-off text can contain a secret. The envelope of entries is
//! unchanged, so the tree stays the same. Patterns are guesses; the report lists the findings for the user.

mod patterns;
mod strings;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use regex::Regex;
use session_tree::json::{Doc, write_string};

use crate::error::{Error, Result};
use patterns::Pattern;

/// How many places a finding names.
const MOST_LINES: usize = 5;

/// Replaces secrets in texts.
#[derive(Debug)]
pub struct Redactor {
    patterns: Vec<Pattern>,
}

/// The secrets that were replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactReport {
    /// The findings, kind by kind.
    pub findings: Vec<Finding>,
    /// How many lines were looked at.
    pub lines: u64,
}

/// The findings of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind, such as `API key`.
    pub kind: String,
    /// How often.
    pub count: usize,
    /// How the first ones begin; never a whole one.
    pub samples: Vec<String>,
    /// The first lines with one.
    pub lines: Vec<u64>,
}

impl RedactReport {
    /// Returns how much was found.
    pub fn total(&self) -> usize {
        self.findings.iter().map(|finding| finding.count).sum()
    }
}

impl Redactor {
    /// Prepares the known patterns, the home directory, and patterns of the user's own.
    ///
    /// ```
    /// use offshoot_web::Redactor;
    ///
    /// let redactor = Redactor::new(Some("/srv/ada"), &["ACME-[0-9]+".into()])?;
    /// assert_eq!(redactor.text("export API_TOKEN=abc123def"), "export API_TOKEN=[redacted secret]");
    /// assert_eq!(redactor.text("ACME-77 in /srv/ada/x"), "[redacted own pattern] in ~/x");
    /// assert_eq!(redactor.text("let token = lexer.next_token();"), "let token = lexer.next_token();");
    /// # Ok::<(), offshoot_web::Error>(())
    /// ```
    pub fn new(home: Option<&str>, own: &[String]) -> Result<Self> {
        let mut patterns = patterns::known();
        if let Some(home) = home.filter(|home| home.len() > 1) {
            // The whole name: `/home/adam` is not in `/home/ada`.
            let home = regex::escape(home.trim_end_matches('/'));
            patterns.insert(0, Pattern::home(&format!(r"(?<secret>{home})(?:[^\w-]|$)")));
        }
        for pattern in own {
            let bad = |source| Error::Pattern { pattern: pattern.clone(), source: Box::new(source) };
            patterns.push(Pattern::own(Regex::new(pattern).map_err(bad)?));
        }
        Ok(Self { patterns })
    }

    /// Returns a text without its secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.cleaned(text, &mut |_, _| {})
    }

    fn cleaned<'t>(&self, text: &'t str, found: &mut dyn FnMut(&str, &str)) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for pattern in &self.patterns {
            if let Some(cleaned) = pattern.replaced(&text, found) {
                text = Cow::Owned(cleaned);
            }
        }
        text
    }

    /// Copies a session file line by line without its secrets, and returns the findings.
    pub fn copy(&self, mut lines: impl BufRead, out: &mut dyn Write) -> Result<RedactReport> {
        let mut findings = Findings::default();
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(Error::Read)? > 0 {
            findings.line += 1;
            let content = line.strip_suffix(b"\n").unwrap_or(&line);
            out.write_all(&self.line(content, &mut |kind, secret| findings.add(kind, secret)))?;
            if content.len() < line.len() {
                out.write_all(b"\n")?;
            }
            line.clear();
        }
        out.flush()?;
        Ok(findings.report())
    }

    /// Cleans the strings of one line; a line that is no JSON is one text.
    fn line<'l>(&self, line: &'l [u8], found: &mut dyn FnMut(&str, &str)) -> Cow<'l, [u8]> {
        if Doc::parse(line).is_err() {
            return match self.cleaned(&String::from_utf8_lossy(line), found) {
                Cow::Borrowed(_) => Cow::Borrowed(line),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
        }
        let mut out: Vec<u8> = Vec::new();
        let mut done = 0;
        for string in strings::of(line) {
            if string.is_envelope || string.is_picture(line) {
                continue;
            }
            let Some(text) = string.text(line) else { continue };
            let cleaned = match string.is_password && patterns::is_password(&text) {
                true => {
                    found("password", &text);
                    Cow::Borrowed("[redacted password]")
                }
                false => self.cleaned(&text, found),
            };
            if cleaned != text {
                out.extend_from_slice(&line[done..string.start]);
                let mut spelled = String::new();
                write_string(&mut spelled, &cleaned);
                out.extend_from_slice(spelled.as_bytes());
                done = string.end;
            }
        }
        if done == 0 {
            return Cow::Borrowed(line);
        }
        out.extend_from_slice(&line[done..]);
        Cow::Owned(out)
    }
}

/// The findings so far.
#[derive(Default)]
struct Findings {
    by_kind: BTreeMap<String, Finding>,
    line: u64,
}

impl Findings {
    fn add(&mut self, kind: &str, secret: &str) {
        let line = self.line;
        let finding = self.by_kind.entry(kind.to_owned()).or_insert_with(|| Finding {
            kind: kind.to_owned(),
            count: 0,
            samples: Vec::new(),
            lines: Vec::new(),
        });
        finding.count += 1;
        if finding.lines.len() < MOST_LINES && finding.lines.last() != Some(&line) {
            finding.lines.push(line);
            finding.samples.push(sample(secret));
        }
    }

    fn report(self) -> RedactReport {
        RedactReport { findings: self.by_kind.into_values().collect(), lines: self.line }
    }
}

/// The beginning of a secret: enough to recognise it, not enough to use it.
fn sample(secret: &str) -> String {
    let shown = (secret.chars().count() / 4).min(6);
    format!("{}…", secret.chars().take(shown).collect::<String>().replace('\n', " "))
}

#[cfg(test)]
mod tests;
