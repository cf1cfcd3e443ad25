//! Frames with something wrong in them.

use std::io;

use packet::NackReason;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::{LOCAL, SILENT};
use crate::pace::Spent;
use crate::wire::Template;

/// Good frames of every kind, with bytes changed, cut off or doubled.
#[derive(Default)]
pub(super) struct Garbage {
    ports: Ports,
    seeds: Vec<Template>,
}

impl Attack for Garbage {
    fn name(&self) -> &'static str {
        "garbage"
    }

    fn about(&self) -> &'static str {
        "frames of every kind with bytes changed, cut off or doubled"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(4, field.node)?;
        let interest = Template::interest(SILENT, |interest| interest.can_be_prefix(true).hop_limit(9))?;
        let nack = Template::nack(&interest, NackReason::NoRoute);
        self.seeds = vec![interest, nack, Template::data(LOCAL, vec![1; 60])?];
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let random = &mut field.random;
        let mut packets = Vec::with_capacity(room);
        for seed in self.seeds.iter().cycle().take(room) {
            let mut packet = seed.fresh(random.next_u64(), random);
            for _ in 0..=random.below(3) {
                let at = random.below(packet.len() as u64) as usize;
                if let Some(byte) = packet.get_mut(at) {
                    *byte = random.next_u32() as u8;
                }
            }
            match random.below(8) {
                0 => packet.truncate(random.below(packet.len() as u64) as usize),
                1 => packet.extend_from_within(..),
                _ => {}
            }
            packets.push(packet);
        }
        Ok(self.ports.volley(&packets))
    }
}
