//! The state machine itself: what it is made of, and what every owner calls. Methods that only some
//! owners call are in `pipeline`, each with its subject: `data`, `placement`, `sampling` and `second_store`.

use std::collections::VecDeque;
use std::sync::Arc;

use packet::random::Random;
use packet::time::Instant;
use packet::{Data, Dialect, Interest, NackReason, Name, NameHasher, NameRef, Packet, PitToken};
use thiserror::Error;

use crate::arrival::Arrival;
use crate::batch::answers_due::AnswersDue;
use crate::batch::route_hints::RouteHints;
use crate::config::EngineConfig;
use crate::counters::{EngineCounters, TableSizes};
use crate::drop_reason::DropReason;
use crate::face::{Face, FaceConfig, FaceCounters, FaceTable};
use crate::face_id::FaceId;
use crate::limit::{RateControl, ReleaseQueue, TokenBucket};
use crate::sampling::Sampling;
use crate::second_store::{
    PendingLookups, SecondStore, SecondStoreConfig, SecondStoreCounters, SecondStoreRequest,
};
use crate::sharing::{SharedLinks, SharingCounters};
use crate::state::{Maintenance, Settings, Tables};
use crate::strategy::{Action, StrategyError, StrategySpec};
use crate::tables::chunked::Slab;
use crate::tables::content_store::{ContentStore, ContentStoreConfig, ContentStoreCounters};
use crate::tables::dead_nonces::DeadNonces;
use crate::tables::fib::{Fib, NextHop, RouteError, StrategyId};
use crate::tables::hash_index::HashIndex;
use crate::tables::namespaces::{NamespaceRules, Namespaces};
use crate::tables::pending::PendingTable;
use crate::tables::sweep::Sweep;
use crate::tables::timer_wheel::TimerStep;
use crate::transmit::{Event, Transmit, TransmitQueue};

/// A face number that was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("face {0} exists already")]
pub struct FaceExists(pub FaceId);

/// One node's forwarding.
///
/// # Calling order
/// Packets go in with [`Engine::receive`], decoded and hashed with [`Engine::hasher`]. After each, or after a
/// batch of them, take what there is to send with [`Engine::poll_transmit`] and what there is to know with
/// [`Engine::poll_event`], until both give `None`. Then call [`Engine::advance`] at
/// [`Engine::next_deadline`] at the latest. `now` never goes back. Whoever has many packets at once does the
/// same, faster, with what [`batch`](crate::batch) offers.
///
/// With a [second store](Engine::set_second_store) take its lookups and Data with
/// [`Engine::poll_second_store`] at the same places, and tell what came of a lookup with
/// [`Engine::receive_found`] or [`Engine::receive_absent`]. Where Data is
/// [sampled for verification](Engine::set_sampling) take it with [`Engine::poll_sample`], and tell
/// of each that is not to be kept with [`Engine::refuse_sample`] or [`Engine::drop_sample`].
///
/// Every call does a bounded amount of work for each packet. The engine reads no clock and owns no socket;
/// the same calls with the same arguments have the same results.
#[derive(Debug)]
pub struct Engine {
    pub(crate) hasher: NameHasher,
    pub(crate) random: Random,
    pub(crate) settings: Settings,
    pub(crate) faces: FaceTable,
    pub(crate) tables: Tables,
    pub(crate) maintenance: Maintenance,
    /// Faces whose links are shared with others who ask for the same.
    pub(crate) shared: SharedLinks,
    /// Behind the content store, if there is one.
    pub(crate) second_store: Option<Box<PendingLookups>>,
    /// Data that is taken aside to be verified, if some is.
    pub(crate) sampling: Option<Box<Sampling>>,
    /// Tells the Data that answer several Interests apart.
    pub(crate) round: u64,
    pub(crate) counters: EngineCounters,
    pub(crate) transmits: TransmitQueue,
    pub(crate) events: VecDeque<Event>,
    /// Lent to strategies, kept to spare the allocation.
    pub(crate) actions: Vec<Action>,
}

/// Pending Interests whose time has come that one call of [`Engine::advance`] sees to: each costs some
/// thousand instructions, and packets that have arrived meanwhile wait.
const MAX_DUE: usize = 1024;

/// Events not yet polled, at most; further ones are lost and counted.
const MAX_EVENTS: usize = 1024;

impl Engine {
    /// An engine without faces and routes.
    ///
    /// # Errors
    /// The default strategy cannot be started.
    pub fn new(config: EngineConfig) -> Result<Self, StrategyError> {
        let hasher = NameHasher::new(config.hash_key);
        let mut strategies = Slab::default();
        let fibs = [Dialect::Ndn, Dialect::Ccnx].map(|dialect| {
            let root = hasher.hash(dialect, NameRef::ROOT.components()).whole();
            (dialect, root)
        });
        let [ndn, ccnx] = fibs;
        let placement = config.content_store.placement;
        let ndn_strategy = strategies.insert(config.default_strategy.start(Name::root(), placement)?);
        let ccnx_strategy = strategies.insert(config.default_strategy.start(Name::root(), placement)?);
        let pending = PendingTable::new(config.max_pending, config.max_pending_bytes, hasher.clone());
        Ok(Engine {
            hasher,
            random: Random::from_seed(config.seed),
            settings: Settings {
                max_lifetime: config.max_lifetime,
                default_hop_limit: config.default_hop_limit,
                producer_regions: config.producer_regions,
            },
            faces: FaceTable::default(),
            tables: Tables {
                index: HashIndex::default(),
                pending,
                store: ContentStore::new(config.content_store),
                fibs: [
                    Fib::new(config.max_prefixes, ndn.1, StrategyId(ndn_strategy)),
                    Fib::new(config.max_prefixes, ccnx.1, StrategyId(ccnx_strategy)),
                ],
                route_hints: RouteHints::default(),
                namespaces: Namespaces::default(),
                dead_nonces: DeadNonces::new(config.dead_nonce_lifetime, config.max_dead_nonces),
                strategies,
            },
            maintenance: Maintenance {
                turns: ReleaseQueue::default(),
                sweep: Sweep::default(),
                order_at: Instant::ZERO,
            },
            shared: SharedLinks::default(),
            second_store: None,
            sampling: None,
            round: 0,
            counters: EngineCounters::default(),
            transmits: TransmitQueue::default(),
            events: VecDeque::new(),
            actions: Vec::new(),
        })
    }

    // Getters.

    /// The hasher that packets for this engine must be decoded with.
    pub fn hasher(&self) -> &NameHasher {
        &self.hasher
    }

    /// What the engine has done.
    pub fn counters(&self) -> &EngineCounters {
        &self.counters
    }

    /// What went through a face.
    pub fn face_counters(&self, face: FaceId) -> Option<&FaceCounters> {
        self.faces.get(face).map(|face| &face.counters)
    }

    /// What faces share with others on their links, over all faces, past ones included.
    pub fn sharing_counters(&self) -> SharingCounters {
        self.shared.counters()
    }

    /// Interests that a face waits for.
    pub fn face_pending(&self, face: FaceId) -> Option<u32> {
        self.faces.get(face).map(|face| face.pending)
    }

    /// All faces with their configuration, in order of number.
    pub fn faces(&self) -> impl Iterator<Item = (FaceId, &FaceConfig)> {
        self.faces.iter().map(|(id, face)| (id, &face.config))
    }

    /// What the content store has done.
    pub fn content_store_counters(&self) -> &ContentStoreCounters {
        &self.tables.store.counters
    }

    /// What became of lookups to the second store, if there is one.
    pub fn second_store_counters(&self) -> Option<&SecondStoreCounters> {
        self.second_store.as_ref().map(|asking| &asking.counters)
    }

    /// Budget and behaviour of the content store.
    pub fn content_store_config(&self) -> &ContentStoreConfig {
        &self.tables.store.config
    }

    /// A step through the routes of a dialect, which are in no particular order: some thousands of places of
    /// the table, from number `from` on (0 for the first), and where the next step goes on, if there are
    /// more. No step stops packets for long.
    pub fn routes(
        &self,
        dialect: Dialect,
        from: u32,
    ) -> (impl Iterator<Item = (&Name, &[NextHop])>, Option<u32>) {
        self.tables.fibs[dialect as usize].routes(from)
    }

    /// The same through the strategy choices, with the full names of the strategies.
    pub fn strategies(
        &self,
        dialect: Dialect,
        from: u32,
    ) -> (impl Iterator<Item = (&Name, &Name)>, Option<u32>) {
        let (choices, next) = self.tables.fibs[dialect as usize].strategies(from);
        let name_of = |id: StrategyId| self.tables.strategies.get(id.0).map(|strategy| &strategy.name);
        (choices.filter_map(move |(prefix, id)| Some((prefix, name_of(id)?))), next)
    }

    /// Interests that are pending.
    pub fn pending_count(&self) -> u32 {
        self.tables.pending.len()
    }

    /// How much the engine holds.
    pub fn table_sizes(&self) -> TableSizes {
        let strategies = self.tables.strategies.iter().map(|(_, instance)| &*instance.strategy);
        TableSizes {
            pending: self.tables.pending.len(),
            pending_bytes: self.tables.pending.bytes(),
            cached: self.tables.store.len(),
            cached_bytes: self.tables.store.bytes(),
            routes: self.tables.fibs.iter().map(Fib::route_count).sum(),
            faces: self.faces.len(),
            dead_nonces: self.tables.dead_nonces.len(),
            dead_nonces_forgotten_early: self.tables.dead_nonces.early_turns(),
            measurements_forgotten_early: strategies.map(|strategy| strategy.forgotten_early()).sum(),
            footprint_bytes: self.tables.pending.footprint_bytes()
                + self.tables.store.footprint_bytes()
                + self.tables.index.footprint_bytes()
                + self.tables.dead_nonces.footprint_bytes()
                + self.tables.fibs.iter().map(Fib::footprint_bytes).sum::<usize>(),
        }
    }

    // Commands.

    /// Adds a face.
    ///
    /// # Errors
    /// The number is in use.
    pub fn add_face(&mut self, now: Instant, id: FaceId, config: FaceConfig) -> Result<(), FaceExists> {
        let config = config.checked();
        let rate = config.interest_rate.map(|limit| TokenBucket::full(limit, now));
        let rate_control = config.rate_control.map(|config| Box::new(RateControl::new(config, now)));
        let (counters, answers_due) = (FaceCounters::default(), AnswersDue::default());
        let face = Face {
            config,
            counters,
            pending: 0,
            pending_of_origin: None,
            rate,
            rate_control,
            answers_due,
            digests_due: 0,
            round: 0,
        };
        if !self.faces.insert(id, face) {
            return Err(FaceExists(id));
        }
        self.shared.configure(id, config.sharing);
        Ok(())
    }

    /// Changes a face; its counters and what is pending for it stay.
    pub fn configure_face(&mut self, now: Instant, id: FaceId, config: FaceConfig) -> bool {
        let config = config.checked();
        let Some(before) = self.faces.configure(id, config) else { return false };
        if let Some(face) = self.faces.get_mut(id)
            && before.interest_rate != config.interest_rate
        {
            face.rate = config.interest_rate.map(|limit| TokenBucket::full(limit, now));
        }
        self.set_rate_control(now, id, config.rate_control);
        self.shared.configure(id, config.sharing);
        true
    }

    /// Removes a face and all routes by it, which costs as much as it has of them; gives what went through
    /// it. What it waited for is dropped when it comes; what it alone waited for is forgotten by the next
    /// calls of [`Engine::advance`], so many entries at each, which [`Engine::next_deadline`] asks for at
    /// once.
    pub fn remove_face(&mut self, id: FaceId) -> Option<FaceCounters> {
        let face = self.faces.remove(id)?;
        self.shared.configure(id, None);
        if face.pending > 0 {
            self.maintenance.sweep.begin();
        }
        for fib in &mut self.tables.fibs {
            fib.remove_face(id);
        }
        self.tables.route_hints.clear();
        Some(face.counters)
    }

    /// Adds a next hop for a prefix, or changes its cost. Strategies of Interests pending under the prefix
    /// are told.
    ///
    /// # Errors
    /// A limit of the table.
    pub fn add_route(
        &mut self,
        now: Instant,
        dialect: Dialect,
        prefix: NameRef<'_>,
        hop: NextHop,
    ) -> Result<(), RouteError> {
        self.add_learned_route(now, dialect, prefix, hop, None)
    }

    /// The same for a route that was learned by an announcement, which will be passed on with Data.
    ///
    /// # Errors
    /// As [`Engine::add_route`].
    pub fn add_learned_route(
        &mut self,
        now: Instant,
        dialect: Dialect,
        prefix: NameRef<'_>,
        hop: NextHop,
        announcement: Option<packet::Buffer>,
    ) -> Result<(), RouteError> {
        let hashes = self.hasher.hash(dialect, prefix.components());
        self.tables.changing_fib(dialect).add_next_hop(prefix, &hashes, hop, announcement)?;
        self.notify_strategies_of_next_hop(now, dialect, prefix, hop);
        Ok(())
    }

    /// Removes a next hop; false if it was not there.
    pub fn remove_route(&mut self, dialect: Dialect, prefix: NameRef<'_>, face: FaceId) -> bool {
        let hashes = self.hasher.hash(dialect, prefix.components());
        self.tables.changing_fib(dialect).remove_next_hop(prefix, &hashes, face)
    }

    /// Says what holds for names of CCNx under `prefix` beside where they lead, in place of what held before.
    pub fn set_namespace_rules(&mut self, prefix: NameRef<'_>, rules: NamespaceRules) {
        let hash = self.hasher.hash(Dialect::Ccnx, prefix.components()).whole();
        self.tables.namespaces.set(prefix, hash, rules);
    }

    /// Chooses the strategy for all names under `prefix` that no longer prefix has another for.
    ///
    /// # Errors
    /// A limit of the table, or parameters the strategy refuses.
    pub fn set_strategy(
        &mut self,
        dialect: Dialect,
        prefix: NameRef<'_>,
        spec: &StrategySpec,
    ) -> Result<(), SetStrategyError> {
        let instance = spec.start(prefix.to_name(), self.tables.store.config.placement)?;
        let id = StrategyId(self.tables.strategies.insert(instance));
        let hashes = self.hasher.hash(dialect, prefix.components());
        match self.tables.changing_fib(dialect).set_strategy(prefix, &hashes, Some(id)) {
            Ok(previous) => {
                if let Some(previous) = previous {
                    self.tables.strategies.remove(previous.0);
                }
                Ok(())
            }
            Err(error) => {
                self.tables.strategies.remove(id.0);
                Err(error.into())
            }
        }
    }

    /// Takes the choice for `prefix` back; false if there was none or the prefix is the root, which always
    /// has one.
    pub fn unset_strategy(&mut self, dialect: Dialect, prefix: NameRef<'_>) -> bool {
        let hashes = self.hasher.hash(dialect, prefix.components());
        match self.tables.changing_fib(dialect).set_strategy(prefix, &hashes, None) {
            Ok(Some(previous)) => self.tables.strategies.remove(previous.0).is_some(),
            _ => false,
        }
    }

    /// A step of dropping up to `limit` Data under `prefix` from the content store: looks at some thousands
    /// of its places, from number `from` on (0 for the first); gives how many it dropped, and where the next
    /// step goes on, if there are more. No step stops packets for long.
    pub fn erase_cached(
        &mut self,
        dialect: Dialect,
        prefix: NameRef<'_>,
        limit: usize,
        from: u32,
    ) -> (usize, Option<u32>) {
        self.tables.store.erase(&mut self.tables.index, dialect, prefix, limit, from)
    }

    /// Drops this very packet from the content store, if it is there.
    pub fn forget_cached(&mut self, data: &Data) {
        self.tables.store.remove_packet(&mut self.tables.index, &self.hasher, data);
    }

    /// Puts a store behind the content store, in place of the one before, or takes it away. Interests that
    /// waited for that go upstream.
    pub fn set_second_store(
        &mut self,
        now: Instant,
        store: Option<(Arc<dyn SecondStore>, SecondStoreConfig)>,
    ) {
        let first = if store.is_some() { self.random.next_u64() >> 1 } else { 0 };
        let asking = store.map(|(store, config)| Box::new(PendingLookups::new(store, config, first)));
        if let Some(before) = std::mem::replace(&mut self.second_store, asking) {
            self.part_from_store(now, *before);
        }
    }

    // What the world tells the engine.

    /// Takes a packet that arrived.
    #[inline(always)]
    pub fn receive(&mut self, arrival: Arrival<'_>, packet: Packet) {
        match packet {
            Packet::Interest(interest) => self.receive_interest(arrival, interest),
            Packet::Data(data) => self.receive_data(arrival, data),
            Packet::Nack(interest, reason) => self.receive_nack(arrival, &interest, reason),
        }
    }

    /// Lets time pass up to `now`: Interests that wait for their turn go on, pending ones expire, strategies
    /// are called at the times they asked for. Where more is due than one call may do,
    /// [`Engine::next_deadline`] has come already when it returns.
    pub fn advance(&mut self, now: Instant) {
        self.take_turns(now);
        self.release_shared(now);
        self.sweep(now);
        self.order_store(now);
        self.give_up_lookups(now);
        self.start_late_lookups(now);
        let mut step = TimerStep::default();
        for _ in 0..MAX_DUE {
            match self.tables.pending.pop_due(now, &mut step) {
                Some(id) => self.handle_due(now, id),
                None => return,
            }
        }
    }

    // What the engine has for the world.

    /// The next packet to send.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next lookup to the second store, or Data offered to it.
    #[inline]
    pub fn poll_second_store(&mut self) -> Option<SecondStoreRequest> {
        self.second_store.as_mut()?.poll()
    }

    /// When [`Engine::advance`] should be called next, at the latest; [`Instant::NEVER`] if nothing is
    /// waiting. That may be earlier than anything is due, if what was due then has been done with meanwhile:
    /// such a call finds nothing to do, and the deadline is later after it.
    #[inline]
    pub fn next_deadline(&self) -> Instant {
        self.tables
            .pending
            .next_deadline()
            .min(self.maintenance.turns.next_deadline())
            .min(self.shared.next_deadline())
            .min(self.background_deadline())
            .min(self.second_store.as_ref().map_or(Instant::NEVER, |asking| asking.next_deadline()))
    }

    // Helpers of the pipelines.

    pub(crate) fn drop_packet(&mut self, from: FaceId, reason: DropReason) {
        self.counters.drops.count(reason);
        self.faces.count_drop(from, reason);
    }

    pub(crate) fn emit(&mut self, event: Event) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        } else {
            self.counters.events_lost += 1;
        }
    }

    /// Sends an Interest back to `face`, if its link is meant for that.
    pub(crate) fn send_nack(
        &mut self,
        face: FaceId,
        interest: Interest,
        reason: NackReason,
        pit_token: PitToken,
    ) {
        let Some(target) = self.faces.get_mut(face) else { return };
        // CCNx knows no Nack, and on a shared link others might still answer.
        let both_know_nacks = [target.config.dialect, interest.dialect()] == [Dialect::Ndn; 2];
        if !target.is_point_to_point() || !both_know_nacks {
            return;
        }
        target.counters.packets.out_nacks += 1;
        self.counters.nacks_sent += 1;
        let packet = Packet::Nack(interest, reason);
        self.transmits.push(Transmit::plain(face, packet, pit_token));
    }
}

/// Why a strategy could not be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetStrategyError {
    /// The strategy cannot be had.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// The choice cannot be stored.
    #[error(transparent)]
    Table(#[from] RouteError),
}
