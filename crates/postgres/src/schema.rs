//! The tables of the database: creating, migrating and checking them.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::address::{Address, PoolMode};
use crate::connection::{Link, with_link};
use crate::error::{Error, Result};

/// The statements that create the roles and the schema.
const ROLES: &str = include_str!("../migrations/roles.sql");

/// The statements of each version, from version 1 on. Each runs in one transaction.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001.sql")];

/// The version of the tables that this program uses.
pub const VERSION: i32 = MIGRATIONS.len() as i32;

/// Two programs that migrate at the same time wait for each other with this lock.
const MIGRATION_LOCK: i64 = 0x6f66_6673_686f_6f74;

/// The state of the tables in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The version of the tables; none before [`init`].
    pub version: Option<i32>,
    /// The role that logged in.
    pub role: String,
    /// The tenant of this role.
    pub tenant: Option<String>,
    /// The version of the server.
    pub server: String,
}

/// Creates the roles and tables if they are missing, and makes a login role a member of a tenant.
///
/// The role of the address must be allowed to create roles and schemas. `role` is the login role that works with the
/// sessions of the tenant; by default that of the address. Both are created if they do not exist yet: a new role has no
/// password.
///
/// # Errors
///
/// Fails if the tables are newer than this program, or the server refuses a statement. Nothing has changed then.
pub fn init(address: &Address, tenant: &str, role: Option<&str>) -> Result<Status> {
    let (tenant, role) = (tenant.to_owned(), role.map(str::to_owned));
    let database = address.without_session().to_string();
    with_link(address, |link| async move {
        let client = &link.client;
        let failed = |error: tokio_postgres::Error| Error::of(&database, &error);
        begin(client, &database).await?;
        if version(client, &database).await?.is_none() {
            client.batch_execute(ROLES).await.map_err(failed)?;
        }
        apply(client, &database).await?;
        client.batch_execute("RESET ROLE").await.map_err(failed)?;
        if let Some(role) = &role {
            let exists = client
                .query_typed_opt("SELECT FROM pg_roles WHERE rolname = $1", &[(role, Type::TEXT)])
                .await
                .map_err(failed)?;
            if exists.is_none() {
                client.batch_execute(&format!("CREATE ROLE {} LOGIN", quote(role))).await.map_err(failed)?;
            }
            client.batch_execute(&format!("GRANT offshoot_app TO {}", quote(role))).await.map_err(failed)?;
        }
        client.batch_execute("SET LOCAL ROLE offshoot_owner").await.map_err(failed)?;
        let add_tenant = "INSERT INTO offshoot.tenant (name) VALUES ($1) ON CONFLICT DO NOTHING";
        client.execute_typed(add_tenant, &[(&tenant, Type::TEXT)]).await.map_err(failed)?;
        let add_member = "INSERT INTO offshoot.member (role, tenant) \
             SELECT coalesce($1::text, session_user::text)::name, id FROM offshoot.tenant WHERE name = $2 \
             ON CONFLICT (role) DO UPDATE SET tenant = excluded.tenant";
        client
            .execute_typed(add_member, &[(&role, Type::TEXT), (&tenant, Type::TEXT)])
            .await
            .map_err(failed)?;
        client.batch_execute("COMMIT").await.map_err(failed)?;
        read_status(client, &database).await
    })
}

/// Brings the tables to the version of this program.
///
/// # Errors
///
/// Fails if there are no tables, if they are newer than this program, or if the server refuses a statement. Nothing has
/// changed then.
pub fn migrate(address: &Address) -> Result<Status> {
    let database = address.without_session().to_string();
    with_link(address, |link| async move {
        let client = &link.client;
        begin(client, &database).await?;
        if version(client, &database).await?.is_none() {
            return Err(Error::NoSchema { database });
        }
        apply(client, &database).await?;
        client.batch_execute("COMMIT").await.map_err(|error| Error::of(&database, &error))?;
        read_status(client, &database).await
    })
}

/// Returns the state of the tables.
///
/// # Errors
///
/// Fails if the database cannot be reached.
pub fn status(address: &Address) -> Result<Status> {
    let database = address.without_session().to_string();
    with_link(address, |link| async move { read_status(&link.client, &database).await })
}

async fn begin(client: &Client, database: &str) -> Result<()> {
    let statements = format!("BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})");
    client.batch_execute(&statements).await.map_err(|error| Error::of(database, &error))
}

/// Applies the migrations that are missing, as the role that owns the tables.
async fn apply(client: &Client, database: &str) -> Result<()> {
    let failed = |error: tokio_postgres::Error| Error::of(database, &error);
    client.batch_execute("SET LOCAL ROLE offshoot_owner").await.map_err(failed)?;
    let found = version(client, database).await?.unwrap_or(0);
    if found > VERSION {
        return Err(Error::SchemaVersion { database: database.to_owned(), found, expected: VERSION });
    }
    for (statements, version) in MIGRATIONS.iter().zip(1..).skip(found as usize) {
        client.batch_execute(statements).await.map_err(failed)?;
        let note = "INSERT INTO offshoot.schema_version (version) VALUES ($1)";
        client.execute_typed(note, &[(&version, Type::INT4)]).await.map_err(failed)?;
    }
    Ok(())
}

/// Returns the version of the tables: 0 if the schema exists without tables, none without a schema.
async fn version(client: &Client, database: &str) -> Result<Option<i32>> {
    let failed = |error: tokio_postgres::Error| Error::of(database, &error);
    let exists = client
        .query_typed_one("SELECT to_regnamespace('offshoot') IS NOT NULL", &[])
        .await
        .map_err(failed)?;
    if !exists.get::<_, bool>(0) {
        return Ok(None);
    }
    let row =
        client.query_typed_one("SELECT coalesce(max(version), 0) FROM offshoot.schema_version", &[]).await;
    Ok(Some(row.map_err(failed)?.get(0)))
}

/// Fails unless the tables have the version of this program, and the role that logged in belongs to a tenant.
pub(crate) async fn check(link: &Link, database: &str, pool: PoolMode) -> Result<()> {
    let statement = "SELECT coalesce(max(version), 0), offshoot.current_tenant() IS NOT NULL, session_user::text, \
         (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user) FROM offshoot.schema_version";
    let row =
        link.client.query_typed_one(statement, &[]).await.map_err(|error| Error::of(database, &error))?;
    let (found, has_tenant, sees_all): (i32, bool, bool) = (row.get(0), row.get(1), row.get(3));
    let database = database.to_owned();
    if found != VERSION {
        return Err(Error::SchemaVersion { database, found, expected: VERSION });
    }
    if !has_tenant {
        return Err(Error::NoTenant { database, role: row.get(2) });
    }
    if sees_all && pool == PoolMode::Transaction {
        let reason = "behind a pooler, a role that sees the rows of all tenants cannot be used".to_owned();
        return Err(Error::Refused { database, reason });
    }
    Ok(())
}

async fn read_status(client: &Client, database: &str) -> Result<Status> {
    let failed = |error: tokio_postgres::Error| Error::of(database, &error);
    let version = version(client, database).await?;
    let row =
        client.query_typed_one("SELECT session_user::text, current_setting('server_version')", &[]).await;
    let row = row.map_err(failed)?;
    let tenant = match version {
        Some(1..) => {
            let row =
                client.query_typed_one("SELECT offshoot.current_tenant_name()", &[]).await.map_err(failed)?;
            row.get(0)
        }
        _ => None,
    };
    Ok(Status { version, role: row.get(0), tenant, server: row.get(1) })
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
