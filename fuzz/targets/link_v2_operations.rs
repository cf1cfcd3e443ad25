//! NDNLPv2 over a bad link; see `cairn_fuzz::bad_link` for what must hold.

#![no_main]

use arbitrary::Arbitrary;
use cairn_fuzz::bad_link::{self, Delivered, LinkEnd, Plan, Request, Totals};
use link::v2::{
    Config, EndpointId, FragmentationConfig, LinkService, MIN_MTU_BYTES, MIN_STOCK_BUFFER_BYTES,
    PacingConfig, ReassemblyConfig, ReliabilityConfig,
};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::Instant;
use packet::{Buffer, LinkHeader, NackReason, PitToken};

libfuzzer_sys::fuzz_target!(|plan: Plan<Options>| bad_link::run::<End>(&plan));

#[derive(Debug, Arbitrary)]
struct Options {
    /// Added to the smallest MTU; none for a stream.
    mtu_above_minimum: Option<u8>,
    fragments: bool,
    reassembles: bool,
    repeats_lost_frames: bool,
    paces: bool,
    probes: bool,
    /// Small, so that limits are met.
    limit: u8,
    self_learning: bool,
    local_fields: bool,
}

impl Options {
    fn config(&self) -> Config {
        let limit = usize::from(self.limit) + 1;
        Config {
            transport_mtu_bytes: self.mtu_above_minimum.map(|bytes| MIN_MTU_BYTES + usize::from(bytes)),
            fragmentation: self.fragments.then(FragmentationConfig::default),
            reassembly: self.reassembles.then(|| ReassemblyConfig {
                max_partial_packets: limit,
                max_partial_bytes: limit * 1000,
                ..ReassemblyConfig::default()
            }),
            reliability: self.repeats_lost_frames.then(|| ReliabilityConfig {
                max_unacknowledged_frames: limit * 2,
                max_pending_acks: limit,
                max_recent_sequences: limit * 2,
                ..ReliabilityConfig::default()
            }),
            pacing: self.paces.then(|| PacingConfig {
                stock_buffer_bytes: MIN_STOCK_BUFFER_BYTES + limit as u64 * 1000,
                receive_capacity_bytes: (limit as u64) << 16,
                max_waiting_bytes: limit * 1000,
                probe_path_mtu: self.probes,
            }),
            max_outgoing_packets: limit,
            max_deliveries: limit,
            self_learning: self.self_learning,
            local_fields: self.local_fields,
            ..Config::default()
        }
    }
}

struct End {
    service: LinkService,
    /// The largest limits of packets that wait, and of their bytes, so far: what waits when they are lowered
    /// stays.
    most_waiting: (usize, usize),
}

impl End {
    fn note_limits(&mut self) {
        let config = self.service.config();
        let Some(pacing) = &config.pacing else { return };
        // The packet that reaches the limit was let in.
        let bytes = pacing.max_waiting_bytes + config.max_packet_bytes + 256;
        let (packets, most_bytes) = self.most_waiting;
        self.most_waiting = (packets.max(config.max_outgoing_packets), most_bytes.max(bytes));
    }
}

impl LinkEnd for End {
    type Options = Options;

    fn new(options: &Options, seed: u64) -> Self {
        let service = LinkService::new(options.config(), Random::from_seed(seed));
        let mut end = End { service: service.expect("the parameters make sense"), most_waiting: (0, 0) };
        end.note_limits();
        end
    }

    fn reconfigure(&mut self, options: &Options) {
        self.service.set_config(options.config()).expect("the parameters make sense");
        self.note_limits();
    }

    fn send(&mut self, now: Instant, request: &Request) -> (Vec<u8>, bool) {
        let mut packet = Vec::new();
        let kind =
            if request.variety & 1 == 0 { packet::ndn::types::INTEREST } else { packet::ndn::types::DATA };
        tlv::write_element(&mut packet, kind, &request.content());
        let token = vec![7; usize::from(request.variety >> 2) % (PitToken::MAX_BYTES + 1)];
        let header =
            LinkHeader { pit_token: PitToken::new(&token).expect("not too long"), ..LinkHeader::default() };
        let nack = (request.variety & 3 == 2).then_some(NackReason::NoRoute);
        let accepted = self.service.send(now, header, nack, Buffer::copy_from(&packet)).is_ok();
        (packet, accepted)
    }

    fn receive(&mut self, now: Instant, frame: &[u8]) -> bool {
        self.service.receive(now, EndpointId(0), frame).is_ok()
    }

    fn handle_send_queue(&mut self, queued_bytes: u64) {
        self.service.handle_send_queue(Some(queued_bytes));
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.service.handle_timeout(now);
    }

    fn next_deadline(&self) -> Instant {
        self.service.next_deadline()
    }

    fn poll_transmit(&mut self, now: Instant, frames: &mut Vec<u8>) -> Option<usize> {
        self.service.poll_transmit(now, frames)
    }

    fn poll_deliver(&mut self) -> Option<Delivered> {
        let packet = self.service.poll_deliver()?.packet.to_vec();
        // An end without pacing takes a request for an echo for an Interest.
        let is_request =
            packet.get(4..).is_some_and(|name| name.starts_with(b"\x08\x08localhop\x08\x0acairn-echo"));
        Some(if is_request { Delivered::OfTheLink } else { Delivered::Packet(packet) })
    }

    fn mtu_bytes(&self) -> usize {
        self.service.config().effective_mtu_bytes().unwrap_or(usize::MAX)
    }

    fn reassembles(&self) -> bool {
        self.service.config().reassembly.is_some()
    }

    fn is_drained(&self) -> bool {
        self.service.usage().outgoing_packets == 0
    }

    fn totals(&self) -> Totals {
        let counters = self.service.counters();
        Totals {
            frames_in: counters.frames_in,
            frames_out: counters.frames_out,
            delivered: counters.packets_in,
            drops: self.service.drops().total(),
        }
    }

    fn check_limits(&self) {
        let (config, usage) = (self.service.config(), self.service.usage());
        assert_eq!(usage.deliveries, 0);
        if let Some(reassembly) = &config.reassembly {
            assert!(usage.partial_packets <= reassembly.max_partial_packets);
            assert!(usage.partial_bytes <= reassembly.max_partial_bytes);
        }
        match &config.reliability {
            Some(reliability) => {
                assert!(usage.unacknowledged_frames <= reliability.max_unacknowledged_frames);
                let most_bytes = reliability.max_unacknowledged_bytes + self.service.waiting_bytes();
                assert!(usage.outgoing_bytes <= most_bytes);
                assert!(usage.pending_acks <= reliability.max_pending_acks);
            }
            None if config.pacing.is_none() => {
                assert_eq!(usage.outgoing_packets, 0, "all frames were taken, and none waits for an Ack");
            }
            None => {}
        }
        if config.pacing.is_some() {
            let (packets, bytes) = self.most_waiting;
            assert!(usage.waiting_packets <= packets);
            assert!(self.service.waiting_bytes() <= bytes);
        }
    }
}
