//! The tool `read`: reads a text file or a part of it, or an image.
//!
//! Reads only as much of a file as the limits need.

mod text;

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use session_tree::Image;

use super::arguments::Fields;
use super::built_in::{BuiltIn, ToolResult, Work};
use super::files::{self, FileError};
use super::output;
use super::resolved::ResolvedPath;
use crate::tool::{ToolOutput, ToolPlace, text_block};

/// The maximum size of an image.
const MAX_IMAGE_BYTES: u64 = 5 * 1024 * 1024;
/// The number of bytes that determine the type of a file.
const SNIFFED: usize = 8 * 1024;

/// The tool `read`.
pub(super) const TOOL: BuiltIn = BuiltIn {
    name: "read",
    description: "Reads a file: text, or an image (png, jpeg, gif, webp). At most 2000 lines or 50 KB of text \
                  come back at once; use offset and limit to read on in large files.",
    arguments: || {
        json!({
            "path": {"type": "string", "description": "The file, relative or absolute"},
            "offset": {"type": "number", "description": "The first line to read, counted from 1"},
            "limit": {"type": "number", "description": "The most lines to read"},
        })
    },
    required: &["path"],
    work: Work::Reads(read),
};

/// The lines to read.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// The first line, counted from 1.
    offset: usize,
    limit: Option<usize>,
}

fn read(arguments: &Json, path: &ResolvedPath, place: &ToolPlace) -> ToolResult {
    let fields = Fields(arguments);
    let range = Range { offset: fields.count("offset").unwrap_or(1), limit: fields.count("limit") };
    read_file(path, range, place).map_err(|error| error.output("read", path, place))
}

fn read_file(path: &ResolvedPath, range: Range, place: &ToolPlace) -> Result<ToolOutput, FileError> {
    if let Some(text) = files::editor_text(path, place) {
        return Ok(text::read(Cursor::new(&text), text.len() as u64, range, place)?);
    }
    let (mut file, size) = files::open(path)?;
    let start = sniff(&mut file)?;
    let shown = path.shown(&place.cwd);
    if let Some(mime_type) = image_type(&start) {
        return Ok(image(file, size, mime_type, &shown)?);
    }
    if let Some(what) = binary_kind(&start) {
        let size = output::size(size);
        return Ok(ToolOutput::error(format!("{shown} is {what} ({size}); it cannot be shown as text")));
    }
    Ok(text::read(file, size, range, place)?)
}

/// Reads the first bytes and rewinds.
fn sniff(file: &mut File) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(SNIFFED);
    file.by_ref().take(SNIFFED as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start)
}

/// Creates an image for a prompt from the bytes of a file. Returns `None` if models do not support it or it is too
/// large.
pub fn prompt_image(bytes: &[u8]) -> Option<Image> {
    let mime_type = image_type(bytes).filter(|_| bytes.len() as u64 <= MAX_IMAGE_BYTES)?;
    Some(Image { data: STANDARD.encode(bytes), mime_type: mime_type.to_owned() })
}

/// Reads an image for a prompt. Returns `None` if the path is not a file that [`prompt_image`] accepts.
pub fn prompt_image_at(path: &Path) -> Option<Image> {
    let path = ResolvedPath::new(Path::new("/"), path).ok()?;
    let image = files::beginning(&path, MAX_IMAGE_BYTES + 1).ok()?;
    prompt_image(&image.bytes)
}

/// Returns the type of a supported image, by its first bytes.
fn image_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn binary_kind(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => {
            Some("text in UTF-16, which is not supported; convert it first")
        }
        _ => start.contains(&0).then_some("a binary file"),
    }
}

fn image(file: File, size: u64, mime_type: &str, shown: &str) -> io::Result<ToolOutput> {
    let shown_size = output::size(size);
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        let most = output::size(MAX_IMAGE_BYTES);
        return Ok(ToolOutput::error(format!(
            "the image {shown} is too large: {shown_size}, at most {most}"
        )));
    }
    Ok(ToolOutput {
        content: vec![
            text_block(format!("Image {shown} ({mime_type}, {shown_size})")),
            json!({"type": "image", "data": STANDARD.encode(bytes), "mimeType": mime_type}),
        ],
        ..ToolOutput::default()
    })
}

#[cfg(test)]
mod tests;
