//! Explains everything odd in a session file: `cargo run --example check_file -- session.jsonl`

use std::io::Write;

use session_tree::Session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: check_file SESSION")?;
    let report = Session::open_read_only(path)?.check()?;
    let mut out = std::io::stdout().lock();
    for (diagnostic, fix) in report.findings() {
        let healed = if fix.is_some() { " (a repair can heal this)" } else { "" };
        writeln!(out, "{diagnostic}{healed}")?;
    }
    if report.is_clean() {
        writeln!(out, "nothing odd in {} entries", report.entries)?;
    }
    Ok(())
}
