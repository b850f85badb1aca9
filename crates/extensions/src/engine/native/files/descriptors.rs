//! Files that script keeps open: read, written and closed by number.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::{Failure, content, number, stat, text, times, unknown};
use crate::engine::Shared;

/// The first number; those below belong to the standard streams.
const FIRST: u64 = 3;
/// The most files that an extension may keep open.
const MOST: usize = 256;

/// The open files of an extension.
#[derive(Debug, Default)]
pub(crate) struct Descriptors(RefCell<BTreeMap<u64, fs::File>>);

/// Opens a file as Node's flags say, and returns its number.
pub(super) fn open(
    path: &Path,
    arguments: &Json,
    mode: Option<u32>,
    shared: &Shared,
) -> Result<String, Failure> {
    let mut options = fs::OpenOptions::new();
    match text(arguments, "flag")? {
        "r" | "rs" => options.read(true),
        "r+" | "rs+" => options.read(true).write(true),
        "w" => options.create(true).write(true).truncate(true),
        "wx" | "xw" => options.create_new(true).write(true),
        "w+" => options.create(true).read(true).write(true).truncate(true),
        "wx+" | "xw+" => options.create_new(true).read(true).write(true),
        "a" => options.create(true).append(true),
        "ax" | "xa" => options.create_new(true).append(true),
        "a+" => options.create(true).read(true).append(true),
        "ax+" | "xa+" => options.create_new(true).read(true).append(true),
        flag => return Err(Failure(format!("no flag `{flag}` for opening a file"))),
    };
    let mut open = shared.descriptors.0.borrow_mut();
    if open.len() >= MOST {
        return Err(Failure(json!({"code": "EMFILE", "message": "too many open files"}).to_string()));
    }
    // A pipe without another end would block the thread for ever.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        options.custom_flags(NONBLOCK);
    }
    let file = options.mode(mode.unwrap_or(0o666)).open(path)?;
    let fd = (FIRST..).find(|fd| !open.contains_key(fd)).unwrap_or(FIRST);
    open.insert(fd, file);
    Ok(fd.to_string())
}

/// `O_NONBLOCK`.
const NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 0x4 };

pub(super) fn call(shared: &Shared, name: &str, arguments: &Json) -> Result<String, Failure> {
    let mut open = shared.descriptors.0.borrow_mut();
    let fd = number(arguments, "fd");
    let bad = || Failure(json!({"code": "EBADF", "errno": 9, "message": "bad file descriptor"}).to_string());
    let file = open.get_mut(&fd).ok_or_else(bad)?;
    let position = arguments["position"].as_u64();
    match name {
        "read" => return read(file, arguments, position, shared.setting.limits.memory / 4),
        "write" => {
            let bytes = content(arguments)?;
            match position {
                Some(at) => file.write_all_at(&bytes, at)?,
                None => file.write_all(&bytes)?,
            }
            return Ok(bytes.len().to_string());
        }
        "stat" => return Ok(stat(&file.metadata()?)),
        "sync" => file.sync_all()?,
        "truncate" => file.set_len(number(arguments, "length"))?,
        "utimes" => file.set_times(times(arguments))?,
        "chmod" => {
            let mode = u32::try_from(number(arguments, "mode")).unwrap_or(0o666);
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        "close" => drop(open.remove(&fd)),
        _ => return Ok(unknown("fs.fd", name)?),
    }
    Ok("null".to_owned())
}

fn read(
    file: &mut fs::File,
    arguments: &Json,
    position: Option<u64>,
    most: usize,
) -> Result<String, Failure> {
    let length = usize::try_from(number(arguments, "length")).unwrap_or(usize::MAX).min(most);
    let mut bytes = vec![0; length];
    let read = match position {
        Some(at) => file.read_at(&mut bytes, at)?,
        None => file.read(&mut bytes)?,
    };
    Ok(json!(STANDARD.encode(&bytes[..read])).to_string())
}
