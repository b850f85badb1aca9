//! Prints what others append to a session: `cargo run --example follow_file -- session.jsonl`
#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::time::Duration;

use session_tree::Session;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: follow_file SESSION")?;
    let mut session = Session::open_read_only(path)?;
    println!("{} entries so far; waiting for more", session.tree().len());
    loop {
        for entry in session.poll()? {
            let parent = entry.parent_id().map_or("-", |id| id.as_str());
            println!("{} {} below {parent}", entry.id(), entry.type_name());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
