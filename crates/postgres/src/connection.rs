//! A connection that blocking code can use, also inside an async runtime.
//!
//! The thread that waits for a request also reads and writes the socket, so a request needs no other thread. Inside the runtime
//! of a caller, which must not be blocked by a second one, a thread is started for the request.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::try_join;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, PoolMode};
use crate::error::{Error, Result};
use crate::journal::LOCK_WAIT;
use crate::schema;
use crate::statements::Prepared;
use crate::tls::tls_config;

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
    state: Mutex<State>,
    was_connected: AtomicBool,
    patience: Duration,
}

/// The fields are dropped in this order: the socket belongs to the reactor.
#[derive(Debug, Default)]
struct State {
    link: Option<Arc<Link>>,
    reactor: Option<Reactor>,
}

/// One connection to the server, and the statements prepared on it.
pub(crate) struct Link {
    pub(crate) client: Client,
    pub(crate) prepared: Prepared,
    /// Reads and writes the socket; none after the end of the connection.
    socket: Mutex<Option<Socket>>,
}

type Socket = Pin<Box<dyn Future<Output = ()> + Send>>;

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Link {
    /// Runs a request, and reads and writes the socket meanwhile.
    async fn drive<T>(&self, request: impl Future<Output = T>) -> T {
        let mut request = pin!(request);
        poll_fn(|context| match request.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(value),
            Poll::Pending => {
                self.poll_socket(context);
                request.as_mut().poll(context)
            }
        })
        .await
    }

    fn poll_socket(&self, context: &mut Context<'_>) {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        if socket.as_mut().is_some_and(|socket| socket.as_mut().poll(context).is_ready()) {
            *socket = None;
        }
    }

    /// Returns true unless the server has closed the connection since the last request.
    async fn is_open(&self) -> bool {
        // The reactor looks at the sockets in between.
        tokio::task::yield_now().await;
        poll_fn(|context| {
            self.poll_socket(context);
            Poll::Ready(())
        })
        .await;
        !self.client.is_closed()
    }
}

impl Connection {
    pub(crate) fn new(address: Address) -> Self {
        let database = address.without_session().to_string();
        Self {
            address,
            database,
            state: Mutex::default(),
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
    ///
    /// Requests of several threads run one after the other.
    pub(crate) fn run<T, F>(&self, is_repeatable: bool, request: impl Fn(Arc<Link>) -> F) -> Result<T>
    where
        T: Send,
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send,
    {
        let was_connected = self.was_connected.load(Ordering::Relaxed);
        let deadline = Instant::now() + if was_connected { self.patience } else { FIRST_PATIENCE };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { link, reactor } = &mut *state;
        let reactor = match reactor {
            Some(reactor) => reactor,
            None => reactor.insert(Reactor::new()?),
        };
        loop {
            let open = match link.take() {
                Some(open) => open,
                None => self.open(reactor, deadline)?,
            };
            let answer = request(Arc::clone(&open));
            let answer = reactor.block_on(async {
                match open.is_open().await {
                    true => Some(open.drive(answer).await),
                    false => None,
                }
            })?;
            let error = match answer {
                None => continue,
                Some(Ok(value)) => {
                    *link = Some(open);
                    return Ok(value);
                }
                Some(Err(error)) => Error::of(&self.database, &error),
            };
            if !error.is_connection() && !open.client.is_closed() {
                *link = Some(open);
                return Err(error);
            }
            if !is_repeatable || Instant::now() >= deadline {
                return Err(error);
            }
        }
    }

    /// Opens a connection. Tries again until the deadline.
    fn open(&self, reactor: &Reactor, deadline: Instant) -> Result<Arc<Link>> {
        let mut pause = FIRST_PAUSE;
        loop {
            match reactor.block_on(connect(&self.address, &self.database))? {
                Ok(new) => {
                    self.was_connected.store(true, Ordering::Relaxed);
                    return Ok(Arc::new(new));
                }
                Err(error) if !error.is_connection() || Instant::now() + pause >= deadline => {
                    return Err(error);
                }
                Err(_) => thread::sleep(pause),
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Closes the connection, and with it a transaction that is open on it.
    pub(crate) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).link = None;
    }
}

/// Runs futures on the thread that waits for them.
#[derive(Debug)]
struct Reactor(Option<Runtime>);

impl Reactor {
    fn new() -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self(Some(runtime.map_err(|error| Error::Thread { reason: error.to_string() })?)))
    }

    fn block_on<T: Send>(&self, future: impl Future<Output = T> + Send) -> Result<T> {
        let failed = |reason: &str| Error::Thread { reason: reason.to_owned() };
        let runtime = self.0.as_ref().ok_or_else(|| failed("it has ended"))?;
        if Handle::try_current().is_err() {
            return Ok(runtime.block_on(future));
        }
        thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join())
            .map_err(|_| failed("it panicked"))
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        // A runtime that is dropped inside another one would panic, because it waits for its threads.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Connects without looking at the schema, runs `work`, and closes the connection.
pub(crate) fn with_link<T: Send, F>(address: &Address, work: impl FnOnce(Arc<Link>) -> F + Send) -> Result<T>
where
    F: Future<Output = Result<T>> + Send,
{
    let address = address.without_session();
    Reactor::new()?.block_on(async {
        let link = Arc::new(connect_bare(&address, &address.to_string()).await?);
        link.drive(work(Arc::clone(&link))).await
    })?
}

async fn connect_bare(address: &Address, database: &str) -> Result<Link> {
    let tls =
        MakeRustlsConnect::new(tls_config(address).map_err(|error| Error::Connection {
            database: database.to_owned(),
            reason: error.to_string(),
        })?);
    let (client, connection) =
        address.config.connect(tls).await.map_err(|error| Error::of(database, &error))?;
    // It ends when the server is gone; requests report that.
    let socket: Socket = Box::pin(async move { drop(connection.await) });
    Ok(Link { client, prepared: Prepared::new(address.pool), socket: Mutex::new(Some(socket)) })
}

async fn connect(address: &Address, database: &str) -> Result<Link> {
    let link = connect_bare(address, database).await?;
    let check = schema::check(&link, database, address.pool);
    let set_role = async {
        if address.pool == PoolMode::Session {
            // Row-level security applies to this role even if a superuser logged in.
            let set = format!("SET ROLE offshoot_app; SET lock_timeout = {}", LOCK_WAIT.as_millis());
            let set = link.client.batch_execute(&set).await;
            set.map_err(|error| Error::of(database, &error))?;
        }
        Ok(())
    };
    // Both are sent at once.
    link.drive(try_join(check, set_role)).await?;
    Ok(link)
}
