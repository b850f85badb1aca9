//! Addresses of databases and sessions: `postgres://user@host/database/session?sslmode=verify-full`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::{Error, Result};

/// The schemes of an address.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The directories in which a server on the same machine has its socket: the first one that exists is used for an address
/// without a host.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The characters that are escaped in the directory of a socket.
const SOCKET: &AsciiSet = &CONTROLS.add(b'/').add(b'%').add(b':').add(b'@').add(b'?').add(b'#').add(b' ');

/// The characters that are escaped in the name of a session.
const NAME: &AsciiSet = &CONTROLS.add(b'/').add(b'%').add(b'?').add(b'#').add(b' ');

/// How long one attempt to connect may take, unless the address sets `connect_timeout`.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address of a database, and of one session in it.
///
/// The first part of the path is the database, the second one the session: `postgres://host/team/SESSION`. All parameters of
/// libpq that the driver knows are accepted, and `sslmode=verify-ca` and `verify-full` with `sslrootcert`. `pool_mode=transaction`
/// names a pooler that gives each transaction another connection to the server.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) tls: TlsMode,
    pub(crate) root_certificate: Option<PathBuf>,
    pub(crate) pool: PoolMode,
    session: Option<String>,
}

/// How a connection is encrypted: the `sslmode` of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// Never.
    Disable,
    /// If the server offers it. The server is not verified, and an attacker on the network can turn encryption off.
    Prefer,
    /// Always. The server is not verified.
    Require,
    /// Always; the certificate of the server must be signed by a known authority.
    VerifyCa,
    /// Always; the certificate of the server must also name its host.
    VerifyFull,
}

/// How a pooler between the program and the server hands out connections: the `pool_mode` of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolMode {
    /// There is no pooler, or it keeps one connection to the server for each client.
    Session,
    /// Each transaction may run on another connection to the server.
    Transaction,
}

impl TlsMode {
    const ALL: [(&str, TlsMode); 5] = [
        ("disable", TlsMode::Disable),
        ("prefer", TlsMode::Prefer),
        ("require", TlsMode::Require),
        ("verify-ca", TlsMode::VerifyCa),
        ("verify-full", TlsMode::VerifyFull),
    ];
}

impl Address {
    /// Returns true if a text is an address of a database rather than a path.
    pub fn is_address(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Reads an address.
    ///
    /// # Errors
    ///
    /// Fails if the text is not an address. The error does not repeat the text, which may contain a password.
    pub fn parse(text: &str) -> Result<Self> {
        let rest = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
        let rest = rest.ok_or_else(|| invalid("it does not begin with postgres://"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (database, session) = path.split_once('/').unwrap_or((path, ""));
        let session = decode(session)?;
        if session.contains('/') && !session.is_empty() {
            return Err(invalid("the name of the session contains a slash"));
        }
        let (mut tls, mut root_certificate, mut others) = (TlsMode::Prefer, None, Vec::new());
        let mut pool = PoolMode::Session;
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=').unwrap_or((parameter, "")) {
                ("sslmode", mode) => {
                    let known = TlsMode::ALL.iter().find(|(name, _)| *name == mode);
                    tls = known
                        .ok_or_else(|| {
                            invalid("sslmode must be disable, prefer, require, verify-ca or verify-full")
                        })?
                        .1;
                }
                ("sslrootcert", path) => root_certificate = Some(PathBuf::from(decode(path)?)),
                ("pool_mode", "session") => pool = PoolMode::Session,
                ("pool_mode", "transaction") => pool = PoolMode::Transaction,
                ("pool_mode", _) => return Err(invalid("pool_mode must be session or transaction")),
                _ => others.push(parameter),
            }
        }
        let plain = format!("postgres://{authority}/{database}?{}", others.join("&"));
        let mut config: Config = plain.parse().map_err(|error| invalid(&chain(&error)))?;
        config.ssl_mode(match tls {
            TlsMode::Disable => tokio_postgres::config::SslMode::Disable,
            TlsMode::Prefer => tokio_postgres::config::SslMode::Prefer,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => {
                tokio_postgres::config::SslMode::Require
            }
        });
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            let socket = SOCKETS.iter().find(|directory| Path::new(directory).is_dir());
            config.host_path(socket.unwrap_or(&SOCKETS[0]));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("offshoot");
        }
        let session = Some(session).filter(|session| !session.is_empty());
        Ok(Self { config, tls, root_certificate, pool, session })
    }

    /// Returns the name of the session, if the address has one.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the name of the session.
    pub(crate) fn required_session(&self) -> Result<&str> {
        self.session().ok_or_else(|| invalid("it names no session"))
    }

    /// Returns the address of a session in the same database.
    pub fn with_session(&self, name: impl Into<String>) -> Self {
        Self { session: Some(name.into()), ..self.clone() }
    }

    /// Returns the address of the database.
    pub fn without_session(&self) -> Self {
        Self { session: None, ..self.clone() }
    }

    /// Returns the password, if the address has one.
    pub fn password(&self) -> Option<String> {
        self.config.get_password().map(|password| String::from_utf8_lossy(password).into_owned())
    }

    /// Sets the password, unless the address has one.
    #[must_use]
    pub fn with_default_password(mut self, password: &str) -> Self {
        if self.config.get_password().is_none() {
            self.config.password(password);
        }
        self
    }

    /// Sets the password that a password file has for this address, unless the address has one.
    ///
    /// Each line is `HOST:PORT:DATABASE:USER:PASSWORD`, where `*` stands for anything and a backslash escapes a colon or a
    /// backslash. The first line that fits counts. The host of a local socket is `localhost`.
    #[must_use]
    pub fn with_password_file(self, text: &str) -> Self {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            _ => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432).to_string();
        let database = self.config.get_dbname().unwrap_or_default().to_owned();
        let user = self.config.get_user().unwrap_or_default().to_owned();
        let wanted = [host, port, database, user];
        let found = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let fields = password_fields(line);
            let [fields @ .., password] = fields.as_slice() else { return None };
            let fits = |(field, wanted): (&String, &String)| field == "*" || field == wanted;
            (fields.len() == wanted.len() && fields.iter().zip(&wanted).all(fits)).then(|| password.clone())
        });
        match found {
            Some(password) => self.with_default_password(&password),
            None => self,
        }
    }

    /// Returns how the connection is encrypted.
    pub fn tls(&self) -> TlsMode {
        self.tls
    }
}

/// Returns the address of a session in a database, without secrets.
pub(crate) fn session_place(database: &str, name: &str) -> String {
    format!("{database}/{}", utf8_percent_encode(name, NAME))
}

/// Writes the address without password and parameters: it is safe to print, and names the database and the session.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{}@", utf8_percent_encode(user, NON_ALPHANUMERIC))?;
        }
        match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            Some(Host::Unix(directory)) => {
                write!(f, "{}", utf8_percent_encode(&directory.to_string_lossy(), SOCKET))?;
            }
            None => {}
        }
        if let Some(port) = self.config.get_ports().first().filter(|port| **port != 5432) {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())?;
        match &self.session {
            Some(session) => f.write_str(&session_place("", session)),
            None => Ok(()),
        }
    }
}

/// The same as [`Display`](fmt::Display): a password never reaches a log.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Splits a line of a password file at its colons.
fn password_fields(line: &str) -> Vec<String> {
    let (mut fields, mut characters) = (vec![String::new()], line.chars());
    while let Some(character) = characters.next() {
        match character {
            ':' if fields.len() < 5 => fields.push(String::new()),
            character => {
                let character = if character == '\\' { characters.next() } else { Some(character) };
                fields.last_mut().into_iter().for_each(|field| field.extend(character));
            }
        }
    }
    fields
}

fn decode(text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| invalid("it is not UTF-8"))?;
    Ok(decoded.into_owned())
}

fn invalid(reason: &str) -> Error {
    Error::Address { reason: reason.to_owned() }
}

/// Joins an error with its sources.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_database_and_a_session() {
        let address =
            Address::parse("postgres://ann:s3cret@db.example:6432/team/2025-01-02?sslmode=verify-full")
                .unwrap();
        assert_eq!(address.session(), Some("2025-01-02"));
        assert_eq!(address.tls(), TlsMode::VerifyFull);
        assert_eq!(address.to_string(), "postgres://ann@db.example:6432/team/2025-01-02");
        assert!(!format!("{address:?}").contains("s3cret"));
        let socket = Address::parse("postgresql:///team?host=/run/pg&user=ann").unwrap();
        assert_eq!((socket.session(), socket.tls()), (None, TlsMode::Prefer));
        assert_eq!(socket.with_session("one").to_string(), "postgres://ann@%2Frun%2Fpg/team/one");
        let local = Address::parse("postgres:///team").unwrap();
        assert!(matches!(local.config.get_hosts(), [Host::Unix(_)]), "{local}");
    }

    #[test]
    fn a_password_file_gives_the_password_of_the_first_line_that_fits() {
        let file =
            "# comment\ndb.example:5432:other:ann:no\ndb.example:*:team:ann:a\\:b\\\\c:d\n*:*:*:*:last\n";
        let password = |address: &str| Address::parse(address).unwrap().with_password_file(file).password();
        assert_eq!(password("postgres://ann@db.example/team").as_deref(), Some("a:b\\c:d"));
        assert_eq!(password("postgres://bob@db.example/team").as_deref(), Some("last"));
        assert_eq!(password("postgres://ann:own@db.example/team").as_deref(), Some("own"));
    }

    #[test]
    fn a_bad_address_is_refused_without_its_password() {
        for bad in [
            "http://ann:s3cret@host/team",
            "postgres://ann:s3cret@host:port/team",
            "postgres://ann:s3cret@host/team?sslmode=maybe",
            "postgres://ann:s3cret@host/team/a%2Fb",
            "postgres://ann:s3cret@host/team?color=red",
            "postgres://ann:s3cret@host/team?pool_mode=statement",
        ] {
            let error = Address::parse(bad).unwrap_err();
            assert!(!chain(&error).contains("s3cret"), "{error}");
        }
    }
}
