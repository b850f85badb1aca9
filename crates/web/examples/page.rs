//! Writes a session file as a page: `cargo run -p offshoot-web --example page -- session.jsonl page.html`.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use offshoot_web::{ExportOptions, write_html};
use session_tree::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(session), Some(page)) = (arguments.next(), arguments.next()) else {
        return Err("usage: page SESSION PAGE".into());
    };
    // Entries are read one after the other, so few need to be kept.
    let session = Options::new().cache_bytes(512 << 10).open_read_only(session)?;
    let mut out = BufWriter::with_capacity(1 << 18, File::create(page)?);
    write_html(&session, &ExportOptions::default(), &mut out, &mut |_, _| {})?;
    Ok(())
}
