//! Framing held against what CCNx's own programs put on the wire.

use engine::batch::Arrivals;
use engine::{Engine, EngineConfig, FaceConfig, FaceId, FaceScope};
use packet::ccnx::{InterestFields, uri};
use packet::time::{Duration, Instant};
use packet::{Dialect, Interest, NackReason};

use super::*;
use crate::control::CongestionSettings;

/// A node of one codec, and an application that everything is sent to.
struct Bench {
    codec: CcnxCodec,
    engine: Engine,
    arrivals: Arrivals,
}

/// Frames, each with its packet behind its head.
#[derive(Default)]
struct Frames(Vec<Vec<u8>>, Vec<u8>);

impl FrameSink for Frames {
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.1
    }

    fn end_frame(&mut self, packet: Option<Buffer>) {
        let mut frame = std::mem::take(&mut self.1);
        frame.extend_from_slice(&packet.unwrap_or_else(|| Buffer::from(Vec::new())));
        self.0.push(frame);
    }
}

const STREAM: LinkSettings = LinkSettings {
    local_fields: true,
    reliability: false,
    congestion_marking: false,
    congestion: CongestionSettings { interval: Duration::ZERO, threshold_bytes: 0 },
    transport_mtu_bytes: None,
    mtu_override_bytes: None,
    multi_access: false,
    padded_frames: false,
    parity: false,
    fragmentation: false,
    receive_capacity_bytes: None,
    probe_path_mtu: false,
    may_be_adapter: true,
    stuffed_bytes: 0,
    ndnlp: false,
    ndnlp1_timings: link::v1::Timings::PAPER,
};
const DATAGRAMS: LinkSettings =
    LinkSettings { local_fields: false, transport_mtu_bytes: Some(65_507), may_be_adapter: false, ..STREAM };

const NEAR: FaceId = FaceId(256);

impl Bench {
    fn new(settings: LinkSettings) -> Self {
        let mut engine = Engine::new(EngineConfig::seeded(1).unwrap()).unwrap();
        let face = FaceConfig { dialect: Dialect::Ccnx, scope: FaceScope::Local, ..FaceConfig::remote() };
        engine.add_face(Instant::ZERO, NEAR, face).unwrap();
        Bench {
            codec: CcnxCodec::new(settings, Random::from_seed(1)).unwrap(),
            engine,
            arrivals: Arrivals::new(NEAR),
        }
    }

    fn receive(&mut self, frame: &[u8]) {
        let mut input = PacketInput { engine: &mut self.engine, arrivals: &mut self.arrivals };
        self.codec.receive(Frame { now: Instant::ZERO, from: 0, bytes: frame }, &mut input);
    }

    /// Interests and ContentObjects that the engine was given.
    fn taken(&mut self) -> [u64; 2] {
        self.arrivals.hand_over(Instant::ZERO, &mut self.engine);
        let packets = self.engine.face_counters(NEAR).unwrap().packets;
        [packets.in_interests, packets.in_data]
    }

    /// Splits a stream that comes in pieces; the lengths of what was found.
    fn split(&mut self, stream: &[u8], piece: usize) -> Result<Vec<usize>, Framing> {
        let (mut lengths, mut kept) = (Vec::new(), Vec::new());
        for piece in stream.chunks(piece) {
            kept.extend_from_slice(piece);
            let mut rest = &kept[..];
            loop {
                match self.codec.framing(rest) {
                    Framing::Complete(length) => {
                        let (frame, after) = rest.split_at(length);
                        self.receive(frame);
                        lengths.push(length);
                        rest = after;
                    }
                    Framing::Incomplete => break,
                    other => return Err(other),
                }
            }
            kept = rest.to_vec();
        }
        assert_eq!(kept, []);
        Ok(lengths)
    }

    fn send(&mut self, packet: Packet) -> Vec<Vec<u8>> {
        let mut frames = Frames::default();
        self.codec.send(Instant::ZERO, transmit(packet), &mut frames);
        frames.0
    }

    fn dropped(&self, word: &str) -> u64 {
        self.codec.drops().into_iter().find(|(known, _)| *known == word).map_or(0, |(_, count)| count)
    }
}

fn transmit(packet: Packet) -> Transmit {
    Transmit {
        packet,
        pit_token: Default::default(),
        congestion_mark: 0,
        face: NEAR,
        incoming_face: None,
        prefix_announcement: None,
        explicit_rate: None,
        non_discovery: false,
        cache_policy: None,
    }
}

/// Kinds and lengths of the messages in a capture.
fn messages(vector: &testkit::vectors::Vector) -> Vec<(String, usize)> {
    let all = vector.get("messages").unwrap().split(", ").map(|item| item.split_once(' ').unwrap());
    all.map(|(kind, length)| (kind.to_owned(), length.parse().unwrap())).collect()
}

fn captured(kind: &str) -> Vec<testkit::vectors::Vector> {
    let mut all = testkit::vectors::load("ccnx-exchanges");
    all.retain(|vector| vector.kind() == kind);
    assert!(all.len() >= 2, "there are captures of {kind}");
    all
}

fn count(messages: &[(String, usize)], kind: &str) -> u64 {
    messages.iter().filter(|(other, _)| other == kind).count() as u64
}

fn interest(uri: &str, fields: InterestFields<'_>) -> Interest {
    Interest::decode_ccnx(fields.encode(&uri::parse(uri).unwrap()).unwrap().into()).unwrap()
}

fn plain(uri: &str) -> Interest {
    interest(uri, InterestFields { nonce: Some(b"once"), ..InterestFields::default() })
}

#[test]
fn every_message_of_a_captured_datagram_is_taken() {
    for vector in captured("ccnx-datagram") {
        let listed = messages(&vector);
        let mut bench = Bench::new(DATAGRAMS);
        bench.receive(&vector.bytes);
        let expected = [count(&listed, "Interest"), count(&listed, "ContentObject")];
        assert_eq!(bench.taken(), expected, "{}", vector.name);
        assert_eq!(bench.codec.drops(), [], "{}", vector.name);
        // The number is remembered, the same again is as if all others had been lost: it began anew.
        bench.receive(&vector.bytes);
        assert_eq!(bench.dropped("lost-datagram"), 0);
        assert!(is_welcome(&vector.bytes));
    }
}

#[test]
fn a_captured_stream_is_cut_alike_wherever_its_pieces_end_and_what_is_wrapped_is_taken() {
    for vector in captured("ccnx-stream") {
        let listed = messages(&vector);
        let lengths: Vec<usize> = listed.iter().map(|(_, length)| *length).collect();
        let mut seen = None;
        for piece in [1, 7, 100, 4096] {
            let mut bench = Bench::new(STREAM);
            assert_eq!(bench.split(&vector.bytes, piece), Ok(lengths.clone()), "{} {piece}", vector.name);
            assert!(bench.codec.is_adapter());
            let taken = bench.taken();
            assert_eq!(*seen.get_or_insert(taken), taken, "{} {piece}", vector.name);
            // What was not wrapped, and what was, but for the empty wrapper.
            let empty = listed.iter().filter(|(_, length)| *length == pdu::EMPTY_PDU.len()).count();
            assert_eq!(taken.iter().sum::<u64>(), (listed.len() - empty) as u64, "{} {piece}", vector.name);
            assert_eq!(bench.codec.drops(), []);
        }
    }
}

#[test]
fn whoever_wraps_is_sent_wrapped_messages_and_nobody_else_is() {
    let packet = || Packet::Interest(plain("ccnx:/a"));
    let mut bench = Bench::new(STREAM);
    assert_eq!(bench.send(packet()), [packet().wire().to_vec()]);
    bench.receive(&pdu::EMPTY_PDU);
    assert_eq!(bench.send(packet()).concat(), pdu::wrap_pdu(packet().wire()));
    // Over TCP and UDP nobody is a link adapter.
    let mut bench = Bench::new(LinkSettings { may_be_adapter: false, ..STREAM });
    bench.receive(&pdu::wrap_pdu(packet().wire()));
    assert_eq!((bench.taken(), bench.dropped("unknown-packet-type")), ([0, 0], 1));
    assert_eq!(bench.send(packet()), [packet().wire().to_vec()]);
}

#[test]
fn a_wrapper_in_a_wrapper_is_stepped_over() {
    let mut bench = Bench::new(STREAM);
    let inner = pdu::wrap_pdu(plain("ccnx:/a").wire());
    bench.receive(&pdu::wrap_pdu(&[&inner[..], plain("ccnx:/b").wire()].concat()));
    assert_eq!((bench.taken(), bench.dropped("unknown-packet-type")), ([1, 0], 1));
}

#[test]
fn a_heartbeat_is_no_message_and_no_mistake() {
    let mut bench = Bench::new(DATAGRAMS);
    for heartbeat in [&b""[..], b"x", &[0]] {
        bench.receive(heartbeat);
        assert!(is_welcome(heartbeat) && is_heartbeat(heartbeat));
    }
    assert_eq!((bench.taken(), bench.codec.drops()), ([0, 0], vec![]));
    assert!(!is_welcome(b"xy") && !is_welcome(&[0; 100]) && !is_welcome(b"\x01\xd2\xf2"));
}

#[test]
fn what_stands_before_garbage_in_a_datagram_is_taken() {
    let mut bench = Bench::new(DATAGRAMS);
    bench.receive(&[plain("ccnx:/a").wire(), &b"\x87garbage"[..], plain("ccnx:/b").wire()].concat());
    assert_eq!((bench.taken(), bench.dropped("malformed-packet")), ([1, 0], 1));
}

#[test]
fn datagrams_that_are_missing_are_counted_and_a_peer_that_begins_anew_is_not() {
    let mut bench = Bench::new(DATAGRAMS);
    let mut lost = Vec::new();
    for number in [10, 11, 14, 15, 0xfff0, 0xffff, 3, 2000, 2001] {
        bench.receive(&SequenceNumber::new(number).encode());
        lost.push(bench.dropped("lost-datagram"));
    }
    assert_eq!(lost, [0, 0, 2, 2, 2, 16, 19, 19, 19]);
}

#[test]
fn interests_leave_together_as_long_as_a_datagram_has_room() {
    let mut bench = Bench::new(LinkSettings { stuffed_bytes: 100, ..DATAGRAMS });
    let name = |number: usize| format!("ccnx:/stuffed/{number}");
    let length = plain(&name(0)).wire().len();
    let mut frames = Frames::default();
    for number in 0..7 {
        bench.codec.send(Instant::ZERO, transmit(Packet::Interest(plain(&name(number)))), &mut frames);
    }
    assert!(bench.codec.wants_poll());
    bench.codec.poll_frames(Instant::ZERO, &mut frames);
    assert!(!bench.codec.wants_poll());
    let most = 100 / length;
    assert!(most >= 2 && frames.0.len() == 7usize.div_ceil(most), "{length} {:?}", frames.0.len());
    let mut other = Bench::new(DATAGRAMS);
    frames.0.iter().for_each(|frame| other.receive(frame));
    assert_eq!(other.taken(), [7, 0]);
    // One that is larger than that goes alone.
    let large = plain(&format!("ccnx:/{}", "x".repeat(200)));
    assert_eq!(bench.send(Packet::Interest(large.clone())), [large.wire().to_vec()]);
}

#[test]
fn a_face_that_an_application_names_is_followed_and_named_to_nobody() {
    let fields = InterestFields { face_id: Some(300), ..InterestFields::default() };
    for (settings, face) in [(STREAM, Some(300)), (DATAGRAMS, None)] {
        let mut bench = Bench::new(settings);
        let target = FaceConfig { dialect: Dialect::Ccnx, ..FaceConfig::remote() };
        bench.engine.add_face(Instant::ZERO, FaceId(300), target).unwrap();
        bench.receive(interest("ccnx:/a", fields).wire());
        assert_eq!(bench.taken(), [1, 0]);
        let sent = bench.engine.poll_transmit();
        assert_eq!(sent.as_ref().map(|transmit| transmit.face.0), face);
        let Some(Transmit { packet: Packet::Interest(sent), .. }) = sent else { continue };
        assert_eq!(sent.ccnx().unwrap().face_id(), None);
    }
}

#[test]
fn a_refusal_has_no_word_in_this_dialect_and_is_not_sent() {
    let mut bench = Bench::new(DATAGRAMS);
    assert_eq!(bench.send(Packet::Nack(plain("ccnx:/a"), NackReason::NoRoute)), Vec::<Vec<u8>>::new());
    assert_eq!(bench.dropped("nack-to-ccnx"), 1);
}

#[test]
fn a_stream_that_begins_with_a_request_for_the_status_page_is_one_and_later_it_is_garbage() {
    let framing = |stream: &[u8]| Bench::new(STREAM).codec.framing(stream);
    // What ccndsmoketest and browsers send.
    assert_eq!(framing(b"GET / HT"), Framing::StatusRequest(6));
    assert_eq!(framing(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Framing::StatusRequest(6));
    assert_eq!(framing(b"GET /?f=xml HT"), Framing::StatusRequest(12));
    assert_eq!(framing(b"GET /a-long-way-to-go HTTP/1.1"), Framing::StatusRequest(15));
    for cut in 1..6 {
        assert_eq!(framing(&b"GET / HT"[..cut]), Framing::Incomplete);
    }
    let mut bench = Bench::new(STREAM);
    let stream = [plain("ccnx:/a").wire(), &b"GET / HTTP/1.1\r\n"[..]].concat();
    assert_eq!(bench.split(&stream, 4096), Err(Framing::Invalid));
    // A connection that is made anew begins anew.
    bench.codec.begin_stream();
    assert_eq!(bench.codec.framing(b"GET / HT"), Framing::StatusRequest(6));
}

#[test]
fn a_message_that_is_too_large_is_refused_before_it_is_waited_for() {
    let mut bench = Bench::new(STREAM);
    // An Interest whose first component is said to have a mebibyte.
    assert_eq!(bench.codec.framing(&[0x01, 0xd2, 0xf2, 0xfa, 0x01, 0x00, 0x00, 0x85]), Framing::Invalid);
    assert_eq!(Bench::new(STREAM).codec.framing(&[0xf2; 40]), Framing::Invalid);
    assert_eq!(Bench::new(STREAM).codec.framing(&[5, 2, 0, 0]), Framing::Incomplete);
}

#[test]
fn captures_by_name_see_what_is_in_a_datagram_and_in_a_wrapper() {
    let packet = plain("ccnx:/a/b");
    let name = Some(packet.name().canonical().to_vec());
    assert_eq!(name_in(packet.wire()), name);
    assert_eq!(name_in(&[packet.wire(), &b"rest"[..]].concat()), name);
    assert_eq!(name_in(&pdu::wrap_pdu(packet.wire())), name);
    assert_eq!(name_in(&pdu::EMPTY_PDU), None);
    assert_eq!(name_in(b"x"), None);
}

#[test]
fn over_ndnlp_a_large_message_is_cut_acknowledged_and_put_together() {
    let settings =
        LinkSettings { ndnlp: true, reliability: true, transport_mtu_bytes: Some(1420), ..DATAGRAMS };
    let (mut near, mut far) = (Bench::new(settings), Bench::new(settings));
    let large = plain(&format!("ccnx:/{}", ["x".repeat(800), "y".repeat(2000)].join("/")));
    let packets = near.send(Packet::Interest(large));
    assert_eq!(packets.len(), 3);
    assert!(packets.iter().all(|packet| packet.len() <= 1420 && is_ndnlp1(packet) && is_welcome(packet)));
    packets.iter().rev().for_each(|packet| far.receive(packet));
    assert_eq!(far.taken(), [1, 0]);
    let mut acks = Frames::default();
    far.codec.handle_timeout(far.codec.next_deadline(), &mut acks);
    assert_eq!(acks.0.len(), 1);
    assert!(near.codec.next_deadline() < Instant::NEVER, "it waits for an acknowledgement");
    near.receive(&acks.0[0]);
    assert_eq!(near.codec.next_deadline(), Instant::NEVER);
    // One that never comes is sent again.
    let packets = near.send(Packet::Interest(plain("ccnx:/a")));
    let mut again = Frames::default();
    near.codec.handle_timeout(near.codec.next_deadline(), &mut again);
    assert_eq!(again.0, packets);
    // What is no packet is counted by the link.
    near.receive(b"garbage");
    assert_eq!(near.dropped("malformed-frame"), 1);
    near.codec.evict_partial_packets();
    assert_eq!(near.codec.partial_bytes(), 0);
}
