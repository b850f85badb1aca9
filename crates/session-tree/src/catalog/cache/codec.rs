//! How a row is spelled in the cache: numbers in little endian, texts with their length before them.

use std::path::Path;

use crate::catalog::summary::{Damage, SessionSummary};
use crate::time::Timestamp;

pub(super) struct Writer<'b>(pub(super) &'b mut Vec<u8>);

impl Writer<'_> {
    pub(super) fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn time(&mut self, time: Timestamp) {
        self.u64(time.as_millis().cast_unsigned());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        // Rows hold cut texts and paths: far below the limit.
        self.0.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// Reads what a [`Writer`] wrote; `None` once the bytes do not fit.
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl<'b> Reader<'b> {
    pub(super) fn u64(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(super) fn time(&mut self) -> Option<Timestamp> {
        self.u64().map(|millis| Timestamp::from_millis(millis.cast_signed()))
    }

    pub(super) fn bytes(&mut self) -> Option<&'b [u8]> {
        let (len, rest) = self.0.split_first_chunk()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn flag(&mut self) -> Option<bool> {
        let (flag, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*flag != 0)
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }
}

pub(super) fn write_row(out: &mut Writer<'_>, row: &SessionSummary) {
    out.text(&row.id);
    out.text(&row.cwd);
    out.maybe(row.name.as_deref(), Writer::text);
    out.maybe(row.parent_session.as_deref(), Writer::text);
    out.maybe(row.created, Writer::time);
    out.time(row.modified);
    out.u64(row.message_count);
    out.maybe(row.first_message.as_deref(), Writer::text);
    out.u64(row.entry_count);
    out.u64(row.tip_count);
    out.flag(row.is_sub_agent);
    let reason = match &row.damage {
        Some(Damage::NotASession { reason }) => Some(&**reason),
        Some(Damage::Unreadable { reason }) => Some(reason.as_str()),
        Some(Damage::Lines { .. }) | None => None,
    };
    out.maybe(reason, Writer::text);
    let count = match row.damage {
        Some(Damage::Lines { count }) => Some(count),
        _ => None,
    };
    out.maybe(count, Writer::u64);
}

pub(super) fn read_row(from: &mut Reader<'_>, path: &Path, size: u64) -> Option<SessionSummary> {
    Some(SessionSummary {
        path: path.to_path_buf(),
        size,
        is_complete: true,
        id: from.text()?,
        cwd: from.text()?,
        name: from.maybe(Reader::text)?,
        parent_session: from.maybe(Reader::text)?,
        created: from.maybe(Reader::time)?,
        modified: from.time()?,
        message_count: from.u64()?,
        first_message: from.maybe(Reader::text)?,
        entry_count: from.u64()?,
        tip_count: from.u64()?,
        is_sub_agent: from.flag()?,
        damage: {
            let reason =
                from.maybe(Reader::text)?.map(|reason| Damage::NotASession { reason: reason.into() });
            let lines = from.maybe(Reader::u64)?.map(|count| Damage::Lines { count });
            reason.or(lines)
        },
    })
}
