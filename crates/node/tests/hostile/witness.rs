//! Somebody else who uses the node meanwhile.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::support::*;

/// A consumer and a producer with a route between them.
pub(crate) struct Witness {
    consumer: UdpSocket,
    producer: UdpSocket,
    prefix: String,
    asked: u32,
}

impl Witness {
    pub(crate) fn of(node: &TestNode) -> Self {
        let (consumer, producer) = (udp_peer(), udp_peer());
        let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
        // Nobody else's answers are of use to this one.
        let prefix = format!("/witness/{}", producer.local_addr().unwrap().port());
        node.route(&prefix, face.id);
        for socket in [&consumer, &producer] {
            socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        }
        Witness { consumer, producer, prefix, asked: 0 }
    }

    /// An Interest goes through, and its Data comes back, in time.
    pub(crate) fn is_served(&mut self, node: &TestNode) {
        self.asked += 1;
        let uri = format!("{}/{}", self.prefix, self.asked);
        let deadline = Instant::now() + PATIENCE;
        let mut frame = vec![0; 9000];
        while Instant::now() < deadline {
            self.consumer.send_to(&interest(&uri), node.address("udp4")).unwrap();
            if self.producer.recv(&mut frame).is_err() {
                continue;
            }
            self.producer.send_to(&data(&uri, 100), node.address("udp4")).unwrap();
            while let Ok(length) = self.consumer.recv(&mut frame) {
                if packet_of(&frame[..length]) == data(&uri, 100) {
                    return;
                }
            }
        }
        panic!("the witness is not served any more");
    }
}
