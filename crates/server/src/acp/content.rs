//! Prompts of an editor: blocks of text, images and files.

use offshoot_agent::agent::Submission;
use percent_encoding::percent_decode_str;
use serde_json::Value as Json;

use crate::failure::{Failure, FailureKind};
use crate::rpc::protocol::ImageInput;

/// Reads the blocks of a prompt. A linked file is named as `@path`, so that its content goes with the prompt; an embedded
/// file is quoted.
pub(super) fn submission(prompt: &Json) -> Result<Submission, Failure> {
    let wrong = |text: String| Failure::of(FailureKind::BadInput, text);
    let Some(blocks) = prompt.as_array() else {
        return Err(wrong("`prompt` must be a list of content blocks".to_owned()));
    };
    let (mut texts, mut images, mut mentions) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str() {
            Some("text") => texts.push(text("text")),
            Some("image") => {
                let image: ImageInput = serde_json::from_value(block.clone())
                    .map_err(|error| wrong(format!("an image block is wrong: {error}")))?;
                images.push(image.into());
            }
            Some("resource_link") => {
                let mention = mention(&text("uri"), &text("name"));
                mentions.push(mention.clone());
                texts.push(mention);
            }
            Some("resource") => {
                let resource = &block["resource"];
                let uri = resource["uri"].as_str().unwrap_or_default();
                match resource["text"].as_str() {
                    Some(text) => texts.push(format!("<file path=\"{}\">\n{text}\n</file>", path_of(uri))),
                    None => return Err(wrong(format!("{uri} is not text, and cannot be embedded"))),
                }
            }
            other => return Err(wrong(format!("a prompt cannot have a block of type {other:?}"))),
        }
    }
    let text = texts.join("\n\n");
    Ok(Submission { typed: mentions.join(" "), text, images, source: "rpc", ..Submission::default() })
}

/// Names a linked resource: a file as `@path`, anything else as a link.
fn mention(uri: &str, name: &str) -> String {
    match uri.strip_prefix("file://") {
        Some(_) => {
            let path = path_of(uri);
            if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
        }
        None => format!("[{name}]({uri})"),
    }
}

/// Returns the path of a `file://` address, with its escapes decoded; any other address as it is.
fn path_of(uri: &str) -> String {
    match uri.strip_prefix("file://") {
        Some(path) => percent_decode_str(path).decode_utf8_lossy().into_owned(),
        None => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_become_one_text_with_mentions_and_images() {
        let prompt = json!([
            {"type": "text", "text": "Look at"},
            {"type": "resource_link", "uri": "file:///a/my%20notes.md", "name": "notes"},
            {"type": "resource_link", "uri": "https://example.org/x", "name": "x"},
            {"type": "resource", "resource": {"uri": "file:///b.rs", "text": "fn main() {}"}},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        ]);
        let submission = submission(&prompt).unwrap();
        assert_eq!(
            submission.text,
            "Look at\n\n@\"/a/my notes.md\"\n\n[x](https://example.org/x)\n\n<file path=\"/b.rs\">\nfn main() \
             {}\n</file>"
        );
        assert_eq!(submission.typed, "@\"/a/my notes.md\" [x](https://example.org/x)");
        assert_eq!(submission.images.len(), 1);
    }

    #[test]
    fn a_prompt_that_cannot_be_read_is_refused() {
        for (prompt, text) in [
            (json!("hi"), "`prompt` must be a list"),
            (json!([{"type": "audio", "data": ""}]), "block of type Some(\"audio\")"),
            (json!([{"type": "resource", "resource": {"uri": "x", "blob": ""}}]), "x is not text"),
            (json!([{"type": "image"}]), "an image block is wrong"),
        ] {
            let failure = submission(&prompt).unwrap_err();
            assert!(failure.message.contains(text), "{}", failure.message);
        }
    }
}
