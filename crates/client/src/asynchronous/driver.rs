//! The task that takes turns, and waits between them.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::Poll;

use packet::time::{Duration, Instant};

use super::readiness::Readiness;
use super::{End, Shared};
use crate::client::ATTEMPT_TIMEOUT;
use crate::connection::Connection;
use crate::error::ClientError;

/// The longest wait; then there is nothing to do but to wait again.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// What is to be waited for after a turn.
#[derive(Clone, Copy, Debug)]
enum TurnOutcome {
    /// For nothing: there is more to be done.
    Busy,
    /// For the socket, to be read from and, if something is to be written, to be written to; at most so long.
    Idle { writes: bool, at_most: Duration },
    /// The forwarder is away. For time to pass.
    Gone { at_most: Duration },
    /// The forwarder is away, and it is time to try to connect again.
    Attempt,
}

pub(super) fn span(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.as_nanos())
}

/// Takes turns until the client fails, or for ever.
pub(super) async fn drive(shared: Arc<Shared>) {
    let Err(why) = run(&shared).await;
    let remote = shared.client().connection().remote().clone();
    let end = End { why: Some(why), remote };
    *shared.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    shared.changed.notify_waiters();
}

async fn run(shared: &Shared) -> Result<std::convert::Infallible, ClientError> {
    let mut socket = None;
    loop {
        match turn(shared)? {
            // Others have their turn, too.
            TurnOutcome::Busy => tokio::task::yield_now().await,
            TurnOutcome::Idle { writes, at_most } => {
                let socket = match &mut socket {
                    Some(socket) => socket,
                    none => none.insert(watch(shared)?),
                };
                wait(shared, Some((socket, writes)), at_most).await;
            }
            TurnOutcome::Gone { at_most } => {
                socket = None;
                wait(shared, None, at_most).await;
            }
            TurnOutcome::Attempt => {
                socket = None;
                attempt(shared).await?;
            }
        }
    }
}

/// The socket as something to wait for.
fn watch(shared: &Shared) -> Result<Readiness, ClientError> {
    let client = shared.client();
    let connection = client.connection();
    let watched = connection.poll_handle().and_then(Readiness::of);
    watched.map_err(|error| ClientError::Socket(connection.remote().clone(), error))
}

/// Does what is due and what has come, and tells all who wait to look again.
fn turn(shared: &Shared) -> Result<TurnOutcome, ClientError> {
    let mut client = shared.client();
    let before = client.connection().counters();
    let now = client.now();
    let done = client.turn(now).map(|_| ());
    done.or_else(|error| client.handle_outage(error))?;
    shared.changed.notify_waiters();
    let is_gone = client.is_gone();
    let mut deadline = client.session.next_deadline(!is_gone).min(client.outage_deadline());
    if !is_gone {
        deadline = deadline.min(client.connection().link_deadline());
    }
    let now = client.now();
    let at_most = deadline.saturating_since(now).min(MAX_WAIT);
    Ok(match client.next_attempt() {
        Some(at) if at <= now => TurnOutcome::Attempt,
        Some(_) => TurnOutcome::Gone { at_most },
        // It has read or written, and there may be more; or something has become due meanwhile.
        None if client.connection().counters() != before || deadline <= now => TurnOutcome::Busy,
        None => TurnOutcome::Idle { writes: client.connection().has_output(), at_most },
    })
}

/// Waits for the socket, if there is one, for a task that has something to do, and for time to pass.
async fn wait(shared: &Shared, socket: Option<(&Readiness, bool)>, at_most: Duration) {
    let mut poked = pin!(shared.poked.notified());
    let mut sleep = pin!(tokio::time::sleep(span(at_most)));
    poll_fn(|context| {
        // Each is asked, so that each wakes this task.
        let mut is_over = poked.as_mut().poll(context).is_ready();
        is_over |= sleep.as_mut().poll(context).is_ready();
        if let Some((socket, writes)) = socket {
            is_over |= socket.take(writes, context);
        }
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Tries to connect again, while the tasks go on.
async fn attempt(shared: &Shared) -> Result<(), ClientError> {
    let (dialect, remote) = {
        let client = shared.client();
        (client.connection().dialect(), client.connection().remote().clone())
    };
    let place = remote.clone();
    let opening =
        tokio::task::spawn_blocking(move || Connection::open_within(dialect, &place, ATTEMPT_TIMEOUT));
    let opened = opening.await.unwrap_or(Err(ClientError::Closed(remote)));
    shared.client().handle_attempt(opened)
}

/// Since when the forwarder has been away, if it has for longer than `longest`.
pub(super) fn is_gone_too_long(since: Option<Instant>, now: Instant, longest: Duration) -> bool {
    since.is_some_and(|since| now.saturating_since(since) > longest)
}
