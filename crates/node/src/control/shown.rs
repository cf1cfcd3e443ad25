//! What is told of faces beyond what the data plane knows of them.
//!
//! A UDP socket that is bound to all addresses has no local address of its own: which one a neighbour sees is
//! decided by the system's routes. It is asked for here, outside of the data plane.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::{FaceEvent, FaceSnapshot, FaceUri};

/// One face.
pub(crate) fn face(face: FaceSnapshot) -> FaceSnapshot {
    faces(vec![face.clone()]).pop().unwrap_or(face)
}

/// Many faces.
pub(crate) fn faces(mut faces: Vec<FaceSnapshot>) -> Vec<FaceSnapshot> {
    let mut known = BTreeMap::new();
    for face in &mut faces {
        let (FaceUri::Udp(remote), FaceUri::Udp(local)) = (&face.remote, &face.local) else { continue };
        if !local.ip().is_unspecified() || remote.ip().is_multicast() {
            continue;
        }
        // The same address behind another interface is another neighbour.
        let neighbour = match *remote {
            SocketAddr::V4(remote) => (IpAddr::from(*remote.ip()), 0),
            SocketAddr::V6(remote) => (IpAddr::from(*remote.ip()), remote.scope_id()),
        };
        let from = *known.entry(neighbour).or_insert_with(|| local_address_towards(*remote));
        if let Some(mut from) = from {
            from.set_port(local.port());
            face.local = FaceUri::Udp(from);
        }
    }
    faces
}

/// What happened to a face.
pub(crate) fn event(event: FaceEvent) -> FaceEvent {
    FaceEvent { face: face(event.face), ..event }
}

/// The address that this host sends from to `remote`; `None` if there is no way there. Nothing is sent.
fn local_address_towards(remote: SocketAddr) -> Option<SocketAddr> {
    let any: IpAddr =
        if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(remote).ok()?;
    socket.local_addr().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_address_is_the_one_that_the_neighbour_sees() {
        let remote = "127.0.0.1:6363".parse().unwrap();
        assert_eq!(local_address_towards(remote).unwrap().ip(), IpAddr::from(Ipv4Addr::LOCALHOST));
    }
}
