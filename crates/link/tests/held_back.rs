//! What a link holds back for its neighbour's sake leaves in the end, whatever is lost and whoever is silent.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::VecDeque;

use cairn_link::v2::{
    Config, EndpointId, LinkService, MIN_MTU_BYTES, MIN_STOCK_BUFFER_BYTES, PacingConfig, ReliabilityConfig,
};
use packet::ndn::lp::{Echo, LpPacketView};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader, TimeoutBounds};

mod common;
use common::{data, frames};

const START: Instant = Instant::from_secs(1);
const PEER: EndpointId = EndpointId(0);

fn paced(mtu_bytes: usize, reliability: Option<ReliabilityConfig>) -> Config {
    let pacing = PacingConfig {
        stock_buffer_bytes: MIN_STOCK_BUFFER_BYTES,
        probe_path_mtu: true,
        ..PacingConfig::default()
    };
    Config {
        transport_mtu_bytes: Some(mtu_bytes),
        pacing: Some(pacing),
        reliability,
        max_outgoing_packets: 1000,
        ..Config::default()
    }
}

fn send(link: &mut LinkService, now: Instant, number: u64, len: usize) {
    link.send(now, LinkHeader::NONE, None, Buffer::from(data(number, len))).unwrap();
}

/// Does what an owner does until nothing is left to happen: takes frames, and lets time pass to the next
/// deadline. `answer` says what comes back for a frame.
fn run_dry(
    link: &mut LinkService,
    start: Instant,
    mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Instant {
    let mut now = start;
    loop {
        loop {
            let frames = frames(link, now);
            if frames.is_empty() {
                break;
            }
            now += Duration::from_micros(1);
            for answer in frames.iter().filter_map(|frame| answer(frame)) {
                link.receive(now, PEER, &answer).unwrap();
            }
        }
        match link.next_deadline() {
            Instant::NEVER => return now,
            deadline => now = deadline.max(now + Duration::from_micros(1)),
        }
        assert!(now < start + Duration::from_secs(3600), "no end of deadlines");
        link.handle_timeout(now);
    }
}

/// The acknowledgement of a frame.
fn ack(frame: &[u8]) -> Option<Vec<u8>> {
    let number = LpPacketView::decode(frame).ok()?.tx_sequence?;
    let mut answer = Vec::new();
    let numbers = [number];
    LpPacketView { acks: packet::ndn::lp::Acks::of(&numbers), ..LpPacketView::default() }.encode(&mut answer);
    Some(answer)
}

/// An answer to a request for an echo.
fn echo(frame: &[u8]) -> Option<Vec<u8>> {
    cairn_link::v2::answer_echo(frame, 0)
}

/// Worlds with every kind of limit: MTUs without room for requests, and windows of acknowledgements that
/// forget what is on its way.
fn worlds() -> Vec<Config> {
    let mut worlds = Vec::new();
    for mtu_bytes in [MIN_MTU_BYTES, 90, 100, 300, 1400, 8800] {
        worlds.push(paced(mtu_bytes, None));
        for max_unacknowledged_frames in [1, 2, 3, 4096] {
            for max_retries in [0, 3] {
                worlds.push(paced(
                    mtu_bytes,
                    Some(ReliabilityConfig {
                        max_unacknowledged_frames,
                        max_retries,
                        rto: TimeoutBounds { max: Duration::from_secs(1), ..TimeoutBounds::default() },
                        ..ReliabilityConfig::default()
                    }),
                ));
            }
        }
    }
    worlds
}

/// Sends packets by turns of so many and one, to what answers so, and asserts that none waits in the end.
fn assert_nothing_stays(lens: &[usize], mut answer: impl FnMut(usize, &[u8]) -> Option<Vec<u8>>) {
    for config in worlds() {
        for burst in [1, 3, 40, 200] {
            let mut link = common::v2(&config, 7);
            let (mut now, mut count) = (START, 0);
            for round in 0..3 {
                for number in 0..burst {
                    send(&mut link, now, round * burst + number, lens[number as usize % lens.len()]);
                }
                now = run_dry(&mut link, now, |frame| {
                    count += 1;
                    answer(count, frame)
                });
                let usage = link.usage();
                assert_eq!(usage.waiting_packets, 0, "after round {round} of {burst}: {config:?}");
                assert_eq!(usage.outgoing_packets, 0, "after round {round} of {burst}: {config:?}");
            }
        }
    }
}

#[test]
fn nothing_waits_for_ever_for_a_neighbour_that_says_nothing() {
    assert_nothing_stays(&[150, 20, 900], |_, _| None);
}

#[test]
fn nothing_waits_for_ever_for_a_neighbour_that_only_acknowledges() {
    assert_nothing_stays(&[150, 20, 900], |_, frame| ack(frame));
}

#[test]
fn nothing_waits_for_ever_for_a_neighbour_that_only_echoes() {
    assert_nothing_stays(&[150, 20, 900], |_, frame| echo(frame));
}

#[test]
fn nothing_waits_for_ever_when_answers_are_lost() {
    for period in [2, 3, 7] {
        assert_nothing_stays(&[150, 20, 900], |count, frame| {
            if count % period == 0 { None } else { ack(frame).or_else(|| echo(frame)) }
        });
    }
}

#[test]
fn nothing_waits_for_ever_when_the_neighbour_falls_silent_after_it_has_answered() {
    assert_nothing_stays(
        &[150, 20, 900],
        |count, frame| {
            if count > 60 { None } else { ack(frame).or_else(|| echo(frame)) }
        },
    );
}

#[test]
fn a_packet_that_must_wait_for_an_echo_has_it_asked_for_in_the_same_breath() {
    let mut link = common::v2(&paced(8800, None), 1);
    send(&mut link, START, 0, 100);
    send(&mut link, START, 1, 8000);
    let frames = frames(&mut link, START);
    assert_eq!(link.usage().waiting_packets, 1, "small buffers hold no large frame behind another");
    assert!(frames.iter().any(|frame| echo(frame).is_some()));
}

#[test]
fn a_large_frame_that_was_lost_is_not_held_back_for_ever_by_small_ones() {
    let mut link = common::v2(&paced(8800, Some(ReliabilityConfig::default())), 1);
    let mut now = START;
    send(&mut link, now, 0, 8000);
    let mut sequence = None;
    for frame in frames(&mut link, now) {
        match echo(&frame) {
            Some(answer) => link.receive(now, PEER, &answer).unwrap(),
            None => sequence = LpPacketView::decode(&frame).unwrap().sequence,
        }
    }
    // The large frame is lost; small ones come without a pause and are acknowledged a little later.
    let mut under_way = Vec::new();
    for number in 1..400 {
        now += Duration::from_micros(50);
        if link.next_deadline() <= now {
            link.handle_timeout(now);
        }
        let _ = link.send(now, LinkHeader::NONE, None, Buffer::from(data(number, 100)));
        for frame in frames(&mut link, now) {
            if LpPacketView::decode(&frame).unwrap().sequence.is_some_and(|number| Some(number) == sequence) {
                return;
            }
            under_way.push((now + Duration::from_micros(350), frame));
        }
        while under_way.first().is_some_and(|(at, _)| *at <= now) {
            let (_, frame) = under_way.remove(0);
            if let Some(answer) = ack(&frame).or_else(|| echo(&frame)) {
                link.receive(now, PEER, &answer).unwrap();
            }
        }
    }
    panic!("the large frame was not sent again within {}", now.saturating_since(START));
}

#[test]
fn packets_that_wait_do_not_make_the_link_forget_those_on_their_way() {
    let max_unacknowledged_bytes = 20_000;
    let reliability = ReliabilityConfig { max_unacknowledged_bytes, ..ReliabilityConfig::default() };
    let mut link = common::v2(&paced(1400, Some(reliability)), 1);
    for number in 0..200 {
        send(&mut link, START, number, 1000);
    }
    let sent = frames(&mut link, START).iter().filter(|frame| ack(frame).is_some()).count();
    assert!(link.usage().waiting_packets > 100, "the neighbour takes only a few at a time");
    assert_eq!(link.usage().unacknowledged_frames, sent);
}

#[test]
fn a_neighbour_that_was_fast_and_says_nothing_any_more_is_sent_to_within_seconds() {
    let mut link = common::v2(&paced(1400, None), 1);
    let packet = Buffer::from(data(1, 1000));
    let mut now = START;
    let mut step = |now: Instant, capacity: Option<u64>| {
        if link.next_deadline() <= now {
            link.handle_timeout(now);
        }
        let _ = link.send(now, LinkHeader::NONE, None, packet.clone());
        for frame in frames(&mut link, now) {
            if let Some(answer) = capacity.and_then(|bytes| cairn_link::v2::answer_echo(&frame, bytes)) {
                link.receive(now, PEER, &answer).unwrap();
            }
        }
        (link.counters().packets_out, link.usage().waiting_packets)
    };
    while now < START + Duration::from_secs(2) {
        now += Duration::from_micros(2);
        let (sent, waiting) = step(now, Some(8 << 20));
        assert!(sent < 100 || waiting == 0, "it told that its socket holds plenty");
    }
    // It has been replaced by something that knows no echoes. What it told is believed for 15 seconds.
    let silent_from = now;
    while now < silent_from + Duration::from_secs(30) {
        now += Duration::from_millis(10);
        let (_, waiting) = step(now, None);
        assert!(
            now < silent_from + Duration::from_secs(20) || waiting == 0,
            "a hundred packets a second wait for nobody"
        );
    }
}

/// A request for an echo that says what its sender's receive buffer holds. To write it one needs to know
/// nothing.
fn request(number: u64, receive_capacity: u64) -> Vec<u8> {
    let mut request = Vec::new();
    let view = LpPacketView {
        echo: Some(Echo::Request(number)),
        receive_capacity,
        padding: 50,
        ..LpPacketView::default()
    };
    view.encode(&mut request);
    request
}

/// How many of 1,000 packets leave in ten milliseconds; `answer` says what comes back for a frame,
/// two milliseconds later.
fn leaves_at_once(
    link: &mut LinkService,
    start: Instant,
    mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> usize {
    for number in 0..1000 {
        let _ = link.send(start, LinkHeader::NONE, None, Buffer::from(data(number, 1000)));
    }
    let (mut left, mut answers) = (0, VecDeque::new());
    for micros in 0..10_000 {
        let now = start + Duration::from_micros(micros);
        if link.next_deadline() <= now {
            link.handle_timeout(now);
        }
        for frame in frames(link, now) {
            left += usize::from(frame.len() > 500);
            answers.extend(answer(&frame).map(|answer| (now + Duration::from_millis(2), answer)));
        }
        while answers.front().is_some_and(|(due, _)| *due <= now) {
            let (_, answer) = answers.pop_front().unwrap();
            link.receive(now, PEER, &answer).unwrap();
        }
    }
    left
}

#[test]
fn what_a_request_for_an_echo_says_of_a_receive_buffer_changes_nothing() {
    let outcome = |forged: Option<u64>, answers: bool| {
        let mut link = common::v2(&paced(1400, None), 1);
        // So that it is known whether the neighbour answers.
        let mut answer = |frame: &[u8]| cairn_link::v2::answer_echo(frame, 212_992).filter(|_| answers);
        leaves_at_once(&mut link, START, &mut answer);
        let mut now = START + Duration::from_secs(5);
        link.handle_timeout(now);
        while link.usage().waiting_packets > 0 {
            now += Duration::from_millis(10);
            link.handle_timeout(now);
            for frame in frames(&mut link, now) {
                if let Some(answer) = answer(&frame) {
                    link.receive(now, PEER, &answer).unwrap();
                }
            }
        }
        now += Duration::from_secs(1);
        if let Some(capacity) = forged {
            link.receive(now, PEER, &request(7, capacity)).unwrap();
        }
        leaves_at_once(&mut link, now, &mut answer)
    };
    for answers in [false, true] {
        let honest = outcome(None, answers);
        assert!(honest > 0 && honest < 900, "{honest} leave unforged");
        for capacity in [1, 8 << 20, u64::MAX] {
            let forged = outcome(Some(capacity), answers);
            // The neighbour is asked, which costs a frame or two of what may leave.
            assert!(forged <= honest && forged + 5 >= honest, "{forged} for {honest} with {capacity}");
        }
    }
}

#[test]
fn a_silent_neighbour_that_asks_for_an_echo_is_asked_with_the_next_frame_and_its_answer_is_believed() {
    let mut link = common::v2(&paced(1400, None), 1);
    let before = leaves_at_once(&mut link, START, |_| None);
    let now = START + Duration::from_secs(2);
    link.handle_timeout(now);
    link.evict_waiting_packets();
    link.receive(now, PEER, &request(7, 8 << 20)).unwrap();
    let mut asked = 0;
    let after = leaves_at_once(&mut link, now, |frame| {
        let answer = cairn_link::v2::answer_echo(frame, 8 << 20);
        asked += usize::from(answer.is_some());
        answer
    });
    assert!(before < 500 && after == 1000 && asked >= 1, "{before} {after} {asked}");
}

#[test]
fn requests_for_echoes_alone_are_answered_each_by_one_and_by_nothing_else() {
    let mut link = common::v2(&paced(1400, None), 1);
    for number in 0..100 {
        let now = START + Duration::from_millis(number);
        let request = request(number, 8 << 20);
        link.receive(now, PEER, &request).unwrap();
        link.handle_timeout(now);
        let answers = frames(&mut link, now);
        assert_eq!(answers.len(), 1);
        assert!(answers[0].len() <= request.len());
    }
}

#[test]
fn an_echo_is_asked_for_as_soon_as_frames_have_room_for_the_request() {
    let asks = |link: &mut LinkService, now: Instant| {
        for number in 0..50 {
            send(link, now, number, 60);
        }
        frames(link, now).iter().any(|frame| {
            LpPacketView::decode(frame).is_ok_and(|view| matches!(view.echo, Some(Echo::Request(_))))
        })
    };
    let config = paced(1400, None);
    let mut link = common::v2(&Config { mtu_override_bytes: Some(MIN_MTU_BYTES), ..config.clone() }, 1);
    assert!(!asks(&mut link, START));
    link.set_config(config).unwrap();
    assert!(asks(&mut link, START + Duration::from_secs(1)));
}

#[test]
fn nothing_waits_for_acknowledgements_of_what_was_forgotten() {
    // Requests for echoes do not fit, so acknowledgements alone open the window.
    let reliability = ReliabilityConfig { max_retries: 1, ..ReliabilityConfig::default() };
    let mut link = common::v2(&paced(MIN_MTU_BYTES, Some(reliability)), 1);
    for number in 0..20 {
        send(&mut link, START, number, 20);
    }
    assert!(!frames(&mut link, START).is_empty());
    assert!(link.usage().waiting_packets > 0, "the window is full");
    link.set_config(paced(MIN_MTU_BYTES, Some(ReliabilityConfig::default()))).unwrap();
    send(&mut link, START, 20, 20);
    run_dry(&mut link, START, ack);
    assert_eq!(link.usage().waiting_packets, 0);
}

#[test]
fn what_waits_leaves_at_once_when_pacing_is_switched_off() {
    let config = paced(1400, None);
    let mut link = LinkService::new(config.clone(), Random::from_seed(1)).unwrap();
    for number in 0..100 {
        send(&mut link, START, number, 1000);
    }
    frames(&mut link, START);
    let waiting = link.usage().waiting_packets;
    assert!(waiting > 50);
    link.set_config(Config { pacing: None, ..config }).unwrap();
    assert!(link.wants_poll());
    assert_eq!(frames(&mut link, START).len(), waiting);
}

#[test]
fn a_path_that_comes_to_drop_large_datagrams_is_noticed_within_three_seconds_whatever_the_neighbour_says() {
    for (asks, drops_after) in [(false, 2), (false, 7), (true, 2), (true, 7), (true, 11)] {
        let mut link = common::v2(&paced(8800, None), 7);
        let (mut now, mut noticed) = (START, None);
        let falls_at = START + Duration::from_secs(drops_after);
        let deliver = |link: &mut LinkService, now: Instant, frame: &[u8]| {
            let arrives = now < falls_at || frame.len() <= 1300;
            if let Some(answer) = cairn_link::v2::answer_echo(frame, 8 << 20).filter(|_| arrives) {
                link.receive(now, PEER, &answer).unwrap();
            }
        };
        // 50 packets a second, as a consumer asks for them; and a neighbour that asks for echoes itself.
        for number in 0..50 * 20 {
            now += Duration::from_millis(20);
            link.handle_timeout(now);
            if asks && number % 40 == 0 {
                let mut request = Vec::new();
                let view = LpPacketView {
                    echo: Some(Echo::Request(number)),
                    receive_capacity: 8 << 20,
                    padding: 100,
                    ..LpPacketView::default()
                };
                view.encode(&mut request);
                link.receive(now, PEER, &request).unwrap();
            }
            let packet = data(number, 3000);
            if !link.frame_bare(now, &packet) {
                send(&mut link, now, number, 3000);
            }
            for frame in frames(&mut link, now) {
                deliver(&mut link, now + Duration::from_millis(1), &frame);
            }
            if noticed.is_none() && link.mtu_bytes().unwrap() <= 1300 {
                noticed = Some(now);
            }
        }
        let took = noticed.expect("it was never noticed").saturating_since(falls_at);
        assert!(took <= Duration::from_secs(3), "{took:?}, dropped after {drops_after} s");
    }
}
