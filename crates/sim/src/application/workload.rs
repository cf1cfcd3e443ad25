//! An application that asks for what a workload of `flow` asks for.

use flow::WorkloadSpec;
use flow::workload::{Closed, Outcome, Requester, Setting};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason};

use super::{Application, ConsumerReport, Context, NumberedNames, number_of};
use crate::error::SimError;
use crate::into_name::IntoName;
use crate::trace::Delay;

/// Asks for numbered names as a [workload](flow::workload) wants it. What is lost is not asked for again,
/// unless the workload does so.
///
/// ```
/// use packet::time::Duration;
/// use cairn_sim::WorkloadConsumer;
///
/// let spec = "zipf/rate~500/spacing~poisson".parse()?;
/// let consumer = WorkloadConsumer::new("/video", &spec)?.items(1000).between(Duration::ZERO, Duration::MAX);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WorkloadConsumer {
    names: NumberedNames,
    spec: WorkloadSpec,
    setting: Setting,
    lifetime: Duration,
    /// From the start on.
    requester: Option<Requester>,
    report: ConsumerReport,
}

impl WorkloadConsumer {
    /// Asks for names under `prefix`, with a lifetime of 4 s.
    ///
    /// # Errors
    /// A prefix that is not a name.
    pub fn new(prefix: impl IntoName, spec: &WorkloadSpec) -> Result<Self, SimError> {
        let lifetime = Duration::from_secs(4);
        Ok(WorkloadConsumer {
            names: NumberedNames::new(prefix.into_name()?, lifetime),
            spec: spec.clone(),
            setting: Setting::forever(0),
            lifetime,
            requester: None,
            report: ConsumerReport::default(),
        })
    }

    /// With so many items in the catalogue.
    pub fn items(mut self, items: u64) -> Self {
        self.setting.items = Some(items);
        self
    }

    /// Beginning at the one time and asking for nothing new from the other on, on its node's clock.
    pub fn between(mut self, from: Duration, until: Duration) -> Self {
        self.setting.begin = Instant::ZERO + from;
        self.setting.end = Instant::ZERO + until;
        self
    }

    /// With Interests of this lifetime.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.names = NumberedNames::new(self.names.prefix().clone(), lifetime);
        self.lifetime = lifetime;
        self
    }

    /// Whether the workload can run: some need to know [how many items](Self::items) there are. One that
    /// cannot asks for nothing.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self) -> Result<(), flow::SpecError> {
        self.spec.start(&self.setting).map(|_| ())
    }

    /// What it has done. Every request is one Interest.
    pub fn report(&self) -> &ConsumerReport {
        &self.report
    }

    /// Whether the workload is over and nothing is outstanding.
    pub fn is_done(&self) -> bool {
        self.requester.as_ref().is_some_and(Requester::is_complete)
    }

    /// Sends what is due, and asks to be called again.
    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(requester) = &mut self.requester else { return };
        while requester.poll_timeout(now).is_some() {
            self.report.timeouts += 1;
            self.report.failed += 1;
        }
        while let Some(opened) = requester.poll_request(now) {
            self.report.asked += 1;
            let nonce = context.random().next_u32();
            // One that fits into no packet times out.
            if let Some((interest, hashes)) =
                self.names.interest(context.dialect(), context.hasher(), opened.item, nonce)
            {
                self.report.interests += 1;
                context.send_hashed_interest(interest, hashes);
            }
        }
        context.wake_at(requester.next_deadline());
    }

    fn note(&mut self, context: &mut Context<'_>, closed: &Closed, data: &Data) {
        let Outcome::Data { round_trip } = closed.outcome else { return };
        let report = &mut self.report;
        report.received += 1;
        report.content_bytes += data.content().len() as u64;
        report.packet_bytes += data.wire().len() as u64;
        report.delay_sum += round_trip;
        report.delay_max = report.delay_max.max(round_trip);
        report.last_answer = context.now();
        context.note_delay(Delay {
            number: closed.item,
            last: round_trip,
            full: round_trip,
            attempts: 1,
            hops: context.hops(),
        });
    }
}

impl Application for WorkloadConsumer {
    fn start(&mut self, context: &mut Context<'_>) {
        self.setting.seed = context.random().next_u64();
        self.setting.begin = self.setting.begin.max(context.now());
        self.requester = Requester::new(&self.spec, &self.setting, self.lifetime).ok();
        self.go_on(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        self.go_on(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = context.now();
        let Some((requester, item)) = self.requester.as_mut().zip(number_of(data.name())) else { return };
        let closed = requester.handle_data(now, item);
        self.report.late += u64::from(closed.is_empty());
        self.report.marked += u64::from(!closed.is_empty() && header.congestion_mark > 0);
        for one in &closed {
            self.note(context, one, data);
        }
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = context.now();
        self.report.nacks += 1;
        let Some((requester, item)) = self.requester.as_mut().zip(number_of(interest.name())) else { return };
        self.report.failed += requester.handle_nack(now, item, reason).len() as u64;
        self.go_on(context);
    }

    fn sample(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("outstanding", self.requester.as_ref().map_or(0, Requester::outstanding) as f64);
        show("received", self.report.received as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkConfig, Network, Producer};

    fn run(spec: &str) -> ConsumerReport {
        let mut network = Network::new(5);
        let nodes = network.chain(3, &LinkConfig::ideal().millis(10)).unwrap();
        network.add_producer(nodes[2], "/data", Producer::new(100)).unwrap();
        network.route_shortest_paths().unwrap();
        let consumer = WorkloadConsumer::new("/data", &spec.parse().unwrap()).unwrap().items(10);
        let consumer = consumer.between(Duration::from_secs(1), Duration::from_secs(3));
        consumer.check().unwrap();
        let id = network.add_application(nodes[0], consumer).unwrap();
        network.run_for(Duration::from_secs(10)).unwrap();
        *network.application::<WorkloadConsumer>(id).unwrap().report()
    }

    #[test]
    fn a_workload_is_carried_out_between_its_times_and_every_request_is_answered() {
        let report = run("sequential/rate~50");
        assert_eq!((report.asked, report.received, report.failed), (100, 100, 0));
        // The first ten come from the producer, and what is asked for again from the cache of the own node.
        assert_eq!(
            (report.delay_max, report.mean_delay()),
            (Duration::from_millis(40), Duration::from_millis(4))
        );
    }

    #[test]
    fn a_workload_that_does_not_know_how_many_items_there_are_says_so() {
        let consumer = WorkloadConsumer::new("/data", &"uniform".parse().unwrap()).unwrap();
        assert!(consumer.check().unwrap_err().to_string().starts_with("parameter items"));
    }
}
