//! Parts: pieces of JSON in inert elements of the page.
//!
//! JSON -> **part** -> page
//!
//! The content of a part holds none of `<`, `>` and `&`, so there is no element it could leave. Many small parts
//! instead of a large one: the page reads those that it shows, and an export never holds more than one.

use std::fmt::Display;
use std::io::{self, Write};

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use memchr::memchr3_iter;
use serde::Serialize;

/// Sessions up to this size are stored as they are: the page stays readable for those who look behind it.
const SMALL: u64 = 96 * 1024;
/// Sessions above this size are stored as they are: packing them would take longer than all the rest.
pub(crate) const HUGE: u64 = 48 << 20;
/// Sessions above this size are packed in a hurry.
const LARGE: u64 = 8 << 20;

/// Writes parts.
pub(crate) struct Parts<'o> {
    out: &'o mut dyn Write,
    level: Option<Compression>,
    /// Memory for a part as it is written.
    scratch: Vec<u8>,
}

impl<'o> Parts<'o> {
    /// Decides how the parts of a session of this size are stored.
    pub(crate) fn new(out: &'o mut dyn Write, packed: Option<bool>, session_bytes: u64) -> Self {
        let level = if session_bytes > LARGE { Compression::fast() } else { Compression::default() };
        let is_packed = packed.unwrap_or_else(|| (SMALL..=HUGE).contains(&session_bytes));
        Self { out, level: is_packed.then_some(level), scratch: Vec::new() }
    }

    /// Returns the writer.
    pub(crate) fn into_out(self) -> &'o mut dyn Write {
        self.out
    }

    /// Serialises a value as one part.
    pub(crate) fn write_json(
        &mut self,
        kind: &'static str,
        attribute: (&'static str, &dyn Display),
        value: &impl Serialize,
    ) -> io::Result<()> {
        self.write(kind, attribute, &serde_json::to_vec(value)?)
    }

    /// Writes one part with an attribute. Its kind and the name of the attribute are words of ours.
    pub(crate) fn write(
        &mut self,
        kind: &'static str,
        (name, value): (&'static str, &dyn Display),
        json: &[u8],
    ) -> io::Result<()> {
        let packed = self.packed(json)?;
        let out = &mut self.scratch;
        out.clear();
        write!(out, "<template data-part=\"{kind}\" data-{name}=\"{value}\"")?;
        match packed {
            Some(packed) => write_packed(out, json.len(), &packed)?,
            None => {
                out.push(b'>');
                escape(out, json);
            }
        }
        out.extend_from_slice(b"</template>\n");
        self.out.write_all(out)?;
        // Release the memory of a huge part.
        out.shrink_to(1 << 20);
        Ok(())
    }

    /// Packs a part; nothing if it is not to be packed, or gains nothing, as images do.
    fn packed(&self, json: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Some(level) = self.level else { return Ok(None) };
        let packed = deflate(json, level)?;
        Ok((packed.len() / 3 * 4 < json.len()).then_some(packed))
    }
}

/// How many bytes one part holds at the most, unless a single entry has more.
const BODY_BYTES: usize = 384 * 1024;
/// How many entries one part holds at the most.
const BODY_ENTRIES: usize = 512;

/// The bodies of the next part, one line each. A page parses a line when it is needed, so a line that is not JSON hides only
/// itself.
pub(crate) struct Bodies {
    lines: Vec<u8>,
    count: usize,
    /// How many entries stand in the parts before.
    done: usize,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { lines: Vec::with_capacity(2 * BODY_BYTES), count: 0, done: 0 }
    }
}

impl Bodies {
    /// Begins the line of the next entry, which the caller writes.
    pub(crate) fn next(&mut self) -> &mut Vec<u8> {
        if self.count > 0 {
            self.lines.push(b'\n');
        }
        self.count += 1;
        &mut self.lines
    }

    /// Writes a part if there is enough for one.
    pub(crate) fn end_if_full(&mut self, parts: &mut Parts<'_>) -> io::Result<()> {
        if self.lines.len() > BODY_BYTES || self.count >= BODY_ENTRIES { self.end(parts) } else { Ok(()) }
    }

    /// Writes what there is.
    pub(crate) fn end(&mut self, parts: &mut Parts<'_>) -> io::Result<()> {
        if self.count > 0 {
            parts.write("entries", ("from", &self.done), &self.lines)?;
            self.lines.clear();
            // Release the memory of a huge entry.
            self.lines.shrink_to(2 * BODY_BYTES);
            self.done += std::mem::take(&mut self.count);
        }
        Ok(())
    }
}

/// Writes bytes that need not be JSON as parts of one kind, always packed.
pub(crate) struct Packer<'o> {
    out: &'o mut dyn Write,
    kind: &'static str,
    bytes: Vec<u8>,
}

impl<'o> Packer<'o> {
    /// The number of bytes in a part.
    const PART: usize = 1 << 20;
    /// The fastest level that does not make base64, such as images, larger.
    const LEVEL: Compression = Compression::new(2);

    /// Starts with no bytes; call [`Write::flush`] after the last ones.
    pub(crate) fn new(out: &'o mut dyn Write, kind: &'static str) -> Self {
        Self { out, kind, bytes: Vec::with_capacity(Self::PART) }
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(Self::PART - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        if self.bytes.len() == Self::PART {
            self.flush()?;
        }
        Ok(taken)
    }

    /// Writes the bytes so far as a part.
    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let packed = deflate(&self.bytes, Self::LEVEL)?;
        write!(self.out, "<template data-part=\"{}\"", self.kind)?;
        write_packed(&mut self.out, self.bytes.len(), &packed)?;
        self.bytes.clear();
        self.out.write_all(b"</template>\n")
    }
}

fn deflate(bytes: &[u8], level: Compression) -> io::Result<Vec<u8>> {
    let mut packer = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 3), level);
    packer.write_all(bytes)?;
    packer.finish()
}

/// Writes the rest of the opening tag, with the size of the unpacked bytes, and the packed bytes.
fn write_packed(out: &mut dyn Write, size: usize, packed: &[u8]) -> io::Result<()> {
    write!(out, " data-packed=\"{size}\">{}", Base64Display::new(packed, &STANDARD))
}

/// Writes JSON without the characters that mean something to HTML. They occur in strings only, where JSON has other
/// names for them.
fn escape(out: &mut Vec<u8>, json: &[u8]) {
    let mut done = 0;
    for at in memchr3_iter(b'<', b'>', b'&', json) {
        out.extend_from_slice(&json[done..at]);
        let name: &[u8; 6] = match json[at] {
            b'<' => b"\\u003c",
            b'>' => b"\\u003e",
            _ => b"\\u0026",
        };
        out.extend_from_slice(name);
        done = at + 1;
    }
    out.extend_from_slice(&json[done..]);
}
