//! Measurements of the engine, each as a ratio against a reference in the same run.
//!
//! arguments -> reference files -> rows -> **one table**
//!
//! Times are CPU times, best of several runs that alternate with the reference, so that a busy machine changes
//! figures but hardly ratios. Nothing here judges the engine's answers; that is what the tests are for.
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command-line program: stdout is where its table goes.

mod arguments;
mod clock;
mod compare;
mod files;
mod peer;
mod rows;
mod table;

use std::error::Error;

use arguments::Arguments;
use files::Files;
use peer::Peer;

/// An error that ends the program.
type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    if let Some((step, file)) = &arguments.child {
        return rows::child(step, file);
    }
    let files = Files::in_directory(arguments.keep.as_deref())?;
    if let Some(peers) = &arguments.compare {
        return compare::run(&files, peers, arguments.quick, arguments.plot.as_deref());
    }
    let bench = rows::Bench {
        files: &files,
        peer: arguments.peer.as_deref().map(Peer::pi).transpose()?,
        older: arguments.peer.as_deref().and_then(|peers| Peer::older_pi(peers).ok()),
        runs: if arguments.quick { 2 } else { 7 },
        quick: arguments.quick,
    };
    println!("{}", table::heading());
    let mut over = 0;
    for row in rows::ROWS.iter().filter(|row| arguments.wants(row.name)) {
        for line in (row.measure)(&bench)? {
            over += usize::from(line.is_over());
            println!("{}", line.in_row(row.name));
        }
    }
    println!("\n{over} over their bar");
    Ok(())
}
