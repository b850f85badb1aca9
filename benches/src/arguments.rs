//! The command line.

use std::path::PathBuf;

use crate::{Failure, rows};

const USAGE: &str = "usage: offshoot-benches [ROW...] [--quick] [--peer DIR] [--keep DIR]
       offshoot-benches --compare DIR [--quick] [--keep DIR] [--plot FILE]
  --quick     fewer runs, and nothing of a million entries
  --peer DIR  compare with real pi too, installed below DIR/pi-new
  --keep DIR  keep the reference files there, and use those that are there already
  --compare DIR  do the same work with ours and with every peer installed below DIR; see benches/compare
  --plot FILE    draw the comparison as an SVG picture";

/// The arguments of the program.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) quick: bool,
    pub(crate) peer: Option<PathBuf>,
    pub(crate) keep: Option<PathBuf>,
    /// The directory of the peers to compare with.
    pub(crate) compare: Option<PathBuf>,
    /// The file for the plot of the comparison.
    pub(crate) plot: Option<PathBuf>,
    /// A step that runs once in this process to measure its peak memory, and its file.
    pub(crate) child: Option<(String, PathBuf)>,
    rows: Vec<String>,
}

impl Arguments {
    /// Reads the arguments; the name of the program is not among them.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or_else(usage);
            match word.as_str() {
                "--quick" => arguments.quick = true,
                "--peer" => arguments.peer = Some(next()?.into()),
                "--keep" => arguments.keep = Some(next()?.into()),
                "--compare" => arguments.compare = Some(next()?.into()),
                "--plot" => arguments.plot = Some(next()?.into()),
                "--child" => arguments.child = Some((next()?, next()?.into())),
                row if rows::ROWS.iter().any(|known| known.name == row) => arguments.rows.push(word),
                _ => return Err(usage().into()),
            }
        }
        Ok(arguments)
    }

    /// Returns true if a row is measured: all are unless some are named.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|wanted| wanted == row)
    }
}

fn usage() -> String {
    let names: Vec<_> = rows::ROWS.iter().map(|row| row.name).collect();
    format!("{USAGE}\n  ROW         {}", names.join(", "))
}
