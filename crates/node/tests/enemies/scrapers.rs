//! Those who come to the metrics and are no scrapers.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use socket2::{Domain, Socket, Type};

use crate::victim::{SOON, Victim};

/// A connection to the metrics from an address of this host, by its last number.
fn visit(victim: &Victim, last: u8) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0)).into()).unwrap();
    socket.connect(&victim.node.metrics_address().unwrap().into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

#[test]
fn a_scraper_is_answered_among_a_thousand_connections_of_one_address_that_say_nothing() {
    let victim = Victim::start();
    let mut silent: Vec<TcpStream> = (0..1000).map(|_| visit(&victim, 1)).collect();
    // From the same address, too.
    assert!(victim.metrics().contains("cairn_uptime_seconds"));
    assert!(victim.counted("cairn_metrics_connections_total{what=\"gave-way\"}") > 900);
    for one in &mut silent {
        // Closed by the node, and not kept for ever.
        assert!(matches!(one.read(&mut [0; 16]), Ok(0) | Err(_)));
    }
    victim.assert_serves();
}

#[test]
fn a_scraper_is_answered_while_many_addresses_drip_a_request() {
    let victim = Victim::start();
    let mut drips: Vec<TcpStream> = (2..250).map(|last| visit(&victim, last)).collect();
    for byte in b"GET /" {
        for one in &mut drips {
            let _ = one.write_all(&[*byte]);
        }
        assert!(victim.metrics().contains("cairn_uptime_seconds"));
    }
    victim.assert_serves();
}

#[test]
fn a_request_larger_than_any_is_refused() {
    let victim = Victim::start();
    let mut one = visit(&victim, 1);
    one.write_all(&[b'a'; 8192]).unwrap();
    let mut answer = String::new();
    one.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(victim.counted("cairn_metrics_connections_total{what=\"too-large\"}"), 1);
}

#[test]
fn who_asks_in_pieces_or_ends_without_an_empty_line_is_answered() {
    let victim = Victim::start();
    for pieces in [&["GET /met", "rics HTTP/1.1\r", "\n\r\n"][..], &["HEAD / HTTP/1.0\r\n"]] {
        let mut one = visit(&victim, 1);
        for piece in pieces {
            one.write_all(piece.as_bytes()).unwrap();
        }
        one.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        one.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert_eq!(answer.contains("cairn_uptime_seconds"), pieces.len() == 3);
    }
}
