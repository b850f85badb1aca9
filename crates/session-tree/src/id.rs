//! Ids of entries and sessions, the sources of new ones, and nodes, the handles of entries in a loaded tree.
//!
//! A base type.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use hmac_sha256::Hash;
use smol_str::SmolStr;

/// A handle to an entry of a loaded tree; cheap to copy.
///
/// A node belongs to the session that returned it. It becomes stale when that session is read again because its file
/// was replaced, by a migration for example; entries that are appended leave it valid. For a stale node, and for one
/// of another session, methods that can fail return [`Error::StaleNode`](crate::Error::StaleNode), and those of
/// [`Tree`](crate::Tree) answer as if it were an entry without parent, children and content. A node never stands for
/// another entry than the one it was made for. To keep a place for longer, keep its [`EntryId`].
///
/// Nodes of one tree are ordered as their entries are in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    pub(crate) row: u32,
    pub(crate) stamp: Stamp,
}

impl Node {
    /// The node of an entry that is in no tree.
    pub(crate) const DETACHED: Node = Node { row: 0, stamp: Stamp(NonZeroU32::MIN) };

    /// Returns the number of the entry in file order, less than [`Tree::node_bound`](crate::Tree::node_bound) of its
    /// tree.
    #[inline]
    pub fn index(self) -> usize {
        self.row as usize
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", self.row)
    }
}

/// A number that differs between the trees, and the sessions, of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stamp(NonZeroU32);

impl Stamp {
    /// Draws a number that was not drawn before, up to four thousand million of them.
    pub(crate) fn fresh() -> Self {
        // 1 is the stamp of detached nodes.
        static NEXT: AtomicU32 = AtomicU32::new(2);
        let drawn = NEXT.fetch_add(1, Ordering::Relaxed);
        Stamp(NonZeroU32::new(drawn).unwrap_or(NonZeroU32::MAX))
    }
}

impl Default for Stamp {
    fn default() -> Self {
        Self::fresh()
    }
}

/// The id of an entry inside its session; opaque text, cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(SmolStr);

impl EntryId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for EntryId {
    fn from(text: &str) -> Self {
        Self(SmolStr::new(text))
    }
}

impl From<String> for EntryId {
    fn from(text: String) -> Self {
        Self(SmolStr::from(text))
    }
}

impl AsRef<str> for EntryId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for EntryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for EntryId {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for EntryId {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An id as a key of the index: the number of eight lower-case hex digits, or any other text.
///
/// Nearly all ids are of the first kind; as numbers they need no memory of their own and compare in one step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum IdKey<'a> {
    Hex(u32),
    Odd(Cow<'a, str>),
}

impl<'a> IdKey<'a> {
    pub(crate) fn of(id: &'a str) -> Self {
        hex8(id.as_bytes()).map_or(IdKey::Odd(Cow::Borrowed(id)), IdKey::Hex)
    }

    pub(crate) fn of_text(id: Cow<'a, str>) -> Self {
        hex8(id.as_bytes()).map_or(IdKey::Odd(id), IdKey::Hex)
    }

    /// Reads an id from the bytes of a line; `None` if it is empty or not UTF-8.
    pub(crate) fn of_bytes(id: &'a [u8]) -> Option<Self> {
        if let Some(number) = hex8(id) {
            return Some(IdKey::Hex(number));
        }
        let text = std::str::from_utf8(id).ok()?;
        (!text.is_empty()).then_some(IdKey::Odd(Cow::Borrowed(text)))
    }

    pub(crate) fn into_owned(self) -> IdKey<'static> {
        match self {
            IdKey::Hex(number) => IdKey::Hex(number),
            IdKey::Odd(text) => IdKey::Odd(Cow::Owned(text.into_owned())),
        }
    }

    pub(crate) fn to_id(&self) -> EntryId {
        match self {
            IdKey::Hex(number) => hex_id(*number),
            IdKey::Odd(text) => EntryId::from(&**text),
        }
    }
}

/// The values of lower-case hex digits; 255 for all other bytes.
const HEX: [u8; 256] = {
    let mut table = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

/// Reads exactly eight lower-case hex digits.
fn hex8(text: &[u8]) -> Option<u32> {
    let text: &[u8; 8] = text.try_into().ok()?;
    let (mut number, mut all) = (0_u32, 0_u8);
    for byte in text {
        let digit = HEX[usize::from(*byte)];
        all |= digit;
        number = number << 4 | u32::from(digit & 15);
    }
    (all < 16).then_some(number)
}

fn hex_id(number: u32) -> EntryId {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0_u8; 8];
    for (at, byte) in text.iter_mut().enumerate() {
        *byte = DIGITS[(number >> (28 - 4 * at) & 15) as usize];
    }
    EntryId::from(std::str::from_utf8(&text).unwrap_or_default())
}

/// The source of ids for new entries and new sessions.
///
/// The session draws again while an entry id is taken, so a source need not remember its ids.
pub trait IdSource: Send + Sync {
    /// Proposes the id of a new entry.
    fn entry_id(&mut self) -> EntryId;

    /// Proposes a longer entry id, after many short ones were taken.
    fn long_entry_id(&mut self) -> EntryId;

    /// Returns the id of a new session.
    fn session_id(&mut self) -> String;
}

/// Returns true if `id` is valid for a new session: letters and digits, with `.`, `_`, `-` inside.
///
/// The id becomes part of a file name, so anything that could leave its directory is refused.
pub fn is_valid_session_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    bytes.len() <= 128
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// Derives the id of an entry from texts, so that the same input gives the same bytes. It has eight digits and is not taken.
pub(crate) fn derived_id(parts: &[&str], is_taken: impl Fn(&str) -> bool) -> EntryId {
    first_free(is_taken, |retry| {
        let number = retry.to_string();
        let mut id = digest(parts.iter().chain([&number.as_str()]).map(|part| part.as_bytes()));
        id.truncate(8);
        id
    })
}

/// Returns the first id that is not taken; `candidate` makes one for each try.
pub(crate) fn first_free(is_taken: impl Fn(&str) -> bool, candidate: impl Fn(u32) -> String) -> EntryId {
    let free = (0..).map(candidate).find(|id| !is_taken(id));
    EntryId::from(free.unwrap_or_default())
}

/// Returns the SHA-256 of texts, each followed by a zero byte, in hex digits.
pub(crate) fn digest<'p>(parts: impl Iterator<Item = &'p [u8]>) -> String {
    let mut hash = Hash::new();
    for part in parts {
        hash.update(part);
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Random ids as pi writes them: eight hex digits for entries, UUIDs of version 7 for sessions.
#[cfg(feature = "fs")]
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

#[cfg(feature = "fs")]
impl IdSource for RandomIds {
    fn entry_id(&mut self) -> EntryId {
        hex_id(random() as u32)
    }

    fn long_entry_id(&mut self) -> EntryId {
        EntryId::from(uuid(4, random()))
    }

    fn session_id(&mut self) -> String {
        use crate::time::{Clock, SystemClock};
        let millis = SystemClock.now().as_millis().cast_unsigned();
        uuid(7, u128::from(millis) << 80 | random() >> 48)
    }
}

/// Returns random bits: the standard library seeds the keys of its hash tables from the operating system, and gives each
/// new hasher other keys.
#[cfg(feature = "fs")]
fn random() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let number = || u128::from(RandomState::new().hash_one(0));
    number() << 64 | number()
}

/// Spells a number as a UUID of a version.
#[cfg(feature = "fs")]
fn uuid(version: u128, bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(3 << 62) | version << 76 | 2 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(all(test, feature = "fs"))]
mod tests;
