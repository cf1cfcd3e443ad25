//! A node: an engine, what its faces lead to, and its clocks.

pub(crate) mod clock;
pub(crate) mod cpu_share;
pub(crate) mod processor;
pub(crate) mod waking;

use std::sync::Arc;

use engine::{Engine, EngineConfig, FaceConfig, FaceCounters, FaceId, NextHop, StrategySpec};
use packet::random::Random;
use packet::time::Instant;
use packet::{Dialect, Name};

use crate::arena::{AppId, Arena, ChannelId, EndId};
use crate::error::SimError;
use crate::events::queue::Alarm;
use crate::node::clock::{Clock, EngineClock};
use crate::node::processor::Processor;
use crate::occupancy::Levels;

/// Where a face leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// An end of a link, and the direction that leaves from there.
    Channel { channel: ChannelId, end: EndId },
    /// An application on this node.
    Application(AppId),
    /// Nowhere: the link is down. When it comes back it gets a new face.
    Gone,
}

/// A face; in the order in which they came to be. Numbers are never used again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    pub(crate) peer: Peer,
    pub(crate) config: FaceConfig,
}

/// Where what an engine sends by a face goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub(crate) face: FaceId,
    /// `None` if there is no such face.
    pub(crate) peer: Option<Peer>,
    /// Whether the processor of the node has work with it.
    pub(crate) is_charged: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) dialect: Dialect,
    pub(crate) prefix: Name,
    pub(crate) face: FaceId,
    pub(crate) cost: u64,
}

/// One node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Absent on a host, which is nothing but an application at the end of a link.
    pub(crate) engine: Option<Box<Engine>>,
    pub(crate) alarm: Alarm,
    /// What applications see.
    pub(crate) clock: Clock,
    /// What the engine sees.
    pub(crate) engine_clock: EngineClock,
    pub(crate) ports: Arena<FaceId, Port>,
    pub(crate) routes: Vec<Route>,
    pub(crate) strategies: Vec<(Name, StrategySpec)>,
    pub(crate) processor: Option<Box<Processor>>,
    /// Whether it has had a face on which it shares answers: what it has held back goes out with other
    /// packets, under names of its own.
    pub(crate) shares: bool,
    pub(crate) config: Arc<EngineConfig>,
    pub(crate) seed: u64,
    pub(crate) restarts: u64,
    /// Of faces that are gone since the engine was started.
    pub(crate) gone: Vec<FaceCounters>,
    /// Events of the engine, taken by the owner.
    pub(crate) events: Vec<engine::Event>,
    /// How full its tables were.
    pub(crate) levels: Levels,
}

/// Events kept for the owner; later ones are lost.
const MAX_EVENTS: usize = 4096;

impl Node {
    pub(crate) fn new(config: Arc<EngineConfig>, seed: u64) -> Result<Self, SimError> {
        let engine = Engine::new(EngineConfig { seed, ..(*config).clone() })?;
        Ok(Node { engine: Some(Box::new(engine)), ..Node::host(config, seed) })
    }

    /// A node without an engine.
    pub(crate) fn host(config: Arc<EngineConfig>, seed: u64) -> Self {
        Node {
            engine: None,
            alarm: Alarm::default(),
            clock: Clock::PERFECT,
            engine_clock: EngineClock::default(),
            ports: Arena::default(),
            routes: Vec::new(),
            strategies: Vec::new(),
            processor: None,
            shares: false,
            config,
            seed,
            restarts: 0,
            gone: Vec::new(),
            events: Vec::new(),
            levels: Levels::default(),
        }
    }

    /// Takes note of how full the tables are from now on.
    #[inline(always)]
    pub(crate) fn note_levels(&mut self, now: Instant) {
        if let Some(engine) = &self.engine {
            self.levels.note(now, engine);
        }
    }

    /// Where what its engine sends by a face goes.
    #[inline(always)]
    pub(crate) fn exit(&self, face: FaceId) -> Exit {
        let peer = self.ports.get(face).map(|port| port.peer);
        Exit { face, peer, is_charged: self.processor.is_some() }
    }

    /// Takes note of how full the tables are, and takes events away; gives the time that the alarm is to be
    /// set to, if it is to be set.
    #[inline(always)]
    pub(crate) fn look_after_engine(&mut self, now: Instant) -> Option<Instant> {
        let engine = self.engine.as_mut()?;
        self.levels.note(now, engine);
        while let Some(event) = engine.poll_event() {
            if self.events.len() < MAX_EVENTS {
                self.events.push(event);
            }
        }
        // Almost always the alarm is set for no later already, and once it has gone off this is asked again.
        let deadline = self.engine_clock.when(engine.next_deadline());
        (!self.alarm.is_queued_by(deadline)).then(|| deadline.max(now))
    }

    /// Opens a face.
    pub(crate) fn open(&mut self, now: Instant, peer: Peer, config: FaceConfig) -> FaceId {
        self.shares |= config.sharing.is_some();
        let face = self.ports.push(Port { peer, config });
        self.add_face(now, face);
        face
    }

    fn add_face(&mut self, now: Instant, face: FaceId) {
        let now = self.engine_clock.reading(now);
        if let (Some(engine), Some(Port { config, .. })) = (&mut self.engine, self.ports.get(face)) {
            // The number was never used before, so this cannot fail.
            let _ = engine.add_face(now, face, *config);
        }
    }

    /// Changes how the engine sees a face; false if it sees it so already.
    pub(crate) fn configure(&mut self, now: Instant, face: FaceId, config: FaceConfig) -> bool {
        let now = self.engine_clock.reading(now);
        let Some(open) = self.ports.get_mut(face) else { return false };
        if open.config == config {
            return false;
        }
        open.config = config;
        self.shares |= config.sharing.is_some();
        self.engine.as_mut().is_some_and(|engine| engine.configure_face(now, face, config))
    }

    /// Closes a face for good.
    pub(crate) fn close(&mut self, face: FaceId) {
        let Some(open) = self.ports.get_mut(face) else { return };
        open.peer = Peer::Gone;
        if let Some(engine) = &mut self.engine {
            self.gone.extend(engine.remove_face(face));
        }
    }

    /// Opens a face that takes the place of one that was closed, with its routes.
    pub(crate) fn reopen(&mut self, now: Instant, old: FaceId, peer: Peer) -> FaceId {
        let config = self.ports.get(old).map_or(FaceConfig::remote(), |port| port.config);
        let face = self.open(now, peer, config);
        for route in &mut self.routes {
            if route.face == old {
                route.face = face;
            }
        }
        self.install_routes(now, face);
        face
    }

    pub(crate) fn install_routes(&mut self, now: Instant, face: FaceId) {
        let now = self.engine_clock.reading(now);
        let Some(engine) = &mut self.engine else { return };
        for route in self.routes.iter().filter(|route| route.face == face) {
            let hop = NextHop { face, cost: route.cost };
            // A table that is full is what the scenario is about, then; the engine counts what it could not
            // send.
            let _ = engine.add_route(now, route.dialect, route.prefix.as_ref(), hop);
        }
    }

    pub(crate) fn add_route(
        &mut self,
        now: Instant,
        dialect: Dialect,
        prefix: &Name,
        face: FaceId,
        cost: u64,
    ) -> Result<(), SimError> {
        let now = self.engine_clock.reading(now);
        let engine = self.engine.as_mut().ok_or(SimError::NoEngine)?;
        let is_open = self.ports.get(face).is_some_and(|port| port.peer != Peer::Gone);
        if is_open {
            engine.add_route(now, dialect, prefix.as_ref(), NextHop { face, cost })?;
        }
        let same =
            |route: &&mut Route| route.dialect == dialect && route.face == face && route.prefix == *prefix;
        match self.routes.iter_mut().find(same) {
            Some(route) => route.cost = cost,
            None => self.routes.push(Route { dialect, prefix: prefix.clone(), face, cost }),
        }
        Ok(())
    }

    pub(crate) fn remove_route(&mut self, dialect: Dialect, prefix: &Name, face: FaceId) {
        self.routes.retain(|route| route.dialect != dialect || route.face != face || route.prefix != *prefix);
        if let Some(engine) = &mut self.engine {
            engine.remove_route(dialect, prefix.as_ref(), face);
        }
    }

    pub(crate) fn erase_cached(&mut self, prefix: &Name) -> usize {
        let Some(engine) = &mut self.engine else { return 0 };
        let mut erased = 0;
        for dialect in Dialect::ALL {
            let mut from = Some(0);
            while let Some(place) = from {
                let (count, next) = engine.erase_cached(dialect, prefix.as_ref(), usize::MAX, place);
                erased += count;
                from = next;
            }
        }
        erased
    }

    pub(crate) fn set_strategy(&mut self, prefix: &Name, spec: &StrategySpec) -> Result<(), SimError> {
        let engine = self.engine.as_mut().ok_or(SimError::NoEngine)?;
        for dialect in Dialect::ALL {
            engine.set_strategy(dialect, prefix.as_ref(), spec)?;
        }
        self.strategies.retain(|(other, _)| other != prefix);
        self.strategies.push((prefix.clone(), spec.clone()));
        Ok(())
    }

    /// Starts the engine anew with its configuration, faces, routes and strategies, and nothing else. What
    /// waits for the processor is the caller's to take away.
    pub(crate) fn restart(&mut self, now: Instant) -> Result<(), SimError> {
        if self.engine.is_none() {
            return Ok(());
        }
        self.restarts += 1;
        let seed = Random::derive(self.seed, self.restarts).next_u64();
        self.engine = Some(Box::new(Engine::new(EngineConfig { seed, ..(*self.config).clone() })?));
        self.gone.clear();
        for face in self.ports.ids() {
            if self.ports.get(face).is_some_and(|port| port.peer != Peer::Gone) {
                self.add_face(now, face);
                self.install_routes(now, face);
            }
        }
        for (prefix, spec) in std::mem::take(&mut self.strategies) {
            self.set_strategy(&prefix, &spec)?;
        }
        self.note_levels(now);
        Ok(())
    }
}
