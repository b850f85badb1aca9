//! Runs a program and kills it at a chosen moment: before its n-th system call with `strace`, or after some time.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Point;

/// The calls that have to do with files.
const CALLS: &str = "openat,open,creat,read,pread64,write,writev,pwrite64,close,fsync,fdatasync,ftruncate,flock,fcntl,\
    link,linkat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,statx,newfstatat,fstat,lseek,getdents64,chmod,fchmod";
/// The number of moments if no system call can be selected.
const MOMENTS: u64 = 90;

/// How a moment is chosen.
pub(super) enum Tracer {
    Strace,
    Clock,
}

impl Tracer {
    /// Looks whether programs may be traced here.
    pub(super) fn find() -> Self {
        let tried = Command::new("strace")
            .args(["-o", "/dev/null", "-e", "trace=close", "true"])
            .stderr(Stdio::null())
            .status();
        if tried.is_ok_and(|status| status.success()) { Tracer::Strace } else { Tracer::Clock }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Tracer::Strace => "before a system call",
            Tracer::Clock => "after some time, because nothing can be traced here",
        }
    }

    /// The moments at which a run can be killed; runs it once to the end.
    pub(super) fn points(
        &self,
        command: &mut Vec<String>,
        input: &[u8],
        room: &Path,
    ) -> Result<Vec<Point>, String> {
        match self {
            Tracer::Strace => {
                let log = room.with_file_name("calls");
                let mut traced = strace(&log.display().to_string(), &[]);
                traced.append(command);
                finish(start(&traced, room)?, input)?;
                let log = fs::read_to_string(&log).map_err(|error| error.to_string())?;
                Ok(calls(&log, &room.display().to_string()))
            }
            Tracer::Clock => {
                let begin = Instant::now();
                finish(start(command, room)?, input)?;
                let took = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
                Ok((1..=MOMENTS).map(|part| Point::Time(took * part / MOMENTS)).collect())
            }
        }
    }

    /// Kills a run; gives what it printed, and whether it died of it.
    pub(super) fn kill(
        &self,
        command: &mut Vec<String>,
        input: &[u8],
        room: &Path,
        point: Point,
    ) -> Result<(String, bool), String> {
        match point {
            Point::Call(name, number) => {
                let inject = format!("inject={name}:signal=KILL:when={number}");
                let mut traced = strace("/dev/null", &["-e", &inject]);
                traced.append(command);
                finish(start(&traced, room)?, input)
            }
            Point::Time(micros) => {
                let mut child = start(command, room)?;
                let mut stdin = child.stdin.take();
                if let Some(stdin) = &mut stdin {
                    drop(stdin.write_all(input));
                }
                std::thread::sleep(Duration::from_micros(micros));
                drop(child.kill());
                finish(child, b"")
            }
        }
    }
}

fn strace(log: &str, more: &[&str]) -> Vec<String> {
    let trace = format!("trace={CALLS}");
    let start = ["strace", "-f", "-qq", "-s", "512", "-o", log, "-e", &trace];
    start.iter().chain(more).map(ToString::to_string).collect()
}

fn start(command: &[String], room: &Path) -> Result<Child, String> {
    let home = room.parent().unwrap_or(room);
    Command::new(&command[0])
        .args(&command[1..])
        .current_dir(room)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("OFFSHOOT_HOME", home.join("offshoot"))
        .env("OFFSHOOT_NO_CACHE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", command[0]))
}

fn finish(mut child: Child, input: &[u8]) -> Result<(String, bool), String> {
    if let Some(mut stdin) = child.stdin.take() {
        // Whoever was killed reads no more.
        drop(stdin.write_all(input));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().is_none()))
}

/// The calls from the first look at the room on. `strace` counts each call for each thread.
fn calls(log: &str, room: &str) -> Vec<Point> {
    let mut counts = HashMap::new();
    let mut points = BTreeSet::new();
    let mut has_begun = false;
    for line in log.lines().filter(|line| !line.contains("resumed>")) {
        let Some((thread, call)) = line.split_once(char::is_whitespace) else { continue };
        let name = call.trim_start().split('(').next().unwrap_or_default();
        let Some(name) = CALLS.split(',').find(|known| *known == name) else { continue };
        let count = counts.entry((thread, name)).or_insert(0_u32);
        *count += 1;
        has_begun |= line.contains(room);
        if has_begun {
            points.insert((name, *count));
        }
    }
    points.into_iter().map(|(name, number)| Point::Call(name, number)).collect()
}
