//! Bulk insertion over TCP: Data packets one behind the other, as other repositories take them. There is no
//! answer; who wants one uses commands.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use repo::service::{InsertError, ServiceHandle};
use repo::stream::{DataStream, StreamError};

/// Connections that insert at once; others are closed.
const MAX_CONNECTIONS: usize = 16;
/// A connection that says nothing for so long is closed.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long accepting rests after it has failed.
const REST: Duration = Duration::from_millis(250);

/// Takes connections for as long as the process lives.
pub(super) fn listen(address: SocketAddr, service: ServiceHandle) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let local = listener.local_addr()?;
    let open = Arc::new(AtomicUsize::new(0));
    std::thread::Builder::new().name("bulk".to_owned()).spawn(move || {
        for connection in listener.incoming() {
            let Ok(connection) = connection else {
                std::thread::sleep(REST);
                continue;
            };
            if open.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
                tell!("cairn: a connection was closed: {MAX_CONNECTIONS} insert already");
                continue;
            }
            let place = Place::take(&open);
            let service = service.clone();
            let take = move || {
                let _place = place;
                take(connection, &service);
            };
            // Without a thread the connection is closed.
            let _ = std::thread::Builder::new().name("bulk-insert".to_owned()).spawn(take);
        }
    })?;
    Ok(local)
}

/// One of the connections that may be open.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Place(Arc::clone(open))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn take(connection: TcpStream, service: &ServiceHandle) {
    let peer = connection.peer_addr().map_or_else(|_| "somebody".to_owned(), |peer| peer.to_string());
    if connection.set_read_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    match insert_all(DataStream::new(connection), service) {
        Ok(packets) => tell!("{peer} inserted {packets} packets"),
        Err(error) => tell!("cairn: bulk insertion from {peer} ended: {error}"),
    }
}

#[derive(Debug, thiserror::Error)]
enum BulkError {
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error(transparent)]
    Insert(#[from] InsertError),
}

fn insert_all(mut stream: DataStream<impl std::io::Read>, service: &ServiceHandle) -> Result<u64, BulkError> {
    let mut packets = 0;
    let (tell, told) = std::sync::mpsc::channel();
    while let Some(data) = stream.next_data()? {
        let tell = tell.clone();
        let done = move |result| {
            let _ = tell.send(result);
        };
        service.insert_and_tell(data, done).map_err(InsertError::from)?;
        packets += 1;
        if let Some(Err(refusal)) = told.try_iter().find(Result::is_err) {
            return Err(InsertError::Refused(refusal).into());
        }
    }
    drop(tell);
    match told.iter().find(Result::is_err) {
        Some(Err(refusal)) => Err(InsertError::Refused(refusal).into()),
        _ => Ok(packets),
    }
}
