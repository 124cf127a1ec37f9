//! The exchange of messages with a server, and how long to wait for it.
//!
//! Invariant: the wait for a server that answers nothing ends. The wait for a server that works does not: a server that
//! lets a second connection begin, or refuses it, works.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::limits;

/// How long the end of a connection may take.
const END: Duration = Duration::from_secs(1);

/// Why there is no answer.
pub(super) enum Failure {
    Reported(tokio_postgres::Error),
    /// The server answers nothing.
    Silent,
}

/// Sends what a client asks, and receives the answers.
pub(super) struct Driver {
    runtime: Runtime,
    connection: Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
    config: Config,
    tls: MakeRustlsConnect,
}

impl Driver {
    /// Connects to the server.
    pub(super) fn connect(
        runtime: Runtime,
        config: Config,
        tls: MakeRustlsConnect,
    ) -> Result<(Client, Self), Failure> {
        let limit = beginning(&config);
        let begun = runtime.block_on(async { timeout(limit, config.connect(tls.clone())).await });
        match begun {
            Ok(Ok((client, connection))) => Ok((client, Self { runtime, connection, config, tls })),
            Ok(Err(error)) => Err(Failure::Reported(error)),
            Err(_) => {
                // The look-up of a name cannot be stopped.
                runtime.shutdown_background();
                Err(Failure::Silent)
            }
        }
    }

    /// Waits for the end of `request`.
    pub(super) fn run<T>(
        &mut self,
        request: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        let Self { runtime, connection, config, tls } = self;
        let mut request = pin!(request);
        let mut answer = pin!(poll_fn(|context| {
            while let Poll::Ready(Some(message)) = connection.poll_message(context) {
                if let Err(error) = message {
                    return Poll::Ready(Err(error));
                }
            }
            request.as_mut().poll(context)
        }));
        runtime.block_on(async {
            let mut is_working = true;
            loop {
                let wait = if is_working { patience(config) } else { Duration::ZERO };
                match timeout(wait, answer.as_mut()).await {
                    Ok(result) => return result.map_err(Failure::Reported),
                    Err(_) if is_working => is_working = lets_begin(config, tls).await,
                    Err(_) => return Err(Failure::Silent),
                }
            }
        })
    }
}

impl Drop for Driver {
    /// Ends the session on the server. Its client is dropped before.
    fn drop(&mut self) {
        let Self { runtime, connection, .. } = self;
        let end = poll_fn(|context| {
            loop {
                match connection.poll_message(context) {
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        });
        drop(runtime.block_on(async { timeout(END, end).await }));
    }
}

/// Returns how long to wait for a connection, and for an answer before the server is asked whether it works.
fn patience(config: &Config) -> Duration {
    let default = Duration::from_secs(limits::CONNECT_SECONDS as u64);
    config.get_connect_timeout().copied().unwrap_or(default)
}

/// Returns how long the whole beginning of a connection may take: for each host once the time to connect, and as long
/// for encryption and authentication.
fn beginning(config: &Config) -> Duration {
    let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
    patience(config).saturating_mul(u32::try_from(hosts).unwrap_or(1).saturating_mul(2))
}

/// Returns whether the server answers to a new connection. A refusal is an answer.
async fn lets_begin(config: &Config, tls: &MakeRustlsConnect) -> bool {
    match timeout(beginning(config), config.connect(tls.clone())).await {
        Ok(begun) => begun.err().is_none_or(|error| error.as_db_error().is_some()),
        Err(_) => false,
    }
}
