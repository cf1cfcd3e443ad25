//! Connections that come and go.

use std::time::Instant;

use packet::Name;

use crate::peer::{Peer, interest};
use crate::victim::{SOON, Victim, connect, fresh_name, register, wait_until};

#[test]
fn connections_that_come_and_go_leave_no_face_route_or_byte_behind() {
    let victim = Victim::start();
    let (faces, routes) = (victim.faces().len(), victim.counted("cairn_routes"));
    for place in [&victim.tcp, &victim.unix, &victim.websocket] {
        for wave in 0..10 {
            let deadline = Instant::now() + SOON;
            let mut peers: Vec<Peer> = (0..50).map(|_| connect(place, deadline)).collect();
            let prefix: Name = format!("/wave/{wave}").parse().unwrap();
            for (number, peer) in peers.iter_mut().enumerate() {
                match number % 10 {
                    // Goes with a route, with a question, inside a frame, and without a word.
                    0 => assert!(register(peer, &prefix, deadline).is_ok()),
                    1..4 => peer.send(interest(&fresh_name("/honest")).build().unwrap().wire()).unwrap(),
                    4..6 => peer.send_raw(&[0x05, 50, 7]).unwrap(),
                    _ => {}
                }
            }
        }
    }
    wait_until("the faces go", || victim.faces().len() == faces);
    wait_until("the routes go", || victim.counted("cairn_routes") == routes);
    assert_eq!(victim.counted("cairn_queued_bytes"), 0);
    victim.assert_serves();
}
