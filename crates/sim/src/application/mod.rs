//! Programs at the ends of the network.

mod checked;
mod consumer;
mod flooder;
mod late_replies;
mod names;
mod outstanding;
mod producer;
mod publisher;
mod source_producer;
mod transfer;
mod verified;
mod workload;

use std::any::Any;

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, NackReason, Name, NameRef, Packet, PrefixHashes};

pub use checked::{CheckedConsumer, CheckedProducer, Fetched, Outcome, Produce};
pub use consumer::{Consumer, ConsumerReport};
pub use flooder::{Flooder, FlooderReport};
pub use names::{NumberedNames, number_of};
pub use producer::{Producer, ProducerReport};
pub use publisher::Publisher;
pub use source_producer::SourceProducer;
pub use transfer::{FileFetcher, TransferConsumer};
pub use verified::{VerificationTime, VerifiedFetcher};
pub use workload::WorkloadConsumer;

use crate::arena::{AppId, NodeId, PacketId};
use crate::core::Core;
use crate::events::queue::EventSource;
use crate::trace::{Delay, ValueRecord};

/// A program on a node. All methods have a default that does nothing, so a new application writes down what
/// it is about.
///
/// An application sees the clock of its node and draws randomness from a stream of its own. What it sends is
/// received by the engine of its node after the method has returned, at the same instant.
///
/// ```
/// use packet::ndn::InterestBuilder;
/// use packet::time::Duration;
/// use packet::{Data, LinkHeader};
/// use cairn_sim::{Application, Context, LinkConfig, Network, Producer};
///
/// /// Asks for the same name once a second, and remembers how long the answers took.
/// #[derive(Default)]
/// struct Pinger {
///     sent_at: packet::time::Instant,
///     round_trips: Vec<Duration>,
/// }
///
/// impl Application for Pinger {
///     fn start(&mut self, context: &mut Context<'_>) {
///         self.handle_timer(context);
///     }
///     fn handle_timer(&mut self, context: &mut Context<'_>) {
///         let nonce = context.random().next_u32();
///         let name = "/lab/ping".parse().unwrap();
///         let ping = InterestBuilder::new(name).must_be_fresh(true).nonce(nonce);
///         context.send_interest(ping.build().unwrap());
///         self.sent_at = context.now();
///         context.wake_after(Duration::from_secs(1));
///     }
///     fn handle_data(&mut self, context: &mut Context<'_>, _: &Data, _: &LinkHeader) {
///         self.round_trips.push(context.now().saturating_since(self.sent_at));
///     }
/// }
///
/// let mut network = Network::new(1);
/// let nodes = network.chain(3, &LinkConfig::ideal().millis(10))?;
/// network.add_producer(nodes[2], "/lab", Producer::new(100).freshness(Duration::ZERO))?;
/// network.route_shortest_paths()?;
/// let pinger = network.add_application(nodes[0], Pinger::default())?;
/// network.run_for(Duration::from_secs(3))?;
/// let pinger: &Pinger = network.application(pinger).unwrap();
/// assert_eq!(pinger.round_trips, [Duration::from_millis(40); 3]);
/// # Ok::<(), cairn_sim::SimError>(())
/// ```
pub trait Application: Any + Send {
    /// Called once, when time begins to pass after the application was added.
    fn start(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }

    /// An Interest came for a prefix of this application.
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, header: &LinkHeader) {
        let _ = (context, interest, header);
    }

    /// Data came.
    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let _ = (context, data, header);
    }

    /// An Interest came back.
    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let _ = (context, interest, reason);
    }

    /// The time that was asked for with [`Context::wake_at`] has come.
    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let _ = context;
    }

    /// Prefixes that the engine of its node sends to this application, and that routing leads to the node.
    fn prefixes(&self) -> Vec<Name> {
        Vec::new()
    }

    /// Numbers to follow over time, such as a window or a rate: each is sampled with its name.
    fn sample(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let _ = show;
    }
}

/// What an application may do while it is called.
pub struct Context<'a> {
    core: &'a mut Core,
    application: AppId,
    /// The number of the packet it was called for, until that is used for an answer, and the name of the
    /// packet.
    current: Option<PacketId>,
    name: Option<NameRef<'a>>,
    hops: u32,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        core: &'a mut Core,
        application: AppId,
        current: Option<(PacketId, NameRef<'a>)>,
    ) -> Self {
        let (current, name) = current.unzip();
        let hops = current.map_or(0, |packet_id| core.in_flight.get(packet_id).hops);
        Context { core, application, current, name, hops }
    }

    /// The number of the packet it was called for, if nobody has used it.
    pub(crate) fn finish(self) -> Option<PacketId> {
        self.current
    }

    /// What the clock of the node shows.
    pub fn now(&self) -> Instant {
        let node = self.core.attachments[self.application].node;
        self.core.nodes[node].clock.reading(self.core.now)
    }

    /// What time it is, whatever the clock of the node shows. For measurements, not for behaviour.
    pub fn time(&self) -> Instant {
        self.core.now
    }

    /// Links that the Data it was called for has crossed since it was sent by a producer or a cache.
    pub fn hops(&self) -> u32 {
        self.hops
    }

    /// The application itself.
    pub fn id(&self) -> AppId {
        self.application
    }

    /// The node it runs on.
    pub fn node(&self) -> NodeId {
        self.core.attachments[self.application].node
    }

    /// The dialect of the face it is behind: what it is to speak.
    pub fn dialect(&self) -> Dialect {
        self.core.attachments[self.application].dialect
    }

    /// The application's own stream of random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.core.attachments[self.application].random
    }

    /// Asks to be called when the clock of the node shows `reading`, in place of any earlier wish;
    /// [`Instant::NEVER`] takes the wish back. A reading that has passed means: as soon as what happens
    /// now is done.
    pub fn wake_at(&mut self, reading: Instant) {
        let attachment = &mut self.core.attachments[self.application];
        let clock = &self.core.nodes[attachment.node].clock;
        let at = clock.when(reading).max(self.core.now);
        attachment.alarm.set(&mut self.core.queue, at, EventSource::Application(self.application));
    }

    /// Asks to be called when so much time has passed on the clock of the node.
    pub fn wake_after(&mut self, span: Duration) {
        self.wake_at(self.now() + span);
    }

    /// Sends an Interest.
    pub fn send_interest(&mut self, interest: Interest) {
        self.send(Packet::Interest(interest), LinkHeader::default());
    }

    /// Sends an Interest whose name was hashed with [`Context::hasher`] when it was made.
    pub fn send_hashed_interest(&mut self, interest: Interest, hashes: &PrefixHashes) {
        let packet_id = self.core.in_flight.add(Packet::Interest(interest), LinkHeader::default(), hashes);
        self.core.outbox.push_back((self.application, packet_id));
    }

    /// Sends Data.
    pub fn send_data(&mut self, data: Data) {
        // An answer has the name of what was asked for, and need not be hashed again.
        if self.name == Some(data.name())
            && let Some(packet_id) = self.current.take()
        {
            let slot = self.core.in_flight.get_mut(packet_id);
            slot.packet = Some(Packet::Data(data));
            slot.hops = 0;
            return self.core.outbox.push_back((self.application, packet_id));
        }
        self.send(Packet::Data(data), LinkHeader::default());
    }

    /// Sends an Interest back.
    pub fn send_nack(&mut self, interest: Interest, reason: NackReason) {
        self.send(Packet::Nack(interest, reason), LinkHeader::default());
    }

    /// Sends any packet with anything that travels with it.
    pub fn send(&mut self, packet: Packet, header: LinkHeader) {
        let packet_id = self.core.wrap(packet, header);
        self.core.outbox.push_back((self.application, packet_id));
    }

    /// Keeps the processor of the node, if it has one, busy for so long at full capacity, behind what it has
    /// to do already. Packets that come until then wait.
    pub fn charge(&mut self, work: Duration) {
        let (now, node) = (self.core.now, self.node());
        if let Some(processor) = &mut self.core.nodes[node].processor {
            processor.charge(now, work);
        }
    }

    /// The hasher of all engines of the network.
    pub fn hasher(&self) -> &packet::NameHasher {
        &self.core.hasher
    }

    /// Reports how long an answer took, for the trace of application delays.
    pub fn note_delay(&mut self, delay: Delay) {
        let (application, node) = (self.id(), self.node());
        self.core.trace.note_delay(self.core.now, node, application, delay);
    }

    /// Reports a number that has changed, such as a rate or a window, for the trace of application values.
    pub fn note_value(&mut self, what: &'static str, value: f64) {
        let (application, node) = (self.id(), self.node());
        let time = self.core.now;
        self.core.trace.note_value(ValueRecord { time, node, application, what, value });
    }
}
