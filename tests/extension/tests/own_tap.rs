//! A tap of one's own watches links of the simulator, with `cairn` as the only dependency.

#![allow(clippy::expect_used, reason = "tests may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cairn::link::{Direction, FrameTap, TapVerdict};
use cairn::packet::time::{Duration, Instant};
use cairn::sim::{Consumer, LinkConfig, Network, Producer, SimError};

/// Counts the frames that a node receives, and drops the first.
struct DropsTheFirst(Arc<AtomicU64>);

impl FrameTap for DropsTheFirst {
    fn on_frame(&mut self, _: Instant, direction: Direction, _: &mut Vec<u8>) -> TapVerdict {
        if direction == Direction::In && self.0.fetch_add(1, Ordering::Relaxed) == 0 {
            return TapVerdict::Drop;
        }
        TapVerdict::Pass
    }
}

#[test]
fn a_tap_of_ones_own_sees_frames_and_drops_one() -> Result<(), SimError> {
    let mut network = Network::new(1);
    let (near, far) = (network.add_node()?, network.add_node()?);
    let link = network.connect(near, far, &LinkConfig::ideal().millis(1))?;
    network.add_producer(far, "/data", Producer::new(100))?;
    let consumer = network.add_application(near, Consumer::window("/data", 1)?.limit(5))?;
    network.route_shortest_paths()?;
    let seen = Arc::new(AtomicU64::new(0));
    network.add_tap(link, near, Box::new(DropsTheFirst(Arc::clone(&seen))))?;
    network.run_for(Duration::from_secs(20))?;
    let report = network.consumer(consumer).expect("a consumer");
    assert_eq!(seen.load(Ordering::Relaxed), 1 + report.received, "{report:?}");
    assert!(report.received > 0, "{report:?}");
    Ok(())
}
