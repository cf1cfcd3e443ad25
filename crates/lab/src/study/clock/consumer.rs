//! A consumer that asks for one item after the other at the pace of a transfer.

use engine::LeakyBucket;
use flow::{Arrival, Transfer, TransferConfig};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use sim::{Application, Context, NumberedNames, number_of};

/// Asks for `prefix`/seq=0, 1, 2 … without end.
#[derive(Debug)]
pub(super) struct PacedConsumer {
    names: NumberedNames,
    config: TransferConfig,
    seed: u64,
    starts_at: Instant,
    transfer: Option<Transfer>,
    recording: Option<Recording>,
}

/// What the figures of one consumer are drawn from.
#[derive(Debug)]
pub(super) struct Recording {
    /// When each Interest left, and for which item.
    pub(super) sequence: Vec<(Instant, u64)>,
    /// The rate whenever it may have changed.
    pub(super) rate: Vec<(Instant, f64)>,
    /// How full the bucket in the consumer's node was after each Interest.
    pub(super) depth: Vec<(Instant, u32)>,
    /// The same bucket as the one in the node's engine, given the same Interests.
    bucket: LeakyBucket,
    /// What our bucket would refuse and the engine's has not refused yet.
    expected_nacks: u64,
    /// Nacks that our bucket cannot explain: nothing but those that came from further away.
    pub(super) unexplained_nacks: u64,
}

impl PacedConsumer {
    pub(super) fn new(prefix: Name, config: TransferConfig, starts_at: Instant, seed: u64) -> Self {
        let names = NumberedNames::new(prefix, Duration::from_secs(4));
        PacedConsumer { names, config, seed, starts_at, transfer: None, recording: None }
    }

    /// Records everything. `bucket` is one like that of the consumer's node.
    pub(super) fn record(mut self, bucket: LeakyBucket) -> Self {
        self.recording = Some(Recording {
            sequence: Vec::new(),
            rate: Vec::new(),
            depth: Vec::new(),
            bucket,
            expected_nacks: 0,
            unexplained_nacks: 0,
        });
        self
    }

    pub(super) fn transfer(&self) -> Option<&Transfer> {
        self.transfer.as_ref()
    }

    pub(super) fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    fn send(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(transfer) = &mut self.transfer else { return };
        while let Some(request) = transfer.poll_request(now) {
            let nonce = context.random().next_u32();
            if let Some((interest, hashes)) =
                self.names.interest(context.dialect(), context.hasher(), request.item, nonce)
            {
                context.send_hashed_interest(interest, hashes);
            }
            if let Some(recording) = &mut self.recording {
                recording.sequence.push((now, request.item));
                if !recording.bucket.put(now) {
                    recording.expected_nacks += 1;
                }
                recording.depth.push((now, recording.bucket.held(now)));
            }
        }
        while transfer.poll_failure().is_some() {}
        context
            .wake_at(transfer.next_deadline().unwrap_or(Instant::NEVER).max(now + Duration::from_nanos(1)));
    }

    fn note_rate(&mut self, now: Instant) {
        if let (Some(recording), Some(transfer)) = (&mut self.recording, &self.transfer) {
            recording.rate.push((now, transfer.allowance().rate));
            recording.depth.push((now, recording.bucket.held(now)));
        }
    }
}

impl Application for PacedConsumer {
    fn start(&mut self, context: &mut Context<'_>) {
        context.wake_at(self.starts_at);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        match &mut self.transfer {
            Some(transfer) => transfer.handle_timeout(now),
            None => {
                self.transfer = Some(Transfer::new(&self.config, now, self.seed));
                self.note_rate(now);
            }
        }
        self.send(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = context.now();
        if let (Some(transfer), Some(item)) = (&mut self.transfer, number_of(data.name())) {
            transfer.handle_data(now, item, Arrival::from(header));
            transfer.confirm(item);
        }
        self.note_rate(now);
        self.send(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = context.now();
        if let (Some(transfer), Some(item)) = (&mut self.transfer, number_of(interest.name())) {
            transfer.handle_nack(now, item, reason);
        }
        if let Some(recording) = &mut self.recording {
            match recording.expected_nacks.checked_sub(1) {
                Some(rest) => recording.expected_nacks = rest,
                None => recording.unexplained_nacks += 1,
            }
        }
        self.note_rate(now);
        self.send(context);
    }
}
