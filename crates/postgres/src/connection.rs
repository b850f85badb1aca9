//! A connection that blocking code can use, also inside an async runtime.
//!
//! One background thread runs all connections of the process. A caller hands it a future and waits for the result on a
//! channel, so the engine needs no runtime, and works inside the runtime of a caller.

use std::fs::File;
use std::future::Future;
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, TlsMode};
use crate::error::{Error, Result};
use crate::schema;

/// How long a lost connection is tried again.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long the first connection is tried: the address may be wrong.
const FIRST_PATIENCE: Duration = Duration::from_secs(3);
/// The first pause between two attempts; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A connection to a database that is opened again when it was lost.
#[derive(Debug)]
pub(crate) struct Connection {
    address: Address,
    /// The name of the database in messages.
    database: String,
    link: Mutex<Option<Arc<Link>>>,
    was_connected: AtomicBool,
    patience: Duration,
}

/// One connection to the server, and the statements prepared on it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) statements: Statements,
}

/// The statements of journals.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) find: Statement,
    pub(crate) length: Statement,
    pub(crate) parts: Statement,
    pub(crate) read: Statement,
    pub(crate) index: Statement,
    pub(crate) lines: Statement,
    pub(crate) paths: Statement,
    pub(crate) append: Statement,
    pub(crate) blobs: Statement,
}

impl Connection {
    pub(crate) fn new(address: Address) -> Self {
        let database = address.without_session().to_string();
        Self {
            address,
            database,
            link: Mutex::new(None),
            was_connected: AtomicBool::new(false),
            patience: PATIENCE,
        }
    }

    /// Sets how long a lost connection is tried again.
    pub(crate) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the name of the database in messages.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// Runs a request. After a lost connection it connects again, and repeats the request if `is_repeatable`.
    pub(crate) fn run<T, F>(&self, is_repeatable: bool, request: impl Fn(Arc<Link>) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        let was_connected = self.was_connected.load(Ordering::Relaxed);
        let deadline = Instant::now() + if was_connected { self.patience } else { FIRST_PATIENCE };
        loop {
            let link = self.link(deadline)?;
            let error = match block_on(request(Arc::clone(&link)))? {
                Ok(value) => return Ok(value),
                Err(error) => Error::of(&self.database, &error),
            };
            if !error.is_connection() && !link.client.is_closed() {
                return Err(error);
            }
            self.forget(&link);
            if !is_repeatable || Instant::now() >= deadline {
                return Err(error);
            }
        }
    }

    /// Returns the open connection, or opens a new one.
    fn link(&self, deadline: Instant) -> Result<Arc<Link>> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = link.as_ref().filter(|link| !link.client.is_closed()) {
            return Ok(Arc::clone(open));
        }
        let mut pause = FIRST_PAUSE;
        loop {
            match block_on(connect(self.address.clone(), self.database.clone()))? {
                Ok(new) => {
                    self.was_connected.store(true, Ordering::Relaxed);
                    return Ok(Arc::clone(link.insert(Arc::new(new))));
                }
                Err(error) if !error.is_connection() || Instant::now() + pause >= deadline => {
                    return Err(error);
                }
                Err(_) => std::thread::sleep(pause),
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Closes the connection, and with it a transaction that is open on it.
    pub(crate) fn close(&self) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn forget(&self, lost: &Arc<Link>) {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if link.as_ref().is_some_and(|link| Arc::ptr_eq(link, lost)) {
            *link = None;
        }
    }
}

/// Runs a future on the background thread, and waits for its result.
pub(crate) fn block_on<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Result<T> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build()
    });
    let runtime = runtime.as_ref().map_err(|error| Error::Thread { reason: error.to_string() })?;
    let (send, receive) = mpsc::sync_channel(1);
    runtime.spawn(async move { drop(send.send(future.await)) });
    receive.recv().map_err(|error| Error::Thread { reason: error.to_string() })
}

/// Connects without looking at the schema.
pub(crate) async fn connect_bare(address: Address, database: String) -> Result<Client> {
    let failed = |error: &tokio_postgres::Error| Error::of(&database, error);
    let tls = MakeRustlsConnect::new(
        tls_config(&address)
            .map_err(|error| Error::Connection { database: database.clone(), reason: error.to_string() })?,
    );
    let (client, connection) = address.config.connect(tls).await.map_err(|error| failed(&error))?;
    // Ends when the client is dropped, or when the server is gone; requests report that.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

async fn connect(address: Address, database: String) -> Result<Link> {
    let client = connect_bare(address, database.clone()).await?;
    let failed = |error: tokio_postgres::Error| Error::of(&database, &error);
    schema::check(&client, &database).await?;
    // Row-level security applies to this role even if a superuser logged in.
    client.batch_execute("SET ROLE offshoot_app").await.map_err(failed)?;
    schema::check_tenant(&client, &database).await?;
    let statements = Statements::prepare(&client).await.map_err(failed)?;
    Ok(Link { client, statements })
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

impl Statements {
    async fn prepare(client: &Client) -> Result<Self, tokio_postgres::Error> {
        let (find, length, parts, append) = futures_util::future::try_join4(
            client.prepare("SELECT id, log FROM offshoot.session WHERE name = $1"),
            client.prepare("SELECT length, log FROM offshoot.session WHERE id = $1"),
            client.prepare(
                "SELECT position, length, source_log, source_position FROM offshoot.part WHERE session = $1 \
                 ORDER BY position",
            ),
            client.prepare(
                "WITH grown AS (UPDATE offshoot.session SET length = $2, changed = clock_timestamp(), summary = $12, \
                 is_counted = $13, tip = $14 WHERE id = $1 RETURNING log) \
                 INSERT INTO offshoot.line (log, position, length, entry, parent, head, line, blobs, blob_positions) \
                 SELECT grown.log, n.position, n.length, n.entry, n.parent, n.head, n.line, b.hashes, b.positions \
                 FROM grown, unnest($3::bigint[], $4::integer[], $5::bytea[], $6::bytea[], $7::bytea[], $11::bytea[]) \
                 WITH ORDINALITY AS n (position, length, entry, head, line, parent, number) \
                 LEFT JOIN (SELECT number, array_agg(hash ORDER BY position) AS hashes, \
                 array_agg(position ORDER BY position) AS positions \
                 FROM unnest($8::bigint[], $9::bytea[], $10::integer[]) AS b (number, hash, position) \
                 GROUP BY number) b USING (number)",
            ),
        )
        .await?;
        let (read, index, lines, blobs, paths) = futures_util::future::try_join5(
            // The line that contains the start of a range may begin before it. The last line before the range may also be
            // far away, because other logs can hold the lines between.
            client.prepare(concat!(
                "SELECT l.position + r.shift, l.line, l.blob_positions, ",
                blobs!(),
                " FROM ",
                ranges!(),
                " JOIN offshoot.line l ON l.log = r.log AND l.position < r.stop AND l.position >= \
                 coalesce((SELECT max(f.position) FROM offshoot.line f WHERE f.log = r.log AND f.position <= r.start), 0) \
                 AND l.position + l.length > r.start ORDER BY 1"
            )),
            client.prepare(concat!(
                "SELECT l.position + r.shift, l.length, coalesce(l.head, l.line) FROM ",
                ranges!(),
                " JOIN offshoot.line l ON l.log = r.log AND l.position < r.stop AND l.position >= r.start ORDER BY 1"
            )),
            client.prepare(concat!(
                "SELECT DISTINCT ON (l.entry) l.entry, l.line, l.blob_positions, ",
                blobs!(),
                " FROM ",
                ranges!(),
                " JOIN offshoot.line l ON l.log = r.log AND l.position < r.stop AND l.position >= r.start \
                 AND l.entry = ANY ($5) ORDER BY l.entry, l.position + r.shift DESC"
            )),
            client.prepare(
                "INSERT INTO offshoot.blob (hash, bytes) SELECT * FROM unnest($1::bytea[], $2::bytea[]) \
                 ON CONFLICT DO NOTHING",
            ),
            // Walks from entries to the root. UNION ends a circle of parents.
            client.prepare(concat!(
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
            )),
        )
        .await?;
        Ok(Self { find, length, parts, read, index, lines, paths, append, blobs })
    }
}

/// Returns the settings of TLS for an address.
fn tls_config(address: &Address) -> io::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let verifier: Arc<dyn ServerCertVerifier> = match address.tls {
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => Arc::new(Verifier { provider, roots: None }),
        TlsMode::VerifyCa => Arc::new(Verifier { provider, roots: Some(roots(address)?) }),
        TlsMode::VerifyFull => {
            let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(address)?), provider);
            builder.build().map_err(io::Error::other)?
        }
    };
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Reads the certificates of the authorities: those of `sslrootcert`, else those of the system.
fn roots(address: &Address) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match &address.root_certificate {
        Some(path) => {
            let mut text = Vec::new();
            BufReader::new(File::open(path)?).read_to_end(&mut text)?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
            }
        }
        None => {
            let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        Err(io::Error::other("there is no certificate of an authority"))
    } else {
        Ok(roots)
    }
}

/// Verifies less than rustls does by default: the authority only, or nothing, as `sslmode` says.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    roots: Option<RootCertStore>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(certificate)?;
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
