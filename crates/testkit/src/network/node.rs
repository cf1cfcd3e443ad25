//! A node: an engine, and what its faces lead to.

use std::collections::BTreeMap;

use engine::{DropReason, Engine, EngineConfig, Event, FaceConfig, FaceCounters, FaceId, NextHop};
use packet::random::Random;
use packet::time::Instant;
use packet::{Dialect, Name};

/// Where a port leads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Peer {
    Link { link: usize, end: usize },
    Consumer(usize),
    Producer(usize),
}

/// A place for a face. The face may be removed and come back under another number; the port stays.
pub(super) struct Port {
    pub(super) face: Option<FaceId>,
    pub(super) config: FaceConfig,
    pub(super) peer: Peer,
}

struct Route {
    dialect: Dialect,
    prefix: Name,
    port: usize,
    cost: u64,
}

/// One node.
pub struct Node {
    pub(super) engine: Engine,
    config: EngineConfig,
    restarts: u64,
    pub(super) ports: Vec<Port>,
    pub(super) port_of_face: BTreeMap<FaceId, usize>,
    routes: Vec<Route>,
    /// Of faces that are gone.
    gone: Vec<FaceCounters>,
    pub(super) events: Vec<Event>,
}

impl Node {
    pub(super) fn new(config: EngineConfig) -> Self {
        Node {
            engine: Engine::new(config.clone()).expect("an engine's configuration makes sense"),
            config,
            restarts: 0,
            ports: Vec::new(),
            port_of_face: BTreeMap::new(),
            routes: Vec::new(),
            gone: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(super) fn add_port(&mut self, config: FaceConfig, peer: Peer) -> usize {
        self.ports.push(Port { face: None, config, peer });
        self.ports.len() - 1
    }

    /// Gives a port its face, and the face the port's routes.
    pub(super) fn open(&mut self, now: Instant, port: usize, face: FaceId) {
        self.engine.add_face(now, face, self.ports[port].config).expect("face numbers are never used twice");
        self.ports[port].face = Some(face);
        self.port_of_face.insert(face, port);
        for route in self.routes.iter().filter(|route| route.port == port) {
            let hop = NextHop { face, cost: route.cost };
            // A table may be full; the scenario is about that, then.
            let _ = self.engine.add_route(now, route.dialect, route.prefix.as_ref(), hop);
        }
    }

    pub(super) fn close(&mut self, port: usize) {
        let Some(face) = self.ports[port].face.take() else { return };
        self.port_of_face.remove(&face);
        self.gone.extend(self.engine.remove_face(face));
    }

    pub(super) fn add_route(
        &mut self,
        now: Instant,
        dialect: Dialect,
        prefix: &Name,
        port: usize,
        cost: u64,
    ) {
        self.routes.push(Route { dialect, prefix: prefix.clone(), port, cost });
        if let Some(face) = self.ports[port].face {
            let _ = self.engine.add_route(now, dialect, prefix.as_ref(), NextHop { face, cost });
        }
    }

    pub(super) fn remove_route(&mut self, dialect: Dialect, prefix: &Name, port: usize) {
        self.routes.retain(|route| (route.dialect, &route.prefix, route.port) != (dialect, prefix, port));
        if let Some(face) = self.ports[port].face {
            self.engine.remove_route(dialect, prefix.as_ref(), face);
        }
    }

    /// Starts the engine anew, with nothing but its configuration; faces are still to be opened.
    pub(super) fn restart(&mut self) {
        self.restarts += 1;
        let seed = Random::derive(self.config.seed, self.restarts).next_u64();
        let config = EngineConfig { seed, ..self.config.clone() };
        self.engine = Engine::new(config).expect("it did before");
        self.gone.clear();
        self.port_of_face.clear();
        for port in &mut self.ports {
            port.face = None;
        }
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Compares the engine's counters with each other, and with its tables: what went in must have come out, been
    /// dropped for a reason, or be there still. Holds after any number of packets as long as no Data or Nack was dropped for a
    /// reason that Interests are dropped for, too: for scope, or for the wrong dialect.
    ///
    /// # Errors
    /// The equation that does not hold, with its numbers.
    pub fn check_conservation(&self) -> Result<(), String> {
        let counters = self.engine.counters();
        let present = self.engine.faces().filter_map(|(face, _)| self.engine.face_counters(face));
        let faces: Vec<&FaceCounters> = present.chain(&self.gone).collect();
        let sum = |count: fn(&FaceCounters) -> u64| faces.iter().map(|face| count(face)).sum::<u64>();
        let refused: u64 =
            faces.iter().flat_map(|face| BEFORE_PENDING.iter().map(|&reason| face.drops.get(reason))).sum();
        let equal = |what: &str, left: u64, right: u64| {
            if left == right { Ok(()) } else { Err(format!("{what}: {left} is not {right}; {counters:?}")) }
        };
        equal(
            "interests received = cache hits + created + joined + refused",
            sum(|face| face.in_interests),
            counters.cache_hits + counters.pending_created + counters.pending_joined + refused,
        )?;
        equal(
            "pending created = satisfied + unsatisfied + still pending",
            counters.pending_created,
            counters.satisfied + counters.unsatisfied + u64::from(self.engine.table_sizes().pending),
        )?;
        equal("interests sent", counters.interests_sent, sum(|face| face.out_interests))?;
        equal("data sent", counters.data_sent, sum(|face| face.out_data))?;
        equal("nacks sent", counters.nacks_sent, sum(|face| face.out_nacks))?;
        equal(
            "cache hits of engine and store",
            counters.cache_hits,
            self.engine.content_store_counters().hits,
        )
    }
}

/// Reasons for which an Interest is dropped before anybody waits for it.
pub const BEFORE_PENDING: &[DropReason] = &[
    DropReason::WrongDialect,
    DropReason::HopLimitZero,
    DropReason::Scope,
    DropReason::DuplicateNonce,
    DropReason::InterestRate,
    DropReason::FacePendingLimit,
    DropReason::PendingTableFull,
    DropReason::TooManyVariants,
    DropReason::NoRoomForField,
];
