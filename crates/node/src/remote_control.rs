//! Reaching the data plane of a node from other threads.

use std::collections::{BTreeMap, HashSet};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;

use engine::{FaceId, NextHop, StrategySpec};
use management::StrategyChoice;
use packet::{Buffer, Data, Dialect, Name};
use system::Clock;

use crate::control::{
    AddNextHopError, ContentStoreChanges, ContentStoreStatus, CreateFace, CreateFaceError, CreateInnerFace,
    FaceChanges, FaceSnapshot, FaceUri, MANAGEMENT_FACE, NextHopChange, NodeControl, NodeStatus,
    RepositoryStatus, RouteStatus, SetStrategyError, UpdateFaceError, shown,
};
use crate::plane::{DataPlane, FACES_AT_ONCE, Impaired, Task, tables};
use crate::repository::status::Watched;
use crate::transport::inner::{InnerFace, inner_face};

/// Counters, each with its word.
type Counted = Vec<(&'static str, u64)>;

/// Reaches a node's data plane from another thread.
#[derive(Clone)]
pub struct RemoteControl {
    tasks: SyncSender<Task>,
    waker: Arc<OwnedFd>,
    /// What applications inside the node have counted so far.
    counted: Arc<Mutex<BTreeMap<&'static str, Counted>>>,
    repositories: Arc<Mutex<Vec<Watched>>>,
}

impl RemoteControl {
    /// `waker` wakes the data plane, which takes what is sent by `tasks`.
    pub(crate) fn new(tasks: SyncSender<Task>, waker: Arc<OwnedFd>) -> Self {
        RemoteControl { tasks, waker, counted: Arc::default(), repositories: Arc::default() }
    }

    /// Has it tell of these repositories.
    pub(crate) fn watch_repositories(&self, repositories: Vec<Watched>) {
        *self.repositories.lock().unwrap_or_else(PoisonError::into_inner) = repositories;
    }

    /// Has the data plane do something between two turns; `None` if it has ended.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        act: impl FnOnce(&mut DataPlane) -> R + Send + 'static,
    ) -> Option<R> {
        let (sender, receiver) = sync_channel(1);
        self.post(Box::new(move |plane| {
            let _ = sender.send(act(plane));
        }))?;
        receiver.recv().ok()
    }

    /// The same without waiting until it is done.
    pub(crate) fn post(&self, task: Task) -> Option<()> {
        self.tasks.send(task).ok()?;
        let _ = rustix::io::write(&*self.waker, &1u64.to_ne_bytes());
        Some(())
    }

    /// How the repositories are.
    fn repository_status(&self) -> Vec<RepositoryStatus> {
        let watched = self.repositories.lock().unwrap_or_else(PoisonError::into_inner).clone();
        watched.iter().map(Watched::status).collect()
    }

    /// Has it known what an application inside the node has counted.
    pub(crate) fn publish_counters(&self, application: &'static str, counters: Counted) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).insert(application, counters);
    }

    /// What applications inside the node have counted.
    pub(crate) fn application_counters(&self) -> Counted {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).values().flatten().copied().collect()
    }

    /// Has a tap see, and perhaps change, all frames of a face until the face goes; false if there is no such
    /// face. With [`link::Impairment`] this makes a bad link on purpose.
    pub fn add_tap(&self, face: FaceId, tap: Box<dyn link::FrameTap + Send>) -> bool {
        self.call(move |plane| plane.tapping.add(&mut plane.faces, face, tap).is_some()).unwrap_or(false)
    }

    /// Makes the link of a face bad on purpose, in place of how bad it was made before; `None` mends it.
    pub(crate) fn impair(&self, face: FaceId, impairment: Option<Impaired>) {
        // A node that has ended has no face to impair.
        let _ = self.call(move |plane| plane.impair(face, impairment));
    }

    /// Tells the application which routes come from the configuration.
    pub(crate) fn tell_of_routes(&self, routes: Vec<(Name, NextHop)>) {
        let mut untold = Some(routes).filter(|routes| !routes.is_empty());
        while let Some(routes) = untold.take() {
            untold = self.call(move |plane| plane.control.tell_of_routes(routes)).flatten();
            if untold.is_some() {
                // Management has other things to do at present.
                std::thread::sleep(StdDuration::from_millis(10));
            }
        }
    }

    pub(crate) fn channel_list(&self) -> Vec<FaceUri> {
        self.call(|plane| plane.sockets.channel_uris()).unwrap_or_default()
    }

    /// Collects a list in pieces, so that the data plane is never kept long.
    fn pages<T: Send + 'static>(
        &self,
        page: impl Fn(&DataPlane, u32) -> (Vec<T>, Option<u32>) + Clone + Send + 'static,
    ) -> Vec<T> {
        let (mut all, mut from) = (Vec::new(), Some(0));
        while let Some(place) = from {
            let page = page.clone();
            let Some((items, next)) = self.call(move |plane| page(plane, place)) else { break };
            all.extend(items);
            from = next;
        }
        all
    }
}

impl NodeControl for RemoteControl {
    fn create_face(&mut self, request: CreateFace) -> Result<FaceSnapshot, CreateFaceError> {
        let made = self.call(move |plane| plane.create_face(&request));
        match made.unwrap_or(Err(CreateFaceError::ShuttingDown)) {
            Ok(face) => Ok(shown::face(face)),
            Err(CreateFaceError::Exists(face)) => Err(CreateFaceError::Exists(Box::new(shown::face(*face)))),
            Err(error) => Err(error),
        }
    }

    fn create_inner_face(&mut self, request: CreateInnerFace) -> Result<InnerFace, CreateFaceError> {
        let CreateInnerFace { purpose, dialect, limits } = request;
        let (face, port) = inner_face(dialect, limits).map_err(CreateFaceError::Socket)?;
        let id = self.call(move |plane| plane.add_inner_face(purpose, dialect, port));
        Ok(face.numbered(id.unwrap_or(Err(CreateFaceError::ShuttingDown))?))
    }

    fn update_face(&mut self, face: FaceId, changes: FaceChanges) -> Result<FaceSnapshot, UpdateFaceError> {
        let updated = self.call(move |plane| plane.update_face(face, changes));
        updated.unwrap_or(Err(UpdateFaceError::ShuttingDown)).map(shown::face)
    }

    fn destroy_face(&mut self, face: FaceId) -> bool {
        let destroy = move |plane: &mut DataPlane| {
            // Without it the node could not be managed any more.
            let exists = face != MANAGEMENT_FACE && plane.faces.contains_key(&face);
            if exists {
                plane.destroy_face(face, "asked for");
            }
            exists
        };
        self.call(destroy).unwrap_or(false)
    }

    fn face(&mut self, face: FaceId) -> Option<FaceSnapshot> {
        self.call(move |plane| plane.face_status(face)).flatten().map(shown::face)
    }

    fn faces(&mut self) -> Vec<FaceSnapshot> {
        let mut all: Vec<FaceSnapshot> = Vec::new();
        loop {
            let from = FaceId(all.last().map_or(0, |face| face.id.0.saturating_add(1)));
            match self.call(move |plane| plane.face_page(from)) {
                Some(page) if !page.is_empty() => all.extend(page),
                _ => return shown::faces(all),
            }
        }
    }

    fn channels(&mut self) -> Vec<FaceUri> {
        self.call(|plane| plane.sockets.channel_uris()).unwrap_or_default()
    }

    fn add_next_hop(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        hop: NextHop,
        announcement: Option<Buffer>,
    ) -> Result<(), AddNextHopError> {
        let prefix = prefix.clone();
        self.call(move |plane| plane.add_next_hop(dialect, &prefix, hop, announcement))
            .unwrap_or(Err(AddNextHopError::ShuttingDown))
    }

    fn remove_next_hop(&mut self, dialect: Dialect, prefix: &Name, face: FaceId) -> bool {
        let prefix = prefix.clone();
        self.call(move |plane| plane.engine.remove_route(dialect, prefix.as_ref(), face)).unwrap_or(false)
    }

    fn change_next_hops(
        &mut self,
        dialect: Dialect,
        changes: Vec<NextHopChange>,
    ) -> Vec<(NextHopChange, AddNextHopError)> {
        self.call(move |plane| plane.change_next_hops(dialect, changes)).unwrap_or_default()
    }

    fn routes(&mut self, dialect: Dialect) -> Vec<RouteStatus> {
        self.pages(move |plane, from| tables::route_page(&plane.engine, dialect, from))
    }

    fn set_strategy(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        strategy: &StrategySpec,
    ) -> Result<(), SetStrategyError> {
        let (prefix, strategy) = (prefix.clone(), strategy.clone());
        self.call(move |plane| plane.engine.set_strategy(dialect, prefix.as_ref(), &strategy))
            .ok_or(SetStrategyError::ShuttingDown)?
            .map_err(SetStrategyError::Engine)
    }

    fn unset_strategy(&mut self, dialect: Dialect, prefix: &Name) -> bool {
        let prefix = prefix.clone();
        self.call(move |plane| plane.engine.unset_strategy(dialect, prefix.as_ref())).unwrap_or(false)
    }

    fn strategies(&mut self, dialect: Dialect) -> Vec<StrategyChoice> {
        self.pages(move |plane, from| tables::strategy_page(&plane.engine, dialect, from))
    }

    fn configure_content_store(&mut self, changes: ContentStoreChanges) -> ContentStoreStatus {
        self.call(move |plane| tables::configure_content_store(&mut plane.engine, changes))
            .unwrap_or(ContentStoreStatus::NOTHING)
    }

    fn content_store(&mut self) -> ContentStoreStatus {
        self.call(|plane| tables::content_store(&plane.engine)).unwrap_or(ContentStoreStatus::NOTHING)
    }

    fn erase_cached(&mut self, dialect: Dialect, prefix: &Name, limit: usize) -> usize {
        let (mut erased, mut from) = (0, Some(0));
        while let Some(place) = from.filter(|_| erased < limit) {
            let (prefix, left) = (prefix.clone(), limit - erased);
            let step =
                self.call(move |plane| plane.engine.erase_cached(dialect, prefix.as_ref(), left, place));
            let (more, next) = step.unwrap_or((0, None));
            (erased, from) = (erased + more, next);
        }
        erased
    }

    fn forget_cached(&mut self, data: &Data) {
        let data = data.clone();
        self.call(move |plane| plane.engine.forget_cached(&data));
    }

    fn status(&mut self) -> NodeStatus {
        let repositories = self.repository_status();
        let status = status_of(self).map(|status| NodeStatus { repositories, ..status });
        status.unwrap_or_else(|| NodeStatus {
            version: concat!("cairn ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix: packet::UnixTime::ZERO,
            started: Clock::START,
            uptime: packet::time::Duration::ZERO,
            tables: engine::TableSizes::default(),
            engine: engine::EngineCounters::default(),
            content_store: engine::ContentStoreCounters::default(),
            packets: Default::default(),
            sharing: Default::default(),
            parity: Default::default(),
            memory: Default::default(),
            turns: Default::default(),
            transport_drops: Default::default(),
            link_drops: Default::default(),
            second_store: None,
            sampling: None,
            repositories: Vec::new(),
        })
    }
}

/// Asks for the status; `None` if the data plane has ended. Repositories are not in it.
///
/// What faces have counted is collected in pieces. A face that goes meanwhile leaves what it has counted to
/// the sums of those that are gone, and counts there alone: no sum is ever less than it was.
fn status_of(remote: &RemoteControl) -> Option<NodeStatus> {
    let faces = remote.call(|plane| plane.faces.ids())?;
    let mut counts = Vec::with_capacity(faces.len());
    for part in faces.chunks(FACES_AT_ONCE) {
        let part = part.to_vec();
        counts.extend(remote.call(move |plane| plane.face_counts(&part))?);
    }
    let (mut status, left) = remote.call(|plane| (plane.status_of_gone_faces(), plane.faces.ids()))?;
    let left: HashSet<_> = left.into_iter().collect();
    counts.iter().filter(|counts| left.contains(&counts.face)).for_each(|counts| counts.add_to(&mut status));
    Some(status)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use engine::FaceId;
    use packet::ndn::InterestBuilder;

    use super::*;
    use crate::config::Config;
    use crate::control::{FaceUri, Unmanaged};
    use crate::node::Node;

    /// More than are looked at in one go.
    const FACES: u64 = 3 * FACES_AT_ONCE as u64;

    #[test]
    fn a_strategy_is_not_said_to_be_chosen_by_a_node_that_has_ended() {
        let mut config = Config::default();
        (config.udp.listen, config.tcp.listen, config.websocket.listen) = Default::default();
        config.unix.listen = Some(Vec::new());
        let mut node = Node::start(&config, Box::new(Unmanaged)).unwrap();
        let mut remote = node.control();
        let strategy: StrategySpec = "multicast".parse().unwrap();
        let mut choose = || remote.set_strategy(Dialect::Ndn, &Name::root(), &strategy);
        assert_eq!(choose(), Ok(()));
        node.shut_down();
        assert_eq!(choose(), Err(SetStrategyError::ShuttingDown));
    }

    #[test]
    fn what_faces_have_counted_is_neither_lost_nor_counted_twice_while_they_go() {
        let mut config = Config::default();
        config.udp.listen = vec!["127.0.0.1:0".parse().unwrap()];
        (config.tcp.listen, config.websocket.listen) = (Vec::new(), Vec::new());
        config.unix.listen = Some(Vec::new());
        let node = Node::start(&config, Box::new(Unmanaged)).unwrap();
        let mut remote = node.control();
        let Some(FaceUri::Udp(here)) = remote.channels().into_iter().next() else { panic!("no channel") };
        let interest = InterestBuilder::new("/x".parse().unwrap()).nonce(1).build().unwrap();
        let sockets: Vec<UdpSocket> = (0..FACES).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let received = || status_of(&node.control()).unwrap().packets.in_interests;
        let deadline = Instant::now() + Duration::from_secs(10);
        for socket in &sockets {
            socket.send_to(interest.wire(), here).unwrap();
        }
        while received() < FACES {
            assert!(Instant::now() < deadline, "{} of {FACES} have come", received());
        }
        let faces: Vec<_> =
            remote.faces().into_iter().map(|face| face.id).filter(|id| *id > FaceId::LAST_RESERVED).collect();
        let going = std::thread::spawn(move || faces.into_iter().all(|face| remote.destroy_face(face)));
        while !going.is_finished() {
            assert_eq!(received(), FACES);
        }
        assert!(going.join().unwrap());
        assert_eq!(received(), FACES);
    }
}
