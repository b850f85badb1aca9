//! Clocks: the CPU time of this process and of programs it starts, wall time of very short steps, peak memory.

use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::time::{ClockId, clock_gettime};

use crate::Failure;

/// Returns the CPU time that all threads of this process have used.
pub(crate) fn cpu_now() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Measures the CPU time of one step of this process.
pub(crate) fn cpu<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(Duration, T), Failure> {
    let before = cpu_now();
    let made = work()?;
    Ok((cpu_now().saturating_sub(before), made))
}

/// Measures the CPU time of a step alone; what it makes is dropped afterwards.
pub(crate) fn cpu_of<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<Duration, Failure> {
    cpu(work).map(|(time, made)| {
        drop(std::hint::black_box(made));
        time
    })
}

/// Measures the wall time of one step that is too short to be interrupted.
pub(crate) fn wall<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<Duration, Failure> {
    let before = Instant::now();
    std::hint::black_box(work()?);
    Ok(before.elapsed())
}

/// Runs a program and returns its CPU time; its output goes nowhere unless `out` is given.
///
/// The program must have one thread. The kernel reports its time after it ended and before it is waited for.
pub(crate) fn program(command: &mut Command, out: Option<fs::File>) -> Result<Duration, Failure> {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(out.map_or_else(Stdio::null, Stdio::from));
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("no process id")?;
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let used = fs::read_to_string(format!("/proc/{}/schedstat", child.id()));
    child.wait()?;
    let nanoseconds = used?.split_whitespace().next().ok_or("no schedstat")?.parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// Runs a program of any number of threads and returns the CPU time of all of them.
pub(crate) fn whole_program(command: &mut Command) -> Result<Duration, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let before = children()?;
    let status = command.status()?;
    if !status.success() {
        return Err(format!("{command:?} failed: {status}").into());
    }
    Ok(children()?.saturating_sub(before))
}

/// Runs a program that is talked to, and returns the CPU time of all its threads. It ends when its input does.
pub(crate) fn conversation(
    command: &mut Command,
    talk: impl FnOnce(&mut ChildStdin, &mut BufReader<ChildStdout>) -> Result<(), Failure>,
) -> Result<Duration, Failure> {
    let before = children()?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
    talk(&mut input, &mut output)?;
    drop(input);
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{command:?} failed: {status}").into());
    }
    Ok(children()?.saturating_sub(before))
}

/// The CPU time of all programs that were started and have ended.
fn children() -> Result<Duration, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds =
        |time: TimeVal| time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_usec().unsigned_abs();
    Ok(Duration::from_micros(microseconds(usage.user_time()) + microseconds(usage.system_time())))
}

/// Runs `wc -l` on a file and returns its CPU time.
pub(crate) fn wc(file: &Path) -> Result<Duration, Failure> {
    program(Command::new("wc").arg("-l").arg(file), None)
}

/// Measures two things in turn and returns the least time of each.
pub(crate) fn best_of_pairs(
    runs: usize,
    mut ours: impl FnMut() -> Result<Duration, Failure>,
    mut reference: impl FnMut() -> Result<Duration, Failure>,
) -> Result<(Duration, Duration), Failure> {
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..runs {
        best = (best.0.min(ours()?), best.1.min(reference()?));
    }
    Ok(best)
}

/// Measures one thing several times and returns the least time.
pub(crate) fn best(
    runs: usize,
    mut work: impl FnMut() -> Result<Duration, Failure>,
) -> Result<Duration, Failure> {
    (0..runs).try_fold(Duration::MAX, |least, _| Ok(least.min(work()?)))
}

/// Returns the middle one of several times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the most memory this process ever had, in bytes.
pub(crate) fn peak_memory() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}
