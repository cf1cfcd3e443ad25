//! Every reason for a drop can be provoked, and is then the only one counted.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "scenarios read better so")]

mod common;

use cairn_link::v2::{
    Config, EndpointId, FragmentationConfig, LinkService, ParityConfig, ReassemblyConfig, ReliabilityConfig,
};
use cairn_link::{DropCounters, DropReason, v1};
use common::{End, data, frames};
use packet::ccnx::ndnlp;
use packet::ndn::lp::LpPacketView;
use packet::time::Instant;
use packet::{Buffer, LinkHeader, LinkType, NackReason};

const INTEREST: &[u8] = &[5, 2, 7, 0];

/// What happens to an NDNLPv2 service in one scenario.
struct Scenario {
    service: LinkService,
    now: Instant,
}

impl Scenario {
    fn new(config: Config) -> Self {
        Scenario { service: common::v2(&config, 1), now: Instant::ZERO }
    }

    fn receive(mut self, fields: LpPacketView<'_>) -> Self {
        let mut frame = Vec::new();
        fields.encode(&mut frame);
        let _ = self.service.receive(self.now, EndpointId(0), &frame);
        self
    }

    /// A fragment of 100 bytes; fragment 0 announces `total` bytes.
    fn receive_fragment(self, sequence: u64, index: u64, count: u64, total: usize) -> Self {
        let mut bytes = data(1, total);
        bytes.truncate(100);
        self.receive(LpPacketView {
            sequence: Some(sequence),
            frag_index: Some(index),
            frag_count: Some(count),
            fragment: Some(&bytes),
            ..LpPacketView::default()
        })
    }

    fn receive_reliable(self, sequence: u64) -> Self {
        let fields =
            LpPacketView { sequence: Some(sequence), tx_sequence: Some(sequence), ..packet(INTEREST) };
        self.receive(fields)
    }

    fn send(self, len: usize) -> Self {
        self.send_with(LinkHeader::default(), None, &data(1, len))
    }

    fn send_with(mut self, header: LinkHeader, nack: Option<NackReason>, packet: &[u8]) -> Self {
        let _ = self.service.send(self.now, header, nack, Buffer::copy_from(packet));
        self
    }

    fn take_frames(mut self) -> Self {
        frames(&mut self.service, self.now);
        self
    }

    fn wait_secs(mut self, secs: u64) -> Self {
        self.now = Instant::from_nanos(self.now.as_nanos() + secs * 1_000_000_000);
        self.service.handle_timeout(self.now);
        self
    }

    fn set(mut self, config: Config) -> Self {
        self.service.set_config(config).unwrap();
        self
    }
}

fn packet(bytes: &[u8]) -> LpPacketView<'_> {
    LpPacketView { fragment: Some(bytes), ..LpPacketView::default() }
}

fn reliable(limits: ReliabilityConfig) -> Config {
    Config { reliability: Some(limits), ..Config::default() }
}

fn small_mtu() -> Config {
    Config { transport_mtu_bytes: Some(64), congestion_marking: None, ..Config::default() }
}

/// Scenarios of frames that are received.
fn receive_frame(reason: DropReason) -> Option<Scenario> {
    let plain = || Scenario::new(Config::default());
    Some(match reason {
        DropReason::MalformedFrame => {
            let mut scenario = plain();
            let _ = scenario.service.receive(scenario.now, EndpointId(0), &[0x64, 1]);
            scenario
        }
        DropReason::UnknownPacketType => plain().receive(packet(&[0x80, 0])),
        DropReason::MalformedPacket => plain().receive(packet(&[5, 9, 0])),
        DropReason::DuplicateFrame => {
            Scenario::new(reliable(ReliabilityConfig::default())).receive_reliable(5).receive_reliable(5)
        }
        DropReason::LocalFieldsDisabled => {
            plain().receive(LpPacketView { next_hop_face: Some(300), ..packet(INTEREST) })
        }
        DropReason::FieldNotAllowed => {
            plain().receive(LpPacketView { non_discovery: true, ..packet(&data(1, 40)) })
        }
        DropReason::NackOnMultiAccess => {
            Scenario::new(Config { link_type: LinkType::MultiAccess, ..Config::default() })
                .receive(LpPacketView { nack: Some(NackReason::NoRoute), ..packet(INTEREST) })
                .send_with(LinkHeader::default(), Some(NackReason::NoRoute), INTEREST)
        }
        DropReason::BadParity => Scenario::new(Config {
            link_type: LinkType::MultiAccess,
            parity: Some(ParityConfig::default()),
            ..Config::default()
        })
        .receive(LpPacketView {
            parity: &[1, 0, 2, 7, 7, 7, 7, 7, 7, 7, 7, 5, 0],
            ..LpPacketView::default()
        }),
        DropReason::DeliveryQueueFull => Scenario::new(Config { max_deliveries: 1, ..Config::default() })
            .receive(packet(INTEREST))
            .receive(packet(INTEREST)),
        DropReason::AckQueueFull => {
            let limits = ReliabilityConfig { max_pending_acks: 1, ..ReliabilityConfig::default() };
            Scenario::new(reliable(limits)).receive_reliable(5).receive_reliable(6)
        }
        DropReason::RecentSequencesFull => {
            let limits = ReliabilityConfig { max_recent_sequences: 1, ..ReliabilityConfig::default() };
            let scenario = Scenario::new(reliable(limits));
            scenario.receive_reliable(0).receive_reliable(64).receive_reliable(128)
        }
        _ => return None,
    })
}

/// Scenarios of fragments that are received.
fn receive_fragments(reason: DropReason) -> Option<Scenario> {
    let plain = || Scenario::new(Config::default());
    Some(match reason {
        DropReason::PacketTooLarge => plain().receive_fragment(7, 0, 100, 8801),
        DropReason::ReassemblyDisabled => {
            Scenario::new(Config { reassembly: None, ..Config::default() }).receive_fragment(7, 0, 2, 200)
        }
        DropReason::FragIndexOutOfRange => plain().receive_fragment(7, 2, 2, 200),
        DropReason::TooManyFragments => plain().receive_fragment(7, 0, 401, 8800),
        DropReason::MissingSequence => plain().receive(LpPacketView {
            frag_index: Some(0),
            frag_count: Some(2),
            ..packet(INTEREST) //
        }),
        DropReason::FragCountMismatch => {
            plain().receive_fragment(7, 0, 3, 300).receive_fragment(8, 1, 4, 300)
        }
        DropReason::DuplicateFragment => {
            plain().receive_fragment(7, 0, 3, 300).receive_fragment(7, 0, 3, 300)
        }
        DropReason::PartialExpired => plain().receive_fragment(7, 0, 2, 200).wait_secs(1),
        DropReason::PartialEvicted => {
            let limits = ReassemblyConfig { max_partial_packets: 1, ..ReassemblyConfig::default() };
            Scenario::new(Config { reassembly: Some(limits), ..Config::default() })
                .receive_fragment(7, 0, 2, 200)
                .receive_fragment(17, 0, 2, 200)
        }
        _ => return None,
    })
}

/// Scenarios of packets that are sent.
fn send_packet(reason: DropReason) -> Option<Scenario> {
    Some(match reason {
        DropReason::OverMtu => Scenario::new(Config { fragmentation: None, ..small_mtu() }).send(65),
        DropReason::NoRoomInMtu => {
            let announcement =
                LinkHeader { prefix_announcement: Some(Buffer::from(data(1, 100))), ..LinkHeader::default() };
            Scenario::new(small_mtu()).send_with(announcement, None, &data(1, 100))
        }
        DropReason::FragmentLimit => {
            let few = Some(FragmentationConfig { max_fragments: 2 });
            Scenario::new(Config { fragmentation: few, ..small_mtu() }).send(200)
        }
        DropReason::SendQueueFull => {
            Scenario::new(Config { max_outgoing_packets: 1, ..Config::default() }).send(100).send(100)
        }
        DropReason::RetriesExhausted => {
            let limits = ReliabilityConfig { max_retries: 0, ..ReliabilityConfig::default() };
            Scenario::new(reliable(limits)).send(100).take_frames().wait_secs(2)
        }
        DropReason::SentStoreFull => {
            let limits = ReliabilityConfig { max_unacknowledged_frames: 1, ..ReliabilityConfig::default() };
            Scenario::new(reliable(limits)).send(100).send(100).take_frames()
        }
        DropReason::Reconfigured => Scenario::new(reliable(ReliabilityConfig::default()))
            .send(100)
            .take_frames()
            .set(Config::default()),
        _ => return None,
    })
}

/// Drops that the scenario made for `reason` leads to.
fn provoke(reason: DropReason) -> DropCounters {
    if reason == DropReason::FragmentSizeMismatch {
        return provoke_v1();
    }
    let scenario =
        receive_frame(reason).or_else(|| receive_fragments(reason)).or_else(|| send_packet(reason));
    let scenario = scenario.unwrap_or_else(|| panic!("no scenario for {reason}"));
    *scenario.service.drops()
}

/// The one reason that only NDNLP v1 has.
fn provoke_v1() -> DropCounters {
    let mut service = common::v1(&v1::Config::default(), 1);
    for (index, len) in [(0, 100), (1, 99)] {
        let data = ndnlp::LinkData {
            sequence: ndnlp::Sequence::new(u64::from(index)),
            flags: ndnlp::Flags::NONE,
            fragment: ndnlp::Fragment { index, count: 3 },
            payload: &vec![0; len],
        };
        let _ = service.receive(Instant::ZERO, &data.encode());
    }
    *End::drops(&service)
}

#[test]
fn every_reason_is_counted_when_it_happens_and_no_other_is() {
    for &reason in DropReason::ALL {
        for (counted, count) in provoke(reason).iter() {
            let expected = match (reason, counted) {
                // Both ways.
                (DropReason::NackOnMultiAccess, DropReason::NackOnMultiAccess) => 2,
                _ => u64::from(counted == reason),
            };
            assert_eq!(count, expected, "{counted} in the scenario of {reason}");
        }
    }
}
