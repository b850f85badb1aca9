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
    /// Whether the session is so large that everything that can be done without is.
    pub(crate) is_hurried: bool,
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
        Self { out, level: is_packed.then_some(level), is_hurried: session_bytes > HUGE }
    }

    /// Returns what the parts are written to, for what comes after them.
    pub(crate) fn into_out(self) -> &'o mut dyn Write {
        self.out
    }

    /// Writes one part; `kind` is a word of ours, `from` the place of its first entry.
    pub(crate) fn write(&mut self, kind: &'static str, from: usize, json: &str) -> io::Result<()> {
        write!(self.out, "<template data-part=\"{kind}\" data-from=\"{from}\"")?;
        match self.packed(json)? {
            Some(packed) => write!(self.out, " data-packed>{}", Base64Display::new(&packed, &STANDARD))?,
            None => {
                self.out.write_all(b">")?;
                escaped(self.out, json)?;
            }
        }
        self.out.write_all(b"</template>\n")
    }

    /// Packs a part; nothing if it is not to be packed, or gains nothing, as images do.
    fn packed(&self, json: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(level) = self.level else { return Ok(None) };
        let mut packer = DeflateEncoder::new(Vec::with_capacity(json.len() / 3), level);
        packer.write_all(json.as_bytes())?;
        let packed = packer.finish()?;
        Ok((packed.len() / 3 * 4 < json.len()).then_some(packed))
    }
}

/// Writes JSON without the characters that mean something to HTML. They occur in strings only, where JSON has other
/// names for them.
fn escaped(out: &mut dyn Write, json: &str) -> io::Result<()> {
    let bytes = json.as_bytes();
    let mut done = 0;
    for at in memchr3_iter(b'<', b'>', b'&', bytes) {
        out.write_all(&bytes[done..at])?;
        let name: &[u8] = match bytes[at] {
            b'<' => b"\\u003c",
            b'>' => b"\\u003e",
            _ => b"\\u0026",
        };
        out.write_all(name)?;
        done = at + 1;
    }
    out.write_all(&bytes[done..])
}
