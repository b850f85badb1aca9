//! Power cuts on a real file system: the image below a mounted disk is copied while sessions are written, and mounted.
//!
//! What the file system has not handed to its device yet is not in the copy, as after a power cut. Needs root and loop
//! devices, so only the long mode runs it; where that cannot be had it says so and fails.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use session_tree::{Options, Session, SyncPolicy};
use testkit::rng::Rng;

use crate::part::{Done, Outcome, Plan};

/// Cuts the power again and again; whatever was called durable must be in every copy.
pub fn run(plan: &Plan) -> Outcome {
    let cuts = plan.runs(20, 2_000);
    let mut rng = Rng::new(plan.seed);
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut entries = 0;
    for cut in 0..cuts {
        let disk = Disk::new(dir.path(), cut)?;
        let wait = Duration::from_millis(rng.range(20, 1_500));
        entries += one_cut(&disk, wait).map_err(|reason| format!("cut {cut} after {wait:?}: {reason}"))?;
    }
    Ok(Done::new(cuts, format!("power cuts on ext4, {entries} durable entries, none lost")))
}

/// A file system in a file, mounted.
struct Disk {
    image: PathBuf,
    place: PathBuf,
}

impl Disk {
    fn new(dir: &Path, number: u64) -> Result<Self, String> {
        let disk =
            Self { image: dir.join(format!("{number}.img")), place: dir.join(format!("{number}.mnt")) };
        std::fs::create_dir_all(&disk.place).map_err(|error| error.to_string())?;
        tell("truncate", &["-s", "64M", &shown(&disk.image)])?;
        tell("mkfs.ext4", &["-q", "-F", &shown(&disk.image)])?;
        disk.mount()?;
        Ok(disk)
    }

    fn mount(&self) -> Result<(), String> {
        tell("mount", &["-o", "loop", &shown(&self.image), &shown(&self.place)])
    }

    /// The disk as it is after a power cut right now.
    fn cut(&self) -> Result<Self, String> {
        let copy =
            Self { image: self.image.with_extension("cut"), place: self.place.with_extension("cut-mnt") };
        std::fs::copy(&self.image, &copy.image).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(&copy.place).map_err(|error| error.to_string())?;
        copy.mount()?;
        Ok(copy)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(tell("umount", &[&shown(&self.place)]));
        drop(std::fs::remove_file(&self.image));
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn tell(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
}

/// Writes until the power is cut; gives how many entries had been called durable.
fn one_cut(disk: &Disk, wait: Duration) -> Result<usize, String> {
    let path = disk.place.join("sessions/s.jsonl");
    let promised = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let (kept, after) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&path, &promised, &stop));
        std::thread::sleep(wait);
        let kept = promised.lock().map(|ids| ids.clone()).unwrap_or_default();
        let after = disk.cut();
        stop.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| "the writer died".to_owned())??;
        after.map(|after| (kept, after))
    })?;
    if kept.is_empty() {
        return Ok(0);
    }
    let found =
        Session::open_read_only(after.place.join("sessions/s.jsonl")).map_err(|error| error.to_string())?;
    match kept.iter().find(|id| found.tree().node(id).is_none()) {
        Some(lost) => Err(format!("{lost} was durable and is lost")),
        None => Ok(kept.len()),
    }
}

fn write(path: &Path, promised: &Mutex<Vec<String>>, stop: &AtomicBool) -> Result<(), String> {
    let text = |error: session_tree::Error| error.to_string();
    let mut session = Options::new().sync(SyncPolicy::Always).create(path, "/w").map_err(text)?;
    while !stop.load(Ordering::Relaxed) {
        let id = session.append_user_text("durable").map_err(text)?;
        if let Ok(mut ids) = promised.lock() {
            ids.push(id.to_string());
        }
    }
    Ok(())
}
