//! A running node: its threads, and the way to reach them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use engine::{FaceId, NextHop, SetStrategyError, StrategySpec};
use packet::{Buffer, Dialect, Name};
use rustix::event::{EventfdFlags, eventfd};
use thiserror::Error;

use crate::capture::CaptureServer;
use crate::ccnd::CcndService;
use crate::clock::Clock;
use crate::config::{Config, ConfigError};
use crate::control::{
    AddNextHopError, ContentStoreChanges, ContentStoreStatus, ControlApplication, ControlLoop, CreateFace,
    CreateFaceError, CreateInnerFace, FaceChanges, FaceStatus, FaceUri, MANAGEMENT_FACE, NextHopChange,
    NodeControl, NodeStatus, Purpose, RouteStatus, StrategyChoice, UpdateFaceError, shown,
};
use crate::management::MANAGED;
use crate::metrics::MetricsServer;
use crate::plane::{DataPlane, Ends, Impaired, Listener, Task};
use crate::repository::{self, Repositories, RepositoryStatus, Watched};
use crate::start::threads::EndNotifier;
use crate::start::{self, CheckedConfig};
use crate::transport::inner::{InnerFace, InnerLimits, inner_face};
use crate::transport::ring::{RingLimits, Signal, ring};
use crate::verification::VerificationService;

/// Why a node did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A socket could not be had.
    #[error("cannot listen at {address}: {source}{}", hint(.source))]
    Listen {
        /// Where.
        address: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// This user may not do that.
    #[error(
        "{what} needs the capability {capability}: run as root, or grant it with `setcap {}+ep` on the program, or with \
         AmbientCapabilities= in the systemd unit",
        .capability.to_lowercase()
    )]
    Capability {
        /// What was asked for.
        what: String,
        /// What it needs.
        capability: &'static str,
    },
    /// A repository cannot be opened.
    #[error("the repository at {}: {problem}", .path.display())]
    Repository {
        /// Its folder.
        path: std::path::PathBuf,
        /// Why.
        problem: String,
    },
    /// The system refused something else that a node needs.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
}

fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => "; is another forwarder running? Stop it, or change the address",
        std::io::ErrorKind::PermissionDenied => {
            "; choose an address that this user may use, or give the program the capability it needs (see docs/node.md)"
        }
        _ => "",
    }
}

/// A node that runs until it is shut down or dropped.
pub struct Node {
    remote: RemoteControl,
    plane: Option<JoinHandle<()>>,
    control: Option<JoinHandle<()>>,
    metrics: Option<MetricsServer>,
    captures: Option<CaptureServer>,
    ccnd: Option<CcndService>,
    verification: Option<VerificationService>,
    repositories: Repositories,
    /// Says when one of the threads has ended without which the node is none.
    ended: Mutex<Option<Receiver<()>>>,
    config: Config,
}

/// Tasks that may wait for the data plane, and messages for the control thread.
const TASKS: usize = 256;
const MESSAGES: usize = 4096;

impl Node {
    /// Starts a node. `application` manages it.
    ///
    /// # Errors
    /// What keeps it from running; nothing is left behind then.
    pub fn start(config: &Config, mut application: Box<dyn ControlApplication>) -> Result<Self, StartError> {
        let clock = Clock::start();
        start::descriptors::raise_limit();
        start::descriptors::make_room(config.node.max_faces);
        let checked = CheckedConfig::read(config)?;
        let (prepared, listeners) = start::prepare(config, &checked)?;
        let waker = Arc::new(
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(std::io::Error::from)?,
        );
        let (task_sender, tasks) = sync_channel(TASKS);
        // The plane never waits for room in it, so the second signal wakes nobody.
        let limits = RingLimits { items: MESSAGES, bytes: usize::MAX };
        let (messages, message_receiver) = ring(limits, Signal::new()?, Signal::new()?);
        let waker_of_answers = waker.clone();
        let remote = RemoteControl {
            tasks: task_sender,
            waker: waker.clone(),
            counted: Arc::default(),
            repositories: Arc::default(),
        };
        let ends = Ends { tasks, waker, messages };
        let pin = config.node.pin_to_cpu;
        let (started_sender, started) = sync_channel(1);
        let (end_sender, ended) = sync_channel(1);
        let plane_end = EndNotifier(end_sender.clone());
        let plane = std::thread::Builder::new().name("data-plane".to_owned()).spawn(move || {
            let _plane_end = plane_end;
            start::threads::pin_to_cpu(pin);
            match start::data_plane(clock, prepared, ends) {
                Ok(mut plane) => {
                    let _ = started_sender.send(Ok(()));
                    plane.run();
                }
                Err(error) => {
                    let _ = started_sender.send(Err(error));
                }
            }
        })?;
        started.recv().map_err(|_| std::io::Error::other("the data plane did not start"))??;
        let mut node = Node {
            remote,
            plane: Some(plane),
            control: None,
            metrics: None,
            captures: None,
            ccnd: None,
            verification: None,
            repositories: Repositories::default(),
            ended: Mutex::new(Some(ended)),
            config: config.clone(),
        };
        let face = node.open_internal_face()?;
        node.start_services(config, clock, waker_of_answers)?;
        let routes = checked.apply(&mut node.remote)?;
        application.start(clock.both(), &mut node.remote);
        // Whoever connects finds management there: nobody who comes early is told that it is not.
        node.accept_from(listeners)?;
        let remote = node.remote.clone();
        let control_end = EndNotifier(end_sender);
        let control = std::thread::Builder::new().name("control".to_owned()).spawn(move || {
            let _control_end = control_end;
            start::threads::go_behind_the_data_plane();
            ControlLoop { clock, remote, application, messages: message_receiver, face }.run();
        })?;
        node.control = Some(control);
        node.remote.tell_of_routes(routes);
        node.serve_metrics(config)?;
        node.offer_captures(config, clock)?;
        Ok(node)
    }

    /// The face that management is behind.
    fn open_internal_face(&mut self) -> Result<InnerFace, StartError> {
        let face = self.remote.create_inner_face(CreateInnerFace {
            purpose: Purpose::default(),
            dialect: MANAGED,
            limits: InnerLimits::default(),
        });
        let face = face.map_err(std::io::Error::other)?;
        debug_assert_eq!(face.id(), MANAGEMENT_FACE);
        Ok(face)
    }

    fn accept_from(&self, listeners: Vec<Listener>) -> Result<(), StartError> {
        let add = |plane: &mut DataPlane| listeners.into_iter().try_for_each(|one| plane.add_listener(one));
        let ended = || Err(std::io::Error::other("the data plane has ended"));
        Ok(self.remote.call(add).unwrap_or_else(ended)?)
    }

    /// Starts what has a thread of its own behind an inner face.
    fn start_services(
        &mut self,
        config: &Config,
        clock: Clock,
        waker: Arc<OwnedFd>,
    ) -> Result<(), StartError> {
        self.repositories = repository::attach(&config.repositories, &self.remote, waker)?;
        *self.remote.repositories.lock().unwrap_or_else(PoisonError::into_inner) =
            self.repositories.watched();
        self.ccnd = CcndService::start_if_enabled(&config.ccnx, clock, &self.remote)?;
        self.repositories.serve_ccnx(&config.ccnx, clock, &self.remote)?;
        self.verification = VerificationService::start_if_enabled(config, clock, &self.remote)?;
        Ok(())
    }

    fn offer_captures(&mut self, config: &Config, clock: Clock) -> Result<(), StartError> {
        let Some(path) = start::capture_path(config, &self.remote.channel_list()) else { return Ok(()) };
        match CaptureServer::start(&path, clock, self.remote.clone()) {
            Ok(server) => self.captures = Some(server),
            Err(source) if config.node.capture_socket.is_some() => {
                return Err(StartError::Listen { address: path.display().to_string(), source });
            }
            Err(error) => tracing::warn!("no captures at {}: {error}", path.display()),
        }
        Ok(())
    }

    fn serve_metrics(&mut self, config: &Config) -> Result<(), StartError> {
        self.metrics = match config.metrics.listen {
            Some(listen) => {
                let started = MetricsServer::start(listen, self.remote.clone());
                let address = format!("http://{listen} for metrics");
                Some(started.map_err(|source| StartError::Listen { address, source })?)
            }
            None => None,
        };
        Ok(())
    }

    /// Where metrics are served, if they are.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(MetricsServer::address)
    }

    /// Takes over what a new configuration says, as far as that can be done while the node runs: limits,
    /// timeouts, the content store, strategies, metrics, and faces and routes that are new. Gives what
    /// changed and needs a restart.
    ///
    /// # Errors
    /// A configuration that makes no sense, of which nothing is taken over; or something that could not be
    /// had, such as a face or a socket for metrics: what stands before it has been taken over.
    pub fn reload(&mut self, config: &Config) -> Result<Vec<&'static str>, StartError> {
        // All of it, certificates included: what a restart would refuse is refused now.
        config.check()?;
        let checked = CheckedConfig::read(config)?;
        let (settings, store) = (checked.settings.clone(), checked.content_store);
        self.remote.call(move |plane| {
            plane.take_over(settings);
            plane.configure_content_store(store);
        });
        let routes = checked.apply(&mut self.remote)?;
        self.remote.tell_of_routes(routes);
        // Whether they are served counts, too: an address that could not be had before may be free by now.
        if config.metrics != self.config.metrics || config.metrics.listen.is_some() != self.metrics.is_some()
        {
            self.metrics = None;
            self.serve_metrics(config)?;
        }
        let old = std::mem::replace(&mut self.config, config.clone());
        Ok(old.needs_restart_for(config))
    }

    /// A way to ask things of the node from any thread.
    pub fn control(&self) -> RemoteControl {
        self.remote.clone()
    }

    /// Has something done, once, as soon as the node has ended: it was told to, or it has failed.
    ///
    /// # Errors
    /// There can be no thread to wait for it.
    pub fn when_ended(&mut self, act: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ended) = ended else { return Ok(()) };
        let wait = move || {
            let _ = ended.recv();
            act();
        };
        std::thread::Builder::new().name("end".to_owned()).spawn(wait).map(|_| ())
    }

    /// Waits until the node has ended, which it does only when it is told to or fails.
    pub fn wait(&mut self) {
        for thread in [self.plane.take(), self.control.take()].into_iter().flatten() {
            let _ = thread.join();
        }
    }

    /// Closes all faces and sockets and waits until that is done.
    pub fn shut_down(&mut self) {
        self.metrics = None;
        self.captures = None;
        self.remote.call(DataPlane::stop);
        self.wait();
        self.ccnd = None;
        self.verification = None;
        self.repositories.stop();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shut_down();
    }
}

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
        self.call(move |plane| plane.add_tap(face, tap).is_some()).unwrap_or(false)
    }

    /// Makes the link of a face bad on purpose, in place of how bad it was made before; `None` mends it.
    pub(crate) fn impair(&self, face: FaceId, impairment: Option<Impaired>) {
        // A node that has ended has no face to impair.
        let _ = self.call(move |plane| plane.impair(face, impairment));
    }

    /// Tells the application which routes come from the configuration.
    fn tell_of_routes(&self, routes: Vec<(Name, NextHop)>) {
        let mut untold = Some(routes).filter(|routes| !routes.is_empty());
        while let Some(routes) = untold.take() {
            untold = self.call(move |plane| plane.tell_of_routes(routes)).flatten();
            if untold.is_some() {
                // Management has other things to do at present.
                std::thread::sleep(StdDuration::from_millis(10));
            }
        }
    }

    fn channel_list(&self) -> Vec<FaceUri> {
        self.call(|plane| plane.channel_uris()).unwrap_or_default()
    }

    /// Collects a list in pieces, so that the data plane is never kept long.
    fn pages<T: Send + 'static>(
        &self,
        page: impl Fn(&DataPlane, usize) -> Vec<T> + Clone + Send + 'static,
    ) -> Vec<T> {
        let mut all = Vec::new();
        loop {
            let (skip, page) = (all.len(), page.clone());
            match self.call(move |plane| page(plane, skip)) {
                Some(items) if !items.is_empty() => all.extend(items),
                _ => return all,
            }
        }
    }
}

impl NodeControl for RemoteControl {
    fn create_face(&mut self, request: CreateFace) -> Result<FaceStatus, CreateFaceError> {
        let made = self.call(move |plane| plane.create_face(&request));
        match made.unwrap_or(Err(CreateFaceError::ShuttingDown)) {
            Ok(face) => Ok(shown::face(face)),
            Err(CreateFaceError::Exists(face)) => Err(CreateFaceError::Exists(Box::new(shown::face(*face)))),
            Err(error) => Err(error),
        }
    }

    fn create_inner_face(&mut self, request: CreateInnerFace) -> Result<InnerFace, CreateFaceError> {
        let CreateInnerFace { purpose, dialect, limits } = request;
        let (face, port) =
            inner_face(dialect, limits).map_err(|error| CreateFaceError::Socket(error.to_string()))?;
        let id = self.call(move |plane| plane.add_inner_face(purpose, dialect, port));
        Ok(face.numbered(id.unwrap_or(Err(CreateFaceError::ShuttingDown))?))
    }

    fn update_face(&mut self, face: FaceId, changes: FaceChanges) -> Result<FaceStatus, UpdateFaceError> {
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

    fn face(&mut self, face: FaceId) -> Option<FaceStatus> {
        self.call(move |plane| plane.face_status(face)).flatten().map(shown::face)
    }

    fn faces(&mut self) -> Vec<FaceStatus> {
        let mut all: Vec<FaceStatus> = Vec::new();
        loop {
            let from = FaceId(all.last().map_or(0, |face| face.id.0.saturating_add(1)));
            match self.call(move |plane| plane.face_page(from)) {
                Some(page) if !page.is_empty() => all.extend(page),
                _ => return shown::faces(all),
            }
        }
    }

    fn channels(&mut self) -> Vec<FaceUri> {
        self.call(|plane| plane.channel_uris()).unwrap_or_default()
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
        self.pages(move |plane, skip| plane.route_page(dialect, skip))
    }

    fn set_strategy(
        &mut self,
        dialect: Dialect,
        prefix: &Name,
        strategy: &StrategySpec,
    ) -> Result<(), SetStrategyError> {
        let (prefix, strategy) = (prefix.clone(), strategy.clone());
        self.call(move |plane| plane.engine.set_strategy(dialect, prefix.as_ref(), &strategy))
            .unwrap_or(Ok(()))
    }

    fn unset_strategy(&mut self, dialect: Dialect, prefix: &Name) -> bool {
        let prefix = prefix.clone();
        self.call(move |plane| plane.engine.unset_strategy(dialect, prefix.as_ref())).unwrap_or(false)
    }

    fn strategies(&mut self, dialect: Dialect) -> Vec<StrategyChoice> {
        self.pages(move |plane, skip| plane.strategy_page(dialect, skip))
    }

    fn configure_content_store(&mut self, changes: ContentStoreChanges) -> ContentStoreStatus {
        self.call(move |plane| plane.configure_content_store(changes)).unwrap_or(ContentStoreStatus::NOTHING)
    }

    fn content_store(&mut self) -> ContentStoreStatus {
        self.call(|plane| plane.content_store()).unwrap_or(ContentStoreStatus::NOTHING)
    }

    fn erase_cached(&mut self, dialect: Dialect, prefix: &Name, limit: usize) -> usize {
        let prefix = prefix.clone();
        self.call(move |plane| plane.engine.erase_cached(dialect, prefix.as_ref(), limit)).unwrap_or(0)
    }

    fn status(&mut self) -> NodeStatus {
        let repositories = self.repository_status();
        let status = crate::status::of(self).map(|status| NodeStatus { repositories, ..status });
        status.unwrap_or_else(|| NodeStatus {
            version: concat!("cairn ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_millis: 0,
            started: Clock::START,
            uptime: packet::time::Duration::ZERO,
            tables: engine::TableSizes::default(),
            engine: engine::EngineCounters::default(),
            content_store: engine::ContentStoreCounters::default(),
            in_packets: [0; 3],
            out_packets: [0; 3],
            sharing: Default::default(),
            queued_bytes: 0,
            reassembly_bytes: 0,
            memory_budget_bytes: 0,
            idle_wakeups: 0,
            socket_rests: 0,
            stream_holds: 0,
            transport_drops: Default::default(),
            link_drops: Default::default(),
            second_store: None,
            sampling: None,
            repositories: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unmanaged;

    /// A node without sockets.
    fn node() -> Node {
        let mut config = Config::default();
        config.udp.listen = Vec::new();
        config.tcp.listen = Vec::new();
        config.websocket.listen = Vec::new();
        config.unix.listen = Some(Vec::new());
        Node::start(&config, Box::new(Unmanaged)).unwrap()
    }

    fn ends_after(act: impl FnOnce(&mut Node)) -> bool {
        let mut node = node();
        let (sender, ended) = sync_channel(1);
        node.when_ended(move || sender.send(()).unwrap()).unwrap();
        assert!(ended.try_recv().is_err(), "it runs");
        act(&mut node);
        ended.recv_timeout(StdDuration::from_secs(10)).is_ok()
    }

    #[test]
    fn that_a_node_has_ended_is_told_whether_it_was_told_to_or_failed() {
        assert!(ends_after(Node::shut_down));
        assert!(ends_after(|node| {
            node.remote.post(Box::new(|_| panic!("on purpose"))).unwrap();
        }));
    }
}
