//! The status page, by the ports that CCNx itself uses.

use std::io::{Read, Write};
use std::net::TcpStream;

use packet::ccnx::management::ForwardingEntry;
use packet::ccnx::uri;
use testkit::own_network;

use crate::peer::Host;

fn page(host: &Host, request: &[u8]) -> String {
    page_by(host.tcp(), request)
}

fn page_by(mut connection: TcpStream, request: &[u8]) -> String {
    connection.write_all(request).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_page_lists_faces_and_registrations_in_the_form_that_ccndstatus_reads() {
    let host = Host::new();
    let mut client = host.unix();
    let id = client.ccnd_id();
    let name = uri::parse("ccnx:/shown/here").unwrap();
    let entry = ForwardingEntry { action: Some("selfreg"), ..ForwardingEntry::new(&name) };
    client.command(&id, "selfreg", &entry.encode().unwrap());
    // As ccndsmoketest asks, which sends no whole request.
    let answer = page(&host, b"GET /?f=xml HT");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[..3], ["HTTP/1.1 200 OK", "Content-Type: text/xml; charset=utf-8", "Connection: close"]);
    assert_eq!(lines[3], format!("Content-Length: {}", body.len()));
    let hex: String = id.iter().map(|byte| format!("{byte:02X}")).collect();
    for part in [
        format!("<ccnd><identity><ccndid>{hex}</ccndid><apiversion>8002</apiversion><starttime>"),
        "<faceflags>000c</faceflags><pending>0</pending><recvcount>2</recvcount><meters><bytein>".to_owned(),
        "<fentry><prefix>ccnx:/shown/here</prefix><dest><faceid>".to_owned(),
        "<flags>3</flags>".to_owned(),
        "</fentry></forwarding></ccnd>".to_owned(),
    ] {
        assert!(body.contains(&part), "{part}\n{body}");
    }
    // As a browser asks.
    let answer = page(&host, b"GET / HTTP/1.1\r\nHost: localhost:9695\r\nAccept: */*\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"));
    assert!(answer.contains("ccnx:/shown/here <b>face:</b> "), "{answer}");
}

#[test]
fn what_is_not_there_is_not_allowed_and_a_hidden_page_is_shown_to_nobody_by_tcp() {
    let host = Host::new();
    for request in [&b"GET /passwd HTTP/1.1\r\n\r\n"[..], b"GET /?l=high HTTP/1.1\r\n\r\n"] {
        assert_eq!(page(&host, request), "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n");
    }
    let host = Host::with(|config| config.ccnx.status_page = false);
    assert_eq!(page(&host, b"GET / HTTP/1.1\r\n\r\n"), "");
}

#[test]
fn neighbours_get_pages_for_a_part_of_the_time_and_who_is_on_this_host_whenever_he_asks() {
    own_network::run(|| {
        own_network::ip("addr add 192.0.2.1/32 dev lo").unwrap();
        let host = Host::with(|config| {
            config.ccnx.tcp = vec!["0.0.0.0:0".parse().unwrap()];
            config.metrics.listen = Some("127.0.0.1:0".parse().unwrap());
        });
        let request = b"GET / HTTP/1.1\r\n\r\n";
        let mut shown = 0;
        let refused = loop {
            let neighbour = TcpStream::connect(("192.0.2.1", host.tcp_port())).unwrap();
            let answer = page_by(neighbour, request);
            if !answer.starts_with("HTTP/1.1 200 OK\r\n") {
                break answer;
            }
            shown += 1;
            assert!(shown < 100_000, "however often somebody asks, there is another page");
        };
        assert!(refused.starts_with("HTTP/1.1 503 Service Unavailable\r\nRetry-After: "), "{refused}");
        assert!(shown > 0);
        for _ in 0..20 {
            assert!(page(&host, request).starts_with("HTTP/1.1 200 OK\r\n"));
        }
        assert_eq!(host.counted("ccnx-pages-refused"), 1);
        assert_eq!(host.counted("ccnx-pages"), shown + 20);
    });
}
