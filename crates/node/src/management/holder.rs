//! Whose share of the RIB a route takes up, by the face that it was asked for by.

use engine::{FaceId, FaceScope};
use management::CommandScope;

use super::rib::Holder;
use crate::control::{FaceSnapshot, FaceUri, NodeControl};
use crate::origin::Origin;

/// Who asks by `from`. Commands of this host are its own, whatever face they come by.
pub(super) fn holder(node: &mut dyn NodeControl, scope: CommandScope, from: FaceId) -> Holder {
    match scope {
        CommandScope::Localhost => Holder::Host,
        // Of a face that is gone nothing is kept.
        CommandScope::Localhop => node.face(from).map_or(Holder::Host, |face| holder_behind(&face)),
    }
}

fn holder_behind(face: &FaceSnapshot) -> Holder {
    if face.scope == FaceScope::Local {
        return Holder::Host;
    }
    let place = match (&face.remote, &face.local) {
        (FaceUri::WebSocket(peer), _) => format!("ip-{}", Origin::of_address(peer.ip()).to_number()),
        // Whoever is on a link without IP may use any address there.
        (FaceUri::Ethernet(_), FaceUri::Device(name)) => format!("link-{name}"),
        (remote, local) => match Origin::of(local, remote) {
            Some(origin) => format!("ip-{}", origin.to_number()),
            None => format!("face-{}", face.id.0),
        },
    };
    Holder::Neighbour(place.into())
}

#[cfg(test)]
mod tests {
    use packet::time::Duration;

    use super::super::MANAGED;
    use super::*;
    use crate::control::{CongestionSettings, FacePersistency, FaceState, FaceTraffic};

    fn behind(remote: &str, local: &str, scope: FaceScope) -> Holder {
        holder_behind(&FaceSnapshot {
            id: FaceId(300),
            remote: remote.parse().unwrap(),
            local: local.parse().unwrap(),
            dialect: MANAGED,
            scope,
            persistency: FacePersistency::OnDemand,
            link_type: packet::LinkType::PointToPoint,
            state: FaceState::Up,
            expires_in: None,
            congestion: CongestionSettings { interval: Duration::ZERO, threshold_bytes: 0 },
            mtu_bytes: None,
            local_fields: false,
            reliability: false,
            congestion_marking: false,
            traffic: FaceTraffic::default(),
        })
    }

    fn neighbour(remote: &str) -> Holder {
        let local = if remote.starts_with("ether") { "dev://eth0" } else { "udp4://192.0.2.9:6363" };
        behind(remote, local, FaceScope::NonLocal)
    }

    #[test]
    fn ports_protocols_and_addresses_of_one_network_have_one_share() {
        let first = neighbour("udp4://192.0.2.1:6363");
        assert_eq!(first, neighbour("udp4://192.0.2.1:50000"));
        assert_eq!(first, behind("tcp4://192.0.2.1:50000", "tcp4://192.0.2.9:6363", FaceScope::NonLocal));
        assert_ne!(first, neighbour("udp4://192.0.2.2:6363"));
        let network = neighbour("udp6://[2001:db8::1]:6363");
        assert_eq!(network, neighbour("udp6://[2001:db8::ffff:1]:6363"));
        assert_ne!(network, neighbour("udp6://[2001:db8:0:1::1]:6363"));
        assert_eq!(neighbour("ether://[02:00:00:00:00:01]"), neighbour("ether://[02:00:00:00:00:02]"));
    }

    #[test]
    fn an_application_of_this_host_has_no_share_but_the_whole() {
        let local = behind("tcp4://127.0.0.1:50000", "tcp4://127.0.0.1:6363", FaceScope::Local);
        assert_eq!(local, Holder::Host);
    }
}
