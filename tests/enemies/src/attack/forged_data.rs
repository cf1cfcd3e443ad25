//! Answers from somebody who was not asked.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::{LOCAL, REMOTE};
use crate::pace::Spent;
use crate::wire::Template;

/// Answers what honest people ask for, and will ask for next, before the producer does.
#[derive(Default)]
pub(super) struct ForgedData {
    ports: Ports,
    data: Vec<(&'static str, Template)>,
    turn: u64,
}

impl Attack for ForgedData {
    fn name(&self) -> &'static str {
        "forged-data"
    }

    fn about(&self) -> &'static str {
        "forged answers to what others ask for, from a face that was not asked"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(1, field.node)?;
        for prefix in [LOCAL, REMOTE] {
            self.data.push((prefix, Template::data(prefix, b"forged".to_vec())?));
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let mut packets = Vec::with_capacity(room);
        while packets.len() < room && !self.data.is_empty() {
            self.turn += 1;
            for (prefix, data) in &self.data {
                // The one on its way and the next three.
                let number = field.honest.next(prefix).saturating_sub(1) + self.turn % 4;
                packets.push(data.stamp(number, 0));
            }
        }
        packets.truncate(room);
        Ok(self.ports.volley(&packets))
    }
}
