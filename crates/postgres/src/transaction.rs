//! The transactions that change sessions. Each is committed as a whole or not at all.

use futures_util::future::{try_join, try_join3};
use session_tree::SessionSummary;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::connection::Link;
use crate::layout::Part;
use crate::line::{Blob, Line};
use crate::summary::Facts;

/// Held shared by transactions that refer to lines or large values of other sessions, and exclusively by those that delete
/// them: what is referred to cannot disappear before the commit.
const SHARE: &str = "SELECT pg_advisory_xact_lock_shared(1869768294, offshoot.current_tenant())";
const DELETE: &str = "SELECT pg_advisory_xact_lock(1869768294, offshoot.current_tenant())";

/// Appends lines to a session whose row is locked, and commits. All statements are sent at once.
pub(crate) async fn append_and_commit(
    link: &Link,
    session: Uuid,
    length: u64,
    lines: &[Line],
    facts: &Facts,
) -> Result<(), Error> {
    let append = append(link, session, length, lines, facts);
    try_join(append, link.client.batch_execute("COMMIT")).await.map(drop)
}

async fn append(link: &Link, session: Uuid, length: u64, lines: &[Line], facts: &Facts) -> Result<(), Error> {
    let length = length as i64;
    let positions: Vec<i64> = lines.iter().map(|line| line.position).collect();
    let lengths: Vec<i32> = lines.iter().map(|line| line.length).collect();
    let entries: Vec<Option<&[u8]>> = lines.iter().map(|line| line.entry.as_deref()).collect();
    let parents: Vec<Option<&[u8]>> = lines.iter().map(|line| line.parent.as_deref()).collect();
    let heads: Vec<Option<&[u8]>> = lines.iter().map(|line| line.head.as_deref()).collect();
    let bytes: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
    let blobs =
        || (1_i64..).zip(lines).flat_map(|(number, line)| line.blobs.iter().map(move |blob| (number, blob)));
    let numbers: Vec<i64> = blobs().map(|(number, _)| number).collect();
    let hashes: Vec<&[u8]> = blobs().map(|(_, blob)| blob.hash.as_slice()).collect();
    let places: Vec<i32> = blobs().map(|(_, blob)| blob.position).collect();
    let summary = facts.summary.as_ref().map(SessionSummary::encode);
    #[rustfmt::skip]
    let parameters: [&(dyn ToSql + Sync); 14] = [
        &session, &length, &positions, &lengths, &entries, &heads, &bytes, &numbers, &hashes, &places,
        &parents, &summary, &facts.is_counted, &facts.tip,
    ];
    let insert = link.client.execute(&link.statements.append, &parameters);
    if numbers.is_empty() {
        return insert.await.map(drop);
    }
    // In one order everywhere, so that two transactions do not wait for each other.
    let mut values: Vec<&Blob> = blobs().map(|(_, blob)| blob).collect();
    values.sort_by(|one, other| one.hash.cmp(&other.hash));
    values.dedup_by(|one, other| one.hash == other.hash);
    let hashes: Vec<&[u8]> = values.iter().map(|blob| blob.hash.as_slice()).collect();
    let contents: Vec<&[u8]> = values.iter().map(|blob| blob.bytes.as_slice()).collect();
    let parameters: [&(dyn ToSql + Sync); 2] = [&hashes, &contents];
    let insert_blobs = link.client.execute(&link.statements.blobs, &parameters);
    try_join3(link.client.batch_execute(SHARE), insert_blobs, insert).await.map(drop)
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
        let row = link.client.query_one(insert, &[&name]).await?;
        let (id, log) = (row.get(0), row.get(1));
        if !parts.is_empty() {
            link.client.batch_execute(SHARE).await?;
            if !add_parts(link, id, parts).await? {
                link.client.batch_execute("ROLLBACK").await?;
                return Ok(Created::SourceGone);
            }
        }
        append_and_commit(link, id, length, lines, facts).await?;
        Ok(Created::Done { id, log })
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
    let added = link.client.execute(insert, &[&session, &positions, &lengths, &logs, &sources]).await?;
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
        let kept: Uuid = client.query_one(keep, &[&session, &kept]).await?.get(0);
        client
            .execute("UPDATE offshoot.part SET session = $2 WHERE session = $1", &[&session, &kept])
            .await?;
        let renew = "UPDATE offshoot.session SET log = gen_random_uuid() WHERE id = $1 RETURNING log";
        let log = client.query_one(renew, &[&session]).await?.get(0);
        append_and_commit(link, session, length, lines, facts).await?;
        Ok(log)
    };
    or_roll_back(link, replace).await
}

/// Deletes a session. Lines that forks share stay; lines and large values without another session are deleted, too.
/// Returns false if there is no such session.
pub(crate) async fn delete(link: &Link, name: &str) -> Result<bool, Error> {
    let client = &link.client;
    let delete = async {
        client.batch_execute("BEGIN").await?;
        client.batch_execute(DELETE).await?;
        let find = "SELECT s.id, array_agg(DISTINCT p.source_log) || s.log FROM offshoot.session s \
             LEFT JOIN offshoot.part p ON p.session = s.id WHERE s.name = $1 GROUP BY s.id, s.log";
        let Some(row) = client.query_opt(find, &[&name]).await? else {
            client.batch_execute("ROLLBACK").await?;
            return Ok(false);
        };
        let (id, logs): (Uuid, Vec<Option<Uuid>>) = (row.get(0), row.get(1));
        client.execute("DELETE FROM offshoot.session WHERE id = $1", &[&id]).await?;
        let delete_lines = "WITH gone AS (DELETE FROM offshoot.line l WHERE l.log = ANY ($1) \
             AND NOT EXISTS (SELECT FROM offshoot.session s WHERE s.log = l.log) \
             AND NOT EXISTS (SELECT FROM offshoot.part p WHERE p.source_log = l.log) RETURNING blobs) \
             SELECT array_agg(DISTINCT hash) FROM gone, unnest(gone.blobs) AS b (hash)";
        let hashes: Option<Vec<Vec<u8>>> = client.query_one(delete_lines, &[&logs]).await?.get(0);
        if let Some(hashes) = hashes {
            let delete_blobs = "DELETE FROM offshoot.blob b WHERE b.hash = ANY ($1) \
                 AND NOT EXISTS (SELECT FROM offshoot.line l WHERE l.blobs @> ARRAY[b.hash])";
            client.execute(delete_blobs, &[&hashes]).await?;
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
