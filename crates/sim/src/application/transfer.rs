//! Consumers under control of congestion, and whole files: the machines of the crate `flow`, driven by
//! virtual time.

use flow::{Arrival, DataOutcome, FetchConfig, Fetcher, Request, Transfer, TransferConfig};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name};

use super::{Application, Context, NumberedNames, number_of};
use crate::error::SimError;
use crate::into_name::IntoName;
use crate::trace::Delay;

/// Asks for `prefix`/0, `prefix`/1 … as fast as a controller allows.
///
/// ```
/// use packet::time::Duration;
/// use cairn_sim::{LinkConfig, Network, Producer, Queue, TransferConsumer};
///
/// let mut network = Network::new(1);
/// let link = LinkConfig::ideal().mbps(10.0).millis(10).queue(Queue::packets(50));
/// let nodes = network.chain(3, &link)?;
/// network.add_producer(nodes[2], "/data", Producer::of_packet_size(1250))?;
/// let config = flow::TransferConfig { controller: "cubic".parse().unwrap(), ..Default::default() };
/// let consumer = network.add_application(nodes[0], TransferConsumer::new("/data", config)?)?;
/// network.route_shortest_paths()?;
/// network.run_for(Duration::from_secs(10))?;
/// let consumer: &TransferConsumer = network.application(consumer).unwrap();
/// assert!(consumer.transfer().unwrap().counters().data > 8_000);
/// # Ok::<(), cairn_sim::SimError>(())
/// ```
#[derive(Debug)]
pub struct TransferConsumer {
    names: NumberedNames,
    config: TransferConfig,
    start_at: Duration,
    items: Option<u64>,
    transfer: Option<Transfer>,
    packet_bytes: u64,
    completed_at: Option<Instant>,
    shown: ReportedPace,
}

/// What was last reported of a transfer.
#[derive(Debug, Default)]
struct ReportedPace {
    rate: f64,
    window: f64,
}

impl TransferConsumer {
    /// Asks without end, from the beginning of time, with Interests of a lifetime of 4 s.
    ///
    /// # Errors
    /// A prefix that is not a name.
    pub fn new(prefix: impl IntoName, config: TransferConfig) -> Result<Self, SimError> {
        Ok(TransferConsumer {
            names: NumberedNames::new(prefix.into_name()?, Duration::from_secs(4)),
            config,
            start_at: Duration::ZERO,
            items: None,
            transfer: None,
            packet_bytes: 0,
            completed_at: None,
            shown: ReportedPace::default(),
        })
    }

    /// Asking for no more than so many items.
    pub fn items(self, items: u64) -> Self {
        TransferConsumer { items: Some(items), ..self }
    }

    /// Beginning at this time, on the clock of its node.
    pub fn start_at(self, start_at: Duration) -> Self {
        TransferConsumer { start_at, ..self }
    }

    /// With Interests of this lifetime.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        TransferConsumer { names: NumberedNames::new(self.names.prefix().clone(), lifetime), ..self }
    }

    /// The transfer; `None` before it has begun.
    pub fn transfer(&self) -> Option<&Transfer> {
        self.transfer.as_ref()
    }

    /// Bytes of the packets that were wanted.
    pub fn packet_bytes(&self) -> u64 {
        self.packet_bytes
    }

    /// When the last item came, if there is a last one, on the clock of its node.
    pub fn completed_at(&self) -> Option<Instant> {
        self.completed_at
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(transfer) = &mut self.transfer else { return };
        while let Some(Request { item, .. }) = transfer.poll_request(now) {
            let nonce = context.random().next_u32();
            if let Some((interest, hashes)) =
                self.names.interest(context.dialect(), context.hasher(), item, nonce)
            {
                context.send_hashed_interest(interest, hashes);
            }
        }
        while transfer.poll_failure().is_some() {}
        if self.completed_at.is_none() && transfer.is_complete() {
            self.completed_at = Some(now);
        }
        let allowance = transfer.allowance();
        for (what, value, shown) in [
            ("rate", allowance.rate, &mut self.shown.rate),
            ("window", allowance.window, &mut self.shown.window),
        ] {
            if value.is_finite() && value != *shown {
                *shown = value;
                context.note_value(what, value);
            }
        }
        context.wake_at(transfer.next_deadline().unwrap_or(Instant::NEVER));
    }
}

impl Application for TransferConsumer {
    fn start(&mut self, context: &mut Context<'_>) {
        context.wake_at(Instant::ZERO + self.start_at);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        match &mut self.transfer {
            Some(transfer) => transfer.handle_timeout(now),
            None => {
                let mut transfer = Transfer::new(&self.config, now, context.random().next_u64());
                if let Some(items) = self.items {
                    transfer.set_end(items);
                }
                self.transfer = Some(transfer);
            }
        }
        self.go_on(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = context.now();
        let (Some(transfer), Some(item)) = (&mut self.transfer, number_of(data.name())) else { return };
        if transfer.handle_data(now, item, Arrival::from(header)) == DataOutcome::Wanted {
            transfer.confirm(item);
            self.packet_bytes += data.wire().len() as u64;
            let last = transfer.round_trip().latest().unwrap_or_default();
            let hops = context.hops();
            context.note_delay(Delay { number: item, last, full: last, attempts: 1, hops });
        }
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = context.now();
        let (Some(transfer), Some(item)) = (&mut self.transfer, number_of(interest.name())) else { return };
        transfer.handle_nack(now, item, reason);
        self.go_on(context);
    }

    fn sample(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some(transfer) = &self.transfer {
            sample(transfer, show);
        }
    }
}

/// The state of a controller and what it works with.
fn sample(transfer: &Transfer, show: &mut dyn FnMut(&'static str, f64)) {
    let allowance = transfer.allowance();
    for (what, value) in [("window", allowance.window), ("rate", allowance.rate)] {
        if value.is_finite() {
            show(what, value);
        }
    }
    show("in_flight", transfer.in_flight().into());
    show("data", transfer.counters().data as f64);
    if let Some(smoothed) = transfer.round_trip().smoothed() {
        show("round_trip_s", smoothed.as_secs_f64());
    }
}

/// Fetches one object, and throws its content away unless told to keep it.
#[derive(Debug)]
pub struct FileFetcher {
    name: Name,
    config: FetchConfig,
    start_at: Duration,
    keep: bool,
    content: Vec<u8>,
    fetcher: Option<Fetcher>,
    completed_at: Option<Instant>,
}

impl FileFetcher {
    /// Fetches the object of this name, with or without its version, in the dialect of the face that it is
    /// behind, whatever `config` says of it.
    ///
    /// # Errors
    /// Not a name.
    pub fn new(name: impl IntoName, config: FetchConfig) -> Result<Self, SimError> {
        Ok(FileFetcher {
            name: name.into_name()?,
            config,
            start_at: Duration::ZERO,
            keep: false,
            content: Vec::new(),
            fetcher: None,
            completed_at: None,
        })
    }

    /// Beginning at this time, on the clock of its node.
    pub fn start_at(self, start_at: Duration) -> Self {
        FileFetcher { start_at, ..self }
    }

    /// Keeping the content.
    pub fn keep_content(self) -> Self {
        FileFetcher { keep: true, ..self }
    }

    /// The content so far, if it is kept.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// The fetch; `None` before it has begun.
    pub fn fetcher(&self) -> Option<&Fetcher> {
        self.fetcher.as_ref()
    }

    /// When the object was complete, on the clock of its node.
    pub fn completed_at(&self) -> Option<Instant> {
        self.completed_at
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(fetcher) = &mut self.fetcher else { return };
        while let Some(segment) = fetcher.poll_content() {
            if self.keep {
                self.content.extend_from_slice(segment.data.content());
            }
        }
        while let Some(interest) = fetcher.poll_transmit(now) {
            context.send_interest(interest);
        }
        if self.completed_at.is_none() && fetcher.is_complete() {
            self.completed_at = Some(now);
        }
        context.wake_at(fetcher.next_deadline().unwrap_or(Instant::NEVER));
    }
}

impl Application for FileFetcher {
    fn start(&mut self, context: &mut Context<'_>) {
        context.wake_at(Instant::ZERO + self.start_at);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let seed = match self.fetcher {
            None => context.random().next_u64(),
            Some(_) => 0,
        };
        match &mut self.fetcher {
            Some(fetcher) => fetcher.handle_timeout(now),
            None => {
                let config = FetchConfig { dialect: context.dialect(), ..self.config.clone() };
                self.fetcher = Some(Fetcher::new(self.name.clone(), config, now, seed));
            }
        }
        self.go_on(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = context.now();
        if let Some(fetcher) = &mut self.fetcher {
            fetcher.receive_data(now, data.clone(), header);
        }
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = context.now();
        if let Some(fetcher) = &mut self.fetcher {
            fetcher.receive_nack(now, interest.name(), reason);
        }
        self.go_on(context);
    }

    fn sample(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some(fetcher) = &self.fetcher {
            sample(fetcher.transfer(), show);
        }
    }
}
