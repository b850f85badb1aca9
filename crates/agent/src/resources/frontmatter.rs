//! A Markdown file with YAML fields before it, between two lines of `---`.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A Markdown file, split into its fields and its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Markdown {
    fields: Vec<(String, Field)>,
    /// The text after the fields. Line ends are `\n`.
    pub(super) body: String,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Field {
    Text(String),
    True,
    Other,
}

impl Markdown {
    /// Parses a file. The error is the position and the reason.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
        let (yaml, body) = split(&text);
        let fields = match yaml {
            Some(yaml) => fields(yaml)?,
            None => Vec::new(),
        };
        Ok(Markdown { fields, body: body.to_owned() })
    }

    /// Returns a field that is a text and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.field(name) {
            Some(Field::Text(text)) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }

    /// Returns true if a field is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.field(name) == Some(&Field::True)
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, field)| field)
    }
}

/// Splits a file into its YAML, if it has any, and the text after it.
fn split(text: &str) -> (Option<&str>, &str) {
    let end = text.strip_prefix("---").and_then(|rest| rest.find("\n---"));
    match end {
        Some(end) => (text.get(4..end + 3), text[end + 7..].trim()),
        None => (None, text),
    }
}

/// Reads the fields of a YAML mapping. Nested values are skipped.
fn fields(yaml: &str) -> Result<Vec<(String, Field)>, String> {
    let mut fields: Vec<(String, Field)> = Vec::new();
    let mut name: Option<String> = None;
    let mut depth = 0_usize;
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| {
            // The first line of the file is the `---`.
            format!("line {}: {}", error.marker().line() + 1, error.info())
        })?;
        let value = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                (depth == 2).then_some(Field::Other)
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                None
            }
            Event::Scalar(text, style, _, _) if depth == 1 => match &name {
                None => {
                    if fields.iter().any(|(known, _)| *known == text) {
                        return Err(format!("line {}: `{text}` is given twice", span.start.line() + 1));
                    }
                    name = Some(text.into_owned());
                    None
                }
                Some(_) if style == ScalarStyle::Plain => Some(plain(&text)),
                Some(_) => Some(Field::Text(text.into_owned())),
            },
            Event::Alias(_) if depth == 1 => Some(Field::Other),
            Event::Scalar(..)
            | Event::Alias(_)
            | Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => None,
        };
        if let Some(value) = value {
            // A key that is not a text has no name.
            fields.extend(name.take().map(|name| (name, value)));
        }
    }
    Ok(fields)
}

/// Returns the value of a scalar without quotes, which may be a number, a truth value or null.
fn plain(text: &str) -> Field {
    let is_number = text.parse::<f64>().is_ok() && text.contains(|c: char| c.is_ascii_digit());
    let is_number = is_number || text.starts_with("0x") || text.starts_with("0o");
    match text {
        "true" | "True" | "TRUE" => Field::True,
        "" | "~" | "null" | "Null" | "NULL" | "false" | "False" | "FALSE" => Field::Other,
        _ if is_number => Field::Other,
        text => Field::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests;
