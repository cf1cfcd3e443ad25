//! A strategy of your own, in the simulator; `cairn::command().with_strategy(TURNS).run()` is a daemon and a
//! laboratory with it. Each Interest goes to the next hop whose turn it is.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::Duration;
use cairn::engine::{FaceId, Strategy, StrategyContext, StrategyKind, add_strategies};
use cairn::sim::{Consumer, LinkConfig, Network, Producer};

pub(crate) const TURNS: StrategyKind = StrategyKind {
    word: "turns",
    version: 1,
    start: |parameters| Ok(Box::new(RoundRobin { skip: parameters.count("skip", 0)?, sent: 0 })),
};

/// Next hops in turn.
#[derive(Debug)]
struct RoundRobin {
    skip: u32,
    sent: usize,
}

impl Strategy for RoundRobin {
    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let faces: Vec<FaceId> =
            context.eligible_next_hops().skip(self.skip as usize).map(|hop| hop.face).collect();
        if let Some(&face) = faces.get(self.sent % faces.len().max(1)) {
            self.sent += 1;
            context.send(face);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    add_strategies(vec![TURNS])?;
    let mut network = Network::new(1);
    let link = LinkConfig::ideal().mbps(10.0).millis(5);
    let nodes = network.add_nodes(4)?;
    let [reader, router, left, right] = nodes[..] else { return Err("there are four".into()) };
    for (a, b) in [(reader, router), (router, left), (router, right)] {
        network.connect(a, b, &link)?;
    }
    for producer in [left, right] {
        network.add_producer(producer, "/data", Producer::of_packet_size(1000))?;
        network.add_route(router, "/data", producer, 1)?;
    }
    network.add_route(reader, "/data", router, 1)?;
    network.set_strategy(router, "/data", "turns")?;
    let consumer = network.add_application(reader, Consumer::window("/data", 8)?)?;
    network.run_for(Duration::from_secs(1))?;
    let received = network.consumer(consumer).map_or(0, |report| report.received);
    let shares = [left, right].map(|node| network.engine(node).map_or(0, |e| e.counters().pending_created));
    println!("{received} received; left was asked {} times, right {}", shares[0], shares[1]);
    Ok(())
}
