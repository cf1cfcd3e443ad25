//! One end of an NDNLP v1 link connection.

use std::collections::VecDeque;

use packet::Buffer;
use packet::ccnx::ndnlp::{Flags, LinkData, LinkPacket, Sequence};
use packet::random::Random;
use packet::time::{Duration, Instant};

use super::acknowledgements::AcknowledgementQueue;
use super::config::{Config, ConfigError};
use super::outgoing::OutgoingMessage;
use super::pacing::Pacer;
use super::partial_messages::PartialMessages;
use super::sent_packets::SentPackets;
use crate::DropReason;
use crate::drop_reason::DropCounters;
use crate::recent_sequences::{Arrival, RecentSequences};

/// What a link service has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets received, good or bad.
    pub packets_in: u64,
    /// Packets handed to the transport.
    pub packets_out: u64,
    /// Messages delivered.
    pub messages_in: u64,
    /// Messages accepted for sending.
    pub messages_out: u64,
    /// Messages put together from several packets.
    pub reassembled: u64,
    /// Packets that the peer acknowledged while they waited for it.
    pub acks_in: u64,
    /// Packets acknowledged to the peer.
    pub acks_out: u64,
    /// Acknowledgement packets received.
    pub ack_packets_in: u64,
    /// Acknowledgement packets sent.
    pub ack_packets_out: u64,
    /// Packets sent again.
    pub retransmissions: u64,
}

/// What a link service holds at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Messages of which fragments are missing.
    pub partial_messages: usize,
    /// Bytes of memory charged for them.
    pub partial_bytes: usize,
    /// Messages to be sent.
    pub outgoing_messages: usize,
    /// Packets that await acknowledgement.
    pub sent_packets: usize,
    /// Acknowledgements to be sent.
    pub pending_acks: usize,
    /// Messages the owner has not taken.
    pub deliveries: usize,
}

/// What a message that waits is counted with beside its bytes.
const MESSAGE_OVERHEAD_BYTES: usize = 256;

/// One end of an NDNLP v1 link connection, without the socket.
///
/// **Calling order.** `now` never goes back. After every [`send`](Self::send), [`receive`](Self::receive) and
/// [`handle_timeout`](Self::handle_timeout), in whatever batches suit the owner:
///
/// 1. take packets with [`poll_transmit`](Self::poll_transmit) and messages with
///    [`poll_deliver`](Self::poll_deliver), each until there are none;
/// 2. call [`handle_timeout`](Self::handle_timeout) when [`next_deadline`](Self::next_deadline) has come.
///
/// Nobody is told of a message that was given up after all retries of one of its packets; it is counted as
/// [`DropReason::RetriesExhausted`], and whoever asked for it asks again.
///
/// **Limits.** Whatever the peer sends, memory is bounded by the limits in [`Config`]; what happens at a
/// limit stands there, and [`drops`](Self::drops) counts it.
#[derive(Debug)]
pub struct LinkService {
    config: Config,
    next_sequence: Sequence,
    outgoing: VecDeque<OutgoingMessage>,
    /// Bytes of them, each with [`MESSAGE_OVERHEAD_BYTES`] more.
    outgoing_bytes: usize,
    pacer: Option<Pacer>,
    sent: SentPackets,
    acknowledgements: AcknowledgementQueue,
    partial: PartialMessages,
    received: RecentSequences,
    deliveries: VecDeque<Buffer>,
    counters: Counters,
    drops: DropCounters,
}

impl LinkService {
    /// A service for one link connection. `random` gives the first sequence number and nothing else.
    ///
    /// # Errors
    /// When the parameters make no sense.
    pub fn new(config: Config, mut random: Random) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(LinkService {
            next_sequence: Sequence::new(config.first_sequence.unwrap_or_else(|| random.next_u64())),
            outgoing: VecDeque::new(),
            outgoing_bytes: 0,
            pacer: config.pacing.as_ref().map(Pacer::new),
            sent: SentPackets::new(&config.timings),
            acknowledgements: AcknowledgementQueue::new(
                config.max_pending_acks,
                config.timings.acknowledge_time,
            ),
            partial: PartialMessages::new(&config),
            received: RecentSequences::new(config.max_recent_sequences),
            deliveries: VecDeque::new(),
            counters: Counters::default(),
            drops: DropCounters::default(),
            config,
        })
    }

    /// The parameters in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What has been done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What has been dropped so far, and why.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    /// What is held at present.
    pub fn usage(&self) -> Usage {
        Usage {
            partial_messages: self.partial.len(),
            partial_bytes: self.partial.bytes(),
            outgoing_messages: self.outgoing.len(),
            sent_packets: self.sent.len(),
            pending_acks: self.acknowledgements.len(),
            deliveries: self.deliveries.len(),
        }
    }

    /// Accepts a message for sending.
    ///
    /// # Errors
    /// Why the message was dropped.
    pub fn send(&mut self, _now: Instant, message: Buffer) -> Result<(), DropReason> {
        let outcome = self.try_send(message);
        self.count_drop(outcome)
    }

    /// Takes in what came from the layer below: one packet, perhaps padded. Whatever comes of it is handed
    /// out by the `poll_*` methods.
    ///
    /// # Errors
    /// Why the packet, or the message it completed, was dropped. It may have been acknowledged all the same.
    pub fn receive(&mut self, now: Instant, packet: &[u8]) -> Result<(), DropReason> {
        self.counters.packets_in += 1;
        let outcome = self.try_receive(now, packet);
        self.count_drop(outcome)
    }

    /// Lets time pass: discards incomplete messages, finds packets to be sent again, lets acknowledgements
    /// go.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.partial.handle_timeout(now, &mut self.drops);
        self.acknowledgements.handle_timeout(now);
        self.sent.handle_timeout(now, &mut self.drops);
    }

    /// Appends the next packet to `packets` and gives its length, if there is one to send.
    pub fn poll_transmit(&mut self, now: Instant, packets: &mut Vec<u8>) -> Option<usize> {
        let before = packets.len();
        // What the peer waits for is small, and lets it go on.
        let is_held = self.pacer.is_some_and(|pacer| !pacer.may_send(now));
        let _ = (!is_held && (self.transmit_due(now, packets) || self.transmit_new(now, packets)))
            || self.transmit_acknowledgements(packets);
        let len = packets.len() - before;
        if len == 0 {
            return None;
        }
        self.counters.packets_out += 1;
        if let Some(pacer) = &mut self.pacer {
            pacer.note_sent(now);
        }
        Some(len)
    }

    /// The next message that arrived.
    pub fn poll_deliver(&mut self) -> Option<Buffer> {
        self.deliveries.pop_front()
    }

    /// Drops the incomplete messages, and counts them.
    pub fn evict_partial_messages(&mut self) {
        self.drops.add(DropReason::PartialEvicted, self.partial.len() as u64);
        self.partial = PartialMessages::new(&self.config);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next; [`Instant::NEVER`] if nothing
    /// waits.
    pub fn next_deadline(&self) -> Instant {
        let timers =
            self.partial.next_deadline().min(self.acknowledgements.deadline()).min(self.sent.next_deadline());
        match self.pacer {
            Some(pacer) if self.waits() => timers.min(pacer.next_turn(self.waiting_packets())),
            _ => timers,
        }
    }

    /// Bytes of the messages that wait to be sent, each with 256 bytes more.
    pub fn waiting_bytes(&self) -> usize {
        self.outgoing_bytes
    }

    /// Drops the messages that wait to be sent, and counts them.
    pub fn evict_waiting_messages(&mut self) {
        self.drops.add(DropReason::SendQueueFull, self.outgoing.len() as u64);
        self.outgoing.clear();
        self.outgoing_bytes = 0;
    }

    fn waits(&self) -> bool {
        !self.outgoing.is_empty() || self.sent.has_due()
    }

    /// At least so many packets wait.
    fn waiting_packets(&self) -> u64 {
        let first = self.outgoing.front().map_or(0, |message| u64::from(message.packets_left()));
        first + self.outgoing.len().saturating_sub(1) as u64 + u64::from(self.sent.has_due())
    }

    fn count_drop(&mut self, outcome: Result<(), DropReason>) -> Result<(), DropReason> {
        outcome.map_err(|reason| self.drops.count(reason))
    }

    fn try_send(&mut self, message: Buffer) -> Result<(), DropReason> {
        if self.outgoing.len() >= self.config.max_outgoing_messages {
            return Err(DropReason::SendQueueFull);
        }
        if message.len() > self.config.max_message_bytes {
            return Err(DropReason::PacketTooLarge);
        }
        let bytes = message.len() + MESSAGE_OVERHEAD_BYTES;
        let most = self.config.pacing.map_or(usize::MAX, |pacing| pacing.max_waiting_bytes);
        if self.outgoing_bytes + bytes > most {
            return Err(DropReason::SendQueueFull);
        }
        let flags = if self.config.request_acks { Flags::ACK_REQUESTED } else { Flags::NONE };
        let message =
            OutgoingMessage::new(message, self.next_sequence, flags, self.config.max_payload_bytes())?;
        self.next_sequence = self.next_sequence.plus(message.count().into());
        self.outgoing.push_back(message);
        self.outgoing_bytes += bytes;
        self.counters.messages_out += 1;
        Ok(())
    }

    fn transmit_due(&mut self, now: Instant, packets: &mut Vec<u8>) -> bool {
        let Some(packet) = self.sent.poll_due(now) else { return false };
        packet.data().encode_into(packets);
        self.counters.retransmissions += 1;
        true
    }

    fn transmit_new(&mut self, now: Instant, packets: &mut Vec<u8>) -> bool {
        while let Some(message) = self.outgoing.front_mut() {
            // A message has at least one packet, and goes with its last.
            let Some(packet) = message.next_packet() else {
                self.outgoing.pop_front();
                continue;
            };
            packet.data().encode_into(packets);
            if packet.fragment.is_last() {
                self.outgoing.pop_front();
                self.outgoing_bytes -= packet.message.len() + MESSAGE_OVERHEAD_BYTES;
            }
            if packet.requests_ack() {
                self.sent.insert(now, packet, &mut self.drops);
            }
            return true;
        }
        false
    }

    fn transmit_acknowledgements(&mut self, packets: &mut Vec<u8>) -> bool {
        let mtu_bytes = self.config.mtu_bytes.unwrap_or(STREAM_ACK_BYTES);
        let Some(count) = self.acknowledgements.transmit(mtu_bytes, packets) else { return false };
        self.counters.acks_out += count as u64;
        self.counters.ack_packets_out += 1;
        true
    }

    fn try_receive(&mut self, now: Instant, packet: &[u8]) -> Result<(), DropReason> {
        match LinkPacket::decode(packet).map_err(|_| DropReason::MalformedFrame)? {
            LinkPacket::Data(data) => self.receive_data(now, &data),
            LinkPacket::Ack(ack) => {
                self.counters.ack_packets_in += 1;
                let news: usize = ack.blocks().map(|block| self.sent.acknowledge(block)).sum();
                self.counters.acks_in += news as u64;
                Ok(())
            }
        }
    }

    fn receive_data(&mut self, now: Instant, data: &LinkData<'_>) -> Result<(), DropReason> {
        // Before anything else, for the sender wants to know that the packet came, not that it was of use.
        if data.flags.ack_requested() && !self.acknowledgements.push(now, data.sequence) {
            return Err(DropReason::AckQueueFull);
        }
        match self.received.observe(now, data.sequence.get(), self.retransmission_span()) {
            Arrival::New => {}
            Arrival::NewAtLimit => {
                self.drops.count(DropReason::RecentSequencesFull);
            }
            Arrival::Repeated => return Err(DropReason::DuplicateFrame),
        }
        if data.fragment.count == 1 && data.fragment.is_possible() {
            return self.deliver(Buffer::copy_from(data.payload));
        }
        match self.partial.receive(now, data, &mut self.drops)? {
            None => Ok(()),
            Some(message) => {
                self.counters.reassembled += 1;
                self.deliver(message)
            }
        }
    }

    /// How long the peer may go on sending a packet again, judged by this end's parameters.
    fn retransmission_span(&self) -> Duration {
        self.config.timings.retransmit_time * (u64::from(self.config.timings.retry_count) + 1)
    }

    fn deliver(&mut self, message: Buffer) -> Result<(), DropReason> {
        if message.is_empty() {
            return Err(DropReason::MalformedPacket);
        }
        if message.len() > self.config.max_message_bytes {
            return Err(DropReason::PacketTooLarge);
        }
        if self.deliveries.len() >= self.config.max_deliveries {
            return Err(DropReason::DeliveryQueueFull);
        }
        self.counters.messages_in += 1;
        self.deliveries.push_back(message);
        Ok(())
    }
}

/// The longest acknowledgement packet on a stream.
const STREAM_ACK_BYTES: usize = 8800;
