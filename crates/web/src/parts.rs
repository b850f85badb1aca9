//! Parts: pieces of JSON in inert elements of the page.
//!
//! JSON -> **part** -> page
//!
//! The content of a part holds none of `<`, `>` and `&`, so there is no element it could leave. Many small parts
//! instead of a large one: the page reads those that it shows, and an export never holds more than one.

use std::io::{self, Write};

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use memchr::memchr3_iter;

/// Sessions up to this size are stored as they are: the page stays readable for those who look behind it.
const SMALL: u64 = 96 * 1024;
/// Sessions above this size are stored as they are: packing them would take longer than all the rest.
const HUGE: u64 = 48 << 20;
/// Sessions above this size are packed in a hurry.
const LARGE: u64 = 8 << 20;

/// How the entries are stored in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packing {
    /// Compressed, unless the session is so small that nobody gains or so large that it takes too long.
    #[default]
    Auto,
    /// Compressed.
    Always,
    /// As plain JSON.
    Never,
}

/// Writes parts.
pub(crate) struct Parts<'o> {
    out: &'o mut dyn Write,
    level: Option<Compression>,
    /// Memory for a part as it is written.
    scratch: Vec<u8>,
}

impl<'o> Parts<'o> {
    /// Decides how the parts of a session of this size are stored.
    pub(crate) fn new(out: &'o mut dyn Write, packing: Packing, session_bytes: u64) -> Self {
        let level = if session_bytes > LARGE { Compression::fast() } else { Compression::default() };
        let is_packed = match packing {
            Packing::Auto => (SMALL..=HUGE).contains(&session_bytes),
            Packing::Always => true,
            Packing::Never => false,
        };
        Self { out, level: is_packed.then_some(level), scratch: Vec::new() }
    }

    /// Returns what the parts are written to, for what comes after them.
    pub(crate) fn into_out(self) -> &'o mut dyn Write {
        self.out
    }

    /// Writes one part; `kind` is a word of ours, `from` the place of its first entry.
    pub(crate) fn write(&mut self, kind: &'static str, from: usize, json: &[u8]) -> io::Result<()> {
        let packed = self.packed(json)?;
        let out = &mut self.scratch;
        out.clear();
        write!(out, "<template data-part=\"{kind}\" data-from=\"{from}\"")?;
        match packed {
            Some(packed) => write!(out, " data-packed>{}", Base64Display::new(&packed, &STANDARD))?,
            None => {
                out.push(b'>');
                escape(out, json);
            }
        }
        out.extend_from_slice(b"</template>\n");
        self.out.write_all(out)?;
        // A single huge part must not be paid for until the end.
        out.shrink_to(1 << 20);
        Ok(())
    }

    /// Packs a part; nothing if it is not to be packed, or gains nothing, as images do.
    fn packed(&self, json: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let Some(level) = self.level else { return Ok(None) };
        let mut packer = DeflateEncoder::new(Vec::with_capacity(json.len() / 3), level);
        packer.write_all(json)?;
        let packed = packer.finish()?;
        Ok((packed.len() / 3 * 4 < json.len()).then_some(packed))
    }
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
