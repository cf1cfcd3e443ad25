//! Producers and consumers of an experiment as applications of the simulator.

use std::sync::Arc;

use flow::workload::Spacing;
use flow::{FetchConfig, PublicationConfig, TransferConfig};
use packet::random::{Random, Zipf};
use packet::time::Duration;
use sim::{AppId, Flooder, IntoName as _, Network, NodeId, VerificationTime, VerifiedFetcher};

use super::error::{ApplicationError, SimulationError};
use super::keys::Keys;
use super::network::Built;
use crate::experiment::plan::{
    Activity, Answers, ConsumerKind, ConsumerPlan, NodeIndex, Plan, ProducerPlan, VerificationPlan, Workload,
};

/// A consumer at one of its nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedConsumer {
    /// Its workload's place in the plan.
    pub(super) workload: usize,
    pub(super) node: NodeIndex,
    pub(super) application: AppId,
}

/// Adds all producers, and then all consumers.
pub(super) fn add(built: &mut Built, plan: &Plan, seed: u64) -> Result<Vec<PlacedConsumer>, SimulationError> {
    let keys = Keys::of(plan, seed)?;
    for producer in &plan.producers {
        for node in &producer.nodes {
            if let Some(id) = built.nodes.get(*node) {
                add_producer(&mut built.network, *id, producer, seed, &keys)
                    .map_err(ApplicationError::of(&producer.name))?;
            }
        }
    }
    let mut placed = Vec::new();
    for (workload, of_plan) in plan.workloads.iter().enumerate() {
        let Activity::Consume(consumer) = &of_plan.does else { continue };
        let catalogue = catalogue(consumer).map_err(ApplicationError::of(&of_plan.name))?;
        for node in &consumer.nodes {
            let Some(id) = built.nodes.get(*node) else { continue };
            let network = &mut built.network;
            let application = match (&consumer.kind, consumer.verify) {
                (ConsumerKind::File(controller), Some(cost)) => {
                    let fetch = fetch(consumer, controller.as_deref());
                    let start = Duration::from_nanos(of_plan.start_ns);
                    let fetcher = fetch.and_then(|fetch| verified(consumer, fetch, cost, &keys));
                    fetcher.and_then(|fetcher| Ok(network.add_application(*id, fetcher.start_at(start))?))
                }
                _ => add_consumer(network, *id, of_plan, consumer, catalogue.clone()),
            };
            let application = application.map_err(ApplicationError::of(&of_plan.name))?;
            placed.push(PlacedConsumer { workload, node: *node, application });
        }
    }
    Ok(placed)
}

fn add_producer(
    network: &mut Network,
    node: NodeId,
    producer: &ProducerPlan,
    seed: u64,
    keys: &Keys,
) -> Result<(), ApplicationError> {
    let bytes = |bytes: u64| usize::try_from(bytes);
    let mut application = match producer.answers {
        Answers::File(size) => {
            let mut random = Random::derive(seed, 0x6669_6c65);
            let content: Vec<u8> = (0..size).map(|_| random.next_u64() as u8).collect();
            let prefix = producer.prefix.as_str().into_name()?;
            let signer = keys.signer(producer)?;
            let config = PublicationConfig::new(prefix, 1, size, signer);
            let publisher = sim::Publisher::new(config, content)?;
            network.add_application(node, publisher)?;
            return Ok(());
        }
        Answers::Packets(size) => sim::Producer::of_packet_size(bytes(size)?),
        Answers::Contents(size) => sim::Producer::new(bytes(size)?),
    };
    if let Some(freshness) = producer.freshness_ns {
        application = application.freshness(Duration::from_nanos(freshness));
    }
    if let Some(delay) = producer.reply_delay_ns {
        application = application.reply_delay(Duration::from_nanos(delay));
    }
    network.add_producer(node, producer.prefix.as_str(), application)?;
    Ok(())
}

/// The catalogue of a consumer that has one; all its nodes share it.
fn catalogue(consumer: &ConsumerPlan) -> Result<Option<Arc<Zipf>>, ApplicationError> {
    let ConsumerKind::Zipf { objects, exponent, shift, .. } = consumer.kind else { return Ok(None) };
    let zipf = Zipf::new(objects as usize, exponent, shift)?;
    Ok(Some(Arc::new(zipf)))
}

fn add_consumer(
    network: &mut Network,
    node: NodeId,
    workload: &Workload,
    consumer: &ConsumerPlan,
    catalogue: Option<Arc<Zipf>>,
) -> Result<AppId, ApplicationError> {
    let prefix = consumer.prefix.as_str();
    let start = Duration::from_nanos(workload.start_ns);
    // Without a word on it nothing is stopped before the network is.
    let stop = if consumer.stops { Duration::from_nanos(workload.stop_ns) } else { Duration::MAX };
    let lifetime = consumer.lifetime_ns.map(Duration::from_nanos);
    let (application, spacing) = match &consumer.kind {
        ConsumerKind::Rate(per_second, spacing) => {
            (sim::Consumer::constant_rate(prefix, *per_second), *spacing)
        }
        ConsumerKind::Window(window) => (sim::Consumer::window(prefix, *window as usize), Spacing::Constant),
        ConsumerKind::Batches(batches) => {
            let batches = batches.iter().map(|(at, count)| (Duration::from_nanos(*at), *count));
            (sim::Consumer::batches(prefix, batches), Spacing::Constant)
        }
        ConsumerKind::Zipf { per_second, spacing, .. } => {
            let catalogue = catalogue.ok_or(ApplicationError::NoCatalogue)?;
            (sim::Consumer::zipf(prefix, catalogue, *per_second), *spacing)
        }
        ConsumerKind::Transfer(controller) => {
            let config = transfer(consumer, controller.as_deref())?;
            let mut application = sim::TransferConsumer::new(prefix, config)?.start_at(start);
            if let Some(items) = consumer.items {
                application = application.items(items);
            }
            if let Some(lifetime) = lifetime {
                application = application.lifetime(lifetime);
            }
            return Ok(network.add_application(node, application)?);
        }
        ConsumerKind::File(controller) => {
            let config = fetch(consumer, controller.as_deref())?;
            let application = sim::FileFetcher::new(prefix, config)?.start_at(start);
            return Ok(network.add_application(node, application)?);
        }
        ConsumerKind::Flood(per_second) => {
            let mut application = Flooder::new(prefix, *per_second)?.between(start, stop);
            if let Some(lifetime) = lifetime {
                application = application.lifetime(lifetime);
            }
            return Ok(network.add_application(node, application)?);
        }
        ConsumerKind::Workload { spec, objects } => {
            let application = workload_consumer(prefix, spec, *objects, lifetime)?.between(start, stop);
            return Ok(network.add_application(node, application)?);
        }
    };
    let mut application = application?.start_at(start).stop_at(stop);
    application = application.spacing(spacing);
    if let Some(items) = consumer.items {
        application = application.limit(items);
    }
    if let Some(lifetime) = lifetime {
        application = application.lifetime(lifetime);
    }
    if let Some(attempts) = consumer.attempts {
        application = application.attempts(attempts);
    }
    Ok(network.add_application(node, application)?)
}

/// A consumer that asks as a workload says.
fn workload_consumer(
    prefix: &str,
    spec: &str,
    objects: Option<u32>,
    lifetime: Option<Duration>,
) -> Result<sim::WorkloadConsumer, ApplicationError> {
    let mut application = sim::WorkloadConsumer::new(prefix, &spec.parse()?)?;
    if let Some(objects) = objects {
        application = application.items(u64::from(objects));
    }
    if let Some(lifetime) = lifetime {
        application = application.lifetime(lifetime);
    }
    application.check()?;
    Ok(application)
}

/// A consumer that verifies the file it fetches.
fn verified(
    consumer: &ConsumerPlan,
    config: FetchConfig,
    cost: VerificationPlan,
    keys: &Keys,
) -> Result<VerifiedFetcher, ApplicationError> {
    let charge = VerificationTime {
        signature: Duration::from_nanos(cost.signature_ns),
        hashed_kibibyte: Duration::from_nanos(cost.hashed_kibibyte_ns),
    };
    let application = VerifiedFetcher::new(consumer.prefix.as_str(), config, keys.verifier())?;
    Ok(application.charge(charge))
}

fn fetch(consumer: &ConsumerPlan, controller: Option<&str>) -> Result<FetchConfig, ApplicationError> {
    Ok(FetchConfig { transfer: transfer(consumer, controller)?, ..FetchConfig::default() })
}

fn transfer(consumer: &ConsumerPlan, controller: Option<&str>) -> Result<TransferConfig, ApplicationError> {
    let mut config = TransferConfig::default();
    if let Some(controller) = controller {
        config.controller = controller.parse()?;
    }
    if let Some(attempts) = consumer.attempts {
        config.max_attempts = attempts;
    }
    Ok(config)
}
