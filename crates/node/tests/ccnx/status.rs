//! The status page, by the ports that CCNx itself uses.

use std::io::{Read, Write};

use packet::ccnx::management::ForwardingEntry;
use packet::ccnx::uri;

use crate::peer::Host;

fn page(host: &Host, request: &[u8]) -> String {
    let mut connection = host.tcp();
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
