//! The lab's side of a run on hosts: every step on all of them at once, and the files at the end.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::clock::{ClockOffset, Exchange};
use super::inventory::Inventory;
use super::protocol::{HostInterface, HostOrder, HostReport, Reply, Request};
use super::ssh::{Connection, Received, Ssh};
use crate::backend::BackendError;
use crate::backend::interface::Interface;
use crate::driver::Programs;
use crate::experiment::Plan;
use crate::experiment::plan::{Arena, LinkIndex, LinkPlan, NodeIndex};
use crate::order::Owner;
use crate::order::{Event, ORDER_FILE, OUTCOME_FILE, Order, Outcome, write_json};
use crate::wall_clock::epoch_ns;

/// How long a host may take for one step.
const TIMEOUT: Duration = Duration::from_secs(100);
/// How often hosts hear from a lab that waits.
const ALIVE: Duration = Duration::from_secs(4);
/// Exchanges with each host before a run, and as many after it.
const EXCHANGES: usize = 40;
/// How far ahead the start is announced.
const AHEAD_NS: u64 = 1_000_000_000;

/// The hosts of a run, in the order of the plan's nodes.
struct Hosts<'a> {
    plan: &'a Plan,
    connections: Vec<Connection>,
    heard: Receiver<(usize, Received)>,
    /// When hosts were last told that the lab is there.
    alive_at: Instant,
    observe: &'a mut dyn FnMut(&Event),
}

/// Carries an order out on hosts, collects what they measured below `folder`, and passes on what happens.
///
/// # Errors
///
/// Why it could not be carried out.
pub fn conduct(
    order: &Order,
    inventory: &Inventory,
    folder: &Path,
    mut observe: impl FnMut(&Event),
) -> Result<Outcome, BackendError> {
    let plan = &order.plan;
    inventory.check(plan)?;
    fs::create_dir_all(folder)?;
    write_json(&folder.join(ORDER_FILE), order)?;
    // Paths of sockets must be short.
    let sockets = Sockets::make()?;
    observe(&step("hosts"));
    let (sender, heard) = channel();
    let mut connections = Vec::new();
    for (index, node) in plan.nodes.iter().enumerate() {
        let ssh = Ssh {
            cairn: &order.programs.cairn,
            sockets: &sockets.0,
            log: folder.join(format!("ssh-{}.txt", node.name)),
            node: &node.name,
            host: inventory.host(&node.name)?,
            options: &inventory.options,
        };
        connections.push(ssh.start(index, sender.clone())?);
    }
    drop(sender);
    let mut hosts = Hosts { plan, connections, heard, alive_at: Instant::now(), observe: &mut observe };
    let outcome = hosts.run(order, inventory, folder)?;
    for connection in hosts.connections {
        connection.close();
    }
    write_json(&folder.join(OUTCOME_FILE), &outcome)?;
    Ok(outcome)
}

/// What a host answers.
struct Answer {
    reply: Reply,
    /// The file that comes with [`Reply::File`].
    file: Vec<u8>,
    /// When it came, in nanoseconds of our clock.
    came_ns: u64,
}

fn step(name: &str) -> Event {
    Event::Step { name: name.to_owned() }
}

impl Hosts<'_> {
    fn step(&mut self, name: &str) {
        (self.observe)(&step(name));
    }

    fn failed(&self, index: usize, why: &str) -> BackendError {
        let log = self.connections.get(index).map(|connection| connection.log().to_owned());
        let (node, log) = (self.plan.node_name(NodeIndex(index)).to_owned(), log.unwrap_or_default());
        BackendError::Host { node, why: why.to_owned(), log }
    }

    /// The answers of all hosts to a request for each.
    fn all(&mut self, requests: &[Request]) -> Result<Vec<Reply>, BackendError> {
        for (connection, request) in self.connections.iter_mut().zip(requests) {
            // One that is gone is noticed when it does not answer.
            let _ = connection.ask(request);
        }
        let mut replies: Vec<Option<Reply>> = requests.iter().map(|_| None).collect();
        let deadline = Instant::now() + TIMEOUT;
        while let Some(missing) = replies.iter().position(Option::is_none) {
            let (index, Answer { reply, .. }) = self.next(deadline, missing)?;
            if let Some(place) = replies.get_mut(index) {
                *place = Some(reply);
            }
        }
        Ok(replies.into_iter().flatten().collect())
    }

    /// Tells all hosts now and then that the lab is there, also while it waits for one of them.
    fn keep_alive(&mut self) {
        if self.alive_at.elapsed() < ALIVE {
            return;
        }
        self.alive_at = Instant::now();
        for connection in &mut self.connections {
            // One that is gone is noticed by its end.
            let _ = connection.ask(&Request::Alive);
        }
    }

    /// The same request for all, answered by all with "done".
    fn each(&mut self, request: &Request) -> Result<(), BackendError> {
        let requests: Vec<_> = self.plan.nodes.iter().map(|_| request.clone()).collect();
        self.all(&requests).map(drop)
    }

    /// The next answer of any host; `missing` is one that has not answered.
    fn next(&mut self, deadline: Instant, missing: usize) -> Result<(usize, Answer), BackendError> {
        loop {
            self.keep_alive();
            let left = deadline.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left.min(ALIVE)) {
                Ok((index, Received::Reply(Reply::Failed { why }, ..))) => {
                    return Err(self.failed(index, &why));
                }
                Ok((index, Received::Reply(reply, file, came_ns))) => {
                    return Ok((index, Answer { reply, file, came_ns }));
                }
                Ok((_, Received::Event(event))) => (self.observe)(&event),
                Ok((index, Received::Gone)) => return Err(self.failed(index, "the connection ended")),
                Err(RecvTimeoutError::Timeout) if left > ALIVE => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.failed(missing, "no answer in time")),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failed(missing, "the connection ended"));
                }
            }
        }
    }

    /// Asks one host.
    fn ask(&mut self, index: usize, request: &Request) -> Result<Answer, BackendError> {
        let Some(connection) = self.connections.get_mut(index) else {
            return Err(self.failed(index, "there is no such host"));
        };
        connection.ask(request)?;
        Ok(self.next(Instant::now() + TIMEOUT, index)?.1)
    }

    /// How far the clocks of all hosts are from ours.
    fn clocks(&mut self) -> Result<Vec<ClockOffset>, BackendError> {
        let mut clocks = Vec::new();
        for index in 0..self.plan.nodes.len() {
            let mut exchanges = Vec::new();
            for _ in 0..EXCHANGES {
                let asked = epoch_ns();
                let Answer { reply, came_ns, .. } = self.ask(index, &Request::Time)?;
                if let Reply::Time { received, answered } = reply {
                    exchanges.push(Exchange { asked, received, answered, came: came_ns });
                }
            }
            let clock =
                ClockOffset::of(&exchanges).ok_or_else(|| self.failed(index, "it does not know the time"))?;
            clocks.push(clock);
        }
        Ok(clocks)
    }

    fn run(&mut self, order: &Order, inventory: &Inventory, folder: &Path) -> Result<Outcome, BackendError> {
        self.step("network");
        let orders = self.orders(order, inventory)?;
        self.step("clocks");
        let before = self.clocks()?;
        self.step("forwarders");
        let requests: Vec<_> =
            orders.into_iter().map(|order| Request::Forwarder { order: Box::new(order) }).collect();
        self.all(&requests)?;
        self.each(&Request::Connect)?;
        self.step("captures");
        self.each(&Request::Captures)?;
        self.step("clients");
        self.each(&Request::Clients)?;
        self.step("forwarder log");
        let start_ns = epoch_ns() + AHEAD_NS;
        let start = |clock: &ClockOffset| Request::Start { epoch_ns: clock.at_host(start_ns) };
        self.all(&before.iter().map(start).collect::<Vec<_>>())?;
        self.step("workloads");
        let lost = self.wait(start_ns)?;
        let mut outcome = Outcome { start_ns, stop_ns: epoch_ns(), lost, ..Outcome::default() };
        self.step("stop");
        let requests: Vec<_> = self.plan.nodes.iter().map(|_| Request::Stop).collect();
        let reports = self.all(&requests)?;
        let after = self.clocks()?;
        for ((node, reply), (before, after)) in
            self.plan.nodes.iter().zip(reports).zip(before.into_iter().zip(after))
        {
            outcome.clocks.insert(node.name.clone(), before.between(after));
            if let Reply::Stopped { report } = reply {
                take_in(&mut outcome, &node.name, *report);
            }
        }
        self.step("collection");
        self.collect(folder)?;
        Ok(outcome)
    }

    /// What each host is ordered to do, with the interfaces that have the addresses of its ends of links.
    fn orders(&mut self, order: &Order, inventory: &Inventory) -> Result<Vec<HostOrder>, BackendError> {
        let plan = self.plan;
        let address = |node: NodeIndex, link: &str| {
            let found = inventory.address(plan.node_name(node), link);
            Ok::<_, BackendError>(found?)
        };
        let mut looks = Vec::new();
        for node in plan.nodes.ids() {
            let addresses =
                plan.links_of(node).map(|(_, link)| address(node, &link.name)).collect::<Result<_, _>>()?;
            looks.push(Request::Look { addresses });
        }
        let found: Arena<NodeIndex, Vec<HostInterface>> = self
            .all(&looks)?
            .into_iter()
            .map(|reply| if let Reply::Interfaces { interfaces } = reply { interfaces } else { Vec::new() })
            .collect();
        let at = |node: NodeIndex, link: LinkIndex| {
            let place = plan.links_of(node).position(|(index, _)| index == link)?;
            found.get(node)?.get(place)
        };
        let shaped = |link: &LinkPlan| {
            inventory.shape && (link.rate_bps.is_some() || link.delay_ns > 0 || link.loss > 0.0)
        };
        let mut orders = Vec::new();
        for (node, named) in plan.nodes.indexed() {
            let mut interfaces = Vec::new();
            for (index, link) in plan.links_of(node) {
                let far = link.other(node);
                let (Some(near), Some(there)) = (at(node, index), at(far, index)) else {
                    return Err(self.failed(node.0, "an interface was not found"));
                };
                interfaces.push(Interface {
                    link: index,
                    name: near.name.clone(),
                    index: near.index,
                    local: address(node, &link.name)?,
                    remote: address(far, &link.name)?,
                    local_ether: near.ether,
                    remote_ether: there.ether,
                });
            }
            let host = inventory.host(&named.name)?;
            let links = plan.links.indexed();
            orders.push(HostOrder {
                plan: plan.clone(),
                node,
                seed: order.seed,
                interfaces,
                shaped: links.filter(|(_, link)| shaped(link)).map(|(index, _)| index).collect(),
                // The remote is the program itself.
                programs: Programs {
                    cairn: "/proc/self/exe".into(),
                    ndnd: host.ndnd.clone(),
                    nfd: host.nfd.clone(),
                },
            });
        }
        Ok(orders)
    }

    /// Waits for the end of the run, or says what ended before it; a host that fails is an error.
    fn wait(&mut self, start_ns: u64) -> Result<Option<String>, BackendError> {
        let mut idle_since: Option<Instant> = None;
        while epoch_ns() < start_ns.saturating_add(self.plan.schedule.duration_ns) {
            std::thread::sleep(Duration::from_millis(200));
            let requests: Vec<_> = self.plan.nodes.iter().map(|_| Request::Poll).collect();
            let replies = self.all(&requests)?;
            let lost = replies.iter().find_map(|reply| match reply {
                Reply::State { lost, .. } => lost.clone(),
                _ => None,
            });
            if lost.is_some() {
                return Ok(lost);
            }
            let idle = replies.iter().all(|reply| matches!(reply, Reply::State { idle: true, .. }));
            if self.plan.schedule.until_done && idle {
                let since = *idle_since.get_or_insert_with(Instant::now);
                // A second more, so that the graphs show the end.
                if since.elapsed() > Duration::from_secs(1) {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Fetches every file of every host.
    fn collect(&mut self, folder: &Path) -> Result<(), BackendError> {
        for index in 0..self.plan.nodes.len() {
            let Reply::Files { names } = self.ask(index, &Request::Files)?.reply else {
                return Err(self.failed(index, "it does not list its files"));
            };
            for name in names {
                let is_below = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
                if !is_below {
                    return Err(self.failed(index, "it names a file outside of its folder"));
                }
                let Answer { reply, file, .. } = self.ask(index, &Request::Get { name: name.clone() })?;
                let Reply::File { bytes } = reply else {
                    return Err(self.failed(index, "it does not send its files"));
                };
                if file.len() as u64 != bytes {
                    return Err(self.failed(index, "a file came in part"));
                }
                let place = folder.join(name);
                if let Some(above) = place.parent() {
                    fs::create_dir_all(above)?;
                }
                fs::write(place, file)?;
            }
        }
        Ok(())
    }
}

/// Adds what one host reports.
fn take_in(outcome: &mut Outcome, node: &str, report: HostReport) {
    if let Some(tap) = report.tap {
        outcome.taps.insert(node.to_owned(), tap);
    }
    outcome.samples.insert(node.to_owned(), report.samples);
    outcome.steal = outcome.steal.max(report.steal);
    outcome.clock_shift_ns = outcome.clock_shift_ns.max(report.clock_shift_ns);
    outcome.software = report.software;
    outcome.control = report.control;
    outcome.notes.extend(report.notes);
}

/// A folder for sockets that goes with the run.
struct Sockets(std::path::PathBuf);

impl Sockets {
    fn make() -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let above = std::env::temp_dir();
        for entry in fs::read_dir(&above).into_iter().flatten().flatten() {
            let owner = Owner::of_directory(&entry.file_name().to_string_lossy());
            if owner.is_some_and(|owner| !owner.is_alive()) {
                // Of a lab that was killed; another user's stays.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = above.join(Owner::this_process().directory());
        // One of this lab's own, of a repeat that failed.
        let _ = fs::remove_dir_all(&path);
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Sockets(path))
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
