//! Processes that compete with a forwarder: a burner that is busy in phases, and the shares that go with
//! them.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::cgroup::{Controllers, Group};
use crate::experiment::Plan;
use crate::experiment::plan::{Activity, Workload};
use crate::order::Owner;

/// The burner's own work: `threads` threads that are busy after the line "busy" and rest after the line
/// "rest", until the input ends.
pub fn burn(threads: usize) {
    let busy = Arc::new(AtomicBool::new(false));
    for _ in 0..threads.max(1) {
        let busy = busy.clone();
        std::thread::spawn(move || {
            let mut value: u64 = 1;
            loop {
                if busy.load(Ordering::Relaxed) {
                    for _ in 0..100_000 {
                        value = std::hint::black_box(
                            value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1),
                        );
                    }
                } else {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
    }
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        busy.store(line.trim() == "busy", Ordering::Relaxed);
    }
}

/// A load on one node, moved from phase to phase.
#[derive(Debug)]
pub(crate) struct Load {
    burner: Child,
    /// The forwarder's group, and the burner's.
    groups: Option<(Group, Group)>,
    /// The node's share of a core when nobody competes.
    cores: f64,
    /// Over how long the shares are kept, when the experiment says it.
    period_ns: Option<u64>,
    /// Is the forwarder limited when nobody competes?
    limited: bool,
    cpu: f64,
    start: Duration,
    busy: Duration,
    idle: Duration,
}

impl Load {
    /// The load that a workload asks for, its burner started and resting. `forwarder` is the group that it
    /// competes with. None when the workload is none, or takes nothing.
    pub(crate) fn of(
        plan: &Plan,
        workload: &Workload,
        forwarder: Option<Group>,
        controllers: &Controllers,
        owner: Owner,
        program: &Path,
    ) -> io::Result<Option<Self>> {
        let Activity::Load { cpu, busy_ns, idle_ns } = workload.does else { return Ok(None) };
        if cpu <= 0.0 {
            return Ok(None);
        }
        let limit = plan.nodes.get(workload.at).and_then(|node| node.cpu);
        let cores = limit.unwrap_or(1.0);
        let group = controllers.group(owner, &format!("{}-load", plan.node_name(workload.at)))?;
        let threads = cores.ceil().max(1.0);
        let mut command = Command::new(program);
        command.args(["lab", "internal", "burn", &format!("{threads:.0}")]);
        let burner = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        group.add(burner.id())?;
        Ok(Some(Load {
            burner,
            groups: forwarder.map(|forwarder| (forwarder, group)),
            cores,
            period_ns: plan.nodes.get(workload.at).and_then(|node| node.cpu_period_ns),
            limited: limit.is_some(),
            cpu,
            start: Duration::from_nanos(workload.start_ns),
            busy: Duration::from_nanos(busy_ns),
            idle: Duration::from_nanos(idle_ns),
        }))
    }

    /// The process that takes the time.
    pub(crate) fn burner(&self) -> &Child {
        &self.burner
    }

    /// Goes through the phases until `stop`.
    pub(crate) fn run(mut self, start: Instant, stop: &AtomicBool) -> io::Result<()> {
        let mut next = start + self.start;
        let mut is_busy = false;
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            if now < next {
                std::thread::sleep((next - now).min(Duration::from_millis(20)));
                continue;
            }
            is_busy = !is_busy;
            self.phase(is_busy)?;
            next += if is_busy { self.busy } else { self.idle };
        }
        self.phase(false)?;
        self.burner.kill()?;
        self.burner.wait()?;
        Ok(())
    }

    /// While the burner is busy it gets its part of the node's share, and the forwarder what is left.
    fn phase(&mut self, busy: bool) -> io::Result<()> {
        if let Some((forwarder, burner)) = &self.groups {
            if busy {
                burner.limit_processor(Some(self.cores * self.cpu), self.period_ns)?;
                forwarder.limit_processor(Some(self.cores * (1.0 - self.cpu)), self.period_ns)?;
            } else {
                forwarder.limit_processor(self.limited.then_some(self.cores), self.period_ns)?;
            }
        }
        match &mut self.burner.stdin {
            Some(input) => writeln!(input, "{}", if busy { "busy" } else { "rest" }),
            None => Ok(()),
        }
    }
}
