//! Faults: which call fails, and how.

use std::io;

/// A call to the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the call of its name")]
pub enum Call {
    Open,
    Metadata,
    Canonical,
    ReadDir,
    CreateDir,
    Link,
    Rename,
    Remove,
    SyncDir,
    FreeSpace,
    Read,
    Append,
    SetLen,
    Sync,
    MakePrivate,
    Lock,
    Unlock,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    effect: Effect,
    sticky: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Error(io::ErrorKind),
    /// Writes this many bytes and returns the number.
    Short(usize),
    /// Writes this many bytes and then says nothing but the error.
    Partial(usize, io::ErrorKind),
}

impl Fault {
    /// Makes the call do nothing and return an error. A sync that fails so loses what it should have written.
    pub fn error(kind: io::ErrorKind) -> Self {
        Self { effect: Effect::Error(kind), sticky: false }
    }

    /// Makes an append a short write; no effect on other calls.
    pub fn short_write(bytes: usize) -> Self {
        Self { effect: Effect::Short(bytes), sticky: false }
    }

    /// Makes an append write its first bytes and return an error; no effect on other calls.
    pub fn partial_write(bytes: usize, kind: io::ErrorKind) -> Self {
        Self { effect: Effect::Partial(bytes, kind), sticky: false }
    }

    /// Makes all later calls fail as well. Whoever repeats an interrupted call then repeats it for ever.
    #[must_use]
    pub fn sticky(self) -> Self {
        Self { sticky: true, ..self }
    }

    pub(super) fn error_kind(self) -> Option<io::ErrorKind> {
        match self.effect {
            Effect::Error(kind) | Effect::Partial(_, kind) => Some(kind),
            Effect::Short(_) => None,
        }
    }

    pub(super) fn to_error(self) -> io::Error {
        io::Error::new(self.error_kind().unwrap_or(io::ErrorKind::WriteZero), "injected fault")
    }

    /// The bytes an append still writes.
    pub(super) fn written(self) -> Option<usize> {
        match self.effect {
            Effect::Error(_) => None,
            Effect::Short(bytes) | Effect::Partial(bytes, _) => Some(bytes),
        }
    }
}

/// The calls so far and the faults to come.
#[derive(Default)]
pub(super) struct Faults {
    calls: Vec<Call>,
    armed: Vec<(usize, Fault)>,
    fired: u64,
}

impl Faults {
    pub(super) fn arm(&mut self, n: u64, fault: Fault) {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        self.armed.push((self.calls.len().saturating_add(n), fault));
    }

    pub(super) fn clear(&mut self) {
        self.armed.clear();
    }

    pub(super) fn fired(&self) -> u64 {
        self.fired
    }

    pub(super) fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Counts a call and returns the fault that hits it.
    pub(super) fn next(&mut self, call: Call) -> Option<Fault> {
        self.calls.push(call);
        let number = self.calls.len();
        let hit = self.armed.iter().find(|(at, fault)| {
            let due = *at == number || (fault.sticky && *at < number);
            due && (call == Call::Append || fault.written().is_none())
        });
        let fault = hit.map(|(_, fault)| *fault);
        self.fired += u64::from(fault.is_some());
        fault
    }
}
