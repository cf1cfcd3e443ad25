//! What runs on a host: one forwarder with its client, log, captures and competing loads, as the lab asks for
//! them.
//!
//! It lives as long as its connection. When its input ends, or nothing was heard for long, it kills what it
//! has started, takes the run's folder and control groups away, and ends. Should it be killed itself, the
//! kernel ends what it has started, and the next run on this host takes the rest away.

use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::protocol::{HostInterface, HostOrder, HostReport, Reply, Request};
use crate::agent::Job;
use crate::backend::machine::cgroup::{Controllers, Group};
use crate::backend::machine::clients::Clients;
use crate::backend::machine::load::Load;
use crate::backend::machine::sampler::{Sampler, SamplerConfig};
use crate::backend::machine::steal::Machine;
use crate::capture::tap::{self, Tap, TapConfig, TapInterface};
use crate::driver::{Manager, Setup, driver};
use crate::experiment::plan::Software;
use crate::order::{Owner, RUN_PREFIX, write_json};
use crate::wall_clock::epoch_ns;

/// How long a forwarder may take to answer for the first time.
const TIMEOUT: Duration = Duration::from_secs(15);
/// A lab that says nothing for so long is gone, whatever the connection looks like: it says that it is there
/// every few seconds.
const MAX_IDLE: Duration = Duration::from_secs(20);
/// How often it is tried to remove the run's folder.
const REMOVALS: u32 = 20;
/// The file that names the process a run's folder belongs to.
const OWNER_FILE: &str = "owner";
/// What the copied program is called in the run's folder.
pub(super) const PROGRAM: &str = "cairn";

type Failure = Box<dyn std::error::Error>;

/// What must be gone when this process is.
#[derive(Debug)]
struct RunResources {
    folder: PathBuf,
    owner: Owner,
    controllers: Controllers,
    children: Mutex<Vec<u32>>,
    /// When the lab last said something.
    heard: Mutex<Instant>,
    /// Held by the one thread that takes everything away.
    ending: Mutex<()>,
}

impl RunResources {
    fn note(&self, child: &Child) {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).push(child.id());
    }

    /// Takes everything away and ends the process.
    fn end(&self, code: i32) -> ! {
        use nix::sys::signal::{Signal, kill};
        // Several threads may find that it is over: none of them ends the process while another cleans up.
        let _ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        for pid in self.children.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap_or(0));
            // Gone already is as good.
            let _ = kill(pid, Signal::SIGKILL);
        }
        self.controllers.remove(self.owner);
        let _ = std::env::set_current_dir("/");
        // Another thread may be at work there, and make a file in what is being removed.
        for _ in 0..REMOVALS {
            match fs::remove_dir_all(&self.folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                _ => break,
            }
        }
        std::process::exit(code);
    }
}

/// Where what a program says goes.
#[derive(Clone, Copy)]
enum Output {
    Log,
    Pipes,
}

struct Remote {
    resources: Arc<RunResources>,
    order: Option<HostOrder>,
    manager: Option<Manager>,
    group: Option<Group>,
    forwarder: Option<Child>,
    tap: Option<Tap>,
    clients: Clients,
    sampler: Option<Sampler>,
    loads: Vec<JoinHandle<io::Result<()>>>,
    stop: Arc<AtomicBool>,
    machine: Option<Machine>,
    report: HostReport,
}

/// Serves a lab on standard input and output until the input ends.
///
/// # Errors
///
/// When the folder cannot be worked in.
pub fn run(folder: &Path) -> io::Result<()> {
    let resources = Arc::new(RunResources {
        folder: folder.canonicalize()?,
        owner: Owner::this_process(),
        controllers: Controllers::find(),
        children: Mutex::default(),
        heard: Mutex::new(Instant::now()),
        ending: Mutex::default(),
    });
    clean_leftovers(&resources);
    std::env::set_current_dir(folder)?;
    fs::write(OWNER_FILE, resources.owner.directory())?;
    let requests = listen(resources.clone());
    watch(resources.clone());
    if say(&Reply::Ready).is_err() {
        resources.end(130);
    }
    let mut remote = Remote {
        resources: resources.clone(),
        order: None,
        manager: None,
        group: None,
        forwarder: None,
        tap: None,
        clients: Clients::default(),
        sampler: None,
        loads: Vec::new(),
        stop: Arc::default(),
        machine: None,
        report: HostReport::default(),
    };
    for request in requests {
        let said = match request {
            Request::Get { name } => send_file(&name),
            request => {
                let reply = remote.serve(request);
                say(&reply.unwrap_or_else(|error| Reply::Failed { why: error.to_string() }))
            }
        };
        // The lab has gone while it was answered: what was made here goes, too.
        if said.is_err() {
            break;
        }
    }
    resources.end(130)
}

/// Ends everything when nothing has been heard for too long.
fn watch(resources: Arc<RunResources>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let heard = *resources.heard.lock().unwrap_or_else(PoisonError::into_inner);
            if heard.elapsed() > MAX_IDLE {
                resources.end(130);
            }
        }
    });
}

/// Reads requests as they come. Questions for the time are answered at once, whatever else is being done.
fn listen(resources: Arc<RunResources>) -> Receiver<Request> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let received = epoch_ns();
            *resources.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            let done = match serde_json::from_str(&line) {
                Ok(Request::Time) => say(&Reply::Time { received, answered: epoch_ns() }).is_ok(),
                Ok(Request::Alive) => true,
                Ok(request) => sender.send(request).is_ok(),
                Err(error) => say(&Reply::Failed { why: format!("not a request: {error}") }).is_ok(),
            };
            if !done {
                break;
            }
        }
        resources.end(130);
    });
    receiver
}

fn say(reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_string(reply).map_err(io::Error::other)?;
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

fn send_file(name: &Path) -> io::Result<()> {
    let is_below = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let opened = if is_below { File::open(name) } else { Err(io::Error::other("not a file of the run")) };
    let mut file = match opened {
        Ok(file) => file,
        Err(error) => return say(&Reply::Failed { why: format!("{}: {error}", name.display()) }),
    };
    let bytes = file.metadata()?.len();
    let mut line = serde_json::to_string(&Reply::File { bytes }).map_err(io::Error::other)?;
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    let sent = io::copy(&mut io::Read::take(&mut file, bytes), &mut out)?;
    out.flush()?;
    if sent == bytes { Ok(()) } else { Err(io::Error::other("a file became shorter while it was sent")) }
}

/// Takes away what runs that were killed have left on this host.
fn clean_leftovers(resources: &RunResources) {
    let _ = resources.controllers.clean_leftovers();
    let Some(above) = resources.folder.parent() else { return };
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let is_run = entry.file_name().to_string_lossy().starts_with(RUN_PREFIX);
        let owner = fs::read_to_string(entry.path().join(OWNER_FILE)).unwrap_or_default();
        if is_run && Owner::of_directory(&owner).is_some_and(|owner| !owner.is_alive()) {
            // Another user's stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Remote {
    fn order(&self) -> Result<&HostOrder, Failure> {
        self.order.as_ref().ok_or_else(|| "nothing has been ordered yet".into())
    }

    fn serve(&mut self, request: Request) -> Result<Reply, Failure> {
        match request {
            Request::Alive | Request::Time => return Err("this is answered where it is read".into()),
            Request::Look { addresses } => return look(&addresses),
            Request::Forwarder { order } => self.start_forwarder(*order)?,
            Request::Connect => self.connect()?,
            Request::Captures => self.start_captures()?,
            Request::Clients => self.start_client()?,
            Request::Start { epoch_ns } => self.start(epoch_ns)?,
            Request::Poll => return self.poll(),
            Request::Stop => return self.stop(),
            Request::Files => {
                let mut names = Vec::new();
                list(Path::new("."), &mut names)?;
                return Ok(Reply::Files { names });
            }
            Request::Get { .. } => return Err("a file is sent by another way".into()),
        }
        Ok(Reply::Done)
    }

    fn with_setup<T>(&self, act: impl FnOnce(&Setup<'_>) -> T) -> Result<T, Failure> {
        let order = self.order()?;
        let name = order.plan.node_name(order.node);
        let (folder, socket) = (PathBuf::from(name), PathBuf::from(format!("{name}.sock")));
        fs::create_dir_all(&folder)?;
        Ok(act(&Setup {
            plan: &order.plan,
            node: order.node,
            folder: &folder,
            socket: &socket,
            interfaces: &order.interfaces,
            addresses: &std::collections::BTreeMap::new(),
            impaired: &order.shaped,
            shapes_rates: true,
            seed: order.seed,
        }))
    }

    /// Starts a program that ends with this process.
    fn spawn(&self, command: &Command, output: Output) -> Result<Child, Failure> {
        let mut leash = Command::new(std::env::current_exe()?);
        leash.args(["lab", "internal", "leash", "--"]).arg(command.get_program()).args(command.get_args());
        leash.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        let order = self.order()?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(format!("log-{}.txt", order.plan.node_name(order.node)))?;
        leash.stderr(log.try_clone()?);
        match output {
            Output::Log => leash.stdin(Stdio::null()).stdout(log),
            Output::Pipes => leash.stdin(Stdio::piped()).stdout(Stdio::piped()),
        };
        Ok(leash.spawn()?)
    }

    fn start_forwarder(&mut self, order: HostOrder) -> Result<(), Failure> {
        let node = order.plan.nodes.get(order.node).cloned().ok_or("there is no such node")?;
        let software = driver(order.plan.software, &order.programs)?;
        self.order = Some(order);
        self.report.software = software.version();
        self.report.control = self.resources.controllers.words();
        let group = self.resources.controllers.group(self.resources.owner, &node.name)?;
        if let Some(cores) = node.cpu {
            if !self.resources.controllers.can_limit_processor() {
                let text = format!(
                    "The share of `{}` is not kept: no control group can be written to there.",
                    node.name
                );
                self.report.notes.push(text);
            }
            group.limit_processor(Some(cores), node.cpu_period_ns)?;
        }
        if let Some(bytes) = node.memory_bytes {
            group.limit_memory(bytes)?;
        }
        let launch = self.with_setup(|setup| software.prepare(setup))??;
        let mut command = Command::new(&launch.program);
        command.args(&launch.arguments).envs(launch.environment.iter().cloned());
        let child = self.spawn(&command, Output::Log)?;
        self.resources.note(&child);
        group.add(child.id())?;
        self.group = Some(group);
        self.forwarder = Some(child);
        let socket = PathBuf::from(format!("{}.sock", node.name));
        let answering = Manager::answering(&socket, TIMEOUT);
        self.manager = Some(answering.map_err(|error| {
            format!("the forwarder does not answer: {error}; it said: {}", tail(&node.name))
        })?);
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Failure> {
        let order = self.order()?;
        let software = driver(order.plan.software, &order.programs)?;
        let mut manager = self.manager.take().ok_or("the forwarder has not been started")?;
        Ok(self.with_setup(|setup| software.connect(setup, &mut manager))??)
    }

    fn start_captures(&mut self) -> Result<(), Failure> {
        let order = self.order()?;
        let (plan, node) = (&order.plan, order.node);
        let captured = order.interfaces.iter().filter(|interface| plan.is_captured(node, interface.link));
        let interfaces: Vec<TapInterface> = captured
            .map(|interface| TapInterface {
                name: interface.name.clone(),
                index: interface.index,
                neighbour: Some((interface.remote, interface.remote_ether)),
            })
            .collect();
        if !plan.recording.probe.capture || interfaces.is_empty() {
            return Ok(());
        }
        let file = PathBuf::from(format!("capture-{}.pcapng", plan.node_name(node)));
        let config = TapConfig { file, interfaces, snap_bytes: plan.recording.probe.snap_bytes };
        let socket = tap::open().map_err(|error| {
            format!("no capture: {error}; log in as root, or write probe = {{ capture = false }}")
        })?;
        self.tap = Some(Tap::start(socket, config)?);
        Ok(())
    }

    fn start_client(&mut self) -> Result<(), Failure> {
        let order = self.order()?;
        let name = order.plan.node_name(order.node).to_owned();
        let socket = PathBuf::from(format!("{name}.sock"));
        let job = Job::of(&order.plan, order.node, order.seed, &socket, PathBuf::from("."));
        let Some(job) = job else { return Ok(()) };
        let file = Path::new(&name).join("job.json");
        write_json(&file, &job)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["lab", "internal", "agent"]).arg(&file);
        let child = self.spawn(&command, Output::Pipes)?;
        self.resources.note(&child);
        if let Some(group) = &self.group {
            group.add(child.id())?;
        }
        self.clients.add(&name, child, PathBuf::from(format!("log-{name}.txt")));
        self.clients.wait_ready().map_err(|error| format!("{error}: {}", tail(&name)).into())
    }

    fn start(&mut self, epoch: u64) -> Result<(), Failure> {
        let order = self.order()?;
        let name = order.plan.node_name(order.node).to_owned();
        let forwarder = self.forwarder.as_ref().ok_or("the forwarder has not been started")?;
        let sampler = Sampler::start(SamplerConfig {
            node: name.clone(),
            pid: Arc::new(AtomicU32::new(forwarder.id())),
            servers: Vec::new(),
            socket: Some(PathBuf::from(format!("{name}.sock"))),
            file: PathBuf::from(format!("forwarder-{name}.csv")),
            erases: order.plan.software == Software::Cairn,
            every: Duration::from_nanos(order.plan.recording.sample_every_ns),
            start_ns: epoch,
            group: self.group.clone(),
        })?;
        let ahead = Duration::from_nanos(epoch.saturating_sub(epoch_ns()));
        let begin = Instant::now() + ahead;
        let mut loads = Vec::new();
        for workload in order.plan.workloads.iter().filter(|workload| workload.at == order.node) {
            let program = std::env::current_exe()?;
            let (controllers, owner) = (&self.resources.controllers, self.resources.owner);
            let load = Load::of(&order.plan, workload, self.group.clone(), controllers, owner, &program)?;
            let Some(load) = load else {
                continue;
            };
            self.resources.note(load.burner());
            let stop = self.stop.clone();
            loads.push(std::thread::spawn(move || load.run(begin, &stop)));
        }
        self.machine = Some(Machine::now());
        self.sampler = Some(sampler);
        self.loads = loads;
        Ok(self.clients.start(epoch)?)
    }

    fn poll(&mut self) -> Result<Reply, Failure> {
        let lost = self.clients.poll().err().map(|error| error.to_string());
        let ended = self.forwarder.as_mut().is_some_and(|child| child.try_wait().ok().flatten().is_some());
        if ended {
            let order = self.order()?;
            let node = order.plan.node_name(order.node);
            let said = tail(node);
            let lost = Some(format!("the forwarder of `{node}` ended during the run; it said: {said}"));
            return Ok(Reply::State { idle: false, lost });
        }
        Ok(Reply::State { idle: self.clients.all_idle(), lost })
    }

    fn stop(&mut self) -> Result<Reply, Failure> {
        self.stop.store(true, Ordering::Relaxed);
        // Who lost a client has said so, or its tables are missing and say so.
        if let Err(lost) = self.clients.stop() {
            self.report.notes.push(lost.to_string());
        }
        if let Some(sampler) = self.sampler.take() {
            self.report.samples = sampler.stop()?;
        }
        if let Some(tap) = self.tap.take() {
            self.report.tap = Some(tap.stop()?);
        }
        for load in self.loads.drain(..) {
            load.join().unwrap_or(Ok(()))?;
        }
        if let Some(machine) = &self.machine {
            self.report.steal = machine.steal_since();
            self.report.clock_shift_ns = machine.clock_shift_ns();
        }
        if let Some(mut child) = self.forwarder.take() {
            use nix::sys::signal::{Signal, kill};
            let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap_or(0));
            // One that is gone needs no signal.
            let _ = kill(pid, Signal::SIGTERM);
            let deadline = Instant::now() + Duration::from_secs(2);
            while Instant::now() < deadline && child.try_wait()?.is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            child.wait()?;
        }
        Ok(Reply::Stopped { report: Box::new(self.report.clone()) })
    }
}

/// The last lines of a node's log.
fn tail(node: &str) -> String {
    let text = fs::read_to_string(format!("log-{node}.txt")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join(" | ")
}

/// The interfaces that have these addresses.
fn look(addresses: &[std::net::Ipv4Addr]) -> Result<Reply, Failure> {
    let all: Vec<_> = nix::ifaddrs::getifaddrs()?.collect();
    let mut interfaces = Vec::new();
    for address in addresses {
        let name = all
            .iter()
            .find(|entry| {
                let socket = entry.address.as_ref().and_then(|address| address.as_sockaddr_in());
                socket.is_some_and(|socket| socket.ip() == *address)
            })
            .map(|entry| entry.interface_name.clone())
            .ok_or_else(|| format!("no interface of this host has the address {address}"))?;
        let ether = all.iter().filter(|entry| entry.interface_name == name).find_map(|entry| {
            entry.address.as_ref().and_then(|address| address.as_link_addr()).and_then(|link| link.addr())
        });
        let index = nix::net::if_::if_nametoindex(name.as_str())?;
        interfaces.push(HostInterface { name, index, ether: ether.unwrap_or_default() });
    }
    Ok(Reply::Interfaces { interfaces })
}

/// The files of the run, sockets and the program left out.
fn list(folder: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let (kind, path) = (entry.file_type()?, entry.path());
        let name = path.strip_prefix(".").unwrap_or(&path).to_owned();
        let is_ours = name == Path::new(OWNER_FILE) || name == Path::new(PROGRAM);
        if kind.is_dir() {
            list(&path, names)?;
        } else if kind.is_file() && !is_ours {
            names.push(name);
        }
    }
    Ok(())
}

/// Becomes another program that is ended when the process that started this one ends.
///
/// # Errors
///
/// When the kernel refuses, or the program cannot be started; else this does not return.
pub fn leash(
    program: &std::ffi::OsStr,
    arguments: &[std::ffi::OsString],
) -> io::Result<std::convert::Infallible> {
    use std::os::unix::process::CommandExt;
    let parent = nix::unistd::getppid();
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // It may have ended before it was asked to be watched.
    if nix::unistd::getppid() != parent {
        return Err(io::Error::other("the process that started this one has ended"));
    }
    Err(Command::new(program).args(arguments).exec())
}
