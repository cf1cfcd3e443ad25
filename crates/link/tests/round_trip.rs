//! Whatever the packet, its fields and the link: what is sent is what arrives, and no frame exceeds the MTU.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use cairn_link::v2::{Config, Delivery, EndpointId, ReliabilityConfig};
use cairn_link::{DropReason, v1};
use common::{data, frames};
use packet::time::Instant;
use packet::{Buffer, CachePolicy, ExplicitRate, LinkHeader, PitToken};
use proptest::prelude::*;

prop_compose! {
    fn any_header()(
        token in proptest::collection::vec(any::<u8>(), 0..=32),
        congestion_mark in prop_oneof![Just(0), Just(1), any::<u64>()],
        incoming_face in any::<Option<u64>>(),
        no_cache in any::<bool>(),
        announcement in proptest::option::of(20usize..500),
        rate in any::<Option<u64>>(),
    ) -> LinkHeader {
        LinkHeader {
            pit_token: PitToken::new(&token).unwrap(),
            congestion_mark,
            incoming_face,
            next_hop_face: None,
            cache_policy: no_cache.then_some(CachePolicy::NoCache),
            non_discovery: false,
            prefix_announcement: announcement.map(|len| Buffer::from(data(9, len))),
            explicit_rate: rate.and_then(ExplicitRate::from_per_1000_s),
        }
    }
}

proptest! {
    #[test]
    fn a_packet_with_any_fields_crosses_a_link_of_any_mtu_in_any_order(
        header in any_header(),
        len in 12usize..8800,
        mtu_bytes in 64usize..2000,
        reliable in any::<bool>(),
        order in any::<u64>(),
    ) {
        let config = Config {
            transport_mtu_bytes: Some(mtu_bytes),
            reliability: reliable.then(ReliabilityConfig::default),
            local_fields: true,
            ..Config::default()
        };
        let mut near = common::v2(&config, 1);
        let mut far = common::v2(&config, 2);
        let packet = Buffer::from(data(1, len));
        match near.send(Instant::ZERO, header.clone(), None, packet.clone()) {
            Ok(()) => {}
            Err(DropReason::NoRoomInMtu | DropReason::FragmentLimit) => {
                // Only small MTUs, or large fields, are in the way.
                prop_assert!(mtu_bytes < 64 + 40 + 500);
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.as_str())),
        }
        let mut sent = frames(&mut near, Instant::ZERO);
        let mut random = packet::random::Random::from_seed(order);
        while !sent.is_empty() {
            let frame = sent.swap_remove(random.below(sent.len() as u64) as usize);
            prop_assert!(frame.len() <= mtu_bytes);
            prop_assert_eq!(far.poll_deliver(), None);
            far.receive(Instant::ZERO, EndpointId(3), &frame).unwrap();
        }
        let expected = Delivery { packet, header, nack: None, from: EndpointId(3) };
        prop_assert_eq!(far.poll_deliver(), Some(expected));
        prop_assert_eq!(far.usage().partial_packets, 0);
    }

    #[test]
    fn a_message_of_any_length_crosses_a_version_1_link_of_any_mtu_in_any_order(
        message in proptest::collection::vec(any::<u8>(), 1..20_000),
        mtu_bytes in 64usize..3000,
        max_preallocated_bytes in 0usize..40_000,
        order in any::<u64>(),
    ) {
        let config =
            v1::Config { mtu_bytes: Some(mtu_bytes), max_preallocated_bytes, ..v1::Config::default() };
        let mut near = common::v1(&config, 1);
        let mut far = common::v1(&config, 2);
        near.send(Instant::ZERO, Buffer::copy_from(&message)).unwrap();
        let mut sent = frames(&mut near, Instant::ZERO);
        let mut random = packet::random::Random::from_seed(order);
        while !sent.is_empty() {
            let frame = sent.swap_remove(random.below(sent.len() as u64) as usize);
            prop_assert!(frame.len() <= mtu_bytes);
            prop_assert_eq!(far.poll_deliver(), None);
            far.receive(Instant::ZERO, &frame).unwrap();
        }
        prop_assert_eq!(far.poll_deliver(), Some(Buffer::from(message)));
    }
}
