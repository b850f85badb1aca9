//! Sessions in PostgreSQL, while the server and the programs that append are killed at random moments.
//!
//! In each round some programs append to one session, and print the id of each entry when the database has it. They are
//! killed, and sometimes the server, which is started again. Every printed id must then be in the session, once.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use session_tree::{Message, Options, Session};
use session_tree_postgres::{Address, PostgresJournal, init};
use testkit::postgres::PostgresServer;
use testkit::rng::Rng;

use crate::differential;
use crate::kills::program;
use crate::part::{Done, Outcome, Plan};

/// The number of programs that append at the same time.
const CLIENTS: u64 = 3;

/// Kills the server and its clients, for about ten minutes in the long mode.
pub fn run(plan: &Plan) -> Outcome {
    let (program, mut rng) = (program()?, Rng::new(plan.seed));
    let (mut server, homes) = (PostgresServer::start(), tempfile::tempdir().unwrap());
    let database = server.database();
    let address = Address::parse(&database).unwrap();
    init(&address, "proof", None).unwrap();
    let (address, text) = (address.with_session("kills"), database.replacen('?', "/kills?", 1));
    let journal = PostgresJournal::create(&address).unwrap();
    let mut first = Options::new().create_journal(journal, "/project").unwrap();
    first.append(Message::user("root")).unwrap();
    drop(first);
    let (mut acknowledged, mut server_kills) = (HashSet::new(), 0);
    let rounds = plan.runs(3, 200);
    for round in 0..rounds {
        let clients: Vec<Client> = (0..CLIENTS)
            .map(|number| Client::start(&program, &text, &homes.path().join(number.to_string())))
            .collect();
        thread::sleep(Duration::from_millis(500 + rng.below(1_500)));
        if round % 3 == 2 {
            server_kills += 1;
            server.kill();
            thread::sleep(Duration::from_millis(rng.below(300)));
            server.resume();
            thread::sleep(Duration::from_millis(rng.below(1_000)));
        }
        for client in clients {
            acknowledged.extend(client.kill());
            thread::sleep(Duration::from_millis(rng.below(50)));
        }
        check(&address, &acknowledged).map_err(|reason| format!("round {round}: {reason}"))?;
    }
    let mut bytes = Vec::new();
    open(&address).write_to(&mut bytes).unwrap();
    let exported =
        Session::from_bytes(bytes.clone()).map_err(|error| format!("the export does not load: {error}"))?;
    if let Some(lost) = acknowledged.iter().find(|id| exported.node(id.as_str()).is_err()) {
        return Err(format!("{lost} was acknowledged and is not in the export"));
    }
    let read_by_pi = match &plan.peer {
        Some(peer) => differential::opens_all(peer, std::iter::once(bytes.as_slice()))?,
        None => 0,
    };
    if acknowledged.is_empty() {
        return Err("no append was acknowledged".into());
    }
    let what = format!(
        "acknowledged entries kept, {} kills of programs, {server_kills} of the server, {read_by_pi} sessions read by pi",
        rounds * CLIENTS
    );
    Ok(Done::new(acknowledged.len() as u64, what))
}

fn open(address: &Address) -> Session {
    Options::new().open_journal(PostgresJournal::open(address).unwrap()).unwrap()
}

fn check(address: &Address, acknowledged: &HashSet<String>) -> Result<(), String> {
    let session = open(address);
    // A second line with the id of an entry is reported.
    if let Some(found) = session.diagnostics().first() {
        return Err(format!("the session has a problem: {found}"));
    }
    match acknowledged.iter().find(|id| session.node(id.as_str()).is_err()) {
        Some(lost) => Err(format!("{lost} was acknowledged and is lost")),
        None => Ok(()),
    }
}

/// A program that appends entries until it is killed.
struct Client {
    program: Child,
    reader: thread::JoinHandle<Vec<String>>,
}

impl Client {
    fn start(program: &Path, session: &str, home: &Path) -> Self {
        fs::create_dir_all(home).unwrap();
        let mut command = Command::new(program);
        command.args(["append", session, "--json"]).env("HOME", home).env("OFFSHOOT_HOME", home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = command.spawn().unwrap();
        let (mut input, output) = (program.stdin.take().unwrap(), program.stdout.take().unwrap());
        thread::spawn(move || {
            let draft = "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"text\"}}\n";
            while input.write_all(draft.as_bytes()).is_ok() {}
        });
        let reader = thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let id =
                |line: String| Some(serde_json::from_str::<Value>(&line).ok()?["id"].as_str()?.to_owned());
            lines.filter_map(id).collect()
        });
        Client { program, reader }
    }

    /// Kills the program, and returns the ids that it printed.
    fn kill(mut self) -> Vec<String> {
        drop(self.program.kill());
        drop(self.program.wait());
        self.reader.join().unwrap()
    }
}
