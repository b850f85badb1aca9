//! Prints the tree of a session: `cargo run --example read_tree -- session.jsonl`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use session_tree::{Charset, Outline, OutlineOptions, Session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_tree SESSION")?;
    let session = Session::open_read_only(path)?;
    let outline = Outline::new(&session, OutlineOptions::default());
    for row in outline.rows(&session, 0..outline.len())? {
        let dot = if row.on_path { "• " } else { "" };
        let here = if row.is_leaf { " ← active" } else { "" };
        println!("{}{dot}{}{here}", row.prefix(Charset::Unicode), row.text);
    }
    Ok(())
}
