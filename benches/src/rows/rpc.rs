//! The program as another program uses it: the cost of a request, and of a prompt against `offshoot -p`.

use std::io::{BufRead as _, Write as _};
use std::process::Command;
use std::time::Duration;

use super::Bench;
use super::program::program;
use crate::table::Line;
use crate::{Failure, clock};

/// The requests of a measurement.
const REQUESTS: u32 = 1_000;

/// Measures whole processes with the offline model, without a session file.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Line>, Failure> {
    let (many, one) = clock::best_of_pairs(bench.runs, || requests(REQUESTS), || requests(1))?;
    let request = many.saturating_sub(one) / (REQUESTS - 1);
    let (ours, printed) = clock::best_of_pairs(bench.runs, prompt, || {
        clock::whole_program(quiet(&mut Command::new(program()?)).args(["-p", "hello"]))
    })?;
    Ok(vec![
        Line::limit("a request and its answer", request, Duration::from_millis(1)),
        Line::cost("a prompt through --mode rpc", ours, ("offshoot -p", printed), 1.2),
    ])
}

/// Adds what both ways of asking have in common.
fn quiet(command: &mut Command) -> &mut Command {
    command.args(["--no-session", "--no-extensions", "--no-context-files", "--model", "offshoot/offline"])
}

/// Returns the CPU time of a program that answers so many requests.
fn requests(count: u32) -> Result<Duration, Failure> {
    clock::conversation(quiet(Command::new(program()?).args(["--mode", "rpc"])), |input, output| {
        let mut lines = output.lines();
        for _ in 0..count {
            input.write_all(b"{\"type\":\"get_state\"}\n")?;
            lines.next().ok_or("no answer")??;
        }
        Ok(())
    })
}

/// Returns the CPU time of a program that answers a prompt.
fn prompt() -> Result<Duration, Failure> {
    clock::conversation(quiet(Command::new(program()?).args(["--mode", "rpc"])), |input, output| {
        input.write_all(b"{\"type\":\"prompt\",\"message\":\"hello\"}\n")?;
        for line in output.lines() {
            if line?.contains("\"agent_settled\"") {
                return Ok(());
            }
        }
        Err("the agent did not settle".into())
    })
}
