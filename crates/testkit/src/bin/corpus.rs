//! Writes reference session files: `corpus realistic 100000 out.jsonl --seed 7`.
//!
//! A thin front of `testkit::corpus`, for benchmarks and for comparing with real pi.
#![allow(clippy::print_stdout)] // A command-line program: stdout is where its answer goes.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use testkit::corpus::{self, Shape};

const USAGE: &str = "usage: corpus KIND COUNT OUT [--seed N] [--bytes N]
  KIND   realistic, small, bushy, chain, star, comb, custom, images: COUNT entries
         giant: one line of COUNT bytes; v1: COUNT entries in version 1
         dir: COUNT sessions in the folder OUT, together --bytes (default 211000000)";

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = Vec::new();
    let (mut seed, mut bytes) = (1_u64, 211_000_000_u64);
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--seed" => seed = arguments.next().ok_or(USAGE)?.parse()?,
            "--bytes" => bytes = arguments.next().ok_or(USAGE)?.parse()?,
            _ => words.push(word),
        }
    }
    let [kind, count, out] = words.as_slice() else {
        return Err(USAGE.into());
    };
    let (count, out) = (count.parse::<usize>()?, Path::new(out));
    if kind == "dir" {
        corpus::write_directory(out, count, bytes, seed)?;
        println!("{count} sessions in {}", out.display());
        return Ok(());
    }
    let shape = shape(kind, count).ok_or(USAGE)?.with_seed(seed);
    let mut file = File::create(out)?;
    let stats = match kind.as_str() {
        "v1" => corpus::write_v1(&shape, &mut file)?,
        _ => corpus::write(&shape, &mut file)?,
    };
    println!("{stats:?}");
    Ok(())
}

fn shape(kind: &str, count: usize) -> Option<Shape> {
    Some(match kind {
        "realistic" | "v1" => Shape::realistic(count),
        "small" => Shape::small(count),
        "bushy" => Shape::bushy(count),
        "chain" => Shape::chain(count),
        "star" => Shape::star(count),
        "comb" => Shape::comb(count),
        "custom" => Shape::mostly_custom(count),
        "images" => Shape::mostly_images(count),
        "giant" => Shape::one_giant_line(count as u64),
        _ => return None,
    })
}
