//! What an NDNLPv2 service says and heeds, frame by frame.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod common;

use cairn_link::DropReason;
use cairn_link::v2::{Config, CongestionConfig, Delivery, EndpointId, LinkService, ReliabilityConfig};
use common::{data, frames};
use packet::ndn::lp::{Acks, LpPacketView};
use packet::time::{Duration, Instant};
use packet::{Buffer, CachePolicy, LinkHeader, LinkType, NackReason, PitToken};
use testkit::vectors;

const PEER: EndpointId = EndpointId(0);
/// Interest /A with Nonce 01020304.
const INTEREST: [u8; 13] = [0x05, 0x0b, 0x07, 3, 8, 1, b'A', 0x0a, 4, 1, 2, 3, 4];

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn plain() -> Config {
    Config { congestion_marking: None, ..Config::default() }
}

fn reliable() -> Config {
    let numbered = ReliabilityConfig {
        first_sequence: Some(0),
        first_tx_sequence: Some(0),
        ..ReliabilityConfig::default()
    };
    Config { reliability: Some(numbered), ..plain() }
}

fn service(config: &Config) -> LinkService {
    common::v2(config, 1)
}

/// The only frame of a packet.
fn frame_of(config: &Config, header: LinkHeader, nack: Option<NackReason>, packet: &[u8]) -> Vec<u8> {
    let mut service = service(config);
    service.send(Instant::ZERO, header, nack, Buffer::copy_from(packet)).unwrap();
    let mut frames = frames(&mut service, Instant::ZERO);
    assert_eq!(frames.len(), 1);
    frames.remove(0)
}

/// What comes out when a frame of these fields goes in.
fn receive(config: &Config, fields: &LpPacketView<'_>) -> Result<Delivery, DropReason> {
    let mut frame = Vec::new();
    fields.encode(&mut frame);
    let mut service = service(config);
    service.receive(Instant::ZERO, PEER, &frame)?;
    Ok(service.poll_deliver().expect("neither dropped nor delivered"))
}

fn interest() -> LpPacketView<'static> {
    LpPacketView { fragment: Some(&INTEREST), ..LpPacketView::default() }
}

fn vector(name: &str) -> Vec<u8> {
    let all = vectors::load("ndn-lp");
    all.into_iter().find(|vector| vector.name == name).unwrap_or_else(|| panic!("no vector {name}")).bytes
}

// Frames as other implementations know them.

#[test]
fn single_packets_are_framed_as_in_the_golden_vectors() {
    let header = LinkHeader::default;
    assert_eq!(frame_of(&plain(), header(), None, &INTEREST), vector("bare-interest"));
    assert_eq!(frame_of(&plain(), header(), Some(NackReason::NoRoute), &INTEREST), vector("nack-no-route"));
    let unspecified = Some(NackReason::Unspecified);
    assert_eq!(frame_of(&plain(), header(), unspecified, &INTEREST), vector("nack-unspecified"));
    let tagged = LinkHeader { pit_token: PitToken::new(&[0xa1, 0xb2]).unwrap(), ..header() };
    assert_eq!(frame_of(&plain(), tagged, None, &INTEREST), vector("pit-token"));
    let local = Config { local_fields: true, ..plain() };
    let directed = LinkHeader { next_hop_face: Some(300), ..header() };
    assert_eq!(frame_of(&local, directed, None, &INTEREST), vector("next-hop-face"));
    assert_eq!(frame_of(&reliable(), header(), None, &INTEREST), vector("reliable-first"));
}

#[test]
fn seven_fragments_captured_from_nfd_become_the_data_they_were_cut_from() {
    let mut service = service(&plain());
    for index in 0..7 {
        assert_eq!(service.poll_deliver(), None);
        service.receive(Instant::ZERO, PEER, &vector(&format!("nfd-fragment-{index}-of-7"))).unwrap();
    }
    let packet = service.poll_deliver().unwrap().packet;
    assert_eq!((packet.len(), &packet[..4]), (8171, &[0x06, 0xfd, 0x1f, 0xe7][..]));
    assert!(packet::ndn::DataView::decode(&packet).is_ok());
}

#[test]
fn a_frame_captured_from_nfd_with_reliability_is_acknowledged_after_5_ms() {
    let mut service = service(&reliable());
    service.receive(at(100), PEER, &vector("nfd-reliable-interest")).unwrap();
    assert!(service.poll_deliver().is_some());
    assert_eq!(frames(&mut service, at(100)), Vec::<Vec<u8>>::new());
    assert_eq!(service.next_deadline(), at(105));
    service.handle_timeout(at(105));
    let sent = frames(&mut service, at(105));
    assert_eq!(sent, [[&[0x64, 0x0c, 0xfd, 0x03, 0x44, 0x08][..], &[0; 8]].concat()]);
    assert_eq!(service.next_deadline(), Instant::NEVER);
}

#[test]
fn an_idle_frame_is_taken_in_silence() {
    let mut service = service(&plain());
    service.receive(Instant::ZERO, PEER, &vector("idle-empty")).unwrap();
    service.receive(Instant::ZERO, PEER, &vector("idle-acks")).unwrap();
    assert_eq!(service.poll_deliver(), None);
    assert_eq!((service.counters().idle_in, service.drops().total()), (2, 0));
}

#[test]
fn padding_is_accepted_on_links_that_pad_and_refused_on_others() {
    let padded = [&INTEREST[..], &[0; 33]].concat();
    let mut datagrams = service(&plain());
    assert_eq!(datagrams.receive(Instant::ZERO, PEER, &padded), Err(DropReason::MalformedFrame));
    let mut ethernet = service(&Config { padded_frames: true, ..plain() });
    ethernet.receive(Instant::ZERO, PEER, &padded).unwrap();
    assert_eq!(*ethernet.poll_deliver().unwrap().packet, INTEREST);
}

// Network-layer fields.

#[test]
fn fields_are_delivered_with_the_packet_or_the_packet_is_dropped_as_the_table_says() {
    let local = Config { local_fields: true, ..plain() };
    let fragment = data(1, 40);
    let data = LpPacketView { fragment: Some(&fragment), ..LpPacketView::default() };

    let directed = LpPacketView { next_hop_face: Some(300), ..interest() };
    assert_eq!(receive(&local, &directed).unwrap().header.next_hop_face, Some(300));
    assert_eq!(receive(&plain(), &directed), Err(DropReason::LocalFieldsDisabled));
    let directed = LpPacketView { next_hop_face: Some(300), ..data };
    assert_eq!(receive(&local, &directed), Err(DropReason::FieldNotAllowed));

    let uncached = LpPacketView { cache_policy: Some(CachePolicy::NoCache), ..data };
    assert_eq!(receive(&plain(), &uncached).unwrap().header.cache_policy, Some(CachePolicy::NoCache));
    let uncached = LpPacketView { cache_policy: Some(CachePolicy::NoCache), ..interest() };
    assert_eq!(receive(&plain(), &uncached), Err(DropReason::FieldNotAllowed));

    let nack = LpPacketView { nack: Some(NackReason::Congestion), ..interest() };
    assert_eq!(receive(&plain(), &nack).unwrap().nack, Some(NackReason::Congestion));
    let nack = LpPacketView { nack: Some(NackReason::Congestion), ..data };
    assert_eq!(receive(&plain(), &nack), Err(DropReason::FieldNotAllowed));

    let marked = LpPacketView { congestion_mark: 3, pit_token: &[1, 2], incoming_face: Some(9), ..data };
    let delivery = receive(&plain(), &marked).unwrap();
    assert_eq!((delivery.header.congestion_mark, delivery.header.incoming_face), (3, None));
    assert_eq!(delivery.header.pit_token.as_bytes(), [1, 2]);
}

#[test]
fn fields_for_local_applications_stay_off_links_without_local_fields() {
    let header = LinkHeader {
        incoming_face: Some(258),
        next_hop_face: Some(1),
        non_discovery: true,
        ..LinkHeader::default()
    };
    let bare = Config { self_learning: false, ..plain() };
    assert_eq!(frame_of(&bare, header.clone(), None, &INTEREST), INTEREST);
    let local = Config { local_fields: true, ..plain() };
    let frame = frame_of(&local, header, None, &INTEREST);
    let view = LpPacketView::decode(&frame).unwrap();
    assert_eq!((view.incoming_face, view.next_hop_face, view.non_discovery), (Some(258), Some(1), true));
}

#[test]
fn a_token_and_a_mark_stand_on_every_fragment_and_the_other_fields_on_the_first() {
    let config = Config { transport_mtu_bytes: Some(500), ..plain() };
    let mut service = service(&config);
    let header = LinkHeader {
        pit_token: PitToken::new(&[7; 6]).unwrap(),
        congestion_mark: 1,
        cache_policy: Some(CachePolicy::NoCache),
        ..LinkHeader::default()
    };
    let packet = data(1, 2000);
    service.send(Instant::ZERO, header.clone(), None, packet.clone().into()).unwrap();
    let mut sent = frames(&mut service, Instant::ZERO);
    assert_eq!(sent.len(), 5);
    for (index, frame) in sent.iter().enumerate() {
        let view = LpPacketView::decode(frame).unwrap();
        assert_eq!((view.frag_index, view.frag_count), (Some(index as u64), Some(5)));
        assert_eq!((view.pit_token, view.congestion_mark), (&[7; 6][..], 1));
        assert_eq!(view.cache_policy.is_some(), index == 0);
    }
    // Whatever the order of arrival, the header is that of fragment 0.
    sent.reverse();
    let mut far = common::v2(&config, 2);
    for frame in sent {
        far.receive(Instant::ZERO, PEER, &frame).unwrap();
    }
    let delivery = far.poll_deliver().unwrap();
    assert_eq!((&*delivery.packet, delivery.header), (&packet[..], header));
}

#[test]
fn a_mark_on_any_fragment_marks_the_packet() {
    let mut near = service(&Config { transport_mtu_bytes: Some(500), ..plain() });
    near.send(Instant::ZERO, LinkHeader::default(), None, data(1, 900).into()).unwrap();
    let sent = frames(&mut near, Instant::ZERO);
    assert_eq!(sent.len(), 2);
    let mut far = service(&plain());
    far.receive(Instant::ZERO, PEER, &sent[0]).unwrap();
    let marked = LpPacketView { congestion_mark: 1, ..LpPacketView::decode(&sent[1]).unwrap() };
    let mut frame = Vec::new();
    marked.encode(&mut frame);
    far.receive(Instant::ZERO, PEER, &frame).unwrap();
    assert_eq!(far.poll_deliver().unwrap().header.congestion_mark, 1);
}

// Fragmentation and reassembly.

#[test]
fn fragments_of_different_endpoints_never_mix() {
    let config = Config { transport_mtu_bytes: Some(500), link_type: LinkType::MultiAccess, ..plain() };
    let mut far = service(&config);
    let packets = [data(1, 900), data(2, 900)];
    let sent = packets.clone().map(|packet| {
        // The same seed, hence the same Sequences.
        let mut near = common::v2(&config, 7);
        near.send(Instant::ZERO, LinkHeader::default(), None, packet.into()).unwrap();
        frames(&mut near, Instant::ZERO)
    });
    for index in 0..2 {
        for (endpoint, sent) in sent.iter().enumerate() {
            far.receive(Instant::ZERO, EndpointId(endpoint as u64), &sent[index]).unwrap();
        }
    }
    for (endpoint, packet) in packets.iter().enumerate() {
        let delivery = far.poll_deliver().unwrap();
        assert_eq!((delivery.from, &*delivery.packet), (EndpointId(endpoint as u64), &packet[..]));
    }
}

#[test]
fn a_stream_takes_packets_of_any_size_whole() {
    let config = Config { transport_mtu_bytes: None, ..plain() };
    assert_eq!(frame_of(&config, LinkHeader::default(), None, &data(1, 8800)), data(1, 8800));
    let acked = Config { transport_mtu_bytes: None, ..reliable() };
    let frame = frame_of(&acked, LinkHeader::default(), None, &data(1, 8800));
    assert_eq!(LpPacketView::decode(&frame).unwrap().frag_count, None);
}

#[test]
fn an_incomplete_packet_is_dropped_500_ms_after_its_latest_fragment() {
    let config = Config { transport_mtu_bytes: Some(500), ..plain() };
    let mut near = service(&config);
    near.send(Instant::ZERO, LinkHeader::default(), None, data(1, 1400).into()).unwrap();
    let sent = frames(&mut near, Instant::ZERO);
    assert_eq!(sent.len(), 3);
    let mut far = service(&config);
    far.receive(at(0), PEER, &sent[0]).unwrap();
    far.receive(at(400), PEER, &sent[1]).unwrap();
    // A repetition is not progress.
    assert_eq!(far.receive(at(450), PEER, &sent[1]), Err(DropReason::DuplicateFragment));
    assert_eq!(far.next_deadline(), at(900));
    far.handle_timeout(at(899));
    assert_eq!(far.usage().partial_packets, 1);
    far.handle_timeout(at(900));
    assert_eq!((far.usage().partial_packets, far.usage().partial_bytes), (0, 0));
    assert_eq!(far.drops().get(DropReason::PartialExpired), 1);
    far.receive(at(901), PEER, &sent[2]).unwrap();
    assert_eq!(far.poll_deliver(), None);
}

// Reliability.

/// Two services with reliability, to be connected by hand.
fn reliable_pair() -> (LinkService, LinkService) {
    (
        service(&reliable()),
        common::v2(&Config { reliability: Some(ReliabilityConfig::default()), ..plain() }, 2),
    )
}

fn send(service: &mut LinkService, now: Instant, number: u64) -> Vec<u8> {
    service.send(now, LinkHeader::default(), None, data(number, 40).into()).unwrap();
    let mut frames = frames(service, now);
    assert_eq!(frames.len(), 1);
    frames.remove(0)
}

fn ack(numbers: &[u64]) -> Vec<u8> {
    let mut frame = Vec::new();
    LpPacketView { acks: Acks::of(numbers), ..LpPacketView::default() }.encode(&mut frame);
    frame
}

/// (Sequence, TxSequence) of a frame.
fn numbers(frame: &[u8]) -> (u64, u64) {
    let view = LpPacketView::decode(frame).unwrap();
    (view.sequence.unwrap(), view.tx_sequence.unwrap())
}

#[test]
fn acks_travel_with_the_next_packet_if_one_leaves_in_time() {
    let (mut near, mut far) = reliable_pair();
    for number in 0..3 {
        let frame = send(&mut near, at(number), number);
        far.receive(at(number), PEER, &frame).unwrap();
    }
    let answer = send(&mut far, at(4), 100);
    let view = LpPacketView::decode(&answer).unwrap();
    assert_eq!(view.acks.iter().collect::<Vec<_>>(), [0, 1, 2]);
    assert!(view.fragment.is_some());
    assert_eq!((far.usage().pending_acks, far.counters().acks_out), (0, 3));
    near.receive(at(5), PEER, &answer).unwrap();
    assert_eq!((near.usage().unacknowledged_frames, near.counters().acks_in), (0, 3));
    assert_eq!(near.usage().outgoing_packets, 0);
}

#[test]
fn acks_fill_a_frame_to_the_mtu_and_the_rest_waits() {
    let config = Config { transport_mtu_bytes: Some(200), ..reliable() };
    let mut far = service(&config);
    for number in 0..40 {
        let packet = data(number, 40);
        let frame = LpPacketView {
            sequence: Some(number),
            tx_sequence: Some(number),
            fragment: Some(&packet),
            ..LpPacketView::default()
        };
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        far.receive(at(0), PEER, &bytes).unwrap();
    }
    far.handle_timeout(at(5));
    let sent = frames(&mut far, at(5));
    assert!(sent.iter().all(|frame| frame.len() <= 200));
    let counts: Vec<usize> =
        sent.iter().map(|frame| LpPacketView::decode(frame).unwrap().acks.len()).collect();
    assert_eq!(counts, [16, 16, 8]);
}

#[test]
fn a_frame_counts_as_lost_when_three_later_ones_are_acknowledged() {
    let (mut near, _) = reliable_pair();
    let lost = send(&mut near, at(0), 0);
    for number in 1..=3 {
        send(&mut near, at(number), number);
    }
    near.receive(at(10), PEER, &ack(&[1])).unwrap();
    near.receive(at(11), PEER, &ack(&[3])).unwrap();
    assert_eq!(frames(&mut near, at(11)), Vec::<Vec<u8>>::new());
    near.receive(at(12), PEER, &ack(&[2])).unwrap();
    let again = frames(&mut near, at(12));
    assert_eq!(again.len(), 1);
    // The same Sequence and packet, another TxSequence.
    assert_eq!((numbers(&lost), numbers(&again[0])), ((0, 0), (0, 4)));
    let fragment = |frame| LpPacketView::decode(frame).unwrap().fragment.map(<[u8]>::to_vec);
    assert_eq!(fragment(&lost), fragment(&again[0]));
    // An Ack for the first transmission comes too late to matter.
    near.receive(at(13), PEER, &ack(&[0])).unwrap();
    assert_eq!(near.usage().outgoing_packets, 1);
    near.receive(at(14), PEER, &ack(&[4])).unwrap();
    assert_eq!(near.usage().outgoing_packets, 0);
}

#[test]
fn an_ack_repeated_does_not_count_twice() {
    let (mut near, _) = reliable_pair();
    for number in 0..4 {
        send(&mut near, at(number), number);
    }
    for millis in 10..20 {
        near.receive(at(millis), PEER, &ack(&[1, 1, 2])).unwrap();
    }
    assert_eq!(near.counters().retransmissions, 0);
    assert_eq!(near.usage().unacknowledged_frames, 4);
}

#[test]
fn a_frame_counts_as_lost_after_the_retransmission_timeout_which_follows_the_round_trips() {
    let (mut near, _) = reliable_pair();
    send(&mut near, at(0), 0);
    assert_eq!(near.next_deadline(), at(1000));
    near.handle_timeout(at(999));
    assert!(frames(&mut near, at(999)).is_empty());
    near.handle_timeout(at(1000));
    let again = frames(&mut near, at(1000));
    assert_eq!(numbers(&again[0]), (0, 1));
    // No sample from a frame that was sent twice.
    near.receive(at(1300), PEER, &ack(&[1])).unwrap();
    assert_eq!(near.smoothed_round_trip(), None);
    send(&mut near, at(2000), 1);
    near.receive(at(2100), PEER, &ack(&[2])).unwrap();
    assert_eq!(near.smoothed_round_trip(), Some(Duration::from_millis(100)));
    assert_eq!(near.retransmission_timeout(), Some(Duration::from_millis(300)));
    send(&mut near, at(3000), 2);
    assert_eq!(near.next_deadline(), at(3300));
}

#[test]
fn an_ack_that_comes_after_the_timeout_tells_the_round_trip_and_spares_the_repetition() {
    let (mut near, _) = reliable_pair();
    for number in 0..2 {
        send(&mut near, at(0), number);
    }
    near.receive(at(20), PEER, &ack(&[0, 1])).unwrap();
    assert_eq!(near.retransmission_timeout(), Some(Duration::from_millis(200)));
    // The queue has grown: nothing comes back in 200 ms. Both are lost at once, and the timeout doubles once.
    let messages = [send(&mut near, at(100), 2), send(&mut near, at(100), 3)];
    near.handle_timeout(at(300));
    assert_eq!(near.retransmission_timeout(), Some(Duration::from_millis(400)));
    near.receive(at(350), PEER, &ack(&[2])).unwrap();
    assert!(near.smoothed_round_trip() > Some(Duration::from_millis(40)));
    assert!(near.retransmission_timeout() > Some(Duration::from_millis(250)));
    let again = frames(&mut near, at(350));
    assert_eq!(again.len(), 1, "the first has arrived");
    assert_eq!(numbers(&again[0]), (numbers(&messages[1]).0, 4));
    // Acks of both transmissions of the second settle it once.
    near.receive(at(360), PEER, &ack(&[3])).unwrap();
    near.receive(at(600), PEER, &ack(&[4])).unwrap();
    assert_eq!((near.usage(), near.next_deadline()), (Default::default(), Instant::NEVER));
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 0);
}

#[test]
fn a_fragment_that_was_acknowledged_twice_counts_once() {
    let mut near = service(&Config { transport_mtu_bytes: Some(500), ..reliable() });
    near.send(at(0), LinkHeader::default(), None, data(1, 800).into()).unwrap();
    assert_eq!(frames(&mut near, at(0)).len(), 2);
    near.handle_timeout(at(1000));
    assert_eq!(frames(&mut near, at(1000)).len(), 2);
    // Both transmissions of the first fragment, none of the second.
    near.receive(at(1100), PEER, &ack(&[2, 0])).unwrap();
    assert_eq!(near.usage().outgoing_packets, 1);
    near.receive(at(1200), PEER, &ack(&[1])).unwrap();
    assert_eq!((near.usage(), near.next_deadline()), (Default::default(), Instant::NEVER));
}

#[test]
fn after_three_retries_a_packet_is_given_up_and_counted() {
    let (mut near, _) = reliable_pair();
    near.send(at(0), LinkHeader::default(), None, Buffer::copy_from(&INTEREST)).unwrap();
    let mut transmissions = frames(&mut near, at(0)).len();
    // The timeout doubles twice.
    for seconds in [1, 3, 7, 11] {
        assert_eq!(near.drops().get(DropReason::RetriesExhausted), 0);
        assert_eq!(near.next_deadline(), Instant::from_secs(seconds));
        near.handle_timeout(Instant::from_secs(seconds));
        transmissions += frames(&mut near, Instant::from_secs(seconds)).len();
    }
    assert_eq!(transmissions, 4);
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 1);
    assert_eq!((near.usage(), near.next_deadline()), (Default::default(), Instant::NEVER));
}

#[test]
fn with_one_fragment_the_whole_packet_is_given_up() {
    let mut near = service(&Config { transport_mtu_bytes: Some(500), ..reliable() });
    near.send(at(0), LinkHeader::default(), None, data(1, 2000).into()).unwrap();
    assert_eq!(frames(&mut near, at(0)).len(), 5);
    // All but fragment 2 arrive; its retries do not.
    near.receive(at(100), PEER, &ack(&[0, 1, 3])).unwrap();
    for seconds in 1..=8 {
        near.handle_timeout(Instant::from_secs(seconds));
        frames(&mut near, Instant::from_secs(seconds));
    }
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 1);
    assert_eq!((near.usage(), near.next_deadline()), (Default::default(), Instant::NEVER));
}

/// A packet with two fragments under way, of which the first has used up its only retry and the second has
/// not.
fn almost_given_up() -> LinkService {
    let limits =
        ReliabilityConfig { max_retries: 1, first_tx_sequence: Some(0), ..ReliabilityConfig::default() };
    let mut near = service(&Config { transport_mtu_bytes: Some(500), reliability: Some(limits), ..plain() });
    for number in 0..3 {
        send(&mut near, at(0), number);
    }
    near.send(at(999), LinkHeader::default(), None, data(3, 800).into()).unwrap();
    assert!(near.poll_transmit(at(999), &mut Vec::new()).is_some());
    // Lost frames go first, so the fragments get the TxSequences 3 and 7.
    near.handle_timeout(at(1000));
    assert_eq!(frames(&mut near, at(1000)).len(), 4);
    near.receive(at(1010), PEER, &ack(&[4, 5, 6])).unwrap();
    assert_eq!(frames(&mut near, at(1010)).len(), 1);
    near
}

#[test]
fn a_lost_fragment_is_not_sent_again_once_its_packet_is_given_up() {
    let mut near = almost_given_up();
    let before = near.counters().retransmissions;
    near.handle_timeout(at(3010));
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 1);
    assert!(frames(&mut near, at(3010)).is_empty());
    assert_eq!((near.counters().retransmissions, near.usage()), (before, Default::default()));
}

#[test]
fn a_fragment_under_way_is_not_waited_for_once_its_packet_is_given_up() {
    let mut near = almost_given_up();
    near.handle_timeout(at(3000));
    assert_eq!(frames(&mut near, at(3000)).len(), 1);
    near.handle_timeout(at(5010));
    assert_eq!(near.drops().get(DropReason::RetriesExhausted), 1);
    assert_eq!((near.next_deadline(), near.usage()), (Instant::NEVER, Default::default()));
}

#[test]
fn a_frame_sent_again_is_acknowledged_again_and_not_delivered_again() {
    let (mut near, mut far) = reliable_pair();
    let first = send(&mut near, at(0), 0);
    near.handle_timeout(at(1000));
    let second = frames(&mut near, at(1000)).remove(0);
    far.receive(at(10), PEER, &first).unwrap();
    assert!(far.poll_deliver().is_some());
    assert_eq!(far.receive(at(1010), PEER, &second), Err(DropReason::DuplicateFrame));
    assert_eq!(far.receive(at(1011), PEER, &first), Err(DropReason::DuplicateFrame));
    assert_eq!(far.poll_deliver(), None);
    far.handle_timeout(at(1015));
    let acks = frames(&mut far, at(1015)).remove(0);
    assert_eq!(LpPacketView::decode(&acks).unwrap().acks.iter().collect::<Vec<_>>(), [0, 1, 0]);
}

#[test]
fn without_reliability_acks_and_txsequences_are_ignored() {
    let mut plain = service(&plain());
    plain.receive(at(0), PEER, &vector("reliable-first")).unwrap();
    plain.receive(at(0), PEER, &vector("reliable-first")).unwrap();
    assert!(plain.poll_deliver().is_some() && plain.poll_deliver().is_some());
    assert_eq!(plain.next_deadline(), Instant::NEVER);
    assert!(frames(&mut plain, at(0)).is_empty());
}

#[test]
fn numbers_wrap_without_a_stumble() {
    let config = Config {
        transport_mtu_bytes: Some(500),
        reliability: Some(ReliabilityConfig {
            first_sequence: Some(u64::MAX - 3),
            first_tx_sequence: Some(u64::MAX - 3),
            ..ReliabilityConfig::default()
        }),
        ..plain()
    };
    let ends = [service(&config), common::v2(&config, 2)];
    let mut pair =
        common::Pair::new(ends, &cairn_link::Faults { loss: 0.1, ..cairn_link::Faults::NONE }.into(), 3);
    for number in 0..20 {
        pair.send(0, &data(number, 2000)).unwrap();
        pair.run_until(pair.now + Duration::from_millis(50));
    }
    pair.run_until_quiet(Duration::from_secs(10));
    assert_eq!(pair.delivered[1].len(), 20);
    assert!(pair.ends[0].counters().retransmissions > 0);
}

#[test]
fn two_services_of_different_seeds_number_their_frames_differently() {
    let config = Config { reliability: Some(ReliabilityConfig::default()), ..plain() };
    let first = numbers(&send(&mut common::v2(&config, 1), at(0), 0));
    let second = numbers(&send(&mut common::v2(&config, 2), at(0), 0));
    assert!(first.0 != second.0 && first.1 != second.1 && first.0 != first.1);
}

// Congestion.

#[test]
fn packets_are_marked_when_the_send_queue_has_been_long_for_an_interval() {
    let config = Config { congestion_marking: Some(CongestionConfig::default()), ..plain() };
    let mut service = service(&config);
    let mut marked_at = Vec::new();
    service.handle_send_queue(Some(65_537));
    for millis in 0..300 {
        service.send(at(millis), LinkHeader::default(), None, Buffer::copy_from(&INTEREST)).unwrap();
        let sent = frames(&mut service, at(millis));
        if LpPacketView::decode(&sent[0]).unwrap().congestion_mark == 1 {
            marked_at.push(millis);
        }
    }
    assert_eq!(marked_at, [100, 171, 229, 279]);
    assert_eq!(service.counters().congestion_marks_out, 4);
    service.handle_send_queue(None);
    service.send(at(400), LinkHeader::default(), None, Buffer::copy_from(&INTEREST)).unwrap();
    assert_eq!(frames(&mut service, at(400)), [INTEREST.to_vec()]);
}

#[test]
fn a_mark_overwrites_the_one_a_packet_came_with() {
    let config = Config { congestion_marking: Some(CongestionConfig::default()), ..plain() };
    let mut service = service(&config);
    service.handle_send_queue(Some(1 << 20));
    let header = LinkHeader { congestion_mark: 77, ..LinkHeader::default() };
    for (millis, mark) in [(0, 77), (200, 1)] {
        service.send(at(millis), header.clone(), None, Buffer::copy_from(&INTEREST)).unwrap();
        let sent = frames(&mut service, at(millis));
        assert_eq!(LpPacketView::decode(&sent[0]).unwrap().congestion_mark, mark);
    }
}

// Changing parameters.

#[test]
fn parameters_can_change_while_packets_are_under_way() {
    let (mut near, _) = reliable_pair();
    send(&mut near, at(0), 0);
    // Local fields are no reason to forget what is under way, switching reliability off is.
    near.set_config(Config { local_fields: true, ..reliable() }).unwrap();
    assert_eq!(near.usage().unacknowledged_frames, 1);
    near.set_config(plain()).unwrap();
    assert_eq!((near.usage(), near.next_deadline()), (Default::default(), Instant::NEVER));
    assert_eq!(near.drops().get(DropReason::Reconfigured), 1);
    near.send(at(1), LinkHeader::default(), None, Buffer::copy_from(&INTEREST)).unwrap();
    assert_eq!(frames(&mut near, at(1)), [INTEREST.to_vec()]);
    let nonsense = Config { max_deliveries: 0, ..plain() };
    assert!(near.set_config(nonsense).is_err());
    assert_eq!(near.config(), &plain());
}
