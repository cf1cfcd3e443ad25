//! A running node: its threads, and the way to reach them.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use formats::printable::printable_path;
use rustix::event::{EventfdFlags, eventfd};
use system::Clock;

use crate::capture::CaptureServer;
use crate::ccnd::CcndService;
use crate::ccnr;
use crate::config::Config;
use crate::control::{ControlApplication, CreateInnerFace, MANAGEMENT_FACE, NodeControl, Purpose};
use crate::control_service::ControlService;
use crate::inner_service::ServiceThread;
use crate::management::MANAGED;
use crate::metrics::MetricsServer;
use crate::plane::{DataPlane, Ends, Listener, tables};
use crate::remote_control::RemoteControl;
use crate::repository::Repositories;
use crate::revocation_service::RevocationService;
use crate::start::{self, CheckedConfig};
use crate::start_error::StartError;
use crate::sys::threads::{self, EndNotifier};
use crate::transport::inner::{InnerFace, InnerLimits};
use crate::transport::ring::{RingLimits, Signal, ring};
use crate::verification::VerificationService;

/// A node that runs until it is shut down or dropped.
pub struct Node {
    remote: RemoteControl,
    plane: Option<JoinHandle<()>>,
    control: Option<ServiceThread>,
    metrics: Option<MetricsServer>,
    captures: Option<CaptureServer>,
    ccnd: Option<ServiceThread>,
    verification: Option<ServiceThread>,
    /// What fetches lists of revoked keys.
    revocations: Option<ServiceThread>,
    /// What clients of CCNx reach repositories by.
    ccnrs: Vec<ServiceThread>,
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
        let remote = RemoteControl::new(task_sender, waker.clone());
        let ends = Ends { tasks, waker, messages };
        let pin = config.node.pin_to_cpu;
        let (started_sender, started) = sync_channel(1);
        let (end_sender, ended) = sync_channel(1);
        let plane_end = EndNotifier(end_sender.clone());
        let plane = std::thread::Builder::new().name("data-plane".to_owned()).spawn(move || {
            let _plane_end = plane_end;
            threads::pin_to_cpu(pin);
            threads::be_woken_on_time();
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
            revocations: None,
            ccnrs: Vec::new(),
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
        let _end = EndNotifier(end_sender);
        let service = ControlService { clock, remote, application, messages: message_receiver, _end };
        node.control = Some(ServiceThread::start("control", clock, face, service)?);
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
        let add =
            |plane: &mut DataPlane| listeners.into_iter().try_for_each(|one| plane.sockets.add_listener(one));
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
        self.repositories = start::repositories::attach(&config.repositories, &self.remote, waker)?;
        self.remote.watch_repositories(self.repositories.watched());
        self.ccnd = CcndService::start_if_enabled(&config.ccnx, clock, &self.remote)?;
        self.ccnrs = ccnr::serve(&self.repositories, &config.ccnx, clock, &self.remote)?;
        self.verification = VerificationService::start_if_enabled(config, clock, &self.remote)?;
        self.revocations = RevocationService::start_if_enabled(config, clock, &self.remote)?;
        Ok(())
    }

    fn offer_captures(&mut self, config: &Config, clock: Clock) -> Result<(), StartError> {
        let Some(path) = start::capture_path(config, &self.remote.channel_list()) else { return Ok(()) };
        match CaptureServer::start(&path, clock, self.remote.clone()) {
            Ok(server) => self.captures = Some(server),
            Err(source) if config.node.capture_socket.is_some() => {
                return Err(StartError::Listen { address: printable_path(&path), source });
            }
            Err(error) => tracing::warn!("no captures at {}: {error}", printable_path(&path)),
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
            tables::configure_content_store(&mut plane.engine, store);
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
        if let Some(plane) = self.plane.take() {
            let _ = plane.join();
        }
        self.control = None;
    }

    /// Closes all faces and sockets and waits until that is done.
    pub fn shut_down(&mut self) {
        self.metrics = None;
        self.captures = None;
        self.remote.call(DataPlane::stop);
        self.wait();
        self.ccnd = None;
        self.verification = None;
        self.revocations = None;
        self.ccnrs.clear();
        self.repositories.stop();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.shut_down();
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
        ended.recv_timeout(std::time::Duration::from_secs(10)).is_ok()
    }

    #[test]
    fn that_a_node_has_ended_is_told_whether_it_was_told_to_or_failed() {
        assert!(ends_after(Node::shut_down));
        assert!(ends_after(|node| {
            node.remote.post(Box::new(|_| panic!("on purpose"))).unwrap();
        }));
    }
}
