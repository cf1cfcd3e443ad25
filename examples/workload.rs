//! A workload of your own; `cairn::command().with_workload(PAGES).run()` knows it by its name. A reader opens
//! a page of several objects, and the next one some time after all of that have come.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::flow::workload::{Outcome, Setting, Workload, WorkloadKind, WorkloadSpec};
use cairn::sim::{LinkConfig, Network, Producer, WorkloadConsumer};
use cairn::{Duration, Instant};

pub(crate) const PAGES: WorkloadKind = WorkloadKind {
    word: "pages",
    start: |given, &Setting { begin, .. }| {
        let objects = given.limit("objects")?.unwrap_or(10);
        let pause = Duration::from_secs_f64(given.number("pause", 1.0, (0.0, 3600.0))?);
        Ok(Box::new(Pages { objects, pause, left: objects, open: 0, item: 0, due: begin }))
    },
};

/// Page after page.
#[derive(Debug)]
struct Pages {
    objects: u64,
    pause: Duration,
    left: u64,
    open: u64,
    item: u64,
    due: Instant,
}

impl Workload for Pages {
    fn poll_item(&mut self, now: Instant) -> Option<u64> {
        let item = (self.next_deadline() <= now).then_some(self.item)?;
        (self.left, self.open, self.item) = (self.left - 1, self.open + 1, self.item + 1);
        Some(item)
    }

    fn next_deadline(&self) -> Instant {
        if self.left == 0 { Instant::NEVER } else { self.due }
    }

    fn handle_outcome(&mut self, now: Instant, _item: u64, _outcome: Outcome) {
        self.open -= 1;
        if self.left == 0 && self.open == 0 {
            (self.left, self.due) = (self.objects, now + self.pause);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut network = Network::new(1);
    let nodes = network.chain(3, &LinkConfig::ideal().mbps(10.0).millis(10))?;
    network.add_producer(nodes[2], "/site", Producer::of_packet_size(1250))?;
    network.route_shortest_paths()?;
    let reader = WorkloadConsumer::new("/site", &WorkloadSpec::of(PAGES)?.with("pause", 0.5)?)?;
    let reader = network.add_application(nodes[0], reader)?;
    network.run_for(Duration::from_secs(10))?;
    let received = network.application::<WorkloadConsumer>(reader).map_or(0, |all| all.report().received);
    println!("{} pages of 10 objects", received / 10);
    Ok(())
}
