//! Connections that say nothing.

use std::io;

use super::arms::Streams;
use super::{Attack, Field};
use crate::pace::Spent;

/// More than strangers may have faces by default.
const CONNECTIONS: usize = 11_000;

/// Thousands of TCP connections of one address; each that is closed is opened again.
#[derive(Default)]
pub(super) struct IdleConnections {
    streams: Streams,
}

impl Attack for IdleConnections {
    fn name(&self) -> &'static str {
        "idle-connections"
    }

    fn about(&self) -> &'static str {
        "11,000 TCP connections of one address that say nothing, opened again when closed"
    }

    fn begin(&mut self, _: &mut Field) -> io::Result<()> {
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let mut spent = Spent::default();
        for _ in 0..room.div_ceil(3) {
            if self.streams.count() < CONNECTIONS.min(field.descriptors) {
                spent.add(self.streams.add(field.node, None)?);
            }
            self.streams.inspect();
        }
        Ok(spent)
    }
}
