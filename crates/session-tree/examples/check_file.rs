//! Explains everything odd in a session file: `cargo run --example check_file -- session.jsonl`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use session_tree::Session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: check_file SESSION")?;
    let session = Session::open_read_only(path)?;
    let report = session.check()?;
    for diagnostic in &report.diagnostics {
        println!("{diagnostic}");
    }
    if report.is_clean() {
        println!("nothing odd in {} entries", report.entries);
    }
    Ok(())
}
