//! Whatever a peer sends, memory stays within the limits and nothing panics.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use cairn_link::v2::{Config, EndpointId, LinkService, ReassemblyConfig, ReliabilityConfig};
use cairn_link::{DropReason, v1};
use common::{data, frames};
use packet::LinkHeader;
use packet::ccnx::ndnlp;
use packet::ndn::lp::{Acks, LpPacketView};
use packet::random::Random;
use packet::time::{Duration, Instant};

const PEER: EndpointId = EndpointId(0);

fn fragment<'a>(sequence: u64, index: u64, count: u64, bytes: &'a [u8]) -> LpPacketView<'a> {
    LpPacketView {
        sequence: Some(sequence),
        frag_index: Some(index),
        frag_count: Some(count),
        fragment: Some(bytes),
        ..LpPacketView::default()
    }
}

fn receive(service: &mut LinkService, now: Instant, from: u64, fields: &LpPacketView<'_>) {
    let mut frame = Vec::new();
    fields.encode(&mut frame);
    let _ = service.receive(now, EndpointId(from), &frame);
}

#[test]
fn a_flood_of_first_fragments_takes_no_more_memory_than_the_limits_allow() {
    let limits = ReassemblyConfig {
        max_partial_packets: 50,
        max_partial_bytes: 200_000,
        ..ReassemblyConfig::default()
    };
    let mut service = common::v2(&Config { reassembly: Some(limits.clone()), ..Config::default() }, 1);
    let packet = data(1, 8800);
    let mut most = 0;
    for number in 0..20_000u64 {
        let now = Instant::from_nanos(number * 1000);
        // Small fragments that announce a large packet, from ever other endpoints and with ever other
        // Sequences.
        receive(&mut service, now, number % 7, &fragment(number * 1000, 0, 100, &packet[..20]));
        let usage = service.usage();
        assert!(usage.partial_packets <= limits.max_partial_packets);
        assert!(usage.partial_bytes <= limits.max_partial_bytes);
        most = most.max(usage.partial_bytes);
    }
    assert!(most > 190_000, "the limit was never reached: {most}");
    assert!(service.drops().get(DropReason::PartialEvicted) > 19_900);
    // The flood over, honest packets pass, and everything is forgotten in time.
    let config = Config { transport_mtu_bytes: Some(1500), ..Config::default() };
    let mut honest = common::v2(&config, 2);
    honest.send(Instant::from_secs(1), LinkHeader::default(), None, packet.clone().into()).unwrap();
    for frame in frames(&mut honest, Instant::from_secs(1)) {
        service.receive(Instant::from_secs(1), EndpointId(9), &frame).unwrap();
    }
    assert_eq!(*service.poll_deliver().unwrap().packet, *packet);
    service.handle_timeout(Instant::from_secs(2));
    assert_eq!(service.usage(), Default::default());
}

#[test]
fn a_flood_of_later_fragments_takes_no_more_memory_either() {
    let mut service = common::v2(&Config::default(), 1);
    let limit = ReassemblyConfig::default().max_partial_bytes;
    let packet = data(1, 8800);
    for number in 0..100_000u64 {
        let (base, index) = (number / 300, 1 + number % 300);
        let bytes = &packet[..1 + (number % 40) as usize];
        receive(&mut service, Instant::ZERO, 0, &fragment(base * 1000 + index, index, 400, bytes));
        assert!(service.usage().partial_bytes <= limit && service.usage().partial_packets <= 64);
    }
}

#[test]
fn a_packet_whose_fragments_exceed_what_it_may_have_is_dropped_whole() {
    let mut service = common::v2(&Config::default(), 1);
    let bytes = [6; 1400];
    for index in 1..7 {
        receive(&mut service, Instant::ZERO, 0, &fragment(100 + index, index, 8, &bytes));
    }
    assert_eq!(service.usage().partial_packets, 1);
    receive(&mut service, Instant::ZERO, 0, &fragment(107, 7, 8, &bytes));
    assert_eq!((service.usage().partial_packets, service.drops().get(DropReason::PacketTooLarge)), (0, 1));
}

#[test]
fn fragments_that_fall_short_of_what_the_first_announced_or_exceed_it_deliver_nothing() {
    let packet = data(1, 1000);
    for len in [400, 499, 501, 600] {
        for last_first in [false, true] {
            let mut service = common::v2(&Config::default(), 1);
            let second = vec![0; len];
            let mut fragments = [fragment(7, 0, 2, &packet[..500]), fragment(8, 1, 2, &second)];
            if last_first {
                fragments.reverse();
            }
            for fragment in &fragments {
                receive(&mut service, Instant::ZERO, 0, fragment);
            }
            assert_eq!(service.poll_deliver(), None, "{len}");
            assert_eq!(service.usage(), Default::default());
            assert_eq!(service.drops().get(DropReason::MalformedPacket), 1);
        }
    }
}

#[test]
fn a_peer_that_never_acknowledges_costs_bounded_memory() {
    let limits = ReliabilityConfig {
        max_unacknowledged_frames: 100,
        max_unacknowledged_bytes: 50_000,
        ..ReliabilityConfig::default()
    };
    let config = Config { reliability: Some(limits), transport_mtu_bytes: Some(1500), ..Config::default() };
    let mut service = common::v2(&config, 1);
    for number in 0..5000u64 {
        let now = Instant::from_millis(number);
        service.send(now, LinkHeader::default(), None, data(number, 8000).into()).unwrap();
        frames(&mut service, now);
        if service.next_deadline() <= now {
            service.handle_timeout(now);
            frames(&mut service, now);
        }
        let usage = service.usage();
        assert!(usage.unacknowledged_frames <= 100);
        // One packet more than the limit may be there while its frames are being sent.
        assert!(usage.outgoing_bytes <= 50_000 + 8000, "{}", usage.outgoing_bytes);
    }
    assert!(service.drops().get(DropReason::SentStoreFull) > 1000);
}

#[test]
fn an_owner_that_takes_nothing_finds_queues_full_and_memory_bounded() {
    let config = Config {
        reliability: Some(ReliabilityConfig { max_pending_acks: 40, ..ReliabilityConfig::default() }),
        max_outgoing_packets: 10,
        max_deliveries: 20,
        ..Config::default()
    };
    let mut service = common::v2(&config, 1);
    for number in 0..1000 {
        let _ = service.send(Instant::ZERO, LinkHeader::default(), None, data(number, 100).into());
        let packet = data(number, 100);
        let fields = LpPacketView {
            sequence: Some(number),
            tx_sequence: Some(number),
            fragment: Some(&packet),
            ..LpPacketView::default()
        };
        receive(&mut service, Instant::ZERO, 0, &fields);
    }
    let usage = service.usage();
    assert_eq!((usage.outgoing_packets, usage.deliveries, usage.pending_acks), (10, 20, 40));
    for (reason, count) in [
        (DropReason::SendQueueFull, 990),
        (DropReason::DeliveryQueueFull, 20),
        (DropReason::AckQueueFull, 960),
    ] {
        assert_eq!(service.drops().get(reason), count, "{reason}");
    }
}

#[test]
fn acks_for_what_was_never_sent_change_nothing() {
    let config = Config { reliability: Some(ReliabilityConfig::default()), ..Config::default() };
    let mut service = common::v2(&config, 1);
    service.send(Instant::ZERO, LinkHeader::default(), None, data(1, 100).into()).unwrap();
    let sent = frames(&mut service, Instant::ZERO);
    let own = LpPacketView::decode(&sent[0]).unwrap().tx_sequence.unwrap();
    let mut random = Random::from_seed(5);
    for _ in 0..1000 {
        let numbers: Vec<u64> = (0..50)
            .map(|near| if random.chance(0.5) { random.next_u64() } else { own.wrapping_add(1 + near) })
            .filter(|&number| number != own)
            .collect();
        let fields = LpPacketView { acks: Acks::of(&numbers), ..LpPacketView::default() };
        receive(&mut service, Instant::ZERO, 0, &fields);
    }
    assert_eq!((service.usage().unacknowledged_frames, service.counters().acks_in), (1, 0));
    assert!(frames(&mut service, Instant::ZERO).is_empty());
}

#[test]
fn arbitrary_bytes_and_changed_frames_never_panic_and_never_break_a_limit() {
    for seed in 0..20 {
        let mut random = Random::from_seed(seed);
        let limits = ReassemblyConfig {
            max_partial_packets: 5,
            max_partial_bytes: 20_000,
            ..ReassemblyConfig::default()
        };
        let config = Config {
            transport_mtu_bytes: Some(300),
            reassembly: Some(limits),
            reliability: Some(ReliabilityConfig::default()),
            max_deliveries: 10,
            ..Config::default()
        };
        let mut near = common::v2(&config, seed);
        let mut far = common::v2(&config, seed + 100);
        let mut now = Instant::ZERO;
        for number in 0..2000 {
            now += Duration::from_millis(random.below(100));
            if random.chance(0.5) {
                let _ = near.send(now, LinkHeader::default(), None, data(number, 1000).into());
            }
            for mut frame in frames(&mut near, now) {
                for _ in 0..random.below(4) {
                    let place = random.below(frame.len() as u64) as usize;
                    frame[place] = random.next_u64() as u8;
                }
                frame.truncate(frame.len() - random.below(3) as usize);
                let _ = far.receive(now, PEER, &frame);
            }
            let noise: Vec<u8> = (0..random.below(60)).map(|_| random.next_u64() as u8).collect();
            let _ = far.receive(now, PEER, &noise);
            near.handle_timeout(now);
            far.handle_timeout(now);
            for frame in frames(&mut far, now) {
                assert!(frame.len() <= 300);
                let _ = near.receive(now, PEER, &frame);
            }
            let usage = far.usage();
            assert!(usage.partial_packets <= 5 && usage.partial_bytes <= 20_000 && usage.deliveries <= 10);
            if random.chance(0.1) {
                while far.poll_deliver().is_some() {}
            }
        }
    }
}

// Version 1.

fn v1_data(sequence: u64, index: u16, count: u16, payload: &[u8]) -> Vec<u8> {
    let fragment = ndnlp::Fragment { index, count };
    let flags = ndnlp::Flags::ACK_REQUESTED;
    ndnlp::LinkData { sequence: ndnlp::Sequence::new(sequence), flags, fragment, payload }.encode()
}

#[test]
fn version_1_survives_the_flood_of_large_fragment_counts_that_the_paper_warns_of() {
    let config = v1::Config { max_partial_bytes: 100_000, ..v1::Config::default() };
    let mut service = common::v1(&config, 1);
    for number in 0..20_000u64 {
        let now = Instant::from_nanos(number * 1000);
        let count = [2, 40, 46, 1000, 65_535][number as usize % 5];
        let _ = service.receive(now, &v1_data(number * 70_000, 0, count, &[1; 1400]));
        let usage = service.usage();
        assert!(usage.partial_messages <= 64 && usage.partial_bytes <= 100_000);
        assert!(usage.pending_acks <= config.max_pending_acks);
        let mut out = Vec::new();
        while service.poll_transmit(now, &mut out).is_some() {}
    }
    assert!(service.drops().get(DropReason::PartialEvicted) > 10_000);
    assert!(service.drops().get(DropReason::PacketTooLarge) > 7000);
    service.handle_timeout(Instant::from_secs(100));
    assert_eq!((service.usage().partial_messages, service.usage().partial_bytes), (0, 0));
}

#[test]
fn version_1_survives_arbitrary_bytes_and_acknowledgements_of_everything() {
    let config = v1::Config { request_acks: true, mtu_bytes: Some(300), ..v1::Config::default() };
    let mut near = common::v1(&config, 1);
    let mut far = common::v1(&config, 2);
    let mut random = Random::from_seed(3);
    let mut now = Instant::ZERO;
    for number in 0..3000u64 {
        now += Duration::from_millis(random.below(50));
        let _ = near.send(now, data(number, 700).into());
        for mut frame in frames(&mut near, now) {
            let place = random.below(frame.len() as u64) as usize;
            frame[place] ^= 1 << random.below(8);
            let _ = far.receive(now, &frame);
        }
        if random.chance(0.1) {
            let mut everything = Vec::new();
            let base = ndnlp::Sequence::new(random.next_u64());
            ndnlp::LinkAck::encode_into(&[ndnlp::AckBlock { base, bitmap: &[0xff; 200] }], &mut everything);
            near.receive(now, &everything).unwrap();
        }
        near.handle_timeout(now);
        far.handle_timeout(now);
        for frame in frames(&mut far, now) {
            let _ = near.receive(now, &frame);
        }
        while far.poll_deliver().is_some() {}
        assert!(near.usage().sent_packets <= 100 && far.usage().partial_bytes <= 1 << 20);
    }
}
