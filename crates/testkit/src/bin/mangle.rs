//! Writes drawn session files into a directory: `mangle DIR COUNT [SEED]`.
//!
//! Uses `testkit::mangle`. Never touches anything but that directory.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let (Some(directory), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: mangle DIR COUNT [SEED]".into());
    };
    let directory = PathBuf::from(directory);
    let count = count.to_string_lossy().parse()?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.to_string_lossy().parse())?;
    fs::create_dir_all(&directory)?;
    for file in testkit::mangle::files(seed, count) {
        fs::write(directory.join(&file.name), &file.bytes)?;
    }
    Ok(())
}
