//! Prints the tree of a session: `cargo run -p session-view --example print_tree -- session.jsonl`

use std::io::Write;

use session_tree::Session;
use session_view::{Charset, Outline, OutlineOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: print_tree SESSION")?;
    let session = Session::open_read_only(path)?;
    let outline = Outline::new(&session, OutlineOptions::default());
    let mut out = std::io::stdout().lock();
    for row in outline.rows(&session, 0..outline.len())? {
        let dot = if row.on_path { "• " } else { "" };
        let label = row.label.as_ref().map(|label| format!("[{}] ", label.text)).unwrap_or_default();
        let here = if row.is_leaf { " ← active" } else { "" };
        writeln!(out, "{}{dot}{label}{}{here}", row.prefix(Charset::Unicode), row.text)?;
    }
    Ok(())
}
