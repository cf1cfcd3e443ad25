//! What ndnld's clients ask of a link, and how they are told of it (NDN-0006, section 3.3.1).

use std::net::{IpAddr, SocketAddr};

use engine::FaceId;
use link::v1::Timings;
use packet::ccnx::management::{NdnldConnection, NdnldVerb};
use packet::ccnx::ndnlp::Flags;
use packet::time::Duration;

use crate::control::{FaceState, FaceUri, MacAddress};

/// ndnld's port at both ends of a link over UDP.
const PORT: u16 = 29_695;
/// The longest name of an interface in Linux, and more than any address in text has.
const MAX_TEXT_BYTES: usize = 64;
/// Packets that are kept for a link at most, to be sent again.
const MAX_CAPACITY: u32 = 4096;
/// How often a packet is sent again at most.
const MAX_RETRIES: u32 = 100;
/// The shortest time of a link.
const MIN_TIME: Duration = Duration::from_millis(1);
/// The longest one.
const MAX_TIME: Duration = Duration::from_secs(3600);

/// What a client asks of a link.
#[derive(Clone, Debug)]
pub(crate) struct LinkRequest {
    /// Where it is to lead to.
    pub(crate) remote: FaceUri,
    /// The interface that it is to lead from, over Ethernet.
    pub(crate) local: Option<FaceUri>,
    protocol: &'static str,
    host: String,
    interface: Option<String>,
    flags: Flags,
    timings: Timings,
}

impl LinkRequest {
    /// What a request asks for. `None` if that makes no sense.
    pub(crate) fn of(asked: &NdnldConnection<'_>) -> Option<Self> {
        let host = asked.host.filter(|host| host.len() <= MAX_TEXT_BYTES)?;
        let interface = asked.local_interface.filter(|name| name.len() <= MAX_TEXT_BYTES);
        let (protocol, remote, local) = match asked.lower_protocol? {
            "udp" => ("udp", FaceUri::Udp(SocketAddr::new(address(host)?, PORT)), None),
            "ip" => ("ip", FaceUri::Ip(SocketAddr::new(address(host)?, 0)), None),
            "ether" => {
                let mac: MacAddress = two_digits_each(host).parse().ok()?;
                ("ether", FaceUri::Ethernet(mac), Some(FaceUri::Device(interface?.to_owned())))
            }
            _ => return None,
        };
        Some(LinkRequest {
            remote,
            local,
            protocol,
            host: host.to_owned(),
            interface: interface.map(str::to_owned),
            flags: asked.flags.unwrap_or(Flags::NONE),
            timings: Timings::of_request(asked),
        })
    }

    /// Its timings, within what a link may have.
    pub(crate) fn timings(&self) -> Timings {
        let asked = &self.timings;
        Timings {
            sent_packets_capacity: asked.sent_packets_capacity.min(MAX_CAPACITY),
            retry_count: asked.retry_count.min(MAX_RETRIES),
            retransmit_time: asked.retransmit_time.clamp(MIN_TIME, MAX_TIME),
            acknowledge_time: asked.acknowledge_time.clamp(MIN_TIME, MAX_TIME),
        }
    }

    /// Whether its packets are acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.flags.ack_requested()
    }

    /// The answer that tells of the link.
    pub(crate) fn tell(&self, verb: NdnldVerb, face: FaceId, state: FaceState) -> Vec<u8> {
        let connection = NdnldConnection {
            action: Some(verb.as_str()),
            face_id: Some(face.0),
            lower_protocol: Some(self.protocol),
            host: Some(&self.host),
            local_interface: self.interface.as_deref(),
            flags: Some(self.flags),
            status: Some(if state == FaceState::Up { "normal" } else { "error" }),
            ..self.timings.message()
        };
        connection.encode()
    }
}

/// An address of IPv4 or IPv6.
fn address(host: &str) -> Option<IpAddr> {
    host.parse().ok().map(|ip: IpAddr| ip.to_canonical())
}

/// A byte of an Ethernet address may be one digit in ndnld's.
fn two_digits_each(mac: &str) -> String {
    let bytes = mac.split(':').map(|byte| if byte.len() == 1 { format!("0{byte}") } else { byte.to_owned() });
    bytes.collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use packet::ccnx::management::Collection;

    use super::*;

    fn captured(name: &str) -> Vec<u8> {
        let all = testkit::vectors::load("ccnx");
        all.into_iter().find(|vector| vector.name == name).unwrap().bytes
    }

    #[test]
    fn the_node_tells_of_a_link_what_ndnld_tells() {
        let request = captured("ndnld-connection-connect-request");
        let link = LinkRequest::of(&NdnldConnection::decode(&request).unwrap()).unwrap();
        assert_eq!(link.remote, FaceUri::Udp("10.77.0.2:29695".parse().unwrap()));
        assert_eq!((&link.local, link.timings()), (&None, Timings::PAPER));
        let told = link.tell(NdnldVerb::Connect, FaceId(8), FaceState::Up);
        assert_eq!(told, captured("ndnld-connection-connect-reply"));
        let listed = Collection::encode([link.tell(NdnldVerb::ListConnections, FaceId(8), FaceState::Up)]);
        assert_eq!(listed, captured("collection-listconnections-reply"));
        // One over IP alone, which ndnld has not.
        let asked =
            NdnldConnection { lower_protocol: Some("ip"), ..NdnldConnection::decode(&request).unwrap() };
        assert_eq!(LinkRequest::of(&asked).unwrap().remote, "ip4://10.77.0.2".parse().unwrap());
        // One over Ethernet, with parameters of its own.
        let reply = captured("ndnld-connection-disconnect-reply");
        let asked = NdnldConnection { status: None, ..NdnldConnection::decode(&reply).unwrap() };
        let link = LinkRequest::of(&asked).unwrap();
        assert_eq!(link.remote, FaceUri::Ethernet(MacAddress([2, 0xcc, 0, 0, 0, 2])));
        assert_eq!(link.local, Some(FaceUri::Device("cx0r".to_owned())));
        assert_eq!(link.timings().retransmit_time, Duration::from_millis(500));
        assert_eq!(link.tell(NdnldVerb::Disconnect, FaceId(12), FaceState::Up), reply);
    }

    #[test]
    fn parameters_beyond_what_a_link_may_have_count_as_the_limit_and_are_told_as_they_were_asked_for() {
        let asked = NdnldConnection {
            lower_protocol: Some("ether"),
            host: Some("2:cc:0:0:0:2"),
            local_interface: Some("cx0r"),
            sent_packets_capacity: Some(u32::MAX),
            retransmit_count: Some(u32::MAX),
            retransmit_millis: Some(0),
            acknowledge_millis: Some(u32::MAX),
            ..NdnldConnection::default()
        };
        let link = LinkRequest::of(&asked).unwrap();
        assert_eq!(link.remote, FaceUri::Ethernet(MacAddress([2, 0xcc, 0, 0, 0, 2])));
        let timings = link.timings();
        assert_eq!((timings.sent_packets_capacity, timings.retry_count), (4096, 100));
        assert_eq!(timings.retransmit_time, Duration::from_millis(1));
        assert_eq!(timings.acknowledge_time, Duration::from_secs(3600));
        let told = link.tell(NdnldVerb::Connect, FaceId(8), FaceState::Down);
        let told = NdnldConnection::decode(&told).unwrap();
        assert_eq!((told.sent_packets_capacity, told.status), (Some(u32::MAX), Some("error")));
    }
}
