//! The rows of the table: each measures one kind of work of the engine against its reference.

pub(crate) mod append;
mod chat;
pub(crate) mod context;
pub(crate) mod export;
mod extensions;
pub(crate) mod fork;
mod growth;
mod list;
mod open;
mod outline;
mod page;
mod postgres;
pub(crate) mod program;
mod reopen;
mod rpc;
pub(crate) mod selector;
mod talk;
pub(crate) mod tree;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use session_tree::Session;

use crate::files::Files;
use crate::peer::{Answers, Peer, PeerRequest};
use crate::table::Line;
use crate::{Failure, clock};

/// The input of a row.
pub(crate) struct Bench<'b> {
    pub(crate) files: &'b Files,
    pub(crate) peer: Option<Peer>,
    /// The older version of it, for work that its issues give figures of.
    pub(crate) older: Option<Peer>,
    /// How often a step is repeated; the best run counts.
    pub(crate) runs: usize,
    /// Whether everything of a million entries is left out.
    pub(crate) quick: bool,
}

/// A row: its name on the command line and how it is measured.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) measure: fn(&Bench<'_>) -> Result<Vec<Line>, Failure>,
}

/// All rows, in the order of the table.
pub(crate) const ROWS: [Row; 25] = [
    Row { name: "open-100k", measure: open::hundred_thousand },
    Row { name: "open-1m", measure: open::million },
    Row { name: "reopen", measure: reopen::measure },
    Row { name: "context", measure: context::measure },
    Row { name: "check", measure: open::check },
    Row { name: "tree", measure: tree::measure },
    Row { name: "append", measure: append::measure },
    Row { name: "fork", measure: fork::measure },
    Row { name: "list", measure: list::measure },
    Row { name: "outline", measure: outline::measure },
    Row { name: "selector", measure: selector::measure },
    Row { name: "chat", measure: chat::measure },
    Row { name: "export", measure: export::measure },
    Row { name: "page", measure: page::measure },
    Row { name: "program", measure: program::measure },
    Row { name: "talk", measure: talk::measure },
    Row { name: "rpc", measure: rpc::measure },
    Row { name: "extensions", measure: extensions::measure },
    Row { name: "growth", measure: growth::measure },
    Row { name: "postgres-append", measure: postgres::append },
    Row { name: "postgres-writers", measure: postgres::writers },
    Row { name: "postgres-open", measure: postgres::open },
    Row { name: "postgres-context", measure: postgres::context },
    Row { name: "postgres-list", measure: postgres::list },
    Row { name: "postgres-follow", measure: postgres::follow },
];

const NEEDS_PEER: &str = "needs --peer";
const NOT_QUICK: &str = "not with --quick";

impl Bench<'_> {
    /// Asks the reference program, if there is one.
    fn ask_peer(&self, file: &Path, steps: &[&str], ids: &str) -> Result<Option<Answers>, Failure> {
        self.ask(self.peer.as_ref(), file, steps, ids)
    }

    /// Asks a version of the reference program, if it is there.
    fn ask(
        &self,
        peer: Option<&Peer>,
        file: &Path,
        steps: &[&str],
        ids: &str,
    ) -> Result<Option<Answers>, Failure> {
        peer.map(|peer| peer.ask(self.files, &PeerRequest { file, runs: 3, steps, ids })).transpose()
    }
}

/// Makes the line of a comparison with the reference program, or a line without one.
fn against_peer(
    work: &str,
    ours: Duration,
    peer: Option<&Answers>,
    answer: &str,
    bar: f64,
) -> Result<Line, Failure> {
    against("pi", work, ours, peer, answer, bar)
}

/// Makes the line of a comparison with a version of the reference program, or a line without one.
fn against(
    name: &str,
    work: &str,
    ours: Duration,
    peer: Option<&Answers>,
    answer: &str,
    bar: f64,
) -> Result<Line, Failure> {
    let Some(peer) = peer else { return Ok(Line::skipped(work, NEEDS_PEER)) };
    let theirs = peer.time(answer).ok_or_else(|| format!("the peer did not answer `{answer}`"))?;
    Ok(Line::gain(work, ours, (name, theirs), bar))
}

/// Does one step in this process and prints the most memory it took; see [`peak_memory_of`].
pub(crate) fn child(step: &str, file: &Path) -> Result<(), Failure> {
    match step {
        "open" => drop(open::open_and_project(file)?),
        "context" => drop(Session::open_read_only(file)?.context()?),
        "turn" | "stream" => return talk::child(step, &file.to_string_lossy()),
        "export" => export::to_nowhere(file)?,
        "outline" => drop(outline::first_rows(&Session::open_read_only(file)?)?),
        _ => return Err(format!("no step `{step}`").into()),
    }
    println!("{}", clock::peak_memory()?);
    Ok(())
}

/// Runs one step in a separate process and returns its peak memory.
pub(crate) fn peak_memory_of(step: &str, file: &Path) -> Result<u64, Failure> {
    let output = Command::new(std::env::current_exe()?).args(["--child", step]).arg(file).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
