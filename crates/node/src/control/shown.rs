//! What is told of faces beyond what the data plane knows of them.
//!
//! A UDP socket that is bound to all addresses has no local address of its own: which one a neighbour sees is decided by the
//! system's routes. It is asked for here, outside of the data plane. And the face of the node's own applications has no
//! socket where bytes are counted: they are where its packets change hands.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{FaceEvent, FaceStatus, FaceUri, INTERNAL_FACE};

/// Completes what the data plane tells of faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    bytes: Arc<InternalBytes>,
}

/// Bytes that the node's own applications have sent and got.
#[derive(Debug, Default)]
struct InternalBytes {
    sent: AtomicU64,
    got: AtomicU64,
}

impl Shown {
    /// An application of the node's own has sent so many bytes.
    pub(crate) fn note_sent(&self, bytes: usize) {
        self.bytes.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// An application of the node's own has got so many bytes.
    pub(crate) fn note_got(&self, bytes: usize) {
        self.bytes.got.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// One face.
    pub(crate) fn face(&self, face: FaceStatus) -> FaceStatus {
        self.faces(vec![face.clone()]).pop().unwrap_or(face)
    }

    /// Many faces.
    pub(crate) fn faces(&self, mut faces: Vec<FaceStatus>) -> Vec<FaceStatus> {
        let mut known = BTreeMap::new();
        for face in &mut faces {
            if face.id == INTERNAL_FACE {
                face.traffic.in_bytes = self.bytes.sent.load(Ordering::Relaxed);
                face.traffic.out_bytes = self.bytes.got.load(Ordering::Relaxed);
            }
            let (FaceUri::Udp(remote), FaceUri::Udp(local)) = (&face.remote, &face.local) else { continue };
            if !local.ip().is_unspecified() || remote.ip().is_multicast() {
                continue;
            }
            let from = *known.entry(remote.ip()).or_insert_with(|| local_address_towards(*remote));
            if let Some(mut from) = from {
                from.set_port(local.port());
                face.local = FaceUri::Udp(from);
            }
        }
        faces
    }

    /// What happened to a face.
    pub(crate) fn event(&self, event: FaceEvent) -> FaceEvent {
        FaceEvent { face: self.face(event.face), ..event }
    }
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
