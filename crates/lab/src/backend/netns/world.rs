//! One repeat of one case, from bare namespaces to the last counter. Runs as the first process of a process
//! namespace.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use client::ClientError;

use super::guard::{GuardError, enter_world};
use super::namespace::{Namespace, NamespaceError};
use super::programs::{Programs, Setting};
use super::routing;
use super::running_server::RunningServer;
use super::wiring::{Wiring, WiringError, wire};
use crate::backend::interface::Interface;
use crate::backend::machine::cgroup::{Controllers, Group};
use crate::backend::machine::clients::{Clients, ClientsError};
use crate::backend::machine::load::Load;
use crate::backend::machine::sampler::{Sampler, SamplerConfig};
use crate::backend::machine::steal::Machine;
use crate::capture::tap::{self, Tap, TapConfig, TapInterface};
use crate::driver::{Driver, DriverError, Launch, Manager, Setup, driver};
use crate::experiment::Plan;
use crate::experiment::plan::{Activity, Arena, Links, NodeIndex, Software};
use crate::order::{Event, ORDER_FILE, OUTCOME_FILE, Order, Outcome, Request, read_json, write_json};
use crate::wall_clock::epoch_ns;

/// How long a forwarder may take to answer for the first time.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// A file or a process.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What failed.
        source: io::Error,
    },
    /// The system does not allow it.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// A namespace.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The network.
    #[error(transparent)]
    Wiring(#[from] WiringError),
    /// The software under test.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A client.
    #[error(transparent)]
    Clients(#[from] ClientsError),
    /// A forwarder that does not start.
    #[error("the forwarder of `{node}` does not answer: {source}; its log is {}", .log.display())]
    Start {
        /// The node.
        node: String,
        /// What it did instead.
        source: Box<ClientError>,
        /// Where its output is.
        log: PathBuf,
    },
    /// A program that was not there, or ended while it was needed.
    #[error("{0}")]
    Program(String),
    /// A forwarder that ended while it was needed.
    #[error("the forwarder of `{node}` ended during the run; its log is {}", .log.display())]
    Died {
        /// The node.
        node: String,
        /// Where its output is.
        log: PathBuf,
    },
}

/// What failed, with what was tried.
pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> WorldError {
    let what = what.into();
    move |source| WorldError::Io { what, source }
}

pub(super) struct World<'a> {
    pub(super) order: &'a Order,
    pub(super) folder: &'a Path,
    pub(super) namespaces: Arena<NodeIndex, Namespace>,
    pub(super) wiring: Wiring,
    pub(super) controllers: Controllers,
    pub(super) groups: Arena<NodeIndex, Group>,
    pub(super) forwarders: BTreeMap<NodeIndex, Forwarder>,
    /// Servers beside them.
    pub(super) servers: Vec<RunningServer>,
    /// Links as they are by now.
    pub(super) links: Links,
    pub(super) outcome: Outcome,
}

/// The forwarder of a node.
pub(super) struct Forwarder {
    pub(super) launch: Launch,
    pub(super) child: Child,
    /// The number of its process, for those who look at it.
    pub(super) pid: Arc<AtomicU32>,
}

/// Carries out the order in `folder`.
///
/// # Errors
///
/// Whatever kept it from being carried out; it has been said as an event too.
pub fn run(folder: &Path) -> Result<(), WorldError> {
    let done = enter_world().map_err(WorldError::from).and_then(|()| prepare_and_run(folder));
    if let Err(error) = &done {
        Event::Failed { why: error.to_string() }.say();
    }
    done
}

fn prepare_and_run(folder: &Path) -> Result<(), WorldError> {
    let order: Order = read_json(&folder.join(ORDER_FILE)).map_err(io_error("the order cannot be read"))?;
    let requests = end_with_input();
    sockets(folder)?;
    let mut world = World {
        order: &order,
        folder,
        namespaces: Arena::default(),
        wiring: Wiring::default(),
        controllers: Controllers::find(),
        groups: Arena::default(),
        forwarders: BTreeMap::new(),
        servers: Vec::new(),
        links: order.plan.links.clone(),
        outcome: Outcome::default(),
    };
    if order.stays { world.stay(&requests) } else { world.run() }
}

/// When the guard's end of our input closes, everything here ends. What is asked for by it until then comes
/// out of the channel.
fn end_with_input() -> Receiver<Request> {
    let (asked, requests) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            // A run listens to nobody.
            if let Ok(request) = serde_json::from_str(&line) {
                let _ = asked.send(request);
            }
        }
        std::process::exit(130);
    });
    requests
}

/// Sockets live in a file system of their own that only this world sees, and their paths are short.
fn sockets(folder: &Path) -> Result<(), WorldError> {
    let place = folder.join("sockets");
    fs::create_dir_all(&place).map_err(io_error("no folder for sockets"))?;
    nix::mount::mount(Some("tmpfs"), &place, Some("tmpfs"), nix::mount::MsFlags::empty(), None::<&str>)
        .map_err(|error| io_error("no file system for sockets")(error.into()))?;
    std::env::set_current_dir(&place).map_err(io_error("the folder for sockets cannot be entered"))
}

/// A node's socket, relative to the world's working folder.
pub(super) fn socket(node: &str) -> PathBuf {
    PathBuf::from(format!("{node}.sock"))
}

pub(super) fn step(name: &str) {
    Event::Step { name: name.to_owned() }.say();
}

impl World<'_> {
    pub(super) fn programs(&self) -> &crate::driver::Programs {
        &self.order.programs
    }

    pub(super) fn seed(&self) -> u64 {
        self.order.seed
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.order.plan
    }

    /// Are there programs, which know nothing but IP?
    pub(super) fn has_programs(&self) -> bool {
        // Whoever enters a network that stays may start any.
        self.order.stays
            || self.plan().workloads.iter().any(|workload| matches!(workload.does, Activity::Program(_)))
            || self.plan().nodes.iter().any(|node| node.server.is_some() || node.switch)
    }

    fn note(&mut self, text: String) {
        Event::Note { text: text.clone() }.say();
        self.outcome.notes.push(text);
    }

    fn run(&mut self) -> Result<(), WorldError> {
        step("network");
        self.network()?;
        step("forwarders");
        if self.plan().software != Software::None {
            let software = driver(self.plan().software, &self.order.programs)?;
            self.outcome.software = software.version();
            self.start_forwarders(software.as_ref())?;
        }
        self.start_servers()?;
        step("captures");
        let taps = self.start_taps()?;
        step("clients");
        let mut clients = self.start_clients()?;
        clients.wait_ready()?;
        step("forwarder log");
        let start_ns = epoch_ns() + 500_000_000;
        let samplers = self.start_samplers(start_ns)?;
        let awake = self.keep_processors_awake()?;
        step("workloads");
        let totals = self.totals_before()?;
        let before = Machine::now();
        clients.start(start_ns)?;
        let stop = Arc::new(AtomicBool::new(false));
        let loads = self.start_loads(start_ns, &stop)?;
        let programs = self.start_programs(start_ns)?;
        let ended = self.wait(&mut clients, &programs, start_ns);
        self.outcome.start_ns = start_ns;
        self.outcome.stop_ns = epoch_ns();
        step("stop");
        stop.store(true, Ordering::Relaxed);
        let programs = programs.stop().map_err(io_error("a program failed"))?;
        self.outcome.nodes = self.totals(&totals, &programs.processor_ns)?;
        for failure in programs.failures {
            self.note(failure);
        }
        let ended = ended.and(clients.stop().map_err(WorldError::from));
        for sampler in samplers {
            let (node, sampler) = sampler;
            let counts = sampler.stop().map_err(io_error("the forwarder log failed"))?;
            self.outcome.samples.insert(node, counts);
        }
        for (node, tap) in taps {
            let counts = tap.stop().map_err(io_error("a capture failed"))?;
            self.outcome.taps.insert(node, counts);
        }
        for load in loads {
            load.join().unwrap_or(Ok(())).map_err(io_error("a load failed"))?;
        }
        self.outcome.steal = before.steal_since();
        self.outcome.clock_shift_ns = before.clock_shift_ns();
        drop(awake);
        self.stop_forwarders();
        match ended {
            Ok(()) => {}
            // What was measured until then is kept and judged: it is no valid run, and may be tried again.
            Err(WorldError::Died { .. } | WorldError::Clients(_) | WorldError::Program(_)) => {
                self.outcome.lost = ended.err().map(|error| error.to_string());
            }
            Err(other) => return Err(other),
        }
        let file = self.folder.join(OUTCOME_FILE);
        write_json(&file, &self.outcome).map_err(io_error("the outcome cannot be written"))
    }

    pub(super) fn network(&mut self) -> Result<(), WorldError> {
        let names: Vec<String> = self.plan().nodes.iter().map(|node| node.name.clone()).collect();
        for name in &names {
            self.namespaces.push(Namespace::new(name)?);
        }
        if self.plan().schedule.one_processor {
            self.deal_out_processors()?;
        }
        self.wiring = wire(self.plan(), &self.namespaces)?;
        if self.has_programs() {
            routing::connect(self.plan(), &self.wiring, &self.namespaces)?;
            if let Err(error) = routing::name_hosts(self.plan(), &self.wiring, Path::new(".")) {
                self.note(format!(
                    "Programs know no names of nodes: /etc/hosts cannot be replaced ({error})."
                ));
            }
        }
        let controllers = self.controllers.clone();
        self.outcome.control = controllers.words();
        if self.plan().schedule.one_processor {
            self.outcome.control.push_str("; each node on one processor");
        }
        // Who samples and captures must not wait for what else the machine does, either. No node can be
        // called so.
        let own = controllers.group(self.order.owner, "lab.own").and_then(|group| group.add_self());
        own.map_err(io_error("no control group for the lab itself"))?;
        let wants_shares = self.plan().nodes.ids().any(|node| self.plan().shares(node).next().is_some())
            || self
                .plan()
                .workloads
                .iter()
                .any(|workload| matches!(workload.does, Activity::Load { cpu, .. } if cpu > 0.0));
        if wants_shares && !controllers.can_limit_processor() {
            self.note(
                "Shares of the processor are not kept: no control group can be written to here. Run as root, or \
                 delegate a control group; until then all nodes have equal shares."
                    .to_owned(),
            );
        }
        for (index, name) in names.iter().enumerate().map(|(place, name)| (NodeIndex(place), name)) {
            let group = controllers.group(self.order.owner, name);
            let group = group.map_err(io_error(format!("no control group for `{name}`")))?;
            let node = self.plan().nodes.get(index);
            if let Some(cores) = node.and_then(|node| node.cpu) {
                let kept = group.limit_processor(Some(cores), node.and_then(|node| node.cpu_period_ns));
                kept.map_err(io_error(format!("no share for `{name}`")))?;
            }
            if let Some(bytes) = node.and_then(|node| node.memory_bytes) {
                group.limit_memory(bytes).map_err(io_error(format!("no memory limit for `{name}`")))?;
            }
            self.groups.push(group);
        }
        Ok(())
    }

    /// The address of each node: that of its first interface.
    pub(super) fn addresses(&self) -> BTreeMap<NodeIndex, Ipv4Addr> {
        let first =
            |(node, interfaces): (&NodeIndex, &Vec<Interface>)| Some((*node, interfaces.first()?.local));
        self.wiring.interfaces.iter().filter_map(first).collect()
    }

    fn setup<'s>(
        &'s self,
        node: NodeIndex,
        folder: &'s Path,
        socket: &'s Path,
        addresses: &'s BTreeMap<NodeIndex, Ipv4Addr>,
    ) -> Setup<'s> {
        Setup {
            plan: self.plan(),
            node,
            folder,
            socket,
            interfaces: self.wiring.interfaces.get(&node).map_or(&[], Vec::as_slice),
            impaired: &self.wiring.left_to_link_layer,
            addresses,
            shapes_rates: false,
            seed: self.order.seed,
        }
    }

    pub(super) fn log(&self, node: &str) -> PathBuf {
        self.folder.join(format!("log-{node}.txt"))
    }

    pub(super) fn start_forwarders(&mut self, software: &dyn Driver) -> Result<(), WorldError> {
        let addresses = self.addresses();
        let nodes: Vec<NodeIndex> = self.plan().nodes.ids().filter(|node| self.forwards(*node)).collect();
        for index in nodes.iter().copied() {
            let name = self.plan().node_name(index).to_owned();
            let folder = self.folder.join(&name);
            fs::create_dir_all(&folder).map_err(io_error(format!("no folder for `{name}`")))?;
            let socket = socket(&name);
            let launch = software.prepare(&self.setup(index, &folder, &socket, &addresses))?;
            let child = self.spawn(index, &launch, Stdio::null(), None)?;
            let pid = Arc::new(AtomicU32::new(child.id()));
            self.forwarders.insert(index, Forwarder { launch, child, pid });
        }
        for index in nodes {
            let name = self.plan().node_name(index).to_owned();
            let (folder, socket) = (self.folder.join(&name), socket(&name));
            let failed = |source| WorldError::Start {
                node: name.clone(),
                source: Box::new(source),
                log: self.log(&name),
            };
            let mut manager = Manager::answering(&socket, TIMEOUT).map_err(failed)?;
            software.connect(&self.setup(index, &folder, &socket, &addresses), &mut manager)?;
        }
        Ok(())
    }

    /// Starts a program in a node's namespace and group, its output in the node's log unless it goes
    /// elsewhere.
    pub(super) fn spawn(
        &self,
        node: NodeIndex,
        launch: &Launch,
        input: Stdio,
        output: Option<Stdio>,
    ) -> Result<Child, WorldError> {
        let name = self.plan().node_name(node);
        let log = File::options().create(true).append(true).open(self.log(name));
        let log = log.map_err(io_error(format!("no log for `{name}`")))?;
        let copy = log.try_clone().map_err(io_error("no log"))?;
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).envs(launch.environment.iter().cloned());
        command.stdin(input).stderr(copy).stdout(output.unwrap_or_else(|| log.into()));
        let program = launch.program.display().to_string();
        let Some(namespace) = self.namespaces.get(node) else {
            return Err(io_error(program)(io::Error::other("there is no such node")));
        };
        let child = namespace.run(move || command.spawn())?.map_err(io_error(program))?;
        if let Some(group) = self.groups.get(node) {
            group
                .add(child.id())
                .map_err(io_error(format!("`{name}` cannot be put into its control group")))?;
        }
        Ok(child)
    }

    fn start_taps(&self) -> Result<Vec<(String, Tap)>, WorldError> {
        if !self.plan().recording.probe.capture {
            return Ok(Vec::new());
        }
        let mut taps = Vec::new();
        for (index, node) in self.plan().nodes.indexed() {
            let interfaces: Vec<TapInterface> = self
                .wiring
                .interfaces
                .get(&index)
                .into_iter()
                .flatten()
                .filter(|interface| self.plan().is_captured(index, interface.link))
                .map(|interface| TapInterface::whole(&interface.name, interface.index))
                .collect();
            let Some(namespace) = self.namespaces.get(index).filter(|_| !interfaces.is_empty()) else {
                continue;
            };
            let file = self.folder.join(format!("capture-{}.pcapng", node.name));
            let config = TapConfig { file, interfaces, snap_bytes: self.plan().recording.probe.snap_bytes };
            let socket = namespace.run(tap::open)?.map_err(io_error("no packet socket"))?;
            let tap = Tap::start(socket, config).map_err(io_error("no capture"))?;
            taps.push((node.name.clone(), tap));
        }
        Ok(taps)
    }

    fn start_clients(&self) -> Result<Clients, WorldError> {
        let mut clients = Clients::default();
        for (index, node) in self.plan().nodes.indexed() {
            let job = crate::agent::Job::of(
                self.plan(),
                index,
                self.order.seed,
                &socket(&node.name),
                self.folder.to_owned(),
            );
            let Some(job) = job else { continue };
            let file = self.folder.join(&node.name).join("job.json");
            write_json(&file, &job).map_err(io_error("no job"))?;
            let arguments = ["lab".into(), "internal".into(), "agent".into(), file.into_os_string()];
            let program = self.order.programs.cairn.clone();
            let launch = Launch { program, arguments: arguments.to_vec(), environment: Vec::new() };
            let child = self.spawn(index, &launch, Stdio::piped(), Some(Stdio::piped()))?;
            clients.add(&node.name, child, self.log(&node.name));
        }
        Ok(clients)
    }

    fn start_samplers(&self, start_ns: u64) -> Result<Vec<(String, Sampler)>, WorldError> {
        let mut samplers = Vec::new();
        for (place, node) in self.plan().nodes.indexed() {
            let forwarder = self.forwarders.get(&place);
            let config = SamplerConfig {
                node: node.name.clone(),
                pid: forwarder.map(|forwarder| forwarder.pid.clone()).unwrap_or_default(),
                servers: self.server_pids(place),
                socket: forwarder.map(|_| socket(&node.name)),
                file: self.folder.join(format!("forwarder-{}.csv", node.name)),
                erases: self.plan().software == Software::Cairn,
                every: Duration::from_nanos(self.plan().recording.sample_every_ns),
                start_ns,
                group: self.groups.get(place).cloned(),
            };
            let sampler = Sampler::start(config).map_err(io_error("no forwarder log"))?;
            samplers.push((node.name.clone(), sampler));
        }
        Ok(samplers)
    }

    fn start_loads(
        &self,
        start_ns: u64,
        stop: &Arc<AtomicBool>,
    ) -> Result<Vec<std::thread::JoinHandle<io::Result<()>>>, WorldError> {
        let ahead = Duration::from_nanos(start_ns.saturating_sub(epoch_ns()));
        let start = Instant::now() + ahead;
        let mut loads = Vec::new();
        for workload in &self.plan().workloads {
            let forwarder = self.groups.get(workload.at).cloned();
            let (owner, program) = (self.order.owner, &self.order.programs.cairn);
            let load = Load::of(self.plan(), workload, forwarder, &self.controllers, owner, program);
            let Some(load) = load.map_err(io_error("no load"))? else { continue };
            let stop = stop.clone();
            loads.push(std::thread::spawn(move || load.run(start, &stop)));
        }
        Ok(loads)
    }

    fn start_programs(&self, start_ns: u64) -> Result<Programs, WorldError> {
        let mut programs = Programs::default();
        for workload in &self.plan().workloads {
            let Activity::Program(program) = &workload.does else { continue };
            let Some(namespace) = self.namespaces.get(workload.at) else { continue };
            let node = self.plan().node_name(workload.at);
            // The first process of this process namespace is this one, and its folder is that of sockets.
            let transport = format!("unix:///proc/1/cwd/{}", socket(node).display());
            let group = self.groups.get(workload.at).cloned();
            let (folder, cairn) = (self.folder, self.order.programs.cairn.as_path());
            let fetches = self.fetches(workload.at, &workload.name, program)?;
            let setting =
                Setting { fetches, workload, program, node, group, folder, transport, cairn, start_ns };
            programs.add(namespace, &setting)?;
        }
        Ok(programs)
    }

    /// Waits for the end of the run, and lets happen what the experiment says; a forwarder that ends by
    /// itself is an error.
    fn wait(&mut self, clients: &mut Clients, programs: &Programs, start_ns: u64) -> Result<(), WorldError> {
        let (duration_ns, until_done) = (self.plan().schedule.duration_ns, self.plan().schedule.until_done);
        let mut idle_since: Option<Instant> = None;
        let mut events = self.plan().events.clone();
        events.sort_by_key(|event| std::cmp::Reverse(event.at_ns));
        while epoch_ns() < start_ns.saturating_add(duration_ns) {
            let next_ns = events.last().map_or(u64::MAX, |event| start_ns.saturating_add(event.at_ns));
            let until_next = Duration::from_nanos(next_ns.saturating_sub(epoch_ns()));
            std::thread::sleep(until_next.min(Duration::from_millis(20)));
            while let Some(event) = events.pop_if(|event| start_ns.saturating_add(event.at_ns) <= epoch_ns())
            {
                self.change(event.change)?;
                let late_ns = epoch_ns().saturating_sub(start_ns.saturating_add(event.at_ns));
                self.outcome.latest_event_ns = self.outcome.latest_event_ns.max(late_ns);
            }
            clients.poll()?;
            if let Some(why) = programs.lost() {
                return Err(WorldError::Program(why));
            }
            let mut forwarders = self.forwarders.iter_mut();
            let ended = forwarders.find_map(|(node, forwarder)| {
                forwarder.child.try_wait().is_ok_and(|status| status.is_some()).then_some(*node)
            });
            if let Some(index) = ended {
                let node = self.plan().node_name(index).to_owned();
                let log = self.log(&node);
                return Err(WorldError::Died { node, log });
            }
            if let Some(why) = self.lost_server() {
                return Err(WorldError::Program(why));
            }
            if until_done && clients.all_idle() && programs.all_done() {
                let since = *idle_since.get_or_insert_with(Instant::now);
                // A second more, so that the graphs show the end.
                if since.elapsed() > Duration::from_secs(1) {
                    break;
                }
            }
        }
        Ok(())
    }

    pub(super) fn stop_forwarders(&mut self) {
        use nix::sys::signal::{Signal, kill};
        self.servers.iter_mut().for_each(RunningServer::stop);
        for Forwarder { child, .. } in self.forwarders.values() {
            let pid = i32::try_from(child.id()).unwrap_or(0);
            // One that is gone needs no signal.
            let _ = kill(nix::unistd::Pid::from_raw(pid), Signal::SIGTERM);
        }
        let deadline = Instant::now() + Duration::from_secs(2);
        for Forwarder { child, .. } in self.forwarders.values_mut() {
            while Instant::now() < deadline && child.try_wait().ok().flatten().is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            // What has not ended by then is ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        // What they said last is on disk.
        let _ = io::stdout().flush();
    }
}
