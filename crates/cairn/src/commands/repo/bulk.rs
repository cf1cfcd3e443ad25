//! Bulk insertion over TCP: Data packets one behind the other, as other repositories take them. There is no
//! answer; who wants one uses commands.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use packet::Data;
use repo::Rejection;
use repo::service::{InsertError, ServiceHandle};
use repo::stream::{DataStream, StreamError};

/// Connections that insert at once; others are closed.
const MAX_CONNECTIONS: usize = 16;
/// Of these, those of one address, or of one network of IPv6 with 64 bits.
const MAX_CONNECTIONS_OF_AN_ADDRESS: usize = 4;
/// A connection that brings no whole packet for so long is closed.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of packets of one connection that may wait for the disk; nothing more is read meanwhile.
const MAX_OPEN_BYTES: usize = 2 << 20;
/// How long accepting rests after it has failed.
const PAUSE: Duration = Duration::from_millis(250);

/// Takes connections for as long as the process lives.
pub(super) fn listen(address: SocketAddr, service: ServiceHandle) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let local = listener.local_addr()?;
    let open = Arc::new(Mutex::new(Open::default()));
    std::thread::Builder::new().name("bulk".to_owned()).spawn(move || {
        for connection in listener.incoming() {
            let Ok(connection) = connection else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let Some(place) =
                connection.peer_addr().ok().and_then(|peer| ConnectionSlot::take(&open, peer.ip()))
            else {
                tell!(
                    "cairn: a connection was closed: {MAX_CONNECTIONS} insert already, or \
                     {MAX_CONNECTIONS_OF_AN_ADDRESS} of its address"
                );
                continue;
            };
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

/// The connections that are open, by where they come from.
#[derive(Debug, Default)]
struct Open(BTreeMap<IpAddr, usize>);

impl Open {
    fn take(&mut self, origin: IpAddr) -> bool {
        let (all, own) = (self.0.values().sum::<usize>(), self.0.get(&origin).copied().unwrap_or(0));
        // Who is on this host is under no suspicion.
        let has_share = own < MAX_CONNECTIONS_OF_AN_ADDRESS || origin.is_loopback();
        let has_place = all < MAX_CONNECTIONS && has_share;
        if has_place {
            self.0.insert(origin, own + 1);
        }
        has_place
    }

    fn give_back(&mut self, origin: IpAddr) {
        let own = self.0.get(&origin).copied().unwrap_or(0);
        match own {
            0 | 1 => self.0.remove(&origin),
            _ => self.0.insert(origin, own - 1),
        };
    }
}

/// One of the connections that may be open.
struct ConnectionSlot {
    open: Arc<Mutex<Open>>,
    origin: IpAddr,
}

impl ConnectionSlot {
    fn take(open: &Arc<Mutex<Open>>, address: IpAddr) -> Option<Self> {
        let origin = match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
            v4 => v4,
        };
        let has_place = open.lock().unwrap_or_else(PoisonError::into_inner).take(origin);
        has_place.then(|| ConnectionSlot { open: Arc::clone(open), origin })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).give_back(self.origin);
    }
}

/// A connection that is read until a time that is put off with every packet: a byte now and then puts off
/// nothing.
struct DeadlineReader {
    connection: TcpStream,
    until: Rc<Cell<Instant>>,
}

impl Read for DeadlineReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.get().saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.connection.set_read_timeout(Some(left))?;
        self.connection.read(into)
    }
}

fn take(connection: TcpStream, service: &ServiceHandle) {
    let peer = connection.peer_addr().map_or_else(|_| "somebody".to_owned(), |peer| peer.to_string());
    let until = Rc::new(Cell::new(Instant::now() + TIMEOUT));
    let stream = DataStream::new(DeadlineReader { connection, until: Rc::clone(&until) });
    match insert_all(stream, service, || until.set(Instant::now() + TIMEOUT)) {
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

/// Inserts what comes, and calls `on_packet` after each.
fn insert_all(
    mut stream: DataStream<impl Read>,
    service: &ServiceHandle,
    on_packet: impl Fn(),
) -> Result<u64, BulkError> {
    let (tell, told) = std::sync::mpsc::channel();
    let (mut packets, mut open_bytes) = (0, 0);
    let mut goes_on = Ok(true);
    while let Ok(true) = goes_on {
        let batch;
        (batch, goes_on) = next_batch(&mut stream, &on_packet);
        packets += batch.len() as u64;
        let bytes: usize = batch.iter().map(|data| data.wire().len()).sum();
        open_bytes += bytes;
        let tell = tell.clone();
        let done = move |result: Result<(), Rejection>| {
            let _ = tell.send(result.map(|()| bytes));
        };
        service.insert_many_and_notify(batch, done).map_err(InsertError::from)?;
        while let Some(result) =
            if open_bytes > MAX_OPEN_BYTES { told.recv().ok() } else { told.try_recv().ok() }
        {
            open_bytes -= result.map_err(InsertError::Refused)?;
        }
    }
    drop(tell);
    for result in told {
        result.map_err(InsertError::Refused)?;
    }
    goes_on?;
    Ok(packets)
}

/// The packets that have been read, at least one unless they end there; and whether there may be more.
fn next_batch(
    stream: &mut DataStream<impl Read>,
    on_packet: &impl Fn(),
) -> (Vec<Data>, Result<bool, StreamError>) {
    let mut batch = Vec::new();
    loop {
        match stream.next_data() {
            Ok(Some(data)) => batch.push(data),
            Ok(None) => return (batch, Ok(false)),
            Err(error) => return (batch, Err(error)),
        }
        on_packet();
        if !stream.holds_next() {
            return (batch, Ok(true));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn one_address_leaves_places_for_others_and_gives_back_what_it_had() {
        let open = Arc::new(Mutex::new(Open::default()));
        let take = |address: &str| ConnectionSlot::take(&open, address.parse().unwrap());
        let of_one: Vec<_> = std::iter::from_fn(|| take("192.0.2.1")).collect();
        assert_eq!(of_one.len(), MAX_CONNECTIONS_OF_AN_ADDRESS);
        // One network of IPv6 is one origin, and an IPv4-mapped address is one of IPv4.
        assert!(take("::ffff:192.0.2.1").is_none());
        let network: Vec<_> = (0..99).map_while(|host| take(&format!("2001:db8::{host}"))).collect();
        assert_eq!(network.len(), MAX_CONNECTIONS_OF_AN_ADDRESS);
        let others: Vec<_> = (1..99).map_while(|net| take(&format!("198.51.100.{net}"))).collect();
        assert_eq!(others.len(), MAX_CONNECTIONS - 2 * MAX_CONNECTIONS_OF_AN_ADDRESS);
        assert!(take("127.0.0.1").is_none());
        drop(of_one);
        let local: Vec<_> = (0..99).map_while(|_| take("127.0.0.1")).collect();
        assert_eq!(local.len(), MAX_CONNECTIONS_OF_AN_ADDRESS);
    }

    #[test]
    fn a_byte_now_and_then_puts_off_no_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        peer.write_all(b"x").unwrap();
        let (connection, _) = listener.accept().unwrap();
        let until = Rc::new(Cell::new(Instant::now() + TIMEOUT));
        let mut patient = DeadlineReader { connection, until: Rc::clone(&until) };
        assert_eq!(patient.read(&mut [0; 1]).unwrap(), 1);
        until.set(Instant::now());
        peer.write_all(b"x").unwrap();
        assert_eq!(patient.read(&mut [0; 1]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
