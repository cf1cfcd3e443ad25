//! One repeat in virtual time.

use std::path::Path;

use engine::FaceConfig;
use packet::time::{Duration, Instant};
use sim::AppId;

use super::application::Agent;
use super::consumers::{self, PlacedConsumer};
use super::error::SimulationError;
use super::network::{Built, build, limit_faces};
use super::record::Recorder;
use super::{counted, events, registrar, trace};
use crate::agent::Job;
use crate::analysis::{NETWORK_FILE, NetworkCounts};
use crate::experiment::Plan;
use crate::memory_files;
use crate::order::{Event, OUTCOME_FILE, Order, OrderSeen, Outcome, write_json};
use crate::sampling::moment;

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
    for (index, id) in built.nodes.indexed() {
        let job = Job::of(&order.plan, index, order.seed, Path::new("unused"), folder.to_owned());
        let Some(job) = job else { continue };
        let agent = Agent::new(job, end, order.simultaneous)?;
        let face = FaceConfig { dialect: order.plan.dialect, ..FaceConfig::local() };
        agents.push(built.network.add_application_with(*id, agent, face)?);
    }
    Ok(agents)
}

/// Is everything done that has an end? What has none does not keep a run going, unless there is nothing else.
fn is_over(plan: &Plan, built: &Built, agents: &[AppId], consumers: &[PlacedConsumer]) -> bool {
    let is_done = |id: &AppId| built.network.application::<Agent>(*id).is_none_or(Agent::is_complete);
    if !agents.iter().all(is_done) {
        return false;
    }
    let counts = counted::count(plan, built, consumers).consumers;
    let mut ends = counts.iter().filter_map(|consumer| consumer.is_complete).peekable();
    (!agents.is_empty() || ends.peek().is_some()) && ends.all(|is_complete| is_complete)
}

/// The ends of the measuring window that the file sets. Counters are read there, so that what they grew by
/// within the window is exact.
fn window_ends(plan: &Plan) -> impl Iterator<Item = Instant> {
    let window = plan.evaluation.window;
    window.from_ns.into_iter().chain(window.until_ns).map(Instant::from_nanos)
}

/// Where a period is interrupted: for its sample, at the ends of the measuring window, and where a workload
/// begins or ends, so that what was integrated up to there is known. Its own end may be among them.
fn stops(plan: &Plan, begin: Instant, sample: Instant, end: Instant) -> Vec<Instant> {
    let edges = plan.workloads.iter().flat_map(|workload| [workload.start_ns, workload.stop_ns]);
    let edges = edges.map(Instant::from_nanos).chain(window_ends(plan));
    let mut stops: Vec<Instant> = edges.chain([sample]).filter(|at| *at > begin && *at <= end).collect();
    stops.sort_unstable();
    stops.dedup();
    stops
}

/// A network with all that is at work in it.
struct World {
    built: Built,
    agents: Vec<AppId>,
    consumers: Vec<PlacedConsumer>,
    recorder: Recorder,
}

impl World {
    fn new(order: &Order, folder: &Path, mut observe: impl FnMut(&Event)) -> Result<Self, SimulationError> {
        let plan = &order.plan;
        observe(&step("network"));
        let mut built = build(plan, order.seed, order.simultaneous)?;
        built.network.set_cores(order.cores);
        observe(&step("clients"));
        let agents = start_agents(order, folder, &mut built, Instant::from_nanos(plan.schedule.duration_ns))?;
        registrar::add(&mut built, plan, order.seed)?;
        let consumers = consumers::add(&mut built, plan, order.seed)?;
        for (node, id) in plan.nodes.iter().zip(&built.nodes) {
            limit_faces(&mut built.network, *id, &node.forwarder);
        }
        events::plan(&mut built, plan);
        let recorder = Recorder::new(plan, &built);
        Ok(World { built, agents, consumers, recorder })
    }

    /// Runs until the experiment's end, or until a second after all is done where that is what is wanted.
    fn run(&mut self, order: &Order, mut observe: impl FnMut(&Event)) -> Result<(), SimulationError> {
        let World { built, agents, consumers, recorder } = self;
        let plan = &order.plan;
        let end = Instant::from_nanos(plan.schedule.duration_ns);
        recorder.sample(plan, built, &mut observe);
        let every = Duration::from_nanos(plan.recording.sample_every_ns);
        let mut done_at: Option<Instant> = None;
        let mut period: u32 = 0;
        while built.network.now() < end {
            if order.stop.is_asked() {
                return Err(SimulationError::Stopped);
            }
            let begin = built.network.now();
            let until = begin + every.min(end.saturating_since(begin));
            // Somewhere in the period, and not always where a workload that is in step with it is.
            let period_length = std::time::Duration::from_nanos(plan.recording.sample_every_ns);
            let at = Instant::from_nanos(nanos(moment(period, period_length)));
            for stop in stops(plan, begin, at, until) {
                built.network.run_until(stop)?;
                if stop == at || window_ends(plan).any(|end| end == stop) {
                    recorder.sample(plan, built, &mut observe);
                } else {
                    recorder.look(built);
                }
            }
            let left = until.saturating_since(built.network.now());
            built.network.run_for(left)?;
            period += 1;
            for id in &*agents {
                let again = built.network.application_mut::<Agent>(*id).map(Agent::take_again);
                recorder.again(&again.unwrap_or_default());
            }
            recorder.count(plan, built);
            if plan.schedule.until_done && is_over(plan, built, agents, consumers) {
                let since = *done_at.get_or_insert(built.network.now());
                if built.network.now().saturating_since(since) >= Duration::from_secs(1) {
                    break;
                }
            }
        }
        recorder.sample(plan, built, &mut observe);
        Ok(())
    }

    /// The order of what happened at one instant, and whether another could have made a difference.
    fn order_seen(&self, order: &Order) -> OrderSeen {
        let World { built: Built { network, .. }, agents, .. } = self;
        let mut agents = agents.iter().filter_map(|id| network.application::<Agent>(*id));
        let may_matter = network.may_depend_on_ties() || agents.any(Agent::has_met);
        OrderSeen { order: order.simultaneous, may_matter }
    }

    /// Writes all that was seen; gives what a reader should know of it.
    fn write(&mut self, order: &Order, folder: &Path) -> Result<Vec<String>, SimulationError> {
        let World { built, agents, consumers, recorder } = self;
        let (plan, now) = (&order.plan, built.network.now());
        for id in agents {
            if let Some(agent) = built.network.application_mut::<Agent>(*id) {
                agent.finish(now)?;
            }
        }
        recorder.write(plan, built, folder)?;
        let counts = NetworkCounts { seed: order.seed, ..counted::count(plan, built, consumers) };
        write_json(&folder.join(NETWORK_FILE), &counts)?;
        built.network.trace_mut().packets.extend(recorder.take_kept());
        let captured = plan.recording.trace.captures.iter().filter_map(|(link, _)| plan.links.get(*link));
        let captured: Vec<&str> = captured.map(|link| link.name.as_str()).collect();
        let mut notes = vec![format!("trace hash {}", counts.trace_hash)];
        // Beside the raw data, and as it is: people open it with their own tools.
        notes.extend(trace::write(
            &built.network,
            &plan.recording.trace,
            &captured,
            &folder.with_file_name("trace"),
        )?);
        Ok(notes)
    }
}

fn step(name: &str) -> Event {
    Event::Step { name: name.to_owned() }
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
    memory_files::create_dir_all(folder)?;
    let mut world = World::new(order, folder, &mut observe)?;
    observe(&step("workloads"));
    world.run(order, &mut observe)?;
    observe(&step("stop"));
    let notes = world.write(order, folder)?;
    let outcome = Outcome {
        start_ns: 0,
        stop_ns: world.built.network.now().as_nanos(),
        control: "virtual time: a service time for each packet, divided by the node's share".to_owned(),
        software: format!("cairn {}, simulated", env!("CARGO_PKG_VERSION")),
        notes,
        simultaneous: Some(world.order_seen(order)),
        ..Outcome::default()
    };
    write_json(&folder.join(OUTCOME_FILE), &outcome)?;
    Ok(outcome)
}
