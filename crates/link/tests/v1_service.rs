//! What an NDNLP v1 service says and heeds, with the examples of the paper (NDN-0006).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use cairn_link::DropReason;
use cairn_link::v1::{Config, LinkService, PacingConfig, Timings};
use packet::Buffer;
use packet::ccnx::ndnlp::{AckBlock, Flags, Fragment, LinkAck, LinkData, LinkPacket, Sequence};
use packet::time::{Duration, Instant};
use testkit::vectors;

use common::{data, frames};

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn service(config: &Config) -> LinkService {
    common::v1(config, 1)
}

/// A service that asks for acknowledgements and counts from `first`.
fn asking(first: u64) -> LinkService {
    service(&Config { request_acks: true, first_sequence: Some(first), ..Config::default() })
}

fn decode(frame: &[u8]) -> LinkData<'_> {
    match LinkPacket::decode(frame) {
        Ok(LinkPacket::Data(data)) => data,
        other => panic!("{other:?}"),
    }
}

fn acknowledged(frame: &[u8]) -> Vec<u64> {
    match LinkPacket::decode(frame) {
        Ok(LinkPacket::Ack(ack)) => ack.sequences().map(Sequence::get).collect(),
        other => panic!("{other:?}"),
    }
}

fn ack(base: u64, bitmap: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    LinkAck::encode_into(&[AckBlock { base: Sequence::new(base), bitmap }], &mut frame);
    frame
}

/// A maximum payload of 1000 octets: 40 + 4 + 3 + 2 octets around it.
const MPL_1000: usize = 1048;

#[test]
fn the_papers_2500_octets_travel_as_its_table_says_and_arrive_to_the_byte() {
    let config = Config { mtu_bytes: Some(MPL_1000), first_sequence: Some(600), ..Config::default() };
    assert_eq!(config.max_payload_bytes(), Some(1000));
    let message: Vec<u8> = (0..2500u32).map(|octet| (octet * 31 % 251) as u8).collect();
    let mut near = service(&config);
    near.send(at(0), message.clone().into()).unwrap();
    let sent = frames(&mut near, at(0));
    let rows: Vec<_> = sent
        .iter()
        .map(|frame| {
            let LinkData { sequence, fragment, payload, flags } = decode(frame);
            assert_eq!(flags, Flags::NONE);
            (sequence.get(), fragment.index, fragment.count, payload.to_vec())
        })
        .collect();
    assert_eq!(
        rows,
        [
            (600, 0, 3, message[..1000].to_vec()),
            (601, 1, 3, message[1000..2000].to_vec()),
            (602, 2, 3, message[2000..].to_vec()),
        ]
    );

    // Section 2.2.2: in the order 601, 600, 601, 602.
    let mut far = service(&config);
    assert_eq!(far.receive(at(0), &sent[1]), Ok(()));
    assert_eq!(far.receive(at(1), &sent[0]), Ok(()));
    assert!(far.receive(at(2), &sent[1]).is_err());
    assert_eq!(far.poll_deliver(), None);
    assert_eq!(far.usage().partial_messages, 1);
    assert_eq!(far.receive(at(3), &sent[2]), Ok(()));
    assert_eq!(far.poll_deliver().as_deref(), Some(&message[..]));
    assert_eq!(far.poll_deliver(), None);
    assert_eq!((far.usage().partial_messages, far.usage().partial_bytes), (0, 0));
}

/// Figure 4: 6994 octets in five packets, four of which fill a frame of 1514 octets with the Ethernet header,
/// the last one of 1248; one acknowledgement, in a frame of 43.
#[test]
fn the_capture_of_figure_4_is_reproduced_frame_by_frame() {
    const ETHERNET_HEADER_BYTES: usize = 14;
    let mut near = asking(0x8a48_10d0_f08b);
    let message = data(1, 6994);
    near.send(at(24), message.clone().into()).unwrap();
    let sent = frames(&mut near, at(24));
    let sizes: Vec<usize> = sent.iter().map(|frame| frame.len() + ETHERNET_HEADER_BYTES).collect();
    assert_eq!(sizes, [1514, 1514, 1514, 1514, 1248]);
    assert_eq!(decode(&sent[4]).sequence.to_string(), "8a4810d0f08f");

    let mut far = service(&Config::default());
    for frame in &sent {
        assert!(decode(frame).flags.ack_requested());
        far.receive(at(25), frame).unwrap();
    }
    assert_eq!(far.poll_deliver().as_deref(), Some(&message[..]));
    assert!(frames(&mut far, at(25)).is_empty());
    assert_eq!(far.next_deadline(), at(325));
    far.handle_timeout(at(325));
    let acks = frames(&mut far, at(325));
    assert_eq!(acks.len(), 1);
    assert_eq!(acks[0].len() + ETHERNET_HEADER_BYTES, 43);
    assert_eq!(acknowledged(&acks[0]), (0..5).map(|offset| 0x8a48_10d0_f08b + offset).collect::<Vec<_>>());

    near.receive(at(326), &acks[0]).unwrap();
    assert_eq!((near.usage().sent_packets, near.counters().acks_in), (0, 5));
    assert_eq!(near.next_deadline(), Instant::NEVER);
}

/// Figure 5: the third of five packets is lost, sent again after about 1000 ms, and acknowledged by itself.
#[test]
fn the_repair_of_figure_5_happens_at_its_times() {
    let mut near = asking(0xaaaf_95d9_067e);
    let mut far = service(&Config::default());
    near.send(at(345), data(1, 6994).into()).unwrap();
    for (index, frame) in frames(&mut near, at(345)).iter().enumerate() {
        if index != 2 {
            far.receive(at(345), frame).unwrap();
        }
    }
    far.handle_timeout(at(645));
    let first_ack = frames(&mut far, at(645)).remove(0);
    let base = 0xaaaf_95d9_067e;
    assert_eq!(acknowledged(&first_ack), [base, base + 1, base + 3, base + 4]);
    near.receive(at(646), &first_ack).unwrap();
    assert_eq!((near.usage().sent_packets, near.next_deadline()), (1, at(1345)));
    assert!(frames(&mut near, at(1344)).is_empty());

    near.handle_timeout(at(1345));
    let again = frames(&mut near, at(1345));
    assert_eq!(again.len(), 1);
    assert_eq!(decode(&again[0]).sequence.to_string(), "aaaf95d90680");
    far.receive(at(1346), &again[0]).unwrap();
    assert_eq!(far.poll_deliver().map(|message| message.len()), Some(6994));
    far.handle_timeout(at(1646));
    let second_ack = frames(&mut far, at(1646)).remove(0);
    assert_eq!(acknowledged(&second_ack), [0xaaaf_95d9_0680]);
    near.receive(at(1647), &second_ack).unwrap();
    assert_eq!(near.usage().sent_packets, 0);
}

fn vector(name: &str) -> Vec<u8> {
    let all = vectors::load("ccnx");
    all.into_iter().find(|vector| vector.name == name).unwrap_or_else(|| panic!("no vector {name}")).bytes
}

#[test]
fn four_packets_captured_from_ndnld_become_the_content_object_they_were_cut_from() {
    let mut far = service(&Config::default());
    for index in [3, 1, 0, 2] {
        assert_eq!(far.poll_deliver(), None);
        far.receive(at(0), &vector(&format!("ndnlp1-udp-data-frag{index}of4"))).unwrap();
    }
    let message = far.poll_deliver().unwrap();
    assert_eq!(message.len(), 3 * 1372 + 376);
    assert!(packet::ccnx::ContentObjectView::decode(&message).is_ok());
    assert!(frames(&mut far, at(1000)).is_empty());
}

#[test]
fn the_same_message_is_cut_into_the_very_packets_that_ndnld_sent() {
    let captured: Vec<Vec<u8>> =
        (0..4).map(|index| vector(&format!("ndnlp1-udp-data-frag{index}of4"))).collect();
    let message: Vec<u8> = captured.iter().flat_map(|frame| decode(frame).payload.to_vec()).collect();
    let first_sequence = Some(decode(&captured[0]).sequence.get());
    let mut near = service(&Config { mtu_bytes: Some(1420), first_sequence, ..Config::default() });
    near.send(at(0), message.into()).unwrap();
    assert_eq!(frames(&mut near, at(0)), captured);
}

#[test]
fn a_message_of_one_packet_never_touches_the_partial_message_store() {
    let limits = Config { max_partial_messages: 1, max_partial_bytes: 1, ..Config::default() };
    let mut far = service(&limits);
    let mut near = service(&Config::default());
    for number in 0..10 {
        near.send(at(0), data(number, 1452).into()).unwrap();
        for frame in frames(&mut near, at(0)) {
            far.receive(at(0), &frame).unwrap();
            assert_eq!(far.next_deadline(), Instant::NEVER);
        }
        assert_eq!(far.poll_deliver().as_deref(), Some(&data(number, 1452)[..]));
    }
}

#[test]
fn a_packet_is_sent_again_unchanged_five_times_and_then_counted_as_lost() {
    let mut near = asking(7);
    near.send(at(0), data(1, 2000).into()).unwrap();
    let sent = frames(&mut near, at(0));
    assert_eq!(sent.len(), 2);
    near.receive(at(100), &ack(8, &[0x80])).unwrap();
    for seconds in 1..=5 {
        assert_eq!(near.next_deadline(), Instant::from_secs(seconds));
        near.handle_timeout(Instant::from_secs(seconds));
        assert_eq!(frames(&mut near, Instant::from_secs(seconds)), [sent[0].clone()]);
        assert_eq!(near.drops().get(DropReason::RetriesExhausted), 0);
    }
    near.handle_timeout(Instant::from_secs(6));
    assert!(frames(&mut near, Instant::from_secs(6)).is_empty());
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 1);
    assert_eq!(near.next_deadline(), Instant::NEVER);
    assert_eq!(near.counters().retransmissions, 5);
}

#[test]
fn a_message_is_counted_as_lost_once_and_its_other_packets_are_forgotten() {
    let mut near = asking(u64::MAX - 1);
    for message in [data(1, 6000), data(2, 100)] {
        near.send(at(0), message.into()).unwrap();
    }
    assert_eq!(frames(&mut near, at(0)).len(), 6);
    for seconds in 1..=5 {
        near.handle_timeout(Instant::from_secs(seconds));
        assert_eq!(frames(&mut near, Instant::from_secs(seconds)).len(), 6);
    }
    near.handle_timeout(Instant::from_secs(6));
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 2);
}

#[test]
fn capacity_limits_the_sent_packet_store_and_zero_switches_retransmission_off() {
    let with_capacity = |sent_packets_capacity| {
        let timings = Timings { sent_packets_capacity, ..Timings::PAPER };
        let config = Config { request_acks: true, timings, ..Config::default() };
        let mut near = service(&config);
        for number in 0..150 {
            near.send(at(number), data(number, 100).into()).unwrap();
            assert_eq!(frames(&mut near, at(number)).len(), 1);
        }
        near.handle_timeout(at(5000));
        (frames(&mut near, at(5000)).len(), near.drops().get(DropReason::SentStoreFull))
    };
    assert_eq!(with_capacity(100), (100, 50));
    assert_eq!(with_capacity(1000), (150, 0));
    assert_eq!(with_capacity(0), (0, 0));
}

#[test]
fn a_block_acknowledges_what_its_bits_name_and_nothing_else_though_the_numbers_begin_again() {
    const LAST: u64 = (1 << 48) - 1;
    for first in [7, LAST - 5, LAST, LAST - 60] {
        let mut service = asking(first);
        for number in 0..12 {
            service.send(at(0), Buffer::from(data(number, 60))).unwrap();
        }
        frames(&mut service, at(0));
        assert_eq!(service.usage().sent_packets, 12);
        // The third, and the eleventh and twelfth; then a range without bits, and one of others.
        service.receive(at(1), &ack(first, &[0x20, 0x30])).unwrap();
        service.receive(at(1), &ack(first, &[0, 0])).unwrap();
        service.receive(at(1), &ack(first + 12, &[0xff; 40])).unwrap();
        assert_eq!((service.usage().sent_packets, service.counters().acks_in), (9, 3), "{first}");
    }
}

#[test]
fn what_is_not_asked_for_is_neither_acknowledged_nor_sent_again() {
    let mut near = service(&Config::default());
    let mut far = service(&Config::default());
    near.send(at(0), data(1, 3000).into()).unwrap();
    for frame in frames(&mut near, at(0)) {
        far.receive(at(0), &frame).unwrap();
    }
    assert!(far.poll_deliver().is_some());
    assert_eq!((near.next_deadline(), far.next_deadline()), (Instant::NEVER, Instant::NEVER));
    assert_eq!((near.usage().sent_packets, far.usage().pending_acks), (0, 0));
}

#[test]
fn a_repeated_packet_is_acknowledged_again_and_delivered_once() {
    let mut near = asking(5);
    let mut far = service(&Config::default());
    near.send(at(0), data(1, 100).into()).unwrap();
    let frame = frames(&mut near, at(0)).remove(0);
    for millis in [0, 400, 1000, 5000] {
        let outcome = far.receive(at(millis), &frame);
        assert_eq!(outcome.is_ok(), millis == 0);
        far.handle_timeout(at(millis + 300));
        assert_eq!(acknowledged(&frames(&mut far, at(millis + 300))[0]), [5]);
    }
    assert!(far.poll_deliver().is_some());
    assert_eq!(far.poll_deliver(), None);
    assert_eq!(far.drops().get(DropReason::DuplicateFrame), 3);
}

#[test]
fn even_a_packet_that_is_of_no_use_is_acknowledged() {
    let mut far = service(&Config::default());
    let fragment = Fragment { index: 3, count: 3 };
    let useless =
        LinkData { sequence: Sequence::new(9), flags: Flags::ACK_REQUESTED, fragment, payload: b"x" };
    assert_eq!(far.receive(at(0), &useless.encode()), Err(DropReason::FragIndexOutOfRange));
    far.handle_timeout(at(300));
    assert_eq!(acknowledged(&frames(&mut far, at(300))[0]), [9]);
}

#[test]
fn padding_of_the_layer_below_is_ignored() {
    let mut near = asking(1);
    let mut far = service(&Config::default());
    near.send(at(0), Buffer::from(vec![1; 5])).unwrap();
    let mut frame = frames(&mut near, at(0)).remove(0);
    frame.resize(60, 0);
    far.receive(at(0), &frame).unwrap();
    assert_eq!(far.poll_deliver().as_deref(), Some(&[1; 5][..]));
}

#[test]
fn on_a_stream_every_message_travels_whole() {
    let config = Config { mtu_bytes: None, max_message_bytes: 1 << 20, ..Config::default() };
    let mut near = service(&config);
    let mut far = service(&config);
    near.send(at(0), data(1, 500_000).into()).unwrap();
    let sent = frames(&mut near, at(0));
    assert_eq!(sent.len(), 1);
    far.receive(at(0), &sent[0]).unwrap();
    assert_eq!(far.poll_deliver().map(|message| message.len()), Some(500_000));
}

/// What Linux charges a datagram with: its bytes and headers in a block of a power of two, and the note about
/// it.
fn truesize(len: usize) -> usize {
    (len + 448).next_power_of_two().max(512) + 256
}

/// Sends 74 messages of 4,400 bytes at once to a neighbour with a stock socket that reads a packet in 75 µs,
/// beginning when it has been busy for a while. Gives how many messages arrive, and when the last has left.
fn burst(pacing: Option<PacingConfig>, request_acks: bool) -> (usize, Instant) {
    const STOCK_BUFFER: usize = 212_992;
    let config = Config { mtu_bytes: Some(1420), pacing, request_acks, ..Config::default() };
    let (mut near, mut far) =
        (service(&config), service(&Config { mtu_bytes: Some(1420), ..Config::default() }));
    for number in 0..74u8 {
        near.send(Instant::ZERO, vec![number; 4400].into()).unwrap();
    }
    let (mut now, mut reads_at) = (Instant::ZERO, at(2));
    let (mut buffer, mut held) = (std::collections::VecDeque::new(), 0);
    let (mut arrived, mut last_left) = (0, now);
    while near.usage().outgoing_messages > 0 || !buffer.is_empty() {
        let mut frame = Vec::new();
        while near.poll_transmit(now, &mut frame).is_some() {
            if held + truesize(frame.len()) <= STOCK_BUFFER {
                held += truesize(frame.len());
                buffer.push_back(std::mem::take(&mut frame));
            }
            frame.clear();
            last_left = now;
        }
        if reads_at <= now
            && let Some(frame) = buffer.pop_front()
        {
            held -= truesize(frame.len());
            far.receive(now, &frame).unwrap();
            arrived += std::iter::from_fn(|| far.poll_deliver()).count();
            reads_at = now + Duration::from_micros(75);
        }
        let sends_at = near.next_deadline();
        let reads = if buffer.is_empty() { Instant::NEVER } else { reads_at };
        now = now.max(sends_at.min(reads));
        near.handle_timeout(now);
    }
    (arrived, last_left)
}

#[test]
fn a_burst_arrives_whole_at_a_stock_socket_if_it_is_paced_and_not_if_it_is_not() {
    for request_acks in [false, true] {
        let (arrived, last_left) = burst(Some(PacingConfig::default()), request_acks);
        assert_eq!(arrived, 74);
        // 296 packets, 64 of them at once.
        assert!((18..=20).contains(&(last_left.as_nanos() / 1_000_000)), "{last_left:?}");
    }
    let (arrived, _) = burst(None, false);
    assert!(arrived < 30, "{arrived}");
}

#[test]
fn messages_that_wait_for_the_neighbour_are_bounded_and_given_up_on_demand() {
    let pacing = Some(PacingConfig { max_waiting_bytes: 100_000, ..PacingConfig::default() });
    let mut service = service(&Config { pacing, ..Config::default() });
    let taken = (0..100).filter(|_| service.send(at(0), vec![0; 4744].into()).is_ok()).count();
    assert_eq!((taken, service.waiting_bytes()), (20, 100_000));
    assert_eq!(service.drops().get(DropReason::SendQueueFull), 80);
    assert_eq!(frames(&mut service, at(0)).len(), 64);
    assert_eq!(service.waiting_bytes(), service.usage().outgoing_messages * 5000);
    let (left, next) = (service.usage().outgoing_messages, service.next_deadline());
    assert!(next > at(0) && frames(&mut service, next).len() >= 4);
    service.evict_waiting_messages();
    assert_eq!((service.waiting_bytes(), service.next_deadline()), (0, Instant::NEVER));
    assert!(service.drops().get(DropReason::SendQueueFull) > 80 + left as u64 - 4);
}
