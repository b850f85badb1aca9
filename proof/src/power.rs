//! Power cuts on a real file system: the image below a mounted disk is copied while sessions are written, and mounted.
//!
//! Data that the file system has not written to its device yet is not in the copy, as after a power cut. Needs root and loop
//! devices, so only the long mode runs it; without them it fails with a message.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use session_tree::{Message, Options, Session, SyncPolicy};
use testkit::rng::Rng;

use crate::part::{Done, Outcome, Plan};

/// A kind of file system.
struct Kind {
    name: &'static str,
    make: &'static [&'static str],
    /// The least that it takes.
    size: &'static str,
    options: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind { name: "ext4", make: &["mkfs.ext4", "-q", "-F"], size: "64M", options: "loop" },
    Kind {
        name: "ext4 with data=writeback",
        make: &["mkfs.ext4", "-q", "-F"],
        size: "64M",
        options: "loop,data=writeback",
    },
    // The copy has the name of the original, which is still mounted.
    Kind { name: "xfs", make: &["mkfs.xfs", "-q", "-f"], size: "300M", options: "loop,nouuid" },
];

/// So many entries are appended before a barrier.
const TURN: usize = 7;

/// Cuts the power again and again; whatever was called durable must be in every copy.
pub fn run(plan: &Plan) -> Outcome {
    let cuts = plan.runs(20, 2_000);
    let mut rng = Rng::new(plan.seed);
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut entries = 0;
    for (cut, kind) in (0..cuts).zip(KINDS.iter().cycle()) {
        let disk = Disk::new(dir.path(), cut, kind)?;
        let wait = Duration::from_millis(rng.range(20, 1_500));
        let told = |reason| format!("cut {cut} of {} after {wait:?}: {reason}", kind.name);
        // Every other time as the program writes: what was said before a barrier is promised, the rest is not.
        let policy = if cut % 2 == 0 { SyncPolicy::Always } else { SyncPolicy::Periodic };
        let after = one_cut(&disk, wait, policy).map_err(told)?;
        entries += after.promised;
        if let Some(lost) = after.lost {
            return Err(told(format!("{lost} was durable and is lost")));
        }
    }
    for (number, kind) in (cuts..).zip(&KINDS) {
        let disk = Disk::new(dir.path(), number, kind)?;
        if one_cut(&disk, Duration::from_millis(500), SyncPolicy::Os)?.lost.is_none() {
            return Err(format!("{} kept what was never synced: a cut shows nothing", kind.name));
        }
    }
    let names = KINDS.map(|kind| kind.name).join(", ");
    let what =
        format!("power cuts on {names}, {entries} durable entries, none lost; without syncs each lost some");
    Ok(Done::new(cuts, what))
}

/// A file system in a file, mounted.
struct Disk {
    kind: &'static Kind,
    image: PathBuf,
    place: PathBuf,
}

impl Disk {
    fn new(dir: &Path, number: u64, kind: &'static Kind) -> Result<Self, String> {
        let (image, place) = (dir.join(format!("{number}.img")), dir.join(format!("{number}.mnt")));
        let disk = Self { kind, image, place };
        std::fs::create_dir_all(&disk.place).map_err(|error| error.to_string())?;
        tell("truncate", &["-s", kind.size, &shown(&disk.image)])?;
        tell(kind.make[0], &[&kind.make[1..], &[&shown(&disk.image)]].concat())?;
        disk.mount()?;
        Ok(disk)
    }

    fn mount(&self) -> Result<(), String> {
        tell("mount", &["-o", self.kind.options, &shown(&self.image), &shown(&self.place)])
    }

    /// The disk as it is after a power cut right now.
    fn cut(&self) -> Result<Self, String> {
        let image = self.image.with_extension("cut");
        let copy = Self { kind: self.kind, image, place: self.place.with_extension("cut-mnt") };
        tell("cp", &["--sparse=always", &shown(&self.image), &shown(&copy.image)])?;
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

/// The state after a power cut.
struct After {
    /// How many entries had been acknowledged.
    promised: usize,
    /// One of them that is gone.
    lost: Option<String>,
}

/// Writes until the power is cut.
fn one_cut(disk: &Disk, wait: Duration, policy: SyncPolicy) -> Result<After, String> {
    let path = disk.place.join("sessions/s.jsonl");
    let promised = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let (kept, after) = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&path, policy, &promised, &stop));
        std::thread::sleep(wait);
        let kept = promised.lock().map(|ids| ids.clone()).unwrap_or_default();
        let after = disk.cut();
        stop.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| "the writer died".to_owned())??;
        after.map(|after| (kept, after))
    })?;
    let found = Session::open_read_only(after.place.join("sessions/s.jsonl"));
    let is_lost = |id: &&String| !found.as_ref().is_ok_and(|found| found.tree().node(id).is_some());
    Ok(After { promised: kept.len(), lost: kept.iter().find(is_lost).cloned() })
}

fn write(
    path: &Path,
    policy: SyncPolicy,
    promised: &Mutex<Vec<String>>,
    stop: &AtomicBool,
) -> Result<(), String> {
    let text = |error: session_tree::Error| error.to_string();
    let mut session = Options::new().sync(policy).create(path, "/w").map_err(text)?;
    while !stop.load(Ordering::Relaxed) {
        let mut said = Vec::new();
        for _ in 0..if policy == SyncPolicy::Periodic { TURN } else { 1 } {
            said.push(session.append(Message::user("durable")).map_err(text)?.to_string());
        }
        if policy == SyncPolicy::Periodic {
            session.sync().map_err(text)?;
        }
        if let Ok(mut ids) = promised.lock() {
            ids.append(&mut said);
        }
    }
    Ok(())
}
