//! Servers beside forwarders: their files, their processes, and what each node came to in the end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use nix::sched::{CloneFlags, setns};
use system::proc_files::processor_ns;

use super::programs::Fetched;
use super::running_server::RunningServer;
use super::world::{World, WorldError, io_error, socket};
use crate::agent::producer::Files;
use crate::backend::machine::processes::with_children;
use crate::driver::Manager;
use crate::driver::client::{self, Fetch};
use crate::driver::server::{HTTP_PORT, Ready, ServerCounts, ServerSetup, server};
use crate::experiment::plan::{ContentPlan, NodeIndex, ProgramPlan, Software};
use crate::order::NodeTotals;

/// How long a server may take to answer for the first time.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Files are older than any cache's doubts about how long they stay as they are.
const AGE: Duration = Duration::from_secs(365 * 24 * 3600);

/// Bytes that interfaces have sent and received, and processor time, at some moment.
pub(super) struct EarlierCounts(BTreeMap<NodeIndex, ([u64; 2], u64)>);

impl World<'_> {
    /// Where files are: those that are served, those that are fetched, and caches in memory.
    fn files(&self, node: &str) -> PathBuf {
        self.folder.join("files").join(node)
    }

    fn transport(node: &str) -> String {
        // The first process of this process namespace is this one, and its folder is that of sockets.
        format!("unix:///proc/1/cwd/{}", socket(node).display())
    }

    /// A file system in memory for all of it: a disk would be measured instead of networks.
    pub(super) fn mount_files(&self) -> Result<(), WorldError> {
        let place = self.folder.join("files");
        fs::create_dir_all(&place).map_err(io_error("no folder for files"))?;
        nix::mount::mount(Some("tmpfs"), &place, Some("tmpfs"), nix::mount::MsFlags::empty(), None::<&str>)
            .map_err(|error| io_error("no file system for files")(error.into()))
    }

    /// Starts the server of each node that has one, the origins first, and waits until all answer.
    pub(super) fn start_servers(&mut self) -> Result<(), WorldError> {
        if self.plan().nodes.iter().all(|node| node.server.is_none()) {
            return Ok(());
        }
        self.mount_files()?;
        let mut order: Vec<NodeIndex> = self.plan().nodes.ids().collect();
        order.sort_by_key(|node| self.depth(*node));
        for node in order {
            let Some(plan) = self.plan().nodes.get(node).and_then(|node| node.server) else { continue };
            let name = self.plan().node_name(node).to_owned();
            let (folder, files) = (self.folder.join(&name), self.files(&name));
            for place in [&folder, &files] {
                fs::create_dir_all(place).map_err(io_error(format!("no folder for `{name}`")))?;
            }
            if plan.upstream.is_none() {
                self.write_contents(node, &files).map_err(io_error(format!("no files for `{name}`")))?;
            }
            let driver = server(plan.software)?;
            let launches = self.with_setup(node, |setup| driver.prepare(setup))??;
            let mut children = Vec::new();
            for launch in &launches {
                children.push(self.spawn(node, launch, Stdio::null(), None)?);
            }
            self.servers.push(RunningServer { node, driver, children });
            self.wait_until_ready(self.servers.len() - 1)?;
        }
        Ok(())
    }

    /// How many servers are behind a node's.
    fn depth(&self, node: NodeIndex) -> usize {
        let server = |node: NodeIndex| self.plan().nodes.get(node).and_then(|node| node.server);
        let next = |node: &NodeIndex| server(*node).and_then(|server| server.upstream);
        std::iter::successors(Some(node), next).take(self.plan().nodes.len()).count()
    }

    fn with_setup<T>(
        &self,
        node: NodeIndex,
        act: impl FnOnce(&ServerSetup<'_>) -> T,
    ) -> Result<T, WorldError> {
        let plan = self.plan().nodes.get(node).and_then(|node| node.server);
        let server = plan.ok_or_else(|| WorldError::Program("a node has no server".to_owned()))?;
        let name = self.plan().node_name(node);
        let (folder, files) = (self.folder.join(name), self.files(name));
        let (cairn, transport) = (self.programs().under_test(), World::transport(name));
        let setup = ServerSetup {
            plan: self.plan(),
            node,
            server,
            folder: &folder,
            files: &files,
            cairn: &cairn,
            transport: &transport,
        };
        Ok(act(&setup))
    }

    fn write_contents(&self, node: NodeIndex, files: &Path) -> io::Result<()> {
        for (place, content) in
            self.plan().contents.iter().enumerate().filter(|(_, content)| content.at == node)
        {
            let made =
                Files::new(content, place, self.seed(), self.plan().dialect).map_err(io::Error::other)?;
            for number in 0..content.count {
                let path = original(files, content, number);
                fs::create_dir_all(path.parent().unwrap_or(files))?;
                let mut file = io::BufWriter::new(File::create(&path)?);
                for segment in 0..made.segments(number) {
                    file.write_all(&made.content(number, segment))?;
                }
                file.into_inner()?.set_modified(SystemTime::now() - AGE)?;
            }
        }
        Ok(())
    }

    fn wait_until_ready(&mut self, place: usize) -> Result<(), WorldError> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let Some(running) = self.servers.get(place) else { return Ok(()) };
            let node = running.node;
            let conditions = self.with_setup(node, |setup| running.driver.ready(setup))?;
            if conditions.iter().all(|condition| self.is_ready(node, condition)) {
                return Ok(());
            }
            let name = self.plan().node_name(node).to_owned();
            let log = self.log(&name);
            let ended = self.servers.get_mut(place).and_then(RunningServer::ended);
            let late = (Instant::now() > deadline).then(|| "does not answer".to_owned());
            if let Some(what) = ended.or(late) {
                let text = format!("the server of `{name}` {what}; its log is {}", log.display());
                return Err(WorldError::Program(text));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn is_ready(&self, node: NodeIndex, condition: &Ready) -> bool {
        match condition {
            Ready::Listens => {
                let connect =
                    || TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, HTTP_PORT))).is_ok();
                self.namespaces.get(node).is_some_and(|namespace| namespace.run(connect).unwrap_or(false))
            }
            Ready::Registered(prefixes) => {
                let asked = Manager::open(&socket(self.plan().node_name(node)), Duration::from_secs(1));
                asked.and_then(|mut manager| manager.has_routes(prefixes)).unwrap_or(false)
            }
        }
    }

    /// Why the run is lost, if a server has ended.
    pub(super) fn lost_server(&mut self) -> Option<String> {
        let place =
            self.servers.iter_mut().enumerate().find_map(|(place, running)| Some((place, running.ended()?)));
        let (place, what) = place?;
        let node = self.servers.get(place).map_or("?", |server| self.plan().node_name(server.node()));
        Some(format!("the server of `{node}` {what}"))
    }

    /// The files that a client fetches, one after the other.
    pub(super) fn fetches(
        &self,
        node: NodeIndex,
        name: &str,
        program: &ProgramPlan,
    ) -> Result<Vec<Fetched>, WorldError> {
        let Some(what) = program.fetch else { return Ok(Vec::new()) };
        let Some(content) = self.plan().contents.get(what.content) else { return Ok(Vec::new()) };
        let place = self.files(self.plan().node_name(node)).join(name);
        fs::create_dir_all(&place).map_err(io_error(format!("no folder for `{name}`")))?;
        let served = self.files(self.plan().node_name(content.at));
        let (mut list, cairn) = (Vec::new(), self.programs().under_test());
        for run in 0..program.count {
            let number = run % content.count.max(1);
            let output = place.join(format!("got-{run}"));
            let fetch = Fetch {
                plan: self.plan(),
                what,
                number,
                output: &output.to_string_lossy(),
                folder: self.folder,
                cairn: &cairn,
            };
            let launch = client::command(&fetch)?;
            let original = original(&served, content, number);
            list.push(Fetched { launch, output, original });
        }
        Ok(list)
    }

    /// What nodes had used and carried before.
    pub(super) fn totals_before(&self) -> Result<EarlierCounts, WorldError> {
        let mut before = BTreeMap::new();
        for node in self.plan().nodes.ids() {
            before.insert(node, (self.carried(node)?, self.processor_ns(node)));
        }
        Ok(EarlierCounts(before))
    }

    /// What each node came to since; `programs` is the processor time of those that have ended meanwhile.
    pub(super) fn totals(
        &self,
        before: &EarlierCounts,
        programs: &BTreeMap<NodeIndex, u64>,
    ) -> Result<BTreeMap<String, NodeTotals>, WorldError> {
        let mut totals = BTreeMap::new();
        for (index, node) in self.plan().nodes.indexed() {
            let (carried, processor) = before.0.get(&index).copied().unwrap_or_default();
            let [sent, received] = self.carried(index)?;
            let used = self.processor_ns(index).saturating_sub(processor);
            let ended = programs.get(&index).copied().unwrap_or(0);
            let running = self.servers.iter().find(|running| running.node == index);
            let total = NodeTotals {
                processor_ns: used.saturating_add(ended),
                sent_bytes: sent.saturating_sub(carried[0]),
                received_bytes: received.saturating_sub(carried[1]),
                server: running.map(|running| running.driver.version()),
                counts: running.and_then(|running| self.counts(running)),
            };
            totals.insert(node.name.clone(), total);
        }
        Ok(totals)
    }

    /// What a server says of its work, asked in its node's namespace.
    fn counts(&self, running: &RunningServer) -> Option<ServerCounts> {
        let namespace = self.namespaces.get(running.node)?;
        let asked = self.with_setup(running.node, |setup| {
            std::thread::scope(|scope| {
                let ask = || {
                    setns(namespace.handle().as_fd(), CloneFlags::CLONE_NEWNET).ok()?;
                    running.driver.counts(setup)
                };
                scope.spawn(ask).join().ok().flatten()
            })
        });
        asked.ok().flatten()
    }

    /// Bytes that a node's interfaces have sent and received.
    fn carried(&self, node: NodeIndex) -> Result<[u64; 2], WorldError> {
        let Some(namespace) = self.namespaces.get(node) else { return Ok([0; 2]) };
        let text = namespace.run(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        Ok(carried(&text.map_err(io_error("the interfaces' counters cannot be read"))?))
    }

    /// The processor time of a node's forwarder and server.
    fn processor_ns(&self, node: NodeIndex) -> u64 {
        let pids = with_children(self.pids(node));
        pids.into_iter().filter_map(processor_ns).map(|[used, _]| used).sum()
    }

    /// The processes of a node's server.
    pub(super) fn server_pids(&self, node: NodeIndex) -> Vec<u32> {
        self.servers.iter().filter(|running| running.node == node).flat_map(RunningServer::pids).collect()
    }

    fn pids(&self, node: NodeIndex) -> Vec<u32> {
        let forwarder = self.forwarders.get(&node).map(|forwarder| forwarder.child.id());
        forwarder.into_iter().chain(self.server_pids(node)).collect()
    }

    /// Has a node a forwarder?
    pub(super) fn forwards(&self, node: NodeIndex) -> bool {
        self.plan().software != Software::None && self.plan().nodes.get(node).is_some_and(|node| !node.switch)
    }
}

/// Where a file lies among those of its server.
fn original(files: &Path, content: &ContentPlan, number: u32) -> PathBuf {
    files.join(content.prefix.trim_start_matches('/')).join(number.to_string())
}

/// Bytes sent and received in the kernel's table of interfaces, without the loopback.
fn carried(table: &str) -> [u64; 2] {
    let mut total = [0; 2];
    for (name, numbers) in table.lines().filter_map(|line| line.split_once(':')) {
        let numbers: Vec<u64> = numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if let (false, Some(received), Some(sent)) = (name.trim() == "lo", numbers.first(), numbers.get(8)) {
            total[0] += sent;
            total[1] += received;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_interfaces_carried_is_counted_without_the_loopback() {
        let table = "Inter-|   Receive            |  Transmit\n face |bytes packets errs drop fifo frame \
                     compressed multicast|bytes packets\n    lo: 77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0\n\
                     sw.12: 1500 2 0 0 0 0 0 0 300 4 0 0 0 0 0 0\n  x.1:500 2 0 0 0 0 0 0 40 4 0 0 0 0 0 0\n";
        assert_eq!(carried(table), [340, 2000]);
    }
}
