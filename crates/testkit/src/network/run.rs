//! Letting time pass.

use engine::{Outgoing, Transmit};
use packet::time::{Duration, Instant};
use packet::{LinkHeader, NameRef};
use thiserror::Error;

use super::consumer::Consumer;
use super::link::{Arrival, End, Link};
use super::node::Peer;
use super::producer::Producer;
use super::trace::Sent;
use super::{Network, NodeId};

/// Why a run ended before what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("stuck at {at}: {reason}")]
pub struct Stuck {
    /// Why.
    pub reason: StuckReason,
    /// When.
    pub at: Instant,
}

/// See [`Stuck`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StuckReason {
    /// The time is over.
    #[error("the time is over")]
    TimeLimit,
    /// Nothing is left to happen.
    #[error("nothing is left to happen")]
    Quiet,
    /// So much happened at one instant that it will hardly ever end.
    #[error("time stands still")]
    TimeStandsStill,
}

/// Things that may happen at one instant.
const MAX_TURNS_AT_ONE_INSTANT: u64 = 100_000;

impl Network {
    /// Lets time pass until `done`.
    ///
    /// # Errors
    /// It does not come to that within `limit`.
    pub fn run_until(
        &mut self,
        mut done: impl FnMut(&Network) -> bool,
        limit: Duration,
    ) -> Result<(), Stuck> {
        let end = self.now + limit;
        loop {
            self.settle()?;
            if done(self) {
                return Ok(());
            }
            let next = self.next_deadline();
            if next == Instant::NEVER {
                return Err(self.stuck(StuckReason::Quiet));
            }
            if next > end {
                self.pass_to(end);
                return Err(self.stuck(StuckReason::TimeLimit));
            }
            self.pass_to(next);
            self.wake();
        }
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// Time stands still.
    pub fn run_for(&mut self, span: Duration) -> Result<(), Stuck> {
        let end = self.now + span;
        match self.run_until(|_| false, span) {
            Err(Stuck { reason: StuckReason::TimeStandsStill, at }) => {
                Err(Stuck { reason: StuckReason::TimeStandsStill, at })
            }
            _ => {
                self.pass_to(end);
                Ok(())
            }
        }
    }

    /// Lets time pass until nothing is left to happen.
    ///
    /// # Errors
    /// Something is, after `limit`.
    pub fn run_until_quiet(&mut self, limit: Duration) -> Result<(), Stuck> {
        match self.run_until(|_| false, limit) {
            Err(Stuck { reason: StuckReason::Quiet, .. }) => Ok(()),
            other => other,
        }
    }

    fn stuck(&self, reason: StuckReason) -> Stuck {
        Stuck { reason, at: self.now }
    }

    fn pass_to(&mut self, at: Instant) {
        if at > self.now {
            self.now = at;
            self.turns_at_this_instant = 0;
        }
    }

    fn next_deadline(&self) -> Instant {
        let nodes = self.nodes.iter().map(|node| node.engine.next_deadline());
        let links = self.links.iter().map(Link::next_deadline);
        let consumers = self.consumers.iter().map(Consumer::next_deadline);
        let producers = self.producers.iter().map(Producer::next_deadline);
        nodes.chain(links).chain(consumers).chain(producers).min().unwrap_or(Instant::NEVER)
    }

    /// Tells all who asked for it that their time has come.
    fn wake(&mut self) {
        for node in &mut self.nodes {
            if node.engine.next_deadline() <= self.now {
                node.engine.advance(self.now);
            }
        }
        for link in &mut self.links {
            link.handle_timeout(self.now);
        }
        for consumer in &mut self.consumers {
            consumer.handle_timeout(self.now);
        }
    }

    /// Moves everything that can move at this instant.
    fn settle(&mut self) -> Result<(), Stuck> {
        loop {
            self.turns_at_this_instant += 1;
            if self.turns_at_this_instant > MAX_TURNS_AT_ONE_INSTANT {
                return Err(self.stuck(StuckReason::TimeStandsStill));
            }
            let mut moved = self.settle_applications();
            for node in 0..self.nodes.len() {
                while let Some(transmit) = self.nodes[node].engine.poll_transmit() {
                    self.carry(node, transmit);
                    moved = true;
                }
                while let Some(event) = self.nodes[node].engine.poll_event() {
                    self.nodes[node].events.push(event);
                }
            }
            for link in 0..self.links.len() {
                for (end, arrival) in self.links[link].settle(self.now, link, &mut self.trace) {
                    self.arrive(self.links[link].ends[end], arrival);
                    moved = true;
                }
            }
            if !moved {
                return Ok(());
            }
        }
    }

    fn settle_applications(&mut self) -> bool {
        let mut moved = false;
        for number in 0..self.consumers.len() {
            while let Some((interest, header)) = self.consumers[number].poll_interest(self.now) {
                let Consumer { node, port, .. } = self.consumers[number];
                let arrival = Arrival::Packet { packet: Outgoing::Interest(interest), header };
                self.arrive(End { node, port }, arrival);
                moved = true;
            }
        }
        for number in 0..self.producers.len() {
            while let Some(reply) = self.producers[number].poll_reply(self.now) {
                let Producer { node, port, .. } = self.producers[number];
                let arrival = Arrival::Packet { packet: Outgoing::Data(reply.data), header: reply.header };
                self.arrive(End { node, port }, arrival);
                moved = true;
            }
        }
        moved
    }

    /// Hands something to the engine behind a port, if the port has a face.
    fn arrive(&mut self, End { node, port }: End, arrival: Arrival) {
        let node = &mut self.nodes[node];
        let Some(face) = node.ports[port].face else { return };
        let engine = &mut node.engine;
        let hash = |engine: &engine::Engine, dialect, name: NameRef<'_>| {
            engine.hasher().hash(dialect, name.components())
        };
        match arrival {
            Arrival::Packet { packet: Outgoing::Interest(interest), header } => {
                let hashes = hash(engine, interest.dialect(), interest.name());
                engine.receive_interest(self.now, face, interest, &hashes, &header);
            }
            Arrival::Packet { packet: Outgoing::Data(data), header } => {
                let hashes = hash(engine, data.dialect(), data.name());
                engine.receive_data(self.now, face, data, &hashes, &header);
            }
            Arrival::Packet { packet: Outgoing::Nack(interest, reason), .. } => {
                let hashes = hash(engine, interest.dialect(), interest.name());
                engine.receive_nack(self.now, face, &interest, reason, &hashes);
            }
            Arrival::Loss { interest } => {
                let hashes = hash(engine, interest.dialect(), interest.name());
                engine.handle_loss(self.now, face, &interest, &hashes);
            }
        }
    }

    /// Takes what an engine sends to where the face leads.
    fn carry(&mut self, number: usize, Transmit { face, packet, header }: Transmit) {
        self.trace.note_packet(Sent {
            at: self.now,
            node: NodeId(number),
            face,
            packet: packet.clone(),
            header: header.clone(),
        });
        let node = &self.nodes[number];
        let Some(&port) = node.port_of_face.get(&face) else { return };
        match node.ports[port].peer {
            Peer::Link { link, end } => self.links[link].send(self.now, end, packet, header),
            Peer::Consumer(consumer) => self.tell_consumer(consumer, &packet, &header),
            Peer::Producer(producer) => {
                if let Outgoing::Interest(interest) = packet {
                    self.producers[producer].handle_interest(self.now, &interest, header.pit_token);
                }
            }
        }
    }

    fn tell_consumer(&mut self, consumer: usize, packet: &Outgoing, header: &LinkHeader) {
        let consumer = &mut self.consumers[consumer];
        match packet {
            Outgoing::Data(data) => consumer.handle_data(self.now, data, header),
            Outgoing::Nack(interest, reason) => consumer.handle_nack(self.now, interest, *reason),
            Outgoing::Interest(_) => {}
        }
    }
}
