//! Questions for which a store has to look at much.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::STORE;
use crate::pace::Spent;
use crate::wire::{Template, name};

/// One in so many fills the store; the producer takes no more than a few thousand in a second.
const FILLS: usize = 16;

/// Fills the store with Data that is stale at once, and asks for anything fresh below their prefix.
#[derive(Default)]
pub(super) struct PrefixScans {
    ports: Ports,
    fill: Option<Template>,
    scans: Vec<Template>,
    sent: u64,
}

impl Attack for PrefixScans {
    fn name(&self) -> &'static str {
        "can-be-prefix"
    }

    fn about(&self) -> &'static str {
        "a store full of stale Data, and Interests for anything fresh below their prefix"
    }

    fn wants_store(&self) -> bool {
        true
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(4, field.node)?;
        self.fill = Some(Template::interest(STORE, |interest| interest)?);
        for fresh in [true, true, false] {
            self.scans.push(Template::interest_for(name(STORE)?, |interest| {
                interest.can_be_prefix(true).must_be_fresh(fresh)
            })?);
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let mut packets = Vec::with_capacity(room);
        for (at, scan) in self.scans.iter().cycle().take(room).enumerate() {
            self.sent += 1;
            let fill = self.fill.as_ref().filter(|_| at % FILLS == 0);
            packets.push(fill.unwrap_or(scan).fresh(self.sent, &mut field.random));
        }
        Ok(self.ports.volley(&packets))
    }
}
