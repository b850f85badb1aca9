//! Ours and the peers: the same work on the same files in one run.
//!
//! files of four sizes -> ours, each peer, a physical reference -> **one table, one plot**
//!
//! Peers are pi in two versions and oh-my-pi, as their registry gives them (`benches/compare` fetches them). They are
//! asked through `peer/measure.mjs`, which runs inside each of them; ours does the same steps in this process. Work
//! that a peer cannot do, or does not live to finish, is a dash.

mod ours;
mod plot;
mod theirs;

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Failure;
use crate::files::Files;
use crate::peer::Peer;
use theirs::Theirs;

/// One size of file.
#[derive(Debug, Clone, Copy)]
struct Size {
    name: &'static str,
    entries: usize,
    /// Whether its entries are small ones: a million realistic ones would be 2 GB.
    small: bool,
}

const SIZES: [Size; 4] = [
    Size { name: "1k", entries: 1_000, small: false },
    Size { name: "10k", entries: 10_000, small: false },
    Size { name: "100k", entries: 100_000, small: false },
    Size { name: "1M", entries: 1_000_000, small: true },
];

/// The step that is a separate command for every peer.
const EXPORT: &str = "export";

/// The steps that every program is asked for and what they are called in the table, in an order that works.
const STEPS: [(&str, &str); 10] = [
    ("open", "open"),
    ("context", "context after open"),
    ("tree", "tree in order, with labels"),
    ("branch", "branch, and its context"),
    ("append", "append a message"),
    ("view", "tree view: first frame"),
    ("key", "tree view: a key"),
    ("search", "tree view: a letter of a query"),
    ("fork", "fork the whole path"),
    (EXPORT, "export as a page"),
];

/// The times of one piece of work: ours, each peer's, and the lower bound of the machine.
pub(crate) struct Measured {
    work: &'static str,
    size: &'static str,
    ours: Amount,
    theirs: Vec<Option<Amount>>,
    reference: Option<(&'static str, Amount)>,
}

/// A time or an amount of memory; both are plain numbers when it comes to ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    Time(Duration),
    Bytes(u64),
}

impl Amount {
    fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Bytes(bytes) => bytes as f64,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Time(time) => crate::table::time(time),
            Self::Bytes(bytes) => format!("{:.0} MB", bytes as f64 / 1e6),
        }
    }
}

/// Measures everything, prints the table and writes the plot.
pub(crate) fn run(files: &Files, peers: &Path, quick: bool, plot: Option<&Path>) -> Result<(), Failure> {
    let peers = [Peer::pi(peers)?, Peer::older_pi(peers)?, Peer::oh_my_pi(peers)];
    let names = peers.each_ref().map(|peer| peer.name);
    println!("{}", heading(&names));
    let mut measured = printed(vec![start(&peers)?]);
    measured.extend(printed(list(files, &peers)?));
    measured.extend(printed(vec![durable_append(files, &peers)?]));
    for size in SIZES.iter().filter(|size| !quick || size.entries <= 10_000) {
        measured.extend(printed(at_size(files, &peers, size)?));
        // After each size: the largest may be too much for the machine.
        if let Some(path) = plot {
            fs::write(path, plot::svg(&measured, &names))?;
        }
    }
    let behind = measured.iter().filter(|line| line.is_behind()).count();
    println!("\n{behind} behind a peer");
    Ok(())
}

/// Prints lines as they come.
fn printed(lines: Vec<Measured>) -> Vec<Measured> {
    lines.iter().for_each(|line| println!("{}", line.row()));
    lines
}

fn start(peers: &[Peer]) -> Result<Measured, Failure> {
    Ok(Measured {
        work: "start, print the version",
        size: "",
        ours: Amount::Time(ours::start()?),
        theirs: peers.iter().map(|peer| theirs::start(peer).map(Amount::Time)).collect(),
        reference: None,
    })
}

fn list(files: &Files, peers: &[Peer]) -> Result<Vec<Measured>, Failure> {
    let directory = files.directory()?;
    let ours = ours::list(files, &directory)?;
    let theirs: Vec<_> = peers.iter().map(|peer| theirs::list(peer, files, &directory)).collect();
    let works = ["list 1,000 sessions", "list them again"];
    let lines = works.into_iter().zip(ours).enumerate();
    Ok(lines
        .map(|(at, (work, (time, reference)))| Measured {
            work,
            size: "211 MB",
            ours: Amount::Time(time),
            theirs: theirs.iter().map(|times| times[at].map(Amount::Time)).collect(),
            reference: Some((reference.0, Amount::Time(reference.1))),
        })
        .collect())
}

/// A durable append, which no peer offers: the entry is on the disk when the call returns.
fn durable_append(files: &Files, peers: &[Peer]) -> Result<Measured, Failure> {
    let (ours, bare) = ours::durable_append(files)?;
    Ok(Measured {
        work: "append, synced (wall time)",
        size: "1k",
        ours: Amount::Time(ours),
        theirs: peers.iter().map(|_| None).collect(),
        reference: Some(("write, fdatasync", Amount::Time(bare))),
    })
}

fn at_size(files: &Files, peers: &[Peer], size: &Size) -> Result<Vec<Measured>, Failure> {
    let file = if size.small { files.small(size.entries)? } else { files.realistic(size.entries)? };
    // A million is too much for the peers to do twice.
    let runs = if size.small { 1 } else { 3 };
    let ours = ours::steps(files, &file, runs)?;
    let theirs: Vec<Theirs> =
        peers.iter().map(|peer| Theirs::of(peer, files, &file, runs)).collect::<Result<_, _>>()?;
    let references = ours::references(files, &file)?;
    let mut lines = Vec::new();
    for (step, work) in STEPS {
        let Some(time) = ours.get(step) else { continue };
        lines.push(Measured {
            work,
            size: size.name,
            ours: Amount::Time(time),
            theirs: theirs.iter().map(|theirs| theirs.time(step).map(Amount::Time)).collect(),
            reference: references.get(step).map(|(name, time)| (*name, Amount::Time(*time))),
        });
    }
    lines.push(Measured {
        work: "most memory: open and context",
        size: size.name,
        ours: Amount::Bytes(ours::memory(&file)?),
        theirs: peers.iter().map(|peer| theirs::memory(peer, files, &file).map(Amount::Bytes)).collect(),
        reference: None,
    });
    Ok(lines)
}

fn heading(peers: &[&str]) -> String {
    let mut names = format!("| {:<31} | {:<6} | {:>9} |", "work", "size", "ours");
    let mut rule = format!("|{:-<33}|{:-<8}|{:->11}|", "", "", ":");
    for peer in peers {
        names.push_str(&format!(" {peer:>20} |"));
        rule.push_str(&format!("{:->22}|", ":"));
    }
    format!("{names} {:<24} |\n{rule}{:-<26}|", "reference", "")
}

impl Measured {
    /// Tells whether any peer is faster, or takes less.
    fn is_behind(&self) -> bool {
        self.theirs.iter().flatten().any(|theirs| theirs.number() < self.ours.number())
    }

    fn row(&self) -> String {
        let mut row = format!("| {:<31} | {:<6} | {:>9} |", self.work, self.size, self.ours.shown());
        for theirs in &self.theirs {
            row.push_str(&format!(
                " {:>20} |",
                theirs.map_or_else(|| "-".to_owned(), |amount| self.ratio(amount))
            ));
        }
        let reference = self.reference.map_or_else(
            || "-".to_owned(),
            |(name, amount)| {
                let ratio = self.ours.number() / amount.number();
                format!("{name} {} ({} x)", amount.shown(), crate::table::digits(ratio))
            },
        );
        format!("{row} {reference:<24} |")
    }

    fn ratio(&self, theirs: Amount) -> String {
        let ratio = theirs.number() / self.ours.number();
        format!("{} ({} x)", theirs.shown(), crate::table::digits(ratio))
    }
}
