//! The format of cache files: a name with a version, a table, and checksummed parts of numbers and texts.
//!
//! Below the sidecar and the cache of the catalog. A file of another version, or with a wrong checksum, is ignored; its
//! owner makes a new one. All numbers are little-endian.

use std::path::Path;

use smol_str::SmolStr;

use crate::fs::{Access, Fs, FsFile, replace_cache};
use crate::journal::{ReadAt, read_into, read_range};
use crate::time::Timestamp;

/// A multiple of the size of every number.
const BUFFER: usize = 256 * 1024;

/// A kind of cache file. The last byte of its name is the version, which changes with every change of the parts.
pub(crate) struct Format {
    pub(crate) name: &'static [u8; 8],
    pub(crate) parts: usize,
}

/// The parts of an open file. Each is verified when it is read.
pub(crate) struct Parts {
    file: Box<dyn FsFile>,
    /// The time of the last change of the file: see [`Meta::changed`](crate::fs::Meta::changed).
    pub(crate) changed: i64,
    /// The position, the length and the CRC-32C of each part.
    table: Vec<(u64, u64, u32)>,
}

impl Format {
    /// Opens a file; `None` if it has another format or version, or not the length of its table.
    pub(crate) fn open(&self, fs: &dyn Fs, path: &Path) -> Option<Parts> {
        let file = fs.open(path, Access::Read).ok()?;
        let meta = file.metadata().ok().filter(|meta| meta.is_file)?;
        let head = read(&file, 0, 12 + self.parts * 12)?;
        let (sum, mut rows) = head.strip_prefix(self.name)?.split_first_chunk()?;
        if crc32c::crc32c(rows) != u32::from_le_bytes(*sum) {
            return None;
        }
        let mut at = head.len() as u64;
        let mut table = Vec::with_capacity(self.parts);
        while !rows.is_empty() {
            let (length, sum) = <(u64, u32)>::read(&mut rows)?;
            table.push((at, length, sum));
            at = at.checked_add(length)?;
        }
        (at == meta.len).then_some(Parts { file, changed: meta.changed, table })
    }

    /// Replaces a file, in one step.
    pub(crate) fn save(&self, fs: &dyn Fs, path: &Path, parts: &[Vec<u8>]) -> std::io::Result<()> {
        debug_assert_eq!(parts.len(), self.parts);
        let mut table = Vec::with_capacity(parts.len() * 12);
        for part in parts {
            (part.len() as u64, crc32c::crc32c(part)).write(&mut table);
        }
        let mut out = Vec::with_capacity(12 + table.len() + parts.iter().map(Vec::len).sum::<usize>());
        out.extend_from_slice(self.name);
        crc32c::crc32c(&table).write(&mut out);
        out.extend_from_slice(&table);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        replace_cache(fs, path, &out)
    }
}

impl Parts {
    /// Reads a part that [`encode`] made.
    pub(crate) fn decode<T: Codec>(&self, part: usize) -> Option<T> {
        let (at, length, sum) = *self.table.get(part)?;
        let bytes = read(&self.file, at, usize::try_from(length).ok()?)?;
        let mut rest = bytes.as_slice();
        let value = if crc32c::crc32c(&bytes) == sum { T::read(&mut rest) } else { None };
        value.filter(|_| rest.is_empty())
    }

    /// Reads a part that [`column`] made, through a small buffer, with some room behind it: a column that has to grow is
    /// copied whole.
    pub(crate) fn column<T, const N: usize>(&self, part: usize, number: fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (at, length, sum) = *self.table.get(part)?;
        let length = usize::try_from(length).ok()?;
        let count = length / N;
        let mut found = Vec::with_capacity(count + count / 16 + 1024);
        let mut buffer = vec![0; BUFFER.min(length)];
        let (mut done, mut running) = (0, 0);
        while done < length {
            let want = (length - done).min(BUFFER);
            read_into(&self.file, at + done as u64, &mut buffer[..want]).ok()?;
            running = crc32c::crc32c_append(running, &buffer[..want]);
            found.extend(buffer[..want].as_chunks::<N>().0.iter().map(|chunk| number(*chunk)));
            done += want;
        }
        (running == sum && length % N == 0).then_some(found)
    }
}

/// Writes numbers one after the other.
pub(crate) fn column<T: Copy, const N: usize>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(values.len() * N);
    values.iter().for_each(|value| out.extend_from_slice(&bytes(*value)));
    out
}

/// A value that is stored in a cache file.
pub(crate) trait Codec: Sized {
    /// Appends the value.
    fn write(&self, out: &mut Vec<u8>);
    /// Reads a value off the front of `bytes`; `None` if they do not fit.
    fn read(bytes: &mut &[u8]) -> Option<Self>;
}

pub(crate) fn encode(value: &impl Codec) -> Vec<u8> {
    let mut out = Vec::new();
    value.write(&mut out);
    out
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Codec for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                let (number, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::from_le_bytes(*number))
            }
        })*
    };
}

/// Stores the fields of a struct, or the items of a tuple, one after the other. Fields behind a semicolon are not stored.
macro_rules! fields {
    ($($name:ident { $($field:ident),* $(; $($other:ident: $value:expr),*)? })*) => {
        $(impl $crate::codec::Codec for $name {
            fn write(&self, out: &mut Vec<u8>) {
                $($crate::codec::Codec::write(&self.$field, out);)*
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::codec::Codec::read(bytes)?,)* $($($other: $value),*)? })
            }
        })*
    };
    ($(($($item:ident $at:tt),*))*) => {
        $(impl<$($item: Codec),*> Codec for ($($item,)*) {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$at.write(out);)*
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Some(($($item::read(bytes)?,)*))
            }
        })*
    };
}
pub(crate) use fields;

numbers! { u8 u32 u64 i64 }
fields! { (A 0, B 1) (A 0, B 1, C 2) }

impl Codec for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(*self).write(out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        u8::read(bytes).map(|byte| byte != 0)
    }
}

impl Codec for Timestamp {
    fn write(&self, out: &mut Vec<u8>) {
        self.as_millis().write(out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        i64::read(bytes).map(Timestamp::from_millis)
    }
}

macro_rules! bytes {
    ($($text:ty: $from:expr,)*) => {
        $(impl Codec for $text {
            fn write(&self, out: &mut Vec<u8>) {
                (self.len() as u32).write(out);
                out.extend_from_slice(self.as_ref());
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                let length = u32::read(bytes)?;
                let (value, rest) = bytes.split_at_checked(length as usize)?;
                *bytes = rest;
                $from(value)
            }
        })*
    };
}

bytes! {
    SmolStr: |bytes| std::str::from_utf8(bytes).ok().map(SmolStr::new),
    String: |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned),
    Box<[u8]>: |bytes: &[u8]| Some(bytes.into()),
}

impl<T: Codec> Codec for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        if bool::read(bytes)? { T::read(bytes).map(Some) } else { Some(None) }
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        (0..u32::read(bytes)?).map(|_| T::read(bytes)).collect()
    }
}

fn read(file: &dyn ReadAt, at: u64, length: usize) -> Option<Vec<u8>> {
    // A damaged table may ask for more than there is.
    let room = file.len().ok()?.saturating_sub(at);
    if length as u64 > room { None } else { read_range(file, at, length).ok() }
}
