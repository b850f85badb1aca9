//! The transactions that change sessions. Each is committed as a whole or not at all.

use futures_util::future::{try_join, try_join4};
use session_tree::SessionSummary;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use crate::connection::Link;
use crate::layout::Part;
use crate::line::{Blob, Line};
use crate::statements::{ADD_BLOBS, APPEND, APPEND_LINE, PACK, Ready};
use crate::summary::Facts;

/// Held shared by transactions that refer to lines or large values of other sessions, and exclusively by those that delete
/// them: what is referred to cannot disappear before the commit.
const SHARE: &str = "SELECT pg_advisory_xact_lock_shared(1869768294, offshoot.current_tenant())";
const DELETE: &str = "SELECT pg_advisory_xact_lock(1869768294, offshoot.current_tenant())";

/// Lines for the end of a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth<'g> {
    pub(crate) session: Uuid,
    pub(crate) log: Uuid,
    /// The length of the session before and after.
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) lines: &'g [Line],
    pub(crate) facts: &'g Facts,
    /// True if the branches are counted until then.
    pub(crate) was_counted: bool,
}

impl Growth<'_> {
    /// Appends the lines in one statement, which is a transaction of its own. Returns false if the row of the session is not as
    /// expected: nothing was appended.
    ///
    /// Only for lines without large values: their transaction has several statements.
    pub(crate) async fn append_alone(&self, link: &Link) -> Result<bool, Error> {
        self.append(&self.ready(link).await?).await
    }

    /// Appends the lines to a session whose row is locked, and commits. All statements are sent at once. Returns false if the
    /// row of the session is not as expected.
    pub(crate) async fn append_and_commit(&self, link: &Link) -> Result<bool, Error> {
        let append = self.ready(link).await?;
        let blobs = self.lines.iter().flat_map(|line| &line.blobs);
        // In one order everywhere, so that two transactions do not wait for each other.
        let mut values: Vec<&Blob> = blobs.collect();
        values.sort_by(|one, other| one.hash.cmp(&other.hash));
        values.dedup_by(|one, other| one.hash == other.hash);
        let commit = link.client.batch_execute("COMMIT");
        if values.is_empty() {
            return try_join(self.append(&append), commit).await.map(|(appended, ())| appended);
        }
        let hashes: Vec<&[u8]> = values.iter().map(|blob| blob.hash.as_slice()).collect();
        let contents: Vec<&[u8]> = values.iter().map(|blob| blob.bytes.as_slice()).collect();
        let add = link.ready(&ADD_BLOBS).await?;
        let parameters: [&(dyn ToSql + Sync); 2] = [&hashes, &contents];
        let add = add.execute(&parameters);
        let share = link.client.batch_execute(SHARE);
        try_join4(share, add, self.append(&append), commit).await.map(|(_, _, appended, ())| appended)
    }

    async fn ready<'l>(&self, link: &'l Link) -> Result<Ready<'l>, Error> {
        link.ready(if self.single().is_some() { &APPEND_LINE } else { &APPEND }).await
    }

    /// Returns the line, if there is one only, without large values and without shared lines beside it.
    fn single(&self) -> Option<&Line> {
        let [line] = self.lines else { return None };
        let is_all = line.position as u64 == self.from && line.length as u64 == self.to - self.from;
        (is_all && line.blobs.is_empty()).then_some(line)
    }

    async fn append(&self, statement: &Ready<'_>) -> Result<bool, Error> {
        let (from, to) = (self.from as i64, self.to as i64);
        let summary = self.facts.summary.as_ref().map(SessionSummary::encode);
        let first: [&(dyn ToSql + Sync); 8] = [
            &self.session,
            &from,
            &to,
            &summary,
            &self.facts.is_counted,
            &self.facts.tip,
            &self.log,
            &self.was_counted,
        ];
        if let Some(line) = self.single() {
            let line: [&(dyn ToSql + Sync); 4] = [&line.entry, &line.parent, &line.head, &line.bytes];
            return statement.execute(&[&first[..], &line[..]].concat()).await.map(|added| added > 0);
        }
        let lines = self.lines;
        let positions: Vec<i64> = lines.iter().map(|line| line.position).collect();
        let lengths: Vec<i32> = lines.iter().map(|line| line.length).collect();
        let entries: Vec<Option<&[u8]>> = lines.iter().map(|line| line.entry.as_deref()).collect();
        let parents: Vec<Option<&[u8]>> = lines.iter().map(|line| line.parent.as_deref()).collect();
        let heads: Vec<Option<&[u8]>> = lines.iter().map(|line| line.head.as_deref()).collect();
        let bytes: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
        let blobs = || {
            (1_i64..).zip(lines).flat_map(|(number, line)| line.blobs.iter().map(move |blob| (number, blob)))
        };
        let numbers: Vec<i64> = blobs().map(|(number, _)| number).collect();
        let hashes: Vec<&[u8]> = blobs().map(|(_, blob)| blob.hash.as_slice()).collect();
        let places: Vec<i32> = blobs().map(|(_, blob)| blob.position).collect();
        #[rustfmt::skip]
        let rest: [&(dyn ToSql + Sync); 9] = [
            &positions, &lengths, &entries, &parents, &heads, &bytes, &numbers, &hashes, &places,
        ];
        statement.execute(&[&first[..], &rest[..]].concat()).await.map(|added| added > 0 || lines.is_empty())
    }
}

/// Packs the heads of the lines of a log that are in no pack, if there are at least so many.
pub(crate) async fn pack(link: &Link, log: Uuid, at_least: i64) -> Result<(), Error> {
    let pack = link.ready(&PACK).await?;
    let parameters: [&(dyn ToSql + Sync); 2] = [&log, &at_least];
    // The lines cannot be deleted meanwhile.
    let begin = link.client.batch_execute("BEGIN");
    let share = link.client.batch_execute(SHARE);
    let packed =
        try_join4(begin, share, pack.execute(&parameters), link.client.batch_execute("COMMIT")).await;
    packed.map(drop)
}

/// The result of [`create`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Created {
    /// The session is there.
    Done { id: Uuid, log: Uuid },
    /// Another session has its name.
    NameTaken,
    /// Lines that it was to share were deleted.
    SourceGone,
}

/// Creates a session.
pub(crate) async fn create(
    link: &Link,
    name: &str,
    parts: &[Part],
    lines: &[Line],
    length: u64,
    facts: &Facts,
) -> Result<Created, Error> {
    let create = async {
        link.client.batch_execute("BEGIN").await?;
        let insert = "INSERT INTO offshoot.session (name) VALUES ($1) RETURNING id, log";
        let row = link.client.query_typed_one(insert, &[(&name, Type::TEXT)]).await?;
        let (session, log) = (row.get(0), row.get(1));
        if !parts.is_empty() {
            link.client.batch_execute(SHARE).await?;
            if !add_parts(link, session, parts).await? {
                link.client.batch_execute("ROLLBACK").await?;
                return Ok(Created::SourceGone);
            }
        }
        Growth { session, log, from: 0, to: length, lines, facts, was_counted: false }
            .append_and_commit(link)
            .await?;
        Ok(Created::Done { id: session, log })
    };
    match or_roll_back(link, create).await {
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Created::NameTaken),
        result => result,
    }
}

/// Adds the parts of a new session. Returns false if a line at the beginning of one was deleted.
async fn add_parts(link: &Link, session: Uuid, parts: &[Part]) -> Result<bool, Error> {
    let positions: Vec<i64> = parts.iter().map(|part| part.position as i64).collect();
    let lengths: Vec<i64> = parts.iter().map(|part| part.length as i64).collect();
    let logs: Vec<Uuid> = parts.iter().map(|part| part.log).collect();
    let sources: Vec<i64> = parts.iter().map(|part| part.source_position as i64).collect();
    let insert = "INSERT INTO offshoot.part (session, position, length, source_log, source_position) \
         SELECT $1, n.* FROM unnest($2::bigint[], $3::bigint[], $4::uuid[], $5::bigint[]) \
         AS n (position, length, log, source_position) \
         JOIN offshoot.line l ON l.log = n.log AND l.position = n.source_position";
    let added = link
        .client
        .execute_typed(
            insert,
            &[
                (&session, Type::UUID),
                (&positions, Type::INT8_ARRAY),
                (&lengths, Type::INT8_ARRAY),
                (&logs, Type::UUID_ARRAY),
                (&sources, Type::INT8_ARRAY),
            ],
        )
        .await?;
    Ok(added == parts.len() as u64)
}

/// Gives a session whose row is locked other lines, and commits. The old ones go to a new session named `kept`. Returns the
/// new log of the session.
pub(crate) async fn replace(
    link: &Link,
    session: Uuid,
    kept: &str,
    length: u64,
    lines: &[Line],
    facts: &Facts,
) -> Result<Uuid, Error> {
    let client = &link.client;
    let replace = async {
        let keep = "INSERT INTO offshoot.session (name, log, length, summary, is_counted, tip) \
             SELECT $2, log, length, summary, is_counted, tip FROM offshoot.session WHERE id = $1 RETURNING id";
        let kept = client.query_typed_one(keep, &[(&session, Type::UUID), (&kept, Type::TEXT)]).await?;
        let kept: Uuid = kept.get(0);
        let move_parts = "UPDATE offshoot.part SET session = $2 WHERE session = $1";
        client.execute_typed(move_parts, &[(&session, Type::UUID), (&kept, Type::UUID)]).await?;
        let renew = "UPDATE offshoot.session SET log = gen_random_uuid(), length = 0, summary = NULL, is_counted = false \
             WHERE id = $1 RETURNING log";
        let log = client.query_typed_one(renew, &[(&session, Type::UUID)]).await?.get(0);
        Growth { session, log, from: 0, to: length, lines, facts, was_counted: false }
            .append_and_commit(link)
            .await?;
        Ok(log)
    };
    or_roll_back(link, replace).await
}

/// Deletes a session. Lines that forks share stay; lines, packs and large values without another session are deleted, too.
/// Returns false if there is no such session.
pub(crate) async fn delete(link: &Link, name: &str) -> Result<bool, Error> {
    let client = &link.client;
    let delete = async {
        client.batch_execute("BEGIN").await?;
        client.batch_execute(DELETE).await?;
        let find = "SELECT s.id, array_agg(DISTINCT p.source_log) || s.log FROM offshoot.session s \
             LEFT JOIN offshoot.part p ON p.session = s.id WHERE s.name = $1 GROUP BY s.id, s.log";
        let Some(row) = client.query_typed_opt(find, &[(&name, Type::TEXT)]).await? else {
            client.batch_execute("ROLLBACK").await?;
            return Ok(false);
        };
        let (id, logs): (Uuid, Vec<Option<Uuid>>) = (row.get(0), row.get(1));
        client.execute_typed("DELETE FROM offshoot.session WHERE id = $1", &[(&id, Type::UUID)]).await?;
        let delete_lines = "WITH gone AS (DELETE FROM offshoot.line l WHERE l.log = ANY ($1) \
             AND NOT EXISTS (SELECT FROM offshoot.session s WHERE s.log = l.log) \
             AND NOT EXISTS (SELECT FROM offshoot.part p WHERE p.source_log = l.log) RETURNING blobs) \
             SELECT array_agg(DISTINCT hash) FROM gone, unnest(gone.blobs) AS b (hash)";
        let hashes: Option<Vec<Vec<u8>>> =
            client.query_typed_one(delete_lines, &[(&logs, Type::UUID_ARRAY)]).await?.get(0);
        let delete_packs = "DELETE FROM offshoot.pack p WHERE p.log = ANY ($1) \
             AND NOT EXISTS (SELECT FROM offshoot.line l WHERE l.log = p.log)";
        client.execute_typed(delete_packs, &[(&logs, Type::UUID_ARRAY)]).await?;
        if let Some(hashes) = hashes {
            let delete_blobs = "DELETE FROM offshoot.blob b WHERE b.hash = ANY ($1) \
                 AND NOT EXISTS (SELECT FROM offshoot.line l WHERE l.blobs @> ARRAY[b.hash])";
            client.execute_typed(delete_blobs, &[(&hashes, Type::BYTEA_ARRAY)]).await?;
        }
        client.batch_execute("COMMIT").await?;
        Ok(true)
    };
    or_roll_back(link, delete).await
}

/// Ends the transaction if a statement of it failed.
pub(crate) async fn or_roll_back<T>(
    link: &Link,
    transaction: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let result = transaction.await;
    if result.is_err() {
        let _ = link.client.batch_execute("ROLLBACK").await;
    }
    result
}
