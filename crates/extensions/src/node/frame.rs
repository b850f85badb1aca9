//! Frames: the messages between this program and a child process, with a fixed header, a name and a text.
//!
//! `js/host/child.js` reads and writes the same bytes.

use std::io::{self, Read, Write};

/// The bytes of a header.
const HEADER: usize = 20;
/// The longest frame that is read: a text of 64 MiB, of which one character may take three bytes.
const LONGEST: usize = 200 << 20;

/// The kind of a frame, as its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// To the child: the modules of the API.
    SetUp = b'u',
    /// To the child: start the thread of an extension.
    StartThread = b't',
    /// To the child: end it.
    EndThread = b'k',
    /// To script: begin a call.
    Begin = b'b',
    /// To script: the answer to this call is not needed.
    Cancel = b'c',
    /// To script: the result of an operation.
    Settle = b's',
    /// To script: are you there.
    Ping = b'p',
    /// To script: the answer to a question that it waits for.
    Reply = b'r',
    /// From the child: its version; the flag is set if it is new enough.
    Hello = b'h',
    /// From script: it is ready for calls.
    Ready = b'y',
    /// From script: begin an operation.
    Start = b'S',
    /// From script: stop it.
    Stop = b'x',
    /// From script: the answer to a call.
    Finish = b'f',
    /// From script: a message to it has been handled.
    Handled = b'a',
    /// From script: it waits for nothing but the host.
    Idle = b'i',
    /// From the child: what an extension wrote to standard output or standard error.
    Output = b'l',
    /// From the child: the thread of an extension has ended.
    Ended = b'e',
    /// From script: a question that it waits for.
    Call = b'C',
}

const KINDS: [Kind; 18] = [
    Kind::SetUp,
    Kind::StartThread,
    Kind::EndThread,
    Kind::Begin,
    Kind::Cancel,
    Kind::Settle,
    Kind::Ping,
    Kind::Reply,
    Kind::Hello,
    Kind::Ready,
    Kind::Start,
    Kind::Stop,
    Kind::Finish,
    Kind::Handled,
    Kind::Idle,
    Kind::Output,
    Kind::Ended,
    Kind::Call,
];

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) extension: u32,
    pub(crate) kind: Kind,
    pub(crate) id: u64,
    pub(crate) is_ok: bool,
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Frame {
    pub(crate) fn new(kind: Kind, id: u64, name: &str, text: impl Into<String>) -> Self {
        Frame { extension: 0, kind, id, is_ok: true, name: name.to_owned(), text: text.into() }
    }

    /// Writes the frame as one piece.
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let length = HEADER + self.name.len() + self.text.len();
        let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "the message is too long");
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(u32::try_from(length - 4).map_err(too_long)?.to_le_bytes());
        bytes.extend(self.extension.to_le_bytes());
        bytes.extend((self.id as f64).to_le_bytes());
        bytes.extend([self.kind as u8, u8::from(self.is_ok)]);
        bytes.extend(u16::try_from(self.name.len()).map_err(too_long)?.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(self.text.as_bytes());
        to.write_all(&bytes)?;
        to.flush()
    }

    /// Reads a frame. Returns `None` at the end; fails for anything that is not a frame.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER];
        match from.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        let odd = || io::Error::new(io::ErrorKind::InvalidData, "it wrote something that is no message");
        let [l0, l1, l2, l3, e0, e1, e2, e3, n0, n1, n2, n3, n4, n5, n6, n7, kind, is_ok, m0, m1] = header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize + 4;
        let name_length = usize::from(u16::from_le_bytes([m0, m1]));
        let kind = KINDS.into_iter().find(|one| *one as u8 == kind).ok_or_else(odd)?;
        let rest = length.checked_sub(HEADER).filter(|rest| (name_length..=LONGEST).contains(rest));
        let mut bytes = Vec::new();
        let rest = rest.ok_or_else(odd)?;
        // The memory is taken as the bytes come.
        from.take(rest as u64).read_to_end(&mut bytes)?;
        if bytes.len() < rest {
            return Ok(None);
        }
        let text = String::from_utf8(bytes.split_off(name_length)).map_err(|_| odd())?;
        let id = f64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]);
        Ok(Some(Frame {
            extension: u32::from_le_bytes([e0, e1, e2, e3]),
            kind,
            id: if id.is_finite() && id >= 0.0 { id as u64 } else { 0 },
            is_ok: is_ok == 1,
            name: String::from_utf8(bytes).map_err(|_| odd())?,
            text,
        }))
    }
}

#[cfg(test)]
mod tests;
