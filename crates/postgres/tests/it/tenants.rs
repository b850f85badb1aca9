//! Tenants see nothing of each other.

use session_tree::journal::ReadAt;
use session_tree::{Message, Options};
use session_tree_postgres::{Address, Error, PostgresJournal, init};

use crate::server;

/// A database with the tenants `a` and `b`, whose roles are named after it; a session of `a`.
struct TwoTenants {
    database: String,
    a: String,
    b: String,
}

impl TwoTenants {
    fn new() -> Self {
        let text = server().database();
        let database = text.trim_start_matches("postgres:///").split('?').next().unwrap().to_owned();
        let owner = Address::parse(&text).unwrap();
        let (a, b) = (format!("{database}_a"), format!("{database}_b"));
        init(&owner, "a", Some(&a)).unwrap();
        init(&owner, "b", Some(&b)).unwrap();
        let two = Self { database, a, b };
        let journal = PostgresJournal::create(&two.address(&two.a, "secret")).unwrap();
        let mut session = Options::new().create_journal(journal, "/project").unwrap();
        session.append(Message::user("the plan of a")).unwrap();
        two
    }

    fn address(&self, role: &str, session: &str) -> Address {
        Address::parse(&server().address(role, &self.database)).unwrap().with_session(session)
    }

    /// Runs statements as a login role, in one connection.
    fn sql_as(&self, role: &str, statements: &str) -> Result<String, String> {
        server().sql_as(role, &self.database, statements)
    }
}

#[test]
fn another_tenant_finds_no_session_and_may_use_the_same_name() {
    let two = TwoTenants::new();
    let address = two.address(&two.b, "secret");
    assert!(matches!(PostgresJournal::open(&address), Err(Error::NoSession { .. })));
    let mut session =
        Options::new().create_journal(PostgresJournal::create(&address).unwrap(), "/project").unwrap();
    session.append(Message::user("the plan of b")).unwrap();
    for (role, plan) in [(&two.a, "the plan of a"), (&two.b, "the plan of b")] {
        let journal = PostgresJournal::open(&two.address(role, "secret")).unwrap();
        let session = Options::new().open_journal(journal).unwrap();
        assert_eq!(session.context().unwrap().messages().next().unwrap().text(), plan);
    }
}

#[test]
fn no_statement_of_another_tenant_reaches_a_row() {
    let two = TwoTenants::new();
    let row = server().sql(&two.database, "SELECT tenant, id FROM offshoot.session").unwrap();
    let (tenant, id) = row.split_once('|').unwrap();
    let log = server().sql(&two.database, "SELECT log FROM offshoot.session").unwrap();
    for (statement, expected) in [
        ("SELECT count(*) FROM offshoot.session", "0"),
        ("SELECT count(*) FROM offshoot.line", "0"),
        ("WITH gone AS (DELETE FROM offshoot.session RETURNING 1) SELECT count(*) FROM gone", "0"),
        ("WITH new AS (UPDATE offshoot.line SET line = '' RETURNING 1) SELECT count(*) FROM new", "0"),
        ("SELECT count(*) FROM offshoot.line WHERE line LIKE '%plan%'", "0"),
        ("SELECT count(*) FROM offshoot.blob", "0"),
        ("SELECT count(*) FROM offshoot.part", "0"),
        ("SELECT count(*) FROM offshoot.pack", "0"),
        ("SELECT count(*) FROM offshoot.own_tenant", "1"),
    ] {
        assert_eq!(two.sql_as(&two.b, statement).as_deref(), Ok(expected), "{statement}");
    }
    // A part of the session of another tenant is refused with the same words as one of a session that does not exist.
    let insert = |session: &str| {
        let statement = format!(
            "INSERT INTO offshoot.part (session, position, length, source_log, source_position) \
             VALUES ('{session}', 0, 0, '{session}', 0)"
        );
        two.sql_as(&two.b, &statement).unwrap_err().replace(session, "ID")
    };
    assert_eq!(insert(id), insert("00000000-0000-4000-8000-000000000000"));
    // A part of the log of another tenant shows nothing of it.
    let spy = format!(
        "INSERT INTO offshoot.session (name, length) VALUES ('spy', 1000); \
         INSERT INTO offshoot.part (session, position, length, source_log, source_position) \
         SELECT id, 0, 1000, '{log}', 0 FROM offshoot.session WHERE name = 'spy'"
    );
    two.sql_as(&two.b, &spy).unwrap();
    let mut bytes = [0; 100];
    assert_eq!(
        PostgresJournal::open(&two.address(&two.b, "spy")).unwrap().read_at(0, &mut bytes).unwrap(),
        0
    );
    let foreign = format!("INSERT INTO offshoot.session (tenant, name, length) VALUES ({tenant}, 'x', 0)");
    assert!(two.sql_as(&two.b, &foreign).unwrap_err().contains("row-level security"));
    for statement in [
        "SELECT * FROM offshoot.tenant",
        "SELECT * FROM offshoot.member",
        "INSERT INTO offshoot.member VALUES (session_user, 1)",
        "UPDATE offshoot.own_tenant SET tenant = 1",
        "INSERT INTO offshoot.own_tenant VALUES (1)",
        "ALTER TABLE offshoot.session DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON offshoot.session",
        "CREATE TABLE offshoot.mine ()",
        "CREATE OR REPLACE FUNCTION offshoot.current_tenant() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    ] {
        assert!(two.sql_as(&two.b, statement).is_err(), "{statement}");
    }
    assert_eq!(server().sql(&two.database, "SELECT count(*) FROM offshoot.line").unwrap(), "2");
}

#[test]
fn no_setting_changes_the_tenant() {
    let two = TwoTenants::new();
    let count = "SELECT count(*) FROM offshoot.session";
    for setting in [
        "SET row_security = off".to_owned(),
        "SET search_path = pg_temp, public, offshoot".to_owned(),
        "SET app.tenant = '1'".to_owned(),
        "SET offshoot.tenant = '1'".to_owned(),
        "SET lock_timeout = 0".to_owned(),
        "SET application_name = 'a'".to_owned(),
        "SET default_transaction_read_only = off".to_owned(),
        "SET ROLE offshoot_app".to_owned(),
        "SET ROLE offshoot_owner".to_owned(),
        format!("SET ROLE {}", two.a),
        format!("SET SESSION AUTHORIZATION {}", two.a),
        "CREATE TEMP TABLE member (role name, tenant integer); \
         INSERT INTO member VALUES (session_user, 1); SET search_path = pg_temp, offshoot"
            .to_owned(),
    ] {
        match two.sql_as(&two.b, &format!("{setting}; {count}")) {
            Ok(seen) => assert_eq!(seen, "0", "{setting}"),
            Err(error) => assert!(!error.contains("plan"), "{setting}: {error}"),
        }
    }
}

#[test]
fn a_role_without_a_tenant_is_told_so() {
    let two = TwoTenants::new();
    let stranger = format!("{}_stranger", two.database);
    let statements = format!("CREATE ROLE {stranger} LOGIN; GRANT offshoot_app TO {stranger}");
    server().sql(&two.database, &statements).unwrap();
    let refused = PostgresJournal::open(&two.address(&stranger, "secret")).unwrap_err();
    assert!(matches!(refused, Error::NoTenant { .. }), "{refused}");
}

#[test]
fn the_role_of_the_application_owns_nothing() {
    let two = TwoTenants::new();
    let owned = "SELECT count(*) FROM pg_class WHERE relowner = 'offshoot_app'::regrole";
    assert_eq!(server().sql(&two.database, owned).unwrap(), "0");
    let forced = "SELECT count(*) FROM pg_class WHERE relnamespace = 'offshoot'::regnamespace AND relkind = 'r' \
         AND relname IN ('session', 'line', 'pack', 'part', 'blob') AND relforcerowsecurity";
    assert_eq!(server().sql(&two.database, forced).unwrap(), "5");
}
