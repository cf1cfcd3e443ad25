//! A face for each port.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::SILENT;
use crate::pace::Spent;
use crate::wire::Template;

/// More than strangers may have faces by default.
const PORTS: usize = 11_000;

/// Thousands of ports of one address, each with a good Interest now and then.
#[derive(Default)]
pub(super) struct SourcePorts {
    ports: Ports,
    interest: Option<Template>,
    sent: u64,
}

impl Attack for SourcePorts {
    fn name(&self) -> &'static str {
        "source-ports"
    }

    fn about(&self) -> &'static str {
        "11,000 ports of one address, each with good Interests"
    }

    fn begin(&mut self, _: &mut Field) -> io::Result<()> {
        self.interest = Some(Template::interest(SILENT, |interest| interest)?);
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let Some(interest) = &self.interest else { return Ok(Spent::default()) };
        // All ports are opened as fast as may be; then each speaks again in turn.
        for _ in 0..room {
            if self.ports.count() < PORTS.min(field.descriptors) {
                // Out of descriptors, it goes on with those it has.
                let _ = self.ports.add(field.node);
            }
        }
        let packets = (0..room).map(|_| {
            self.sent += 1;
            interest.fresh(1 << 40 | self.sent, &mut field.random)
        });
        let packets: Vec<Vec<u8>> = packets.collect();
        Ok(self.ports.scatter(&packets))
    }
}
