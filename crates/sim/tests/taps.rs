//! Taps of the daemon on the faces of simulated nodes.

use std::sync::{Arc, Mutex};

use cairn_sim::{AppId, Consumer, LinkConfig, LinkDropReason, LinkId, Network, NodeId, Producer, SimError};
use link::{Direction, Fault, Faults, FrameTap, Impairment, ImpairmentConfig, TapVerdict};
use packet::ndn::lp::LpPacketView;
use packet::time::{Duration, Instant};

type Outcome = Result<(), SimError>;

/// A tap made of a function.
struct Does<F>(F);

impl<F: FnMut(Instant, Direction, &mut Vec<u8>) -> TapVerdict> FrameTap for Does<F> {
    fn on_frame(&mut self, now: Instant, direction: Direction, frame: &mut Vec<u8>) -> TapVerdict {
        (self.0)(now, direction, frame)
    }
}

fn tap(
    does: impl FnMut(Instant, Direction, &mut Vec<u8>) -> TapVerdict + Send + 'static,
) -> Box<dyn FrameTap + Send> {
    Box::new(Does(does))
}

const LINK: LinkId = LinkId(0);

/// A consumer that asks a thousand times, each time once, and a producer at the other end of one link.
fn pair(link: &LinkConfig) -> Result<(Network, [NodeId; 2], AppId), SimError> {
    let mut network = Network::new(1);
    let nodes = [network.add_node()?, network.add_node()?];
    network.connect(nodes[0], nodes[1], link)?;
    network.add_producer(nodes[1], "/data", Producer::of_packet_size(500))?;
    let asks = Consumer::constant_rate("/data", 1000.0)?.limit(1000).attempts(1);
    let consumer = network.add_application(nodes[0], asks)?;
    network.route_shortest_paths()?;
    Ok((network, nodes, consumer))
}

fn both_kinds() -> [LinkConfig; 2] {
    let link = LinkConfig::ideal().mbps(100.0).millis(1);
    [link.clone(), link.framed(link::v2::Config::default())]
}

fn received(network: &Network, consumer: AppId) -> u64 {
    network.consumer(consumer).map_or(0, |report| report.received)
}

fn dropped(network: &Network, reason: LinkDropReason) -> Result<u64, SimError> {
    Ok(network.link_counters(LINK)?.iter().map(|counters| counters.dropped(reason)).sum())
}

#[test]
fn a_tap_sees_the_frames_that_a_face_sends_and_receives_and_changes_nothing_by_that() -> Outcome {
    for link in both_kinds() {
        let (mut alone, ..) = pair(&link)?;
        assert!(alone.run_until_quiet(Duration::from_secs(10))?);
        let (mut network, [node, _], consumer) = pair(&link)?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = seen.clone();
        let watch = tap(move |now, direction, frame| {
            let kind = LpPacketView::decode(frame).ok().and_then(|view| view.fragment?.first().copied());
            notes.lock().unwrap().push((now, direction, kind));
            TapVerdict::Pass
        });
        network.add_tap(LINK, node, watch)?;
        assert!(network.run_until_quiet(Duration::from_secs(10))?);
        assert_eq!(network.trace().hash(), alone.trace().hash());
        let seen = seen.lock().unwrap();
        let of = |wanted| seen.iter().filter(|(_, direction, kind)| (*direction, *kind) == wanted).count();
        assert_eq!((of((Direction::Out, Some(5))), of((Direction::In, Some(6)))), (1000, 1000));
        assert_eq!((seen.len(), received(&network, consumer)), (2000, 1000));
    }
    Ok(())
}

#[test]
fn an_impairment_of_the_daemon_loses_in_a_simulated_network_what_it_says() -> Outcome {
    for link in both_kinds() {
        let (mut network, [_, node], consumer) = pair(&link)?;
        let faults = Faults { loss: 0.2, ..Faults::NONE };
        let impairment = Arc::new(Mutex::new(Impairment::new(ImpairmentConfig::from(faults), 7)));
        let shared = impairment.clone();
        let lossy = tap(move |now, direction, frame| shared.lock().unwrap().on_frame(now, direction, frame));
        network.add_tap(LINK, node, lossy)?;
        assert!(network.run_until_quiet(Duration::from_secs(20))?);
        let lost = impairment.lock().unwrap().count(Fault::Loss);
        // Each question crosses the face twice: 0.8^2 come back. Four deviations are 61.
        assert!((640 - 61..=640 + 61).contains(&received(&network, consumer)));
        assert_eq!(received(&network, consumer) + lost, 1000);
        assert_eq!(dropped(&network, LinkDropReason::Loss)?, lost);
        assert_eq!(network.packets_under_way(), 0);
    }
    Ok(())
}

#[test]
fn what_a_tap_makes_of_a_packet_is_what_arrives_or_is_dropped_if_it_is_none() -> Outcome {
    let [by_reference, _] = both_kinds();
    let (mut network, [node, _], consumer) = pair(&by_reference)?;
    let mut count = 0u64;
    let spoil = tap(move |_, direction, frame| {
        if direction == Direction::In {
            count += 1;
            match (count % 4, frame.len()) {
                // A type that is no packet's.
                (0, _) => frame[0] = 0xf0,
                // A byte of the content, which nobody checks here.
                (1, length) => frame[length / 2] ^= 1,
                _ => {}
            }
        }
        TapVerdict::Pass
    });
    network.add_tap(LINK, node, spoil)?;
    assert!(network.run_until_quiet(Duration::from_secs(20))?);
    assert_eq!(received(&network, consumer), 750);
    assert_eq!(dropped(&network, LinkDropReason::MalformedPacket)?, 250);
    assert_eq!(network.packets_under_way(), 0);
    Ok(())
}

#[test]
fn what_a_tap_delays_comes_later_and_what_it_doubles_comes_twice() -> Outcome {
    for link in both_kinds() {
        let (mut plain, _, consumer) = pair(&link)?;
        assert!(plain.run_until_quiet(Duration::from_secs(10))?);
        let fastest = plain.consumer(consumer).map(|report| report.delay_max).unwrap_or_default();
        let (mut network, [asking, answering], consumer) = pair(&link)?;
        let late = tap(|_, direction, _| match direction {
            Direction::In => TapVerdict::Delay(Duration::from_millis(7)),
            Direction::Out => TapVerdict::Pass,
        });
        network.add_tap(LINK, asking, late)?;
        let twice = tap(|_, direction, _| match direction {
            Direction::In => TapVerdict::Pass,
            Direction::Out => TapVerdict::Duplicate(Duration::from_millis(1), Duration::from_millis(3)),
        });
        network.add_tap(LINK, answering, twice)?;
        assert!(network.run_until_quiet(Duration::from_secs(20))?);
        let report = network.consumer(consumer).copied().unwrap_or_default();
        assert_eq!(report.received, 1000);
        let slowest = report.delay_max;
        assert!(slowest >= fastest + Duration::from_millis(8), "{fastest:?} {slowest:?}");
        assert!(slowest <= fastest + Duration::from_millis(9), "{fastest:?} {slowest:?}");
        // The second Data of each question finds nobody who waits.
        let unsolicited = network.engine(asking).map(|engine| engine.counters().drops);
        assert_eq!(unsolicited.map(|drops| drops.get(engine::DropReason::Unsolicited)), Some(1000));
        assert_eq!(network.packets_under_way(), 0);
    }
    Ok(())
}

#[test]
fn what_a_tap_holds_back_when_the_link_is_cut_does_not_arrive() -> Outcome {
    for link in both_kinds() {
        let (mut network, [node, _], consumer) = pair(&link)?;
        network.add_tap(LINK, node, tap(|_, _, _| TapVerdict::Delay(Duration::from_millis(100))))?;
        network.run_for(Duration::from_millis(50))?;
        network.take_down(LINK)?;
        assert!(network.run_until_quiet(Duration::from_secs(20))?);
        assert_eq!((received(&network, consumer), network.packets_under_way()), (0, 0));
    }
    Ok(())
}

#[test]
fn a_tap_needs_a_node_at_the_link() -> Outcome {
    let [link, _] = both_kinds();
    let (mut network, _, _) = pair(&link)?;
    let stranger = network.add_node()?;
    let watch = || tap(|_, _, _| TapVerdict::Pass);
    assert!(matches!(network.add_tap(LINK, stranger, watch()), Err(SimError::NotAtLink(..))));
    assert!(matches!(network.add_tap(LinkId(9), stranger, watch()), Err(SimError::NoLink(_))));
    Ok(())
}
