//! `offshoot-proof quick | soak | PART... [--seed N] [--runs N] [--percent N] [--peer DIR]`: one line
//! per part, 1 if one is broken. `--percent` asks for a part of the hours of `soak`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it does")]

use std::process::ExitCode;

use offshoot_proof::part::{PARTS, Part, Plan};

const USAGE: &str =
    "usage: offshoot-proof quick | soak | list | PART... [--seed N] [--runs N] [--percent N] [--peer DIR]";

/// The parsed command line.
struct Request {
    plan: Plan,
    parts: Vec<&'static Part>,
}

fn main() -> ExitCode {
    match request(std::env::args().skip(1)) {
        Ok(Some(request)) => run(&request),
        Ok(None) => {
            for part in PARTS {
                println!("{}", part.name);
            }
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run(request: &Request) -> ExitCode {
    let mut sound = true;
    println!("seed {}", request.plan.seed);
    for part in &request.parts {
        let (line, is_sound) = part.report(&request.plan);
        println!("{line}");
        sound &= is_sound;
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads the arguments; `None`: the parts are to be listed.
fn request(mut arguments: impl Iterator<Item = String>) -> Result<Option<Request>, String> {
    let mut plan = Plan { seed: 1, ..Plan::default() };
    let mut parts: Vec<&'static Part> = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number =
            |text: String| text.replace('_', "").parse().map_err(|_| format!("`{text}` is no number"));
        match argument.as_str() {
            "list" => return Ok(None),
            "quick" => parts.extend(PARTS.iter().filter(|part| part.quick)),
            "soak" => {
                plan.soak = true;
                parts.extend(PARTS);
            }
            "--seed" => plan.seed = number(value()?)?,
            "--runs" => plan.runs = Some(number(value()?)?),
            "--percent" => plan.percent = Some(number(value()?)?),
            "--peer" => plan.peer = Some(value()?.into()),
            name => parts.push(Part::named(name).ok_or(format!("there is no part `{name}`"))?),
        }
    }
    if parts.is_empty() {
        return Err("nothing to do".into());
    }
    if plan.percent.is_some() && !plan.soak {
        return Err("--percent is a part of `soak`".into());
    }
    Ok(Some(Request { plan, parts }))
}
