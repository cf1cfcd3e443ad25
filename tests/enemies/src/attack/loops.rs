//! The same Interest from everywhere.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::{REMOTE, SILENT};
use crate::pace::Spent;
use crate::wire::Template;

const PORTS: usize = 8;

/// Each Interest comes by eight ports with one nonce, as if it went in circles; some have names that others
/// will ask for.
#[derive(Default)]
pub(super) struct Loops {
    ports: Ports,
    interests: Vec<(&'static str, Template)>,
    sent: u64,
}

impl Attack for Loops {
    fn name(&self) -> &'static str {
        "loops"
    }

    fn about(&self) -> &'static str {
        "each Interest by eight ports with one nonce, some with names that others will ask for"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(PORTS, field.node)?;
        for prefix in [SILENT, REMOTE] {
            self.interests.push((prefix, Template::interest(prefix, |interest| interest)?));
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let mut spent = Spent::default();
        for _ in 0..room.div_ceil(PORTS) {
            self.sent += 1;
            let Some((prefix, interest)) = self.interests.get(self.sent as usize % 2) else { break };
            let number =
                if *prefix == REMOTE { field.honest.next(REMOTE) + self.sent % 8 } else { self.sent };
            let packet = interest.fresh(number, &mut field.random);
            spent.add(self.ports.scatter(&vec![packet; PORTS]));
        }
        Ok(spent)
    }
}
