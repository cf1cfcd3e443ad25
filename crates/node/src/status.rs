//! The status of a node, put together without keeping its data plane for long.

use std::collections::HashSet;

use crate::control::NodeStatus;
use crate::node::RemoteControl;
use crate::plane::FACES_AT_ONCE;

/// Asks for the status; `None` if the data plane has ended. Repositories are not in it.
///
/// What faces have counted is collected in pieces. A face that goes meanwhile leaves what it has counted to
/// the sums of those that are gone, and counts there alone: no sum is ever less than it was.
pub(crate) fn of(remote: &RemoteControl) -> Option<NodeStatus> {
    let faces = remote.call(|plane| plane.face_ids())?;
    let mut counts = Vec::with_capacity(faces.len());
    for part in faces.chunks(FACES_AT_ONCE) {
        let part = part.to_vec();
        counts.extend(remote.call(move |plane| plane.face_counts(&part))?);
    }
    let (mut status, left) = remote.call(|plane| (plane.status_of_gone_faces(), plane.face_ids()))?;
    let left: HashSet<_> = left.into_iter().collect();
    counts.iter().filter(|counts| left.contains(&counts.face)).for_each(|counts| counts.add_to(&mut status));
    Some(status)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use engine::FaceId;
    use packet::ndn::InterestBuilder;

    use super::*;
    use crate::config::Config;
    use crate::control::{FaceUri, NodeControl as _, Unmanaged};
    use crate::node::Node;

    /// More than are looked at in one go.
    const FACES: u64 = 3 * FACES_AT_ONCE as u64;

    #[test]
    fn what_faces_have_counted_is_neither_lost_nor_counted_twice_while_they_go() {
        let mut config = Config::default();
        config.udp.listen = vec!["127.0.0.1:0".parse().unwrap()];
        (config.tcp.listen, config.websocket.listen) = (Vec::new(), Vec::new());
        config.unix.listen = Some(Vec::new());
        let node = Node::start(&config, Box::new(Unmanaged)).unwrap();
        let mut remote = node.control();
        let Some(FaceUri::Udp(here)) = remote.channels().into_iter().next() else { panic!("no channel") };
        let interest = InterestBuilder::new("/x".parse().unwrap()).nonce(1).build().unwrap();
        let sockets: Vec<UdpSocket> = (0..FACES).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let received = || of(&node.control()).unwrap().in_packets[0];
        let deadline = Instant::now() + Duration::from_secs(10);
        for socket in &sockets {
            socket.send_to(interest.wire(), here).unwrap();
        }
        while received() < FACES {
            assert!(Instant::now() < deadline, "{} of {FACES} have come", received());
        }
        let faces: Vec<_> =
            remote.faces().into_iter().map(|face| face.id).filter(|id| *id > FaceId::LAST_RESERVED).collect();
        let going = std::thread::spawn(move || faces.into_iter().all(|face| remote.destroy_face(face)));
        while !going.is_finished() {
            assert_eq!(received(), FACES);
        }
        assert!(going.join().unwrap());
        assert_eq!(received(), FACES);
    }
}
