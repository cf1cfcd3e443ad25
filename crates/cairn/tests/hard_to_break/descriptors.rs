//! What tens of thousands of connections leave behind, and what happens when there are no descriptors for
//! them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::daemon::{Daemon, SOON, wait_until};

const WAVE: usize = 250;

/// How long the forwarder is watched doing nothing.
const IDLE: Duration = Duration::from_secs(2);

/// Rounds that are compared, half with half.
const ROUNDS: usize = 16;
/// Rounds before them, in which tables and the allocator grow to what so many connections need.
const ROUNDS_BEFORE: usize = 12;
const WAVES_PER_ROUND: usize = 16;

enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Connection {
    fn write(&mut self, bytes: &[u8]) {
        // One that was closed already is fine.
        let _ = match self {
            Connection::Tcp(socket) => socket.write_all(bytes),
            Connection::Unix(socket) => socket.write_all(bytes),
        };
    }
}

/// Connects so often at once, says a little over each connection, and hangs up.
fn wave(daemon: &Daemon) {
    let mut connections: Vec<Connection> = (0..WAVE)
        .map(|number| match number % 2 {
            0 => Connection::Tcp(TcpStream::connect(daemon.tcp).unwrap()),
            _ => Connection::Unix(UnixStream::connect(&daemon.unix).unwrap()),
        })
        .collect();
    for (number, connection) in connections.iter_mut().enumerate() {
        match number % 8 {
            // An Interest, the beginning of a large frame, and nothing that means anything.
            0 | 1 => connection.write(&[5, 9, 7, 3, 8, 1, 65, 10, 4, 0, 0]),
            2 | 3 => connection.write(&[[5, 0xfd, 0x22, 0x00].as_slice(), &[0; 4000]].concat()),
            4 => connection.write(b"GET / HTTP/1.1\r\n\r\n"),
            _ => {}
        }
    }
}

#[test]
fn tens_of_thousands_of_connections_leave_no_descriptor_and_no_memory_behind() {
    let daemon = Daemon::start(None);
    daemon.assert_answers();
    let before = daemon.descriptors();
    let settled = |daemon: &Daemon| {
        wait_until(
            || format!("{} descriptors, {before} before", daemon.descriptors()),
            || daemon.descriptors() <= before,
        );
    };
    // What an allocator keeps for the next time depends on how many connections were there at once: it comes
    // and goes. What leaks is there in every round, and more of it in each.
    let rounds: Vec<u64> = (0..ROUNDS_BEFORE + ROUNDS)
        .map(|_| {
            for _ in 0..WAVES_PER_ROUND {
                wave(&daemon);
            }
            settled(&daemon);
            // Management has read of all these faces, too.
            daemon.assert_answers();
            daemon.resident_bytes()
        })
        .collect();
    daemon.assert_answers();
    let (first, last) = rounds[ROUNDS_BEFORE..].split_at(ROUNDS / 2);
    let (first, last) = (first.iter().min().unwrap(), last.iter().min().unwrap());
    // Not 131 bytes for each of the 32,000 connections between the two halves.
    assert!(*last <= first + (4 << 20), "bytes after each 4000 connections: {rounds:?}");
}

/// Processor time that the forwarder uses while nothing of sense happens for so long.
fn processor_time_of(daemon: &Daemon, time: Duration) -> Duration {
    let (began, used) = (Instant::now(), daemon.processor_time());
    while began.elapsed() < time {
        std::thread::park_timeout(Duration::from_millis(100));
    }
    daemon.processor_time() - used
}

#[test]
fn without_descriptors_connections_are_turned_away_and_those_there_go_on_working() {
    let daemon = Daemon::start(Some(64));
    let mut there = daemon.client();
    let crowd: Vec<TcpStream> =
        (0..200).map_while(|_| TcpStream::connect_timeout(&daemon.tcp, SOON).ok()).collect();
    wait_until(|| format!("{} descriptors", daemon.descriptors()), || daemon.descriptors() >= 60);
    let status = there.dataset("/localhost/nfd/status/general".parse().unwrap());
    assert!(status.is_ok(), "{status:?}");
    // It waits for something to happen instead of being told again and again that somebody knocks.
    let used = processor_time_of(&daemon, IDLE);
    assert!(used < IDLE / 50, "{used:?} of {IDLE:?}");
    let again = there.dataset("/localhost/nfd/faces/list".parse().unwrap());
    assert!(again.is_ok(), "{again:?}");
    drop(crowd);
    daemon.assert_answers();
}

#[test]
fn when_not_one_descriptor_can_be_had_nobody_is_kept_busy_and_who_waited_is_let_in_later() {
    let daemon = Daemon::start(None);
    let mut there = daemon.client();
    daemon.assert_answers();
    // Below what the process has already, the descriptor that was kept for this cannot be had again either.
    let before = daemon.limit_descriptors(8);
    let mut knocking: Vec<UnixStream> = (0..3).map(|_| UnixStream::connect(&daemon.unix).unwrap()).collect();
    let tcp: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(daemon.tcp).unwrap()).collect();
    let used = processor_time_of(&daemon, IDLE);
    assert!(used < IDLE / 50, "{used:?} of {IDLE:?}");
    let status = there.dataset("/localhost/nfd/status/general".parse().unwrap());
    assert!(status.is_ok(), "{status:?}");
    daemon.limit_descriptors(before);
    daemon.assert_answers();
    // Who stood at the door all the time: connected, and closed only when nonsense is said.
    let last = knocking.last_mut().unwrap();
    last.set_read_timeout(Some(SOON)).unwrap();
    last.write_all(&[7; 8]).unwrap();
    assert_eq!(last.read(&mut [0; 8]).unwrap(), 0);
    drop(tcp);
}
