//! A folder with as many sessions as a year of use leaves.
//!
//! Writes files; the only part of the corpus that touches the disk.

use std::fs::{self, File};
use std::io;
use std::path::{Path, absolute};

use super::author::{Author, Format, session_id};
use super::phrases::{Phrases, words};
use super::sink::iso;
use super::{START, Shape};
use crate::rng::Rng;

const PROJECTS: [&str; 8] = [
    "/home/dev/project",
    "/home/dev/engine",
    "/home/dev/notes and drafts",
    "/home/dev/site",
    "/srv/api-server",
    "/srv/api/server",
    "/srv/ünïcode-プロジェクト",
    "/",
];

/// The smallest file: below it there is no room for a turn.
const SMALLEST: u64 = 6_000;

/// Writes `sessions` files of together about `total_bytes` into `dir`, which is made if needed.
///
/// Sizes are heavy-tailed, names are pi's (`<time>_<session id>.jsonl`), three in ten sessions have a name, one
/// in ten is a fork and names the file it came from by its absolute path.
///
/// # Errors
///
/// Fails if the folder or a file cannot be written.
pub fn write_directory(dir: &Path, sessions: usize, total_bytes: u64, seed: u64) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let home = absolute(dir)?;
    let phrases = Phrases::new();
    let mut rng = Rng::new(seed);
    let weights: Vec<u64> = (0..sessions).map(|_| rng.size(1_000.0, 1.8, 100_000).max(1)).collect();
    let mut weight_left: u64 = weights.iter().sum();
    let mut bytes_left = total_bytes;
    let mut started = START;
    let mut written: Vec<(String, String)> = Vec::new();
    for weight in weights {
        // Shares of what is left, so that an overshoot of one file is made up for by the others.
        let share = (u128::from(bytes_left) * u128::from(weight) / u128::from(weight_left)) as u64;
        weight_left -= weight;
        started += rng.size(9_000_000.0, 1.6, 900_000_000);
        let mut shape = session(&mut rng, share.max(SMALLEST), started);
        if rng.chance(0.1) && !written.is_empty() {
            let (cwd, name) = rng.pick(&written);
            shape.cwd.clone_from(cwd);
            shape.parent_session = Some(home.join(name).display().to_string());
        }
        let name = format!("{}_{}.jsonl", iso(started).replace([':', '.'], "-"), session_id(&shape));
        let mut file = File::create(dir.join(&name))?;
        let stats = Author::new(&shape, &phrases, Format::Three, &mut file).run()?;
        bytes_left = bytes_left.saturating_sub(stats.bytes);
        written.push((shape.cwd, name));
    }
    Ok(())
}

/// Draws one session of about `bytes` bytes.
fn session(rng: &mut Rng, bytes: u64, started: u64) -> Shape {
    let mut shape = Shape::realistic(usize::MAX).with_seed(rng.next_u64());
    shape.byte_limit = bytes;
    shape.body_limit = (bytes / 8).min(shape.body_limit);
    shape.image_rate = if bytes > 1_000_000 { shape.image_rate } else { 0.0 };
    shape.started = started;
    shape.cwd = (*rng.pick(&PROJECTS)).to_owned();
    shape.name = rng.chance(0.3).then(|| words(rng, 4));
    shape
}
