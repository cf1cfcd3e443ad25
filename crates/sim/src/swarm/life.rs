//! What happens to a network, and what it must do in the end.

use std::fmt::Write as _;

use packet::time::Duration;

use super::applications::{Asker, Wish};
use super::draw::{World, draw_impairment, millis, pick};
use super::{Broken, SwarmReport, stuck_because, unsafe_because};
use crate::link::{Impairment, Queue};
use crate::trace::TraceConfig;

/// Patience for what must happen in the end.
const LONG: Duration = Duration::from_secs(3600);

pub(super) fn live(mut world: World) -> Result<SwarmReport, Broken> {
    world.disturb()?;
    world.heal()?;
    world.come_to_rest()?;
    let fetched = world.fetch_everything()?;
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
        let strategies: Vec<String> =
            engine::strategy_names().map(|name| strategy_word(&name.to_string())).collect();
        for node in self.nodes.clone() {
            let strategy = pick(&mut self.random, &strategies);
            self.network.set_strategy(node, "/", &strategy)?;
        }
        for _ in 0..20 {
            match self.random.below(10) {
                0 => {
                    let node = pick(&mut self.random, &self.nodes);
                    self.network.check_conservation(node).map_err(unsafe_because)?;
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
                    let impairment = draw_impairment(&mut self.random);
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
                config.impairment = Impairment::NONE;
                config.queue = Queue::UNLIMITED;
                // Fast enough for all: a link with acknowledgements sends everything four times when its round trip, with eight
                // packets of 8 kB in an endless queue, takes longer than its timeout.
                config.rate_bits_per_second = config.rate_bits_per_second.map(|rate| rate.max(20_000_000));
            })?;
        }
        for node in self.nodes.clone() {
            self.network.clear_routes(node)?;
            // A strategy that learns routes by flooding needs them to be announced, by all nodes on the way.
            let learns = self.network.engine(node).is_some_and(|engine| {
                engine
                    .strategies(packet::Dialect::Ndn)
                    .any(|(_, name)| name.to_string().contains("self-learning"))
            });
            if learns {
                self.network.set_strategy(node, "/", "best-route")?;
            }
            // Tokens that come too seldom are a fault like others.
            let limits = self.network.engine(node).is_some_and(|engine| {
                engine.strategies(packet::Dialect::Ndn).any(|(_, name)| name.to_string().contains("stateful"))
            });
            if limits {
                self.network.set_strategy(node, "/", "stateful-forwarding")?;
            }
        }
        self.network.route_shortest_paths()?;
        self.detours.clear();
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
            self.network.check_conservation(node).map_err(unsafe_because)?;
            self.network.check_rest(node).map_err(unsafe_because)?;
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
        for &id in &self.askers {
            self.network.with_application(id, |application, context| {
                let any: &mut dyn std::any::Any = application;
                let Some(asker) = any.downcast_mut::<Asker>() else { return };
                asker.window = 4;
                let names = asker.names();
                asker.forget_wishes();
                for name in names {
                    count += 1;
                    let wish = Wish {
                        name,
                        can_be_prefix: false,
                        must_be_fresh: false,
                        lifetime: Duration::from_secs(1),
                        attempts: 60,
                        hop_limit: None,
                        // Patient enough for the tightest rate limit.
                        nack_delay: Duration::from_millis(300),
                    };
                    asker.wish(context.now(), wish);
                }
                context.wake_after(Duration::ZERO);
            })?;
        }
        let askers = self.askers.clone();
        let busy = |network: &crate::Network| {
            askers.iter().any(|id| network.application::<Asker>(*id).is_some_and(|asker| !asker.is_done()))
        };
        // Looked at once a second: to ask all of them after each event would take longer than the events.
        while busy(&self.network) {
            self.network.run_for(Duration::from_secs(1))?;
            if self.network.now() > now + LONG {
                return Err(stuck_because("after an hour not all names have been fetched".to_owned()));
            }
        }
        for &id in &self.askers {
            let Some(asker) = self.network.application::<Asker>(id) else { continue };
            if let Some(name) = asker.given_up().next() {
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
    fn last_packets(&self, name: &packet::Name) -> String {
        let rows: Vec<_> =
            self.network.trace().packets.rows().iter().filter(|row| row.name == *name).collect();
        let mut text = String::new();
        for row in &rows[rows.len().saturating_sub(20)..] {
            let ends = self.network.ends(row.link).unwrap_or_default();
            let from = ends.get(row.from_end as usize).map_or(0, |node| node.0);
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
            for (prefix, strategy) in self
                .network
                .engine(node)
                .into_iter()
                .flat_map(|engine| engine.strategies(packet::Dialect::Ndn))
            {
                let _ = writeln!(text, "  node {node}: {prefix} {strategy}");
            }
        }
        text
    }

    /// At any time: nobody got what was not asked for, or what the producer did not make.
    fn check_deliveries(&mut self) -> Result<(), Broken> {
        for &id in &self.askers {
            let Some(asker) = self.network.application_mut::<Asker>(id) else { continue };
            if let Some(name) = asker.unasked.first() {
                return Err(unsafe_because(format!("application {id} got {name} unasked")));
            }
            for data in std::mem::take(&mut asker.received) {
                let made = self
                    .answerers
                    .iter()
                    .find(|answerer| answerer.prefix.as_ref().is_prefix_of(data.name()))
                    .and_then(|answerer| answerer.data(data.name()));
                if made.is_none_or(|made| made.wire() != data.wire()) {
                    let problem =
                        format!("application {id} got {} changed on the way", data.name().to_name());
                    return Err(unsafe_because(problem));
                }
            }
        }
        Ok(())
    }
}

/// The short word of a strategy's full name: `best-route` of `/localhost/nfd/strategy/best-route/v=5`.
fn strategy_word(name: &str) -> String {
    let word = name.split("/strategy/").nth(1).unwrap_or(name);
    word.split('/').next().unwrap_or(word).to_owned()
}
