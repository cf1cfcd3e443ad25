//! Data that nobody asked for.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::HONEST;
use crate::pace::Spent;
use crate::wire::Template;

/// Small Data and large Data, each with another name.
#[derive(Default)]
pub(super) struct DataFlood {
    ports: Ports,
    data: Vec<Template>,
    sent: u64,
}

impl Attack for DataFlood {
    fn name(&self) -> &'static str {
        "data-flood"
    }

    fn about(&self) -> &'static str {
        "Data that nobody asked for, small and large, each with another name"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(4, field.node)?;
        for (prefix, bytes) in [("/nobody/asked", 10), ("/honest/none", 10), (HONEST, 10), ("/nobody", 1300)]
        {
            self.data.push(Template::data(prefix, vec![0x46; bytes])?);
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let packets = (0..room).filter_map(|_| {
            self.sent += 1;
            let data = self.data.get(self.sent as usize % self.data.len())?;
            Some(data.stamp(field.random.next_u64(), 0))
        });
        let packets: Vec<Vec<u8>> = packets.collect();
        Ok(self.ports.volley(&packets))
    }
}
