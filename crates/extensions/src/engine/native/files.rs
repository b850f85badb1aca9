//! Files, as far as `node:fs` of trusted extensions needs them. Contents cross the border as text or base64.
//!
//! Files that hold credentials of the program are refused, whatever path leads to them. This keeps an extension from
//! reading keys by accident; a program that it starts has the rights of the user.

mod descriptors;

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::{Answer, json as spelled, text, trusted, unknown};
use crate::engine::Shared;

pub(crate) use descriptors::Descriptors;

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Answer {
    trusted(shared, "files")?;
    if let Some(name) = name.strip_prefix("fd.") {
        return descriptors::call(shared, name, arguments).map_err(|Failure(text)| text);
    }
    let path = shared.setting.host.cwd.join(text(arguments, "path")?);
    let answer = refuse_credentials(name, &path, arguments, shared)
        .and_then(|()| of_path(name, &path, arguments, shared));
    answer.map_err(|Failure(text)| text)
}

/// Refuses to read, write, move or remove what holds credentials.
fn refuse_credentials(name: &str, path: &Path, arguments: &Json, shared: &Shared) -> Result<(), Failure> {
    if matches!(name, "stat" | "lstat" | "list" | "real" | "mkdir" | "mkdtemp" | "symlink" | "readlink") {
        return Ok(());
    }
    refuse_secret(shared, path)?;
    if matches!(name, "rename" | "copy" | "link") {
        refuse_secret(shared, &other(arguments, shared)?)?;
    }
    // Moving a directory moves the credentials to a path that is not protected.
    if matches!(name, "rename" | "rm") && shared.setting.host.secrets.is_any_denied_below(path) {
        return Err(denied(path));
    }
    Ok(())
}

/// Refuses a file that holds credentials: ours, or the environment or memory of a process.
pub(in crate::engine) fn refuse_secret(shared: &Shared, path: &Path) -> Result<(), Failure> {
    let is_secret = shared.setting.host.secrets.is_denied(path) || is_of_process(path);
    (!is_secret).then_some(()).ok_or_else(|| denied(path))
}

/// Returns true for files such as `/proc/self/environ`, which hold what was withheld from `process.env`.
fn is_of_process(path: &Path) -> bool {
    let Ok(real) = fs::canonicalize(path) else { return false };
    let holds_memory = ["environ", "mem"].iter().any(|name| real.ends_with(name));
    holds_memory && real.starts_with("/proc")
}

fn denied(path: &Path) -> Failure {
    let message = format!("{} holds credentials, which extensions may not touch", path.display());
    std::io::Error::new(std::io::ErrorKind::PermissionDenied, message).into()
}

/// Why a file function failed. An error of the system becomes an object with a code.
pub(in crate::engine) struct Failure(String);

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure(
            json!({"code": code(&error), "errno": error.raw_os_error(), "message": error.to_string()})
                .to_string(),
        )
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Failure(text)
    }
}

fn of_path(name: &str, path: &Path, arguments: &Json, shared: &Shared) -> Result<String, Failure> {
    let is_recursive = arguments["recursive"].as_bool().unwrap_or(false);
    let mode = arguments["mode"].as_u64().and_then(|mode| u32::try_from(mode).ok());
    match name {
        "read" => return read(path, shared),
        "write" => write(path, arguments, mode)?,
        "stat" => return Ok(stat(&fs::metadata(path)?)),
        "lstat" => return Ok(stat(&fs::symlink_metadata(path)?)),
        "list" => return list(path),
        "mkdir" => fs::DirBuilder::new().recursive(is_recursive).mode(mode.unwrap_or(0o777)).create(path)?,
        "mkdtemp" => return made(path),
        "rm" => remove(path, is_recursive)?,
        "rename" => fs::rename(path, other(arguments, shared)?)?,
        "copy" => drop(fs::copy(path, other(arguments, shared)?)?),
        "open" => return descriptors::open(path, arguments, mode, shared),
        "link" => fs::hard_link(path, other(arguments, shared)?)?,
        "symlink" => std::os::unix::fs::symlink(text(arguments, "to")?, path)?,
        "readlink" => return Ok(spelled(fs::read_link(path)?.to_string_lossy().into_owned())?),
        "chmod" => fs::set_permissions(path, fs::Permissions::from_mode(mode.unwrap_or(0o666)))?,
        "utimes" => fs::File::open(path)?.set_times(times(arguments))?,
        "truncate" => fs::OpenOptions::new().write(true).open(path)?.set_len(number(arguments, "length"))?,
        "access" => access(path, number(arguments, "mode"))?,
        "real" => return Ok(spelled(fs::canonicalize(path)?.to_string_lossy().into_owned())?),
        _ => return Ok(unknown("fs", name)?),
    }
    Ok("null".to_owned())
}

fn other(arguments: &Json, shared: &Shared) -> Result<PathBuf, Failure> {
    Ok(shared.setting.host.cwd.join(text(arguments, "to")?))
}

fn read(path: &Path, shared: &Shared) -> Result<String, Failure> {
    // Twice as text and once as script keeps it, all inside the memory of the extension.
    let most = shared.setting.limits.memory / 4;
    let mut bytes = Vec::new();
    // What a file says about its length need not be true: devices have none, and no end either.
    fs::File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(Failure(format!("{} is too large for an extension", path.display())));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(json!({ "text": text }).to_string()),
        Err(error) => Ok(json!({ "base64": STANDARD.encode(error.as_bytes()) }).to_string()),
    }
}

fn content(arguments: &Json) -> Result<Vec<u8>, Failure> {
    if let Some(encoded) = arguments["base64"].as_str() {
        return STANDARD.decode(encoded).map_err(|error| Failure(error.to_string()));
    }
    Ok(text(arguments, "text")?.as_bytes().to_vec())
}

/// Writes a file as Node's flag requires: from the start, at the end, and with `x` only a new file.
fn write(path: &Path, arguments: &Json, mode: Option<u32>) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    match text(arguments, "flag")? {
        "w" | "w+" => options.create(true).write(true).truncate(true),
        "wx" | "xw" | "wx+" | "xw+" => options.create_new(true).write(true),
        "a" | "a+" => options.create(true).append(true),
        "ax" | "xa" | "ax+" | "xa+" => options.create_new(true).append(true),
        flag => return Err(Failure(format!("no flag `{flag}` for writing"))),
    };
    let content = content(arguments)?;
    options.mode(mode.unwrap_or(0o666)).open(path)?.write_all(&content)?;
    Ok(())
}

fn number(arguments: &Json, key: &str) -> u64 {
    arguments[key].as_u64().unwrap_or_default()
}

/// Checks whether a file may be read, written or run, by its permissions.
fn access(path: &Path, mode: u64) -> std::io::Result<()> {
    let metadata = fs::metadata(path)?;
    let is_denied =
        |bit: u64, shift: u32| mode & bit != 0 && metadata.permissions().mode() & (0o111 << shift) == 0;
    if is_denied(4, 2) || is_denied(2, 1) || is_denied(1, 0) {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

/// Reads times in milliseconds.
fn times(arguments: &Json) -> fs::FileTimes {
    let time = |key: &str| {
        let ms = arguments[key].as_f64().unwrap_or_default().max(0.0);
        SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(ms / 1_000.0).unwrap_or_default()
    };
    fs::FileTimes::new().set_accessed(time("atimeMs")).set_modified(time("mtimeMs"))
}

fn stat(metadata: &fs::Metadata) -> String {
    let ms = |time: std::io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0.0, |since| since.as_secs_f64() * 1_000.0)
    };
    json!({
        "size": metadata.len(),
        "mode": metadata.mode(),
        "uid": metadata.uid(),
        "gid": metadata.gid(),
        "ino": metadata.ino(),
        "dev": metadata.dev(),
        "nlink": metadata.nlink(),
        "blksize": metadata.blksize(),
        "blocks": metadata.blocks(),
        "atimeMs": ms(metadata.accessed()),
        "mtimeMs": ms(metadata.modified()),
        "ctimeMs": metadata.ctime() as f64 * 1_000.0 + metadata.ctime_nsec() as f64 / 1e6,
        "birthtimeMs": ms(metadata.created()),
        "kind": kind(metadata.file_type()),
    })
    .to_string()
}

fn kind(kind: fs::FileType) -> &'static str {
    match (kind.is_dir(), kind.is_symlink(), kind.is_file()) {
        (true, ..) => "dir",
        (_, true, _) => "link",
        (.., true) => "file",
        (false, false, false) => "other",
    }
}

fn list(path: &Path) -> Result<String, Failure> {
    let entry = |entry: fs::DirEntry| {
        Ok((entry.file_name().to_string_lossy().into_owned(), kind(entry.file_type()?)))
    };
    let mut entries = fs::read_dir(path)?.map(|one| entry(one?)).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    let entries = entries.into_iter().map(|(name, kind)| json!({"name": name, "kind": kind}));
    Ok(Json::Array(entries.collect()).to_string())
}

/// Makes a directory with a unique name that only its owner can use.
fn made(prefix: &Path) -> Result<String, Failure> {
    let name = format!("{}{}", prefix.display(), &uuid::Uuid::new_v4().simple().to_string()[..8]);
    fs::DirBuilder::new().mode(0o700).create(&name)?;
    Ok(spelled(name)?)
}

fn remove(path: &Path, is_recursive: bool) -> std::io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true if is_recursive => fs::remove_dir_all(path),
        true => fs::remove_dir(path),
        false => fs::remove_file(path),
    }
}

/// Returns the code that Node gives an error.
fn code(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "ENOENT",
        std::io::ErrorKind::PermissionDenied => "EACCES",
        std::io::ErrorKind::AlreadyExists => "EEXIST",
        std::io::ErrorKind::NotADirectory => "ENOTDIR",
        std::io::ErrorKind::IsADirectory => "EISDIR",
        std::io::ErrorKind::DirectoryNotEmpty => "ENOTEMPTY",
        std::io::ErrorKind::InvalidInput => "EINVAL",
        std::io::ErrorKind::CrossesDevices => "EXDEV",
        std::io::ErrorKind::StorageFull => "ENOSPC",
        std::io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        _ if error.raw_os_error() == Some(40) => "ELOOP",
        _ if error.raw_os_error() == Some(9) => "EBADF",
        _ => "EIO",
    }
}
