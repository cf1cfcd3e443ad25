//! A controller of your own beside CUBIC; `cairn::command().with_controller(GENTLE)` knows it by its name.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::flow::controller::{Allowance, Controller, DataReport, LossReport, NackReport};
use cairn::flow::{ControllerKind, TransferConfig};
use cairn::sim::{LinkConfig, Network, Producer, Queue, TransferConsumer};
use cairn::{ControllerSpec, Duration, Instant};

pub(crate) const GENTLE: ControllerKind = ControllerKind {
    word: "gentle",
    start: |given, _seed| Ok(Box::new(Gentle { window: 2.0, give: given.factor("give", 0.125)? })),
};

/// One more for a window of Data, and a little less for each that is lost or came through a long queue.
#[derive(Debug)]
struct Gentle {
    window: f64,
    give: f64,
}

impl Gentle {
    fn ease(&mut self) {
        self.window = (self.window * (1.0 - self.give)).max(1.0);
    }
}

impl Controller for Gentle {
    fn allowance(&self) -> Allowance {
        Allowance::window(self.window)
    }

    fn handle_data(&mut self, _now: Instant, data: &DataReport) {
        if data.congestion_marked { self.ease() } else { self.window += 1.0 / self.window }
    }

    fn handle_nack(&mut self, _now: Instant, _nack: &NackReport) {
        self.ease();
    }

    fn handle_loss(&mut self, _now: Instant, _loss: &LossReport) {
        self.ease();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for controller in [ControllerSpec::of(GENTLE)?, "cubic".parse()?] {
        let mut network = Network::new(1);
        let link = LinkConfig::ideal().mbps(10.0).millis(10).queue(Queue::packets(50));
        let nodes = network.chain(3, &link)?;
        network.add_producer(nodes[2], "/data", Producer::of_packet_size(1250))?;
        let config = TransferConfig { controller: controller.clone(), ..TransferConfig::default() };
        let consumer = network.add_application(nodes[0], TransferConsumer::new("/data", config)?)?;
        network.route_shortest_paths()?;
        network.run_for(Duration::from_secs(10))?;
        let bytes = network.application::<TransferConsumer>(consumer).map_or(0, |all| all.packet_bytes());
        println!("{controller}: {:.1} Mbit/s of 10", bytes as f64 * 8.0 / 10.0 / 1e6);
    }
    Ok(())
}
