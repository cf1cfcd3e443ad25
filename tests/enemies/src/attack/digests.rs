//! Data whose digest has to be computed.

use std::io;
use std::time::{Duration, Instant};

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::SILENT;
use crate::pace::Spent;
use crate::wire::Template;

const NAMES: u64 = 64;
/// The content of a Data that nearly fills a packet.
const CONTENT: usize = 8600;

/// Interests for digests that no Data has are pending, and large Data with these names come one after
/// another.
#[derive(Default)]
pub(super) struct Digests {
    ports: Ports,
    interests: Vec<Template>,
    data: Option<Template>,
    asked: Option<Instant>,
    sent: u64,
}

impl Attack for Digests {
    fn name(&self) -> &'static str {
        "digests"
    }

    fn about(&self) -> &'static str {
        "Interests for digests that no Data has pending, then large Data with these names"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(1, field.node)?;
        let lifetime = packet::time::Duration::from_secs(60);
        for digest in 0..4 {
            let template =
                Template::interest_with_digest(SILENT, &[digest; 32], |interest| interest.lifetime(lifetime));
            self.interests.push(template?);
        }
        self.data = Some(Template::data(SILENT, vec![0x44; CONTENT])?);
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let Some(data) = &self.data else { return Ok(Spent::default()) };
        if self.asked.is_none_or(|asked| asked.elapsed() > Duration::from_secs(1)) {
            self.asked = Some(Instant::now());
            let mut packets = Vec::new();
            for number in 0..NAMES {
                let ask = |interest: &Template| interest.fresh(number, &mut field.random);
                packets.extend(self.interests.iter().map(ask));
            }
            return Ok(self.ports.volley(&packets));
        }
        let packets = (0..(room / 6).max(1)).map(|_| {
            self.sent += 1;
            data.stamp(self.sent % NAMES, 0)
        });
        let packets: Vec<Vec<u8>> = packets.collect();
        Ok(self.ports.volley(&packets))
    }
}
