//! Interests for names that there are not.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::SILENT;
use crate::pace::Spent;
use crate::wire::{TEN_DAYS, Template};

/// As many names as there is room for, of which most stay pending.
#[derive(Default)]
pub(super) struct InterestFlood {
    ports: Ports,
    interests: Vec<Template>,
    sent: u64,
}

impl Attack for InterestFlood {
    fn name(&self) -> &'static str {
        "interest-flood"
    }

    fn about(&self) -> &'static str {
        "Interests for one name after another, most of them pending for ten days, some without a route"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(4, field.node)?;
        for prefix in [SILENT, SILENT, SILENT, "/no/route"] {
            self.interests.push(Template::interest(prefix, |interest| interest.lifetime(TEN_DAYS))?);
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let packets = self.interests.iter().cycle().take(room).zip(self.sent..);
        let packets: Vec<Vec<u8>> =
            packets.map(|(interest, number)| interest.fresh(number, &mut field.random)).collect();
        self.sent += room as u64;
        Ok(self.ports.volley(&packets))
    }
}
