//! The statements of journals.
//!
//! A statement is prepared when a connection uses it for the second time. Behind a pooler that gives each transaction another
//! connection to the server, no statement is prepared: its text goes with each request, which takes as many round trips.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, Statement};

use crate::address::PoolMode;
use crate::connection::Link;

/// A statement and the types of its parameters.
#[derive(Debug)]
pub(crate) struct Sql {
    text: &'static str,
    types: &'static [Type],
}

/// The parameters of a statement.
pub(crate) type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

/// The statements that were used on a connection; none if it was used once.
#[derive(Debug)]
pub(crate) struct Prepared {
    pool: PoolMode,
    statements: Mutex<HashMap<&'static str, Option<Statement>>>,
}

impl Prepared {
    pub(crate) fn new(pool: PoolMode) -> Self {
        Self { pool, statements: Mutex::default() }
    }
}

/// A statement that can be sent at once.
#[derive(Debug)]
pub(crate) struct Ready<'l> {
    link: &'l Link,
    sql: &'static Sql,
    prepared: Option<Statement>,
}

impl Link {
    /// Returns a statement that can be sent at once, after preparing it if it was used before.
    pub(crate) async fn ready(&self, sql: &'static Sql) -> Result<Ready<'_>, Error> {
        if self.prepared.pool == PoolMode::Transaction {
            return Ok(Ready { link: self, sql, prepared: None });
        }
        let statements = || self.prepared.statements.lock().unwrap_or_else(PoisonError::into_inner);
        let known = statements().get(sql.text).cloned();
        let prepared = match known {
            Some(Some(statement)) => Some(statement),
            Some(None) => Some(self.client.prepare_typed(sql.text, sql.types).await?),
            None => None,
        };
        statements().insert(sql.text, prepared.clone());
        Ok(Ready { link: self, sql, prepared })
    }

    /// Runs a statement, and returns its rows.
    pub(crate) async fn query(
        &self,
        sql: &'static Sql,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        self.ready(sql).await?.query(parameters).await
    }

    /// Runs a statement, and returns its first row, if it has one.
    pub(crate) async fn query_opt(
        &self,
        sql: &'static Sql,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, Error> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }
}

impl Ready<'_> {
    /// Runs the statement, and returns its rows. The first poll sends it.
    pub(crate) async fn query(&self, parameters: Parameters<'_>) -> Result<Vec<Row>, Error> {
        let client = &self.link.client;
        match &self.prepared {
            Some(statement) => client.query(statement, parameters).await,
            None => client.query_typed(self.sql.text, &typed(self.sql, parameters)).await,
        }
    }

    /// Runs the statement, and returns the number of rows that it changed. The first poll sends it.
    pub(crate) async fn execute(&self, parameters: Parameters<'_>) -> Result<u64, Error> {
        let client = &self.link.client;
        match &self.prepared {
            Some(statement) => client.execute(statement, parameters).await,
            None => client.execute_typed(self.sql.text, &typed(self.sql, parameters)).await,
        }
    }
}

fn typed<'p>(sql: &Sql, parameters: Parameters<'p>) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    parameters.iter().copied().zip(sql.types.iter().cloned()).collect()
}

/// The large values of the line `l`, in order.
macro_rules! blobs {
    () => {
        "CASE WHEN l.blobs IS NOT NULL THEN ARRAY(SELECT b.bytes FROM unnest(l.blobs) WITH ORDINALITY AS h (hash, place) \
         JOIN offshoot.blob b ON b.hash = h.hash ORDER BY h.place) END"
    };
}

/// The ranges of logs that make up a range of a session.
macro_rules! ranges {
    () => {
        "unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS r (log, start, stop, shift)"
    };
}

/// The last line of an entry in the ranges `r`: its place in the session, its place in the database, and its parent.
macro_rules! last_line {
    ($entry:literal) => {
        concat!(
            "SELECT l.position + r.shift AS place, l.log, l.position, l.parent FROM r JOIN offshoot.line l \
             ON l.log = r.log AND l.entry = ",
            $entry,
            " AND l.position >= r.start AND l.position < r.stop ORDER BY 1 DESC LIMIT 1"
        )
    };
}

/// Moves the end of a session, unless it or the facts changed since they were read: facts change without it only when branches
/// are counted. The parameters that both ways to append have come first.
macro_rules! grown {
    () => {
        "WITH grown AS (UPDATE offshoot.session SET length = $3, changed = clock_timestamp(), summary = $4, \
         is_counted = $5, tip = $6 WHERE id = $1 AND length = $2 AND log = $7 AND is_counted = $8 \
         RETURNING tenant, log) "
    };
}

pub(crate) static FIND: Sql = Sql {
    text: "SELECT id, log, length, summary, is_counted, tip FROM offshoot.session WHERE name = $1",
    types: &[Type::TEXT],
};

pub(crate) static PARTS: Sql = Sql {
    text: "SELECT p.position, p.length, p.source_log, p.source_position, p.session FROM offshoot.session s \
           JOIN offshoot.part p ON p.session = s.id WHERE s.name = $1 ORDER BY p.position",
    types: &[Type::TEXT],
};

pub(crate) static LENGTH: Sql =
    Sql { text: "SELECT length, log FROM offshoot.session WHERE id = $1", types: &[Type::UUID] };

/// Appends one line without large values.
pub(crate) static APPEND_LINE: Sql = Sql {
    text: concat!(
        grown!(),
        "INSERT INTO offshoot.line (tenant, log, position, length, entry, parent, head, line) \
         SELECT tenant, log, $2, ($3 - $2)::integer, $9, $10, $11, $12 FROM grown"
    ),
    types: &[
        Type::UUID,
        Type::INT8,
        Type::INT8,
        Type::BYTEA,
        Type::BOOL,
        Type::BYTEA,
        Type::UUID,
        Type::BOOL,
        Type::BYTEA,
        Type::BYTEA,
        Type::BYTEA,
        Type::BYTEA,
    ],
};

/// Appends lines, and where their large values are.
pub(crate) static APPEND: Sql = Sql {
    text: concat!(
        grown!(),
        "INSERT INTO offshoot.line (tenant, log, position, length, entry, parent, head, line, blobs, blob_positions) \
         SELECT grown.tenant, grown.log, n.position, n.length, n.entry, n.parent, n.head, n.line, b.hashes, b.positions \
         FROM grown, unnest($9::bigint[], $10::integer[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bytea[]) \
         WITH ORDINALITY AS n (position, length, entry, parent, head, line, number) \
         LEFT JOIN (SELECT number, array_agg(hash ORDER BY position) AS hashes, \
         array_agg(position ORDER BY position) AS positions \
         FROM unnest($15::bigint[], $16::bytea[], $17::integer[]) AS b (number, hash, position) \
         GROUP BY number) b USING (number)"
    ),
    types: &[
        Type::UUID,
        Type::INT8,
        Type::INT8,
        Type::BYTEA,
        Type::BOOL,
        Type::BYTEA,
        Type::UUID,
        Type::BOOL,
        Type::INT8_ARRAY,
        Type::INT4_ARRAY,
        Type::BYTEA_ARRAY,
        Type::BYTEA_ARRAY,
        Type::BYTEA_ARRAY,
        Type::BYTEA_ARRAY,
        Type::INT8_ARRAY,
        Type::BYTEA_ARRAY,
        Type::INT4_ARRAY,
    ],
};

pub(crate) static ADD_BLOBS: Sql = Sql {
    text: "INSERT INTO offshoot.blob (hash, bytes) SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
           ON CONFLICT DO NOTHING",
    types: &[Type::BYTEA_ARRAY, Type::BYTEA_ARRAY],
};

const RANGES: [Type; 4] = [Type::UUID_ARRAY, Type::INT8_ARRAY, Type::INT8_ARRAY, Type::INT8_ARRAY];
const RANGES_AND_ENTRIES: [Type; 5] =
    [Type::UUID_ARRAY, Type::INT8_ARRAY, Type::INT8_ARRAY, Type::INT8_ARRAY, Type::BYTEA_ARRAY];

/// Reads lines. `OFFSET 0` makes the first position a value that the index can use. The line that contains the start of a range may begin before it. The last line before the range may also be far
/// away, because other logs can hold the lines between.
pub(crate) static READ: Sql = Sql {
    text: concat!(
        "SELECT l.position + r.shift, l.line, l.blob_positions, ",
        blobs!(),
        " FROM ",
        ranges!(),
        " CROSS JOIN LATERAL (SELECT coalesce((SELECT max(f.position) FROM offshoot.line f \
         WHERE f.log = r.log AND f.position <= r.start), 0) AS position OFFSET 0) first \
         JOIN offshoot.line l ON l.log = r.log AND l.position < r.stop AND l.position >= first.position \
         AND l.position + l.length > r.start ORDER BY 1"
    ),
    types: &RANGES,
};

/// Reads the heads of the lines that are in no pack.
pub(crate) static LOOSE_HEADS: Sql = Sql {
    text: concat!(
        "SELECT l.position + r.shift, l.length, coalesce(l.head, l.line) FROM ",
        ranges!(),
        " CROSS JOIN LATERAL (SELECT greatest(r.start, (SELECT p.stop FROM offshoot.pack p WHERE p.log = r.log \
         ORDER BY p.position DESC LIMIT 1)) AS position OFFSET 0) first \
         JOIN offshoot.line l ON l.log = r.log AND l.position < r.stop AND l.position >= first.position ORDER BY 1"
    ),
    types: &RANGES,
};

/// Reads the packs that have lines of the ranges.
pub(crate) static PACKS: Sql = Sql {
    text: concat!(
        "SELECT r.start, r.stop, r.shift, p.heads FROM ",
        ranges!(),
        " JOIN offshoot.pack p ON p.log = r.log AND p.position < r.stop AND p.stop > r.start"
    ),
    types: &RANGES,
};

/// Packs the heads of the lines behind the last pack. Each has its position, its length, the length of its head, and its head.
pub(crate) static PACK: Sql = Sql {
    text: "INSERT INTO offshoot.pack (log, position, stop, heads) \
           SELECT $1, min(l.position), max(l.position + l.length), \
           string_agg(int8send(l.position) || int4send(l.length) || int4send(octet_length(coalesce(l.head, l.line))) \
           || coalesce(l.head, l.line), '' ORDER BY l.position) \
           FROM offshoot.line l WHERE l.log = $1 AND l.position >= coalesce( \
           (SELECT p.stop FROM offshoot.pack p WHERE p.log = $1 ORDER BY p.position DESC LIMIT 1), 0) \
           HAVING count(*) >= $2 ON CONFLICT DO NOTHING",
    types: &[Type::UUID, Type::INT8],
};

/// Reads the last line of each entry.
pub(crate) static LINES: Sql = Sql {
    text: concat!(
        "SELECT DISTINCT ON (l.entry) l.entry, l.line, l.blob_positions, ",
        blobs!(),
        " FROM ",
        ranges!(),
        " JOIN offshoot.line l ON l.log = r.log AND l.position < r.stop AND l.position >= r.start \
         AND l.entry = ANY ($5) ORDER BY l.entry, l.position + r.shift DESC"
    ),
    types: &RANGES_AND_ENTRIES,
};

/// Walks from entries to the root. UNION ends a circle of parents.
pub(crate) static PATHS: Sql = Sql {
    text: concat!(
        "WITH RECURSIVE r AS MATERIALIZED (SELECT * FROM ",
        ranges!(),
        "), path AS (\
         SELECT a.* FROM unnest($5::bytea[]) AS w (entry) CROSS JOIN LATERAL (",
        last_line!("w.entry"),
        ") a UNION SELECT a.* FROM path p CROSS JOIN LATERAL (",
        last_line!("p.parent"),
        ") a), places AS (SELECT place, log, position FROM path UNION \
         SELECT r.start + r.shift, r.log, r.start FROM r WHERE r.start + r.shift = 0) \
         SELECT l.line, l.blob_positions, ",
        blobs!(),
        " FROM places p JOIN offshoot.line l ON l.log = p.log AND l.position = p.position ORDER BY p.place"
    ),
    types: &RANGES_AND_ENTRIES,
};
