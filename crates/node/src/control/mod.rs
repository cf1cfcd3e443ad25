//! The interface between the data plane and whatever manages it.
//!
//! One thread owns the forwarding engine, the faces and their sockets. Management protocols run beside it and
//! never touch any of that: what they want done they ask of a [`NodeControl`], and what they are told comes
//! to them as the calls of [`ControlApplication`]. Both sides are plain traits, so a management protocol is
//! tested against a node made of a few vectors, without a socket or a thread.
//!
//! ```text
//!   data plane ──Interest for /localhost/nfd, face events──▶ ControlApplication
//!              ◀──operations (NodeControl), Data────────────
//! ```
//!
//! Interests reach management because their names lead to its face, [`MANAGEMENT_FACE`], which is an
//! [inner face](crate::InnerFace) like others: register prefixes there with [`NodeControl::add_next_hop`].
//! What the application answers enters the engine by that face and goes back to whoever asked, PIT tokens and
//! all, as any Data does. Whoever else is inside the process has faces of its own:
//! [`NodeControl::create_inner_face`].

mod face;
mod repository;
pub(crate) mod shown;
pub(crate) mod strategy_name;
mod tables;
mod unmanaged;

use engine::{FaceId, NamespaceRules, NextHop, StrategySpec};
use management::StrategyChoice;
use packet::time::Instant;
use packet::{Buffer, Data, Dialect, Interest, NackReason, Name, Now};

pub use face::{
    CongestionSettings, CreateFace, CreateFaceError, CreateInnerFace, FaceChanges, FaceConflict, FaceEvent,
    FaceEventKind, FacePersistency, FaceSnapshot, FaceState, FaceTraffic, UnsupportedFace, UpdateFaceError,
};
pub use repository::RepositoryStatus;
pub use tables::{
    ContentStoreChanges, ContentStoreStatus, MemoryStatus, NodeStatus, RouteStatus, TurnCounters,
};
pub use unmanaged::Unmanaged;

pub use crate::face_uri::{FaceUri, FaceUriError, MacAddress, Purpose};
use crate::transport::inner::InnerFace;

/// The face by which Interests reach the node's management, as in NFD: the first that is made.
pub const MANAGEMENT_FACE: FaceId = FaceId(1);

/// What a management protocol may ask of a node.
///
/// Every call is carried out before it returns. Calls cost the data plane little: lists are collected in
/// pieces. When the data plane has ended, calls that cannot say so give empty answers; the application is
/// about to be dropped.
pub trait NodeControl {
    // Faces.

    /// Makes a face to a remote end.
    ///
    /// A face over TCP, a unix socket or WebSocket is made at once and connects in the background: its
    /// [`FaceSnapshot::state`] tells. One that cannot connect is destroyed, or tries again if it is
    /// permanent.
    ///
    /// # Errors
    /// Why not. [`CreateFaceError::Exists`] carries the face that has the same remote end.
    fn create_face(&mut self, request: CreateFace) -> Result<FaceSnapshot, CreateFaceError>;

    /// Makes a face to whoever holds what is given back, inside the process. It is of local scope, carries
    /// packets of one dialect, and is gone when its [`InnerFace`] is dropped. There may be any number of
    /// them: they do not count among those that the configuration limits.
    ///
    /// # Errors
    /// Why not.
    fn create_inner_face(&mut self, request: CreateInnerFace) -> Result<InnerFace, CreateFaceError>;

    /// Changes a face; all of the changes or none. Gives what the face is then.
    ///
    /// # Errors
    /// Why nothing was changed.
    fn update_face(&mut self, face: FaceId, changes: FaceChanges) -> Result<FaceSnapshot, UpdateFaceError>;

    /// Destroys a face; false if there was none, or if it is one of the node's own.
    fn destroy_face(&mut self, face: FaceId) -> bool;

    /// One face.
    fn face(&mut self, face: FaceId) -> Option<FaceSnapshot>;

    /// All faces in order of number, inner ones included.
    fn faces(&mut self) -> Vec<FaceSnapshot>;

    /// The local ends at which the node listens or from which it makes faces.
    fn channels(&mut self) -> Vec<FaceUri>;

    // Routes.

    /// Adds a next hop for a prefix or changes its cost. `announcement` is the prefix announcement that the
    /// route was learned from, if it was: a whole Data, which self-learning passes on.
    ///
    /// # Errors
    /// Why not.
    fn add_next_hop(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        hop: NextHop,
        announcement: Option<Buffer>,
    ) -> Result<(), AddNextHopError>;

    /// Removes a next hop; false if it was not there.
    fn remove_next_hop(&mut self, dialect: Dialect, prefix: &Name, face: FaceId) -> bool;

    /// Makes several changes in their order, as one piece of work for the node: what one route at a short
    /// prefix changes for the prefixes below it. Says of each change that was not made why not.
    fn change_next_hops(
        &mut self,
        dialect: Dialect,
        changes: Vec<NextHopChange>,
    ) -> Vec<(NextHopChange, AddNextHopError)>;

    /// All prefixes that have next hops, in no particular order.
    fn routes(&mut self, dialect: Dialect) -> Vec<RouteStatus>;

    // Strategies.

    /// Chooses the strategy for the names under a prefix. Its full name is that of the specification.
    ///
    /// # Errors
    /// Why not.
    fn set_strategy(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        strategy: &StrategySpec,
    ) -> Result<(), SetStrategyError>;

    /// Takes a choice back; false if there was none, or if the prefix is the root.
    fn unset_strategy(&mut self, dialect: Dialect, prefix: &Name) -> bool;

    /// All choices, in no particular order.
    fn strategies(&mut self, dialect: Dialect) -> Vec<StrategyChoice>;

    // The content store, and the node as a whole.

    /// Changes the content store and gives what it is then.
    fn configure_content_store(&mut self, changes: ContentStoreChanges) -> ContentStoreStatus;

    /// The content store.
    fn content_store(&mut self) -> ContentStoreStatus;

    /// Drops up to `limit` Data under a prefix; gives how many.
    fn erase_cached(&mut self, dialect: Dialect, prefix: &Name, limit: usize) -> usize;

    /// Drops this very packet from the content store, if it is there.
    fn forget_cached(&mut self, data: &Data);

    /// The node as a whole.
    fn status(&mut self) -> NodeStatus;
}

/// A change to the next hops of a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextHopChange {
    /// As [`NodeControl::add_next_hop`].
    Add {
        /// The prefix.
        prefix: Name,
        /// The next hop.
        hop: NextHop,
        /// The announcement that it was learned from.
        announcement: Option<Buffer>,
    },
    /// As [`NodeControl::remove_next_hop`]. That it was not there is no failure.
    Remove {
        /// The prefix.
        prefix: Name,
        /// The face that its next hop goes by.
        face: FaceId,
    },
    /// What holds for names of CCNx under a prefix beside where they lead, in place of what held before.
    SetRules {
        /// The prefix.
        prefix: Name,
        /// What holds.
        rules: NamespaceRules,
    },
}

/// Why a next hop was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddNextHopError {
    /// No such face.
    #[error("face {0} does not exist")]
    NoFace(FaceId),
    /// The face speaks another dialect than the prefix is of.
    #[error("face {0} speaks another dialect")]
    OtherDialect(FaceId),
    /// The table has no place for it.
    #[error(transparent)]
    Table(#[from] engine::RouteError),
    /// The data plane has ended.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// Why a strategy was not chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetStrategyError {
    /// The engine does not take it.
    #[error(transparent)]
    Engine(#[from] engine::SetStrategyError),
    /// The data plane has ended.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// An Interest of an application of the node's own.
#[derive(Clone, Debug)]
pub struct OutgoingInterest {
    /// The Interest.
    pub interest: Interest,
    /// The one face to send it to, instead of where routes and strategy lead.
    pub next_hop: Option<FaceId>,
}

/// A management protocol, as the node sees it: pure, told everything, asked for what it wants sent.
///
/// # Calling order
/// [`start`](Self::start) comes first, once. After each call of `start` or `handle_*` the node takes Data
/// with [`poll_data`](Self::poll_data) and Interests with [`poll_interest`](Self::poll_interest) until there
/// are none, and calls [`handle_timeout`](Self::handle_timeout) when [`next_deadline`](Self::next_deadline)
/// has come. [`do_background_work`](Self::do_background_work) comes when nobody wants anything, and now and
/// then all the same, as long as [`has_background_work`](Self::has_background_work).
pub trait ControlApplication: Send {
    /// The node runs. The place to register prefixes at [`MANAGEMENT_FACE`].
    fn start(&mut self, now: Now, node: &mut dyn NodeControl);

    /// An Interest for one of the application's prefixes. `from` is the face it came by.
    fn handle_interest(&mut self, now: Now, node: &mut dyn NodeControl, interest: &Interest, from: FaceId);

    /// A face was made, destroyed, or changed its state.
    fn handle_face_event(&mut self, now: Now, node: &mut dyn NodeControl, event: &FaceEvent);

    /// Something that the engine wants known: announced and failed routes.
    fn handle_engine_event(&mut self, now: Now, node: &mut dyn NodeControl, event: &engine::Event);

    /// The deadline has come.
    fn handle_timeout(&mut self, now: Now, node: &mut dyn NodeControl);

    /// These next hops come from the configuration, and are in force already: those there were at the start,
    /// and again all of them whenever it has been read anew.
    fn handle_configured_routes(
        &mut self,
        _now: Now,
        _node: &mut dyn NodeControl,
        _routes: &[(Name, NextHop)],
    ) {
    }

    /// A Data has come that the application asked for.
    fn handle_data(&mut self, _now: Now, _node: &mut dyn NodeControl, _data: &Data) {}

    /// A question of the application came back.
    fn handle_nack(
        &mut self,
        _now: Now,
        _node: &mut dyn NodeControl,
        _interest: &Interest,
        _reason: NackReason,
    ) {
    }

    /// The next Interest to send.
    fn poll_interest(&mut self) -> Option<OutgoingInterest> {
        None
    }

    /// The next Data to send. It is never cached.
    fn poll_data(&mut self) -> Option<Data>;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called; [`Instant::NEVER`] if nothing waits.
    fn next_deadline(&self) -> Instant;

    /// Whether there is work that nobody waits for.
    fn has_background_work(&self) -> bool {
        false
    }

    /// Does a small piece of such work: others wait for as long as that takes.
    fn do_background_work(&mut self, _now: Now, _node: &mut dyn NodeControl) {}

    /// What the application has counted, each under a word of its own, for the metrics.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
