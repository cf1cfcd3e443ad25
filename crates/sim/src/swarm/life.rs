//! What happens to a network, and what it must do in the end.

use std::fmt::Write as _;

use packet::time::Duration;
use packet::{Dialect, Name};

use super::draw::{World, draw_impairment, millis, pick};
use super::{Broken, SwarmReport, stuck_because, unsafe_because};
use crate::application::{CheckedConsumer, Outcome};
use crate::arena::{Id, NodeId};
use crate::dialect::request::Request;
use crate::link::{Faults, Queue};
use crate::trace::TraceConfig;

/// Longest time for what must happen in the end.
const LONG: Duration = Duration::from_secs(3600);

pub(super) fn live(world: &mut World) -> Result<SwarmReport, Broken> {
    world.disturb()?;
    world.heal()?;
    world.come_to_rest()?;
    let fetched = if world.hostile { 0 } else { world.fetch_everything()? };
    world.come_to_rest()?;
    let network = &world.network;
    Ok(SwarmReport {
        nodes: network.node_count(),
        links: network.link_count(),
        fetched,
        hops: network.hops(),
        hash: network.trace().hash(),
    })
}

impl World {
    /// Faults of all kinds, for ten seconds or so.
    fn disturb(&mut self) -> Result<(), Broken> {
        let strategies: Vec<Name> = engine::strategy_names().collect();
        for node in self.nodes.clone() {
            let strategy = pick(&mut self.random, &strategies);
            self.network.set_strategy(node, "/", &strategy.to_string())?;
        }
        for _ in 0..20 {
            match self.random.below(10) {
                0 => {
                    let node = pick(&mut self.random, &self.nodes);
                    self.network.check_conservation(node)?;
                    self.network.restart(node)?;
                }
                1 | 2 => {
                    let link = pick(&mut self.random, &self.links);
                    self.network.take_down(link)?;
                }
                3 | 4 => {
                    let link = pick(&mut self.random, &self.links);
                    self.network.bring_up(link)?;
                }
                5 | 6 => {
                    let link = pick(&mut self.random, &self.links);
                    let corrupt = self.draw_corruption();
                    let impairment = Faults { corrupt, ..draw_impairment(&mut self.random) };
                    let rate = pick(&mut self.random, &[None, Some(500_000), Some(10_000_000)]);
                    let delay = millis(&mut self.random, 50);
                    self.network.reconfigure(link, |config| {
                        config.impairment = impairment;
                        config.rate_bits_per_second = rate;
                        config.delay = delay;
                    })?;
                }
                _ => {}
            }
            let span = millis(&mut self.random, 500);
            self.network.run_for(span)?;
            self.check_deliveries()?;
        }
        Ok(())
    }

    /// Perfect links, all up, and no way that leads astray.
    fn heal(&mut self) -> Result<(), Broken> {
        for link in self.links.clone() {
            self.network.bring_up(link)?;
            self.network.reconfigure(link, |config| {
                config.impairment = Faults::NONE;
                config.queue = Queue::UNLIMITED;
                // Fast enough for all: a link with acknowledgements sends everything four times when its
                // round trip, with eight packets of 8 kB in an endless queue, takes longer
                // than its timeout.
                config.rate_bits_per_second = config.rate_bits_per_second.map(|rate| rate.max(20_000_000));
            })?;
        }
        for node in self.nodes.clone() {
            self.network.clear_routes(node)?;
            // A strategy that learns routes by flooding needs them to be announced, by all nodes on the way.
            if self.has_strategy(node, "self-learning") {
                self.network.set_strategy(node, "/", "best-route")?;
            }
            // Tokens that come too seldom are a fault like others.
            if self.has_strategy(node, "stateful-forwarding") {
                self.network.set_strategy(node, "/", "stateful-forwarding")?;
            }
        }
        self.network.route_shortest_paths()?;
        self.stray_routes.clear();
        Ok(())
    }

    fn come_to_rest(&mut self) -> Result<(), Broken> {
        if !self.network.run_until_quiet(LONG)? {
            return Err(stuck_because("the network does not come to rest".to_owned()));
        }
        self.check_deliveries()?;
        if self.network.packets_under_way() > 0 {
            let packets = self.network.packets_under_way();
            return Err(unsafe_because(format!(
                "{packets} packets are nowhere, though nothing is to happen"
            )));
        }
        for &node in &self.nodes {
            self.network.check_conservation(node)?;
            self.network.check_rest(node)?;
        }
        Ok(())
    }

    /// Everybody asks again for all they ever asked for, patiently.
    fn fetch_everything(&mut self) -> Result<u64, Broken> {
        let now = self.network.now();
        let mut count = 0;
        let record = TraceConfig {
            packets: true,
            drops: true,
            max_records: Some(1_000_000),
            ..TraceConfig::default()
        };
        self.network.record(record);
        for &id in &self.consumers {
            self.network.with_application(id, |application, context| {
                let any: &mut dyn std::any::Any = application;
                let Some(consumer) = any.downcast_mut::<CheckedConsumer>() else { return };
                consumer.window = 4;
                let names: Vec<_> = consumer.requests().map(|(request, _)| request.name.clone()).collect();
                consumer.forget_requests();
                for name in names {
                    count += 1;
                    // Patient enough for the tightest rate limit.
                    let nack_delay = Duration::from_millis(300);
                    let request = Request { nack_delay, ..Request::new(name).attempts(60) };
                    consumer.request(context.now(), request);
                }
                context.wake_after(Duration::ZERO);
            })?;
        }
        let consumers = self.consumers.clone();
        let busy = |network: &crate::Network| {
            let mut all = consumers.iter().filter_map(|id| network.application::<CheckedConsumer>(*id));
            all.any(|consumer| !consumer.is_done())
        };
        // Looked at once a second: to ask all of them after each event would take longer than the events.
        while busy(&self.network) {
            self.network.run_for(Duration::from_secs(1))?;
            if self.network.now() > now + LONG {
                return Err(stuck_because("after an hour not all names have been fetched".to_owned()));
            }
        }
        for &id in &self.consumers {
            let Some(consumer) = self.network.application::<CheckedConsumer>(id) else { continue };
            let in_vain = |outcome| !matches!(outcome, Some(&Outcome::Fetched(_)));
            if let Some((Request { name, .. }, _)) =
                consumer.requests().find(|(_, outcome)| in_vain(*outcome))
            {
                let problem = format!("application {id} asked sixty times for {name} in a healthy network");
                return Err(stuck_because(format!(
                    "{problem} on node {:?}\n{}",
                    self.network.home(id),
                    self.last_packets(name)
                )));
            }
        }
        Ok(count)
    }

    /// The last packets about a name that crossed links, and the strategies of the nodes.
    fn last_packets(&self, name: &Name) -> String {
        let rows: Vec<_> =
            self.network.trace().packets.rows().iter().filter(|row| row.name == *name).collect();
        let mut text = String::new();
        for row in &rows[rows.len().saturating_sub(20)..] {
            let ends = self.network.ends(row.link).unwrap_or_default();
            let from = ends.get(row.from_end.index()).map_or(0, |node| node.0);
            let _ = writeln!(
                text,
                "  {} {} from node {from} over link {}",
                row.time,
                row.kind.as_str(),
                row.link
            );
        }
        for &node in &self.nodes {
            if let Some(engine) = self.network.engine(node) {
                let drops = engine.counters().drops.iter().filter(|(_, count)| *count > 0);
                let drops: Vec<String> =
                    drops.map(|(reason, count)| format!("{} {count}", reason.as_str())).collect();
                let _ = writeln!(text, "  node {node} dropped {}", drops.join(", "));
            }
            for (prefix, strategy) in self.strategies(node) {
                let _ = writeln!(text, "  node {node}: {prefix} {strategy}");
            }
        }
        text
    }

    /// The strategies of a node, which are the same in both dialects: see
    /// [`set_strategy`](crate::Network::set_strategy). They are so few that one step comes by all.
    fn strategies(&self, node: NodeId) -> impl Iterator<Item = (&Name, &Name)> {
        self.network.engine(node).into_iter().flat_map(|engine| engine.strategies(Dialect::Ndn, 0).0)
    }

    /// Whether the node has the strategy with this word, which stands behind `/localhost/nfd/strategy`.
    fn has_strategy(&self, node: NodeId, word: &str) -> bool {
        let is_it = |name: &Name| name.as_ref().component(3).is_some_and(|it| it.value == word.as_bytes());
        self.strategies(node).any(|(_, name)| is_it(name))
    }

    /// At any time: nobody got what was not asked for, or what the producer did not make.
    fn check_deliveries(&mut self) -> Result<(), Broken> {
        for &id in &self.consumers {
            let Some(consumer) = self.network.application_mut::<CheckedConsumer>(id) else { continue };
            if let Some(name) = consumer.unasked().first() {
                return Err(unsafe_because(format!("application {id} got {name} unasked")));
            }
            for data in consumer.take_received() {
                if !self.hostile && !self.producers.iter().any(|producer| producer.made(&data)) {
                    let problem =
                        format!("application {id} got {} changed on the way", data.name().to_name());
                    return Err(unsafe_because(problem));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Application;
    use crate::swarm::Invariant;
    use packet::ndn::{DataBuilder, InterestBuilder};
    use packet::{LinkHeader, Name};

    fn world() -> World {
        World::draw(4).unwrap_or_else(|broken| panic!("{}", broken.problem))
    }

    /// Gives the first consumer a Data, as if the network had.
    fn give(world: &mut World, uri: &str, content: &[u8], asked: bool) {
        let name: Name = uri.parse().unwrap();
        let data = DataBuilder::new(name.clone()).content(content.to_vec()).build_with_digest().unwrap();
        let consumer = world.consumers[0];
        if asked {
            let now = world.network.now();
            let asking = world.network.application_mut::<CheckedConsumer>(consumer).unwrap();
            asking.window = 1000;
            asking.request(now, Request::new(name));
            world.network.with_application(consumer, |asking, context| asking.handle_timer(context)).unwrap();
        }
        let deliver = |asking: &mut dyn Application, context: &mut crate::Context<'_>| {
            asking.handle_data(context, &data, &LinkHeader::default());
        };
        world.network.with_application(consumer, deliver).unwrap();
    }

    #[test]
    fn data_that_nobody_asked_for_is_noticed() {
        let mut world = world();
        assert!(world.check_deliveries().is_ok());
        give(&mut world, "/p0/1", b"", false);
        let broken = world.check_deliveries().unwrap_err();
        assert!(
            broken.promise == Invariant::Safety && broken.problem.contains("unasked"),
            "{}",
            broken.problem
        );
    }

    #[test]
    fn data_that_its_producer_did_not_make_is_noticed() {
        let mut world = world();
        give(&mut world, "/p0/1", b"forged", true);
        let broken = world.check_deliveries().unwrap_err();
        assert!(broken.problem.contains("changed on the way"), "{}", broken.problem);
    }

    #[test]
    fn an_interest_that_never_ends_is_noticed() {
        let mut world = world();
        let interest = InterestBuilder::new("/p0/1".parse().unwrap())
            .nonce(1)
            .lifetime(Duration::from_secs(3))
            .build()
            .unwrap();
        let face = world.network.application_face(world.consumers[0]).unwrap();
        let home = world.network.home(world.consumers[0]).unwrap();
        let hasher = world.network.core.hasher.clone();
        world.network.change_engine(home, |engine| {
            let hashes = hasher.hash(Dialect::Ndn, interest.name().components());
            engine.receive(
                engine::Arrival::bare(packet::time::Instant::ZERO, face, &hashes),
                packet::Packet::Interest(interest.clone()),
            );
        });
        assert!(world.network.check_rest(home).is_err());
    }
}
