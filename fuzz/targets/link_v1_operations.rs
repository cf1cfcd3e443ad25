//! NDNLP version 1 over a bad link; see `cairn_fuzz::bad_link` for what must hold.

#![no_main]

use arbitrary::Arbitrary;
use cairn_fuzz::bad_link::{self, Delivered, LinkEnd, Plan, Request, Totals};
use link::v1::{Config, LinkService, MIN_MTU_BYTES, Timings};
use packet::Buffer;
use packet::random::Random;
use packet::time::Instant;

libfuzzer_sys::fuzz_target!(|plan: Plan<Options>| bad_link::run::<End>(&plan));

#[derive(Debug, Arbitrary)]
struct Options {
    /// Added to the smallest MTU; none for a stream.
    mtu_above_minimum: Option<u8>,
    request_acks: bool,
    retry_count: u8,
    /// Small, so that limits are met.
    limit: u8,
    sent_packets_capacity: u8,
    max_preallocated_bytes: u16,
}

impl Options {
    fn config(&self) -> Config {
        let limit = usize::from(self.limit) + 1;
        Config {
            mtu_bytes: self.mtu_above_minimum.map(|bytes| MIN_MTU_BYTES + usize::from(bytes)),
            request_acks: self.request_acks,
            timings: Timings {
                sent_packets_capacity: self.sent_packets_capacity.into(),
                retry_count: self.retry_count.into(),
                ..Timings::PAPER
            },
            max_partial_messages: limit,
            max_partial_bytes: limit * 1000,
            max_preallocated_bytes: self.max_preallocated_bytes.into(),
            max_pending_acks: limit,
            max_recent_sequences: limit * 2,
            max_outgoing_messages: limit,
            max_deliveries: limit,
            ..Config::default()
        }
    }
}

struct End(LinkService);

impl LinkEnd for End {
    type Options = Options;

    fn new(options: &Options, seed: u64) -> Self {
        End(LinkService::new(options.config(), Random::from_seed(seed)).expect("the parameters make sense"))
    }

    fn reconfigure(&mut self, _options: &Options) {}

    fn send(&mut self, now: Instant, request: &Request) -> (Vec<u8>, bool) {
        let message = request.content();
        let accepted = self.0.send(now, Buffer::copy_from(&message)).is_ok();
        (message, accepted)
    }

    fn receive(&mut self, now: Instant, frame: &[u8]) -> bool {
        self.0.receive(now, frame).is_ok()
    }

    fn handle_send_queue(&mut self, _queued_bytes: u64) {}

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn next_deadline(&self) -> Instant {
        self.0.next_deadline()
    }

    fn poll_transmit(&mut self, now: Instant, frames: &mut Vec<u8>) -> Option<usize> {
        self.0.poll_transmit(now, frames)
    }

    fn poll_deliver(&mut self) -> Option<Delivered> {
        self.0.poll_deliver().map(|message| Delivered::Packet(message.to_vec()))
    }

    fn mtu_bytes(&self) -> usize {
        self.0.config().mtu_bytes.unwrap_or(usize::MAX)
    }

    fn reassembles(&self) -> bool {
        true
    }

    fn is_drained(&self) -> bool {
        self.0.usage().outgoing_messages == 0 && self.0.usage().sent_packets == 0
    }

    fn totals(&self) -> Totals {
        let counters = self.0.counters();
        Totals {
            frames_in: counters.packets_in,
            frames_out: counters.packets_out,
            delivered: counters.messages_in,
            drops: self.0.drops().total(),
        }
    }

    fn check_limits(&self) {
        let (config, usage) = (self.0.config(), self.0.usage());
        assert_eq!((usage.deliveries, usage.outgoing_messages), (0, 0), "everything was taken");
        assert!(usage.partial_messages <= config.max_partial_messages);
        assert!(usage.partial_bytes <= config.max_partial_bytes);
        assert!(usage.sent_packets <= config.timings.sent_packets_capacity as usize);
        assert!(usage.pending_acks <= config.max_pending_acks);
    }
}
