//! What strangers do. Each attack is a file, and all come from one address.

mod arms;
mod can_be_prefix;
mod combined;
mod data_flood;
mod deep_names;
mod digests;
mod forged_data;
mod fragments;
mod garbage;
mod idle_connections;
mod interest_flood;
mod loops;
mod nacks;
mod registrations;
mod slow_streams;
mod source_ports;
mod variants;
mod websocket;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use packet::random::Random;

use crate::honest::Numbers;
use crate::pace::{Pacer, Spent};
use crate::stop::Stop;

/// What an attacker knows and has.
#[derive(Debug)]
pub(crate) struct Field {
    /// The victim's UDP port, and its TCP port.
    pub(crate) node: SocketAddr,
    /// The victim's WebSocket port.
    pub(crate) web: SocketAddr,
    /// What honest people will ask for next.
    pub(crate) honest: Arc<Numbers>,
    /// How many sockets each attack may open.
    pub(crate) descriptors: usize,
    pub(crate) random: Random,
}

/// One way to hurt a node.
pub(crate) trait Attack: Send {
    /// The word by which it is asked for.
    fn name(&self) -> &'static str;

    /// What it does, in a sentence.
    fn about(&self) -> &'static str;

    /// Whether it needs the producer of much content.
    fn wants_store(&self) -> bool {
        false
    }

    /// Opens sockets and makes packets; sends nothing.
    fn begin(&mut self, field: &mut Field) -> io::Result<()>;

    /// Sends about `room` packets at most, and says what it sent. Called again and again.
    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent>;
}

/// The name of the attack that is all others together.
pub(crate) const ALL: &str = "all";
/// The name of the attack on a machine with little memory.
pub(crate) const SMALL_MEMORY: &str = "small-memory";

/// Every attack by itself, in the order of the reports.
fn singles() -> Vec<Box<dyn Attack>> {
    vec![
        Box::<deep_names::DeepNames>::default(),
        Box::<variants::Variants>::default(),
        Box::<source_ports::SourcePorts>::default(),
        Box::<idle_connections::IdleConnections>::default(),
        Box::<forged_data::ForgedData>::default(),
        Box::<interest_flood::InterestFlood>::default(),
        Box::<data_flood::DataFlood>::default(),
        Box::<fragments::Fragments>::default(),
        Box::<garbage::Garbage>::default(),
        Box::<nacks::Nacks>::default(),
        Box::<slow_streams::SlowStreams>::default(),
        Box::<websocket::HalfOpenWebSockets>::default(),
        Box::<registrations::Registrations>::default(),
        Box::<loops::Loops>::default(),
        Box::<digests::Digests>::default(),
        Box::<can_be_prefix::PrefixScans>::default(),
    ]
}

/// Every attack, those together and the one on a small machine last.
pub(crate) fn every() -> Vec<Box<dyn Attack>> {
    let mut attacks = singles();
    attacks.push(Box::new(combined::Combined::new(ALL, "all of them at once, sharing the rate", singles())));
    let hungry = ["interest-flood", "source-ports", "fragments", "can-be-prefix", "slow-streams"];
    let hungry = singles().into_iter().filter(|attack| hungry.contains(&attack.name())).collect();
    let about = "what takes most memory, on a machine with 100 MB of it";
    attacks.push(Box::new(combined::Combined::new(SMALL_MEMORY, about, hungry)));
    attacks
}

/// Attacks for so long, at so many packets and bits a second at most; gives what was sent.
pub(crate) fn carry_out(
    attack: &mut dyn Attack,
    field: &mut Field,
    time: Duration,
    packets_per_second: u64,
    bits_per_second: u64,
    stop: &Stop,
) -> io::Result<Spent> {
    /// Few enough that others of this processor are not kept waiting.
    const VOLLEY: usize = 32;
    crate::ground::go_before_strangers();
    attack.begin(field)?;
    let started = Instant::now();
    let mut pacer = Pacer::new(started, packets_per_second, bits_per_second);
    let mut sent = Spent::default();
    while started.elapsed() < time && !stop.is_set() {
        let room = pacer.room(Instant::now()).min(VOLLEY);
        let spent = if room == 0 { Spent::default() } else { attack.strike(field, room)? };
        pacer.spend(spent);
        sent.add(spent);
        if spent.packets == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn no_two_attacks_have_one_name_and_all_say_what_they_do() {
        let attacks = every();
        let names: BTreeSet<&str> = attacks.iter().map(|attack| attack.name()).collect();
        assert_eq!(names.len(), attacks.len());
        assert!(attacks.iter().all(|attack| attack.about().len() > 20));
    }

    #[test]
    fn every_attack_sends_something_and_keeps_to_its_rate() {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        let node = sink.local_addr().unwrap();
        let _tcp = std::net::TcpListener::bind(node).unwrap();
        for mut attack in every() {
            let mut field = Field {
                node,
                web: node,
                honest: Arc::default(),
                descriptors: 20,
                random: Random::from_seed(1),
            };
            let time = Duration::from_millis(300);
            let sent =
                carry_out(attack.as_mut(), &mut field, time, 10_000, 100_000_000, &Stop::default()).unwrap();
            // What a volley of the largest packets may overdraw.
            assert!((1..=3000 + 50 + 32 * 6).contains(&sent.packets), "{}: {sent:?}", attack.name());
        }
    }
}
