//! One repeat in virtual time.

use std::fs;
use std::io;
use std::path::Path;

use packet::time::{Duration, Instant};
use sim::AppId;

use super::application::Agent;
use super::network::{Built, build, limit_faces};
use super::record::Recorder;
use crate::agent::Job;
use crate::agent::workloads::{Activities, Served};
use crate::backend::netns::order::{Event, OUTCOME_FILE, Order, Outcome, write_json};
use crate::sampling::moment;

/// Why a simulation gave no result.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The network.
    #[error("the network cannot be simulated: {0}")]
    Network(String),
    /// A strategy that does not exist.
    #[error("{0}")]
    Strategy(String),
    /// An eviction policy that does not exist.
    #[error(transparent)]
    Eviction(#[from] engine::UnknownEviction),
    /// A workload.
    #[error("a workload cannot be simulated: {0}")]
    Workload(String),
    /// A file.
    #[error("{0}")]
    Io(#[from] io::Error),
}

fn nanos(moment: std::time::Duration) -> u64 {
    u64::try_from(moment.as_nanos()).unwrap_or(u64::MAX)
}

/// The applications of all nodes that have something to do.
fn start_agents(
    order: &Order,
    folder: &Path,
    built: &mut Built,
    end: Instant,
) -> Result<Vec<AppId>, SimulationError> {
    let mut agents = Vec::new();
    for (index, id) in built.nodes.iter().enumerate() {
        let job = Job::of(&order.plan, index, order.seed, "unused".into(), folder.to_owned());
        let Some(job) = job else { continue };
        let served = Served::new(&job).map_err(SimulationError::Workload)?;
        let activities = Activities::new(&job, 0).map_err(SimulationError::Workload)?;
        agents.push(built.network.add_application(*id, Agent::new(served, activities, end))?);
        if let Some(node) = order.plan.nodes.get(index) {
            limit_faces(&mut built.network, *id, &node.forwarder);
        }
    }
    Ok(agents)
}

/// Carries an order out in virtual time and writes what a real run would have written.
///
/// # Errors
///
/// Why it could not be simulated.
pub fn simulate(
    order: &Order,
    folder: &Path,
    mut observe: impl FnMut(&Event),
) -> Result<Outcome, SimulationError> {
    let plan = &order.plan;
    fs::create_dir_all(folder)?;
    let step = |name: &str| Event::Step { name: name.to_owned() };
    observe(&step("network"));
    let mut built = build(plan, order.seed)?;
    observe(&step("clients"));
    let end = Instant::from_nanos(plan.duration_ns);
    let agents = start_agents(order, folder, &mut built, end)?;
    observe(&step("workloads"));
    let mut recorder = Recorder::new(plan);
    recorder.sample(plan, &built, &mut observe);
    let every = Duration::from_nanos(plan.sample_every_ns);
    let mut done_at: Option<Instant> = None;
    let mut period: u32 = 0;
    while built.network.now() < end {
        let begin = built.network.now();
        let until = begin + every.min(end.saturating_since(begin));
        // Somewhere in the period, and not always where a workload that is in step with it is.
        let at =
            Instant::from_nanos(nanos(moment(period, std::time::Duration::from_nanos(plan.sample_every_ns))));
        if at > begin && at < until {
            built.network.run_for(at.saturating_since(begin))?;
            recorder.sample(plan, &built, &mut observe);
        }
        let left = until.saturating_since(built.network.now());
        built.network.run_for(left)?;
        period += 1;
        for id in &agents {
            let again = built.network.application_mut::<Agent>(*id).map(Agent::take_again);
            recorder.again(&again.unwrap_or_default());
        }
        recorder.count(plan, &mut built);
        let all = |id: &AppId| built.network.application::<Agent>(*id).is_none_or(Agent::is_complete);
        if plan.until_done && agents.iter().all(all) {
            let since = *done_at.get_or_insert(built.network.now());
            if built.network.now().saturating_since(since) >= Duration::from_secs(1) {
                break;
            }
        }
    }
    recorder.sample(plan, &built, &mut observe);
    observe(&step("stop"));
    let now = built.network.now();
    for id in &agents {
        if let Some(agent) = built.network.application_mut::<Agent>(*id) {
            agent.finish(now)?;
        }
    }
    recorder.write(plan, folder)?;
    let outcome = Outcome {
        start_ns: 0,
        stop_ns: now.as_nanos(),
        control: "virtual time: a service time for each packet, divided by the node's share".to_owned(),
        software: format!("cairn {}, simulated", env!("CARGO_PKG_VERSION")),
        notes: vec![format!("trace hash {:016x}", built.network.trace().hash())],
        ..Outcome::default()
    };
    write_json(&folder.join(OUTCOME_FILE), &outcome)?;
    Ok(outcome)
}
