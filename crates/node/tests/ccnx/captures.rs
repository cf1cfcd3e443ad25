//! Captures of faces that speak CCNx.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::peer::{Host, Peer, interest};

#[test]
fn a_prefix_of_ccnx_captures_its_packets_and_none_of_the_same_name_in_the_other_dialect() {
    let host = Host::new();
    let mut capture = UnixStream::connect(host.folder().join("nfd.capture")).unwrap();
    capture.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    writeln!(capture, "capture prefix=ccnx:/ccnx/ping/1").unwrap();
    let mut file = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(20);
    let until = |capture: &mut UnixStream, file: &mut Vec<u8>, is_enough: &dyn Fn(&[u8]) -> bool| {
        while !is_enough(file) {
            let mut piece = [0; 4096];
            if let Ok(read) = capture.read(&mut piece) {
                file.extend_from_slice(&piece[..read]);
            }
            assert!(Instant::now() < deadline, "{} bytes", file.len());
        }
    };
    until(&mut capture, &mut file, &|file| !file.is_empty());
    // The same name in NDN, and another of CCNx, come first: they would be seen first.
    let ndn = host.ndn_udp();
    ndn.send(packet::ndn::InterestBuilder::new("/ccnx/ping/1".parse().unwrap()).build().unwrap().wire())
        .unwrap();
    Peer::new(host.udp()).ask(&interest("ccnx:/ccnx/ping/0", None));
    Peer::new(host.udp()).ask(&interest("ccnx:/ccnx/ping/1", None));
    until(&mut capture, &mut file, &|file| packets(file).len() >= 2);
    let packets = packets(&file);
    assert_eq!(packets.len(), 2, "{packets:?}");
    // An Interest of CCNx begins with 01 d2, a content object with 04 82.
    assert_eq!((&packets[0][..2], &packets[1][..2]), (&[0x01, 0xd2][..], &[0x04, 0x82][..]));
}

/// What the frames of a pcapng file carry.
fn packets(mut file: &[u8]) -> Vec<Vec<u8>> {
    const PACKET: u32 = 6;
    let mut packets = Vec::new();
    while let [a, b, c, d, e, f, g, h, ..] = *file {
        let length = u32::from_le_bytes([e, f, g, h]) as usize;
        let Some((block, rest)) = file.split_at_checked(length) else { break };
        if u32::from_le_bytes([a, b, c, d]) == PACKET {
            packets.push(block[28 + 14..].to_vec());
        }
        file = rest;
    }
    packets
}
