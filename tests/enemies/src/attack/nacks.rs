//! Nacks that nobody waits for.

use std::io;

use packet::NackReason;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::{LOCAL, REMOTE};
use crate::pace::Spent;
use crate::wire::Template;

/// Refuses what others ask for, with every reason.
#[derive(Default)]
pub(super) struct Nacks {
    ports: Ports,
    nacks: Vec<(&'static str, Template)>,
    turn: u64,
}

impl Attack for Nacks {
    fn name(&self) -> &'static str {
        "nacks"
    }

    fn about(&self) -> &'static str {
        "Nacks for what others ask for and for names nobody asked for"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(2, field.node)?;
        for prefix in [LOCAL, REMOTE, "/nobody/asked"] {
            let interest = Template::interest(prefix, |interest| interest)?;
            for reason in [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute] {
                self.nacks.push((prefix, Template::nack(&interest, reason)));
            }
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let mut packets = Vec::with_capacity(room);
        for (prefix, nack) in self.nacks.iter().cycle().take(room) {
            self.turn += 1;
            let number = field.honest.next(prefix).saturating_sub(1) + self.turn % 4;
            packets.push(nack.fresh(number, &mut field.random));
        }
        Ok(self.ports.volley(&packets))
    }
}
